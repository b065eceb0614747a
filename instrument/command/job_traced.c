/* --check and --update: a traced file, and what it was made from. */
#include "instrument/command/job.h"
#include "instrument/command/job_parts.h"
#include "instrument/command/listing.h"
#include "instrument/command/message.h"
#include "instrument/select/selection.h"
#include "instrument/text/encoding.h"
#include "runtime/base/file/file.h"
#include "runtime/base/hash/hash.h"

#include <unistd.h>

bool job_read_table(struct job *job,
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

bool job_check(struct job *job)
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
        /* Where nothing was selected the output is the source, and that is as it should be. */
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

bool job_update(struct job *job)
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
    /* A file that only has such a name is no business of ours. */
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
