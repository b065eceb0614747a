/* What the command line of `monitorch show` asks for. */
#ifndef MONITORCH_COMMAND_SHOW_OPTIONS_H
#define MONITORCH_COMMAND_SHOW_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/view/tracklog/labels.h"
#include "runtime/view/walk/event_filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct show_options {
    struct event_filter filter; /* owned */
    uint64_t head;              /* UINT64_MAX: all */
    uint64_t tail;              /* UINT64_MAX: all */
    bool has_source;
    bool is_json;
    bool is_tree; /* the tree log */
    bool has_labels;
    struct track_labels labels; /* of the tree log; borrowed from the command line */
    bool has_backward;          /* gradients too */
    bool has_sample;
    bool is_sites;
    bool is_settings;
    bool is_canonical;
    bool is_quiet;
    enum color color;
    struct trace_words traces; /* owned */
};

/* Fails, with the message for the user, where the words make no sense. To be released in any
 * case. */
bool show_options_read(struct show_options *options,
                       int word_count,
                       char **words,
                       struct error *error);
void show_options_release(struct show_options *options);

#endif
