/* What the command line of `monitorch page` asks for. */
#ifndef MONITORCH_COMMAND_PAGE_OPTIONS_H
#define MONITORCH_COMMAND_PAGE_OPTIONS_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_options {
    const char *traces[2]; /* borrowed from the command line, as the others here */
    size_t trace_count;
    const char *output;
    uint64_t max_size;
    bool has_max_size;
    bool is_json;
    bool is_quiet;
};

/* Fails, with the message for the user, where the words make no sense. */
bool page_options_read(struct page_options *options,
                       int word_count,
                       char **words,
                       struct error *error);

#endif
