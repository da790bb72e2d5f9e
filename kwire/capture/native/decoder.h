/* The fields of a captured record, and the bytes that they are read from.
 *
 * As in kwire/codec/native nothing here explains a failure: kwire/capture/encoding.py reads the same
 * bytes by their Avro schema, and knows the words.
 */
#ifndef KWIRE_DECODER_H
#define KWIRE_DECODER_H

#include "capture.h"

typedef enum {
    KIND_LONG,            /* an integer */
    KIND_OPTIONAL_LONG,
    KIND_TEXT,
    KIND_OPTIONAL_TEXT,
    KIND_OPTIONAL_BYTES,
    KIND_CHOICE,          /* `extra` are the values that an index chooses from */
    KIND_TEXTS,           /* an array, which becomes a tuple */
    KIND_ABSENT           /* not in this version of the schema; `extra` is what it is then */
} Kind;

typedef struct {
    Kind kind;
    Py_ssize_t offset;
    PyObject *extra;  /* borrowed from the description */
    PyObject *last;   /* the text that was read last: most records have the one of those before */
} Field;

typedef struct {
    const unsigned char *at;
    const unsigned char *end;
} Input;

/* The value of a field; NULL where the bytes are none. */
PyObject *read_field(Input *in, Field *field);

#endif
