/* Output files that a command line names. */
#ifndef MONITORCH_COMMAND_SHARED_OUTPUT_FILES_H
#define MONITORCH_COMMAND_SHARED_OUTPUT_FILES_H

#include "runtime/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output_file {
    const char *option; /* option as given: "-o" */
    const char *path;   /* borrowed; NULL: not given. "-": standard output */
};

/* Returns false if an output is one of the inputs, by any name or link, or the file of another
 * output; `error` says which. Files that a command finds later are checked when they are read
 * and written (runtime/base/file/inputs.h); this check is made before the work starts. */
bool output_files_check(const struct output_file *outputs,
                        size_t output_count,
                        const char *const *inputs,
                        size_t input_count,
                        struct error *error);

#endif
