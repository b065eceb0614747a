/* `monitorch why`: finds the origin of a NaN, or of any value. */
#include "runtime/view/why/why.h"
#include "instrument/output/strip.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/page_file.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/shared/trace_words.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/spike/spike.h"
#include "runtime/view/walk/trace_list.h"
#include "runtime/view/why/repro/repro.h"
#include "runtime/view/words/fold.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define TABLE_OF_OPTIONS "runtime/command/why/options.def"
struct why_options {
#include "runtime/base/arguments/option_fields.h"
    const char *trace;  /* borrowed from the command line, as the others here */
    const char *output; /* a picture's; NULL: none */
    enum render_format format;
    bool is_page; /* HTML, not only a picture */
    struct why_ask ask;
    uint64_t events_before; /* events of other ranks' traces, which hold no NaN */
    bool has_step;
    uint64_t step; /* of the training: find the line whose value jumped there */
    enum color color;
};

/* ---- the command line ---- */

/* Default of --depth. */
#define DEPTH_DEFAULT 8

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help why_help = {
    .usage =
        "monitorch why [options] TRACE [EVENT]",
    .purpose =
    "Names the line that made the first NaN or infinity of a trace, the cause if the\n"
    "recorded figures show it, and the inputs that it was made from. Lines that only\n"
    "pass a NaN on are listed apart from the line that made it.\n\n"
    "EVENT asks about another value, whether it holds NaN or not:\n"
    "  weights              the values of this name; globs too: 'self.*'\n"
    "  model.py:31          the values that this line assigned\n"
    "  model.py:31:weights  this name on this line\n"
    "  '#123'               event 123: `seq` in `monitorch show --json`\n"
    "  '#123+'              the first NaN or infinity from event 123 on\n"
    "The first of these values with NaN or Inf is explained, or else the last value.\n",
    .common = "source all output",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "The first line is for editors and scripts:\n"
    "  FILE:LINE: NaN made here: NAME: CAUSE\n\n"
    "Examples:\n"
    "  monitorch why run.mtrace\n"
    "  monitorch why run.mtrace model.py:31:weights --iteration 2\n"
    "  monitorch why -o nan.svg run.mtrace loss\n\n"
    "Record with sources=yes to include parameters and globals in the answer.\n"
    "The name of a job's traces without the rank (job.mtrace) asks all of them.\n\n"
    "Exit codes: 0 the value is finite, or every infinity was written by name\n"
    "(-torch.inf); 1 it is not, or there is no such event; 2 wrong usage; 3 the trace\n"
    "could not be read, or only in part.\n",
};
/* clang-format on */

static bool read_number(enum option_id id,
                        const char *argument,
                        uint64_t least,
                        uint32_t *number,
                        struct error *error)
{
    uint64_t count;

    if (!argument_read_count(&rules[id], argument, least, UINT32_MAX,
                             least == 0 ? "a number from 0 on" : "a number from 1 on",
                             &count, error)) {
        return false;
    }
    *number = (uint32_t)count;
    return true;
}

