/* How the commands end: the same codes for all of them. */
#ifndef MONITORCH_BASE_ARGUMENTS_EXIT_CODE_H
#define MONITORCH_BASE_ARGUMENTS_EXIT_CODE_H

enum exit_code {
    EXIT_CODE_DONE,
    EXIT_CODE_CHECK_FAILED, /* the answer is no, or there is nothing to show */
    EXIT_CODE_USAGE,
    EXIT_CODE_INPUT_FAILED, /* an input could not be read, an output not written */
};

/* How several parts end together. */
static inline enum exit_code exit_code_worse(enum exit_code a, enum exit_code b)
{
    return a > b ? a : b;
}

#endif
