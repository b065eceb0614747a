/* `monitorch diff`: finds the first difference between two traces. */
#include "instrument/output/strip.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/command/diff/by_values.h"
#include "runtime/command/diff/options.h"
#include "runtime/command/diff/report.h"
#include "runtime/command/diff/saved_report.h"
#include "runtime/command/shared/no_match.h"
#include "runtime/command/shared/output_files.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/shared/style_arguments.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/report/notes.h"
#include "runtime/view/diff/report/picture.h"
#include "runtime/view/walk/trace_list.h"
#include "runtime/view/words/paint.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE "a number from 0 on, such as 1e-5"

/* The picture or page of a pair, which receives the findings along with the report. */
struct diff_output {
    struct diff_report *report; /* borrowed */
    struct diff_notes notes;
    bool has_failed; /* memory ran out */
};

/* ---- the command line ---- */

#include "runtime/base/arguments/option_rules.h"

/* Each source line is one line of the help. */
/* clang-format off */
const struct help diff_help = {
    .usage =
        "monitorch diff [options] A B\n"
        "       monitorch diff --ranks [options] A...",
    .purpose =
    "Finds the first line at which two runs differ, and reports the variable, the\n"
    "kind of difference and its size. Events are matched by their place in the\n"
    "program, their call and their turn, so added lines and renamed names do not\n"
    "disturb the comparison. A difference is `own` if all inputs of the value are\n"
    "equal, else `inherited`.\n"
    "\n"
    "A and B are one of these:\n"
    "  traces            run.mtrace\n"
    "  ranks of a run    a folder of traces, or the name that the ranks were given\n"
    "                    (run.mtrace for run.rank0.mtrace ...); rank is compared with\n"
    "                    rank\n"
    "  saved tensors     folders written by spy_save, or *.pt and *.safetensors\n"
    "                    files, matched by prefix, module, name and call\n",
    .common = "map output inherited",
    .rules = rules,
    .rule_count = OPTION_COUNT,
    .details =
    "Examples:\n"
    "  monitorch diff good.mtrace bad.mtrace\n"
    "  monitorch diff --map old_model.py=model.py --map q=query old.mtrace new.mtrace\n"
    "  monitorch diff --across-precisions float32.mtrace bfloat16.mtrace\n"
    "  monitorch diff -o diff.html good.mtrace bad.mtrace\n"
    "  monitorch diff --ranks run.mtrace\n"
    "  monitorch diff --by-values reference.mtrace port.mtrace\n"
    "  monitorch diff --map old_attn=attn debug_tensors_old debug_tensors\n"
    "\n"
    "Exit codes: 0 equal; 1 different; 2 wrong usage; 3 a trace could not be read, or\n"
    "only in part (the readable part is compared), or the output could not be\n"
    "written.\n",
};
/* clang-format on */

static bool add_rename(struct diff_command_options *options,
                       const char *argument,
                       struct error *error)
{
    const char *middle = strchr(argument, '=');

    if (middle == NULL || middle == argument || middle[1] == '\0') {
        error_set(error, ERROR_USAGE,
                  "--map %.80s: expected OLD=NEW, the name in A and the name in B: "
                  "old.py=new.py, Attn=Attention, q=query",
                  argument);
        return false;
    }
    options->renames[options->tolerance.rename_count++] = (struct diff_rename){
        .old_name = {argument, (size_t)(middle - argument)},
        .new_name = slice_of(middle + 1),
    };
    return true;
}

static bool read_output(struct diff_command_options *options,
                        const char *argument,
                        struct error *error)
{
    options->output = argument;
    return diff_picture_format(slice_of(argument), &options->picture, error);
}

static bool read_max_nodes(struct diff_command_options *options,
                           const char *argument,
                           struct error *error)
{
    uint64_t count;

    if (!argument_read_count(&rules[OPTION_MAX_NODES], argument, 0, UINT32_MAX,
                             "a number of boxes, 0 for all", &count, error)) {
        return false;
    }
    options->picture.has_box_limit = true;
    options->picture.box_limit = (uint32_t)count;
    return true;
}

