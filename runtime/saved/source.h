/* A file of saved tensors, whatever its format. */
#ifndef MONITORCH_SAVED_SOURCE_H
#define MONITORCH_SAVED_SOURCE_H

#include "runtime/saved/folder.h"
#include "runtime/saved/pt/pt.h"
#include "runtime/saved/safetensors/safetensors.h"
#include "runtime/saved/trace.h"

#include <stdbool.h>
#include <stddef.h>

struct saved_source {
    enum saved_format format;
    /* Owned; the one of the format. */
    union {
        struct pt_file *pt;
        struct safetensors_file *safetensors;
        struct saved_trace *trace;
    };
};

/* false: no file that saved tensors stand in, by its name's ending. */
bool saved_format_of_name(struct slice name, enum saved_format *format);
/* By its name, else by its first bytes. */
bool saved_format_of_file(const char *path,
                          enum saved_format *format,
                          struct error *error);

bool saved_source_open(struct saved_source *source,
                       enum saved_format format,
                       const char *path,
                       struct error *error);
void saved_source_close(struct saved_source *source);

size_t saved_source_count(const struct saved_source *source);
const struct saved_tensor *saved_source_tensor(const struct saved_source *source,
                                               size_t index);
/* Where the packed values stand in the file in one piece; 0 and 0 where they do not. */
void saved_source_place(const struct saved_source *source,
                        size_t index,
                        uint64_t *offset,
                        uint64_t *size);
/* `array` is borrowed from the source until the next read. */
bool saved_source_read(struct saved_source *source,
                       size_t index,
                       struct array *array,
                       struct error *error);
/* The same into the caller's memory, as many bytes as saved_source_place tells: not 0. */
bool saved_source_read_into(const struct saved_source *source,
                            size_t index,
                            void *bytes,
                            struct error *error);
/* Frees the values that were read last. */
void saved_source_forget(struct saved_source *source);
/* NULL behind the last. */
const char *saved_source_damage(const struct saved_source *source, size_t index);

#endif
