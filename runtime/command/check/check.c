/* `monitorch check`: finds values in traces that must not occur. */
#include "runtime/view/check/check.h"
#include "instrument/instrument.h"
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/check/report.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define TABLE_OF_OPTIONS "runtime/command/check/options.def"
struct check_options {
#include "runtime/base/arguments/option_fields.h"
    struct check_rules rules; /* owned */
    enum check_format format;
    enum color color;
    struct trace_words traces; /* owned */
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help check_help = {
    .usage =
        "monitorch check [checks] [options] TRACE...",
    .purpose =
    "Checks that traces hold no NaN, no infinity and no other value that must not\n"
    "occur. Prints the first finding with its line, then all findings by line. The\n"
    "exit code is 1 if a check failed.\n",
    .common = "no-nan max-abs shape",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The first line is for editors and scripts: FILE:LINE: NAME: FINDING\n\n"
    "Examples:\n"
    "  monitorch check run.mtrace\n"
    "  monitorch check --dtype float32 --dtype bfloat16 --max-abs 1e4 run.mtrace\n"
    "  monitorch check --shape x=B,T,64 --shape 'weights=B,_,T,T' run.mtrace\n"
    "  monitorch check --format sarif run.mtrace > monitorch.sarif\n\n"
    "Exit codes: 0 all checks passed; 1 a check failed, or there was nothing to\n"
    "check; 2 wrong usage; 3 a trace could not be read, or only in part (the readable\n"
    "part was checked).\n",
};
/* clang-format on */

/* Adds the check that the option asks for. */
static bool add_check(struct check_options *options,
                      enum option_id id,
                      const char *argument,
                      struct error *error)
{
    bool *is_wanted = options->rules.is_wanted;

    switch (id) {
    case OPTION_NO_NAN:
        is_wanted[CHECK_NAN] = true;
        return true;
    case OPTION_NO_INF:
        is_wanted[CHECK_INF] = true;
        return true;
    case OPTION_MAX_ABS:
        is_wanted[CHECK_MAX_ABS] = true;
        return argument_read_number(&rules[id], argument, 0, DBL_MAX,
                                    "a number from 0 on, such as 1e4",
                                    &options->rules.max_abs, error);
    case OPTION_DTYPE:
        return check_rules_add_dtype(&options->rules, slice_of(argument), error);
    case OPTION_SHAPE:
        return check_rules_add_shape(&options->rules, slice_of(argument), error);
    case OPTION_MAX_GRAD_NORM:
        is_wanted[CHECK_GRAD_NORM] = true;
        return argument_read_number(&rules[id], argument, 0, DBL_MAX,
                                    "a number from 0 on, such as 10",
                                    &options->rules.max_grad_norm, error);
    case OPTION_DEAD_GRADIENTS:
        is_wanted[CHECK_DEAD_GRADIENTS] = true;
        return true;
    case OPTION_UNUSED_PARAMETERS:
        is_wanted[CHECK_UNUSED_PARAMETERS] = true;
        return true;
    default:
        is_wanted[CHECK_ZEROS] = true;
        return true;
    }
}

static bool
read_format(struct check_options *options, const char *argument, struct error *error)
{
    static const char *const names[] = {
        [CHECK_FORMAT_TEXT] = "text",     [CHECK_FORMAT_JSON] = "json",
        [CHECK_FORMAT_GITHUB] = "github", [CHECK_FORMAT_JUNIT] = "junit",
        [CHECK_FORMAT_SARIF] = "sarif",   NULL,
    };
    int index;

    if (!argument_read_choice(&rules[OPTION_FORMAT], argument, names,
                              "text, json, github, junit or sarif", &index, error)) {
        return false;
    }
    options->format = (enum check_format)index;
    return true;
}

static bool
apply_option(void *context, int id, const char *argument, struct error *error)
{
    struct check_options *options = context;

    if (id <= OPTION_UNUSED_PARAMETERS) {
        return add_check(options, id, argument, error);
    }
    switch (id) {
#include "runtime/base/arguments/option_cases.h"
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_FORMAT:
        return read_format(options, argument, error);
    case OPTION_JSON:
        options->format = CHECK_FORMAT_JSON;
        return true;
    default: /* options that choose events; --help and --version were handled before */
        return event_filter_process(&options->rules.filter, rules[id].text, argument,
                                    NULL, error);
    }
}

static bool check_output(const struct check_options *options, struct error *error)
{
    if (options->output == NULL) {
        return true;
    }
    if (!page_file_is_page(options->output)) {
        error_set(error, ERROR_USAGE, "%.200s: the name must end in .html",
                  options->output);
        return false;
    }
    if (options->traces.count != 1) {
        return arguments_refuse("-o: a page is of one trace", error);
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              options->traces.words, 1, error);
}

static bool check(struct check_options *options, struct error *error)
{
    bool *is_wanted = options->rules.is_wanted;
    bool has_check = false;

    if (options->traces.count == 0) {
        return trace_words_refuse_none(error);
    }
    if (!check_output(options, error)) {
        return false;
    }
    for (int i = 0; i < CHECK_KIND_COUNT; i++) {
        has_check = has_check || is_wanted[i];
    }
    if (!has_check) {
        is_wanted[CHECK_NAN] = true;
        is_wanted[CHECK_INF] = true;
        options->rules.lets_meant = true;
    }
    return true;
}

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case. */
static bool check_options_read(struct check_options *options,
                               int word_count,
                               char **words,
                               struct error *error)
{
    *options = (struct check_options){.color = COLOR_AUTO};
    check_rules_init(&options->rules);
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            apply_option, options, error) &&
           check(options, error);
}

