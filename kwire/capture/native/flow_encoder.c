/* Usual flows as records of a capture, many in one call.
 *
 * kwire.proxy.capture.records and kwire.capture.encoding are the reference, and take every event that
 * is not usual: notices, long frames, what filters changed, what may hold a secret. Nothing here
 * explains a failure: the event is left to them.
 */
#include "capture.h"
#include "crc32c.h"

#define KEYS 128
#define PREFIX_BITS 10
#define PREFIXES (1 << PREFIX_BITS)
#define ENDINGS 8
#define LONG_BYTES 10        /* of one number, at the most */
#define FIXED_BYTES (7 * LONG_BYTES + 16)  /* of a record beside prefix, frame and rest */

enum {
    KEY, VERSION, CORRELATION_ID, CLIENT_ID, CONNECTION, PEER, AT, ASKED, ANSWERED,
    REQUEST_SIZE, RESPONSE_SIZE, REQUEST_COPY, RESPONSE_COPY, OUTCOME, PROBLEMS, NOTES, EFFECTS,
    NAMES
};

static const char *const NAME[NAMES] = {
    "key", "version", "correlation_id", "client_id", "connection", "peer", "at", "asked",
    "answered", "request_size", "response_size", "request_copy", "response_copy", "outcome",
    "problems", "notes", "effects",
};

/* The beginnings of the records of flows that have all of this in common. A connection keeps its
 * number and addresses once requests pass; its peer may become known later. */
typedef struct {
    PyObject *connection, *peer, *client_id, *request, *response;
    long long key, version;
} Prefix;

typedef struct {
    PyObject_HEAD
    PyObject *names[NAMES], *popleft;
    PyObject *flow;       /* the class */
    PyObject *prefixes;   /* returns the two beginnings of a flow */
    PyObject *is_plain;   /* returns True if nothing in a flow has to be masked */
    PyObject *outcomes[ENDINGS], *endings[ENDINGS];  /* what stands behind a request's frame */
    PyObject *rest;       /* what stands behind a response's frame */
    Py_ssize_t frame_limit, long_frame, room, flow_weight;
    unsigned char plain[KEYS];
    Prefix cache[PREFIXES];
    Buffer out;
    bool busy;
} FlowEncoder;

/* ---- Numbers ---- */

static unsigned char *put_long(unsigned char *at, int64_t number)
{
    return put_uvarint(at, zigzag(number));
}

/* The nearest integer, the even one of two, as Python's round() has it. */
static bool nearest(double product, int64_t *result)
{
    volatile double stored = product;  /* rounded: not part of one step with the difference below */
    double value = stored;
    if (!(value > -9e18 && value < 9e18))
        return false;
    int64_t whole = (int64_t)value;
    double over = value - (double)whole;  /* 0 from 2 ** 53 on */
    if (over > 0.5 || (over == 0.5 && whole & 1))
        whole++;
    else if (over < -0.5 || (over == -0.5 && whole & 1))
        whole--;
    *result = whole;
    return true;
}

/* ---- Fields of a flow ---- */

/* A flow while it is encoded; references are owned. */
typedef struct {
    PyObject *value[NAMES];
    int64_t key, version, correlation_id;
    int64_t asked_us, asked_ns, answered_us, answered_ns;
    int64_t request_size, response_size;
    Py_ssize_t request_length, response_length;  /* of the copies; -1 for none */
} Fields;

static bool copy_length(PyObject *copy, Py_ssize_t *length)
{
    *length = copy == Py_None ? -1 : PyBytes_CheckExact(copy) ? PyBytes_Size(copy) : -2;
    return *length >= -1;
}

static bool empty(PyObject *object)
{
    if (PyTuple_CheckExact(object))
        return PyTuple_Size(object) == 0;
    return PyList_CheckExact(object) && PyList_Size(object) == 0;
}

