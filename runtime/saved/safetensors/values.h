/* The values of a safetensors file that is being written: in a temporary file beside it, one after
 * the other, behind room that is kept for the header. So the file can be finished where it stands,
 * even on a disk that is full. Private to write.c. */
#ifndef MONITORCH_SAVED_SAFETENSORS_VALUES_H
#define MONITORCH_SAVED_SAFETENSORS_VALUES_H

#include "runtime/array/array.h"
#include "runtime/base/error.h"
#include "runtime/base/file/draft.h"
#include "runtime/base/file/temporary.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* It may not move while it is open. Errors of the system leave errno too. */
struct safetensors_values {
    const char *path; /* borrowed: the file's name at last */
    struct file_temporary temporaries[2];
    int current; /* which of them has the values; the other is used while there are two */
    int descriptor; /* of that one; -1: there is none */
    pid_t process;  /* that writes the file */
    uint64_t room;  /* for the header */
    uint64_t size;  /* of the values so far */
};

void safetensors_values_init(struct safetensors_values *values, const char *path);
/* Removes the temporary file, where this process made it. */
void safetensors_values_release(struct safetensors_values *values);

/* Room for a header of `size` bytes: makes the file where there is none yet, and another where its
 * room is too small. After a failure all is as it was. */
bool safetensors_values_make_room(struct safetensors_values *values,
                                  uint64_t size,
                                  struct error *error);
/* Appends an array; after a failure all is as it was. */
bool safetensors_values_add(struct safetensors_values *values,
                            const struct array *array,
                            struct error *error);

/* Appends a run of the values to the draft, which is closed where that fails. */
bool safetensors_values_copy(const struct safetensors_values *values,
                             uint64_t offset,
                             uint64_t size,
                             struct file_draft *draft,
                             struct error *error);
/* Writes the header, which fills the room, and gives the file its name. */
bool safetensors_values_finish(struct safetensors_values *values,
                               struct slice header,
                               struct error *error);

#endif
