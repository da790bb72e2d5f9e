/* Moves the bytes of many connections in one thread, without the interpreter.
 *
 * A connection that turns out to be anything but plain, because a frame is not usual, a side ends
 * in an unusual moment or breaks, goes back to Python with its sockets and all that is known of it.
 * The lock is held while one connection is served, and never while the thread waits. */
#include "relay.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_EVENTS 65536  /* events that wait for Python before the thread waits for it */
#define STEP_NS 1000000
#define QUIET_NS 2000000  /* between two signals to Python, whose waking costs as much as a flow */
#define QUIET_MS 2

#ifdef MSG_NOSIGNAL
#define SEND_FLAGS MSG_NOSIGNAL
#else
#define SEND_FLAGS 0  /* Python ignores SIGPIPE */
#endif

typedef struct {
    Connection *connection;
    uint32_t generation;
} Place;

struct Loop {
    Shared shared;
    Poller *poller;
    pthread_mutex_t lock;
    atomic_bool stops;
    int signal[2];         /* a pipe, readable while events wait for Python */
    bool signalled;
    int64_t signalled_at;
    unsigned char *buffer;
    size_t read_size, write_limit;
    Place *places;
    size_t place_count, free_from;
    Connection *dirty;
};

static int64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double unix_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Telling Python ---- */

/* Python is told at once where little happens, before a byte of what the events tell of is sent: who
 * reads them sees them first. Where much happens it gets the events of two milliseconds together. */
static void signal_python(Loop *loop, int64_t now)
{
    if (!loop->shared.first || loop->signalled || now - loop->signalled_at < QUIET_NS)
        return;
    loop->signalled = true;
    loop->signalled_at = now;
    (void)!write(loop->signal[1], "", 1);
}

static bool push_end(Loop *loop, Connection *connection, EventKind kind, int last)
{
    Event *event = calloc(1, sizeof *event);
    if (!event)
        return false;
    event->kind = kind;
    event->connection = connection->number;
    event->last = last;
    shared_push(&loop->shared, event);
    signal_python(loop, monotonic());
    return true;
}

static void mark_dirty(Loop *loop, Connection *connection)
{
    if (connection->dirty || !connection->frames.count_count)
        return;
    connection->dirty = true;
    connection->next_dirty = loop->dirty;
    loop->dirty = connection;
}

/* ---- Connections ---- */

/* A token is the connection's number, and in its lowest bit the side; numbers begin at 1. */
static uint64_t token(const Connection *connection, int side)
{
    return connection->number << 1 | (uint64_t)side;
}

static bool watch(Loop *loop, Connection *connection, int side)
{
    Socket *s = &connection->sockets[side];
    bool reads = !s->paused && !s->ended, writes = s->unsent_end > s->unsent_start;
    if (reads == s->reads && writes == s->writes)
        return true;
    s->reads = reads;
    s->writes = writes;
    return poller_change(loop->poller, s->socket, token(connection, side), reads, writes);
}

/* Stops serving a connection; it is Python's as soon as Python sees the event. */
static void give_back(Loop *loop, Connection *connection)
{
    if (connection->returning)
        return;
    connection->returning = true;
    for (int side = 0; side < 2; side++)
        poller_remove(loop->poller, connection->sockets[side].socket);
    push_end(loop, connection, CONNECTION_BACK, 0);
}

static void broke(Loop *loop, Connection *connection, int side, int error)
{
    connection->sockets[side].error = error;
    give_back(loop, connection);
}

static bool keep_unsent(Socket *s, const unsigned char *bytes, size_t size)
{
    size_t waiting = s->unsent_end - s->unsent_start;
    unsigned char *all = malloc(waiting + size);
    if (!all)
        return false;
    if (waiting)
        memcpy(all, s->unsent + s->unsent_start, waiting);
    memcpy(all + waiting, bytes, size);
    free(s->unsent);
    s->unsent = all;
    s->unsent_start = 0;
    s->unsent_end = waiting + size;
    return true;
}

