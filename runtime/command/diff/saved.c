/* `monitorch diff` of tensors that were saved one by one. */
#include "runtime/command/diff/saved.h"

#include "runtime/base/arguments/arguments.h"
#include "runtime/base/buffer.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/diff/saved_report.h"
#include "runtime/command/shared/progress.h"
#include "runtime/command/subcommand.h"
#include "runtime/trace/reader.h"
#include "runtime/view/diff/saved/saved.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* ---- what is compared ---- */

static bool is_saved_name(struct slice name)
{
    return slice_ends(name, SLICE(".pt")) || slice_ends(name, SLICE(".safetensors"));
}

/* Whether a saver wrote the trace, not a recording: of its first event stands there what it was
 * saved as. */
static bool is_of_saver(const char *path)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader = log_reader_new(path, &error);
    struct log_item item;
    unsigned event_count = 0;
    bool is_found = error.kind == ERROR_MEMORY; /* then that is told */

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

/* A trace that is named itself is compared as a trace, whoever wrote it. */
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
        return false; /* told by who reads it */
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

/* Whether a full name of the folder holds that part. */
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

/* Files that could not be read at all, and then those that did not hold what they told. */
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