/* For struct argument_taker. */
static bool
option_apply(void *context, int id, const char *argument, struct error *error)
{
    struct diff_command_options *options = context;

    switch (id) {
#include "runtime/base/arguments/option_cases.h"
    case OPTION_RTOL:
        return argument_read_number(&rules[id], argument, 0, DBL_MAX, TOLERANCE,
                                    &options->tolerance.rtol, error);
    case OPTION_ATOL:
        return argument_read_number(&rules[id], argument, 0, DBL_MAX, TOLERANCE,
                                    &options->tolerance.atol, error);
    case OPTION_IGNORE:
        return list_collect(&options->ignored, &options->ignored_count,
                            slice_of(argument)) ||
               error_set_memory(error);
    case OPTION_MAP:
        return add_rename(options, argument, error);
    case OPTION_OUTPUT:
        return read_output(options, argument, error);
    case OPTION_THEME:
        options->has_theme = true;
        return argument_read_theme(&rules[id], argument,
                                   &options->picture.render.picture.theme, error);
    case OPTION_MAX_NODES:
        return read_max_nodes(options, argument, error);
    case OPTION_MAX_SIZE:
        return argument_read_size(&rules[id], argument, &options->picture.max_size,
                                  error);
    case OPTION_COLOR:
        return color_read(&options->color, argument, error);
    case OPTION_EXACT:
        options->tolerance.is_exact = true;
        return true;
    case OPTION_ACROSS_PRECISIONS:
        options->tolerance.is_across_precision = true;
        return true;
    case OPTION_MAP_FILE:
        options->map_file = argument;
        options->is_by_values = true;
        return true;
    case OPTION_PRINT_MAP:
        options->is_map = true;
        options->is_by_values = true;
        return true;
    default: /* --help and --version were handled before */
        return true;
    }
}

/* Checks the options of the report and of the matching of pairs. */
static bool check_report(const struct diff_command_options *options,
                         struct error *error)
{
    if (options->is_by_values && (options->is_ranks || options->output != NULL)) {
        return arguments_refuse(
            "--by-values, --print-map and --map-file compare one pair of "
            "traces, and draw nothing: leave out --ranks and -o",
            error);
    }
    if (options->is_json && (options->is_all || options->has_inherited)) {
        return arguments_refuse(
            "--json excludes --all and --inherited: it prints everything", error);
    }
    return true;
}

static bool check(const struct diff_command_options *options, struct error *error)
{
    if (options->traces.count < 2 &&
        !(options->is_ranks && options->traces.count == 1)) {
        error_set(error, ERROR_USAGE, "%s, expected two: monitorch diff A B",
                  options->traces.count == 0 ? "no traces" : "one trace");
        return false;
    }
    if (options->traces.count > 2 && !options->is_ranks) {
        error_set(error, ERROR_USAGE,
                  "%zu traces, expected two: monitorch diff A B (--ranks compares "
                  "several with the first)",
                  options->traces.count);
        return false;
    }
    if (options->tolerance.is_exact && diff_tolerance_is_given(&options->tolerance)) {
        return arguments_refuse(
            "--exact excludes --rtol and --atol: it has no tolerance", error);
    }
    if (options->tolerance.is_exact && options->tolerance.is_across_precision) {
        return arguments_refuse("--exact excludes --across-precisions: it compares the "
                                "bits of equal dtypes",
                                error);
    }
    if (options->output == NULL &&
        (options->has_theme || options->picture.has_box_limit)) {
        return arguments_refuse(
            "--theme and --max-nodes need a picture: add -o FILE, such as -o diff.svg",
            error);
    }
    if (options->has_theme && options->picture.is_page) {
        return arguments_refuse(
            "--theme is for pictures: a page has both themes, and the browser chooses",
            error);
    }
    if (!check_report(options, error)) {
        return false;
    }
    return output_files_check(&(struct output_file){"-o", options->output}, 1,
                              options->traces.words, options->traces.count, error);
}

/* Returns false if the command line is wrong; `error` has the message for the user. To be
 * released in any case. */