/* Sends on what came from the other side, or keeps it while the peer is slow. */
static void pass_on(Loop *loop, Connection *connection, int to, const unsigned char *bytes,
                    size_t size)
{
    Socket *s = &connection->sockets[to];
    if (s->unsent_end == s->unsent_start) {
        ssize_t sent = send(s->socket, bytes, size, SEND_FLAGS);
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            broke(loop, connection, to, errno);
            return;
        }
        size_t done = sent > 0 ? (size_t)sent : 0;
        bytes += done;
        size -= done;
        if (!size)
            return;
    }
    if (!keep_unsent(s, bytes, size)) {
        broke(loop, connection, to, ENOMEM);
        return;
    }
    if (s->unsent_end - s->unsent_start > loop->write_limit)
        connection->sockets[!to].paused = true;
    if (!watch(loop, connection, to) || !watch(loop, connection, !to))
        broke(loop, connection, to, errno);
}

/* ---- Ends ---- */

static void close_sockets(Connection *connection)
{
    for (int side = 0; side < 2; side++) {
        close(connection->sockets[side].socket);
        connection->sockets[side].socket = -1;
    }
}

static void send_end(Connection *connection, int to)
{
    Socket *s = &connection->sockets[to];
    if (s->shut || s->unsent_end > s->unsent_start || !connection->sockets[!to].ended)
        return;
    s->shut = true;
    shutdown(s->socket, SHUT_WR);
}

/* A side has sent its last byte. Only a whole dialogue ends here; what is cut short is Python's. */
static void ended(Loop *loop, Connection *connection, int side)
{
    Frames *frames = &connection->frames;
    bool all_said = !frames->count && !frames_unfinished(frames, REQUEST)
                    && !frames_unfinished(frames, RESPONSE);
    bool all_sent = connection->sockets[!side].unsent_end == connection->sockets[!side].unsent_start;
    if (!all_said || !all_sent) {
        give_back(loop, connection);
        return;
    }
    connection->sockets[side].ended = true;
    send_end(connection, !side);
    if (!connection->sockets[!side].ended) {
        if (!watch(loop, connection, side))
            broke(loop, connection, side, errno);
        return;
    }
    connection->returning = true;
    for (int i = 0; i < 2; i++)
        poller_remove(loop->poller, connection->sockets[i].socket);
    close_sockets(connection);
    push_end(loop, connection, CONNECTION_ENDED, side);
}

/* ---- Serving ---- */

static void received(Loop *loop, Connection *connection, int from, size_t size)
{
    int64_t now = monotonic();
    connection->moved = now;
    int64_t followed = frames_feed(&connection->frames, from, loop->buffer, size, unix_time(), now);
    mark_dirty(loop, connection);
    if (followed < 0) {
        broke(loop, connection, from, ENOMEM);
        return;
    }
    signal_python(loop, now);
    if (followed)
        pass_on(loop, connection, !from, loop->buffer, (size_t)followed);
    size_t rest = size - (size_t)followed;
    if (!rest)
        return;
    connection->rest = malloc(rest);
    if (!connection->rest) {
        broke(loop, connection, from, ENOMEM);
        return;
    }
    memcpy(connection->rest, loop->buffer + followed, rest);
    connection->rest_size = rest;
    connection->rest_from = from;
    give_back(loop, connection);
}

static void read_from(Loop *loop, Connection *connection, int side)
{
    ssize_t size = recv(connection->sockets[side].socket, loop->buffer, loop->read_size, 0);
    if (size > 0)
        received(loop, connection, side, (size_t)size);
    else if (size == 0)
        ended(loop, connection, side);
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        broke(loop, connection, side, errno);
}

static void write_to(Loop *loop, Connection *connection, int side)
{
    Socket *s = &connection->sockets[side];
    size_t waiting = s->unsent_end - s->unsent_start;
    if (!waiting)
        return;
    ssize_t sent = send(s->socket, s->unsent + s->unsent_start, waiting, SEND_FLAGS);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            broke(loop, connection, side, errno);
        return;
    }
    s->unsent_start += (size_t)sent;
    waiting -= (size_t)sent;
    if (!waiting) {
        free(s->unsent);
        s->unsent = NULL;
        s->unsent_start = s->unsent_end = 0;
        send_end(connection, side);
    }
    if (waiting <= loop->write_limit / 4)
        connection->sockets[!side].paused = false;
    if (!watch(loop, connection, side) || !watch(loop, connection, !side))
        broke(loop, connection, side, errno);
}

static void serve(Loop *loop, const Ready *ready)
{
    Connection *connection = loop_find(loop, ready->token >> 1);
    int side = (int)(ready->token & 1);
    if (!connection || connection->returning)
        return;
    Socket *s = &connection->sockets[side];
    if (ready->writable)
        write_to(loop, connection, side);
    if (connection->returning)
        return;
    if ((ready->readable || ready->broken) && s->reads)
        read_from(loop, connection, side);
    else if (ready->broken && !ready->writable)
        /* Nobody reads here, and it is over all the same: only Python knows what is left to do. */
        give_back(loop, connection);
}

