/* kwire.proxy.data_path.native._relay: the loop in C and the frames of one connection, for Python.
 *
 * What Python gets are plain tuples; _relay.pyi says what is in them. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include "relay.h"
#include <errno.h>
#include <stdlib.h>

#define SECOND 1e9

typedef struct {
    PyObject_HEAD
    Loop *loop;
    bool running;
} LoopObject;

typedef struct {
    PyObject_HEAD
    Shared shared;
    Frames frames;
} FramesObject;

/* ---- What both share ---- */

static bool read_bounds(Shared *shared, PyObject *bounds)
{
    Py_ssize_t count = PyTuple_Size(bounds);
    if (count < 0 || count > MOST_BOUNDS) {
        PyErr_SetString(PyExc_ValueError, "too many bounds of latencies");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        double seconds = PyFloat_AsDouble(PyTuple_GetItem(bounds, i));
        if (PyErr_Occurred())
            return false;
        shared->bounds[i] = (int64_t)(seconds * SECOND);
    }
    shared->bound_count = (int)count;
    return true;
}

static bool read_shared(Shared *shared, PyObject *bounds, const char *care, Py_ssize_t care_size,
                        long long frame_limit, Py_ssize_t copy_limit, Py_ssize_t memory_limit)
{
    *shared = (Shared){0};
    if (care_size != KEYS || frame_limit < 0 || copy_limit < 0 || memory_limit < 0) {
        PyErr_SetString(PyExc_ValueError, "care or limits cannot be used");
        return false;
    }
    memcpy(shared->care, care, KEYS);
    shared->frame_limit = frame_limit;
    shared->copy_limit = (size_t)copy_limit;
    shared->memory_limit = (size_t)memory_limit;
    return read_bounds(shared, bounds);
}

/* A pair that the table has no room for stays unknown: it is copied, and Python decides. */
static bool read_interest(Shared *shared, PyObject *arguments)
{
    int key, version, request, response;
    if (!PyArg_ParseTuple(arguments, "iiii", &key, &version, &request, &response))
        return false;
    if (request < COUNTED || request > TAPPED || response < COUNTED || response > TAPPED) {
        PyErr_SetString(PyExc_ValueError, "an interest is 1, 2 or 3");
        return false;
    }
    if (key >= 0 && key < KEYS && version >= 0 && version < VERSIONS)
        shared->interests[key][version] = (uint8_t)(request | response << 2);
    return true;
}

static PyObject *copied(const Copy *copy)
{
    if (!copy->wanted || copy->dropped)
        return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)copy->data, (Py_ssize_t)copy->size);
}

static PyObject *flow_tuple(const Flow *flow)
{
    return Py_BuildValue("(iiiLdLNO)", (int)flow->key, (int)flow->version, (int)flow->correlation,
                         (long long)flow->size, flow->at, (long long)flow->asked,
                         copied(&flow->request),
                         flow->no_room || flow->request.dropped ? Py_True : Py_False);
}

static PyObject *event_tuple(const Event *event)
{
    return Py_BuildValue("(KNLLN)", (unsigned long long)event->connection,
                         flow_tuple(&event->flow), (long long)event->answered,
                         (long long)event->response_size, copied(&event->response));
}

static bool append(PyObject *list, PyObject *item)
{
    bool appended = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return appended;
}

static PyObject *bucket_tuple(const Shared *shared, const Count *count)
{
    PyObject *buckets = PyTuple_New(shared->bound_count + 1);
    for (int i = 0; buckets && i <= shared->bound_count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(count->buckets[i]);
        if (!number || PyTuple_SetItem(buckets, i, number) < 0)
            Py_CLEAR(buckets);
    }
    return buckets;
}

