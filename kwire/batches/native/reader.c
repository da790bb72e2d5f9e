/* Bytes to records, as strict as kwire/batches/record.py.
 *
 * What this rejects the reference reads again, so that only one thing must never happen: that it
 * accepts what the reference does not. Nothing is allocated that the bytes at hand cannot fill.
 */
#include "records.h"

/* ---- Varints: zigzag, as in Kafka cut to their width without a word ---- */

static inline bool read_varint(const unsigned char **at, const unsigned char *end, int32_t *value)
{
    uint64_t plain;
    if (*at < end && **at < 0x80)
        plain = *(*at)++;
    else if (!get_uvarint(at, end, 35, &plain))
        return false;
    *value = (int32_t)unzigzag((uint32_t)plain);
    return true;
}

static inline bool read_varlong(const unsigned char **at, const unsigned char *end, int64_t *value)
{
    uint64_t plain;
    if (*at < end && **at < 0x80)
        plain = *(*at)++;
    else if (!get_uvarint(at, end, 70, &plain))
        return false;
    *value = unzigzag(plain);
    return true;
}

/* ---- Records as they lie there ---- */

/* Bytes after their size; NULL is null. */
typedef struct {
    const unsigned char *start;
    int32_t size;
} Span;

static inline bool read_span(const unsigned char **at, const unsigned char *end, Span *span)
{
    if (!read_varint(at, end, &span->size))
        return false;
    if (span->size < 0) {
        span->start = NULL;
        return true;
    }
    if (span->size > end - *at)
        return false;
    span->start = *at;
    *at += span->size;
    return true;
}

typedef struct {
    int attributes;
    int64_t timestamp;
    int64_t offset;
    int64_t sequence;
    Span key, value;
    int32_t header_count;
    const unsigned char *headers;
    const unsigned char *end;
} RawRecord;

static bool is_sum(int64_t base, int64_t delta, int64_t *sum)
{
    if (delta > 0 ? base > INT64_MAX - delta : base < INT64_MIN - delta)
        return false;
    *sum = base + delta;
    return true;
}

/* The numbers that depend on those of the batch; none of them may leave its 64 bits. */
static bool place(RawRecord *raw, const Base *base, int64_t time_delta, int32_t delta)
{
    raw->timestamp = base->append_time;
    raw->sequence = base->sequence < 0 ? -1 : (base->sequence + delta) & 0x7FFFFFFF;
    return is_sum(base->offset, delta, &raw->offset)
        && (base->appended || is_sum(base->timestamp, time_delta, &raw->timestamp));
}

static bool read_raw(RecordReader *r, RawRecord *raw)
{
    int32_t size, delta;
    int64_t time_delta;
    if (!read_varint(&r->at, r->end, &size) || size < 1 || size > r->end - r->at)
        return false;
    const unsigned char *at = r->at, *end = at + size;
    r->at = raw->end = end;
    raw->attributes = *at++;
    if (!read_varlong(&at, end, &time_delta) || !read_varint(&at, end, &delta)
        || !read_span(&at, end, &raw->key) || !read_span(&at, end, &raw->value)
        || !read_varint(&at, end, &raw->header_count))
        return false;
    raw->headers = at;
    return raw->header_count >= 0 && raw->header_count <= (end - at) / LEAST_HEADER
        && (raw->header_count > 0 || at == end) && place(raw, r->base, time_delta, delta);
}

/* ---- Records as objects ---- */

static PyObject *bytes_or_none(const Span *span)
{
    return span->start ? bytes_of(span->start, span->size) : Py_NewRef(Py_None);
}

static PyObject *read_header(const RecordReader *r, const unsigned char **at,
                             const unsigned char *end)
{
    Span key, value;
    if (!read_span(at, end, &key) || !key.start || !read_span(at, end, &value))
        return NULL;
    PyObject *header = blank_of(r->header->cls, r->header->size, false);
    if (!header)
        return NULL;
    PyObject *text = PyUnicode_DecodeUTF8((const char *)key.start, key.size, "surrogateescape");
    PyObject *bytes = bytes_or_none(&value);
    SLOT(header, r->header->key) = text;
    SLOT(header, r->header->value) = bytes;
    if (text && bytes)
        return header;
    Py_DECREF(header);
    return NULL;
}

/* Neither headers nor records can be part of a cycle, so that the collector never sees the tuple. */
static PyObject *read_headers(RecordReader *r, const RawRecord *raw)
{
    PyObject *headers = PyTuple_New(raw->header_count);
    if (!headers || raw->header_count == 0)
        return headers;
    PyObject_GC_UnTrack(headers);
    const unsigned char *at = raw->headers;
    for (Py_ssize_t i = 0; i < raw->header_count; i++) {
        take_turns(&r->turns);
        PyObject *header = read_header(r, &at, raw->end);
        if (!header || PyTuple_SetItem(headers, i, header) < 0) {
            Py_DECREF(headers);
            return NULL;
        }
    }
    if (at == raw->end)
        return headers;
    Py_DECREF(headers);
    return NULL;
}

/* The records of a batch often have one time: `before` is the last record's, as number and object. */
typedef struct {
    int64_t number;
    PyObject *object;
} LastTime;

static PyObject *time_of(LastTime *before, int64_t timestamp)
{
    if (before->object && before->number == timestamp)
        return Py_NewRef(before->object);
    before->number = timestamp;
    return before->object = PyLong_FromLongLong(timestamp);
}

static PyObject *read_record(RecordReader *r, LastTime *before)
{
    const RecordSlots *slots = r->record;
    RawRecord raw;
    PyObject *record = read_raw(r, &raw) ? blank_of(slots->cls, slots->size, false) : NULL;
    if (!record)
        return NULL;
    if ((SLOT(record, slots->value) = bytes_or_none(&raw.value))
        && (SLOT(record, slots->key) = bytes_or_none(&raw.key))
        && (SLOT(record, slots->offset) = PyLong_FromLongLong(raw.offset))
        && (SLOT(record, slots->timestamp) = time_of(before, raw.timestamp))
        && (SLOT(record, slots->headers) = read_headers(r, &raw))
        && (SLOT(record, slots->sequence) = PyLong_FromLongLong(raw.sequence))
        && (SLOT(record, slots->attributes) = PyLong_FromLong(raw.attributes)))
        return record;
    Py_DECREF(record);
    return NULL;
}

PyObject *read_records(RecordReader *r, Py_ssize_t count)
{
    LastTime before = {0, NULL};
    if (count < 0 || count > (r->end - r->at) / LEAST_RECORD)
        return NULL;
    PyObject *records = PyList_New(count);
    if (!records)
        return NULL;
    PyObject_GC_UnTrack(records);  /* until nobody can find a NULL in it */
    for (Py_ssize_t i = 0; i < count; i++) {
        take_turns(&r->turns);
        PyObject *record = read_record(r, &before);
        if (!record || PyList_SetItem(records, i, record) < 0) {
            Py_DECREF(records);
            return NULL;
        }
    }
    PyObject_GC_Track(records);
    return records;
}