static bool python_lags(const Loop *loop)
{
    return loop->shared.waiting > MOST_EVENTS
           || loop->shared.waiting_bytes > loop->shared.memory_limit / 4;
}

/* A Python that is busy holds the traffic up, as it would if it moved the bytes itself; copies would
 * find no room otherwise. */
static void wait_for_python(Loop *loop)
{
    struct timespec step = {0, STEP_NS};
    while (python_lags(loop) && !atomic_load(&loop->stops)) {
        signal_python(loop, monotonic());
        pthread_mutex_unlock(&loop->lock);
        nanosleep(&step, NULL);
        pthread_mutex_lock(&loop->lock);
    }
}

/* Returns whether Python still has to be told of events. */
static bool signal_late(Loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    signal_python(loop, monotonic());
    bool waiting = loop->shared.first && !loop->signalled;
    pthread_mutex_unlock(&loop->lock);
    return waiting;
}

void loop_run(Loop *loop)
{
    Ready ready[MOST_READY];
    bool waiting = false;
    while (!atomic_load(&loop->stops)) {
        int count = poller_wait(loop->poller, ready, waiting ? QUIET_MS : -1);
        if (count < 0 && errno != EINTR)
            return;
        for (int i = 0; i < count; i++) {
            if (!ready[i].token)
                continue;
            pthread_mutex_lock(&loop->lock);
            wait_for_python(loop);
            serve(loop, &ready[i]);
            pthread_mutex_unlock(&loop->lock);
        }
        waiting = signal_late(loop);
    }
}

/* ---- What Python asks for ---- */

Connection *loop_find(Loop *loop, uint64_t number)
{
    size_t index = (size_t)(number & 0xFFFFFFFF) - 1;
    if (index >= loop->place_count || loop->places[index].generation != number >> 32)
        return NULL;
    return loop->places[index].connection;
}

static bool find_place(Loop *loop, size_t *index)
{
    for (size_t i = loop->free_from; i < loop->place_count; i++) {
        if (!loop->places[i].connection) {
            *index = i;
            return true;
        }
    }
    size_t count = loop->place_count ? loop->place_count * 2 : 64;
    Place *places = realloc(loop->places, count * sizeof *places);
    if (!places)
        return false;
    memset(places + loop->place_count, 0, (count - loop->place_count) * sizeof *places);
    *index = loop->place_count;
    loop->places = places;
    loop->place_count = count;
    return true;
}

/* Number: place + 1 in the lower half, how often the place was used in the upper. */
Connection *loop_new(Loop *loop, int client, int node)
{
    size_t index;
    Connection *connection = calloc(1, sizeof *connection);
    if (!connection || !find_place(loop, &index)) {
        free(connection);
        return NULL;
    }
    Place *place = &loop->places[index];
    place->generation = (place->generation + 1) & 0x7FFFFFFF;
    place->connection = connection;
    loop->free_from = index + 1;
    connection->number = (uint64_t)place->generation << 32 | (index + 1);
    connection->sockets[REQUEST].socket = client;
    connection->sockets[RESPONSE].socket = node;
    frames_init(&connection->frames, &loop->shared, connection->number);
    return connection;
}

bool loop_start(Loop *loop, Connection *connection, int64_t now)
{
    connection->moved = now;
    for (int side = 0; side < 2; side++) {
        Socket *s = &connection->sockets[side];
        s->reads = true;
        s->marked = now;
        s->mark_frames = connection->frames.directions[side].frames;
        s->mark_passed = connection->frames.directions[side].passed;
        if (!poller_add(loop->poller, s->socket, token(connection, side), true, false)) {
            if (side)
                poller_remove(loop->poller, connection->sockets[0].socket);
            return false;
        }
    }
    return true;
}

/* Takes a connection out of the loop: no event will come of it, but those that wait. */
void loop_take(Loop *loop, Connection *connection)
{
    if (!connection->returning)
        for (int side = 0; side < 2; side++)
            poller_remove(loop->poller, connection->sockets[side].socket);
    connection->returning = true;
    loop_forget(loop, connection);
}