static bool diff_options_read(struct diff_command_options *options,
                              int word_count,
                              char **words,
                              struct error *error)
{
    *options = (struct diff_command_options){
        .tolerance = {.rtol = -1, .atol = -1},
        .picture = {.render = {.picture = PICTURE_OPTIONS_DEFAULT}},
    };
    options->renames = memory_allocate((size_t)word_count, sizeof *options->renames);
    if (options->renames == NULL) {
        return error_set_memory(error);
    }
    options->tolerance.renames = options->renames;
    return trace_words_read(&options->traces, rules, OPTION_COUNT, word_count, words,
                            option_apply, options, error) &&
           check(options, error);
}

static void diff_options_release(struct diff_command_options *options)
{
    memory_free(options->ignored);
    memory_free(options->renames);
    trace_words_release(&options->traces);
}

/* ---- pairs of traces ---- */

static void diff_pairs_release(struct diff_pairs *pairs)
{
    arena_release(&pairs->arena);
}

static bool name_pair(struct diff_pairs *pairs, struct diff_pair *pair, bool is_ranks)
{
    long rank = trace_rank(pair->paths[1]);
    char text[64];

    if (rank < 0 || is_ranks) {
        pair->name = trace_file_name(pair->paths[1]);
        return true;
    }
    snprintf(text, sizeof text, "rank %ld", rank);
    pair->name = arena_copy(&pairs->arena, slice_of(text)).bytes;
    return pair->name != NULL;
}

static bool is_same_trace(const char *a, const char *b)
{
    return trace_rank(a) >= 0 ? trace_rank(a) == trace_rank(b)
                              : strcmp(trace_file_name(a), trace_file_name(b)) == 0;
}

static bool
match(struct diff_pairs *pairs, const struct trace_list lists[2], struct error *error)
{
    bool is_one = lists[0].count == 1 && lists[1].count == 1;
    size_t most = lists[0].count > lists[1].count ? lists[0].count : lists[1].count;

    pairs->pairs = arena_allocate(&pairs->arena, most, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < most; i++) {
        struct diff_pair *pair = &pairs->pairs[i];

        if (i >= lists[0].count || i >= lists[1].count ||
            (!is_one && !is_same_trace(lists[0].paths[i], lists[1].paths[i]))) {
            bool is_a = i < lists[0].count &&
                        (i >= lists[1].count ||
                         trace_order(lists[0].paths[i], lists[1].paths[i]) < 0);

            error_set(error, ERROR_INPUT, "%s: the other folder has no such trace",
                      is_a ? lists[0].paths[i] : lists[1].paths[i]);
            return false;
        }
        *pair = (struct diff_pair){{lists[0].paths[i], lists[1].paths[i]}, NULL};
        if (!is_one && !name_pair(pairs, pair, false)) {
            return error_set_memory(error);
        }
        pairs->count++;
    }
    return true;
}

static bool pair_with_first(struct diff_pairs *pairs,
                            const struct trace_list *list,
                            struct error *error)
{
    if (list->count < 2) {
        error_set(error, ERROR_INPUT,
                  "%s: is one trace, expected several ranks' traces", list->paths[0]);
        return false;
    }
    pairs->pairs = arena_allocate(&pairs->arena, list->count, sizeof *pairs->pairs);
    if (pairs->pairs == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 1; i < list->count; i++) {
        struct diff_pair *pair = &pairs->pairs[pairs->count++];

        *pair = (struct diff_pair){{list->paths[0], list->paths[i]}, NULL};
        if (list->count > 2 && !name_pair(pairs, pair, true)) {
            return error_set_memory(error);
        }
    }
    return true;
}

/* Returns WORLD_SIZE of the recording. -1: not known. */
static long find_world_size(const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    long size = -1;

    for (size_t i = 0; reader != NULL && i < log_reader_setting_count(reader); i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);
        char text[16] = "";

        if (slice_equal(setting->name, SLICE("environment.WORLD_SIZE")) &&
            setting->value.size < sizeof text) {
            memcpy(text, setting->value.bytes, setting->value.size);
            size = strtol(text, NULL, 10);
        }
    }
    log_reader_free(reader);
    return size;
}

