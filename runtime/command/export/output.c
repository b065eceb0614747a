/* Where an export goes: a file, or standard output. */
#include "runtime/command/export/output.h"

#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"

#include <string.h>

static bool is_file(const struct export_output *output)
{
    return strcmp(output->path, "-") != 0;
}

static bool write_text(struct export_output *output, struct error *error)
{
    bool is_written;

    if (output->text.has_failed) {
        export_output_release(output);
        return error_set_memory(error);
    }
    if (is_file(output)) {
        is_written = file_draft_add(&output->draft, buffer_slice(&output->text), error);
    } else {
        *error = ERROR_INIT; /* what fails is told there */
        is_written = output_print(buffer_slice(&output->text));
    }
    output->text.size = 0;
    if (!is_written) {
        export_output_release(output);
    }
    return is_written;
}

bool export_output_open(struct export_output *output, struct error *error)
{
    if (is_file(output) &&
        !file_draft_open(&output->draft, output->path, FILE_MODE_DEFAULT, error)) {
        return false;
    }
    output->is_open = true;
    return true;
}

bool export_output_flush(struct export_output *output, struct error *error)
{
    return output->text.size < OUTPUT_PIECE || write_text(output, error);
}

bool export_output_finish(struct export_output *output, struct error *error)
{
    if (!write_text(output, error)) {
        return false;
    }
    output->is_open = false;
    return !is_file(output) || file_draft_finish(&output->draft, error);
}

void export_output_release(struct export_output *output)
{
    if (output->is_open && is_file(output)) {
        file_draft_abandon(&output->draft);
    }
    output->is_open = false;
    buffer_release(&output->text);
}
