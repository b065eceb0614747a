/* The work on one file. */
#include "instrument/command/job.h"

#include "instrument/command/listing.h"
#include "instrument/instrument.h"
#include "instrument/select/selection.h"
#include "instrument/select/unmatched.h"
#include "instrument/text/encoding.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/hash.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The current item, with everything that the work on it needs. */
struct job {
    struct worker *worker;   /* borrowed */
    const struct item *item; /* borrowed */
    const char *name;        /* of the source, in messages and tables */
    struct outcome *outcome; /* borrowed */
    struct error error;
};

/* ---- messages, as printed to a terminal ---- */

#define BOLD    "\033[1m"
#define MAGENTA "\033[35;1m"
#define CYAN    "\033[36;1m"
#define NORMAL  "\033[0m"

static bool job_read_table(struct job *job,
                           struct slice bytes,
                           const char *path,
                           struct site_table *table,
                           bool *has_table);
static bool job_check(struct job *job);
static bool job_update(struct job *job);

static void
add_colored(struct buffer *text, struct slice part, const char *color, bool has_color)
{
    if (has_color) {
        buffer_add(text, slice_of(color));
    }
    buffer_add(text, part);
    if (has_color) {
        buffer_add(text, SLICE(NORMAL));
    }
}

/* Adds a message that begins with its position. */
static void message_add_text(struct buffer *text, struct slice message, bool has_color)
{
    size_t size = slice_find(message, SLICE(": "), 0);

    if (size < message.size) {
        add_colored(text, slice_part(message, 0, size + 1), BOLD, has_color);
        message = slice_part(message, size + 1, message.size);
    }
    buffer_add(text, message);
    buffer_add_byte(text, '\n');
}

/* Adds a line `path:line:column: text`. An error without a position (out of memory) gets the
 * first of the file. */
static void message_add_error(struct buffer *text,
                              const char *path,
                              const struct error *error,
                              bool has_color)
{
    struct error placed = *error;

    if (error->kind == ERROR_MEMORY) {
        error_set_at(&placed, ERROR_MEMORY, path, 1, 1, "%s", error->text);
    }
    message_add_text(text, slice_of(placed.text), has_color);
}

/* Adds a line `path:line:column: warning: text`, or `remark:`. */
static void message_add_note(struct buffer *text,
                             const char *path,
                             const struct note *note,
                             bool has_color)
{
    bool is_warning = note->kind == NOTE_WARNING;
    struct error place;

    error_set_at(&place, ERROR_NONE, path, note->line, note->column, "%s", "");
    place.text[strlen(place.text) - 1] = '\0'; /* the blank after the last colon */
    add_colored(text, slice_of(place.text), BOLD, has_color);
    buffer_add_byte(text, ' ');
    add_colored(text, is_warning ? SLICE("warning:") : SLICE("remark:"),
                is_warning ? MAGENTA : CYAN, has_color);
    buffer_add_byte(text, ' ');
    buffer_add_printable(text, note->text);
    buffer_add_byte(text, '\n');
}

/* The maximum size of a traced file. Includes room for insertions, and for an encoding that
 * needs more bytes than UTF-8. */
#define TRACED_SIZE_LIMIT ((INSTRUMENT_SIZE_LIMIT + INSTRUMENT_INSERTED_LIMIT) * 2)

void outcome_init(struct outcome *outcome)
{
    *outcome = (struct outcome){.out = BUFFER_INIT, .messages = BUFFER_INIT};
}

void outcome_release(struct outcome *outcome)
{
    buffer_release(&outcome->out);
    buffer_release(&outcome->messages);
}

void worker_init(struct worker *worker, const struct options *options)
{
    *worker = (struct worker){.options = options};
    instrumented_init(&worker->result);
    arena_init(&worker->arena);
}

void worker_release(struct worker *worker)
{
    instrumented_release(&worker->result);
    arena_release(&worker->arena);
    buffer_release(&worker->source);
    buffer_release(&worker->other);
    buffer_release(&worker->words);
}

/* ---- outcomes ---- */

/* Sets the exit code, unless it is worse already. */
static void job_raise_code(struct job *job, enum exit_code code)
{
    if (code > job->outcome->exit_code) {
        job->outcome->exit_code = code;
    }
}

static void job_fail(struct job *job)
{
    message_add_error(&job->outcome->messages, job->name, &job->error,
                      job->worker->has_message_color);
    job_raise_code(job, EXIT_CODE_INPUT_FAILED);
}

