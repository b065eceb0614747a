/* What the command line of `monitorch export` asks for. */
#include "runtime/command/export/options.h"

#include "runtime/base/file/file.h"
#include "runtime/base/nearest_name.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/subcommand.h"

#include <assert.h>
#include <string.h>

#define TABLE_OF_OPTIONS "runtime/command/export/options.def"
#include "runtime/base/arguments/option_rules.h"

/* A line of the text is a line here. */
/* clang-format off */
const struct help export_help = {
    .usage =
        "monitorch export TRACE... FORMAT... [options]",
    .purpose =
    "Writes a trace for other tools. Several formats can be written at once.\n\n"
    "Without a FILE, or with `-`, a format is written to standard output. A FILE may\n"
    "also follow after a blank if it ends in .csv or .jsonl, and a FOLDER if it\n"
    "exists or ends in /. An existing file is replaced once the new one is complete.\n",
    .common = "csv perfetto annotate",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch export run.mtrace --csv | head\n"
    "  monitorch export run.mtrace --csv=nan.csv --nan --columns seq,file,line,nan\n"
    "  monitorch export rank0.mtrace rank1.mtrace --perfetto ranks.json\n"
    "  monitorch export run.mtrace --annotate --file model.py | less\n"
    "\n"
    "Exit codes: 0 done; 1 no such event; 2 wrong usage; 3 a trace could not be read,\n"
    "or only in part (the readable part is written), or a file could not be written.\n",
};
/* clang-format on */

/* ---- formats that need no file's name ---- */

/* Whether the word behind `--csv` and the like is where it goes to, and no trace. */
static bool is_destination(enum option_id id, const char *word)
{
    struct slice text = slice_of(word);

    if (strcmp(word, "-") == 0) {
        return true;
    }
    switch (id) {
    case OPTION_CSV:
        return slice_ends(text, SLICE(".csv"));
    case OPTION_JSONL:
        return slice_ends(text, SLICE(".jsonl")) || slice_ends(text, SLICE(".json")) ||
               slice_ends(text, SLICE(".ndjson"));
    default:
        return slice_ends(text, SLICE("/")) || file_inspect(word).is_directory;
    }
}

/* NULL where memory ran out. */
static char *join(struct arena *arena, const char *option, const char *destination)
{
    size_t size = strlen(option) + 1 + strlen(destination) + 1;
    char *word = arena_allocate(arena, size, 1);

    if (word != NULL) {
        memcpy(word, option, strlen(option));
        word[strlen(option)] = '=';
        memcpy(word + strlen(option) + 1, destination, strlen(destination) + 1);
    }
    return word;
}

static int find_optional(const char *word)
{
    static const enum option_id optional[] = {OPTION_CSV, OPTION_JSONL,
                                              OPTION_ANNOTATE};

    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (strncmp(word, "--", 2) == 0 &&
            strcmp(word + 2, rules[optional[i]].text) == 0) {
            return (int)optional[i];
        }
    }
    return -1;
}

/* `--csv` alone is `--csv=-`: then all formats take what is behind the `=`. NULL where memory ran
 * out. */
static char **complete(struct arena *arena, int word_count, char **words, int *count)
{
    char **completed = arena_allocate(arena, (size_t)word_count, sizeof *completed);
    bool is_behind_options = false;

    *count = 0;
    for (int i = 0; completed != NULL && i < word_count; i++) {
        int id = is_behind_options ? -1 : find_optional(words[i]);
        bool is_followed = id >= 0 && i + 1 < word_count &&
                           is_destination((enum option_id)id, words[i + 1]);

        is_behind_options = is_behind_options || strcmp(words[i], "--") == 0;
        completed[*count] =
            id < 0 ? words[i] : join(arena, words[i], is_followed ? words[i + 1] : "-");
        if (completed[(*count)++] == NULL) {
            return NULL;
        }
        i += is_followed;
    }
    return completed;
}

/* ---- columns ---- */

static bool
add_column(struct export_options *options, struct slice name, struct error *error)
{
    const char *names[EVENT_COLUMN_COUNT];
    char word[40];
    const char *nearest;

    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        names[i] = event_columns[i].name;
        if (!slice_equal(name, slice_of(names[i]))) {
            continue;
        }
        for (size_t k = 0; k < options->column_count; k++) {
            if (options->columns[k] == (enum event_column)i) {
                error_set(error, ERROR_USAGE, "--columns: %s is named twice", names[i]);
                return false;
            }
        }
        options->columns[options->column_count++] = (enum event_column)i;
        return true;
    }
    if (name.size >= sizeof word) {
        name.size = sizeof word - 1;
    }
    memcpy(word, name.bytes, name.size);
    word[name.size] = '\0';
    nearest = nearest_name(word, names, EVENT_COLUMN_COUNT);
    error_set(error, ERROR_USAGE, "--columns: no column `%s`%s%s%s", word,
              nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
              nearest == NULL ? "" : "?");
    return false;
}

