/* Running queries for `monitorch sql`: the session, its output and its messages. */
#include "runtime/command/sql/run.h"

#include "runtime/base/file/output.h"
#include "runtime/base/nearest_name.h"
#include "runtime/base/utf8.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME     "sql"
#define NAME_MAX 128
/* Of a line of a query that is shown under its error, in characters before the place. */
#define CONTEXT 60

static bool write_text(void *context, struct slice text)
{
    struct sql_run *run = context;

    run->has_failed = !output_print(text) || run->has_failed;
    return !run->has_failed;
}

void sql_run_init(struct sql_run *run,
                  const struct sql_options *options,
                  struct sql_session *session)
{
    bool is_terminal = isatty(STDOUT_FILENO) != 0;

    *run = (struct sql_run){.options = options, .session = session};
    run->print = (struct sql_print){
        .format = options->has_format ? options->format
                  : is_terminal       ? SQL_TABLE
                                      : SQL_TABS,
        .has_header = !options->has_no_header,
        .has_color = color_is_wanted(options->color, STDOUT_FILENO),
        .is_terminal = is_terminal,
        .width = output_width(),
        .max_rows = options->max_rows,
        .write = write_text,
        .context = run,
    };
}

/* ---- messages ---- */

/* The name that was meant, or NULL. */
static const char *find_meant(const char *unknown)
{
    const char *names[NAME_MAX];
    int count = 0;

    if (unknown[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; count < NAME_MAX && sql_schema_name(i) != NULL; i++) {
        names[count++] = sql_schema_name(i);
    }
    return nearest_name(unknown, names, count);
}

/* The line of the query with the place under it. */
static void add_place(struct buffer *text, struct slice query, size_t offset)
{
    size_t start = offset;
    size_t end = offset;
    struct slice before;

    while (start > 0 && query.bytes[start - 1] != '\n' && offset - start < CONTEXT) {
        start--;
    }
    while (start < offset && ((unsigned char)query.bytes[start] & 0xC0) == 0x80) {
        start++;
    }
    while (end < query.size && query.bytes[end] != '\n' && end - offset < CONTEXT) {
        end++;
    }
    end = start + utf8_cut(slice_part(query, start, query.size), end - start);
    before = slice_part(query, start, offset);
    buffer_add(text, SLICE("    "));
    buffer_add_printable(text, slice_part(query, start, end));
    buffer_add_format(text, "\n    %*s^\n", (int)utf8_count(before), "");
}

static enum exit_code report_problem(struct sql_run *run,
                                     struct slice query,
                                     const struct sql_problem *problem,
                                     const struct error *error)
{
    struct error whole = *error;
    struct buffer text = BUFFER_INIT;
    const char *meant;

    if (problem->is_interrupted) {
        print_message("", "interrupted");
        return EXIT_CODE_DONE;
    }
    if (error->kind != ERROR_USAGE) {
        print_message("", error->text);
        return EXIT_CODE_INPUT_FAILED;
    }
    meant = find_meant(problem->unknown);
    error_set(&whole, ERROR_INPUT, "%s%s%s%s", error->text,
              meant == NULL ? "" : "; did you mean ", meant == NULL ? "" : meant,
              meant == NULL ? "" : "?");
    if (run->is_prompt) {
        print_message("", whole.text);
    } else {
        refuse(NAME, &whole);
    }
    if (problem->has_place) {
        add_place(&text, query, problem->offset);
    }
    if (!run->is_prompt && problem->unknown[0] != '\0') {
        buffer_add(&text,
                   SLICE("`monitorch sql --schema` lists the tables and columns\n"));
    }
    output_print_error(buffer_slice(&text));
    buffer_release(&text);
    return EXIT_CODE_USAGE;
}

static void report_count(const struct sql_run *run, const struct sql_result *result)
{
    char line[120];

    if (result->has_more && !run->options->is_quiet) {
        snprintf(line, sizeof line, "%llu rows, and there are more (--max-rows)\n",
                 (unsigned long long)result->row_count);
    } else if (result->has_rows && run->print.format == SQL_TABLE &&
               run->print.is_terminal && isatty(STDERR_FILENO) &&
               !run->options->is_quiet) {
        snprintf(line, sizeof line, "%llu row%s\n",
                 (unsigned long long)result->row_count,
                 result->row_count == 1 ? "" : "s");
    } else {
        return;
    }
    output_print_error(slice_of(line));
}

bool sql_run_report_damage(struct sql_run *run)
{
    bool is_damaged = false;

    for (size_t i = 0; i < run->options->traces.count; i++) {
        const char *damage;

        while ((damage = sql_session_next_damage(run->session, i)) != NULL) {
            print_message(run->options->traces.words[i], damage);
            is_damaged = true;
        }
    }
    return is_damaged;
}

enum exit_code sql_run_text(struct sql_run *run, struct slice text)
{
    struct sql_result result;
    struct sql_problem problem;
    struct error error = ERROR_INIT;
    enum exit_code exit_code = EXIT_CODE_DONE;
    bool is_done =
        sql_session_run(run->session, text, &run->print, &result, &problem, &error);
    bool is_damaged = sql_run_report_damage(run);

    if (!is_done) {
        exit_code = report_problem(run, text, &problem, &error);
    } else {
        report_count(run, &result);
    }
    return is_damaged || run->has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
}
