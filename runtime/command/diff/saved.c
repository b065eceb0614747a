/* `monitorch diff` of tensors that were saved one by one. */

#include "runtime/base/arguments/arguments.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/diff/saved_report.h"
#include "runtime/command/diff/text.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/saved/saved.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the first divergence, in words ---- */

#define FUNCTION_LIMIT 160

static void diff_saved_add_name(struct buffer *text, const struct saved_entry *entry);

static bool has_place(const struct saved_entry *entry)
{
    return entry != NULL && entry->tensor.file.size > 0 && entry->tensor.line > 0;
}

static void add_place(struct buffer *text, const struct saved_entry *entry)
{
    buffer_add_printable(text, entry->tensor.file);
    buffer_add_byte(text, ':');
    buffer_add_number(text, entry->tensor.line);
}

static void add_painted(struct buffer *text,
                        const struct saved_entry *entry,
                        void (*add)(struct buffer *, const struct saved_entry *),
                        bool has_color)
{
    paint_start(text, has_color, PAINT_CALL);
    add(text, entry);
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
}

static void
add_line(struct buffer *text, const struct diff_saved_finding *finding, bool has_color)
{
    const struct saved_entry *const *entries = finding->entries;
    const struct saved_entry *entry = entries[1] != NULL ? entries[1] : entries[0];
    const struct saved_entry *placed = has_place(entries[1]) ? entries[1] : entries[0];
    bool is_placed = has_place(placed);

    if (is_placed) {
        add_painted(text, placed, add_place, has_color);
    } else {
        add_painted(text, entry, diff_saved_add_name, has_color);
    }
    paint_start(text, has_color, PAINT_ALARM);
    buffer_add(text, SLICE("first divergence"));
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
    if (is_placed) {
        diff_saved_add_name(text, entry);
        buffer_add(text, SLICE(": "));
    }
    buffer_add(text, finding->words);
    buffer_add_byte(text, '\n');
}

/* Adds A's text if B's differs, and releases both. */
static void
add_if_other(struct buffer *text, struct slice what, struct buffer *a, struct buffer *b)
{
    if (!slice_equal(buffer_slice(a), buffer_slice(b))) {
        buffer_add(text, what);
        buffer_add(text, buffer_slice(a));
        buffer_add_byte(text, '\n');
    }
    text->has_failed = text->has_failed || a->has_failed || b->has_failed;
    buffer_release(a);
    buffer_release(b);
}

/* Adds A's name and place, if B's differ. */
static void add_other_side(struct buffer *text,
                           const struct saved_entry *a,
                           const struct saved_entry *b)
{
    struct buffer names[2] = {BUFFER_INIT, BUFFER_INIT};
    struct buffer places[2] = {BUFFER_INIT, BUFFER_INIT};

    diff_saved_add_name(&names[0], a);
    diff_saved_add_name(&names[1], b);
    add_if_other(text, SLICE("  in A it is "), &names[0], &names[1]);
    if (has_place(a) && has_place(b)) {
        add_place(&places[0], a);
        add_place(&places[1], b);
    }
    add_if_other(text, SLICE("  in A, "), &places[0], &places[1]);
}

