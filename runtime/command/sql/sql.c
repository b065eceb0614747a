/* `monitorch sql`: traces asked in SQL. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/sql/options.h"
#include "runtime/command/sql/prompt.h"
#include "runtime/command/sql/run.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/walk/trace_list.h"

#include <string.h>
#include <unistd.h>

#define NAME "sql"
/* No query is as long. */
#define QUERY_LIMIT (64 * 1024 * 1024)

static enum exit_code print_schema(const struct sql_options *options)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    sql_schema_add(&text, NULL, color_is_wanted(options->color, STDOUT_FILENO));
    if (text.has_failed) {
        print_message("", "out of memory");
    }
    is_done = !text.has_failed && output_print(buffer_slice(&text));
    buffer_release(&text);
    return is_done ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;
}

static void report_remarks(const struct sql_options *options,
                           struct sql_session *session)
{
    for (size_t i = 0; i < options->traces.count && !options->is_quiet; i++) {
        trace_report_remarks(options->traces.words[i], sql_session_header(session, i),
                             false, "queried");
    }
}

/* Queries from a file, or from what standard input says. */
static enum exit_code run_file(struct sql_run *run, const char *path)
{
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;
    enum exit_code exit_code;
    bool is_read =
        path == NULL || strcmp(path, "-") == 0
            ? file_read_descriptor(STDIN_FILENO, "<stdin>", QUERY_LIMIT, &text, &error)
            : file_read(path, QUERY_LIMIT, &text, &error);

    if (is_read) {
        exit_code = sql_run_text(run, buffer_slice(&text));
    } else {
        print_message("", error.text);
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    buffer_release(&text);
    return exit_code;
}

static enum exit_code ask(const struct sql_options *options,
                          struct sql_session *session)
{
    struct sql_run run;
    enum exit_code exit_code;
    bool is_damaged;

    sql_run_init(&run, options, session);
    /* What is wrong with the definitions is known from the beginning. */
    is_damaged = sql_run_report_damage(&run);
    report_remarks(options, session);
    if (options->query != NULL) {
        exit_code = sql_run_text(&run, slice_of(options->query));
    } else if (options->query_file == NULL && isatty(STDIN_FILENO)) {
        exit_code = sql_prompt(&run);
    } else {
        exit_code = run_file(&run, options->query_file);
    }
    return is_damaged ? EXIT_CODE_INPUT_FAILED : exit_code;
}

static bool find_traces(const struct sql_options *options,
                        struct trace_list *list,
                        struct error *error)
{
    for (size_t i = 0; i < options->traces.count; i++) {
        if (!trace_list_add(list, options->traces.words[i], error)) {
            return false;
        }
    }
    return true;
}

/* Of all traces that the words stand for. */
static enum exit_code open_and_ask(const struct sql_options *options)
{
    struct error error = ERROR_INIT;
    struct sql_options found = *options;
    struct sql_session *session = NULL;
    struct trace_list list;
    struct arena arena;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    arena_init(&arena);
    trace_list_init(&list, &arena);
    if (find_traces(options, &list, &error)) {
        found.traces = (struct trace_words){list.paths, list.count};
        session = sql_session_new(list.paths, list.count, strip_source, &error);
    }
    if (session == NULL) {
        print_message("", error.text);
    } else {
        exit_code = ask(&found, session);
        sql_session_free(session);
    }
    trace_list_release(&list);
    arena_release(&arena);
    return exit_code;
}

enum exit_code sql_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct sql_options options;
    enum exit_code exit_code;

    if (!sql_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else if (options.is_schema) {
        exit_code = print_schema(&options);
    } else {
        exit_code = open_and_ask(&options);
    }
    sql_options_release(&options);
    return exit_code;
}
