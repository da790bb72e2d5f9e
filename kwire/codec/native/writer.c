/* Objects to bytes.
 *
 * Takes what a decoder makes and what people usually assign: the class itself, int, float, bool,
 * str, UUID, list, tuple, dict, bytes and other byte buffers. Everything else is left to the
 * reference. A comparison or a failing conversion may run foreign code, and that code may change
 * the very object in hand: so each container is held while it is walked, slots and items are read
 * anew each time, and no borrowed value outlives the call that it is given to.
 */
#include "native.h"

/* ---- Lengths ---- */

#define UVARINT_SIZE 5

static bool write_uvarint(Writer *w, int64_t value)
{
    if (value < 0 || value > UINT32_MAX || !reserve(&w->out, UVARINT_SIZE))
        return false;
    w->out.at = put_uvarint(w->out.at, (uint64_t)value);
    return true;
}

static bool write_width(Writer *w, Width width, int64_t value)
{
    if (width == WIDTH_COMPACT || width == WIDTH_UVARINT)
        return write_uvarint(w, value + (width == WIDTH_COMPACT));
    if (!reserve(&w->out, 4))
        return false;
    if (width == WIDTH_INT32 && value <= INT32_MAX) {
        store32(w->out.at, (uint32_t)value);
        w->out.at += 4;
    } else if (width == WIDTH_INT16 && value <= INT16_MAX) {
        store16(w->out.at, (uint16_t)value);
        w->out.at += 2;
    } else if (width == WIDTH_INT8 && value <= INT8_MAX) {
        *w->out.at++ = (unsigned char)value;
    } else {
        return false;
    }
    return true;
}

/* ---- Values of fixed size: the caller has reserved their bytes ---- */

static bool put_integer(unsigned char *p, Kind kind, PyObject *value)
{
    int overflow = 0;
    if (!PyLong_CheckExact(value) && !PyLong_Check(value))
        return false;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return false;
    switch (kind) {
    case KIND_INT8:
        *p = (unsigned char)number;
        return number >= INT8_MIN && number <= INT8_MAX;
    case KIND_INT16:
        store16(p, (uint16_t)number);
        return number >= INT16_MIN && number <= INT16_MAX;
    case KIND_UINT16:
        store16(p, (uint16_t)number);
        return number >= 0 && number <= UINT16_MAX;
    case KIND_INT32:
        store32(p, (uint32_t)number);
        return number >= INT32_MIN && number <= INT32_MAX;
    case KIND_UINT32:
        store32(p, (uint32_t)number);
        return number >= 0 && number <= UINT32_MAX;
    default:
        store64(p, (uint64_t)number);
        return true;
    }
}

static bool put_float(unsigned char *p, PyObject *value)
{
    uint64_t bits;
    if (!PyFloat_CheckExact(value))
        return false;
    double number = PyFloat_AsDouble(value);
    memcpy(&bits, &number, sizeof bits);
    store64(p, bits);
    return true;
}

static bool write_fixed(Writer *w, const Node *node, PyObject *value)
{
    unsigned char *p = w->out.at;
    w->out.at += node->size;
    switch (node->kind) {
    case KIND_BOOLEAN:
        *p = value == Py_True;
        return PyBool_Check(value);
    case KIND_FLOAT64:
        return put_float(p, value);
    case KIND_UUID:
        return uuids_write(w->uuids, value, p);
    default:
        return put_integer(p, node->kind, value);
    }
}

/* ---- What a length precedes ---- */

static bool write_text_bytes(Writer *w, const Node *node, const char *start, Py_ssize_t size)
{
    return size <= w->tables->string_limit && write_width(w, node->width, size)
        && write_raw(&w->out, start, size);
}

/* Lone surrogates are bytes that were no UTF-8 when they were read. */
static bool write_escaped_text(Writer *w, const Node *node, PyObject *value)
{
    char *start;
    Py_ssize_t size;
    PyErr_Clear();
    PyObject *encoded = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
    bool written = encoded && PyBytes_AsStringAndSize(encoded, &start, &size) == 0
        && write_text_bytes(w, node, start, size);
    Py_XDECREF(encoded);
    return written;
}

static bool write_text(Writer *w, const Node *node, PyObject *value)
{
    Py_ssize_t size;
    if (!PyUnicode_CheckExact(value))
        return false;
    Py_INCREF(value);
    const char *start = PyUnicode_AsUTF8AndSize(value, &size);
    bool written = start ? write_text_bytes(w, node, start, size)
                         : write_escaped_text(w, node, value);
    Py_DECREF(value);
    return written;
}

static bool write_bytes(Writer *w, const Node *node, PyObject *value)
{
    char *start;
    Py_ssize_t size;
    return PyBytes_AsStringAndSize(value, &start, &size) == 0
        && write_width(w, node->width, size) && write_raw(&w->out, start, size);
}

