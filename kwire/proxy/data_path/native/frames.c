/* The frames of one connection, followed in both directions, paired and counted.
 *
 * A usual request has a client id, the one that the connection has had so far, and is of an API
 * whose head says everything; a usual response is that of the request that waits longest. */
#include "relay.h"
#include <stdlib.h>

#define REQUEST_HEAD 14   /* size, key, version, correlation id, length of the client id */
#define RESPONSE_HEAD 8   /* size, correlation id */
#define LONGEST_ID 255
#define PRODUCE 0
#define FIRST_PENDING 8
#define LARGE (256 * 1024)

/* What can be said of the head of a frame, of which not all bytes may be there. */
typedef struct {
    enum { WHOLE, NEEDS_MORE, NOT_USUAL } state;
    size_t need;    /* bytes from the start of the frame */
    uint32_t size;
    int16_t key, version;
    int32_t correlation;
    bool unanswered;
} Head;

/* ---- Events and copies ---- */

void shared_push(Shared *shared, Event *event)
{
    event->next = NULL;
    if (shared->last)
        shared->last->next = event;
    else
        shared->first = event;
    shared->last = event;
    shared->waiting++;
    shared->waiting_bytes += event->flow.request.capacity + event->response.capacity;
}

static void copy_free(Shared *shared, Copy *copy)
{
    shared->copied -= copy->capacity;
    free(copy->data);
    *copy = (Copy){0};
}

void event_free(Shared *shared, Event *event)
{
    copy_free(shared, &event->flow.request);
    copy_free(shared, &event->response);
    free(event);
}

static void copy_begin(const Shared *shared, Copy *copy, int interest, uint32_t size)
{
    *copy = (Copy){0};
    copy->wanted = interest == TAPPED || interest == UNKNOWN_INTEREST;
    copy->room = size < shared->copy_limit ? size : shared->copy_limit;
}

/* Room is taken for what has come, and for at most four times as much: a size is only a peer's
 * word. Growing large memory is the system's work, which moves pages and copies nothing. */
static bool copy_grow(Shared *shared, Copy *copy, size_t size)
{
    size_t capacity = size < LARGE ? size : size * 4;
    if (capacity > copy->room)
        capacity = copy->room;
    if (shared->copied + capacity - copy->capacity > shared->memory_limit)
        return false;
    unsigned char *data = realloc(copy->data, capacity);
    if (!data)
        return false;
    shared->copied += capacity - copy->capacity;
    copy->data = data;
    copy->capacity = capacity;
    return true;
}

static void copy_add(Shared *shared, Copy *copy, const unsigned char *bytes, size_t size)
{
    if (!copy->wanted)
        return;
    if (size > copy->room - copy->size)
        size = copy->room - copy->size;
    if (!size)
        return;
    if (copy->size + size > copy->capacity && !copy_grow(shared, copy, copy->size + size)) {
        copy_free(shared, copy);
        copy->dropped = true;
        return;
    }
    memcpy(copy->data + copy->size, bytes, size);
    copy->size += size;
}

/* ---- Counting ---- */

static Count *count_of(Frames *frames, int16_t key, int16_t version)
{
    for (int i = 0; i < frames->count_count; i++) {
        Count *count = &frames->counts[i];
        if (count->key == key && count->version == version)
            return count;
    }
    if (frames->count_count == COUNT_LIMIT)
        return NULL;
    size_t more = (size_t)frames->count_count + 1;
    Count *counts = realloc(frames->counts, more * sizeof *counts);
    if (!counts)
        return NULL;
    frames->counts = counts;
    Count *count = &counts[frames->count_count++];
    *count = (Count){.key = key, .version = version};
    return count;
}