static bool read_times(Fields *fields)
{
    PyObject **value = fields->value;
    if (!PyFloat_CheckExact(value[AT]) || !PyFloat_CheckExact(value[ASKED]))
        return false;
    double at = PyFloat_AsDouble(value[AT]), asked = PyFloat_AsDouble(value[ASKED]);
    if (!nearest(at * 1e6, &fields->asked_us) || !nearest(asked * 1e9, &fields->asked_ns))
        return false;
    if (value[ANSWERED] == Py_None)
        return true;
    if (!PyFloat_CheckExact(value[ANSWERED])
        || !exact_int(value[RESPONSE_SIZE], &fields->response_size))
        return false;
    double answered = PyFloat_AsDouble(value[ANSWERED]);
    double since = at + answered;  /* in the order of kwire.proxy.capture.records */
    return nearest((since - asked) * 1e6, &fields->answered_us)
        && nearest(answered * 1e9, &fields->answered_ns);
}

static bool read_fields(FlowEncoder *self, PyObject *flow, Fields *fields)
{
    PyObject **value = fields->value;
    for (int name = 0; name < NAMES; name++) {
        PyObject *owner = name == PEER ? value[CONNECTION] : flow;
        value[name] = PyObject_GetAttr(owner, self->names[name]);
        if (!value[name])
            return false;
    }
    return empty(value[PROBLEMS]) && empty(value[NOTES]) && empty(value[EFFECTS])
        && exact_int(value[KEY], &fields->key) && exact_int(value[VERSION], &fields->version)
        && exact_int(value[CORRELATION_ID], &fields->correlation_id)
        && exact_int(value[REQUEST_SIZE], &fields->request_size)
        && copy_length(value[REQUEST_COPY], &fields->request_length)
        && copy_length(value[RESPONSE_COPY], &fields->response_length)
        && read_times(fields);
}

static void release(Fields *fields)
{
    for (int name = 0; name < NAMES; name++)
        Py_XDECREF(fields->value[name]);
}

static Py_ssize_t weight(const FlowEncoder *self, const Fields *fields)
{
    Py_ssize_t request = fields->request_length, response = fields->response_length;
    return self->flow_weight + (request > 0 ? request : 0) + (response > 0 ? response : 0);
}

/* ---- What records have in common ---- */

static void forget(Prefix *prefix)
{
    Py_CLEAR(prefix->connection);
    Py_CLEAR(prefix->peer);
    Py_CLEAR(prefix->client_id);
    Py_CLEAR(prefix->request);
    Py_CLEAR(prefix->response);
}

/* The beginnings of a flow's records, NULL where they cannot be had. */
static const Prefix *prefix_of(FlowEncoder *self, PyObject *flow, const Fields *fields)
{
    PyObject *const *value = fields->value;
    uintptr_t mixed = (uintptr_t)value[CONNECTION] / 16 + (uintptr_t)fields->key * 67
                    + (uintptr_t)value[CLIENT_ID] / 16 * 31;
    Prefix *prefix = &self->cache[(mixed ^ mixed >> PREFIX_BITS) % PREFIXES];
    if (prefix->connection == value[CONNECTION] && prefix->peer == value[PEER]
        && prefix->client_id == value[CLIENT_ID] && prefix->key == fields->key
        && prefix->version == fields->version)
        return prefix;
    PyObject *both = PyObject_CallFunctionObjArgs(self->prefixes, flow, NULL);
    PyObject *request = NULL, *response = NULL;
    bool made = both && PyTuple_Check(both) && PyArg_ParseTuple(both, "SS", &request, &response);
    if (made) {
        Py_INCREF(request);
        Py_INCREF(response);
        forget(prefix);
        *prefix = (Prefix){Py_NewRef(value[CONNECTION]), Py_NewRef(value[PEER]),
                           Py_NewRef(value[CLIENT_ID]), request, response,
                           fields->key, fields->version};
    }
    Py_XDECREF(both);
    return made ? prefix : NULL;
}

