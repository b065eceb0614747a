/* The options of the command line of monitorch-instrument. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_OPTIONS_H
#define MONITORCH_INSTRUMENT_COMMAND_OPTIONS_H

#include "instrument/instrument.h"
#include "runtime/base/arena.h"
#include "runtime/base/arguments/help.h"
#include "runtime/base/error.h"
#include "runtime/base/file/output.h"

#include <stdbool.h>
#include <stddef.h>

enum mode {
    MODE_INSTRUMENT,
    MODE_STRIP,
    MODE_CHECK,
    MODE_LIST,
    MODE_UPDATE,
    MODE_REFUSE,
    MODE_VERSION,
    MODE_HELP,
};

struct options {
    struct arena arena; /* owned; holds the arrays */
    enum mode mode;
    struct selection selection; /* `forward` if the command line selects nothing */
    bool has_selection;         /* the command line selects something */
    const char *output;         /* -o; borrowed from the command line; may be NULL */
    const char *directory;      /* -d; borrowed from the command line; may be NULL */
    bool is_in_place;
    bool is_json;
    bool is_recursive;
    bool is_quiet;
    enum color color;
    size_t job_count;   /* -j; 0 means one for each processor */
    const char **files; /* in the arena; each borrowed from the command line */
    size_t file_count;
};

/* Reads the command line. Fails, with a message for the user, if the words are not valid, alone
 * or together. The options must be released in any case. */
bool options_parse(struct options *options,
                   int word_count,
                   char **words,
                   struct error *error);
void options_release(struct options *options);

extern const struct help instrument_help;

#endif
