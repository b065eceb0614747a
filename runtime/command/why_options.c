/* What the command line of `monitorch why` asks for. */
#include "runtime/command/why_options.h"

#include "runtime/command/trace_words.h"

/* So far back is told where nothing else is asked for. */
#define DEPTH_DEFAULT 8

#define TABLE_OF_OPTIONS "runtime/command/why_options.def"
#include "runtime/base/option_rules.h"

static bool read_number(enum option_id id,
                        const char *argument,
                        uint64_t least,
                        uint32_t *number,
                        struct error *error)
{
    uint64_t count;

    if (!argument_read_count(&rules[id], argument, least, UINT32_MAX,
                             least == 0 ? "a number from 0 on" : "a number from 1 on",
                             &count, error)) {
        return false;
    }
    *number = (uint32_t)count;
    return true;
}

static bool
take_option(void *context, int id, const char *argument, struct error *error)
{
    struct why_options *options = context;

    switch (id) {
    case OPTION_CALL:
        return read_number(id, argument[0] == '#' ? argument + 1 : argument, 1,
                           &options->ask.call, error);
    case OPTION_ITERATION:
        options->ask.has_iteration = true;
        return read_number(id, argument, 0, &options->ask.iteration, error);
    case OPTION_DEPTH:
        return argument_read_count(&rules[id], argument, 0, UINT32_MAX,
                                   "a number from 0 on", &options->ask.depth, error);
    case OPTION_ALL:
        options->ask.has_all_rows = true;
        return true;
    case OPTION_SOURCE:
        options->ask.has_source = true;
        return true;
    case OPTION_OUTPUT:
        options->output = argument;
        return render_format_of(slice_of(argument), &options->format, error);
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    default: /* --help and --version were answered before */
        return true;
    }
}

static bool take_word(void *context, const char *word, struct error *error)
{
    struct why_options *options = context;

    if (options->trace == NULL) {
        options->trace = word;
        return true;
    }
    if (options->ask.event.size > 0) {
        error_set(error, ERROR_USAGE,
                  "%.80s: expected one TRACE and at most one EVENT, such as '#12', "
                  "model.py:31 or weights",
                  word);
        return false;
    }
    options->ask.event = slice_of(word);
    return true;
}

static bool check(struct why_options *options, struct error *error)
{
    if (options->trace == NULL) {
        return trace_words_refuse_none(error);
    }
    if ((options->ask.call != 0 || options->ask.has_iteration) &&
        options->ask.event.size == 0) {
        return arguments_refuse(
            "--call and --iteration choose among the visits of an EVENT, give one too",
            error);
    }
    if (options->is_json && options->ask.has_source) {
        return arguments_refuse("--source is for people, it does not go with --json",
                                error);
    }
    if (options->ask.has_all_rows) {
        options->ask.depth = UINT64_MAX;
    }
    return true;
}

bool why_options_read(struct why_options *options,
                      int word_count,
                      char **words,
                      struct error *error)
{
    const struct argument_taker taker = {take_option, take_word, options};

    *options = (struct why_options){
        .ask = {.event = SLICE(""), .depth = DEPTH_DEFAULT},
    };
    return arguments_read(rules, OPTION_COUNT, word_count, words, &taker, error) &&
           check(options, error);
}
