/* Records to bytes, as kwire/batches/record.py writes them.
 *
 * Takes what a reader makes and what people usually give: exact classes, int, bytes, None, str,
 * tuple. None of them runs foreign code here. Everything else is left to the reference.
 */
#include "records.h"

static inline Py_ssize_t varint_size(int64_t value)
{
    Py_ssize_t size = 1;
    for (uint64_t plain = zigzag(value); plain > 0x7F; plain >>= 7)
        size++;
    return size;
}

static inline bool write_varint(Buffer *out, int64_t value)
{
    if (!reserve(out, VARINT_SIZE))
        return false;
    out->at = put_uvarint(out->at, zigzag(value));
    return true;
}

/* ---- Bytes after their size ---- */

typedef struct {
    const char *start;  /* NULL for null */
    Py_ssize_t size;
} Part;

static bool bytes_part(PyObject *value, Part *part)
{
    *part = (Part){NULL, -1};
    if (value == Py_None)
        return true;
    if (!value || !PyBytes_CheckExact(value))
        return false;
    part->start = PyBytes_AsString(value);
    part->size = PyBytes_Size(value);
    return true;
}

/* A text with lone surrogates is left to the reference. */
static bool text_part(PyObject *value, Part *part)
{
    if (!value || !PyUnicode_CheckExact(value))
        return false;
    part->start = PyUnicode_AsUTF8AndSize(value, &part->size);
    return part->start != NULL;
}

static inline Py_ssize_t part_size(const Part *part)
{
    return varint_size(part->size) + (part->start ? part->size : 0);
}

static inline bool write_part(Buffer *out, const Part *part)
{
    return write_varint(out, part->size)
        && (!part->start || write_raw(out, part->start, part->size));
}

/* ---- Headers ---- */

static bool header_parts(const HeaderSlots *slots, PyObject *header, Part *key, Part *value)
{
    return header && Py_IS_TYPE(header, slots->cls) && text_part(SLOT(header, slots->key), key)
        && bytes_part(SLOT(header, slots->value), value);
}

/* The bytes that headers take with their number; -1 where they are left to the reference. */
static Py_ssize_t headers_size(const RecordWriter *w, PyObject *headers)
{
    if (!headers || !PyTuple_CheckExact(headers))
        return -1;
    Py_ssize_t count = PyTuple_Size(headers), size = varint_size(count);
    for (Py_ssize_t i = 0; i < count; i++) {
        Part key, value;
        if (!header_parts(w->header, PyTuple_GetItem(headers, i), &key, &value))
            return -1;
        size += part_size(&key) + part_size(&value);
    }
    return size;
}

static bool write_headers(RecordWriter *w, PyObject *headers)
{
    Py_ssize_t count = PyTuple_Size(headers);
    if (!write_varint(&w->out, count))
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        Part key, value;
        if (!header_parts(w->header, PyTuple_GetItem(headers, i), &key, &value)
            || !write_part(&w->out, &key) || !write_part(&w->out, &value))
            return false;
    }
    return true;
}

/* ---- Records ---- */

static bool is_difference(int64_t value, int64_t base, int64_t *delta)
{
    if (base > 0 ? value < INT64_MIN + base : value > INT64_MAX + base)
        return false;
    *delta = value - base;
    return true;
}

/* A record without an offset has one more than the last. */
static bool next_offset(RecordWriter *w, PyObject *record, int64_t *offset)
{
    if (!exact_int(SLOT(record, w->record->offset), offset))
        return false;
    if (*offset == -1 && w->last_offset == INT64_MAX)
        return false;
    if (*offset == -1)
        *offset = w->last_offset + 1;
    w->last_offset = *offset;
    return true;
}

static bool write_record(RecordWriter *w, PyObject *record)
{
    const RecordSlots *slots = w->record;
    int64_t offset, timestamp, attributes, delta, time_delta;
    Part key, value;
    if (!Py_IS_TYPE(record, slots->cls) || !next_offset(w, record, &offset)
        || !exact_int(SLOT(record, slots->timestamp), &timestamp)
        || !exact_int(SLOT(record, slots->attributes), &attributes)
        || attributes < 0 || attributes > UINT8_MAX
        || !SLOT(record, slots->sequence)  /* not written, but the reference may copy the record */
        || !is_difference(offset, w->base_offset, &delta)
        || !is_difference(timestamp, w->base_timestamp, &time_delta)
        || !bytes_part(SLOT(record, slots->key), &key)
        || !bytes_part(SLOT(record, slots->value), &value))
        return false;
    PyObject *headers = SLOT(record, slots->headers);
    Py_ssize_t more = headers_size(w, headers);
    if (more < 0)
        return false;
    if (timestamp > w->latest)
        w->latest = timestamp;
    Py_ssize_t size = 1 + varint_size(time_delta) + varint_size(delta) + part_size(&key)
                    + part_size(&value) + more;
    if (!write_varint(&w->out, size) || !reserve(&w->out, (size_t)size))
        return false;
    *w->out.at++ = (unsigned char)attributes;
    return write_varint(&w->out, time_delta) && write_varint(&w->out, delta)
        && write_part(&w->out, &key) && write_part(&w->out, &value) && write_headers(w, headers);
}

bool write_records(RecordWriter *w, PyObject *records)
{
    Py_ssize_t count = PyList_Size(records);
    for (Py_ssize_t i = 0; i < count; i++) {
        take_turns(&w->turns);
        PyObject *record = PyList_GetItem(records, i);
        if (!record || !write_record(w, record))
            return false;
    }
    return true;
}
