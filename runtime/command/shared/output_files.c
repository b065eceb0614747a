/* Output files that a command line names. */
#include "runtime/command/shared/output_files.h"

#include "runtime/base/file/file.h"
#include "runtime/base/file/inputs.h"

#include <string.h>

static bool is_same_file(const char *a, const char *b)
{
    struct file_info first, second;

    if (strcmp(a, b) == 0) {
        return true;
    }
    first = file_inspect(a);
    second = file_inspect(b);
    return first.is_there && first.is_regular && second.is_there &&
           first.device == second.device && first.inode == second.inode;
}

/* Refuses two outputs to one file, which would overwrite each other. */
static bool
check_others(const struct output_file *outputs, size_t count, struct error *error)
{
    const struct output_file *output = &outputs[count];

    for (size_t i = 0; i < count; i++) {
        if (outputs[i].path != NULL && is_same_file(outputs[i].path, output->path)) {
            error_set(error, ERROR_USAGE,
                      "%s and %s would both be written to %.200s: give each its own "
                      "file, such as %s FILE",
                      outputs[i].option, output->option,
                      strcmp(output->path, "-") == 0 ? "standard output" : output->path,
                      output->option);
            return false;
        }
    }
    return true;
}

bool output_files_check(const struct output_file *outputs,
                        size_t output_count,
                        const char *const *inputs,
                        size_t input_count,
                        struct error *error)
{
    for (size_t i = 0; i < input_count; i++) {
        if (!file_inputs_add_path(inputs[i], error)) {
            return false;
        }
    }
    for (size_t i = 0; i < output_count; i++) {
        const char *path = outputs[i].path;

        if (path != NULL &&
            (!check_others(outputs, i, error) ||
             (strcmp(path, "-") != 0 && !file_inputs_refuse(path, error)))) {
            return false;
        }
    }
    return true;
}
