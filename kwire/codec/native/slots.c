/* Where the members of a class lie, and what modules with such classes share. */
#include "shared.h"

bool wrong(const char *what)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, what);
    return false;
}

Py_ssize_t size_attribute(PyTypeObject *cls, const char *name)
{
    PyObject *value = PyObject_GetAttrString((PyObject *)cls, name);
    Py_ssize_t size = value ? PyLong_AsSsize_t(value) : -1;
    Py_XDECREF(value);
    return size;
}

static Py_ssize_t find_mark(PyObject *blank, Py_ssize_t size, const PyObject *mark)
{
    Py_ssize_t step = sizeof(PyObject *);
    for (Py_ssize_t at = sizeof(PyObject); at + step <= size; at += step)
        if (SLOT(blank, at) == mark)
            return at;
    return -1;
}

/* Not by getattr: the metaclass has properties that are called like fields. */
static PyObject *own_attribute(PyTypeObject *cls, PyObject *name)
{
    PyObject *own = PyObject_GetAttrString((PyObject *)cls, "__dict__");
    PyObject *value = own ? PyObject_GetItem(own, name) : NULL;
    Py_XDECREF(own);
    return value;
}

/* The limited API tells no offset of a member: put a mark in and look where it lands. */
Py_ssize_t slot_offset(PyTypeObject *cls, PyObject *blank, PyObject *name)
{
    Py_ssize_t offset = -1;
    PyObject *mark = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    PyObject *member = own_attribute(cls, name);
    if (mark && member && Py_IS_TYPE(member, &PyMemberDescr_Type)) {
        PyObject *done = PyObject_CallMethod(member, "__set__", "OO", blank, mark);
        if (done)
            offset = find_mark(blank, size_attribute(cls, "__basicsize__"), mark);
        Py_XDECREF(done);
    }
    Py_XDECREF(mark);
    Py_XDECREF(member);
    if (offset < 0)
        wrong("a name is no member of its class");
    return offset;
}

bool is_plain(PyTypeObject *cls, Py_ssize_t size)
{
    Py_ssize_t slots = size - (Py_ssize_t)sizeof(PyObject);
    if (!(PyType_GetFlags(cls) & Py_TPFLAGS_HEAPTYPE) || slots < 0 || slots % sizeof(PyObject *)
        || size_attribute(cls, "__itemsize__") || size_attribute(cls, "__dictoffset__")
        || size_attribute(cls, "__weakrefoffset__"))
        return wrong("instances of the class are more than slots");
    return true;
}

Py_ssize_t untracked_size(PyTypeObject *cls, Py_ssize_t count)
{
    Py_ssize_t size = size_attribute(cls, "__basicsize__");
    if (!is_plain(cls, size))
        return -1;
    if (!(PyType_GetFlags(cls) & Py_TPFLAGS_HAVE_GC)
        && size == (Py_ssize_t)(sizeof(PyObject) + (size_t)count * sizeof(PyObject *)))
        return size;
    wrong("the class has other fields than its description");
    return -1;
}

int add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int added = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return added;
}

bool forgiven(unsigned long long *fallbacks)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyErr_Clear();
    ++*fallbacks;
    return true;
}