static void add_values(struct buffer *text,
                       const struct diff_saved_finding *finding,
                       bool has_color)
{
    for (unsigned side = 0; side < 2; side++) {
        buffer_add(text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
        value_text_add(text, finding->events[side], has_color);
        buffer_add_byte(text, '\n');
    }
    if (finding->distance != NULL) {
        buffer_add(text, SLICE("  distance: "));
        diff_distance_add(text, finding->distance, finding->events[1]->shape);
        buffer_add_byte(text, '\n');
    }
}

/* Adds the whole report of the first divergence. */
static void diff_saved_first_add(struct buffer *text,
                                 const struct diff_saved_finding *finding,
                                 bool has_color)
{
    const struct saved_entry *const *entries = finding->entries;
    const struct saved_entry *entry = entries[1] != NULL ? entries[1] : entries[0];

    add_line(text, finding, has_color);
    if (entry->tensor.function.size > 0) {
        buffer_add(text, SLICE("  in "));
        text_add_shortened(text, entry->tensor.function, FUNCTION_LIMIT);
        buffer_add_byte(text, '\n');
    }
    if (entries[0] != NULL && entries[1] != NULL) {
        add_other_side(text, entries[0], entries[1]);
    }
    if (finding->events[0] != NULL) {
        add_values(text, finding, has_color);
    }
    if (finding->before != NULL) {
        buffer_add(text, SLICE("  before it "));
        diff_text_add_grouped(text, finding->equal_before);
        buffer_add(text, finding->equal_before == 1 ? SLICE(" is equal: ")
                                                    : SLICE(" are equal, the last: "));
        diff_saved_add_name(text, finding->before);
        if (has_place(finding->before)) {
            buffer_add(text, SLICE(" ("));
            add_place(text, finding->before);
            buffer_add_byte(text, ')');
        }
        buffer_add_byte(text, '\n');
    }
}

/* ---- the report ---- */

/* To be released. */
static void diff_saved_report_init(struct diff_saved_report *report,
                                   const struct diff_command_options *options)
{
    *report = (struct diff_saved_report){.options = options};
}

static void diff_saved_report_release(struct diff_saved_report *report)
{
    report_rows_release(&report->rows);
    buffer_release(&report->first);
    buffer_release(&report->json);
    buffer_release(&report->unread);
}

/* Adds `step0.encoder.attn.q.call3`: the name of its file without escapes. */
static void diff_saved_add_name(struct buffer *text, const struct saved_entry *entry)
{
    struct buffer name = BUFFER_INIT;

    saved_key_add_full_name(&entry->tensor.key, &name);
    buffer_add_printable(text, buffer_slice(&name));
    text->has_failed = text->has_failed || name.has_failed;
    buffer_release(&name);
    buffer_add(text, SLICE(".call"));
    buffer_add_number(text, entry->tensor.key.call);
}

/* ---- callbacks of diff_saved ---- */

static bool add_row(struct diff_saved_report *report,
                    const struct diff_saved_finding *finding)
{
    unsigned side = finding->entries[1] != NULL ? 1 : 0;
    const struct saved_entry *entry = finding->entries[side];
    struct report_row_key key = {
        .list = finding->entries[1 - side] != NULL ? DIFF_SAVED_DIFFERENT
                : side == 0                        ? DIFF_SAVED_A_ALONE
                                                   : DIFF_SAVED_B_ALONE,
    };
    struct buffer *texts = &report->rows.texts;
    struct report_row *row = report_rows_add(&report->rows, &key, SLICE(""));

    if (row == NULL) {
        return false;
    }
    if (has_place(entry)) {
        add_place(texts, entry);
    }
    row->place_size = texts->size - row->start;
    diff_saved_add_name(texts, entry);
    row->name_size = texts->size - row->start - row->place_size;
    if (key.list == DIFF_SAVED_DIFFERENT) {
        buffer_add_printable(texts, finding->words);
        row->words_size = texts->size - row->start - row->place_size - row->name_size;
    }
    return !texts->has_failed;
}

static void note_unread(struct diff_saved_report *report,
                        const struct diff_saved_finding *finding)
{
    buffer_add_printable(&report->unread, finding->words);
    buffer_add(&report->unread, SLICE(" ("));
    diff_saved_add_name(&report->unread, finding->entries[1]);
    buffer_add(&report->unread, SLICE(")\n"));
}

/* Callback for diff_saved_options.found. The context is the report. */
static bool diff_saved_report_found(void *context,
                                    const struct diff_saved_finding *finding)
{
    struct diff_saved_report *report = context;
    bool is_json = report->options->is_json;

    if (finding->is_first) {
        diff_saved_first_add(&report->first, finding, report->has_color && !is_json);
    }
    if (finding->cause == DIFF_CAUSE_NONE) {
        note_unread(report, finding);
    }
    if (is_json) {
        diff_saved_json_add(&report->json, finding, buffer_slice(&report->first));
        report->has_failed = report->has_failed || report->json.has_failed ||
                             !output_flush(&report->json, OUTPUT_PIECE);
    } else if (finding->cause != DIFF_CAUSE_NONE && !add_row(report, finding)) {
        report->has_failed = true;
    }
    report->has_failed = report->has_failed || report->first.has_failed ||
                         report->json.has_failed || report->unread.has_failed;
    return !report->has_failed;
}

/* ---- the verdict ---- */

static void add_alone(struct buffer *text, const struct diff_saved_result *result)
{
    diff_text_add_alone(text, result->only);
    diff_text_add_part(text, result->unread, SLICE("could not be read"));
    diff_text_add_part(text, result->ignored, SLICE("ignored"));
}

static void add_verdict(const struct diff_saved_report *report,
                        const struct diff_saved_result *result,
                        struct buffer *text)
{
    uint64_t both = result->equal + result->different + result->unread;

    if (both + result->ignored == 0 && result->only[0] > 0 && result->only[1] > 0) {
        buffer_add(text, SLICE("different: no saved tensor has the same name in both "
                               "(--map OLD=NEW matches renamed ones)"));
    } else if (both == 0 && diff_saved_is_equal(result)) {
        buffer_add(text, SLICE("nothing to compare"));
    } else if (diff_saved_is_equal(result)) {
        diff_text_add_equal(text, result->equal, "tensor", result->close,
                            report->options->tolerance.is_exact);
    } else {
        buffer_add(text, result->only[0] + result->only[1] > 0
                             ? SLICE("different: ")
                             : SLICE("some files could not be read: "));
        diff_text_add_count(text, result->equal, "tensor");
        buffer_add(text, result->equal == 1 ? SLICE(" is equal") : SLICE(" are equal"));
    }
    add_alone(text, result);
    buffer_add_byte(text, '\n');
}

static void add_counts(const struct diff_saved_result *result, struct buffer *text)
{
    buffer_add(text, SLICE("\n"
                           "  "));
    diff_text_add_both(text, result->equal + result->different + result->unread,
                       "tensor", result->equal, result->close);
    buffer_add(text, SLICE(", "));
    diff_text_add_grouped(text, result->different);
    buffer_add(text, SLICE(" different"));
    add_alone(text, result);
    buffer_add_byte(text, '\n');
}

/* Appends the whole report, the verdict's line first. */
static void diff_saved_report_add(const struct diff_saved_report *report,
                                  const struct diff_saved_result *result,
                                  struct buffer *text)
{
    struct slice first = buffer_slice(&report->first);
    const struct {
        enum diff_saved_list list;
        const char *heading;
    } lists[] = {
        {DIFF_SAVED_DIFFERENT,
         result->is_ordered
             ? "different, in the order in which they were saved"
             : "different, by name (the files do not hold the order of saving)"},
        {DIFF_SAVED_A_ALONE, "only in A"},
        {DIFF_SAVED_B_ALONE, "only in B"},
    };

    if (first.size == 0) {
        add_verdict(report, result, text);
    } else if (report->options->is_quiet) {
        buffer_add(text, slice_part(first, 0, slice_find(first, SLICE("\n"), 0) + 1));
    } else {
        buffer_add(text, first);
        add_counts(result, text);
    }
    if (report->options->is_quiet) {
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        report_rows_print(&report->rows, lists[i].list, lists[i].heading, "tensor",
                          report->options->is_all ? SIZE_MAX : DIFF_LIST_LIMIT, text);
    }
}

/* ---- are A and B saved tensors ---- */

static bool is_saved_name(struct slice name)
{
    return slice_ends(name, SLICE(".pt")) || slice_ends(name, SLICE(".safetensors"));
}

/* Whether a saver wrote the trace, not a recording: its first event has a note with the saved
 * tensor's name. */
static bool is_of_saver(const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct log_item item;
    unsigned event_count = 0;
    bool is_found =
        error.kind == ERROR_MEMORY; /* the reader of the folder reports it */

    while (reader != NULL && !is_found && event_count < 2 &&
           log_reader_next(reader, &item)) {
        event_count += item.kind == LOG_EVENT;
        is_found = item.kind == LOG_NOTE && item.note.tag == LOG_NOTE_SAVED;
    }
    log_reader_free(reader);
    return is_found;
}

static bool is_saved_file(const char *folder, struct slice name)
{
    struct buffer path = BUFFER_INIT;
    bool is_saved = is_saved_name(name);

    if (!is_saved && slice_ends(name, SLICE(".mtrace"))) {
        buffer_add(&path, slice_of(folder));
        buffer_add_byte(&path, '/');
        buffer_add(&path, name);
        buffer_add_byte(&path, '\0');
        is_saved = !path.has_failed && is_of_saver(path.bytes);
        buffer_release(&path);
    }
    return is_saved;
}

/* Whether the path is a file of saved tensors, or a folder that has one. A trace that is named
 * itself is compared as a trace, even if a saver wrote it. */
static bool has_saved(const char *path)
{
    struct dirent *entry;
    DIR *directory;
    bool is_found = false;

    if (!file_inspect(path).is_directory) {
        return is_saved_name(slice_of(path));
    }
    directory = opendir(path);
    if (directory == NULL) {
        return false; /* its reader reports that */
    }
    while (!is_found && (entry = readdir(directory)) != NULL) {
        is_found = is_saved_file(path, slice_of(entry->d_name));
    }
    closedir(directory);
    return is_found;
}

bool diff_saved_is_wanted(const struct diff_command_options *options)
{
    return has_saved(options->traces.words[0]) ||
           (options->traces.count > 1 && has_saved(options->traces.words[1]));
}

bool diff_saved_check(const struct diff_command_options *options, struct error *error)
{
    if (options->output != NULL) {
        error_set(error, ERROR_USAGE,
                  "-o %.80s: saved tensors cannot be drawn, since their files hold no "
                  "sources of values; expected two recorded traces",
                  options->output);
        return false;
    }
    if (options->is_ranks) {
        return arguments_refuse("--ranks is for traces; saved tensors are compared as "
                                "two folders: monitorch diff A B",
                                error);
    }
    if (options->has_inherited) {
        return arguments_refuse("--inherited is for traces: files of saved tensors "
                                "hold no sources of values",
                                error);
    }
    return true;
}

/* ---- comparing ---- */

struct job {
    const struct diff_command_options *options; /* borrowed */
    struct saved_folder *folders[2];            /* owned */
    size_t damage_counts[2];
    struct diff_saved_report report;
    struct diff_saved_result result;
};

static bool report_progress(void *context, uint64_t tensors)
{
    progress_report(context, "monitorch diff: comparing, %llu tensors", tensors);
    return true;
}

static bool compare(struct job *job, struct error *error)
{
    const struct diff_command_options *options = job->options;
    struct progress progress;
    struct diff_saved_options saved = {
        .tolerance = options->tolerance,
        .ignored = options->ignored,
        .ignored_count = options->ignored_count,
        .are_files = !file_inspect(options->traces.words[0]).is_directory &&
                     !file_inspect(options->traces.words[1]).is_directory,
        .found = diff_saved_report_found,
        .context = &job->report,
        .progress = report_progress,
        .progress_context = &progress,
    };
    bool is_done;

    progress_init(&progress, options->is_quiet);
    is_done = diff_saved(job->folders, &saved, &job->result, error);
    progress_clear(&progress);
    return is_done;
}

/* Whether a full name of the folder contains that part. */
static bool is_known(const struct saved_folder *folder, struct slice part)
{
    struct buffer name = BUFFER_INIT;
    bool is_found = false;

    for (size_t i = 0; !is_found && i < saved_folder_count(folder); i++) {
        name.size = 0;
        saved_key_add_full_name(&saved_folder_entry(folder, i)->tensor.key, &name);
        is_found = slice_find(buffer_slice(&name), part, 0) < name.size;
    }
    is_found = is_found || name.has_failed;
    buffer_release(&name);
    return is_found;
}

static void report_unknown(const struct job *job)
{
    const struct diff_command_options *options = job->options;
    char line[200];

    for (size_t i = 0; !options->is_quiet && i < options->tolerance.rename_count; i++) {
        const struct slice names[2] = {options->renames[i].old_name,
                                       options->renames[i].new_name};

        for (unsigned side = 0; side < 2; side++) {
            if (!is_known(job->folders[side], names[side])) {
                snprintf(line, sizeof line, "remark: --map: no name matches %.*s in %s",
                         names[side].size < 100 ? (int)names[side].size : 100,
                         names[side].bytes, side == 0 ? "A" : "B");
                print_message("", line);
            }
        }
    }
}

/* Reports files that could not be read at all, then tensors that could not be read. */
static void report_damage(struct job *job)
{
    for (unsigned side = 0; side < 2; side++) {
        const char *text;

        while ((text = saved_folder_damage(job->folders[side],
                                           job->damage_counts[side])) != NULL) {
            job->damage_counts[side]++;
            print_message(job->options->traces.words[side], text);
        }
    }
    output_print_error(buffer_slice(&job->report.unread));
}

static bool print_report(struct job *job)
{
    struct buffer text = BUFFER_INIT;
    bool is_done;

    if (job->options->is_json) {
        buffer_add(&text, buffer_slice(&job->report.json));
        diff_saved_json_add_verdict(&text, &job->result, job->damage_counts);
    } else {
        diff_saved_report_add(&job->report, &job->result, &text);
    }
    if (text.has_failed) {
        print_message("", "out of memory");
    }
    is_done = !text.has_failed && output_print(buffer_slice(&text));
    buffer_release(&text);
    return is_done;
}

static enum exit_code verdict_of(const struct job *job)
{
    const struct diff_saved_result *result = &job->result;

    if (job->damage_counts[0] + job->damage_counts[1] + result->unread > 0) {
        return EXIT_CODE_INPUT_FAILED;
    }
    if (result->equal + result->different == 0) {
        return EXIT_CODE_CHECK_FAILED;
    }
    return diff_saved_is_equal(result) ? EXIT_CODE_DONE : EXIT_CODE_CHECK_FAILED;
}

enum exit_code diff_saved_run(const struct diff_command_options *options)
{
    struct error error = ERROR_INIT;
    struct job job = {.options = options};
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;
    bool is_done = true;

    diff_saved_report_init(&job.report, options);
    job.report.has_color = color_is_wanted(options->color, STDOUT_FILENO);
    for (unsigned side = 0; is_done && side < 2; side++) {
        job.folders[side] = saved_folder_open(options->traces.words[side], &error);
        is_done = job.folders[side] != NULL;
    }
    is_done = is_done && compare(&job, &error);
    if (is_done) {
        report_unknown(&job);
        report_damage(&job);
        if (print_report(&job)) {
            exit_code = verdict_of(&job);
        }
    } else {
        print_message("", error.text);
    }
    saved_folder_close(job.folders[0]);
    saved_folder_close(job.folders[1]);
    diff_saved_report_release(&job.report);
    return exit_code;
}
