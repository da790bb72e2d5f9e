/* What native engines share that read and write objects of Python: hatch_build.py names the files.
 *
 * It defines KWIRE_SOURCES, too, the state of the sources that an extension is built from.
 */
#ifndef KWIRE_SHARED_H
#define KWIRE_SHARED_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdbool.h>
#include <string.h>
#include "big_endian.h"

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* ---- Objects ---- */

/* Where the member `name` of `cls` lies: `blank`, an instance, gets a mark there. -1 with an error
 * where `name` is no member. */
Py_ssize_t slot_offset(PyTypeObject *cls, PyObject *blank, PyObject *name);

/* A size that the class tells of its instances, such as __basicsize__; -1 with an error. */
Py_ssize_t size_attribute(PyTypeObject *cls, const char *name);

/* Whether an instance of `size` bytes is a header and slots, nothing else; if not with an error. */
bool is_plain(PyTypeObject *cls, Py_ssize_t size);

/* The same of a class that the collector does not know and that has `count` slots; returns the size of
 * its instances, -1 with an error. */
Py_ssize_t untracked_size(PyTypeObject *cls, Py_ssize_t count);

/* Sets an error unless there is one; false. */
bool wrong(const char *what);

/* Adds a type to its module; 0, or -1 with an error. */
int add_type(PyObject *module, PyType_Spec *spec);

/* Forgets a failure, which the reference then takes over or explains, and counts it. False for what
 * asks the program to stop, such as Ctrl-C, which may not be forgotten. */
bool forgiven(unsigned long long *fallbacks);

/* Whether a value is an int, of no subclass, that 64 bits hold; NULL is none. */
static inline bool exact_int(PyObject *value, int64_t *number)
{
    int overflow;
    if (!value || !PyLong_CheckExact(value))
        return false;
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
}

/* An instance that no __init__ has seen: every slot is NULL until its field is read, which the
 * deallocator allows, and the collector does not know it before it is whole. */
static inline PyObject *blank_of(PyTypeObject *cls, Py_ssize_t size, bool collected)
{
    PyObject *obj = collected ? PyObject_GC_New(PyObject, cls) : PyObject_New(PyObject, cls);
    if (obj)
        memset((char *)obj + sizeof(PyObject), 0, (size_t)size - sizeof(PyObject));
    return obj;
}

/* ---- Turns ---- */

#define ITEMS_PER_LOOK 1024
#define TURN_NS 6000000  /* longer than the 5 ms after which Python's waiting threads ask for a turn */
#define LARGE_COPY (1 << 20)

/* How many items were read or written, and when another thread could run last. */
typedef struct {
    unsigned int items;
    int64_t since_ns;
} Turns;

void take_turn(Turns *turns);
PyObject *bytes_of(const unsigned char *start, Py_ssize_t size);

/* Lets other threads run while a frame of 100 MiB is in work, which takes seconds. What is being made
 * is known to nobody else meanwhile. */
static inline void take_turns(Turns *turns)
{
    if (++turns->items % ITEMS_PER_LOOK == 0)
        take_turn(turns);
}

/* ---- The buffer that is written into ---- */

typedef struct {
    unsigned char *start;
    unsigned char *at;
    unsigned char *end;
} Buffer;

bool buffer_grow(Buffer *buffer, size_t more);

static inline bool reserve(Buffer *buffer, size_t more)
{
    return (size_t)(buffer->end - buffer->at) >= more || buffer_grow(buffer, more);
}

static inline bool write_raw(Buffer *buffer, const void *start, Py_ssize_t size)
{
    if (!reserve(buffer, (size_t)size))
        return false;
    if (size)
        memcpy(buffer->at, start, (size_t)size);
    buffer->at += size;
    return true;
}

/* ---- Varints ---- */

static inline unsigned char *put_uvarint(unsigned char *p, uint64_t value)
{
    for (; value > 0x7F; value >>= 7)
        *p++ = (unsigned char)(value | 0x80);
    *p++ = (unsigned char)value;
    return p;
}

/* Reads a varint of so many bits at the most, seven a byte; false where it is cut off or longer. */
static inline bool get_uvarint(const unsigned char **at, const unsigned char *end, int bits,
                               uint64_t *value)
{
    uint64_t sum = 0;
    for (int shift = 0; shift < bits; shift += 7) {
        if (*at == end)
            return false;
        uint64_t byte = *(*at)++;
        sum |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = sum;
            return true;
        }
    }
    return false;
}

static inline uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
