/* The options of the command line of monitorch-instrument. */
#include "instrument/command/options.h"

#include "instrument/select/selection.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_OF_OPTIONS "instrument/command/options.def"
#include "runtime/base/arguments/option_rules.h"

/* Each line of the help text is a line here. */
/* clang-format off */
const struct help instrument_help = {
    .usage =
    "monitorch-instrument [options] FILE...",
    .purpose =
    "Inserts calls into Python source that record what each line does to its values\n"
    "while the program runs. Lines keep their numbers, and nothing of the original\n"
    "changes. Unless MONITORCH is set, the calls do nothing. A FILE `-` is standard\n"
    "input.\n",
    .common = "output function all",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "In the file, `# monitorch: on` and `# monitorch: off` select code to the end of\n"
    "a block, and `monitorch.lines(10, 40)` selects lines.\n"
    "\n"
    "Examples:\n"
    "  monitorch-instrument model.py -o model_traced.py\n"
    "  monitorch-instrument --function 'Attention.*' --lines 10-40 model.py -o out.py\n"
    "  monitorch-instrument --all -r src -d build/traced -j 4\n"
    "  monitorch-instrument --list model.py\n"
    "  monitorch-instrument --strip model_traced.py -o model.py\n"
    "\n"
    "Exit codes: 0 done; 1 a check failed; 2 wrong usage; 3 an input could not be\n"
    "read or instrumented, or an output could not be written (the other files were\n"
    "written).\n",
};
/* clang-format on */

static const char *const mode_words[] = {
    [MODE_STRIP] = "--strip",   [MODE_CHECK] = "--check",   [MODE_LIST] = "--list",
    [MODE_UPDATE] = "--update", [MODE_REFUSE] = "--refuse",
};

/* Whether the command line has --help or --version, which override everything else. */
static bool is_answered(const struct options *options)
{
    return options->mode == MODE_HELP || options->mode == MODE_VERSION;
}

static bool set_mode(struct options *options, enum mode mode, struct error *error)
{
    if (options->mode != MODE_INSTRUMENT && options->mode != mode) {
        error_set(error, ERROR_USAGE, "%s and %s exclude each other",
                  mode_words[options->mode], mode_words[mode]);
        return false;
    }
    options->mode = mode;
    return true;
}

static bool set_jobs(struct options *options, const char *argument, struct error *error)
{
    char *end;
    unsigned long count = strtoul(argument, &end, 10);

    if (argument[0] < '0' || argument[0] > '9' || *end != '\0' || count > 1024) {
        error_set(error, ERROR_USAGE, "-j %s: expected a number from 0 to 1024",
                  argument);
        return false;
    }
    options->job_count = count;
    return true;
}

static bool set_once(const char **place,
                     const char *argument,
                     const char *word,
                     struct error *error)
{
    if (*place != NULL) {
        error_set(error, ERROR_USAGE, "%s given twice", word);
        return false;
    }
    *place = argument;
    return true;
}

static bool select_with(struct options *options,
                        enum option_id id,
                        const char *argument,
                        struct error *error)
{
    struct selection *selection = &options->selection;
    struct arena *arena = &options->arena;

    options->has_selection = true;
    switch (id) {
    case OPTION_ALL:
        selection->everything = true;
        return true;
    case OPTION_FORWARD:
        selection->forward = true;
        return true;
    case OPTION_EVERY_LINE:
        selection->every_line = true;
        return true;
    case OPTION_FUNCTION:
        return function_glob_add(selection, slice_of(argument), arena, error);
    case OPTION_LINES:
        return line_range_add(selection, slice_of(argument), arena, error);
    default:
        break;
    }
    if (!globs_add(&selection->spy_names, &selection->spy_count, slice_of(argument),
                   arena, error)) {
        return false;
    }
    if (selection->spy_count == 0) {
        error_set(error, ERROR_USAGE, "--spy %s: expected names, such as q,k,v or '*'",
                  argument);
        return false;
    }
    return true;
}