/* Removes traces of earlier jobs from the list. The first trace is of the job that was recorded
 * last by that name, since each job has a rank 0. */
static bool leave_out_earlier(struct diff_pairs *pairs,
                              struct trace_list *list,
                              struct error *error)
{
    size_t kept = 0;

    if (list->count == 0 || trace_rank(list->paths[0]) != 0) {
        return true;
    }
    pairs->world_size = find_world_size(list->paths[0]);
    pairs->left_out =
        arena_allocate(&pairs->arena, list->count, sizeof *pairs->left_out);
    if (pairs->left_out == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (pairs->world_size > 0 && trace_rank(list->paths[i]) >= pairs->world_size) {
            pairs->left_out[pairs->left_out_count++] = list->paths[i];
        } else {
            list->paths[kept++] = list->paths[i];
        }
    }
    list->count = kept;
    return true;
}

/* Pairs each of the traces that the words name with the first one. */
static bool find_ranks(struct diff_pairs *pairs,
                       const struct diff_command_options *options,
                       struct error *error)
{
    struct trace_list list;
    bool is_done = true;

    trace_list_init(&list, &pairs->arena);
    for (size_t i = 0; is_done && i < options->traces.count; i++) {
        is_done = trace_list_add(&list, options->traces.words[i], error);
    }
    is_done = is_done && leave_out_earlier(pairs, &list, error) &&
              pair_with_first(pairs, &list, error);
    trace_list_release(&list);
    return is_done;
}

/* Finds the pairs of traces. Traces of two folders are matched by name, or by the rank in the
 * name; two names that are not files, but have `.rank0` … before the suffix, rank by rank.
 * Returns false if there is nothing to compare or one side lacks a trace; `error` says why. To
 * be released in any case. */
static bool diff_pairs_find(struct diff_pairs *pairs,
                            const struct diff_command_options *options,
                            struct error *error)
{
    struct trace_list lists[2];
    bool is_done;

    *pairs = (struct diff_pairs){.count = 0};
    arena_init(&pairs->arena);
    if (options->is_ranks) {
        return find_ranks(pairs, options, error);
    }
    trace_list_init(&lists[0], &pairs->arena);
    trace_list_init(&lists[1], &pairs->arena);
    is_done = trace_list_add(&lists[0], options->traces.words[0], error) &&
              trace_list_add(&lists[1], options->traces.words[1], error) &&
              match(pairs, lists, error);
    trace_list_release(&lists[0]);
    trace_list_release(&lists[1]);
    return is_done;
}

/* ---- the output of `monitorch diff -o` ---- */

/* To be released. */
static void diff_output_init(struct diff_output *output, struct diff_report *report)
{
    output->report = report;
    output->has_failed = !diff_notes_init(&output->notes);
}

static void diff_output_release(struct diff_output *output)
{
    diff_notes_release(&output->notes);
}

static void report_begun(void *context,
                         struct log_reader *const *readers,
                         struct source_lines *const *sources)
{
    struct diff_output *output = context;

    diff_report_begun(output->report, readers, sources);
    diff_notes_begun(&output->notes, readers, sources);
}

static void report_ended(void *context, struct log_reader *const *readers)
{
    struct diff_output *output = context;

    diff_report_ended(output->report, readers);
}

static void report_changed(void *context,
                           const uint32_t modules[2],
                           const uint32_t lines[2],
                           const struct slice sources[2])
{
    struct diff_output *output = context;

    diff_report_changed(output->report, modules, lines, sources);
}

static bool report_found(void *context, const struct diff_finding *finding)
{
    struct diff_output *output = context;

    if (!diff_report_found(output->report, finding)) {
        return false;
    }
    output->has_failed =
        output->has_failed || !diff_notes_found(&output->notes, finding);
    return !output->has_failed;
}

/* Makes diff call the output, which passes everything on to the report. */
static void diff_output_listen(struct diff_output *output, struct diff_options *options)
{
    options->begun = report_begun;
    options->found = report_found;
    options->ended = report_ended;
    options->changed = report_changed;
    options->context = output;
}