static bool counted(Frames *frames, const Flow *flow, int64_t response_size, int64_t latency)
{
    Count *count = count_of(frames, flow->key, flow->version);
    if (!count)
        return false;
    count->requests++;
    count->request_bytes += flow->size;
    if (response_size < 0)
        return true;
    count->response_bytes += (uint64_t)response_size;
    count->nanoseconds += latency;
    int bucket = 0;
    while (bucket < frames->shared->bound_count && latency > frames->shared->bounds[bucket])
        bucket++;
    count->buckets[bucket]++;
    return true;
}

static uint8_t interest_in(const Shared *shared, int16_t key, int16_t version)
{
    bool known = key >= 0 && key < KEYS && version >= 0 && version < VERSIONS;
    return known ? shared->interests[key][version] : 0;
}

/* Ends a flow, whose copies move into the event; response: NULL for none. */
static bool flow_end(Frames *frames, Flow *flow, Copy *response, int64_t size, int64_t answered)
{
    flow->interest = interest_in(frames->shared, flow->key, flow->version);
    bool only_counted = flow->interest == (COUNTED | COUNTED << 2);
    if (only_counted && counted(frames, flow, size, answered - flow->asked)) {
        copy_free(frames->shared, &flow->request);
        if (response)
            copy_free(frames->shared, response);
        return true;
    }
    Event *event = calloc(1, sizeof *event);
    if (!event)
        return false;
    event->kind = FLOW_ENDED;
    event->connection = frames->connection;
    event->flow = *flow;
    event->response_size = size;
    event->answered = answered;
    if (response)
        event->response = *response;
    event->flow.no_room = flow->request.dropped || event->response.dropped;
    shared_push(frames->shared, event);
    return true;
}

/* ---- Heads ---- */

static Head needs(size_t need)
{
    return (Head){.state = NEEDS_MORE, .need = need};
}

/* An unsigned varint of at most five bytes; false where bytes are missing. */
static bool varint(const unsigned char *bytes, size_t size, size_t *at, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (*at >= size)
            return false;
        unsigned char byte = bytes[(*at)++];
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            break;
    }
    return true;
}

/* Skips the tagged fields of a header and a compact transactional id. */
static bool skip_compact(const unsigned char *bytes, size_t size, size_t *at)
{
    uint64_t count, length;
    if (!varint(bytes, size, at, &count))
        return false;
    while (count--) {
        if (!varint(bytes, size, at, &length) || !varint(bytes, size, at, &length))
            return false;
        *at += length;
    }
    if (!varint(bytes, size, at, &length))
        return false;
    *at += length ? length - 1 : 0;
    return true;
}

/* Reads on behind the client id of a Produce request, up to acks. */
static void read_acks(Head *head, const unsigned char *bytes, size_t size, size_t at)
{
    size_t total = (size_t)head->size + SIZE;
    size_t most = total < HEAD_LIMIT ? total : HEAD_LIMIT;
    bool found = true;
    if (head->version >= 9) {
        found = skip_compact(bytes, size, &at);
    } else if (head->version >= 3) {
        found = at + 2 <= size;
        if (found) {
            int16_t length = (int16_t)load16(bytes + at);
            at += 2 + (size_t)(length > 0 ? length : 0);
        }
    }
    if (at + 2 > most || (size >= most && (!found || at + 2 > size))) {
        head->state = NOT_USUAL;
    } else if (!found || at + 2 > size) {
        head->state = NEEDS_MORE;
        head->need = most;
    } else {
        head->unanswered = load16(bytes + at) == 0;
    }
}

static bool known_client(const Frames *frames, const unsigned char *id, size_t size)
{
    return size == frames->client_id_size && memcmp(id, frames->client_id, size) == 0;
}

