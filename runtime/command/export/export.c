/* `monitorch export`: writes traces in formats that other tools read. */
#include "runtime/view/sql/export.h"

#include "instrument/output/strip.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/base/nearest_name.h"
#include "runtime/command/export/job.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/list/perfetto_log.h"
#include "runtime/view/words/json_fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the command line ---- */

#define TABLE_OF_OPTIONS "runtime/command/export/options.def"
#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
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

/* ---- formats whose file name may be left out ---- */

static void export_output_release(struct export_output *output);

/* Whether the word after `--csv` and the like is its destination, not a trace. */
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

/* Returns `OPTION=DESTINATION`. NULL: out of memory. */
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

/* Completes options without a destination: `--csv` becomes `--csv=-`, so that all formats have
 * their argument after the `=`. NULL: out of memory. */
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
    default: /* options that choose events; --help and --version were handled before */
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

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case. */
static bool export_options_read(struct export_options *options,
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

static void export_options_release(struct export_options *options)
{
    event_filter_release(&options->filter);
    arena_release(&options->arena);
    trace_words_release(&options->traces);
}

/* ---- outputs: files, or standard output ---- */

static bool is_file(const struct export_output *output)
{
    return strcmp(output->path, "-") != 0;
}

static bool write_text(struct export_output *output, struct error *error)
{
    bool is_written;

    if (output->text.has_failed) {
        export_output_release(output);
        return error_set_memory(error);
    }
    if (is_file(output)) {
        is_written = file_draft_add(&output->draft, buffer_slice(&output->text), error);
    } else {
        *error = ERROR_INIT; /* output_print reports its own */
        is_written = output_print(buffer_slice(&output->text));
    }
    output->text.size = 0;
    if (!is_written) {
        export_output_release(output);
    }
    return is_written;
}

bool export_output_open(struct export_output *output, struct error *error)
{
    if (is_file(output) &&
        !file_draft_open(&output->draft, output->path, FILE_MODE_DEFAULT, error)) {
        return false;
    }
    output->is_open = true;
    return true;
}

bool export_output_flush(struct export_output *output, struct error *error)
{
    return output->text.size < OUTPUT_PIECE || write_text(output, error);
}

static bool export_output_finish(struct export_output *output, struct error *error)
{
    if (!write_text(output, error)) {
        return false;
    }
    output->is_open = false;
    return !is_file(output) || file_draft_finish(&output->draft, error);
}

/* To be called in any case, at the end. */
static void export_output_release(struct export_output *output)
{
    if (output->is_open && is_file(output)) {
        file_draft_abandon(&output->draft);
    }
    output->is_open = false;
    buffer_release(&output->text);
}

#define NAME "export"
/* Traces whose starts are within this many nanoseconds are of one run. */
#define RUN_SPAN ((uint64_t)600 * 1000000000)

/* Finds the start of the earliest trace. Traces of one run keep their distances in time. */
static void find_start(struct export_job *job)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;

    for (size_t i = 0; i < job->options->traces.count; i++) {
        struct error ignored = ERROR_INIT;
        struct log_reader *reader =
            log_reader_new(job->options->traces.words[i], &ignored);

        if (reader != NULL) {
            uint64_t start = log_reader_header(reader)->start_time;

            first = start < first ? start : first;
            last = start > last ? start : last;
            log_reader_free(reader);
        }
    }
    job->start = first;
    job->is_one_run = first <= last && last - first <= RUN_SPAN;
}

static void report_written(const struct export_job *job, const char *path)
{
    char line[80];

    if (!job->options->is_quiet && strcmp(path, "-") != 0 && isatty(STDERR_FILENO)) {
        snprintf(line, sizeof line, "%llu event%s", (unsigned long long)job->matched,
                 job->matched == 1 ? "" : "s");
        print_message(path, line);
    }
}

static void write_annotated(struct export_job *job)
{
    const char *folder = job->options->paths[EXPORT_ANNOTATE];
    struct error error = ERROR_INIT;
    size_t count;
    size_t missing;
    char line[120];

    if (folder == NULL || job->has_failed) {
        return;
    }
    if (!export_annotated(&job->annotation, folder, &count, &missing, &error)) {
        export_job_fail(job, &error);
        return;
    }
    job->is_empty = count == 0 && missing > 0;
    if (missing > 0 && (job->is_empty || !job->options->is_quiet)) {
        snprintf(line, sizeof line,
                 "%s%zu file%s not annotated: the trace does not hold the source",
                 job->is_empty ? "" : "remark: ", missing,
                 missing == 1 ? " is" : "s are");
        print_message("", line);
    }
    if (count > 0) {
        report_written(job, folder);
    }
}

static void finish_outputs(struct export_job *job)
{
    struct buffer *perfetto = export_job_text(job, EXPORT_PERFETTO);
    struct error error = ERROR_INIT;

    if (perfetto != NULL) {
        buffer_add(perfetto, PERFETTO_END);
    }
    for (int i = 0; i < EXPORT_ANNOTATE && !job->has_failed; i++) {
        struct export_output *output = &job->outputs[i];

        if (!output->is_open) {
            continue;
        }
        if (!export_output_finish(output, &error)) {
            export_job_fail(job, &error);
        } else {
            report_written(job, output->path);
        }
    }
}

/* ---- the database, which reads the traces separately ---- */

static bool report_progress(void *context, uint64_t events)
{
    struct export_job *job = context;

    progress_report(&job->progress, "monitorch export: %llu events in the database",
                    events);
    return true;
}

