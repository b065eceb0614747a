/* Ending at a signal (Ctrl-C, SIGTERM, SIGHUP) without leaving temporary files behind. */
#ifndef MONITORCH_BASE_FILE_INTERRUPT_H
#define MONITORCH_BASE_FILE_INTERRUPT_H

#include <stdbool.h>

/* Call before other threads start. From then on a signal that would end the process first
 * removes the temporary files; a signal that was ignored stays ignored. Writing to a closed
 * pipe gives EPIPE instead of a signal. */
void interrupt_start(void);

/* Signals are as before interrupt_start: to be called before exec, because a program inherits the
 * signals that are blocked, and would not end at Ctrl-C. */
void interrupt_restore(void);

/* From now on a signal calls `handle` first, with `context`, on a thread of its own; if it returns
 * true the process continues. NULL: nothing is called. A prompt handles Ctrl-C so. */
void interrupt_ask(bool (*handle)(void *context, int signal_number), void *context);

/* Ends the process as that signal would have, after the temporary files are removed. */
void interrupt_end_by(int signal_number);

#endif