/* Reads the head of a request, of which `size` bytes are there. */
static Head request_head(const Frames *frames, const unsigned char *bytes, size_t size)
{
    const Shared *shared = frames->shared;
    Head head = {.state = NOT_USUAL};
    if (size < SIZE)
        return needs(SIZE);
    int32_t frame_size = (int32_t)load32(bytes);
    if (frame_size < REQUEST_HEAD - SIZE || frame_size > shared->frame_limit)
        return head;
    if (size < REQUEST_HEAD)
        return needs(REQUEST_HEAD);
    head.size = (uint32_t)frame_size;
    head.key = (int16_t)load16(bytes + 4);
    head.version = (int16_t)load16(bytes + 6);
    head.correlation = (int32_t)load32(bytes + 8);
    int16_t length = (int16_t)load16(bytes + 12);
    int care = head.key >= 0 && head.key < KEYS ? shared->care[head.key] : USUAL;
    if (care == CAREFUL || (care == TELLS_NODE && !frames->identified))
        return head;
    if (length < 0 || length > LONGEST_ID || length > frame_size - (REQUEST_HEAD - SIZE))
        return head;
    size_t behind = REQUEST_HEAD + (size_t)length;
    if (size < behind)
        return needs(behind);
    if (!known_client(frames, bytes + REQUEST_HEAD, (size_t)length))
        return head;
    head.state = WHOLE;
    if (head.key == PRODUCE)
        read_acks(&head, bytes, size, behind);
    return head;
}

static Head response_head(const Frames *frames, const unsigned char *bytes, size_t size)
{
    Head head = {.state = NOT_USUAL};
    if (size < SIZE)
        return needs(SIZE);
    int32_t frame_size = (int32_t)load32(bytes);
    if (frame_size < RESPONSE_HEAD - SIZE)
        return head;
    if (size < RESPONSE_HEAD)
        return needs(RESPONSE_HEAD);
    head.size = (uint32_t)frame_size;
    head.correlation = (int32_t)load32(bytes + SIZE);
    if (frames->count && frames_pending(frames, 0)->correlation == head.correlation)
        head.state = WHOLE;
    return head;
}

/* ---- Pairing ---- */

static bool make_room(Frames *frames)
{
    if (frames->count < frames->capacity)
        return true;
    uint32_t capacity = frames->capacity ? frames->capacity * 2 : FIRST_PENDING;
    Flow *pending = malloc(capacity * sizeof *pending);
    if (!pending)
        return false;
    for (uint32_t i = 0; i < frames->count; i++)
        pending[i] = *frames_pending(frames, i);
    free(frames->pending);
    frames->pending = pending;
    frames->capacity = capacity;
    frames->first = 0;
    return true;
}

bool frames_expect(Frames *frames, const Flow *flow)
{
    if (frames->count >= PENDING_LIMIT || !make_room(frames))
        return false;
    *frames_pending(frames, frames->count++) = *flow;
    return true;
}

void flow_adopt(const Shared *shared, Flow *flow)
{
    flow->interest = interest_in(shared, flow->key, flow->version);
}

bool copy_adopt(Shared *shared, Copy *copy, uint32_t frame_size, const unsigned char *bytes,
                size_t size)
{
    if (!bytes)
        return true;
    copy_free(shared, copy);
    copy_begin(shared, copy, TAPPED, frame_size);
    if (copy->room < size)
        copy->room = size;
    copy->data = malloc(size ? size : 1);
    if (!copy->data)
        return false;
    copy->size = copy->capacity = size;
    shared->copied += size;
    memcpy(copy->data, bytes, size);
    return true;
}

static bool begin_request(Frames *frames, const Head *head, double at, int64_t now)
{
    Flow flow = {
        .asked = now, .at = at, .correlation = head->correlation, .key = head->key,
        .version = head->version, .size = head->size,
        .interest = interest_in(frames->shared, head->key, head->version),
    };
    copy_begin(frames->shared, &flow.request, flow.interest & 3, head->size);
    frames->asking = true;
    frames->asking_answered = false;
    frames->asking_unanswered = head->unanswered;
    if (head->unanswered) {
        frames->unanswered = flow;
        return true;
    }
    frames->asking_place = frames->popped + frames->count;
    return frames_expect(frames, &flow);
}

