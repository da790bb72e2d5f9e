/* What the files of the extension for captures share: the types that module.c adds, and what the decoder
 * of records has of their fields.
 *
 * As in kwire/codec/native nothing explains a failure: kwire/capture/encoding.py reads the same bytes
 * by their Avro schema, and knows the words.
 */
#ifndef KWIRE_CAPTURE_H
#define KWIRE_CAPTURE_H

#include "../../codec/native/shared.h"

extern PyType_Spec flow_encoder_spec, decoder_spec;

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