static bool
apply_option(void *context, int id, const char *argument, struct error *error)
{
    struct why_options *options = context;

    switch (id) {
#include "runtime/base/arguments/option_cases.h"
    case OPTION_CALL:
        return read_number(id, argument[0] == '#' ? argument + 1 : argument, 1,
                           &options->ask.call, error);
    case OPTION_ITERATION:
        options->ask.has_iteration = true;
        return read_number(id, argument, 0, &options->ask.iteration, error);
    case OPTION_STEP:
        options->has_step = true;
        return argument_read_count(&rules[id], argument, 0, INT64_MAX,
                                   "a number from 0 on", &options->step, error);
    case OPTION_MEMORY:
        return argument_read_size(&rules[id], argument, &options->ask.memory_limit,
                                  error);
    case OPTION_DEPTH:
        return argument_read_count(&rules[id], argument, 0, UINT32_MAX,
                                   "a number from 0 on", &options->ask.depth, error);
    case OPTION_ALL:
        options->ask.has_all_rows = true;
        return true;
    case OPTION_SOURCE:
        options->ask.has_source = true;
        return true;
    case OPTION_OUTPUT:
        options->output = argument;
        options->is_page = page_file_is_page(argument);
        return options->is_page ||
               render_format_of(slice_of(argument), &options->format, error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    default: /* --help and --version were handled before */
        return true;
    }
}

static bool skip_word(void *context, const char *word, struct error *error)
{
    struct why_options *options = context;

    if (options->trace == NULL) {
        options->trace = word;
        return true;
    }
    if (options->ask.event.size > 0) {
        error_set(error, ERROR_USAGE,
                  "%.80s: expected one TRACE and at most one EVENT, such as '#12', "
                  "model.py:31 or weights",
                  word);
        return false;
    }
    options->ask.event = slice_of(word);
    return true;
}

static bool check(struct why_options *options, struct error *error)
{
    uint64_t start;

    if (options->trace == NULL) {
        return trace_words_refuse_none(error);
    }
    if ((options->ask.call != 0 || options->ask.has_iteration) &&
        (options->ask.event.size == 0 || why_read_start(options->ask.event, &start))) {
        return arguments_refuse(
            "--call and --iteration choose a visit of an EVENT: add the EVENT", error);
    }
    if (options->has_step && options->ask.event.size == 0) {
        return arguments_refuse("--step asks about a value: add its name", error);
    }
    if (options->has_step &&
        (options->is_json || options->output != NULL || options->repro != NULL)) {
        return arguments_refuse("--step prints text: remove --json, -o and --repro",
                                error);
    }
    if (options->is_json && options->ask.has_source) {
        return arguments_refuse("--source is for text: remove it, or --json", error);
    }
    if (options->ask.has_all_rows) {
        options->ask.depth = UINT64_MAX;
    }
    return output_files_check(
        (struct output_file[]){{"-o", options->output}, {"--repro", options->repro}}, 2,
        &options->trace, 1, error);
}

/* Returns false if the command line is wrong; `error` has the message for the user. */
static bool why_options_read(struct why_options *options,
                             int word_count,
                             char **words,
                             struct error *error)
{
    const struct argument_reader reader = {apply_option, skip_word, options};

    *options = (struct why_options){
        .ask = {.event = SLICE(""), .depth = DEPTH_DEFAULT},
    };
    return arguments_read(rules, OPTION_COUNT, word_count, words, &reader, error) &&
           check(options, error);
}

#define NAME "why"
/* A picture of more nodes is refused. */
#define NODE_LIMIT 2000

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch why: reading, %llu events", events);
    return true;
}

static void report_remarks(const struct why *why, const struct why_options *options)
{
    bool is_damaged = log_reader_damage_count(why->reader) > 0;
    char line[200];

    if (options->is_quiet) {
        return;
    }
    trace_report_remarks(options->trace, log_reader_header(why->reader), is_damaged,
                         "read");
    if (why->first_event > 0) {
        snprintf(line, sizeof line,
                 "remark: the trace keeps only its newest events, from #%llu on: the "
                 "line that made a value may be older",
                 (unsigned long long)why->first_event);
        print_message(options->trace, line);
    }
}

static bool write_page(const struct why_options *options, struct error *error)
{
    const struct page_trace_options page = {.path = options->trace,
                                            .ask = options->ask};
    struct page_trace_result result;

    if (!page_file_write(&page, NAME, options->output, &result, error)) {
        return false;
    }
    if (!options->is_quiet) {
        page_file_report(options->trace, &result);
    }
    return true;
}