/* Makes the lines that the command prints, for the head of a picture. */
static bool make_verdict(const struct diff_output *output,
                         const struct diff_result *result,
                         struct buffer *lines)
{
    struct buffer painted = BUFFER_INIT;

    diff_report_add_line(output->report, result, &painted);
    paint_strip(&lines[0], buffer_slice(&painted));
    if (!result->is_other_program && !diff_result_is_equal(result)) {
        diff_report_add_counts(result, &lines[1]);
    }
    lines[0].has_failed |= painted.has_failed;
    buffer_release(&painted);
    return !lines[0].has_failed && !lines[1].has_failed;
}

static struct slice line_of(const struct buffer *text)
{
    struct slice line = buffer_slice(text);

    return slice_part(line, 0, slice_find(line, SLICE("\n"), 0));
}

/* Writes the file options->output. */
static bool diff_output_write(struct diff_output *output,
                              const struct diff_command_options *options,
                              const struct diff_pair *pair,
                              const struct diff_result *result,
                              struct error *error)
{
    struct diff_picture_options picture = options->picture;
    struct buffer lines[2] = {BUFFER_INIT, BUFFER_INIT};
    struct buffer bytes = BUFFER_INIT;
    bool is_done;

    is_done = make_verdict(output, result, lines);
    for (int i = 0; i < 2; i++) {
        picture.verdict[i] = line_of(&lines[i]);
        picture.paths[i] = pair->paths[i];
    }
    picture.settings = buffer_slice(&output->report->settings);
    if (!diff_result_is_equal(result)) {
        picture.changed = buffer_slice(&output->report->changed);
    }
    picture.render.strip = strip_source;
    if (!is_done) {
        error_set_memory(error);
    }
    is_done =
        is_done && diff_picture_add(&output->notes, result, &picture, &bytes, error);
    if (is_done && bytes.size == 0) {
        error_set(error, ERROR_INPUT,
                  "%s: nothing to draw: no tensors or arrays were recorded; a page (-o "
                  "diff.html) holds the text",
                  pair->paths[1]);
        is_done = false;
    }
    is_done = is_done && file_write(options->output, buffer_slice(&bytes),
                                    FILE_MODE_DEFAULT, error);
    buffer_release(&lines[0]);
    buffer_release(&lines[1]);
    buffer_release(&bytes);
    return is_done;
}

#define NAME "diff"

/* ---- messages ---- */

static bool report_progress(void *context, uint64_t events)
{
    progress_report(context, "monitorch diff: comparing, %llu events", events);
    return true;
}

/* Reports damage of a trace, and the reasons why events are missing. */
static enum exit_code report_side(const struct diff_command_options *options,
                                  const struct diff_pair *pair,
                                  const struct diff_result *result,
                                  unsigned side)
{
    const char *path = pair->paths[side];
    enum exit_code exit_code = trace_report_first_damage(path, result->damage[side],
                                                         result->damage_counts[side]);
    char line[200];

    if (options->is_quiet) {
        return exit_code;
    }
    if (result->is_unfinished[side] && exit_code == EXIT_CODE_DONE) {
        trace_report_unfinished(path, "compared");
    }
    trace_report_lost(path, result->lost_counts[side]);
    if (result->dropped[side] > 0) {
        snprintf(
            line, sizeof line,
            "remark: the trace keeps only its newest events (%llu older ones were "
            "dropped); %llu events of the other trace are older than its first one "
            "and were not compared",
            (unsigned long long)result->dropped[side],
            (unsigned long long)result->before[1 - side]);
        print_message(path, line);
    }
    if (result->beyond[1 - side] > 0) {
        snprintf(line, sizeof line,
                 "remark: its recording ends earlier than the other: %llu later events "
                 "of the other trace were not compared",
                 (unsigned long long)result->beyond[1 - side]);
        print_message(path, line);
    }
    return exit_code;
}

