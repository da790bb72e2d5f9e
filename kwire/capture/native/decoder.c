/* Records of captures, decoded into objects of one class. */
#include "capture.h"
#include <structmember.h>

static const char *const KINDS[] = {
    "long", "optional long", "text", "optional text", "optional bytes", "choice", "texts", "absent",
    NULL,
};

typedef struct {
    PyObject_HEAD
    PyTypeObject *cls;
    Py_ssize_t size;
    PyObject *parts;  /* the description, which keeps `extra` of the fields alive */
    Field *fields;
    Py_ssize_t count;
    unsigned long long fallbacks;
} Decoder;

/* ---- Decoding ---- */

static PyObject *read_record(Decoder *self, Input *in)
{
    PyObject *record = blank_of(self->cls, self->size, false);
    for (Py_ssize_t i = 0; record && i < self->count; i++) {
        Field *field = &self->fields[i];
        if (!(SLOT(record, field->offset) = read_field(in, field))) {
            Py_DECREF(record);
            return NULL;
        }
    }
    return record;
}

static PyObject *decode(Decoder *self, PyObject *data, PyObject *position)
{
    if (!PyBytes_CheckExact(data) || !PyLong_CheckExact(position))
        return NULL;
    Py_ssize_t size = PyBytes_Size(data), start = PyLong_AsSsize_t(position);
    if (start < 0 || start > size)
        return NULL;
    const unsigned char *bytes = (const unsigned char *)PyBytes_AsString(data);
    Input in = {bytes + start, bytes + size};
    PyObject *record = read_record(self, &in);
    return record ? Py_BuildValue("Nn", record, (Py_ssize_t)(in.at - bytes)) : NULL;
}

PyDoc_STRVAR(decode_doc, "decode(data, start, /)\n--\n\n"
"The record at `start` and where its fields end, or None if it cannot be read.");

static PyObject *decoder_decode(Decoder *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "decode takes the data and where the record begins");
        return NULL;
    }
    PyObject *result = decode(self, arguments[0], arguments[1]);
    return result || !forgiven(&self->fallbacks) ? result : Py_NewRef(Py_None);
}

/* ---- The description: it is not trusted, as in kwire/codec/native/tables.c ---- */

static bool set_kind(Field *field, const char *name)
{
    for (int kind = 0; KINDS[kind]; kind++)
        if (strcmp(KINDS[kind], name) == 0) {
            field->kind = (Kind)kind;
            return kind != KIND_CHOICE || PyTuple_CheckExact(field->extra)
                || wrong("a choice is no tuple of values");
        }
    return wrong("no such kind");
}

static bool add_field(Decoder *self, PyObject *blank, PyObject *part)
{
    Field *field = &self->fields[self->count++];
    PyObject *name;
    const char *kind;
    if (!PyArg_ParseTuple(part, "UsO", &name, &kind, &field->extra) || !set_kind(field, kind))
        return false;
    field->offset = slot_offset(self->cls, blank, name);
    for (Py_ssize_t i = 0; i < self->count - 1; i++)
        if (self->fields[i].offset == field->offset)
            return wrong("a field that is there twice");
    return field->offset > 0;
}

static bool add_fields(Decoder *self)
{
    Py_ssize_t count = PyTuple_Size(self->parts);
    self->size = untracked_size(self->cls, count);
    if (self->size < 0)
        return false;
    self->fields = PyMem_Calloc((size_t)count, sizeof(Field));
    PyObject *blank = self->fields ? PyType_GenericAlloc(self->cls, 0) : PyErr_NoMemory();
    bool added = blank != NULL;
    for (Py_ssize_t i = 0; added && i < count; i++)
        added = add_field(self, blank, PyTuple_GetItem(self->parts, i));
    Py_XDECREF(blank);
    return added;
}

/* ---- The type ---- */

static PyObject *decoder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyTypeObject *cls;
    PyObject *parts;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyType_Type, &cls, &PyTuple_Type, &parts))
        return NULL;
    Decoder *self = (Decoder *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->cls = (PyTypeObject *)Py_NewRef((PyObject *)cls);
    self->parts = Py_NewRef(parts);
    if (add_fields(self))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int decoder_traverse(Decoder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->cls);
    Py_VISIT(self->parts);
    return 0;
}

static void decoder_dealloc(Decoder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; self->fields && i < self->count; i++)
        Py_XDECREF(self->fields[i].last);
    PyMem_Free(self->fields);
    Py_XDECREF(self->parts);
    Py_XDECREF((PyObject *)self->cls);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMemberDef decoder_members[] = {
    {"fallbacks", T_ULONGLONG, offsetof(Decoder, fallbacks), READONLY,
     "how many records were left to the schema"},
    {NULL},
};

static PyMethodDef decoder_methods[] = {
    {"decode", (PyCFunction)(void (*)(void))decoder_decode, METH_FASTCALL, decode_doc},
    {NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Decoder(cls, parts, /)\n--\n\n"
     "Decodes records into a class by (name, kind, values or default) of each of its fields, in the\n"
     "order of the bytes; ValueError for a class or a description that it cannot take."},
    {Py_tp_new, decoder_new},
    {Py_tp_traverse, decoder_traverse},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_members, decoder_members},
    {Py_tp_methods, decoder_methods},
    {0, NULL},
};

PyType_Spec decoder_spec = {
    .name = "kwire.capture.native._capture.Decoder",
    .basicsize = sizeof(Decoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};