static bool
draw(struct why *why, const struct why_options *options, struct error *error)
{
    struct render_options render = {.format = options->format,
                                    .node_limit = NODE_LIMIT,
                                    .picture = PICTURE_OPTIONS_DEFAULT};
    struct buffer bytes = BUFFER_INIT;
    bool is_done;

    if (options->is_page) {
        return write_page(options, error);
    }
    if (!options->ask.has_all_rows) {
        render.box_limit = WHY_BOXES;
        render.picture.how = SLICE("--all draws all of them");
    }
    is_done =
        why_picture_add(why, &render, &bytes, error) &&
        file_write(options->output, buffer_slice(&bytes), FILE_MODE_DEFAULT, error);

    buffer_release(&bytes);
    return is_done;
}

/* Writes the script. Returns false if there is none; the reason is printed or in `error`. */
static bool
write_repro(struct why *why, const struct why_options *options, struct error *error)
{
    struct buffer script = BUFFER_INIT;
    struct repro_report report;
    char line[160];
    bool is_done =
        repro_write(why, &script, &report, error) &&
        file_write(options->repro, buffer_slice(&script), FILE_MODE_DEFAULT, error);

    buffer_release(&script);
    if (is_done && !options->is_quiet) {
        if (report.substitute_count == 0) {
            snprintf(line, sizeof line,
                     "run it with python; it begins with the recorded values");
        } else {
            snprintf(line, sizeof line,
                     "run it with python; %lu of the tensors it begins with (%lu) have "
                     "random values with the recorded figures",
                     (unsigned long)report.substitute_count,
                     (unsigned long)report.input_count);
        }
        print_message(options->repro, line);
    }
    return is_done;
}

static void
add_nothing(const struct why *why, uint64_t events_before, struct buffer *text)
{
    uint64_t start;

    if (why_read_start(why->ask.event, &start)) {
        buffer_add(text, SLICE("ok: no NaN or Inf from event #"));
        buffer_add_number(text, start);
        buffer_add(text, SLICE(" on\n"));
        return;
    }
    buffer_add(text, SLICE("ok: no NaN or Inf in "));
    buffer_add_number(text, events_before + why->event_count);
    buffer_add(text, events_before + why->event_count == 1 ? SLICE(" event\n")
                                                           : SLICE(" events\n"));
}

/* Adds the answer of this trace; if another trace of the run has the value that was received,
 * also that of the other. */
static void add_with_beside(const struct why *why,
                            const struct why_beside *beside,
                            struct buffer *text)
{
    if (beside->path != NULL && beside->is_certain) {
        why_text_add(&beside->why, text);
        buffer_add(text, SLICE("\nIn "));
        buffer_add_printable(text, slice_of(beside->path));
        buffer_add(text, SLICE(", written by another process of this run, which handed "
                               "the value over:\n"));
    }
    why_text_add(why, text);
    if (beside->path != NULL && !beside->is_certain) {
        buffer_add(text, SLICE("\nanother process of this run had such a value, in "));
        buffer_add_printable(text, slice_of(beside->path));
        buffer_add(text, SLICE(":\n  "));
        why_head_add(&beside->why, text);
        buffer_add_byte(text, '\n');
    }
}

/* Adds the text that is printed. */
static void add_answer(const struct why *why,
                       const struct why_beside *beside,
                       const struct why_options *options,
                       struct buffer *text)
{
    if (options->is_json) {
        why_json_add(why, beside, slice_of(options->trace), text);
    } else if (why->target == FLOW_NONE) {
        add_nothing(why, options->events_before, text);
    } else {
        if (why->is_soft) {
            buffer_add(text, SLICE("ok: no NaN, and no Inf except those that lines "
                                   "write by name; the first:\n"));
        }
        add_with_beside(why, beside, text);
    }
}

/* Prints the answer, folded to the width of a terminal. Returns false if it cannot be printed. */
static bool print_answer(const struct buffer *text,
                         const struct why_options *options,
                         struct error *error)
{
    size_t width = !options->is_json && isatty(STDOUT_FILENO) ? output_width() : 0;
    struct buffer folded = BUFFER_INIT;
    bool is_done;

