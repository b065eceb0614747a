/* Processes that are forked off one that records. */
#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_uint fork_count;

static void count_fork(void)
{
    atomic_fetch_add(&fork_count, 1);
}

void session_watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned session_fork_count(void)
{
    return atomic_load_explicit(&fork_count, memory_order_relaxed);
}
/* `run.mtrace` and 4711: `run.4711.mtrace`. */
static char *make_child_path(const char *path, uint32_t process)
{
    size_t room = strlen(path) + 16;
    char *child = memory_allocate(room, 1);
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');

    if (child == NULL) {
        return NULL;
    }
    if (dot == NULL || dot == path || (slash != NULL && dot <= slash + 1)) {
        dot = path + strlen(path);
    }
    snprintf(child, room, "%.*s.%u%s", (int)(dot - path), path, process, dot);
    return child;
}
/* A recording of tracked calls alone begins anew in the child: calls that go on join it. */
static void follow_fork_anew(struct session *session, unsigned user_count)
{
    session_abandon(session);
    if (!session_start_own(session)) {
        PyErr_Clear();
    }
    session->user_count = user_count;
}

void session_follow_fork(struct session *session, unsigned user_count)
{
    struct error error = ERROR_INIT;
    uint32_t process = (uint32_t)getpid();
    char *path;

    if (session->is_own) {
        follow_fork_anew(session, user_count);
        return;
    }
    path = make_child_path(session->path, process);
    session->fork_count = session_fork_count();
    session->user_count = user_count;
    session->process = process;
    /* What the parent's devices compute is the parent's. */
    device_queue_forget(session->devices);
    if (path == NULL) {
        error_set_memory(&error);
    } else if (recorder_fork(session->recorder, path, &error)) {
        memory_free(session->path);
        session->path = path;
        tracking_begin(session->tracking, session->recorder);
        return;
    }
    memory_free(path);
    if (session->is_quiet) {
        return;
    }
    fprintf(stderr, "monitorch: %s; this process is not recorded\n", error.text);
}
bool session_is_parents(const struct session *session)
{
    return session->fork_count != session_fork_count();
}
