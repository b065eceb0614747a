/* The words of a command line that name traces. */
#ifndef MONITORCH_COMMAND_SHARED_TRACE_WORDS_H
#define MONITORCH_COMMAND_SHARED_TRACE_WORDS_H

#include "runtime/base/arguments/arguments.h"
#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_words {
    const char **words; /* owned; each borrowed from the command line */
    size_t count;
};

/* Makes room for a command line of so many words. To be released in any case. */
bool trace_words_init(struct trace_words *traces, int word_count, struct error *error);
void trace_words_release(struct trace_words *traces);

/* Reads a command line on which all that is no option names a trace: initializes `traces` and fills
 * it, and has the options taken as in struct argument_taker. */
bool trace_words_read(
    struct trace_words *traces,
    const struct argument_rule *rules,
    int rule_count,
    int word_count,
    char **words,
    bool (*apply)(void *context, int option, const char *argument, struct error *error),
    void *context,
    struct error *error);

/* Says that no trace was given. Returns false. */
bool trace_words_refuse_none(struct error *error);

/* Says that a word is one too many, and what was `expected`; the name of an output is to follow -o.
 * Returns false. */
bool trace_words_refuse_more(const char *word,
                             const char *expected,
                             struct error *error);

#endif
