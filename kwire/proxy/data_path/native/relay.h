/* What the files of the data path in C share.
 *
 * frames.c follows the frames of one connection: it does what the framers and the pairing in Python
 * do for usual frames, and stops at the first byte of one that is not usual, which Python then
 * takes. It knows neither sockets nor clocks. loop.c moves the bytes of many connections in one
 * thread, without the interpreter; poller.c waits for sockets; module.c is what Python sees.
 */
#ifndef KWIRE_RELAY_H
#define KWIRE_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../../../codec/native/big_endian.h"

enum { REQUEST, RESPONSE };

#define SIZE 4        /* bytes of a frame's size */
#define KEYS 128      /* API keys that can be usual; Kafka has used 0 to 93 */
#define VERSIONS 32   /* versions of one that can */
#define MOST_BOUNDS 32
#define MOST_READY 256  /* sockets that one wait tells of */
#define HEAD_LIMIT 4096      /* bytes of a frame that are waited for before it is judged */
#define PENDING_LIMIT 10000  /* as kwire.proxy.data_path.pairing has it */
#define COUNT_LIMIT 32       /* pairs of API key and version that one connection counts */

/* What the frames of an API and version are wanted for; two bits for each direction. */
enum { UNKNOWN_INTEREST, COUNTED, PASSED, TAPPED };

/* How careful one has to be with an API. */
enum { USUAL, CAREFUL, TELLS_NODE };

/* ---- Copies ---- */

typedef struct {
    unsigned char *data;
    size_t size, room, capacity;
    bool wanted, dropped;
} Copy;

/* ---- Flows ---- */

typedef struct {
    int64_t asked;      /* nanoseconds of the steady clock */
    double at;          /* Unix seconds */
    int32_t correlation;
    int16_t key, version;
    uint32_t size;
    uint8_t interest;   /* of the request, and, two bits higher, of the response */
    bool no_room;       /* whether a copy found none */
    Copy request;
} Flow;

typedef enum { FLOW_ENDED, CONNECTION_ENDED, CONNECTION_BACK } EventKind;

typedef struct Event Event;

struct Event {
    Event *next;
    EventKind kind;
    uint64_t connection;
    /* Of a flow. response_size: -1 where no response comes. */
    Flow flow;
    int64_t answered;
    int64_t response_size;
    Copy response;
    /* Of an end: the side that closed last. */
    int last;
};

typedef struct {
    int16_t key, version;
    uint64_t requests, request_bytes, response_bytes;
    int64_t nanoseconds;
    uint64_t buckets[MOST_BOUNDS + 1];
} Count;

/* ---- What the connections of a loop share ---- */

typedef struct {
    uint8_t care[KEYS];
    uint8_t interests[KEYS][VERSIONS];
    int64_t bounds[MOST_BOUNDS];  /* upper bounds of latencies, nanoseconds, ascending */
    int bound_count;
    int64_t frame_limit;
    size_t copy_limit, memory_limit, copied;
    Event *first, *last;
    size_t waiting, waiting_bytes;  /* events for Python, and the copies in them */
} Shared;

void shared_push(Shared *shared, Event *event);
void event_free(Shared *shared, Event *event);
/* Makes a flow of another framer this one's. */
void flow_adopt(const Shared *shared, Flow *flow);
/* The same for the copy of a frame, so far, which may go on; NULL for none. frame_size: of the whole,
 * without the bytes of the size. */
bool copy_adopt(Shared *shared, Copy *copy, uint32_t frame_size, const unsigned char *bytes,
                size_t size);

/* ---- The frames of one connection ---- */

typedef struct {
    int64_t left, size;     /* of the frame that has begun */
    uint64_t passed, frames;
    unsigned char *head;    /* of a frame whose head came in pieces, else NULL */
    size_t head_count, head_need;
} Direction;

