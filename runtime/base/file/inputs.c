/* Input files: the list of files that must not be overwritten. */
#include "runtime/base/file/inputs.h"

#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_identity {
    uint64_t device, inode;
};

/* Several threads may read files. */
static pthread_mutex_t inputs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_identity *inputs; /* owned until the process ends */
static size_t input_count, input_capacity;
static bool is_kept;

void file_inputs_begin(void)
{
    is_kept = true;
}

/* The lock is held. */
static bool has_input(struct file_identity file)
{
    for (size_t i = 0; i < input_count; i++) {
        if (inputs[i].device == file.device && inputs[i].inode == file.inode) {
            return true;
        }
    }
    return false;
}

/* The lock is held. */
static bool add_input(struct file_identity file)
{
    if (!memory_grow((void **)&inputs, &input_capacity, input_count + 1,
                     sizeof *inputs)) {
        return false;
    }
    assert(input_count < input_capacity);
    inputs[input_count++] = file;
    return true;
}

static bool keep(struct file_identity file, struct error *error)
{
    bool is_done;

    pthread_mutex_lock(&inputs_lock);
    is_done = has_input(file) || add_input(file);
    pthread_mutex_unlock(&inputs_lock);
    return is_done || error_set_memory(error);
}

bool file_inputs_add(int descriptor, struct error *error)
{
    struct stat status;

    if (!is_kept || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        return true;
    }
    return keep(
        (struct file_identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino},
        error);
}

bool file_inputs_add_path(const char *path, struct error *error)
{
    struct file_info info;

    if (!is_kept) {
        return true;
    }
    info = file_inspect(path);
    return !info.is_there || !info.is_regular ||
           keep((struct file_identity){info.device, info.inode}, error);
}

bool file_inputs_refuse(const char *path, struct error *error)
{
    struct file_info info;
    bool is_input;

    if (!is_kept) {
        return true;
    }
    info = file_inspect(path);
    if (!info.is_there || !info.is_regular) {
        return true;
    }
    pthread_mutex_lock(&inputs_lock);
    is_input = has_input((struct file_identity){info.device, info.inode});
    pthread_mutex_unlock(&inputs_lock);
    if (is_input) {
        error_set(error, ERROR_USAGE,
                  "%.200s: is an input of this command; give the output another name",
                  path);
    }
    return !is_input;
}