/* What a flow is wanted for may be known only now, or be something else than when it was asked:
 * hundreds may wait for their responses. */
static void ask_again(const Frames *frames, Flow *flow)
{
    flow->interest = interest_in(frames->shared, flow->key, flow->version);
    if (flow->interest != UNKNOWN_INTEREST && (flow->interest & 3) != TAPPED)
        copy_free(frames->shared, &flow->request);
}

static void begin_response(Frames *frames, const Head *head, int64_t now)
{
    ask_again(frames, frames_pending(frames, 0));
    frames->answered = *frames_pending(frames, 0);
    frames->first = (frames->first + 1) & (frames->capacity - 1);
    frames->count--;
    /* Its last byte may still have to come: a node may answer before. */
    frames->asking_answered = frames->asking && !frames->asking_unanswered
                              && !frames->asking_answered && frames->asking_place == frames->popped;
    frames->popped++;
    frames->answering = true;
    frames->answered_at = now;
    copy_begin(frames->shared, &frames->answer, frames->answered.interest >> 2, head->size);
}

/* ---- Following ---- */

static Flow *asked_flow(Frames *frames)
{
    if (!frames->asking)
        return NULL;
    if (frames->asking_unanswered)
        return &frames->unanswered;
    if (frames->asking_answered)
        return &frames->answered;
    return frames_pending(frames, (uint32_t)(frames->asking_place - frames->popped));
}

static bool end_frame(Frames *frames, int direction)
{
    if (direction == REQUEST) {
        bool ends = frames->asking && frames->asking_unanswered;
        frames->asking = frames->asking_answered = false;
        if (!ends)
            return true;
        bool ended = flow_end(frames, &frames->unanswered, NULL, -1, frames->unanswered.asked);
        frames->unanswered = (Flow){0};
        return ended;
    }
    if (!frames->answering)
        return true;  /* of no request: Python has told so */
    frames->answering = false;
    if (frames->asking_answered) {  /* what was copied of it so far is no request */
        copy_free(frames->shared, &frames->answered.request);
        frames->asking = frames->asking_answered = false;
    }
    int64_t size = frames->directions[RESPONSE].size - SIZE;
    bool ended = flow_end(frames, &frames->answered, &frames->answer, size, frames->answered_at);
    frames->answered = (Flow){0};
    frames->answer = (Copy){0};
    return ended;
}

/* Follows bytes of the frame that has begun, which are `offset` bytes from its start. */
static bool advance(Frames *frames, int direction, const unsigned char *bytes, size_t size)
{
    Direction *d = &frames->directions[direction];
    size_t offset = (size_t)(d->size - d->left);
    size_t skip = offset < SIZE ? SIZE - offset : 0;
    Flow *asked = direction == REQUEST ? asked_flow(frames) : NULL;
    Copy *copy = direction == RESPONSE ? (frames->answering ? &frames->answer : NULL)
                                       : (asked ? &asked->request : NULL);
    if (copy && size > skip)
        copy_add(frames->shared, copy, bytes + skip, size - skip);
    d->left -= (int64_t)size;
    return d->left || end_frame(frames, direction);
}

static Head head_at(const Frames *frames, int direction, const unsigned char *bytes, size_t size)
{
    return direction == REQUEST ? request_head(frames, bytes, size)
                                : response_head(frames, bytes, size);
}

static bool begin(Frames *frames, int direction, const Head *head, double at, int64_t now)
{
    Direction *d = &frames->directions[direction];
    d->frames++;
    d->left = d->size = (int64_t)head->size + SIZE;
    if (direction == REQUEST)
        return begin_request(frames, head, at, now);
    begin_response(frames, head, now);
    return true;
}

/* A request too many is Python's: it gives the oldest up. */
static bool has_place(const Frames *frames, int direction, const Head *head)
{
    return direction == RESPONSE || head->unanswered || frames->count < PENDING_LIMIT;
}

