/* kwire.capture.native._capture: captures written and read, in C. */
#include "capture.h"
#include "crc32c.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

PyDoc_STRVAR(copy_summed_doc, "copy_summed(to, data, crc, /)\n--\n\n"
"Copy bytes to a buffer of the same size or more; return the CRC-32C of all up to their end.");

static PyObject *copy_summed(PyObject *module, PyObject *arguments)
{
    Py_buffer to, data;
    unsigned int crc;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "w*y*I", &to, &data, &crc))
        return NULL;
    bool fits = data.len <= to.len;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        crc = crc32c_copy(crc, to.buf, data.buf, (size_t)data.len);
        Py_END_ALLOW_THREADS
    } else {
        PyErr_SetString(PyExc_ValueError, "the buffer is too small");
    }
    PyBuffer_Release(&to);
    PyBuffer_Release(&data);
    return fits ? PyLong_FromUnsignedLong(crc) : NULL;
}

PyDoc_STRVAR(keep_freed_doc, "keep_freed(size, /)\n--\n\n"
"Have the process keep so much of the memory that it frees; what it holds beyond goes to the system.\n"
"Without effect where the C library has no such setting.");

static PyObject *keep_freed(PyObject *module, PyObject *size)
{
    long kept = PyLong_AsLong(size);
    (void)module;
    if (kept < 0 || kept > INT32_MAX) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is from 0 up to 2 GiB");
        return NULL;
    }
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  /* the most: what is larger is never kept */
    mallopt(M_TRIM_THRESHOLD, (int)kept);
    Py_BEGIN_ALLOW_THREADS
    malloc_trim((size_t)kept);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}

static int module_exec(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "SUMS_FAST", crc32c_prepare()) < 0
        || add_type(module, &flow_encoder_spec) < 0 || add_type(module, &decoder_spec) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "SOURCES", KWIRE_SOURCES);
}

static PyMethodDef module_methods[] = {
    {"copy_summed", copy_summed, METH_VARARGS, copy_summed_doc},
    {"keep_freed", keep_freed, METH_O, keep_freed_doc},
    {NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kwire.capture.native._capture",
    .m_doc = "Encodes usual flows as records of a capture, sums what it copies, and decodes records.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__capture(void)
{
    return PyModuleDef_Init(&module_definition);
}