/* Appends what a connection has counted since the last time, and begins anew. */
static bool append_counts(PyObject *list, Frames *frames)
{
    int count = frames->count_count;
    frames->count_count = 0;
    for (int i = 0; i < count; i++) {
        const Count *c = &frames->counts[i];
        PyObject *item = Py_BuildValue(
            "(KiiKKKdN)", (unsigned long long)frames->connection, (int)c->key, (int)c->version,
            (unsigned long long)c->requests, (unsigned long long)c->request_bytes,
            (unsigned long long)c->response_bytes, (double)c->nanoseconds / SECOND,
            bucket_tuple(frames->shared, c));
        if (!append(list, item))
            return false;
    }
    return true;
}

static PyObject *bytes_or_empty(const unsigned char *data, size_t size)
{
    return PyBytes_FromStringAndSize(size ? (const char *)data : "", (Py_ssize_t)size);
}

static PyObject *direction_tuple(const Direction *d)
{
    return Py_BuildValue("(LLKKNn)", (long long)d->left, (long long)d->size,
                         (unsigned long long)d->passed, (unsigned long long)d->frames,
                         bytes_or_empty(d->head, d->head_count), (Py_ssize_t)d->head_need);
}

static PyObject *pending_list(const Frames *frames)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < frames->count; i++)
        if (!append(list, flow_tuple(frames_pending(frames, i))))
            Py_CLEAR(list);
    return list;
}

/* The request whose frame passes: its place among those that wait, -1 if its response is passing
 * already, or itself if none will come. */
static PyObject *asking(const Frames *frames)
{
    if (!frames->asking)
        return Py_NewRef(Py_None);
    if (frames->asking_unanswered)
        return flow_tuple(&frames->unanswered);
    if (frames->asking_answered)
        return PyLong_FromLong(-1);
    return PyLong_FromUnsignedLongLong(frames->asking_place - frames->popped);
}

static PyObject *answering(const Frames *frames)
{
    if (!frames->answering)
        return Py_NewRef(Py_None);
    Flow answered = frames->answered;
    answered.no_room |= frames->answer.dropped;
    return Py_BuildValue("(NLN)", flow_tuple(&answered), (long long)frames->answered_at,
                         copied(&frames->answer));
}

static PyObject *frames_tuple(const Frames *frames)
{
    return Py_BuildValue("(NNNNN)", direction_tuple(&frames->directions[REQUEST]),
                         direction_tuple(&frames->directions[RESPONSE]), pending_list(frames),
                         asking(frames), answering(frames));
}

/* ---- What Python gives ---- */

static bool set_client(Frames *frames, const char *id, Py_ssize_t size, int identified)
{
    frames->client_id = malloc(size ? (size_t)size : 1);
    if (!frames->client_id) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(frames->client_id, id, (size_t)size);
    frames->client_id_size = (size_t)size;
    frames->identified = identified;
    return true;
}

/* Reads a flow that was asked elsewhere, with the copy of its request. */
static bool read_flow(Shared *shared, PyObject *tuple, Flow *flow)
{
    int key, version, correlation;
    long long size, asked;
    const char *copy;
    Py_ssize_t copy_size;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a flow is a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(tuple, "iiiLdLz#", &key, &version, &correlation, &size, &flow->at, &asked,
                          &copy, &copy_size))
        return false;
    flow->key = (int16_t)key;
    flow->version = (int16_t)version;
    flow->correlation = correlation;
    flow->size = (uint32_t)size;
    flow->asked = asked;
    flow_adopt(shared, flow);
    if (copy_adopt(shared, &flow->request, flow->size, (const unsigned char *)copy,
                   (size_t)copy_size))
        return true;
    PyErr_NoMemory();
    return false;
}

/* A connection as Python gives it, `Moved` in kwire/proxy/data_path/moved.py. */
typedef struct {
    int client, node, identified;
    const char *id;
    Py_ssize_t id_size, asking;
    struct {
        unsigned long long passed, frames;
        long long left, size;
        const char *copy;
        Py_ssize_t copied;
    } directions[2];
    PyObject *pending, *answering;
    long long answered;
} Added;

