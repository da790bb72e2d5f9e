/* Waits for sockets: by epoll on Linux, by kqueue on macOS and the BSDs. */
#include "relay.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__

#include <sys/epoll.h>
#include <sys/eventfd.h>

struct Poller {
    int queue, wake;
    struct epoll_event ready[MOST_READY];
};

static bool control(Poller *poller, int what, int socket, uint64_t token, bool read, bool write)
{
    struct epoll_event event = {
        .events = (read ? EPOLLIN : 0) | (write ? EPOLLOUT : 0),
        .data.u64 = token,
    };
    return epoll_ctl(poller->queue, what, socket, &event) == 0;
}

bool poller_add(Poller *poller, int socket, uint64_t token, bool read, bool write)
{
    return control(poller, EPOLL_CTL_ADD, socket, token, read, write);
}

bool poller_change(Poller *poller, int socket, uint64_t token, bool read, bool write)
{
    return control(poller, EPOLL_CTL_MOD, socket, token, read, write);
}

void poller_remove(Poller *poller, int socket)
{
    control(poller, EPOLL_CTL_DEL, socket, 0, false, false);
}

Poller *poller_open(void)
{
    Poller *poller = calloc(1, sizeof *poller);
    if (!poller)
        return NULL;
    poller->queue = epoll_create1(EPOLL_CLOEXEC);
    poller->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller->queue < 0 || poller->wake < 0 || !poller_add(poller, poller->wake, 0, true, false)) {
        poller_close(poller);
        return NULL;
    }
    return poller;
}

int poller_wait(Poller *poller, Ready *ready, int milliseconds)
{
    int count = epoll_wait(poller->queue, poller->ready, MOST_READY, milliseconds);
    for (int i = 0; i < count; i++) {
        uint32_t events = poller->ready[i].events;
        ready[i] = (Ready){
            .token = poller->ready[i].data.u64,
            .readable = events & EPOLLIN,
            .writable = events & EPOLLOUT,
            .broken = events & (EPOLLERR | EPOLLHUP),
        };
        uint64_t seen;
        if (!ready[i].token && read(poller->wake, &seen, sizeof seen) < 0 && errno != EAGAIN)
            return -1;
    }
    return count;
}

void poller_wake(Poller *poller)
{
    uint64_t one = 1;
    (void)!write(poller->wake, &one, sizeof one);  /* it can only fail by being full: then it is set */
}

void poller_close(Poller *poller)
{
    if (poller->queue >= 0)
        close(poller->queue);
    if (poller->wake >= 0)
        close(poller->wake);
    free(poller);
}

#else

#include <sys/event.h>
#include <sys/time.h>

#define WAKE 1

struct Poller {
    int queue;
    struct kevent ready[MOST_READY];
};

static struct kevent filter(int socket, int what, uint64_t token, bool on)
{
    struct kevent event;
    EV_SET(&event, (uintptr_t)socket, what, on ? EV_ADD | EV_ENABLE : EV_ADD | EV_DISABLE, 0, 0,
           (void *)(uintptr_t)token);
    return event;
}

bool poller_add(Poller *poller, int socket, uint64_t token, bool read, bool write)
{
    struct kevent both[2] = {
        filter(socket, EVFILT_READ, token, read),
        filter(socket, EVFILT_WRITE, token, write),
    };
    return kevent(poller->queue, both, 2, NULL, 0, NULL) == 0;
}

bool poller_change(Poller *poller, int socket, uint64_t token, bool read, bool write)
{
    return poller_add(poller, socket, token, read, write);
}

void poller_remove(Poller *poller, int socket)
{
    for (int i = 0; i < 2; i++) {
        struct kevent event;
        EV_SET(&event, (uintptr_t)socket, i ? EVFILT_WRITE : EVFILT_READ, EV_DELETE, 0, 0, NULL);
        kevent(poller->queue, &event, 1, NULL, 0, NULL);
    }
}

Poller *poller_open(void)
{
    Poller *poller = calloc(1, sizeof *poller);
    if (!poller)
        return NULL;
    struct kevent wake;
    EV_SET(&wake, WAKE, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, NULL);
    poller->queue = kqueue();
    if (poller->queue < 0 || kevent(poller->queue, &wake, 1, NULL, 0, NULL) < 0) {
        poller_close(poller);
        return NULL;
    }
    return poller;
}

int poller_wait(Poller *poller, Ready *ready, int milliseconds)
{
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    int count = kevent(poller->queue, NULL, 0, poller->ready, MOST_READY,
                       milliseconds < 0 ? NULL : &limit);
    for (int i = 0; i < count; i++) {
        struct kevent *event = &poller->ready[i];
        ready[i] = (Ready){
            .token = event->filter == EVFILT_USER ? 0 : (uint64_t)(uintptr_t)event->udata,
            /* An end or an error is seen by reading, and by writing where nothing is read. */
            .readable = event->filter == EVFILT_READ,
            .writable = event->filter == EVFILT_WRITE,
            .broken = event->filter == EVFILT_WRITE && event->flags & EV_EOF,
        };
    }
    return count;
}

void poller_wake(Poller *poller)
{
    struct kevent wake;
    EV_SET(&wake, WAKE, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
    kevent(poller->queue, &wake, 1, NULL, 0, NULL);
}

void poller_close(Poller *poller)
{
    if (poller->queue >= 0)
        close(poller->queue);
    free(poller);
}

#endif
