/* What the command line of `monitorch graph` asks for. */
#ifndef MONITORCH_COMMAND_GRAPH_OPTIONS_H
#define MONITORCH_COMMAND_GRAPH_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/walk/event_filter.h"

#include <stdbool.h>

/* Without --max-nodes, a graph of more nodes is refused: nobody finds anything
 * in it. */
#define GRAPH_NODE_LIMIT 2000

/* What was given, as far as options depend on each other. */
struct graph_given {
    bool format;
    bool max_nodes;
    bool dpi;
    bool pages;
    bool style; /* the theme or the proportion */
    bool step;
    bool depth;
    bool fold;
};

struct graph_options {
    const char *trace;  /* borrowed from the command line */
    bool is_page;       /* HTML: `output` ends so */
    const char *output; /* borrowed from the command line; "-": standard output */
    struct event_filter filter; /* owned; what `render` refers to */
    struct render_options render;
    bool is_quiet;
    bool is_json; /* what was drawn is printed */
    struct graph_given given;
};

/* Fails, with the message for the user, where the words make no sense. To be
 * released in any case; may not be moved. */
bool graph_options_read(struct graph_options *options,
                        int word_count,
                        char **words,
                        struct error *error);
void graph_options_release(struct graph_options *options);

#endif