static void print_report(struct diff_report *report, struct buffer *text)
{
    if (text->has_failed) {
        print_message("", "out of memory");
        report->has_failed = true;
    } else if (!output_print(buffer_slice(text))) {
        report->has_failed = true;
    }
    text->size = 0;
}

/* ---- pairs ---- */

/* Finds the trace that `monitorch run --repeat-noise` writes next to another: run.noise.mtrace
 * of run.mtrace. Returns false if there is none. */
static bool find_noise(const char *path, struct buffer *noise)
{
    struct slice name = slice_of(trace_file_name(path));
    size_t folder = strlen(path) - name.size;
    size_t stem = name.size;

    while (stem > 0 && name.bytes[stem - 1] != '.') {
        stem--;
    }
    stem = stem > 1 ? stem - 1 : name.size;
    buffer_add(noise, slice_part(slice_of(path), 0, folder + stem));
    buffer_add(noise, SLICE(".noise"));
    buffer_add(noise, slice_part(name, stem, name.size));
    buffer_add_byte(noise, '\0');
    return !noise->has_failed && access(noise->bytes, R_OK) == 0;
}

/* Reports why the trace with noise is not used, or only in part. */
static void remark_floor(const struct diff_floor *floor, const char *noise)
{
    struct buffer text = BUFFER_INIT;

    if (floor->state == DIFF_FLOOR_PLAIN) {
        buffer_add(
            &text,
            SLICE("remark: recorded without noise, no noise floor: record it with "
                  "`monitorch run --record noise`"));
    } else if (floor->state == DIFF_FLOOR_OTHER) {
        buffer_add(
            &text,
            SLICE(
                "remark: not used as the noise floor, it belongs to another recording "
                "of A: `monitorch run --repeat-noise` writes both"));
    } else if (floor->state == DIFF_FLOOR_UNSTABLE) {
        buffer_add(&text, SLICE("remark: no noise floor from "));
        buffer_add_printable(&text, slice_of(floor->place));
        buffer_add(&text,
                   SLICE(" on: the two runs differ by more than noise; if they draw "
                         "random numbers, add --seed 0"));
    }
    buffer_add_byte(&text, '\0');
    if (text.size > 1 && !text.has_failed) {
        print_message(noise, text.bytes);
    }
    buffer_release(&text);
}

/* Chooses the trace for the noise floor. `noise` may hold its name, so it must live as long. */
static void choose_noise(const struct diff_command_options *options,
                         const struct diff_pair *pair,
                         struct buffer *noise,
                         struct diff_options *diff)
{
    diff->is_noise_given = options->noise != NULL;
    if (options->noise != NULL) {
        diff->noise_path = options->noise;
    } else if (find_noise(pair->paths[0], noise)) {
        diff->noise_path = noise->bytes;
    }
}

/* Compares a pair. Findings are added to the report, and to the output unless it is NULL. */
static bool compare(const struct diff_command_options *options,
                    const struct diff_pair *pair,
                    struct diff_report *report,
                    struct diff_output *output,
                    struct diff_result *result)
{
    struct progress progress;
    struct error error = ERROR_INIT;
    struct buffer noise = BUFFER_INIT;
    struct diff_options diff = {
        .tolerance = options->tolerance,
        .ignored = options->ignored,
        .ignored_count = options->ignored_count,
        .has_color = report->has_color && !options->is_json,
        .strip = strip_source,
        .found = diff_report_found,
        .begun = diff_report_begun,
        .changed = diff_report_changed,
        .ended = diff_report_ended,
        .context = report,
    };
    bool is_done;

    if (output != NULL) {
        diff_output_listen(output, &diff);
    }
    choose_noise(options, pair, &noise, &diff);
    progress_init(&progress, options->is_quiet);
    diff.progress = report_progress;
    diff.progress_context = &progress;
    is_done = diff_traces(pair->paths[0], pair->paths[1], &diff, result, &error);
    progress_clear(&progress);
    if (!options->is_quiet && !report->unknown.has_failed) {
        output_print_error(buffer_slice(&report->unknown));
    }
    if ((report->has_failed && report->json.has_failed) ||
        (output != NULL && output->has_failed)) {
        error_set_memory(&error);
    }
    if (!is_done) {
        print_message("", error.text);
    } else if (diff.noise_path != NULL && !options->is_quiet) {
        remark_floor(&result->floor, diff.noise_path);
    }
    buffer_release(&noise);
    return is_done;
}