static void job_add_notes(struct job *job, const struct note *notes, size_t count)
{
    if (job->worker->options->is_quiet) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        message_add_note(&job->outcome->messages, job->name, &notes[i],
                         job->worker->has_message_color);
    }
}

static void job_remark(struct job *job, enum note_kind kind, const char *text)
{
    struct note note = {kind, 1, 1, slice_of(text)};

    job_add_notes(job, &note, 1);
}

/* Reports a check that failed. --quiet does not suppress it, because it is the answer. */
static void
job_fail_check(struct job *job, const char *path, const char *what, const char *source)
{
    struct error place;

    error_set_at(&place, ERROR_INPUT, path, 1, 1, "%s%s", what, source);
    message_add_text(&job->outcome->messages, slice_of(place.text),
                     job->worker->has_message_color);
    job_raise_code(job, EXIT_CODE_CHECK_FAILED);
}

/* ---- reading and writing ---- */

/* Functions that read the source into worker.source, and another file into worker.other. On
 * failure they set job.error. */
static bool job_read(struct job *job, size_t limit)
{
    struct worker *worker = job->worker;

    worker->source.size = 0;
    worker->source.has_failed = false;
    if (strcmp(job->item->path, "-") == 0) {
        return file_read_descriptor(STDIN_FILENO, job->name, limit, &worker->source,
                                    &job->error);
    }
    return file_read(job->item->path, limit, &worker->source, &job->error);
}

static bool job_read_other(struct job *job, const char *path)
{
    struct worker *worker = job->worker;

    worker->other.size = 0;
    worker->other.has_failed = false;
    return file_read(path, TRACED_SIZE_LIMIT, &worker->other, &job->error);
}

/* Writes the text to the item's output. For standard output the text is moved, and the buffer is
 * empty afterwards. */
static bool job_write(struct job *job, struct buffer *text, bool is_changed)
{
    const struct item *item = job->item;
    struct buffer chosen = *text;

    if (text->has_failed) {
        return error_set_memory(&job->error);
    }
    if (item->output == NULL) {
        *text = job->outcome->out;
        job->outcome->out = chosen;
        return true;
    }
    if (job->worker->options->is_in_place && !is_changed) {
        return true;
    }
    if (!file_write(item->output, buffer_slice(text), item->mode, &job->error)) {
        return false;
    }
    job->outcome->is_written = true;
    return true;
}

/* ---- tables of traced files ---- */

/* ---- the modes ---- */

static void job_count_functions(struct job *job)
{
    const struct instrumented *result = &job->worker->result;

    job->outcome->function_count = result->function_count;
    job->outcome->selected_count = result->selected_count;
    job->outcome->skipped_count = result->skipped_count;
}

/* Adds a warning for each glob that selects nothing. Skipped for several files, because each
 * file has other functions. */
static bool warn_of_unmatched(struct job *job)
{
    struct worker *worker = job->worker;
    struct buffer text = BUFFER_INIT;
    size_t start = 0;
    bool is_done = true;

    if (worker->is_alone && !worker->options->is_quiet) {
        is_done = unmatched_write(buffer_slice(&worker->source), job->name,
                                  &worker->options->selection, &text, &job->error);
    }
    while (is_done && start < text.size) {
        size_t end = slice_find(buffer_slice(&text), SLICE("\n"), start);
        struct note note = {NOTE_WARNING, 1, 1,
                            slice_part(buffer_slice(&text), start, end)};

        job_add_notes(job, &note, 1);
        start = end + 1;
    }
    if (is_done && text.has_failed) {
        is_done = error_set_memory(&job->error);
    }
    buffer_release(&text);
    return is_done;
}

static bool run_instrument(struct job *job)
{
    struct worker *worker = job->worker;
    struct instrumented *result = &worker->result;

    if (!job_read(job, INSTRUMENT_SIZE_LIMIT) ||
        !instrument(buffer_slice(&worker->source), job->name,
                    &worker->options->selection, result, &job->error)) {
        return false;
    }
    job_add_notes(job, result->notes, result->note_count);
    if (!result->is_changed && worker->is_alone) {
        job_remark(job, NOTE_REMARK,
                   "nothing is selected, the output equals the source; --all "
                   "selects every function");
    }
    if (!warn_of_unmatched(job)) {
        return false;
    }
    job_count_functions(job);
    return job_write(job, &result->text, result->is_changed);
}

