/* Interrupts: ending the process by a signal without leaving temporary files. */
#include "runtime/base/file/interrupt.h"

#include "runtime/base/file/file.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* Globals, because the process has only one thread that waits for signals. */
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static bool (*handler)(void *context, int signal_number);
static void *handler_context;

/* The process's settings before interrupt_start, for interrupt_restore. */
static bool is_started;
static sigset_t first_mask;
static void (*first_pipe)(int);

void interrupt_ask(bool (*handle)(void *context, int signal_number), void *context)
{
    pthread_mutex_lock(&handler_lock);
    handler = handle;
    handler_context = context;
    pthread_mutex_unlock(&handler_lock);
}

static bool is_used(int signal_number)
{
    bool result;

    pthread_mutex_lock(&handler_lock);
    result = handler != NULL && handler(handler_context, signal_number);
    pthread_mutex_unlock(&handler_lock);
    return result;
}

void interrupt_end_by(int signal_number)
{
    sigset_t only;

    file_abandon_all();
    signal(signal_number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(signal_number);
    _exit(128 + signal_number);
}

/* The ending signals that are not ignored; a shell lets background jobs ignore SIGINT. */
static sigset_t wanted_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        struct sigaction action;

        if (sigaction(ending_signals[i], NULL, &action) == 0 &&
            action.sa_handler != SIG_IGN) {
            sigaddset(&set, ending_signals[i]);
        }
    }
    return set;
}

/* A separate thread waits for the signals, because it can take locks and a signal handler
 * cannot. */
static void *wait_for_signal(void *unused)
{
    sigset_t set = wanted_signals();
    int signal_number = SIGTERM;

    (void)unused;
    while (sigwait(&set, &signal_number) == 0) {
        if (!is_used(signal_number)) {
            interrupt_end_by(signal_number);
        }
    }
    return NULL;
}

void interrupt_start(void)
{
    sigset_t set = wanted_signals();
    pthread_attr_t attributes;
    pthread_t thread;
    int failure;

    first_pipe = signal(SIGPIPE, SIG_IGN);
    is_started = pthread_sigmask(SIG_BLOCK, NULL, &first_mask) == 0;
    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    failure = pthread_create(&thread, &attributes, wait_for_signal, NULL);
    pthread_attr_destroy(&attributes);
    if (failure != 0) { /* ending with temporary files is better than not ending */
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    }
}

void interrupt_restore(void)
{
    if (is_started) {
        pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
        signal(SIGPIPE, first_pipe == SIG_ERR ? SIG_DFL : first_pipe);
    }
}