static bool read_added(PyObject *moved, Added *added)
{
    return PyArg_ParseTuple(moved, "iiy#p(KKLLz#)(KKLLz#)O!nOL", &added->client, &added->node,
                            &added->id, &added->id_size, &added->identified,
                            &added->directions[0].passed, &added->directions[0].frames,
                            &added->directions[0].left, &added->directions[0].size,
                            &added->directions[0].copy, &added->directions[0].copied,
                            &added->directions[1].passed, &added->directions[1].frames,
                            &added->directions[1].left, &added->directions[1].size,
                            &added->directions[1].copy, &added->directions[1].copied,
                            &PyList_Type, &added->pending, &added->asking, &added->answering,
                            &added->answered);
}

static bool add_flows(Frames *frames, const Added *added)
{
    Flow flow;
    for (Py_ssize_t i = 0; i < PyList_Size(added->pending); i++) {
        flow = (Flow){0};
        if (!read_flow(frames->shared, PyList_GetItem(added->pending, i), &flow))
            return false;
        if (!frames_expect(frames, &flow)) {
            PyErr_NoMemory();
            return false;
        }
    }
    frames->answering = added->answering != Py_None;
    frames->asking_answered = added->asking == -2 && frames->answering;
    frames->asking = frames->asking_answered
                     || (added->asking >= 0 && (uint32_t)added->asking < frames->count);
    frames->asking_place = added->asking > 0 ? (uint64_t)added->asking : 0;
    frames->answered_at = added->answered;
    return !frames->answering || read_flow(frames->shared, added->answering, &frames->answered);
}

