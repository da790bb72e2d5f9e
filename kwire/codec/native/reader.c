/* Bytes to objects.
 *
 * As lenient as kwire/codec/constructs.py: a negative length is null, any byte but 0 is true, the size of
 * a known tag is not looked at, a length of more than 32 bits wraps. Nothing is allocated that the
 * bytes at hand cannot fill. How deep the functions call each other is how deep the schema is.
 */
#include "native.h"

static Py_ssize_t left(const Reader *r)
{
    return r->end - r->at;
}

/* ---- Lengths ---- */

/* At most 5 bytes; 2^31 and more come out negative, as in Kafka's 32-bit int. */
static bool read_uvarint(Reader *r, int32_t *value)
{
    uint64_t plain;
    if (!get_uvarint(&r->at, r->end, 35, &plain))
        return false;
    *value = (int32_t)(uint32_t)plain;
    return true;
}

static bool read_width(Reader *r, Width width, int64_t *value)
{
    if (width == WIDTH_COMPACT || width == WIDTH_UVARINT) {
        int32_t plain;
        if (!read_uvarint(r, &plain))
            return false;
        /* In 32 bits as in Kafka: 2^31 claims 2^31-1 elements, more is null. */
        *value = (int32_t)((uint32_t)plain - (width == WIDTH_COMPACT));
        return true;
    }
    Py_ssize_t size = width == WIDTH_INT8 ? 1 : width == WIDTH_INT16 ? 2 : 4;
    if (left(r) < size)
        return false;
    *value = size == 1 ? (int8_t)*r->at
           : size == 2 ? (int16_t)load16(r->at) : (int32_t)load32(r->at);
    r->at += size;
    return true;
}

/* ---- Values of fixed size: the caller has seen that the bytes are there ---- */

static PyObject *read_fixed(Reader *r, const Node *node)
{
    const unsigned char *p = r->at;
    r->at += node->size;
    switch (node->kind) {
    case KIND_INT8:
        return PyLong_FromLong((int8_t)*p);
    case KIND_INT16:
        return PyLong_FromLong((int16_t)load16(p));
    case KIND_UINT16:
        return PyLong_FromLong(load16(p));
    case KIND_INT32:
        return PyLong_FromLong((int32_t)load32(p));
    case KIND_UINT32:
        return PyLong_FromUnsignedLong(load32(p));
    case KIND_INT64:
        return PyLong_FromLongLong((int64_t)load64(p));
    case KIND_BOOLEAN:
        return PyBool_FromLong(*p);
    case KIND_FLOAT64: {
        uint64_t bits = load64(p);
        double number;
        memcpy(&number, &bits, sizeof number);
        return PyFloat_FromDouble(number);
    }
    case KIND_UUID:
        return uuids_read(r->uuids, p);
    default:
        return NULL;
    }
}

/* ---- What a length precedes ---- */

static PyObject *read_text(Reader *r, Py_ssize_t size)
{
    if (size > r->tables->string_limit || size > left(r))
        return NULL;
    const char *start = (const char *)r->at;
    r->at += size;
    return PyUnicode_DecodeUTF8(start, size, "surrogateescape");
}

static PyObject *read_bytes(Reader *r, Py_ssize_t size)
{
    if (size > left(r))
        return NULL;
    const unsigned char *start = r->at;
    r->at += size;
    return bytes_of(start, size);
}

