/* Trace words: the words of a command line that name traces. */
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

/* Makes room for a command line of that many words. Returns false if memory ran out. To be
 * released in any case. */
bool trace_words_init(struct trace_words *traces, int word_count, struct error *error);
void trace_words_release(struct trace_words *traces);

/* Reads a command line whose words, except options, name traces. Initializes and fills `traces`;
 * passes options on as struct argument_taker says. Returns false if the command line is wrong;
 * `error` says why. */
bool trace_words_read(
    struct trace_words *traces,
    const struct argument_rule *rules,
    int rule_count,
    int word_count,
    char **words,
    bool (*apply)(void *context, int option, const char *argument, struct error *error),
    void *context,
    struct error *error);

/* Sets the error that no trace was given. Returns false. */
bool trace_words_refuse_none(struct error *error);

/* Sets the error that there is a word too many, with what was `expected`. A word with an
 * output's suffix needs -o. Returns false. */
bool trace_words_refuse_more(const char *word,
                             const char *expected,
                             struct error *error);

#endif
