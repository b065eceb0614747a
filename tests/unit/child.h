/* Claims about a process of its own: what it does to itself does not outlast it. */
#ifndef MONITORCH_TESTS_UNIT_CHILD_H
#define MONITORCH_TESTS_UNIT_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the claim holds in a process that is forked from this one. */
static inline bool child_holds(bool (*claim)(void *about), void *about)
{
    int status = 1;
    pid_t child;

    fflush(stdout); /* what is kept would be printed by the child too */
    child = fork();
    if (child == 0) {
        _exit(claim(about) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#endif