static void check_options_release(struct check_options *options)
{
    check_rules_release(&options->rules);
    trace_words_release(&options->traces);
}

#define NAME "check"

static void report_remarks(const struct check *check,
                           const struct check_options *options,
                           const char *path)
{
    bool is_damaged = log_reader_damage_count(check->reader) > 0;
    char line[200];

    if (options->is_quiet) {
        return;
    }
    trace_report_remarks(path, log_reader_header(check->reader), is_damaged, "checked");
    if (check->first_event > 0) {
        snprintf(line, sizeof line,
                 "remark: the trace keeps only its newest events, from #%llu on: older "
                 "ones were not checked",
                 (unsigned long long)check->first_event);
        print_message(path, line);
    }
}

/* Prints each line of the text as a message. */
static void print_lines(const char *path, struct slice text)
{
    char line[400];
    size_t start = 0;

    while (start < text.size) {
        size_t end = slice_find(text, SLICE("\n"), start);

        snprintf(line, sizeof line, "%.*s", (int)(end - start), text.bytes + start);
        print_message(path, line);
        start = end + 1;
    }
}

/* Prints the text and releases it. Returns false if memory ran out or it cannot be printed. */
static bool print_report(struct buffer *text)
{
    bool is_done = true;

    if (text->has_failed) {
        print_message("", "out of memory");
        is_done = false;
    } else if (text->size > 0) {
        is_done = output_print(buffer_slice(text));
    }
    buffer_release(text);
    return is_done;
}

/* Prints the verdict. Returns false if memory ran out or it cannot be printed. */
static bool print_verdict(const struct check *check,
                          const struct check_options *options,
                          struct check_report *report,
                          const char *path,
                          bool has_nothing)
{
    struct buffer text = BUFFER_INIT;

    if (check_format_is_document(options->format)) {
        check_report_add(report, check, slice_of(path), &text);
    } else if (options->format == CHECK_FORMAT_JSON) {
        check_json_add(check, slice_of(path), &text);
    } else if (!options->is_quiet && !(has_nothing && check->group_count == 0)) {
        if (options->traces.count > 1) {
            buffer_add(&text, SLICE("== "));
            buffer_add_printable(&text, slice_of(path));
            buffer_add(&text, SLICE(" ==\n"));
        }
        check_text_add(check, &text);
    }
    text.has_failed = text.has_failed || check->sources->has_failed;
    return print_report(&text);
}

/* Reports the globs of the filter, or of the shapes, that match nothing. */
static void print_unmatched(const struct check *check,
                            const struct check_options *options,
                            const char *path)
{
    if (check->matched_count == 0) {
        print_nearest(path, &options->rules.filter);
        return;
    }
    for (uint32_t i = 0; i < check->rules->shape_count; i++) {
        if (check->shape_counts[i] == 0) {
            print_unmatched_names((const char *[2]){path, NULL}, "--shape",
                                  &check->rules->shapes[i].name, 1);
        }
    }
}