static bool run_strip(struct job *job)
{
    struct worker *worker = job->worker;
    struct slice text;
    bool is_exact;

    if (!job_read(job, TRACED_SIZE_LIMIT)) {
        return false;
    }
    text = buffer_slice(&worker->source);
    worker->other.size = 0;
    worker->other.has_failed = false;
    if (!instrument_strip(text, job->name, &worker->other, &is_exact, &job->error)) {
        return false;
    }
    if (!is_exact) {
        job_remark(
            job, NOTE_WARNING,
            "was edited after it was instrumented: the result differs from its source");
    }
    return job_write(job, &worker->other,
                     !slice_equal(text, buffer_slice(&worker->other)));
}

static bool run_list(struct job *job)
{
    struct worker *worker = job->worker;
    struct instrumented *result = &worker->result;
    struct buffer *out = &job->outcome->out;
    struct site_table table = {0};
    struct slice source;

    if (!job_read(job, TRACED_SIZE_LIMIT)) {
        return false;
    }
    source = buffer_slice(&worker->source);
    if (instrument_is_instrumented(source)) {
        bool has_table;

        if (!job_read_table(job, source, job->name, &table, &has_table)) {
            return false;
        }
        if (!has_table) {
            error_set_at(&job->error, ERROR_INPUT, job->name, 1, 1,
                         "is instrumented, but its site table is missing");
            return false;
        }
    } else {
        if (!instrument(source, job->name, &worker->options->selection, result,
                        &job->error)) {
            return false;
        }
        table = result->table;
    }
    if (worker->options->is_json) {
        listing_add_json(&table, job->name, result->notes, result->note_count, out);
    } else {
        job_add_notes(job, result->notes, result->note_count);
        listing_add_text(&table, job->name, worker->has_out_color, out);
    }
    job_count_functions(job);
    return true;
}

static bool run_refuse(struct job *job)
{
    struct worker *worker = job->worker;
    struct note *notes;
    size_t count;

    if (!job_read(job, TRACED_SIZE_LIMIT) ||
        !instrument_find_debug_code(buffer_slice(&worker->source), job->name,
                                    &worker->arena, &notes, &count, &job->error)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct error place;

        error_set_at(&place, ERROR_INPUT, job->name, notes[i].line, notes[i].column,
                     "%.*s", (int)notes[i].text.size, notes[i].text.bytes);
        message_add_text(&job->outcome->messages, slice_of(place.text),
                         worker->has_message_color);
        job_raise_code(job, EXIT_CODE_CHECK_FAILED);
    }
    return true;
}

static bool run_mode(struct job *job)
{
    switch (job->worker->options->mode) {
    case MODE_STRIP:
        return run_strip(job);
    case MODE_CHECK:
        return job_check(job);
    case MODE_LIST:
        return run_list(job);
    case MODE_UPDATE:
        return job_update(job);
    case MODE_REFUSE:
        return run_refuse(job);
    default:
        return run_instrument(job);
    }
}

void worker_run(struct worker *worker, const struct item *item, struct outcome *outcome)
{
    bool is_standard_input = strcmp(item->path, "-") == 0;
    struct job job = {.worker = worker,
                      .item = item,
                      .name = is_standard_input ? "<stdin>" : item->path,
                      .outcome = outcome};

    if (item->is_repeated) {
        return;
    }
    if (item->refusal != NULL) {
        message_add_text(&outcome->messages, slice_of(item->refusal),
                         worker->has_message_color);
        job_raise_code(&job, EXIT_CODE_INPUT_FAILED);
        return;
    }
    instrumented_reset(&worker->result);
    arena_reset(&worker->arena);
    if (!run_mode(&job)) {
        job_fail(&job);
    } else if (outcome->out.has_failed) {
        error_set_memory(&job.error);
        outcome->out.size = 0;
        job_fail(&job);
    }
    if (outcome->messages.has_failed) {
        job_raise_code(&job, EXIT_CODE_INPUT_FAILED);
    }
}

/* ---- --check and --update: comparing a traced file with its source ---- */

/* Reads the table of a traced file. Decodes the text to UTF-8 first, because other encodings may
 * have ASCII bytes inside their characters. */
