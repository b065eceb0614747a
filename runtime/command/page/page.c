/* `monitorch page`: a trace, or two, as one HTML page. */
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/page/options.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/page/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "page"

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch page: reading, %llu events", events);
    return true;
}

/* Half of what the machine has; 0: not known, no limit. */
static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);

    return pages <= 0 || size <= 0 ? 0 : (uint64_t)pages * (uint64_t)size / 2;
}

static bool
write_page(const struct page_options *options, struct slice bytes, struct error *error)
{
    if (strcmp(options->output, "-") != 0) {
        return file_write(options->output, bytes, FILE_MODE_DEFAULT, error);
    }
    if (output_print(bytes)) {
        return true;
    }
    *error = ERROR_INIT; /* it is printed */
    return false;
}

static void report_remarks(const struct page_options *options,
                           const struct page_trace_result *result)
{
    char line[240];

    if (options->is_quiet) {
        return;
    }
    if (result->is_recording && result->damage_count == 0) {
        trace_report_unfinished(options->traces[0], "shown");
    }
    if (result->page.kept_count < result->page.event_count) {
        snprintf(line, sizeof line,
                 "%llu of %llu values are in the page one by one, all of them in its "
                 "strips and counts; a larger --max-size has more",
                 (unsigned long long)result->page.kept_count,
                 (unsigned long long)result->page.event_count);
        print_message(options->traces[0], line);
    }
}

static enum exit_code write_one(const struct page_options *options)
{
    struct progress progress;
    struct buffer command = BUFFER_INIT;
    struct buffer bytes = BUFFER_INIT;
    struct page_trace_options page = {
        .path = options->traces[0],
        .event = SLICE(""),
        .strip = strip_source,
        .max_size = options->max_size,
        .memory_limit = half_of_memory(),
        .is_json = options->is_json,
        .progress = report_progress,
        .progress_context = &progress,
    };
    struct page_trace_result result;
    struct error error = ERROR_INIT;
    enum exit_code damage = EXIT_CODE_INPUT_FAILED;
    bool is_done;

    buffer_add_format(&command, "monitorch page %s -o %s", options->traces[0],
                      options->output);
    buffer_add_byte(&command, '\0');
    page.command = command.has_failed ? NULL : command.bytes;
    progress_init(&progress, options->is_quiet);
    is_done = page_trace_add(&page, &bytes, &result, &error);
    progress_clear(&progress);
    is_done = is_done && write_page(options, buffer_slice(&bytes), &error);
    buffer_release(&bytes);
    buffer_release(&command);
    if (!is_done && error.kind == ERROR_USAGE) {
        return refuse(NAME, &error);
    }
    if (!is_done) {
        if (error.kind != ERROR_NONE) {
            print_message("", error.text);
        }
        return EXIT_CODE_INPUT_FAILED;
    }
    damage = trace_report_first_damage(options->traces[0], result.damage,
                                       result.damage_count);
    report_remarks(options, &result);
    return damage;
}

/* What `diff` says in one line, and its page. */
static enum exit_code write_two(const struct page_options *options)
{
    char name[] = "diff", quiet[] = "-q", output[] = "-o", size[] = "--max-size";
    char number[32];
    char *words[8] = {name,
                      quiet,
                      output,
                      (char *)options->output,
                      (char *)options->traces[0],
                      (char *)options->traces[1],
                      size,
                      number};

    snprintf(number, sizeof number, "%llu", (unsigned long long)options->max_size);
    return diff_run(8, words);
}

enum exit_code page_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct page_options options;

    if (!page_options_read(&options, word_count, words, &error)) {
        return refuse(NAME, &error);
    }
    return options.trace_count == 2 ? write_two(&options) : write_one(&options);
}