typedef struct {
    Shared *shared;
    uint64_t connection;
    unsigned char *client_id;
    size_t client_id_size;
    bool identified;        /* whether it is known if the client is a node, or a plain client */
    Direction directions[2];
    /* Requests that wait for their responses: `count` from `first` on, in a ring. */
    Flow *pending;
    uint32_t capacity, first, count;
    /* The flow whose frame passes: of a request its place counted from the first one ever, or
     * `unanswered` where no response will come, or `answered` where that is passing already. */
    bool asking, asking_unanswered, asking_answered, answering;
    uint64_t asking_place, popped;
    Flow unanswered, answered;
    Copy answer;
    int64_t answered_at;
    Count *counts;
    int count_count;
} Frames;

void frames_init(Frames *frames, Shared *shared, uint64_t connection);
void frames_free(Frames *frames);

/* Follows received bytes; returns how many could be followed, which is all but for a frame that is
 * not usual. -1 where there is no memory. now: nanoseconds of the steady clock. */
int64_t frames_feed(Frames *frames, int direction, const unsigned char *bytes, size_t size,
                    double at, int64_t now);

/* Adds a flow that was asked before the connection came here. */
bool frames_expect(Frames *frames, const Flow *flow);

static inline Flow *frames_pending(const Frames *frames, uint32_t index)
{
    return &frames->pending[(frames->first + index) & (frames->capacity - 1)];
}

static inline bool frames_unfinished(const Frames *frames, int direction)
{
    const Direction *d = &frames->directions[direction];
    return d->left > 0 || d->head_count > 0;
}

/* ---- Sockets ---- */

typedef struct Poller Poller;

typedef struct {
    uint64_t token;
    bool readable, writable, broken;
} Ready;

Poller *poller_open(void);
void poller_close(Poller *poller);
/* Watches a socket, or watches it for something else; false with errno. */
bool poller_add(Poller *poller, int socket, uint64_t token, bool read, bool write);
bool poller_change(Poller *poller, int socket, uint64_t token, bool read, bool write);
void poller_remove(Poller *poller, int socket);
/* Waits until something is ready, for so long at most, or for ever if that is negative; -1 with
 * errno. ready: has room for MOST_READY. */
int poller_wait(Poller *poller, Ready *ready, int milliseconds);
/* Ends a wait, from any thread; it returns a Ready with token 0. */
void poller_wake(Poller *poller);

/* ---- Connections ---- */

typedef struct {
    int socket;
    unsigned char *unsent;
    size_t unsent_start, unsent_end;
    bool reads, writes;       /* what the poller watches for */
    bool paused, ended, shut; /* not read, since the peer is slow; its end was passed on; was sent */
    int error;
    uint64_t mark_frames, mark_passed;
    int64_t marked;
} Socket;

typedef struct Connection Connection;

struct Connection {
    uint64_t number;
    Frames frames;
    Socket sockets[2];        /* the client's, which sends requests, and the node's */
    unsigned char *rest;      /* received and not followed, by `rest_from` */
    size_t rest_size;
    int rest_from;
    int64_t moved;
    bool returning, dirty;
    Connection *next_dirty;
};

typedef struct Loop Loop;

Loop *loop_open(const Shared *shared, size_t read_size, size_t write_limit);
void loop_close(Loop *loop);
void loop_run(Loop *loop);
void loop_stop(Loop *loop);
int loop_signal(const Loop *loop);
void loop_signal_seen(Loop *loop);
void loop_lock(Loop *loop);
void loop_unlock(Loop *loop);
Shared *loop_shared(Loop *loop);

/* All that follow are called with the lock held. */
Connection *loop_new(Loop *loop, int client, int node);
bool loop_start(Loop *loop, Connection *connection, int64_t now);
Connection *loop_find(Loop *loop, uint64_t number);
void loop_take(Loop *loop, Connection *connection);
void loop_forget(Loop *loop, Connection *connection);
Event *loop_events(Loop *loop);
Connection *loop_dirty(Loop *loop);
Connection *loop_next(Loop *loop, size_t *index);
bool connection_stuck(Connection *connection, int64_t now, int64_t progress, uint64_t step);
void connection_free(Connection *connection);

#endif
