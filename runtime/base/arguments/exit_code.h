/* Exit codes, the same for all commands. */
#ifndef MONITORCH_BASE_ARGUMENTS_EXIT_CODE_H
#define MONITORCH_BASE_ARGUMENTS_EXIT_CODE_H

enum exit_code {
    EXIT_CODE_DONE,
    EXIT_CODE_CHECK_FAILED, /* a check failed, the runs differ, or nothing matched */
    EXIT_CODE_USAGE,
    EXIT_CODE_INPUT_FAILED, /* an input could not be read, or an output not written */
};

/* The exit code of a command that consists of several parts. */
static inline enum exit_code exit_code_worse(enum exit_code a, enum exit_code b)
{
    return a > b ? a : b;
}

#endif
