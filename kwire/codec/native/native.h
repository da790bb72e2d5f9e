/* What the files of the native engine share.
 *
 * A message at one version is a tree of nodes (tables.c makes it from kwire/codec/native/tables.py), read
 * by reader.c and written by writer.c. No function here sets out to explain a failure: it returns
 * NULL or false, and module.c hands the same input to the reference engine, which knows the words.
 */
#ifndef KWIRE_NATIVE_H
#define KWIRE_NATIVE_H

#include "shared.h"

/* ---- Tables ---- */

typedef enum {
    KIND_INT8, KIND_INT16, KIND_UINT16, KIND_INT32, KIND_UINT32, KIND_INT64,
    KIND_FLOAT64, KIND_BOOLEAN, KIND_UUID,
    KIND_TEXT, KIND_BYTES, KIND_LIST, KIND_TUPLE, KIND_OPTIONAL, KIND_STRUCT, KIND_COUNT
} Kind;

typedef enum { WIDTH_INT8, WIDTH_INT16, WIDTH_INT32, WIDTH_UVARINT, WIDTH_COMPACT } Width;

typedef struct Record Record;
typedef struct Node Node;

struct Node {
    Kind kind;
    Width width;        /* of the length of a text, bytes, list, tuple; of an optional's marker */
    int nullable;       /* whether a negative length is null or an error */
    int null;           /* the highest marker that means null */
    Py_ssize_t size;    /* bytes of a fixed-size value, else 0 */
    Py_ssize_t least;   /* fewest bytes of one element */
    const Node *child;  /* of a list, a tuple, an optional */
    Record *record;     /* of a struct */
};

#define MAX_TAGS 64  /* known tags of one struct, so that a 64-bit set can hold them */

/* A member of a class: a plain field, a tagged one, or one that this version does not have. */
typedef struct {
    Py_ssize_t offset;
    Py_ssize_t run;   /* bytes of the fixed-size fields from here on, at the first; else 0 */
    const Node *node;
    int64_t tag;
    PyObject *value;  /* what it is while it is not on the wire */
    PyObject *make;   /* what makes another such value, NULL where one can be shared */
    int refused;      /* whether no other value may be lost by writing this version */
} Member;

struct Record {
    PyTypeObject *cls;
    Py_ssize_t size;
    Py_ssize_t unknown_tags;
    Member *members;  /* fields in wire order, then tagged ones by tag, then those it lacks */
    Py_ssize_t field_count, tag_count, count;
    int flexible;     /* whether a tag section ends it */
    bool collected;   /* whether instances have room for the collector */
    bool tracked;     /* whether a cycle can pass through each of them */
};

/* Everything is borrowed from `parts`, the description that tables.py made. */
typedef struct {
    PyObject *parts;
    Node *nodes;
    Py_ssize_t count;
    Py_ssize_t string_limit;
    Py_ssize_t tag_limit;
} Tables;

bool tables_fill(Tables *tables);
void tables_free(Tables *tables);

/* Whether a cycle of references can pass through such a value. */
bool is_container(const Node *node);

/* ---- UUIDs ---- */

#define UUID_CACHE_BITS 13

typedef struct {
    uint64_t high, low;
    PyObject *uuid;
} CachedUuid;

typedef struct {
    PyTypeObject *cls;
    PyObject *unknown;  /* uuid.SafeUUID.unknown, what UUID() gives is_safe */
    Py_ssize_t int_offset;
    Py_ssize_t is_safe_offset;
    CachedUuid cache[1 << UUID_CACHE_BITS];
} Uuids;

int uuids_init(Uuids *uuids);
void uuids_clear(Uuids *uuids);
PyObject *uuids_read(Uuids *uuids, const unsigned char *bytes);
bool uuids_write(const Uuids *uuids, PyObject *uuid, unsigned char *bytes);

/* ---- Reading and writing ---- */

typedef struct {
    const unsigned char *at;
    const unsigned char *end;
    const Tables *tables;
    Uuids *uuids;
    Turns turns;
} Reader;

PyObject *read_value(Reader *r, const Node *node);

typedef struct {
    Buffer out;
    const Tables *tables;
    const Uuids *uuids;
    Turns turns;
} Writer;

bool write_value(Writer *w, const Node *node, PyObject *value);

#endif
