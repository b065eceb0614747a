/* Interrupts: ending at a signal (Ctrl-C, SIGTERM, SIGHUP) without leaving temporary files. */
#ifndef MONITORCH_BASE_FILE_INTERRUPT_H
#define MONITORCH_BASE_FILE_INTERRUPT_H

#include <stdbool.h>

/* Must be called before other threads start. From then on, a signal that ends the process first
 * removes the temporary files. A signal that was ignored stays ignored. Writing to a closed pipe
 * returns EPIPE instead of raising a signal. */
void interrupt_start(void);

/* Restores the signals as they were before interrupt_start. Must be called before exec: a
 * program inherits blocked signals, and would not end at Ctrl-C. */
void interrupt_restore(void);

/* Sets a function that a signal calls first, with `context`, on a separate thread. If it returns
 * true, the process continues. NULL: no function. A prompt uses it for Ctrl-C. */
void interrupt_ask(bool (*handle)(void *context, int signal_number), void *context);

/* Removes the temporary files and ends the process by that signal. */
void interrupt_end_by(int signal_number);

#endif