static bool
read_columns(struct export_options *options, struct slice text, struct error *error)
{
    size_t start = 0;

    options->column_count = 0;
    while (start <= text.size) {
        size_t end = slice_find(text, SLICE(","), start);

        if (!add_column(options, slice_part(text, start, end), error)) {
            return false;
        }
        start = end + 1;
    }
    return true;
}

/* ---- all options ---- */

static bool read_format(struct export_options *options,
                        enum option_id id,
                        const char *argument,
                        struct error *error)
{
    if (options->paths[id - OPTION_CSV] != NULL) {
        error_set(error, ERROR_USAGE, "--%s was given twice", rules[id].text);
        return false;
    }
    options->paths[id - OPTION_CSV] = argument;
    return true;
}

/* For struct argument_taker. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct export_options *options = context;

    switch (id) {
    case OPTION_CSV:
    case OPTION_JSONL:
    case OPTION_PERFETTO:
    case OPTION_ANNOTATE:
    case OPTION_SQLITE:
        return read_format(options, id, argument, error);
    case OPTION_COLUMNS:
        return read_columns(options, slice_of(argument), error);
    case OPTION_EDGES:
        options->has_edges = true;
        return true;
    case OPTION_FORCE:
        options->is_forced = true;
        return true;
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default: /* those that choose events; --help and --version were answered before */
        return event_filter_process(&options->filter, rules[id].text, argument, NULL,
                                    error);
    }
}

static bool check_outputs(const struct export_options *options, struct error *error)
{
    static const char *const names[] = {"--csv", "--jsonl", "--perfetto", "--annotate",
                                        "--sqlite"};
    struct output_file outputs[EXPORT_FORMAT_COUNT];

    static_assert(sizeof names / sizeof *names == EXPORT_FORMAT_COUNT, "");
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        outputs[i] = (struct output_file){names[i], options->paths[i]};
    }
    return output_files_check(outputs, EXPORT_FORMAT_COUNT, options->traces.words,
                              options->traces.count, error);
}

static bool check_database(const struct export_options *options, struct error *error)
{
    if (options->paths[EXPORT_SQLITE] == NULL) {
        return (!options->has_edges && !options->is_forced) ||
               arguments_refuse("--edges and --force need --sqlite", error);
    }
    if (strcmp(options->paths[EXPORT_SQLITE], "-") == 0) {
        return arguments_refuse("--sqlite -: a database needs a file", error);
    }
    if (!event_filter_is_empty(&options->filter)) {
        return arguments_refuse("--sqlite writes all events: choose some in the "
                                "database, by `select … where`",
                                error);
    }
    return true;
}

static bool check(const struct export_options *options, struct error *error)
{
    bool has_format = false;

    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        has_format = has_format || options->paths[i] != NULL;
    }
    if (options->traces.count == 0) {
        return trace_words_refuse_none(error);
    }
    if (!has_format) {
        return arguments_refuse("no format, expected --csv, --jsonl, --perfetto FILE, "
                                "--sqlite FILE or --annotate",
                                error);
    }
    if (options->paths[EXPORT_CSV] == NULL &&
        options->column_count < EVENT_COLUMN_COUNT) {
        return arguments_refuse("--columns needs --csv", error);
    }
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (options->is_json && options->paths[i] != NULL &&
            strcmp(options->paths[i], "-") == 0) {
            return arguments_refuse("--json needs a file for each format, such as "
                                    "--csv=events.csv",
                                    error);
        }
    }
    return check_database(options, error) && check_outputs(options, error);
}

bool export_options_read(struct export_options *options,
                         int word_count,
                         char **words,
                         struct error *error)
{
    *options = (struct export_options){.column_count = EVENT_COLUMN_COUNT};
    for (int i = 0; i < EVENT_COLUMN_COUNT; i++) {
        options->columns[i] = (enum event_column)i;
    }
    event_filter_init(&options->filter);
    arena_init(&options->arena);
    words = complete(&options->arena, word_count, words, &word_count);
    if (words == NULL) {
        return error_set_memory(error);
    }
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            option_apply, options, error) &&
           check(options, error);
}

void export_options_release(struct export_options *options)
{
    event_filter_release(&options->filter);
    arena_release(&options->arena);
    trace_words_release(&options->traces);
}