/* Goes on with the copies of the frames that pass. */
static bool add_copies(Frames *frames, const Added *added)
{
    bool waits = frames->asking && !frames->asking_answered;
    Copy *copies[2] = {
        waits ? &frames_pending(frames, (uint32_t)frames->asking_place)->request : NULL,
        frames->answering ? &frames->answer : NULL,
    };
    for (int i = 0; i < 2; i++) {
        uint32_t size = (uint32_t)(frames->directions[i].size - SIZE);
        if (copies[i] && !copy_adopt(frames->shared, copies[i], size,
                                     (const unsigned char *)added->directions[i].copy,
                                     (size_t)added->directions[i].copied)) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

static bool describe(Frames *frames, const Added *added)
{
    for (int i = 0; i < 2; i++) {
        frames->directions[i].passed = added->directions[i].passed;
        frames->directions[i].frames = added->directions[i].frames;
        frames->directions[i].left = added->directions[i].left;
        frames->directions[i].size = added->directions[i].size;
    }
    return set_client(frames, added->id, added->id_size, added->identified)
           && add_flows(frames, added) && add_copies(frames, added);
}

/* ---- Frames ---- */

static void FramesObject_dealloc(FramesObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    for (Event *event = self->shared.first, *next; event; event = next) {
        next = event->next;
        event_free(&self->shared, event);
    }
    if (self->frames.shared)
        frames_free(&self->frames);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *FramesObject_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *bounds, *moved;
    const char *care;
    Py_ssize_t care_size, copy_limit, memory_limit;
    long long frame_limit;
    Added added;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!y#LnnO!", &PyTuple_Type, &bounds, &care, &care_size,
                          &frame_limit, &copy_limit, &memory_limit, &PyTuple_Type, &moved)
        || !read_added(moved, &added))
        return NULL;
    FramesObject *self =
        (FramesObject *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    if (!read_shared(&self->shared, bounds, care, care_size, frame_limit, copy_limit, memory_limit)) {
        Py_DECREF(self);
        return NULL;
    }
    frames_init(&self->frames, &self->shared, 1);
    if (!describe(&self->frames, &added)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *FramesObject_feed(FramesObject *self, PyObject *arguments)
{
    int direction;
    const char *bytes;
    Py_ssize_t size;
    double at;
    long long now;
    if (!PyArg_ParseTuple(arguments, "iy#dL", &direction, &bytes, &size, &at, &now))
        return NULL;
    int64_t followed = frames_feed(&self->frames, direction != REQUEST,
                                   (const unsigned char *)bytes, (size_t)size, at, now);
    return followed < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(followed);
}

static PyObject *FramesObject_events(FramesObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    Event *event;
    while ((event = self->shared.first)) {
        if (list && !append(list, event_tuple(event)))
            Py_CLEAR(list);
        self->shared.first = event->next;
        if (!event->next)
            self->shared.last = NULL;
        event_free(&self->shared, event);
    }
    return list;
}

static PyObject *FramesObject_counts(FramesObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    if (list && !append_counts(list, &self->frames))
        Py_CLEAR(list);
    return list;
}

static PyObject *FramesObject_state(FramesObject *self, PyObject *unused)
{
    (void)unused;
    return frames_tuple(&self->frames);
}

static PyObject *FramesObject_copied(FramesObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(self->shared.copied);
}

static PyObject *FramesObject_set_interest(FramesObject *self, PyObject *arguments)
{
    return read_interest(&self->shared, arguments) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef FramesObject_methods[] = {
    {"feed", (PyCFunction)FramesObject_feed, METH_VARARGS, NULL},
    {"events", (PyCFunction)FramesObject_events, METH_NOARGS, NULL},
    {"counts", (PyCFunction)FramesObject_counts, METH_NOARGS, NULL},
    {"state", (PyCFunction)FramesObject_state, METH_NOARGS, NULL},
    {"set_interest", (PyCFunction)FramesObject_set_interest, METH_VARARGS, NULL},
    {NULL},
};

static PyGetSetDef FramesObject_properties[] = {
    {"copied", (getter)FramesObject_copied, NULL, NULL, NULL},
    {NULL},
};

static PyType_Slot FramesObject_slots[] = {
    {Py_tp_doc, "The frames of one connection, followed without sockets and clocks."},
    {Py_tp_new, FramesObject_new},
    {Py_tp_dealloc, FramesObject_dealloc},
    {Py_tp_methods, FramesObject_methods},
    {Py_tp_getset, FramesObject_properties},
    {0, NULL},
};

static PyType_Spec FramesObject_spec = {
    .name = "kwire.proxy.data_path.native._relay.Frames",
    .basicsize = sizeof(FramesObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = FramesObject_slots,
};

/* ---- Loop ---- */

static void LoopObject_dealloc(LoopObject *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    if (self->loop)
        loop_close(self->loop);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *LoopObject_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *bounds;
    const char *care;
    Py_ssize_t care_size, copy_limit, memory_limit, read_size, write_limit;
    long long frame_limit;
    Shared shared;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!y#Lnnnn", &PyTuple_Type, &bounds, &care, &care_size,
                          &frame_limit, &copy_limit, &memory_limit, &read_size, &write_limit)
        || !read_shared(&shared, bounds, care, care_size, frame_limit, copy_limit, memory_limit))
        return NULL;
    if (read_size <= 0 || write_limit < 0)
        return PyErr_Format(PyExc_ValueError, "reads of %zd bytes", read_size);
    LoopObject *self = (LoopObject *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->loop = loop_open(&shared, (size_t)read_size, (size_t)write_limit);
    if (!self->loop) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *LoopObject_run(LoopObject *self, PyObject *unused)
{
    (void)unused;
    if (self->running) {
        PyErr_SetString(PyExc_RuntimeError, "it runs already");
        return NULL;
    }
    self->running = true;
    Py_BEGIN_ALLOW_THREADS
    loop_run(self->loop);
    Py_END_ALLOW_THREADS
    self->running = false;
    Py_RETURN_NONE;
}

static PyObject *LoopObject_stop(LoopObject *self, PyObject *unused)
{
    (void)unused;
    loop_stop(self->loop);
    Py_RETURN_NONE;
}

static PyObject *LoopObject_fileno(LoopObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(loop_signal(self->loop));
}

static PyObject *add(Loop *loop, const Added *added, int64_t now)
{
    Connection *connection = loop_new(loop, added->client, added->node);
    if (!connection)
        return PyErr_NoMemory();
    if (describe(&connection->frames, added)) {
        if (loop_start(loop, connection, now))
            return PyLong_FromUnsignedLongLong(connection->number);
        PyErr_SetFromErrno(PyExc_OSError);
    }
    loop_forget(loop, connection);
    connection_free(connection);
    return NULL;
}

static PyObject *LoopObject_add(LoopObject *self, PyObject *arguments)
{
    Added added;
    PyObject *moved;
    long long now;
    if (!PyArg_ParseTuple(arguments, "O!L", &PyTuple_Type, &moved, &now)
        || !read_added(moved, &added))
        return NULL;
    loop_lock(self->loop);
    PyObject *number = add(self->loop, &added, now);
    loop_unlock(self->loop);
    return number;
}

static PyObject *socket_tuple(const Socket *s)
{
    return Py_BuildValue("(iiONL)", s->socket, s->error, s->ended ? Py_True : Py_False,
                         bytes_or_empty(s->unsent ? s->unsent + s->unsent_start : NULL,
                                        s->unsent_end - s->unsent_start),
                         (long long)s->marked);
}

/* Everything of a connection that leaves the loop; its counts are in the last place. */
static PyObject *connection_tuple(Connection *connection)
{
    PyObject *counts = PyList_New(0);
    if (counts && !append_counts(counts, &connection->frames))
        Py_CLEAR(counts);
    return Py_BuildValue("(KNNNiNLN)", (unsigned long long)connection->number,
                         socket_tuple(&connection->sockets[REQUEST]),
                         socket_tuple(&connection->sockets[RESPONSE]),
                         frames_tuple(&connection->frames), connection->rest_from,
                         bytes_or_empty(connection->rest, connection->rest_size),
                         (long long)connection->moved, counts);
}

static PyObject *take(Loop *loop, uint64_t number)
{
    Connection *connection = loop_find(loop, number);
    if (!connection || connection->returning)
        return Py_NewRef(Py_None);
    PyObject *state = connection_tuple(connection);
    if (!state)
        return NULL;
    loop_take(loop, connection);
    connection_free(connection);
    return state;
}

static PyObject *LoopObject_take(LoopObject *self, PyObject *argument)
{
    uint64_t number = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred())
        return NULL;
    loop_lock(self->loop);
    PyObject *state = take(self->loop, number);
    loop_unlock(self->loop);
    return state;
}

static PyObject *ended_tuple(const Event *event, PyObject *state)
{
    PyObject *counts = PyTuple_GetItem(state, 7);
    return Py_BuildValue("(KiO)", (unsigned long long)event->connection, event->last, counts);
}

/* Appends a connection that ends or comes back; it is forgotten here. */
static bool append_connection(PyObject *list, Loop *loop, const Event *event)
{
    Connection *connection = loop_find(loop, event->connection);
    if (!connection)
        return true;
    PyObject *state = connection_tuple(connection);
    bool back = event->kind == CONNECTION_BACK;
    bool appended = state && append(list, back ? Py_NewRef(state) : ended_tuple(event, state));
    Py_XDECREF(state);
    loop_forget(loop, connection);
    connection_free(connection);
    return appended;
}

/* Only what ends or comes back needs the lock: copies of large frames are handed over without. */
static bool append_unlocked(PyObject *list, Loop *loop, Event *event)
{
    if (event->kind == FLOW_ENDED)
        return append(list, event_tuple(event));
    loop_lock(loop);
    bool appended = append_connection(list, loop, event);
    loop_unlock(loop);
    return appended;
}

static PyObject *LoopObject_events(LoopObject *self, PyObject *unused)
{
    (void)unused;
    Loop *loop = self->loop;
    PyObject *list = PyList_New(0);
    loop_lock(loop);
    loop_signal_seen(loop);
    Event *first = loop_events(loop);
    loop_unlock(loop);
    for (Event *event = first; event && list; event = event->next)
        if (!append_unlocked(list, loop, event))
            Py_CLEAR(list);
    loop_lock(loop);
    while (first) {
        Event *next = first->next;
        event_free(loop_shared(loop), first);
        first = next;
    }
    loop_unlock(loop);
    return list;
}

static PyObject *LoopObject_counts(LoopObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    Connection *connection;
    loop_lock(self->loop);
    while (list && (connection = loop_dirty(self->loop)))
        if (!append_counts(list, &connection->frames))
            Py_CLEAR(list);
    loop_unlock(self->loop);
    return list;
}

static PyObject *LoopObject_overdue(LoopObject *self, PyObject *arguments)
{
    long long now, idle, progress;
    unsigned long long step;
    if (!PyArg_ParseTuple(arguments, "LLLK", &now, &idle, &progress, &step))
        return NULL;
    PyObject *list = PyList_New(0);
    size_t index = 0;
    Connection *connection;
    loop_lock(self->loop);
    while (list && (connection = loop_next(self->loop, &index))) {
        bool stuck = connection_stuck(connection, now, progress, step);
        bool over = now - connection->moved > idle || stuck;
        if (over && !append(list, PyLong_FromUnsignedLongLong(connection->number)))
            Py_CLEAR(list);
    }
    loop_unlock(self->loop);
    return list;
}

static PyObject *LoopObject_set_interest(LoopObject *self, PyObject *arguments)
{
    loop_lock(self->loop);
    bool set = read_interest(loop_shared(self->loop), arguments);
    loop_unlock(self->loop);
    return set ? Py_NewRef(Py_None) : NULL;
}

static PyObject *LoopObject_forget_interests(LoopObject *self, PyObject *copy_limit)
{
    size_t limit = PyLong_AsSize_t(copy_limit);
    if (PyErr_Occurred())
        return NULL;
    loop_lock(self->loop);
    Shared *shared = loop_shared(self->loop);
    memset(shared->interests, 0, sizeof shared->interests);
    shared->copy_limit = limit;
    loop_unlock(self->loop);
    Py_RETURN_NONE;
}

static PyMethodDef LoopObject_methods[] = {
    {"run", (PyCFunction)LoopObject_run, METH_NOARGS, NULL},
    {"stop", (PyCFunction)LoopObject_stop, METH_NOARGS, NULL},
    {"fileno", (PyCFunction)LoopObject_fileno, METH_NOARGS, NULL},
    {"add", (PyCFunction)LoopObject_add, METH_VARARGS, NULL},
    {"take", (PyCFunction)LoopObject_take, METH_O, NULL},
    {"events", (PyCFunction)LoopObject_events, METH_NOARGS, NULL},
    {"counts", (PyCFunction)LoopObject_counts, METH_NOARGS, NULL},
    {"overdue", (PyCFunction)LoopObject_overdue, METH_VARARGS, NULL},
    {"set_interest", (PyCFunction)LoopObject_set_interest, METH_VARARGS, NULL},
    {"forget_interests", (PyCFunction)LoopObject_forget_interests, METH_O, NULL},
    {NULL},
};

static PyType_Slot LoopObject_slots[] = {
    {Py_tp_doc, "Connections whose bytes one thread moves without the interpreter."},
    {Py_tp_new, LoopObject_new},
    {Py_tp_dealloc, LoopObject_dealloc},
    {Py_tp_methods, LoopObject_methods},
    {0, NULL},
};

static PyType_Spec LoopObject_spec = {
    .name = "kwire.proxy.data_path.native._relay.Loop",
    .basicsize = sizeof(LoopObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = LoopObject_slots,
};

/* ---- The module ---- */

static int add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int added = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return added;
}

static int module_exec(PyObject *module)
{
    if (add_type(module, &FramesObject_spec) < 0 || add_type(module, &LoopObject_spec) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "SOURCES", KWIRE_SOURCES);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kwire.proxy.data_path.native._relay",
    .m_doc = "Follows frames and moves bytes for the proxy, without the interpreter.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__relay(void)
{
    return PyModuleDef_Init(&module_definition);
}