static enum exit_code judge(const struct check *check,
                            const struct check_options *options,
                            struct check_report *report,
                            const char *path)
{
    struct buffer nothing = BUFFER_INIT;
    uint32_t count = check_add_unchecked(check, &nothing);
    enum exit_code exit_code =
        check->group_count > 0 || count > 0 ? EXIT_CODE_CHECK_FAILED : EXIT_CODE_DONE;

    if (nothing.has_failed) {
        print_message(path, "out of memory");
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else {
        if (!print_verdict(check, options, report, path, count > 0)) {
            exit_code = EXIT_CODE_INPUT_FAILED;
        }
        print_lines(path, buffer_slice(&nothing));
        print_unmatched(check, options, path);
    }
    buffer_release(&nothing);
    report_remarks(check, options, path);
    return exit_code_worse(exit_code, trace_report_damage(path, check->reader));
}

/* ---- the page ---- */

static void fill_row(const struct check *check,
                     const struct check_group *group,
                     struct page_row *row)
{
    *row = (struct page_row){
        .file = log_reader_module(check->reader, group->module)->table.path,
        .line = group->line,
        .event = group->event,
        .name = group->name,
        .words = group->words,
        .code = source_lines_get(check->sources, group->module, group->line),
        .call = group->function,
        .count = group->count,
    };
}

/* Writes the page, with the printed text as its verdict. */
static bool write_verdict(const struct check *check,
                          const struct check_options *options,
                          const char *path,
                          const struct page_list *list,
                          struct error *error)
{
    struct check plain = *check;
    struct buffer text = BUFFER_INIT;
    struct page_trace_result result;
    struct page verdict = {.state = list->count > 0 ? PAGE_BAD : PAGE_FINE,
                           .lists = list,
                           .list_count = 1,
                           .focus =
                               list->count > 0 ? list->rows[0].event : PAGE_EVENT_NONE};
    const struct page_trace_options page = {
        .path = path, .ask = {.event = SLICE("")}, .verdict = &verdict};
    struct slice all;
    size_t end;
    bool is_done;

    plain.has_color = false;
    check_text_add(&plain, &text);
    all = buffer_slice(&text);
    end = slice_find(all, SLICE("\n"), 0);
    verdict.title = slice_part(all, 0, end);
    verdict.text = slice_part(all, end < all.size ? end + 1 : end, all.size);
    is_done = !text.has_failed || error_set_memory(error);
    is_done = is_done && page_file_write(&page, NAME, options->output, &result, error);
    buffer_release(&text);
    return is_done;
}

static bool write_page(const struct check *check,
                       const struct check_options *options,
                       const char *path,
                       struct error *error)
{
    struct page_row *rows = memory_allocate(check->group_count, sizeof *rows);
    struct page_list list = {PAGE_CHECKS, rows, check->group_count,
                             check->offender_count};
    bool is_done;

    if (rows == NULL) {
        return error_set_memory(error);
    }
    for (uint32_t i = 0; i < check->group_count; i++) {
        fill_row(check, &check->groups[i], &rows[i]);
    }
    is_done = write_verdict(check, options, path, &list, error);
    memory_free(rows);
    return is_done;
}

static bool read_all(struct check *check, struct error *error)
{
    struct log_item item;

    while (log_reader_next(check->reader, &item)) {
        if (!check_visit(check, &item, error)) {
            return false;
        }
    }
    return check_finish(check, error);
}

static enum exit_code check_trace(const struct check_options *options,
                                  struct check_report *report,
                                  const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct source_lines sources;
    struct check check;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    if (reader == NULL) {
        print_message("", error.text);
        return EXIT_CODE_INPUT_FAILED;
    }
    source_lines_init(&sources, reader, strip_source);
    if (check_init(&check, &options->rules, reader, &sources, &error)) {
        check.has_color = options->format == CHECK_FORMAT_TEXT &&
                          color_is_wanted(options->color, STDOUT_FILENO);
        if (read_all(&check, &error)) {
            exit_code = judge(&check, options, report, path);
            if (options->output != NULL && !write_page(&check, options, path, &error)) {
                exit_code = EXIT_CODE_INPUT_FAILED;
            }
        }
    }
    if (error.kind != ERROR_NONE) {
        print_message(path, error.text);
    }
    check_release(&check);
    source_lines_release(&sources);
    log_reader_free(reader);
    return exit_code;
}

/* Checks all traces. A document has a head and an end around them. */
static enum exit_code check_traces(const struct check_options *options)
{
    struct check_report report = {options->format, MONITORCH_VERSION, 0};
    struct buffer text = BUFFER_INIT;
    enum exit_code exit_code = EXIT_CODE_DONE;
    bool is_document = check_format_is_document(options->format);

    if (is_document) {
        check_report_begin(&report, &text);
        exit_code = print_report(&text) ? EXIT_CODE_DONE : EXIT_CODE_INPUT_FAILED;
    }
    for (size_t i = 0; i < options->traces.count; i++) {
        exit_code = exit_code_worse(
            exit_code, check_trace(options, &report, options->traces.words[i]));
    }
    if (is_document) {
        text = (struct buffer)BUFFER_INIT;
        check_report_end(&report, &text);
        if (!print_report(&text)) {
            exit_code = EXIT_CODE_INPUT_FAILED;
        }
    }
    return exit_code;
}

enum exit_code check_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct check_options options;
    enum exit_code exit_code = EXIT_CODE_DONE;

    if (!check_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = check_traces(&options);
    }
    check_options_release(&options);
    return exit_code;
}
