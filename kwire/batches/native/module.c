/* kwire.batches.native._records: the records of a batch of format 2, read and written at once. */
#include "records.h"
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    RecordSlots record;
    HeaderSlots header;
    unsigned long long fallbacks;
} Engine;

/* What a call gives: its result, or None for what the reference has to do. */
static PyObject *result_or_none(Engine *self, PyObject *result)
{
    return result || !forgiven(&self->fallbacks) ? result : Py_NewRef(Py_None);
}

/* ---- Reading ---- */

/* The numbers behind data, position and count, in the order of RecordReader in record.py. */
static bool read_base(PyObject *const *arguments, Base *base)
{
    base->appended = arguments[3] != Py_None;
    base->append_time = 0;
    return exact_int(arguments[0], &base->offset) && exact_int(arguments[1], &base->timestamp)
        && exact_int(arguments[2], &base->sequence) && base->sequence <= INT32_MAX
        && (!base->appended || exact_int(arguments[3], &base->append_time));
}

static PyObject *read_all(Engine *self, PyObject *const *arguments)
{
    Base base;
    int64_t position, count;
    PyObject *data = arguments[0];
    if (!PyBytes_CheckExact(data) || !exact_int(arguments[1], &position)
        || !exact_int(arguments[2], &count) || !read_base(arguments + 3, &base))
        return NULL;
    const unsigned char *start = (const unsigned char *)PyBytes_AsString(data);
    Py_ssize_t size = PyBytes_Size(data);
    if (position < 0 || position > size || count < 0 || count > size)
        return NULL;
    RecordReader reader = {start + position, start + size, &base, &self->record, &self->header,
                           {0, 0}};
    PyObject *records = read_records(&reader, (Py_ssize_t)count);
    return records ? Py_BuildValue("Nn", records, (Py_ssize_t)(reader.at - start)) : NULL;
}

PyDoc_STRVAR(read_doc,
"read(data, position, count, base_offset, base_timestamp, base_sequence, append_time, /)\n--\n\n"
"The next `count` records as a list, and the position behind them; None if the reference must.");

static PyObject *engine_read(Engine *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 7) {
        PyErr_SetString(PyExc_TypeError, "read takes data, position, count, and four of the batch");
        return NULL;
    }
    return result_or_none(self, read_all(self, arguments));
}

/* ---- Writing ---- */

static PyObject *first_time(const Engine *self, PyObject *records)
{
    PyObject *first = PyList_GetItem(records, 0);
    return first && Py_IS_TYPE(first, self->record.cls) ? SLOT(first, self->record.timestamp) : NULL;
}

static PyObject *write_all(Engine *self, PyObject *const *arguments)
{
    RecordWriter writer = {{NULL, NULL, NULL}, 0, 0, 0, INT64_MIN, &self->record, &self->header,
                           {0, 0}};
    PyObject *records = arguments[0];
    if (!PyList_CheckExact(records) || PyList_Size(records) < 1
        || !exact_int(arguments[1], &writer.base_offset) || writer.base_offset == INT64_MIN)
        return NULL;
    PyObject *time = arguments[2] == Py_None ? first_time(self, records) : arguments[2];
    if (!time || !exact_int(time, &writer.base_timestamp))
        return NULL;
    writer.last_offset = writer.base_offset - 1;
    PyObject *body = NULL;
    if (write_records(&writer, records))
        body = bytes_of(writer.out.start, writer.out.at - writer.out.start);
    PyMem_Free(writer.out.start);
    return body ? Py_BuildValue("NLLL", body, (long long)writer.base_timestamp,
                                (long long)writer.last_offset, (long long)writer.latest)
                : NULL;
}

PyDoc_STRVAR(write_doc, "write(records, base_offset, base_timestamp, /)\n--\n\n"
"The bytes of a list of records, the timestamp that they are relative to, by default the first\n"
"one's, the offset of the last one, and the greatest timestamp; None if the reference must.");

static PyObject *engine_write(Engine *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "write takes records, their base offset and timestamp");
        return NULL;
    }
    return result_or_none(self, write_all(self, arguments));
}

/* ---- The classes ---- */

typedef struct {
    const char *name;
    Py_ssize_t *offset;
} Slot;

/* Finds the slots of a class, of which there may be no others: what is made here sets these only. */
static bool find_slots(PyTypeObject *cls, Py_ssize_t *size, const Slot *slots, Py_ssize_t count)
{
    *size = untracked_size(cls, count);
    PyObject *blank = *size < 0 ? NULL : PyType_GenericAlloc(cls, 0);
    bool found = blank != NULL;
    for (Py_ssize_t i = 0; found && i < count; i++) {
        PyObject *name = PyUnicode_FromString(slots[i].name);
        *slots[i].offset = name ? slot_offset(cls, blank, name) : -1;
        found = *slots[i].offset > 0;
        Py_XDECREF(name);
    }
    Py_XDECREF(blank);
    return found;
}

static bool find_all_slots(RecordSlots *record, HeaderSlots *header)
{
    const Slot of_record[] = {
        {"value", &record->value}, {"key", &record->key}, {"offset", &record->offset},
        {"timestamp", &record->timestamp}, {"headers", &record->headers},
        {"sequence", &record->sequence}, {"attributes", &record->attributes},
    };
    const Slot of_header[] = {{"key", &header->key}, {"value", &header->value}};
    return find_slots(record->cls, &record->size, of_record, 7)
        && find_slots(header->cls, &header->size, of_header, 2);
}

/* ---- The type ---- */

static PyObject *engine_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyTypeObject *record, *header;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyType_Type, &record, &PyType_Type, &header))
        return NULL;
    Engine *self = (Engine *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->record.cls = (PyTypeObject *)Py_NewRef((PyObject *)record);
    self->header.cls = (PyTypeObject *)Py_NewRef((PyObject *)header);
    if (find_all_slots(&self->record, &self->header))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int engine_traverse(Engine *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->record.cls);
    Py_VISIT(self->header.cls);
    return 0;
}

static void engine_dealloc(Engine *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)self->record.cls);
    Py_XDECREF((PyObject *)self->header.cls);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMemberDef engine_members[] = {
    {"fallbacks", T_ULONGLONG, offsetof(Engine, fallbacks), READONLY,
     "how many calls the reference took over"},
    {NULL},
};

static PyMethodDef engine_methods[] = {
    {"read", (PyCFunction)(void (*)(void))engine_read, METH_FASTCALL, read_doc},
    {"write", (PyCFunction)(void (*)(void))engine_write, METH_FASTCALL, write_doc},
    {NULL},
};

static PyType_Slot engine_slots[] = {
    {Py_tp_doc, "Engine(record, header, /)\n--\n\n"
     "Reads and writes records of a class, with headers of a class; ValueError for an unknown one."},
    {Py_tp_new, engine_new},
    {Py_tp_traverse, engine_traverse},
    {Py_tp_dealloc, engine_dealloc},
    {Py_tp_members, engine_members},
    {Py_tp_methods, engine_methods},
    {0, NULL},
};

static PyType_Spec engine_spec = {
    .name = "kwire.batches.native._records.Engine",
    .basicsize = sizeof(Engine),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = engine_slots,
};

/* ---- The module ---- */

static int module_exec(PyObject *module)
{
    if (add_type(module, &engine_spec) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "SOURCES", KWIRE_SOURCES);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kwire.batches.native._records",
    .m_doc = "Reads and writes the records of batches; kwire.batches.native gives it the classes.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__records(void)
{
    return PyModuleDef_Init(&module_definition);
}