    if (width > 0) {
        text_fold(buffer_slice(text), width, &folded);
    }
    is_done = text->has_failed || folded.has_failed
                  ? error_set_memory(error)
                  : output_print(buffer_slice(width > 0 ? &folded : text));
    buffer_release(&folded);
    return is_done;
}

/* Searches the traces of child processes and ranks in the same folder, if a value was received
 * from another process. */
static bool find_beside(struct why *why,
                        const struct why_options *options,
                        struct why_beside *beside,
                        struct arena *arena,
                        struct error *error)
{
    struct trace_list list;
    bool is_done;

    if (!why_came_in(why)) {
        return true;
    }
    trace_list_init(&list, arena);
    is_done = trace_list_add_beside(&list, options->trace, error);
    if (is_done) {
        why_find_beside(why, list.paths, list.count, beside);
    }
    trace_list_release(&list);
    return is_done;
}

/* Reports that no event matches the question. */
static enum exit_code
report_no_match(struct why *why, const struct why_options *options, const char *message)
{
    struct buffer text = BUFFER_INIT;
    bool is_done = true;

    print_message(options->trace, message);
    if (options->is_json) {
        why_json_add_no_match(why, slice_of(options->trace), slice_of(message), &text);
        is_done = !text.has_failed && output_print(buffer_slice(&text));
    }
    buffer_release(&text);
    return is_done ? exit_code_worse(EXIT_CODE_CHECK_FAILED,
                                     trace_report_damage(options->trace, why->reader))
                   : EXIT_CODE_INPUT_FAILED;
}

static enum exit_code
answer(struct why *why, const struct why_options *options, struct error *error)
{
    struct buffer text = BUFFER_INIT;
    enum exit_code exit_code =
        why_is_bad(why) ? EXIT_CODE_CHECK_FAILED : EXIT_CODE_DONE;
    struct why_beside beside;
    struct arena arena;
    bool is_done;

    if (why->event_count == 0) {
        return report_no_match(why, options, "has no events");
    }
    arena_init(&arena);
    why_beside_init(&beside);
    is_done = find_beside(why, options, &beside, &arena, error);
    add_answer(why, &beside, options, &text);
    is_done = is_done && print_answer(&text, options, error);
    buffer_release(&text);
    why_beside_release(&beside);
    arena_release(&arena);
    if (is_done && options->output != NULL &&
        (why->target != FLOW_NONE || options->is_page)) {
        is_done = draw(why, options, error);
    } else if (is_done && options->output != NULL) {
        print_message(
            options->output,
            "remark: not drawn: there is no NaN or Inf; name an EVENT to draw it");
    }
    if (is_done && options->repro != NULL) {
        is_done = write_repro(why, options, error);
        exit_code = is_done ? EXIT_CODE_DONE : EXIT_CODE_CHECK_FAILED;
    }
    if (!is_done && error->kind != ERROR_NONE) {
        print_message(error->kind == ERROR_USAGE ? options->trace : "", error->text);
        is_done = error->kind == ERROR_USAGE;
    }
    report_remarks(why, options);
    exit_code =
        exit_code_worse(exit_code, trace_report_damage(options->trace, why->reader));
    return is_done ? exit_code : EXIT_CODE_INPUT_FAILED;
}

/* Returns half of the machine's memory. 0: not known, no limit. */
static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);

    return pages <= 0 || size <= 0 ? 0 : (uint64_t)pages * (uint64_t)size / 2;
}

static void announce(void *context, uint64_t values, uint64_t bytes)
{
    char line[160];

    progress_clear(context);
    snprintf(
        line, sizeof line,
        "remark: %llu values: this needs about %.1f GB of memory, and about %llu s",
        (unsigned long long)values, (double)bytes / 1e9,
        (unsigned long long)(values / 700000));
    print_message(NAME, line);
}

