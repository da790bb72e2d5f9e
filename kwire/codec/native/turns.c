/* Lets other threads run while something large is in work. */
#include "shared.h"
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Python's interpreter lets go when another thread has asked for it, and a thread asks after it has
 * waited for 5 ms in vain. Letting go more often is worse than useless: each time wakes the waiting
 * threads, which begin to wait anew when they find that the lock has been taken back already. A clock
 * that was set back counts as time that has passed. */
void take_turn(Turns *turns)
{
    int64_t now = now_ns();
    if (turns->since_ns == 0) {
        turns->since_ns = now;
    } else if (now < turns->since_ns || now - turns->since_ns >= TURN_NS) {
        PyEval_RestoreThread(PyEval_SaveThread());
        turns->since_ns = now_ns();
    }
}

/* A bytes object; nobody else must free or change what is copied. */
PyObject *bytes_of(const unsigned char *start, Py_ssize_t size)
{
    if (size < LARGE_COPY)
        return PyBytes_FromStringAndSize((const char *)start, size);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
    char *target = bytes ? PyBytes_AsString(bytes) : NULL;
    if (target) {
        PyThreadState *state = PyEval_SaveThread();
        memcpy(target, start, (size_t)size);
        PyEval_RestoreThread(state);
    }
    return bytes;
}