static bool plain(FlowEncoder *self, PyObject *flow, int64_t key)
{
    if (key >= 0 && key < KEYS && self->plain[key])
        return true;
    PyObject *answer = PyObject_CallFunctionObjArgs(self->is_plain, flow, NULL);
    bool is_plain = answer == Py_True;
    Py_XDECREF(answer);
    return is_plain;
}

static PyObject *ending_of(const FlowEncoder *self, PyObject *outcome)
{
    for (int which = 0; which < ENDINGS; which++)
        if (self->outcomes[which] == outcome)
            return self->endings[which];
    return NULL;
}

/* ---- Records ---- */

static void put_bytes(FlowEncoder *self, PyObject *bytes, Py_ssize_t size)
{
    memcpy(self->out.at, PyBytes_AsString(bytes), (size_t)size);
    self->out.at += size;
}

/* One record of a flow. numbers: at, monotonic, correlation id, size. length: of the frame's copy, as
 * far as it is recorded, -1 for none. rest: what stands behind the frame. */
typedef struct {
    PyObject *prefix, *frame, *rest;
    int64_t numbers[4];
    Py_ssize_t length;
} Record;

static Py_ssize_t recorded(const FlowEncoder *self, Py_ssize_t length)
{
    return self->frame_limit >= 0 && length > self->frame_limit ? self->frame_limit : length;
}

static bool put_head(FlowEncoder *self, const Record *record, int64_t event)
{
    if (!reserve(&self->out, (size_t)PyBytes_Size(record->prefix) + FIXED_BYTES))
        return false;
    put_bytes(self, record->prefix, PyBytes_Size(record->prefix));
    unsigned char *at = put_long(self->out.at, event);
    at = put_long(at, record->numbers[0]);
    at = put_long(at, record->numbers[1]);
    *at++ = 2;  /* PRESENT, of kwire.capture.avro */
    at = put_long(at, record->numbers[2]);
    *at++ = 2;
    at = put_long(at, record->numbers[3]);
    *at++ = record->length < 0 ? 0 : 2;
    if (record->length >= 0)
        at = put_long(at, record->length);
    self->out.at = at;
    return true;
}

static bool put_record(FlowEncoder *self, const Record *record, int64_t event)
{
    size_t begin = (size_t)(self->out.at - self->out.start);
    Py_ssize_t frame = record->length > 0 ? record->length : 0, rest = PyBytes_Size(record->rest);
    if (!put_head(self, record, event) || !reserve(&self->out, (size_t)(frame + rest) + 4))
        return false;
    if (frame)
        put_bytes(self, record->frame, frame);
    put_bytes(self, record->rest, rest);
    const unsigned char *first = self->out.start + begin;
    uint32_t crc = crc32c(0, first, (size_t)(self->out.at - first));
    store32(self->out.at, crc);
    self->out.at += 4;
    return true;
}

/* The record alone: bytes, or if its frame is long a tuple of what is before it, the frame, and what is
 * behind it without the CRC. */
static PyObject *alone(FlowEncoder *self, const Record *record, int64_t event)
{
    size_t begin = (size_t)(self->out.at - self->out.start);
    bool is_long = record->length > self->long_frame;
    if (!(is_long ? put_head : put_record)(self, record, event))
        return NULL;
    unsigned char *first = self->out.start + begin;
    PyObject *data = PyBytes_FromStringAndSize((char *)first, self->out.at - first);
    self->out.at = first;
    if (!data || !is_long)
        return data;
    PyObject *frame = PySequence_GetSlice(record->frame, 0, record->length);  /* itself if whole */
    PyObject *open = frame ? PyTuple_Pack(3, data, frame, record->rest) : NULL;
    Py_XDECREF(frame);
    Py_DECREF(data);
    return open;
}

/* What a call of `encode` has made so far. alone: the records of a long flow, the last one. */
typedef struct {
    Py_ssize_t flows, records, weight;
    PyObject *alone;
} Made;