static enum exit_code verdict_of(const struct diff_command_options *options,
                                 const struct diff_pair *pair,
                                 const struct diff_report *report,
                                 const struct diff_result *result)
{
    enum exit_code exit_code = diff_result_is_equal(result) && !result->is_other_program
                                   ? EXIT_CODE_DONE
                                   : EXIT_CODE_CHECK_FAILED;

    if (exit_code == EXIT_CODE_DONE && result->is_update_alone && !options->is_quiet) {
        print_message("",
                      "remark: one run alone recorded gradients or parameters: only "
                      "the values of lines were compared");
    }
    for (unsigned side = 0; side < 2; side++) {
        exit_code =
            exit_code_worse(exit_code, report_side(options, pair, result, side));
    }
    return report->has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
}

static bool draw(const struct diff_command_options *options,
                 const struct diff_pair *pair,
                 struct diff_output *output,
                 const struct diff_result *result)
{
    struct error error = ERROR_INIT;

    if (diff_output_write(output, options, pair, result, &error)) {
        return true;
    }
    print_message("", error.text);
    return false;
}

static enum exit_code diff_one(const struct diff_command_options *options,
                               const struct diff_pair *pair)
{
    struct diff_report report;
    struct diff_output output;
    struct diff_result result;
    struct buffer text = BUFFER_INIT;
    bool is_drawn = options->output != NULL;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    diff_report_init(&report, options);
    diff_output_init(&output, &report);
    report.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    if (compare(options, pair, &report, is_drawn ? &output : NULL, &result)) {
        if (options->is_json) {
            buffer_add(&text, buffer_slice(&report.json));
            diff_json_add_verdict(&report, &result, &text);
        } else {
            diff_report_add(&report, &result, &text);
        }
        if (options->ignored_count > 0 && result.clocks == 0 && !options->is_quiet) {
            print_unmatched_names(
                (const char *const[2]){pair->paths[0], pair->paths[1]}, "--ignore",
                options->ignored, options->ignored_count);
        }
        exit_code = verdict_of(options, pair, &report, &result);
        if ((result.is_other_program || result.is_mostly_other) && !is_drawn &&
            !report.has_failed) {
            exit_code =
                diff_by_values(options, pair,
                               &(struct diff_otherwise){buffer_slice(&text), exit_code,
                                                        result.is_other_program});
        } else {
            print_report(&report, &text);
            exit_code = report.has_failed ? EXIT_CODE_INPUT_FAILED : exit_code;
        }
        if (is_drawn && !draw(options, pair, &output, &result)) {
            exit_code = EXIT_CODE_INPUT_FAILED;
        }
    }
    buffer_release(&text);
    diff_output_release(&output);
    diff_report_release(&report);
    return exit_code;
}

/* ---- several pairs ---- */

/* Reports of several pairs: the full one of the pair that differs first, and a line for each
 * pair. */
struct diff_several {
    struct buffer best;  /* owned */
    struct buffer lines; /* owned */
    uint64_t first;      /* event of B at which that pair differs */
    bool has_best;
};

static void add_pair(struct diff_several *several,
                     const struct diff_command_options *options,
                     const struct diff_pair *pair,
                     struct diff_report *report,
                     const struct diff_result *result)
{
    bool is_different = !diff_result_is_equal(result) || result->is_other_program;

    buffer_add(&several->lines, SLICE("  "));
    buffer_add_printable(&several->lines, slice_of(pair->name));
    buffer_add(&several->lines, SLICE(": "));
    diff_report_add_line(report, result, &several->lines);
    if (is_different && (!several->has_best || report->first_event < several->first)) {
        several->has_best = true;
        several->first = report->first_event;
        several->best.size = 0;
        diff_report_add(report, result, &several->best);
        if (!options->is_quiet) {
            buffer_add(&several->best, SLICE("  this is "));
            buffer_add_printable(&several->best, slice_of(pair->name));
            buffer_add(&several->best, SLICE(", the first to differ:\n"));
        }
    }
}

