/* UUID objects, made and read without running Python: a direct-mapped cache in front of the slots
 * of uuid.UUID. The cache never grows, and whoever aims at one of its lines only makes it miss. */
#include "native.h"

static CachedUuid *line_of(Uuids *uuids, uint64_t high, uint64_t low)
{
    uint64_t mixed = (high ^ low) * UINT64_C(0x9E3779B97F4A7C15);
    return &uuids->cache[mixed >> (64 - UUID_CACHE_BITS)];
}

static PyObject *wide_integer(uint64_t high, uint64_t low)
{
    PyObject *result = NULL;
    PyObject *upper = PyLong_FromUnsignedLongLong(high);
    PyObject *lower = PyLong_FromUnsignedLongLong(low);
    PyObject *places = PyLong_FromLong(64);
    PyObject *shifted = upper && places ? PyNumber_Lshift(upper, places) : NULL;
    if (shifted && lower)
        result = PyNumber_Or(shifted, lower);
    Py_XDECREF(upper);
    Py_XDECREF(lower);
    Py_XDECREF(places);
    Py_XDECREF(shifted);
    return result;
}

static PyObject *make(const Uuids *uuids, uint64_t high, uint64_t low)
{
    PyObject *number = wide_integer(high, low);
    if (!number)
        return NULL;
    PyObject *uuid = PyType_GenericAlloc(uuids->cls, 0);
    if (!uuid) {
        Py_DECREF(number);
        return NULL;
    }
    PyObject_GC_UnTrack(uuid);  /* an integer and an enum member: no cycle can pass through */
    SLOT(uuid, uuids->int_offset) = number;
    SLOT(uuid, uuids->is_safe_offset) = Py_NewRef(uuids->unknown);
    return uuid;
}

PyObject *uuids_read(Uuids *uuids, const unsigned char *bytes)
{
    uint64_t high = load64(bytes), low = load64(bytes + 8);
    CachedUuid *line = line_of(uuids, high, low);
    if (!line->uuid || line->high != high || line->low != low) {
        PyObject *uuid = make(uuids, high, low);
        if (!uuid)
            return NULL;
        PyObject *old = line->uuid;
        *line = (CachedUuid){high, low, Py_NewRef(uuid)};
        Py_XDECREF(old);  /* may run code that refills the line: it is not looked at again */
        return uuid;
    }
    return Py_NewRef(line->uuid);
}

bool uuids_write(const Uuids *uuids, PyObject *uuid, unsigned char *bytes)
{
    if (!Py_IS_TYPE(uuid, uuids->cls))
        return false;
    PyObject *number = SLOT(uuid, uuids->int_offset);
    if (!number || !PyLong_CheckExact(number))
        return false;
    PyObject *places = PyLong_FromLong(64);
    PyObject *upper = places ? PyNumber_Rshift(number, places) : NULL;
    Py_XDECREF(places);
    if (!upper)
        return false;
    uint64_t low = PyLong_AsUnsignedLongLongMask(number);
    uint64_t high = PyLong_AsUnsignedLongLong(upper);
    Py_DECREF(upper);
    if (high == UINT64_MAX && PyErr_Occurred())
        return false;
    store64(bytes, high);
    store64(bytes + 8, low);
    return true;
}

static int find_offsets(Uuids *uuids)
{
    PyObject *blank = PyType_GenericAlloc(uuids->cls, 0);
    PyObject *number = PyUnicode_FromString("int");
    PyObject *is_safe = PyUnicode_FromString("is_safe");
    uuids->int_offset = uuids->is_safe_offset = -1;
    if (blank && number && is_safe) {
        uuids->int_offset = slot_offset(uuids->cls, blank, number);
        if (uuids->int_offset > 0)
            uuids->is_safe_offset = slot_offset(uuids->cls, blank, is_safe);
    }
    Py_XDECREF(blank);
    Py_XDECREF(number);
    Py_XDECREF(is_safe);
    return uuids->is_safe_offset > 0 ? 0 : -1;
}

int uuids_init(Uuids *uuids)
{
    PyObject *module = PyImport_ImportModule("uuid");
    PyObject *cls = module ? PyObject_GetAttrString(module, "UUID") : NULL;
    PyObject *safety = module ? PyObject_GetAttrString(module, "SafeUUID") : NULL;
    Py_XDECREF(module);
    uuids->cls = (PyTypeObject *)cls;
    uuids->unknown = safety ? PyObject_GetAttrString(safety, "unknown") : NULL;
    Py_XDECREF(safety);
    if (!cls || !uuids->unknown)
        return -1;
    if (!PyType_Check(cls)) {
        PyErr_SetString(PyExc_TypeError, "uuid.UUID is not a type");
        return -1;
    }
    return find_offsets(uuids);
}

void uuids_clear(Uuids *uuids)
{
    for (size_t i = 0; i < sizeof uuids->cache / sizeof *uuids->cache; i++)
        Py_CLEAR(uuids->cache[i].uuid);
    Py_CLEAR(uuids->unknown);
    Py_CLEAR(uuids->cls);
}