static enum exit_code print_jump(const struct why_options *options,
                                 enum spike_verdict verdict,
                                 const struct buffer *text)
{
    if (verdict == SPIKE_NONE) {
        print_message(options->trace,
                      "no number or float tensor has that name in that step");
        return EXIT_CODE_CHECK_FAILED;
    }
    if (verdict == SPIKE_FEW) {
        print_message(options->trace, "too few turns were recorded before that step to "
                                      "compare with: at least 4");
        return EXIT_CODE_CHECK_FAILED;
    }
    if (!output_print(buffer_slice(text))) {
        return EXIT_CODE_INPUT_FAILED;
    }
    return verdict == SPIKE_JUMPED ? EXIT_CODE_CHECK_FAILED : EXIT_CODE_DONE;
}

/* Answers `--step`: finds the line that made a finite value jump. */
static enum exit_code answer_jump(const struct why_options *options)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(options->trace, &error);
    struct buffer text = BUFFER_INIT;
    struct source_lines sources;
    enum spike_verdict verdict;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    if (reader == NULL) {
        print_message("", error.text);
        return EXIT_CODE_INPUT_FAILED;
    }
    source_lines_init(&sources, reader, strip_source);
    if (spike_find(reader, &sources, options->ask.event, options->step,
                   color_is_wanted(options->color, STDOUT_FILENO), &text, &verdict,
                   &error)) {
        exit_code = print_jump(options, verdict, &text);
        exit_code =
            exit_code_worse(exit_code, trace_report_damage(options->trace, reader));
    } else {
        print_message("", error.text);
    }
    buffer_release(&text);
    source_lines_release(&sources);
    log_reader_free(reader);
    return exit_code;
}

/* Answers for the traces of several ranks: the first one with a NaN or infinity, or else the
 * last one. Returns false if no trace has an answer. */
static bool find_in_ranks(struct why *why,
                          struct why_options *options,
                          const struct trace_list *ranks,
                          struct error *error)
{
    bool is_found = false;

    for (size_t i = 0; i < ranks->count; i++) {
        if (i > 0) {
            options->events_before += is_found ? why->event_count : 0;
            why_release(why);
            why_init(why);
        }
        *error = (struct error)ERROR_INIT;
        options->trace = ranks->paths[i];
        is_found = why_find(why, options->trace, &options->ask, error);
        if (is_found ? why_is_bad(why) : error->kind != ERROR_USAGE) {
            return is_found;
        }
    }
    return is_found;
}

static enum exit_code find_and_answer(struct why_options *options,
                                      const struct trace_list *ranks)
{
    struct error error = ERROR_INIT;
    struct progress progress;
    enum exit_code exit_code;
    struct why why;
    bool is_found;

    options->ask.progress_context = &progress;
    progress_init(&progress, options->is_quiet);
    why_init(&why);
    is_found = find_in_ranks(&why, options, ranks, &error);
    progress_clear(&progress);
    if (is_found) {
        exit_code = answer(&why, options, &error);
    } else if (error.kind == ERROR_USAGE) {
        exit_code = report_no_match(&why, options, error.text);
    } else {
        print_message("", error.text);
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    why_release(&why);
    return exit_code;
}

enum exit_code why_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct why_options options;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;
    struct trace_list ranks;
    struct arena arena;

    if (!why_options_read(&options, word_count, words, &error)) {
        return refuse(NAME, &error);
    }
    if (options.has_step) {
        return answer_jump(&options);
    }
    options.ask.strip = strip_source;
    options.ask.has_color =
        !options.is_json && color_is_wanted(options.color, STDOUT_FILENO);
    options.ask.wants_texts = !options.is_json;
    options.ask.progress = report_progress;
    options.ask.announce = options.is_quiet ? NULL : announce;
    options.ask.memory_limit =
        options.ask.memory_limit > 0 ? options.ask.memory_limit : half_of_memory();
    arena_init(&arena);
    trace_list_init(&ranks, &arena);
    if (trace_list_add(&ranks, options.trace, &error)) {
        exit_code = find_and_answer(&options, &ranks);
    } else {
        print_message("", error.text);
    }
    trace_list_release(&ranks);
    arena_release(&arena);
    return exit_code;
}
