/* `monitorch sql`: runs SQL queries on traces. */
#include "instrument/output/strip.h"
#include "runtime/base/arguments/exit_code.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/interrupt.h"
#include "runtime/base/file/output.h"
#include "runtime/base/nearest_name.h"
#include "runtime/base/utf8.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/sql/print.h"
#include "runtime/view/sql/session.h"
#include "runtime/view/walk/trace_list.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_OF_OPTIONS "runtime/command/sql/options.def"
struct sql_options {
#include "runtime/base/arguments/option_fields.h"
    const char *query;      /* borrowed from the command line; may be NULL */
    const char *query_file; /* the same; "-": standard input; may be NULL */
    bool has_format;
    enum sql_format format;
    uint64_t max_rows; /* UINT64_MAX: all */
    enum color color;
    struct trace_words traces; /* owned */
};

struct sql_run {
    const struct sql_options *options; /* borrowed */
    struct sql_session *session;       /* borrowed */
    struct sql_print print;
    bool is_prompt;
    bool has_failed; /* the output could not be written */
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help sql_help = {
    .usage =
        "monitorch sql [options] TRACE... [QUERY]",
    .purpose =
    "Queries traces in SQL (the dialect of SQLite). The tables are read from the\n"
    "traces during the query: nothing is imported, no trace is changed.\n\n"
    "Tables (--schema lists their columns):\n"
    "  events   one row for each recorded value: seq, kind, name, file, line,\n"
    "           function, module, dtype, shape, min, max, mean, std, nan, hash ...\n"
    "  sites    the places of the source that were recorded\n"
    "  calls    calls of recorded functions: function, module, parent, time ...\n"
    "  edges    which value was made from which: source and target are `seq`\n"
    "Several traces share the tables; the column `trace` holds the file's name.\n\n"
    "QUERY is a word with a blank in it, or the last word if it is no file. Without a\n"
    "QUERY a terminal gets a prompt; otherwise the query is read from standard input.\n",
    .common = "csv json schema",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch sql run.mtrace \"select count(*), max(absmax) from events\"\n"
    "  monitorch sql run.mtrace 'select file, line, name, shape from events limit 9'\n"
    "  monitorch sql run.mtrace 'select s.code, count(*) from events e join sites s\n"
    "                            using (site) group by s.site order by 2 desc'\n"
    "  monitorch sql --csv rank*.mtrace 'select trace, seq, mean from events' > m.csv\n"
    "\n"
    "Exit codes: 0 done; 2 wrong usage, or SQLite refused the query; 3 a trace could\n"
    "not be read, or only in part (the readable rows are printed).\n",
};
/* clang-format on */

static bool
set_format(struct sql_options *options, enum sql_format format, struct error *error)
{
    if (options->has_format && options->format != format) {
        return arguments_refuse("--table, --csv and --json exclude each other", error);
    }
    options->has_format = true;
    options->format = format;
    return true;
}

static bool
set_file(struct sql_options *options, const char *argument, struct error *error)
{
    if (options->query_file != NULL) {
        return arguments_refuse("two queries, expected one", error);
    }
    options->query_file = argument;
    return true;
}

/* Applies an option. `argument` is NULL for options without one. */
static bool option_apply(struct sql_options *options,
                         enum option_id id,
                         const char *argument,
                         struct error *error)
{
    switch (id) {
#include "runtime/base/arguments/option_cases.h"
    case OPTION_FILE:
        return set_file(options, argument, error);
    case OPTION_CSV:
        return set_format(options, SQL_CSV, error);
    case OPTION_JSON:
        return set_format(options, SQL_JSON, error);
    case OPTION_TABLE:
        return set_format(options, SQL_TABLE, error);
    case OPTION_MAX_ROWS:
        return argument_read_count(&rules[id], argument, 0, UINT64_MAX,
                                   "a number of rows", &options->max_rows, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    default: /* --help and --version were handled before */
        return true;
    }
}

static bool has_blank(const char *word)
{
    return strpbrk(word, " \t\n"
                         ";") != NULL;
}

/* Whether a word is a query: it is not a file, and has a blank or is the last one and does not
 * look like a file's name. */
static bool is_query(const char *word, bool is_last)
{
    if (file_inspect(word).is_there) {
        return false;
    }
    return has_blank(word) || (is_last && strpbrk(word, "/.") == NULL);
}

static bool skip_word(struct sql_options *options,
                      const char *word,
                      bool is_last,
                      struct error *error)
{
    if (strcmp(word, "-") == 0) {
        return set_file(options, word, error);
    }
    if (!is_query(word, is_last && options->traces.count > 0 &&
                            options->query == NULL && options->query_file == NULL)) {
        options->traces.words[options->traces.count++] = word;
        return true;
    }
    if (options->query != NULL) {
        return arguments_refuse(
            "two queries, expected one; join them with `;` in one text", error);
    }
    options->query = word;
    return true;
}

static bool check(const struct sql_options *options, struct error *error)
{
    if (options->query != NULL && options->query_file != NULL) {
        return arguments_refuse("two queries, expected one: a word, or -f FILE", error);
    }
    if (options->traces.count == 0 && !options->is_schema) {
        return trace_words_refuse_none(error);
    }
    return true;
}

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case. */
static bool sql_options_read(struct sql_options *options,
                             int word_count,
                             char **words,
                             struct error *error)
{
    struct arguments arguments;
    struct argument found;
    struct argument before = {ARGUMENT_END, NULL};