void loop_forget(Loop *loop, Connection *connection)
{
    size_t index = (size_t)(connection->number & 0xFFFFFFFF) - 1;
    loop->places[index].connection = NULL;
    if (index < loop->free_from)
        loop->free_from = index;
    for (Connection **at = &loop->dirty; *at; at = &(*at)->next_dirty) {
        if (*at == connection) {
            *at = connection->next_dirty;
            break;
        }
    }
}

Connection *loop_next(Loop *loop, size_t *index)
{
    while (*index < loop->place_count) {
        Connection *connection = loop->places[(*index)++].connection;
        if (connection && !connection->returning)
            return connection;
    }
    return NULL;
}

Event *loop_events(Loop *loop)
{
    Event *first = loop->shared.first;
    loop->shared.first = loop->shared.last = NULL;
    loop->shared.waiting = loop->shared.waiting_bytes = 0;
    return first;
}

/* Returns one connection that has counted something since it was last returned. */
Connection *loop_dirty(Loop *loop)
{
    Connection *connection = loop->dirty;
    if (connection) {
        loop->dirty = connection->next_dirty;
        connection->dirty = false;
    }
    return connection;
}

/* As `Side.stuck` has it, where no frame is held: a frame that has begun does not go on. */
static bool socket_stuck(const Direction *d, Socket *s, bool unfinished, int64_t now,
                         int64_t progress, uint64_t step)
{
    bool at_rest = !unfinished || s->paused;
    if (at_rest || d->frames != s->mark_frames || d->passed - s->mark_passed >= step) {
        s->mark_frames = d->frames;
        s->mark_passed = d->passed;
        s->marked = now;
    }
    return now - s->marked > progress;
}

bool connection_stuck(Connection *connection, int64_t now, int64_t progress, uint64_t step)
{
    bool stuck = false;
    for (int side = 0; side < 2; side++) {
        const Direction *d = &connection->frames.directions[side];
        bool unfinished = frames_unfinished(&connection->frames, side);
        Socket *s = &connection->sockets[side];
        stuck |= socket_stuck(d, s, unfinished, now, progress, step);
    }
    return stuck;
}

void connection_free(Connection *connection)
{
    frames_free(&connection->frames);
    for (int side = 0; side < 2; side++)
        free(connection->sockets[side].unsent);
    free(connection->rest);
    free(connection);
}

/* ---- The loop itself ---- */

Loop *loop_open(const Shared *shared, size_t read_size, size_t write_limit)
{
    Loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->shared = *shared;
    loop->read_size = read_size;
    loop->write_limit = write_limit;
    loop->buffer = malloc(read_size);
    loop->poller = poller_open();
    if (!loop->buffer || !loop->poller || pipe(loop->signal) < 0) {
        free(loop->buffer);
        if (loop->poller)
            poller_close(loop->poller);
        free(loop);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(loop->signal[i], F_SETFD, FD_CLOEXEC);
        fcntl(loop->signal[i], F_SETFL, O_NONBLOCK);
    }
    pthread_mutexattr_t again;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);  /* a finalizer may ask, too */
    pthread_mutex_init(&loop->lock, &again);
    atomic_init(&loop->stops, false);
    return loop;
}

void loop_close(Loop *loop)
{
    for (Event *event = loop->shared.first, *next; event; event = next) {
        next = event->next;
        event_free(&loop->shared, event);
    }
    for (size_t i = 0; i < loop->place_count; i++) {
        Connection *connection = loop->places[i].connection;
        if (connection) {
            for (int side = 0; side < 2; side++)
                if (connection->sockets[side].socket >= 0)
                    close(connection->sockets[side].socket);
            connection_free(connection);
        }
    }
    free(loop->places);
    free(loop->buffer);
    poller_close(loop->poller);
    close(loop->signal[0]);
    close(loop->signal[1]);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

void loop_stop(Loop *loop)
{
    atomic_store(&loop->stops, true);
    poller_wake(loop->poller);
}

int loop_signal(const Loop *loop)
{
    return loop->signal[0];
}

/* Called with the lock held, before the events are taken. */
void loop_signal_seen(Loop *loop)
{
    char seen;
    if (read(loop->signal[0], &seen, 1) == 1)
        loop->signalled = false;
}

void loop_lock(Loop *loop)
{
    pthread_mutex_lock(&loop->lock);
}

void loop_unlock(Loop *loop)
{
    pthread_mutex_unlock(&loop->lock);
}

Shared *loop_shared(Loop *loop)
{
    return &loop->shared;
}