/* The collector sees the list only once it is full, so that nobody finds a NULL in it. */
static PyObject *read_list(Reader *r, const Node *node, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    if (!list)
        return NULL;
    PyObject_GC_UnTrack(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        take_turns(&r->turns);
        PyObject *item = read_value(r, node->child);
        if (!item || PyList_SetItem(list, i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    PyObject_GC_Track(list);
    return list;
}

/* Its items are scalars, so that no cycle can pass through: the collector never sees it. */
static PyObject *read_tuple(Reader *r, const Node *node, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    if (!tuple || count == 0)
        return tuple;
    PyObject_GC_UnTrack(tuple);
    bool fixed = node->child->size != 0;  /* count * least was checked: all the bytes are there */
    for (Py_ssize_t i = 0; i < count; i++) {
        take_turns(&r->turns);
        PyObject *item = fixed ? read_fixed(r, node->child) : read_value(r, node->child);
        if (!item || PyTuple_SetItem(tuple, i, item) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *read_sized(Reader *r, const Node *node)
{
    int64_t length;
    if (!read_width(r, node->width, &length))
        return NULL;
    if (length < 0)
        return node->nullable ? Py_NewRef(Py_None) : NULL;
    if (length > left(r) / node->least)  /* before anything is allocated on the peer's word */
        return NULL;
    Py_ssize_t size = (Py_ssize_t)length;
    switch (node->kind) {
    case KIND_TEXT:
        return read_text(r, size);
    case KIND_BYTES:
        return read_bytes(r, size);
    case KIND_LIST:
        return read_list(r, node, size);
    default:
        return read_tuple(r, node, size);
    }
}

static PyObject *read_optional(Reader *r, const Node *node)
{
    int64_t marker;
    if (!read_width(r, node->width, &marker))
        return NULL;
    return marker <= node->null ? Py_NewRef(Py_None) : read_value(r, node->child);
}

/* ---- Tag sections ---- */

static const Member *known_tag(const Record *record, int32_t number)
{
    const Member *tagged = record->members + record->field_count;
    for (Py_ssize_t i = 0; i < record->tag_count; i++)
        if (tagged[i].tag == number)
            return &tagged[i];
    return NULL;
}

static bool read_known_tag(Reader *r, const Member *member, PyObject *obj)
{
    PyObject *value = read_value(r, member->node);
    if (!value)
        return false;
    PyObject *old = SLOT(obj, member->offset);
    SLOT(obj, member->offset) = value;
    Py_XDECREF(old);
    return true;
}

static bool read_unknown_tag(Reader *r, int32_t number, int32_t size, PyObject **tags)
{
    if (size < 0)
        return false;
    if (*tags == Py_None) {
        Py_DECREF(Py_None);
        *tags = PyDict_New();
        if (!*tags)
            return false;
    }
    PyObject *key = PyLong_FromLong(number);
    PyObject *value = read_bytes(r, size);
    bool kept = key && value && PyDict_SetItem(*tags, key, value) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return kept;
}

/* Sets *tracked where a tag brought something that a cycle can pass through. */
static bool read_tags(Reader *r, const Record *record, PyObject *obj, bool *tracked)
{
    int32_t count, number, size;
    if (!read_uvarint(r, &count) || count < 0 || count > r->tables->tag_limit)
        return false;
    for (int32_t i = 0; i < count; i++) {
        if (!read_uvarint(r, &number) || !read_uvarint(r, &size))
            return false;
        const Member *known = known_tag(record, number);
        bool taken = known ? read_known_tag(r, known, obj)
                           : read_unknown_tag(r, number, size, &SLOT(obj, record->unknown_tags));
        if (!taken)
            return false;
        *tracked = *tracked || !known || is_container(known->node);
    }
    return true;
}

/* ---- Structs ---- */

static PyObject *fresh(const Member *member)
{
    if (!member->make)
        return Py_NewRef(member->value);
    if (member->make == (PyObject *)&PyList_Type)
        return PyList_New(0);
    return PyObject_CallNoArgs(member->make);
}

/* Gives every member beside the plain fields the value that no bytes stand for. */
static bool fill_defaults(const Record *record, PyObject *obj)
{
    SLOT(obj, record->unknown_tags) = Py_NewRef(Py_None);
    for (Py_ssize_t i = record->field_count; i < record->count; i++)
        if (!(SLOT(obj, record->members[i].offset) = fresh(&record->members[i])))
            return false;
    return true;
}

static bool read_fields(Reader *r, const Record *record, PyObject *obj)
{
    for (Py_ssize_t i = 0; i < record->field_count; i++) {
        const Member *field = &record->members[i];
        if (left(r) < field->run)
            return false;
        PyObject *value = field->node->size ? read_fixed(r, field->node)
                                            : read_value(r, field->node);
        if (!value)
            return false;
        SLOT(obj, field->offset) = value;
    }
    return true;
}

static PyObject *read_struct(Reader *r, const Record *record)
{
    PyObject *obj = blank_of(record->cls, record->size, record->collected);
    bool tracked = record->tracked;
    if (!obj)
        return NULL;
    if (!read_fields(r, record, obj) || !fill_defaults(record, obj)
        || (record->flexible && !read_tags(r, record, obj, &tracked))) {
        Py_DECREF(obj);
        return NULL;
    }
    if (tracked && record->collected)
        PyObject_GC_Track(obj);
    return obj;
}

PyObject *read_value(Reader *r, const Node *node)
{
    switch (node->kind) {
    case KIND_TEXT:
    case KIND_BYTES:
    case KIND_LIST:
    case KIND_TUPLE:
        return read_sized(r, node);
    case KIND_OPTIONAL:
        return read_optional(r, node);
    case KIND_STRUCT:
        return read_struct(r, node->record);
    default:
        return left(r) < node->size ? NULL : read_fixed(r, node);
    }
}
