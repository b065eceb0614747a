/* `monitorch page`: a trace, or two, as one HTML page. */
#include "runtime/command/page/options.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>

#define NAME "page"

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch page: reading, %llu events", events);
    return true;
}

static void report_remarks(const struct page_options *options,
                           const struct page_trace_result *result)
{
    if (options->is_quiet) {
        return;
    }
    if (result->is_recording && result->damage_count == 0) {
        trace_report_unfinished(options->traces[0], "shown");
    }
    page_file_report(options->traces[0], result);
}

static enum exit_code write_one(const struct page_options *options)
{
    struct progress progress;
    const struct page_trace_options page = {
        .path = options->traces[0],
        .ask = {.event = SLICE(""),
                .progress = report_progress,
                .progress_context = &progress},
        .max_size = options->max_size,
        .is_json = options->is_json,
    };
    struct page_trace_result result;
    struct error error = ERROR_INIT;
    enum exit_code damage;
    bool is_done;

    progress_init(&progress, options->is_quiet);
    is_done = page_file_write(&page, NAME, options->output, &result, &error);
    progress_clear(&progress);
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