static bool job_read_table(struct job *job,
                           struct slice bytes,
                           const char *path,
                           struct site_table *table,
                           bool *has_table)
{
    struct arena *arena = &job->worker->arena;
    struct decoded decoded;
    struct slice text;

    *has_table = false;
    if (!encoding_decode(bytes, path, arena, &decoded, &job->error)) {
        return false;
    }
    if (!instrument_find_table(decoded.utf8, &text) || text.bytes == NULL) {
        return true;
    }
    if (!site_table_read(table, text, arena, &job->error)) {
        struct error reason = job->error;

        error_set_at(&job->error, reason.kind, path, 1, 1, "%s", reason.text);
        return false;
    }
    *has_table = true;
    return true;
}

static bool is_made_from(const struct site_table *table, struct slice source)
{
    uint64_t hash[2];

    hash_128(source, hash);
    return hash[0] == table->source_hash[0] && hash[1] == table->source_hash[1];
}
static bool check_options(struct job *job, const struct site_table *table)
{
    struct worker *worker = job->worker;
    const char *output = job->item->output;
    struct slice wanted;

    if (!worker->options->has_selection) {
        return true;
    }
    worker->words.size = 0;
    worker->words.has_failed = false;
    selection_write(&worker->options->selection, &worker->words);
    wanted = arena_copy(&worker->arena, buffer_slice(&worker->words));
    if (worker->words.has_failed || wanted.bytes == NULL) {
        return error_set_memory(&job->error);
    }
    if (!slice_equal(wanted, table->options)) {
        job_fail_check(job, output, "made with another selection, expected ",
                       wanted.bytes);
    }
    return true;
}

/* The modes --check and --update. */
static bool job_check(struct job *job)
{
    struct worker *worker = job->worker;
    const char *output = job->item->output;
    struct slice source;
    struct site_table table;
    bool has_table;

    if (!job_read(job, INSTRUMENT_SIZE_LIMIT)) {
        return false;
    }
    source = buffer_slice(&worker->source);
    if (!file_inspect(output).is_there) {
        job_fail_check(job, output, "missing, expected to be made from ", job->name);
        return true;
    }
    if (!job_read_other(job, output) ||
        !job_read_table(job, buffer_slice(&worker->other), output, &table,
                        &has_table)) {
        return false;
    }
    if (!has_table) {
        /* If nothing was selected, the output must equal the source. */
        if (!slice_equal(source, buffer_slice(&worker->other))) {
            job_fail_check(job, output, "not instrumented, expected to be made from ",
                           job->name);
        }
    } else if (!is_made_from(&table, source)) {
        job_fail_check(job, output, "out of date, expected to be made again from ",
                       job->name);
    } else {
        return check_options(job, &table);
    }
    return true;
}
static bool make_again(struct job *job, const struct site_table *table)
{
    struct worker *worker = job->worker;
    struct instrumented *result = &worker->result;
    struct slice path = arena_copy(&worker->arena, table->path);
    struct selection selection;

    if (path.bytes == NULL) {
        return error_set_memory(&job->error);
    }
    if (!selection_read(&selection, table->options, &worker->arena, &job->error)) {
        struct error reason = job->error;

        error_set_at(&job->error, reason.kind, job->item->output, 1, 1, "%s",
                     reason.text);
        return false;
    }
    if (!instrument(buffer_slice(&worker->source), path.bytes, &selection, result,
                    &job->error)) {
        return false;
    }
    job_add_notes(job, result->notes, result->note_count);
    job_count_functions(job);
    return job_write(job, &result->text, true);
}

static bool job_update(struct job *job)
{
    struct worker *worker = job->worker;
    struct buffer *out = &job->outcome->out;
    const char *output = job->item->output;
    struct site_table table;
    bool has_table;

    if (!job_read(job, INSTRUMENT_SIZE_LIMIT) || !job_read_other(job, output) ||
        !job_read_table(job, buffer_slice(&worker->other), output, &table,
                        &has_table)) {
        return false;
    }
    /* A file that is not traced and only has such a name is left alone. */
    if (!has_table || is_made_from(&table, buffer_slice(&worker->source))) {
        return true;
    }
    if (!make_again(job, &table)) {
        return false;
    }
    buffer_add_printable(out, slice_of(output));
    buffer_add(out, SLICE(": made again from "));
    buffer_add_printable(out, slice_of(job->name));
    buffer_add_byte(out, '\n');
    job_raise_code(job, EXIT_CODE_CHECK_FAILED);
    return true;
}