/* A memoryview counts elements, so that only one of plain bytes is as long as its length says. */
static bool write_buffer(Writer *w, const Node *node, PyObject *value)
{
    Py_buffer view;
    if (!Py_IS_TYPE(value, &PyByteArray_Type) && !Py_IS_TYPE(value, &PyMemoryView_Type))
        return false;
    if (PyObject_GetBuffer(value, &view, PyBUF_ND) < 0)
        return false;
    bool written = view.ndim == 1 && view.itemsize == 1
        && write_width(w, node->width, view.len) && write_raw(&w->out, view.buf, view.len);
    PyBuffer_Release(&view);
    return written;
}

static bool write_list(Writer *w, const Node *node, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    bool written = write_width(w, node->width, count);
    for (Py_ssize_t i = 0; written && i < count; i++) {
        take_turns(&w->turns);
        PyObject *item = PyList_GetItem(list, i);  /* NULL if it has shrunk meanwhile */
        written = item && write_value(w, node->child, item);
    }
    return written && PyList_Size(list) == count;
}

static bool write_tuple(Writer *w, const Node *node, PyObject *tuple)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    size_t size = (size_t)node->child->size;
    if (!write_width(w, node->width, count) || (size && !reserve(&w->out, (size_t)count * size)))
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        take_turns(&w->turns);
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (!(size ? write_fixed(w, node->child, item) : write_value(w, node->child, item)))
            return false;
    }
    return true;
}

static bool write_items(Writer *w, const Node *node, PyObject *value)
{
    bool written = false;
    Py_INCREF(value);
    if (PyList_CheckExact(value))
        written = write_list(w, node, value);
    else if (PyTuple_CheckExact(value))
        written = write_tuple(w, node, value);
    Py_DECREF(value);
    return written;
}

static bool write_sized(Writer *w, const Node *node, PyObject *value)
{
    if (value == Py_None)
        return node->nullable && write_width(w, node->width, -1);
    switch (node->kind) {
    case KIND_TEXT:
        return write_text(w, node, value);
    case KIND_BYTES:
        return PyBytes_CheckExact(value) ? write_bytes(w, node, value)
                                         : write_buffer(w, node, value);
    default:
        return write_items(w, node, value);
    }
}

static bool write_optional(Writer *w, const Node *node, PyObject *value)
{
    if (value == Py_None)
        return write_width(w, node->width, node->null);
    return write_width(w, node->width, 1) && write_value(w, node->child, value);
}

/* ---- Tag sections ---- */

/* 1 when the value of a slot is another than the default, 0 when not, -1 when nobody can say. */
static int differs(PyObject *obj, const Member *member)
{
    PyObject *value = SLOT(obj, member->offset);
    if (!value)
        return -1;
    if (value == member->value)
        return 0;
    Py_INCREF(value);
    int result = PyObject_RichCompareBool(value, member->value, Py_NE);
    Py_DECREF(value);
    return result;
}

/* The set of known tags, by index, that have something to say; false on failure. */
static bool present_tags(const Record *record, PyObject *obj, uint64_t *present, Py_ssize_t *count)
{
    *present = 0;
    for (Py_ssize_t i = 0; i < record->tag_count; i++) {
        int other = differs(obj, &record->members[record->field_count + i]);
        if (other < 0)
            return false;
        *present |= (uint64_t)other << i;
        *count += other;
    }
    return true;
}

/* The content goes behind one byte for its size, and moves when the size needs more. */
static bool write_known_tag(Writer *w, const Member *member, PyObject *obj)
{
    PyObject *value = SLOT(obj, member->offset);
    if (!value || !write_uvarint(w, member->tag) || !reserve(&w->out, 1))
        return false;
    size_t content = (size_t)(++w->out.at - w->out.start);
    if (!write_value(w, member->node, value) || !reserve(&w->out, UVARINT_SIZE))
        return false;
    unsigned char *start = w->out.start + content, prefix[UVARINT_SIZE];
    size_t size = (size_t)(w->out.at - start);
    if (size > UINT32_MAX)
        return false;
    size_t width = (size_t)(put_uvarint(prefix, size) - prefix);
    if (width > 1)
        memmove(start + width - 1, start, size);
    memcpy(start - 1, prefix, width);
    w->out.at += width - 1;
    return true;
}

static bool write_known_tags(Writer *w, const Record *record, PyObject *obj, uint64_t present,
                             Py_ssize_t *next, int64_t below)
{
    const Member *tagged = record->members + record->field_count;
    for (; *next < record->tag_count && tagged[*next].tag < below; ++*next)
        if (present >> *next & 1 && !write_known_tag(w, &tagged[*next], obj))
            return false;
    return true;
}