static void report_damage(void *context, const char *trace, const char *message)
{
    struct export_job *job = context;

    progress_clear(&job->progress);
    print_message(trace, message);
}

static enum exit_code write_database(struct export_job *job, bool is_alone)
{
    const struct export_options *options = job->options;
    struct sql_export_options how = {
        .has_edges = options->has_edges,
        .is_forced = options->is_forced,
        .progress = report_progress,
        .damage = is_alone ? report_damage : NULL, /* else export_trace reports it */
        .context = job,
    };
    struct sql_export_result result = {0};
    struct error error = ERROR_INIT;
    bool is_done =
        export_sqlite(options->traces.words, options->traces.count, strip_source, &how,
                      options->paths[EXPORT_SQLITE], &result, &error);

    progress_clear(&job->progress);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        export_job_fail(job, &error);
        return EXIT_CODE_INPUT_FAILED;
    }
    job->seen = result.event_count;
    job->matched = result.event_count;
    report_written(job, options->paths[EXPORT_SQLITE]);
    return result.damage_count > 0 ? EXIT_CODE_INPUT_FAILED : EXIT_CODE_DONE;
}

/* ---- all formats ---- */

static bool has_other_formats(const struct export_options *options)
{
    for (int i = 0; i < EXPORT_SQLITE; i++) {
        if (options->paths[i] != NULL) {
            return true;
        }
    }
    return false;
}

static enum exit_code export_others(struct export_job *job)
{
    const struct export_options *options = job->options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (options->paths[EXPORT_PERFETTO] != NULL && options->traces.count > 1) {
        find_start(job);
    }
    for (size_t i = 0; i < options->traces.count && !job->has_failed; i++) {
        exit_code =
            exit_code_worse(exit_code, export_trace(job, options->traces.words[i]));
    }
    if (job->trace_count > 0 && !job->has_failed) {
        finish_outputs(job);
        write_annotated(job);
    }
    return exit_code;
}

static const char *why_nothing(const struct export_job *job)
{
    return job->seen > 0 ? "no event matches" : "has no events";
}

static void add_files(const struct export_options *options, struct buffer *text)
{
    static const char *const names[] = {"csv", "jsonl", "perfetto", "annotate",
                                        "sqlite"};
    bool is_first = true;

    static_assert(sizeof names / sizeof *names == EXPORT_FORMAT_COUNT, "");
    json_key_add(text, SLICE("files"));
    buffer_add_byte(text, '[');
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (options->paths[i] != NULL) {
            buffer_add(text,
                       is_first ? SLICE("{\"format\":\"") : SLICE(",{\"format\":\""));
            buffer_add(text, slice_of(names[i]));
            buffer_add_byte(text, '"');
            json_text_add(text, SLICE("file"), slice_of(options->paths[i]));
            buffer_add_byte(text, '}');
            is_first = false;
        }
    }
    buffer_add_byte(text, ']');
}

/* Prints the answer of --json. Returns false if it cannot be printed. */
static bool print_json(const struct export_job *job)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    buffer_add(&text, SLICE("{\"record\":\"export\""));
    json_number_add(&text, SLICE("traces"), job->options->traces.count);
    json_number_add(&text, SLICE("events"), job->seen);
    json_number_add(&text, SLICE("written"), job->matched);
    add_files(job->options, &text);
    if (job->matched == 0) {
        json_text_add(&text, SLICE("message"), slice_of(why_nothing(job)));
    }
    buffer_add(&text, SLICE("}\n"));
    is_done = !text.has_failed && output_print(buffer_slice(&text));
    buffer_release(&text);
    return is_done;
}

static enum exit_code export_all(struct export_job *job)
{
    const struct export_options *options = job->options;
    bool has_others = has_other_formats(options);
    enum exit_code exit_code = has_others ? export_others(job) : EXIT_CODE_DONE;

    if (options->paths[EXPORT_SQLITE] != NULL && !job->has_failed) {
        exit_code = exit_code_worse(exit_code, write_database(job, !has_others));
    }
    if (job->has_failed || (options->is_json && !print_json(job))) {
        return EXIT_CODE_INPUT_FAILED;
    }
    if (job->matched == 0 && exit_code == EXIT_CODE_DONE) {
        print_message(options->traces.count == 1 ? options->traces.words[0] : "",
                      why_nothing(job));
        for (size_t i = 0; i < (size_t)options->traces.count; i++) {
            print_nearest(options->traces.words[i], &options->filter);
        }
        return EXIT_CODE_CHECK_FAILED;
    }
    return job->is_empty && exit_code == EXIT_CODE_DONE ? EXIT_CODE_CHECK_FAILED
                                                        : exit_code;
}

static enum exit_code run(const struct export_options *options)
{
    struct export_job job = {.options = options};
    struct error error = ERROR_INIT;
    enum exit_code exit_code;

    annotation_init(&job.annotation);
    progress_init(&job.progress, options->is_quiet);
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        job.outputs[i].path = options->paths[i];
    }
    job.processes = memory_allocate(options->traces.count, sizeof *job.processes);
    if (job.processes == NULL) {
        error_set_memory(&error);
        export_job_fail(&job, &error);
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else {
        exit_code = export_all(&job);
    }
    for (int i = 0; i < EXPORT_ANNOTATE; i++) {
        export_output_release(&job.outputs[i]);
    }
    annotation_release(&job.annotation);
    memory_free(job.processes);
    return exit_code;
}

enum exit_code export_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct export_options options;
    enum exit_code exit_code;

    if (!export_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = run(&options);
    }
    export_options_release(&options);
    return exit_code;
}