/* `argument` is NULL for options without one. */
static bool option_apply(struct options *options,
                         enum option_id id,
                         const char *argument,
                         struct error *error)
{
    switch (id) {
    case OPTION_OUTPUT:
        return set_once(&options->output, argument, "-o", error);
    case OPTION_DIRECTORY:
        return set_once(&options->directory, argument, "-d", error);
    case OPTION_STRIP:
        return set_mode(options, MODE_STRIP, error);
    case OPTION_CHECK:
        return set_mode(options, MODE_CHECK, error);
    case OPTION_LIST:
        return set_mode(options, MODE_LIST, error);
    case OPTION_UPDATE:
        return set_mode(options, MODE_UPDATE, error);
    case OPTION_REFUSE:
        return set_mode(options, MODE_REFUSE, error);
    case OPTION_JOBS:
        return set_jobs(options, argument, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_HELP:
        options->mode = MODE_HELP;
        return true;
    case OPTION_VERSION:
        options->mode = MODE_VERSION;
        return true;
    case OPTION_IN_PLACE:
        options->is_in_place = true;
        return true;
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_RECURSIVE:
        options->is_recursive = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default:
        return select_with(options, id, argument, error);
    }
}

static bool
add_words(struct options *options, int word_count, char **words, struct error *error)
{
    struct arguments arguments;
    struct argument found;

    arguments_init(&arguments, rules, OPTION_COUNT, word_count, words);
    while (!is_answered(options)) {
        if (!arguments_next(&arguments, &found, error)) {
            return false;
        }
        if (found.rule == ARGUMENT_END) {
            return true;
        }
        if (found.rule == ARGUMENT_WORD) {
            options->files[options->file_count++] = found.text;
        } else if (!option_apply(options, (enum option_id)found.rule, found.text,
                                 error)) {
            return false;
        }
    }
    return true;
}

/* Checks the options for outputs: at most one of -o, -d and --in-place, and only in modes that
 * support it. */
static bool check_outputs(const struct options *options, struct error *error)
{
    int ways =
        (options->output != NULL) + (options->directory != NULL) + options->is_in_place;
    bool is_checking = options->mode == MODE_CHECK;
    bool has_output = options->mode <= MODE_CHECK;

    if (ways > 1) {
        return arguments_refuse("-o, -d and --in-place exclude each other", error);
    }
    if (ways > 0 && !has_output) {
        error_set(error, ERROR_USAGE, "%s excludes -o, -d and --in-place",
                  mode_words[options->mode]);
        return false;
    }
    if (is_checking && options->is_in_place) {
        return arguments_refuse("--check --in-place: an output in place has no source "
                                "to compare with, expected -o or -d",
                                error);
    }
    if (options->output != NULL && (options->file_count > 1 || options->is_recursive)) {
        return arguments_refuse("-o is for one file, expected -d DIR for several",
                                error);
    }
    if (ways == 0 && has_output && !is_checking &&
        (options->file_count > 1 || options->is_recursive)) {
        return arguments_refuse("several files need -d DIR or --in-place", error);
    }
    return true;
}

static bool check_standard_input(const struct options *options, struct error *error)
{
    for (size_t i = 0; i < options->file_count; i++) {
        if (strcmp(options->files[i], "-") != 0) {
            continue;
        }
        if (options->directory != NULL || options->is_in_place) {
            return arguments_refuse(
                "standard input has no name, expected -o for its output", error);
        }
        if (options->mode == MODE_UPDATE ||
            (options->mode == MODE_CHECK && options->output == NULL)) {
            return arguments_refuse("standard input has no name, expected files",
                                    error);
        }
        if (options->file_count > 1) {
            return arguments_refuse("standard input (-) excludes other files", error);
        }
    }
    return true;
}

static bool options_check(const struct options *options, struct error *error)
{
    bool selects = options->mode == MODE_INSTRUMENT || options->mode == MODE_CHECK ||
                   options->mode == MODE_LIST;

    if (options->has_selection && !selects) {
        error_set(
            error, ERROR_USAGE,
            "%s excludes --all, --forward, --function, --lines, --every-line and --spy",
            mode_words[options->mode]);
        return false;
    }
    if (options->is_json && options->mode != MODE_LIST) {
        return arguments_refuse("--json needs --list", error);
    }
    /* pre-commit may call it although no file matches */
    if (options->file_count == 0 && options->mode != MODE_UPDATE &&
        options->mode != MODE_REFUSE) {
        return arguments_refuse("no file, expected FILE or -", error);
    }
    return check_outputs(options, error) && check_standard_input(options, error);
}

bool options_parse(struct options *options,
                   int word_count,
                   char **words,
                   struct error *error)
{
    *options = (struct options){.mode = MODE_INSTRUMENT};
    arena_init(&options->arena);
    if (arguments_want(word_count, words, "--help", "-h")) {
        options->mode = MODE_HELP;
        return true;
    }
    if (arguments_want(word_count, words, "--version", "-V")) {
        options->mode = MODE_VERSION;
        return true;
    }
    options->files =
        arena_allocate(&options->arena, (size_t)word_count + 1, sizeof *options->files);
    if (options->files == NULL) {
        return error_set_memory(error);
    }
    if (!add_words(options, word_count, words, error)) {
        return false;
    }
    if (is_answered(options)) {
        return true;
    }
    if (!options_check(options, error)) {
        return false;
    }
    if (selection_is_empty(&options->selection)) {
        options->selection.forward = true;
    }
    return true;
}

void options_release(struct options *options)
{
    arena_release(&options->arena);
}