static bool put_records(FlowEncoder *self, const Record *records, int count, int64_t event, Made *made)
{
    size_t before = (size_t)(self->out.at - self->out.start);
    bool is_long = records[0].length > self->long_frame
                || (count > 1 && records[1].length > self->long_frame);
    if (is_long) {
        PyObject *first = alone(self, &records[0], event);
        PyObject *second = count > 1 && first ? alone(self, &records[1], event) : NULL;
        if (first && (count == 1 || second))
            made->alone = count == 1 ? PyTuple_Pack(1, first) : PyTuple_Pack(2, first, second);
        Py_XDECREF(first);
        Py_XDECREF(second);
        return made->alone != NULL;
    }
    for (int which = 0; which < count; which++)
        if (!put_record(self, &records[which], event)) {
            self->out.at = self->out.start + before;
            return false;
        }
    made->records += count;
    return true;
}

/* Encode a flow; return false where the reference has to. */
static bool put_flow(FlowEncoder *self, PyObject *flow, const Fields *fields, int64_t event, Made *made)
{
    PyObject *const *value = fields->value;
    PyObject *ending = ending_of(self, value[OUTCOME]);
    if (!ending || !plain(self, flow, fields->key))
        return false;
    const Prefix *prefix = prefix_of(self, flow, fields);
    if (!prefix)
        return false;
    const Record records[2] = {
        {prefix->request, value[REQUEST_COPY], ending,
         {fields->asked_us, fields->asked_ns, fields->correlation_id, fields->request_size},
         recorded(self, fields->request_length)},
        {prefix->response, value[RESPONSE_COPY], self->rest,
         {fields->answered_us, fields->answered_ns, fields->correlation_id, fields->response_size},
         recorded(self, fields->response_length)},
    };
    return put_records(self, records, value[ANSWERED] == Py_None ? 1 : 2, event, made);
}