static bool keep_head(Direction *d, const unsigned char *bytes, size_t size, size_t need)
{
    if (!d->head) {
        d->head = malloc(HEAD_LIMIT);
        if (!d->head)
            return false;
    }
    memcpy(d->head + d->head_count, bytes, size);
    d->head_count += size;
    d->head_need = need;
    return true;
}

/* Adds to a head that came in pieces, up to where it is whole. Returns how many bytes were taken,
 * 0 for a frame that is not usual, which has none of them then; -1 where there is no memory. */
static int64_t assemble(Frames *frames, int direction, const unsigned char *bytes, size_t size,
                        double at, int64_t now)
{
    Direction *d = &frames->directions[direction];
    size_t kept = d->head_count, taken = 0;
    for (;;) {
        size_t missing = d->head_need - d->head_count;
        size_t piece = missing < size - taken ? missing : size - taken;
        if (!keep_head(d, bytes + taken, piece, d->head_need))
            return -1;
        taken += piece;
        if (piece < missing)
            return (int64_t)taken;
        Head head = head_at(frames, direction, d->head, d->head_count);
        if (head.state == NEEDS_MORE) {
            d->head_need = head.need;
            continue;
        }
        if (head.state == NOT_USUAL || !has_place(frames, direction, &head)) {
            d->head_count = kept;
            return 0;
        }
        size_t count = d->head_count;
        d->head_count = 0;
        bool followed = begin(frames, direction, &head, at, now)
                        && advance(frames, direction, d->head, count);
        free(d->head);
        d->head = NULL;
        return followed ? (int64_t)taken : -1;
    }
}

/* The same, beginning at the start of a frame. */
static int64_t open_frame(Frames *frames, int direction, const unsigned char *bytes, size_t size,
                          double at, int64_t now)
{
    Head head = head_at(frames, direction, bytes, size);
    if (head.state == NEEDS_MORE)
        return keep_head(&frames->directions[direction], bytes, size, head.need) ? (int64_t)size : -1;
    if (head.state == NOT_USUAL || !has_place(frames, direction, &head))
        return 0;
    size_t total = (size_t)head.size + SIZE, here = total < size ? total : size;
    bool followed = begin(frames, direction, &head, at, now)
                    && advance(frames, direction, bytes, here);
    return followed ? (int64_t)here : -1;
}

int64_t frames_feed(Frames *frames, int direction, const unsigned char *bytes, size_t size,
                    double at, int64_t now)
{
    Direction *d = &frames->directions[direction];
    size_t done = 0;
    while (done < size) {
        size_t left = size - done;
        int64_t step;
        if (d->left > 0) {
            step = d->left < (int64_t)left ? d->left : (int64_t)left;
            if (!advance(frames, direction, bytes + done, (size_t)step))
                return -1;
        } else if (d->head_count) {
            step = assemble(frames, direction, bytes + done, left, at, now);
        } else {
            step = open_frame(frames, direction, bytes + done, left, at, now);
        }
        if (step < 0)
            return -1;
        if (step == 0)
            break;
        done += (size_t)step;
    }
    d->passed += done;
    return (int64_t)done;
}

/* ---- Beginning and end ---- */

void frames_init(Frames *frames, Shared *shared, uint64_t connection)
{
    *frames = (Frames){.shared = shared, .connection = connection};
}

void frames_free(Frames *frames)
{
    Shared *shared = frames->shared;
    for (uint32_t i = 0; i < frames->count; i++)
        copy_free(shared, &frames_pending(frames, i)->request);
    copy_free(shared, &frames->unanswered.request);
    copy_free(shared, &frames->answered.request);
    copy_free(shared, &frames->answer);
    free(frames->pending);
    free(frames->counts);
    free(frames->client_id);
    for (int i = 0; i < 2; i++)
        free(frames->directions[i].head);
}
