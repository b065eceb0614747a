/* Where an export goes: a file, which is there when it is whole, or standard output. */
#ifndef MONITORCH_COMMAND_EXPORT_OUTPUT_H
#define MONITORCH_COMMAND_EXPORT_OUTPUT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/draft.h"

#include <stdbool.h>

struct export_output {
    const char *path; /* borrowed; "-": standard output; NULL: this is not asked for */
    bool is_open;
    struct buffer text;      /* owned; what is not written yet */
    struct file_draft draft; /* of a file */
};

/* An error without a kind has been told already. Each that fails closes the output, and leaves
 * the file that was there as it was. */
bool export_output_open(struct export_output *output, struct error *error);
/* Writes what was added to `text`, where it is much. */
bool export_output_flush(struct export_output *output, struct error *error);
bool export_output_finish(struct export_output *output, struct error *error);
/* In any case, at the end. */
void export_output_release(struct export_output *output);

#endif
