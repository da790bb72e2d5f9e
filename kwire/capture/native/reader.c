/* Avro's values, as strict as kwire/capture/avro.py. Nothing is allocated that the bytes cannot fill. */
#include "capture.h"

static Py_ssize_t left(const Input *in)
{
    return in->end - in->at;
}

/* Zigzag, at most ten bytes, and no bit beyond the 64th. */
static bool read_long(Input *in, int64_t *value)
{
    const unsigned char *start = in->at;
    uint64_t plain;
    if (!get_uvarint(&in->at, in->end, 70, &plain))
        return false;
    *value = unzigzag(plain);
    return in->at - start < 10 || in->at[-1] <= 1;
}

static bool read_size(Input *in, Py_ssize_t *size)
{
    int64_t number;
    if (!read_long(in, &number) || number < 0 || number > left(in))
        return false;
    *size = (Py_ssize_t)number;
    return true;
}

/* Whether a value follows that may be null; 1 or 0, -1 where it is neither. */
static int read_presence(Input *in)
{
    if (in->at == in->end || (*in->at != 0 && *in->at != 2))
        return -1;
    return *in->at++ == 2;
}

static PyObject *read_number(Input *in)
{
    int64_t value;
    return read_long(in, &value) ? PyLong_FromLongLong(value) : NULL;
}

static PyObject *read_text(Input *in, PyObject **last)
{
    Py_ssize_t size, known = -1;
    if (!read_size(in, &size))
        return NULL;
    const char *start = (const char *)in->at;
    in->at += size;
    const char *before = last && *last ? PyUnicode_AsUTF8AndSize(*last, &known) : NULL;
    if (before && known == size && memcmp(before, start, (size_t)size) == 0)
        return Py_NewRef(*last);
    PyObject *text = PyUnicode_DecodeUTF8(start, size, "strict");
    if (text && last) {
        PyObject *old = *last;
        *last = Py_NewRef(text);
        Py_XDECREF(old);
    }
    return text;
}

static PyObject *read_bytes(Input *in)
{
    Py_ssize_t size;
    if (!read_size(in, &size))
        return NULL;
    const unsigned char *start = in->at;
    in->at += size;
    return bytes_of(start, size);
}

static PyObject *read_choice(Input *in, PyObject *values)
{
    int64_t index;
    if (!read_long(in, &index) || index < 0 || index >= PyTuple_Size(values))
        return NULL;
    return Py_NewRef(PyTuple_GetItem(values, (Py_ssize_t)index));
}

/* A block of an array: a negative count is followed by the size of the block. */
static bool read_block(Input *in, int64_t count, PyObject *list)
{
    int64_t ignored;
    if (count < 0) {
        if (count == INT64_MIN || !read_long(in, &ignored))
            return false;
        count = -count;
    }
    for (; count > 0; count--) {
        PyObject *text = read_text(in, NULL);
        bool added = text && PyList_Append(list, text) == 0;
        Py_XDECREF(text);
        if (!added)
            return false;
    }
    return true;
}

static PyObject *read_texts(Input *in)
{
    int64_t count;
    if (!read_long(in, &count))
        return NULL;
    if (count == 0)
        return PyTuple_New(0);
    PyObject *list = PyList_New(0), *texts = NULL;
    while (list && count != 0)
        if (!read_block(in, count, list) || !read_long(in, &count))
            break;
    if (list && count == 0)
        texts = PyList_AsTuple(list);
    Py_XDECREF(list);
    return texts;
}

PyObject *read_field(Input *in, Field *field)
{
    int present = 1;
    if (field->kind == KIND_OPTIONAL_LONG || field->kind == KIND_OPTIONAL_TEXT
        || field->kind == KIND_OPTIONAL_BYTES)
        present = read_presence(in);
    if (present != 1)
        return present == 0 ? Py_NewRef(Py_None) : NULL;
    switch (field->kind) {
    case KIND_LONG:
    case KIND_OPTIONAL_LONG:
        return read_number(in);
    case KIND_TEXT:
    case KIND_OPTIONAL_TEXT:
        return read_text(in, &field->last);
    case KIND_OPTIONAL_BYTES:
        return read_bytes(in);
    case KIND_CHOICE:
        return read_choice(in, field->extra);
    case KIND_TEXTS:
        return read_texts(in);
    default:
        return Py_NewRef(field->extra);
    }
}