static enum exit_code diff_pair_of_many(const struct diff_command_options *options,
                                        const struct diff_pair *pair,
                                        struct diff_several *several)
{
    struct diff_report report;
    struct diff_result result;
    struct buffer text = BUFFER_INIT;
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;

    diff_report_init(&report, options);
    report.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    report.traces[0] = slice_of(pair->paths[0]);
    report.traces[1] = slice_of(pair->paths[1]);
    if (compare(options, pair, &report, NULL, &result)) {
        if (options->is_json) {
            buffer_add(&text, buffer_slice(&report.json));
            diff_json_add_verdict(&report, &result, &text);
            print_report(&report, &text);
        } else {
            add_pair(several, options, pair, &report, &result);
        }
        exit_code = verdict_of(options, pair, &report, &result);
    }
    buffer_release(&text);
    diff_report_release(&report);
    return exit_code;
}

static enum exit_code diff_many(const struct diff_command_options *options,
                                const struct diff_pairs *pairs)
{
    struct diff_several several = {.best = BUFFER_INIT, .lines = BUFFER_INIT};
    enum exit_code exit_code = EXIT_CODE_DONE;

    for (size_t i = 0; i < pairs->count; i++) {
        exit_code = exit_code_worse(
            exit_code, diff_pair_of_many(options, &pairs->pairs[i], &several));
    }
    if (!several.has_best && !options->is_json) {
        buffer_add_format(&several.best, "equal: %zu pairs of traces\n", pairs->count);
    }
    if (!options->is_quiet) {
        buffer_add(&several.best, buffer_slice(&several.lines));
    }
    if (several.best.has_failed || several.lines.has_failed) {
        print_message("", "out of memory");
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else if (!options->is_json && !output_print(buffer_slice(&several.best))) {
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    buffer_release(&several.best);
    buffer_release(&several.lines);
    return exit_code;
}

static void print_left_out(const struct diff_pairs *pairs)
{
    char text[160];

    for (size_t i = 0; i < pairs->left_out_count; i++) {
        snprintf(text, sizeof text,
                 "not compared: an earlier job wrote this trace (WORLD_SIZE of rank 0 "
                 "is %ld)",
                 pairs->world_size);
        print_message(pairs->left_out[i], text);
    }
}

static enum exit_code diff_of_traces(const struct diff_command_options *options)
{
    struct error error = ERROR_INIT;
    struct diff_pairs pairs = {.count = 0};
    enum exit_code exit_code;
    bool is_found = diff_pairs_find(&pairs, options, &error);

    print_left_out(&pairs);
    if (!is_found) {
        print_message("", error.text);
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else if (options->output != NULL && pairs.count != 1) {
        error_set(&error, ERROR_USAGE,
                  "-o %.80s: a picture shows one pair of traces, these are %zu pairs",
                  options->output, pairs.count);
        exit_code = refuse(NAME, &error);
    } else if (options->is_by_values && pairs.count == 1) {
        exit_code = diff_by_values(options, &pairs.pairs[0], NULL);
    } else {
        exit_code = pairs.count == 1 ? diff_one(options, &pairs.pairs[0])
                                     : diff_many(options, &pairs);
    }
    diff_pairs_release(&pairs);
    return exit_code;
}

enum exit_code diff_run(int word_count, char **words)
{
    struct error error = ERROR_INIT;
    struct diff_command_options options;
    enum exit_code exit_code;

    if (!diff_options_read(&options, word_count, words, &error)) {
        exit_code = refuse(NAME, &error);
    } else if (!diff_saved_is_wanted(&options)) {
        exit_code = diff_of_traces(&options);
    } else if (!diff_saved_check(&options, &error)) {
        exit_code = refuse(NAME, &error);
    } else {
        exit_code = diff_saved_run(&options);
    }
    diff_options_release(&options);
    return exit_code;
}