    *options = (struct sql_options){.max_rows = UINT64_MAX};
    if (!trace_words_init(&options->traces, word_count, error)) {
        return false;
    }
    arguments_init(&arguments, rules, OPTION_COUNT, word_count, words);
    /* A word is handled one step later, when it is known whether another one follows. */
    do {
        if (!arguments_next(&arguments, &found, error)) {
            return false;
        }
        if (found.rule >= 0) {
            if (!option_apply(options, (enum option_id)found.rule, found.text, error)) {
                return false;
            }
            continue;
        }
        if (before.rule == ARGUMENT_WORD &&
            !skip_word(options, before.text, found.rule == ARGUMENT_END, error)) {
            return false;
        }
        before = found;
    } while (found.rule != ARGUMENT_END);
    return check(options, error);
}

static void sql_options_release(struct sql_options *options)
{
    trace_words_release(&options->traces);
}

/* ---- a run of queries: the session, its output and its messages ---- */

#define NAME     "sql"
#define NAME_MAX 128
/* Most characters of a query that are shown before the place of an error. */
#define CONTEXT 60

static bool write_text(void *context, struct slice text)
{
    struct sql_run *run = context;

    run->has_failed = !output_print(text) || run->has_failed;
    return !run->has_failed;
}

static void sql_run_init(struct sql_run *run,
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

/* Returns the known name that is nearest to the unknown one, or NULL. */
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

/* Adds the line of the query with a mark under the place. */
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

/* Reports damage that was found since the last report. Returns true if there is some. */
static bool sql_run_report_damage(struct sql_run *run)
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

/* Runs the queries of the text; prints their results and errors. */
static enum exit_code sql_run_text(struct sql_run *run, struct slice text)
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

/* ---- the prompt of `monitorch sql` ---- */

static const char prompt_first[] = "sql> ";
static const char prompt_more[] = "...> ";

struct prompt {
    struct sql_run *run;    /* borrowed */
    struct buffer input;    /* owned; read, and not processed yet */
    struct buffer query;    /* owned; its lines so far */
    atomic_bool is_running; /* a query is running */
    atomic_bool is_cleared; /* Ctrl-C was pressed: drop the query's lines so far */
    bool is_at_end;         /* standard input has ended */
};

/* ---- Ctrl-C ---- */

static bool handle_signal(void *context, int signal_number)
{
    struct prompt *prompt = context;

    if (signal_number != SIGINT) {
        return false;
    }
    if (atomic_load(&prompt->is_running)) {
        sql_session_interrupt(prompt->run->session);
        return true;
    }
    /* The terminal has already dropped the text of the current line. */
    atomic_store(&prompt->is_cleared, true);
    output_print(SLICE("\n"));
    output_print(slice_of(prompt_first));
    return true;
}

/* ---- lines ---- */

/* Reads the next line with its line end into `line`. Returns false at the end of the input, or
 * if memory ran out. */
static bool read_line(struct prompt *prompt, struct buffer *line)
{
    char bytes[4096];

    line->size = 0;
    for (;;) {
        struct slice input = buffer_slice(&prompt->input);
        size_t end = slice_find(input, SLICE("\n"), 0);
        ssize_t size;

        if (end < input.size || (prompt->is_at_end && input.size > 0)) {
            end = end < input.size ? end + 1 : end;
            buffer_add(line, slice_part(input, 0, end));
            memmove(prompt->input.bytes, prompt->input.bytes + end, input.size - end);
            prompt->input.size -= end;
            return !line->has_failed;
        }
        if (prompt->is_at_end) {
            return false;
        }
        size = read(STDIN_FILENO, bytes, sizeof bytes);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        prompt->is_at_end = size <= 0;
        buffer_add_bytes(&prompt->input, bytes, size > 0 ? (size_t)size : 0);
        if (prompt->input.has_failed) {
            return false;
        }
    }
}

/* ---- commands ---- */

static const char help_text[] =
    "A query ends with a semicolon, and may have several lines:\n"
    "    select file, line, name, nan from events where nan > 0 limit 5;\n"
    "Commands, each on a line of its own:\n"
    "    .tables         print the names of the tables\n"
    "    .schema TABLE   print the columns of one table, or of all\n"
    "    .help           print this text\n"
    "    .quit           leave the prompt, as Ctrl-D does\n"
    "Ctrl-C stops a running query, and drops the typed text.\n";

static void print_tables(const struct prompt *prompt, const char *name)
{
    struct buffer text = BUFFER_INIT;

    if (sql_schema_add(&text, name, prompt->run->print.has_color)) {
        output_print(buffer_slice(&text));
    } else {
        print_message("", "no such table; .schema prints them all");
    }
    buffer_release(&text);
}

/* Runs a line that begins with a point. Returns false to end the prompt. */
static bool run_command(const struct prompt *prompt, char *line)
{
    char *rest = NULL;
    char *word = strtok_r(line,
                          " \t\r\n"
                          ";",
                          &rest);
    const char *argument = strtok_r(NULL,
                                    " \t\r\n"
                                    ";",
                                    &rest);

    if (word == NULL) {
        return true;
    }
    if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0) {
        return false;
    }
    if (strcmp(word, ".help") == 0) {
        print_text(help_text);
    } else if (strcmp(word, ".tables") == 0) {
        print_text("events  sites  calls  edges  steps  parameters\n");
    } else if (strcmp(word, ".schema") == 0) {
        print_tables(prompt, argument);
    } else {
        print_message(word, "no such command; .help lists them");
    }
    return true;
}

/* ---- the loop ---- */

static void run_query(struct prompt *prompt)
{
    struct slice query = buffer_slice(&prompt->query);

    query.size--; /* without the NUL at its end */
    atomic_store(&prompt->is_running, true);
    sql_run_text(prompt->run, query);
    atomic_store(&prompt->is_running, false);
    prompt->query.size = 0;
}

/* Handles a line. Returns false to end the prompt. */
static bool next_line(struct prompt *prompt, struct buffer *line)
{
    if (atomic_exchange(&prompt->is_cleared, false)) {
        prompt->query.size = 0;
    }
    if (prompt->query.size == 0 && line->bytes[0] == '.') {
        buffer_add_byte(line, '\0');
        return line->has_failed || run_command(prompt, line->bytes);
    }
    buffer_add(&prompt->query, buffer_slice(line));
    buffer_add_byte(&prompt->query, '\0');
    if (prompt->query.has_failed) {
        return false;
    }
    if (sql_is_blank(prompt->query.bytes)) {
        prompt->query.size = 0;
    } else if (sql_is_complete(prompt->query.bytes)) {
        run_query(prompt);
    } else {
        prompt->query.size--; /* without the NUL at its end */
    }
    return true;
}

/* Reads queries from standard input, a terminal, until its end or `.quit`. */
static enum exit_code sql_prompt(struct sql_run *run)
{
    struct prompt prompt = {.run = run};
    struct buffer line = BUFFER_INIT;
    bool is_out_of_memory;

    run->is_prompt = true;
    interrupt_ask(handle_signal, &prompt);
    print_text("Tables: events, sites, calls, edges, steps, parameters. "
               "A query ends with `;`. "
               ".schema lists the columns, .help the commands.\n");
    do {
        output_print(slice_of(prompt.query.size == 0 ? prompt_first : prompt_more));
    } while (read_line(&prompt, &line) && next_line(&prompt, &line) &&
             !run->has_failed);
    if (prompt.is_at_end) {
        print_text("\n");
    }
    interrupt_ask(NULL, NULL);
    is_out_of_memory =
        line.has_failed || prompt.input.has_failed || prompt.query.has_failed;
    if (is_out_of_memory) {
        print_message("", "out of memory");
    }
    buffer_release(&line);
    buffer_release(&prompt.query);
    buffer_release(&prompt.input);
    return is_out_of_memory || run->has_failed ? EXIT_CODE_INPUT_FAILED
                                               : EXIT_CODE_DONE;
}

/* A longer query is refused. */
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

/* Runs the queries of a file, or of standard input. */
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
    /* Damage of the definitions is known before the first query. */
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

/* Opens all traces that the words name, and runs the queries. */
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