/* Encode a flow if it is usual; return false for any other event. */
static bool put_event(FlowEncoder *self, PyObject *event, int64_t number, Made *made)
{
    Fields fields = {{NULL}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    bool done = (PyObject *)Py_TYPE(event) == self->flow && read_fields(self, event, &fields)
             && put_flow(self, event, &fields, number, made);
    if (done) {
        made->flows++;
        made->weight += weight(self, &fields);
    }
    release(&fields);
    return done;
}

PyDoc_STRVAR(encode_doc, "encode(queue, number, /)\n--\n\n"
"Take flows from a deque up to a block of records, a long flow, or an event that is not usual; return\n"
"the records, how many they are, those of the long flow, how many flows and of what weight, and the\n"
"event; None for what there is not. number: of the first flow.");

static PyObject *encoder_encode(FlowEncoder *self, PyObject *arguments)
{
    PyObject *queue, *event = NULL;
    Buffer *out = &self->out;
    Made made = {0, 0, 0, NULL};
    long long number;
    if (!PyArg_ParseTuple(arguments, "OL", &queue, &number))
        return NULL;
    if (self->busy) {  /* a callback came back: it would write over what is there */
        PyErr_SetString(PyExc_RuntimeError, "the encoder is at work");
        return NULL;
    }
    self->busy = true;
    out->at = out->start;
    while (out->at - out->start < self->room && !made.alone && PySequence_Size(queue) > 0) {
        event = PyObject_CallMethodObjArgs(queue, self->popleft, NULL);
        if (!event || !put_event(self, event, number + made.flows, &made))
            break;
        Py_CLEAR(event);
    }
    self->busy = false;
    if (PyErr_Occurred() && (!event || !PyErr_ExceptionMatches(PyExc_Exception))) {
        Py_XDECREF(event);
        Py_XDECREF(made.alone);
        return NULL;
    }
    PyErr_Clear();
    PyObject *data = PyBytes_FromStringAndSize((char *)out->start, out->at - out->start);
    return Py_BuildValue("NnNnnN", data, made.records, made.alone ? made.alone : Py_NewRef(Py_None),
                         made.flows, made.weight, event ? event : Py_NewRef(Py_None));
}

/* ---- The type ---- */

static bool take_endings(FlowEncoder *self, PyObject *endings)
{
    Py_ssize_t count = PyTuple_Size(endings);
    for (Py_ssize_t which = 0; which < count; which++) {
        PyObject *pair = PyTuple_GetItem(endings, which), *outcome, *ending;
        if (which >= ENDINGS || !PyTuple_Check(pair)
            || !PyArg_ParseTuple(pair, "OS", &outcome, &ending))
            return wrong("endings are pairs of an outcome and bytes");
        self->outcomes[which] = Py_NewRef(outcome);
        self->endings[which] = Py_NewRef(ending);
    }
    return true;
}

static bool take_names(FlowEncoder *self, PyObject *plain_keys)
{
    self->popleft = PyUnicode_InternFromString("popleft");
    if (!self->popleft)
        return false;
    for (int name = 0; name < NAMES; name++)
        if (!(self->names[name] = PyUnicode_InternFromString(NAME[name])))
            return false;
    for (Py_ssize_t which = 0; which < PyBytes_Size(plain_keys); which++) {
        unsigned char key = (unsigned char)PyBytes_AsString(plain_keys)[which];
        if (key < KEYS)
            self->plain[key] = 1;
    }
    return true;
}

static PyObject *encoder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *flow, *prefixes, *is_plain, *plain_keys, *endings, *rest;
    Py_ssize_t frame_limit, long_frame, room, flow_weight;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "OOOSO!S(nnnn)", &flow, &prefixes, &is_plain, &plain_keys,
                          &PyTuple_Type, &endings, &rest, &frame_limit, &long_frame, &room,
                          &flow_weight))
        return NULL;
    FlowEncoder *self = (FlowEncoder *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->flow = Py_NewRef(flow);
    self->prefixes = Py_NewRef(prefixes);
    self->is_plain = Py_NewRef(is_plain);
    self->rest = Py_NewRef(rest);
    self->frame_limit = frame_limit;
    self->long_frame = long_frame;
    self->room = room;
    self->flow_weight = flow_weight;
    if (take_endings(self, endings) && take_names(self, plain_keys))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int encoder_traverse(FlowEncoder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->flow);
    Py_VISIT(self->prefixes);
    Py_VISIT(self->is_plain);
    for (int which = 0; which < ENDINGS; which++)
        Py_VISIT(self->outcomes[which]);
    for (int which = 0; which < PREFIXES; which++) {
        Py_VISIT(self->cache[which].connection);
        Py_VISIT(self->cache[which].peer);
    }
    return 0;
}

static int encoder_clear(FlowEncoder *self)
{
    Py_CLEAR(self->flow);
    Py_CLEAR(self->prefixes);
    Py_CLEAR(self->is_plain);
    Py_CLEAR(self->rest);
    Py_CLEAR(self->popleft);
    for (int name = 0; name < NAMES; name++)
        Py_CLEAR(self->names[name]);
    for (int which = 0; which < ENDINGS; which++) {
        Py_CLEAR(self->outcomes[which]);
        Py_CLEAR(self->endings[which]);
    }
    for (int which = 0; which < PREFIXES; which++)
        forget(&self->cache[which]);
    return 0;
}

static void encoder_dealloc(FlowEncoder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    encoder_clear(self);
    PyMem_Free(self->out.start);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef encoder_methods[] = {
    {"encode", (PyCFunction)encoder_encode, METH_VARARGS, encode_doc},
    {NULL},
};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "FlowEncoder(flow, prefixes, is_plain, plain_keys, endings, rest, limits, /)\n--\n\n"
     "Encodes flows; kwire.proxy.capture.flow_batches says what the arguments are."},
    {Py_tp_new, encoder_new},
    {Py_tp_traverse, encoder_traverse},
    {Py_tp_clear, encoder_clear},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, encoder_methods},
    {0, NULL},
};

PyType_Spec flow_encoder_spec = {
    .name = "kwire.capture.native._capture.FlowEncoder",
    .basicsize = sizeof(FlowEncoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = encoder_slots,
};
