/* What the command line of `monitorch calls` asks for. */
#ifndef MONITORCH_COMMAND_CALLS_OPTIONS_H
#define MONITORCH_COMMAND_CALLS_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/view/calls/graph.h"

#include <stdbool.h>

enum calls_output {
    CALLS_TEXT, /* the tree, for a terminal */
    CALLS_JSON,
    CALLS_PICTURE, /* of render.format */
};

/* What was given, as far as options depend on each other. */
struct calls_given {
    bool format;
    bool leaves;
    bool dpi;
    bool page;
    bool style; /* the theme or the title */
    bool squash_name;
};

struct calls_options {
    const char *input;     /* borrowed from the command line, as the next two */
    const char *output;    /* "-": standard output; NULL: the text there */
    const char *json_path; /* may be NULL */
    enum calls_output kind;
    struct call_graph_options graph;
    struct call_render_options render;
    enum color color;
    bool is_verbose;
    bool is_quiet;
    struct calls_given given;
};

/* Fails, with the message for the user, where the words make no sense. */
bool calls_options_read(struct calls_options *options,
                        int word_count,
                        char **words,
                        struct error *error);

#endif
