/* What the command line of `monitorch why` asks for. */
#ifndef MONITORCH_COMMAND_WHY_OPTIONS_H
#define MONITORCH_COMMAND_WHY_OPTIONS_H

#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/why/why.h"

#include <stdbool.h>

struct why_options {
    const char *trace;  /* borrowed from the command line, as the others here */
    const char *output; /* a picture's; NULL: none */
    enum render_format format;
    bool is_page; /* HTML, and no picture alone */
    struct why_ask ask;
    enum color color;
    bool is_json;
    bool is_quiet;
};

/* Fails, with the message for the user, where the words make no sense. */
bool why_options_read(struct why_options *options,
                      int word_count,
                      char **words,
                      struct error *error);

#endif