static bool write_unknown_tag(Writer *w, int64_t number, PyObject *value)
{
    char *start;
    Py_ssize_t size;
    return value && PyBytes_CheckExact(value)
        && PyBytes_AsStringAndSize(value, &start, &size) == 0
        && write_uvarint(w, number) && write_uvarint(w, size) && write_raw(&w->out, start, size);
}

/* The numbers of the unknown tags, sorted; they are exact integers, so that no code runs. */
static PyObject *sorted_numbers(PyObject *tags)
{
    PyObject *numbers = PyDict_CheckExact(tags) ? PyDict_Keys(tags) : NULL;
    Py_ssize_t count = numbers ? PyList_Size(numbers) : 0;
    bool sortable = numbers != NULL;
    for (Py_ssize_t i = 0; sortable && i < count; i++)
        sortable = PyLong_CheckExact(PyList_GetItem(numbers, i));
    if (sortable && PyList_Sort(numbers) == 0)
        return numbers;
    Py_XDECREF(numbers);
    return NULL;
}

static bool write_merged_tags(Writer *w, const Record *record, PyObject *obj, uint64_t present,
                              PyObject *unknown, PyObject *numbers)
{
    const Member *tagged = record->members + record->field_count;
    Py_ssize_t next = 0, count = PyList_Size(numbers);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyList_GetItem(numbers, i);
        int overflow;
        int64_t number = key ? PyLong_AsLongLongAndOverflow(key, &overflow) : -1;
        if (number < 0 || !write_known_tags(w, record, obj, present, &next, number))
            return false;
        if (next < record->tag_count && tagged[next].tag == number)
            return false;  /* it is not unknown */
        if (!write_unknown_tag(w, number, PyDict_GetItemWithError(unknown, key)))
            return false;
    }
    return write_known_tags(w, record, obj, present, &next, INT64_MAX);
}

static bool write_tags(Writer *w, const Record *record, PyObject *obj)
{
    uint64_t present;
    Py_ssize_t count = 0, next = 0;
    PyObject *unknown = SLOT(obj, record->unknown_tags);
    if (unknown == Py_None)
        return present_tags(record, obj, &present, &count) && write_uvarint(w, count)
            && write_known_tags(w, record, obj, present, &next, INT64_MAX);
    if (!unknown)
        return false;
    Py_INCREF(unknown);
    PyObject *numbers = sorted_numbers(unknown);
    bool written = numbers && present_tags(record, obj, &present, &count)
        && write_uvarint(w, count + PyList_Size(numbers))
        && write_merged_tags(w, record, obj, present, unknown, numbers);
    Py_XDECREF(numbers);
    Py_DECREF(unknown);
    return written;
}

/* ---- Structs ---- */

/* Whether leaving out what this version lacks loses nothing that must not be lost. */
static bool fits_version(const Record *record, PyObject *obj)
{
    for (Py_ssize_t i = record->field_count + record->tag_count; i < record->count; i++)
        if (record->members[i].refused && differs(obj, &record->members[i]) != 0)
            return false;
    PyObject *unknown = SLOT(obj, record->unknown_tags);
    return record->flexible || unknown == Py_None
        || (unknown && PyDict_CheckExact(unknown) && PyDict_Size(unknown) == 0);
}

static bool write_fields(Writer *w, const Record *record, PyObject *obj)
{
    for (Py_ssize_t i = 0; i < record->field_count; i++) {
        const Member *field = &record->members[i];
        PyObject *value = SLOT(obj, field->offset);
        if (!value || (field->run && !reserve(&w->out, (size_t)field->run)))
            return false;
        if (!(field->node->size ? write_fixed(w, field->node, value)
                                : write_value(w, field->node, value)))
            return false;
    }
    return true;
}

static bool write_struct(Writer *w, const Record *record, PyObject *obj)
{
    if (!Py_IS_TYPE(obj, record->cls))
        return false;
    Py_INCREF(obj);
    bool written = fits_version(record, obj) && write_fields(w, record, obj)
        && (!record->flexible || write_tags(w, record, obj));
    Py_DECREF(obj);
    return written;
}

bool write_value(Writer *w, const Node *node, PyObject *value)
{
    switch (node->kind) {
    case KIND_TEXT:
    case KIND_BYTES:
    case KIND_LIST:
    case KIND_TUPLE:
        return write_sized(w, node, value);
    case KIND_OPTIONAL:
        return write_optional(w, node, value);
    case KIND_STRUCT:
        return write_struct(w, node->record, value);
    default:
        return reserve(&w->out, (size_t)node->size) && write_fixed(w, node, value);
    }
}
