/* What the files of the engine for record batches share.
 *
 * As in kwire/codec/native no function explains a failure: it returns NULL or false, module.c answers
 * None, and kwire/batches/record.py reads or writes the same again and knows the words.
 */
#ifndef KWIRE_RECORDS_H
#define KWIRE_RECORDS_H

#include "../../codec/native/shared.h"

#define VARINT_SIZE 10   /* of 64 bits; Kafka's writers never make a longer one */
#define LEAST_RECORD 7   /* bytes: size, attributes, two deltas, two lengths, number of headers */
#define LEAST_HEADER 2   /* bytes: two lengths */

/* The slots of kwire.batches.record.Record. */
typedef struct {
    PyTypeObject *cls;
    Py_ssize_t size;
    Py_ssize_t value, key, offset, timestamp, headers, sequence, attributes;
} RecordSlots;

/* The slots of kwire.batches.record.RecordHeader. */
typedef struct {
    PyTypeObject *cls;
    Py_ssize_t size;
    Py_ssize_t key, value;
} HeaderSlots;

/* What the records of one batch are relative to, as RecordReader in record.py has it. */
typedef struct {
    int64_t offset;
    int64_t timestamp;
    int64_t sequence;
    bool appended;        /* whether `append_time` is the time of all of them */
    int64_t append_time;
} Base;

typedef struct {
    const unsigned char *at;
    const unsigned char *end;
    const Base *base;
    const RecordSlots *record;
    const HeaderSlots *header;
    Turns turns;
} RecordReader;

/* The next `count` records as a list; NULL where one of them is malformed, or more are claimed than
 * can be there. */
PyObject *read_records(RecordReader *r, Py_ssize_t count);

typedef struct {
    Buffer out;
    int64_t base_offset;
    int64_t base_timestamp;
    int64_t last_offset;
    int64_t latest;       /* the greatest timestamp */
    const RecordSlots *record;
    const HeaderSlots *header;
    Turns turns;
} RecordWriter;

/* Appends the records of a list that nobody else has. */
bool write_records(RecordWriter *w, PyObject *records);

#endif
