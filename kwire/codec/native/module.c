/* kwire.codec.native._program: one version of one message as a pair of fast functions. */
#include "native.h"
#include <structmember.h>

#define KEPT_BUFFER ((Py_ssize_t)1 << 20)

typedef struct {
    Uuids uuids;
    unsigned char *buffer;  /* what the next encode writes into, NULL while one does */
    Py_ssize_t buffer_size;
} State;

typedef struct {
    PyObject_HEAD
    State *state;       /* of the module, which the type keeps alive */
    PyObject *decode;   /* the reference, which takes over where these functions fail */
    PyObject *encode;
    Tables tables;
    unsigned long long fallbacks;
} Program;

static const Node *root(const Program *self)
{
    return &self->tables.nodes[self->tables.count - 1];
}

static PyObject *object_and_end(PyObject *obj, Py_ssize_t end)
{
    PyObject *position = PyLong_FromSsize_t(end);
    PyObject *pair = obj && position ? PyTuple_Pack(2, obj, position) : NULL;
    Py_XDECREF(obj);
    Py_XDECREF(position);
    return pair;
}

static PyObject *read_at(Program *self, const char *start, Py_ssize_t size, Py_ssize_t offset)
{
    const unsigned char *bytes = (const unsigned char *)start;
    if (offset < 0 || offset > size)
        return NULL;
    Reader reader = {bytes + offset, bytes + size, &self->tables, &self->state->uuids, {0, 0}};
    PyObject *obj = read_value(&reader, root(self));
    return obj ? object_and_end(obj, reader.at - bytes) : NULL;
}

static PyObject *read_from(Program *self, PyObject *data, PyObject *position)
{
    Py_buffer view;
    Py_ssize_t offset = position ? -1 : 0;
    if (position && PyLong_CheckExact(position))
        offset = PyLong_AsSsize_t(position);
    if (offset < 0 || PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *pair = read_at(self, view.buf, view.len, offset);
    PyBuffer_Release(&view);
    return pair;
}

PyDoc_STRVAR(decode_doc, "decode(data, offset=0, /)\n--\n\n"
"The object at `offset` and the offset behind it; raises what the reference raises.");

static PyObject *program_decode(Program *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 1 && count != 2) {
        PyErr_SetString(PyExc_TypeError, "decode takes the data and an offset");
        return NULL;
    }
    PyObject *offset = count == 2 ? arguments[1] : NULL;
    PyObject *pair = read_from(self, arguments[0], offset);
    if (pair || !forgiven(&self->fallbacks))
        return pair;
    return PyObject_CallFunctionObjArgs(self->decode, arguments[0], offset, NULL);
}

/* An encode inside an encode, by a comparison in Python, finds no buffer and gets its own. */
static Writer borrow_buffer(State *state, const Tables *tables)
{
    unsigned char *start = state->buffer, *end = start ? start + state->buffer_size : NULL;
    state->buffer = NULL;
    return (Writer){{start, start, end}, tables, &state->uuids, {0, 0}};
}

static void return_buffer(State *state, const Buffer *buffer)
{
    if (state->buffer || buffer->end - buffer->start > KEPT_BUFFER) {
        PyMem_Free(buffer->start);
        return;
    }
    state->buffer = buffer->start;
    state->buffer_size = buffer->end - buffer->start;
}

PyDoc_STRVAR(encode_doc, "encode(obj, /)\n--\n\n"
"The bytes of an object; raises what the reference raises.");

static PyObject *program_encode(Program *self, PyObject *obj)
{
    PyObject *encoded = NULL;
    Writer writer = borrow_buffer(self->state, &self->tables);
    if (write_value(&writer, root(self), obj))
        encoded = bytes_of(writer.out.start, writer.out.at - writer.out.start);
    return_buffer(self->state, &writer.out);
    if (encoded || !forgiven(&self->fallbacks))
        return encoded;
    return PyObject_CallFunctionObjArgs(self->encode, obj, NULL);
}

/* ---- The type ---- */

static PyObject *program_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *parts, *decode, *encode;
    Py_ssize_t string_limit, tag_limit;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!OOnn", &PyTuple_Type, &parts, &decode, &encode,
                          &string_limit, &tag_limit))
        return NULL;
    Program *self = (Program *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->state = PyType_GetModuleState(type);
    self->decode = Py_NewRef(decode);
    self->encode = Py_NewRef(encode);
    self->tables = (Tables){Py_NewRef(parts), NULL, 0, string_limit, tag_limit};
    if (tables_fill(&self->tables))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int program_traverse(Program *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->decode);
    Py_VISIT(self->encode);
    Py_VISIT(self->tables.parts);
    return 0;
}

static void program_dealloc(Program *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    tables_free(&self->tables);
    Py_XDECREF(self->tables.parts);
    Py_XDECREF(self->decode);
    Py_XDECREF(self->encode);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMemberDef program_members[] = {
    {"fallbacks", T_ULONGLONG, offsetof(Program, fallbacks), READONLY,
     "how many calls the reference took over"},
    {NULL},
};

static PyMethodDef program_methods[] = {
    {"decode", (PyCFunction)(void (*)(void))program_decode, METH_FASTCALL, decode_doc},
    {"encode", (PyCFunction)program_encode, METH_O, encode_doc},
    {NULL},
};

static PyType_Slot program_slots[] = {
    {Py_tp_doc, "Program(parts, decode, encode, string_limit, tag_limit, /)\n--\n\n"
     "One version of one message, as kwire.codec.native.tables describes it; ValueError for a\n"
     "description that cannot be trusted."},
    {Py_tp_new, program_new},
    {Py_tp_traverse, program_traverse},
    {Py_tp_dealloc, program_dealloc},
    {Py_tp_members, program_members},
    {Py_tp_methods, program_methods},
    {0, NULL},
};

static PyType_Spec program_spec = {
    .name = "kwire.codec.native._program.Program",
    .basicsize = sizeof(Program),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = program_slots,
};

/* ---- The module ---- */

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (add_type(module, &program_spec) < 0
        || PyModule_AddStringConstant(module, "SOURCES", KWIRE_SOURCES) < 0)
        return -1;
    return uuids_init(&state->uuids);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->uuids.cls);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    uuids_clear(&state->uuids);
    PyMem_Free(state->buffer);
    state->buffer = NULL;
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kwire.codec.native._program",
    .m_doc = "Reads and writes messages by tables; kwire.codec.native makes the tables.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__program(void)
{
    return PyModuleDef_Init(&module_definition);
}
