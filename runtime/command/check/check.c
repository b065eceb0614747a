/* `monitorch check`: whether traces hold what they must not. */
#include "runtime/view/check/check.h"

#include "instrument/instrument.h"
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/check/options.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>
#include <unistd.h>

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

/* A line of the text is a message. */
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

/* Prints what was added to the text. */
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

/* Prints the verdict. */
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
        if (check->matched_count == 0) {
            print_nearest(path, &options->rules.filter);
        }
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

/* What is printed, as the page's verdict. */
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

/* A document has a head and an end around its traces. */
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
