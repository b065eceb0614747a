/* A file of saved tensors, whatever its format. */
#include "runtime/saved/source.h"

#include "runtime/base/file/mapping.h"

bool saved_format_of_name(struct slice name, enum saved_format *format)
{
    if (slice_ends(name, SLICE(".pt"))) {
        *format = SAVED_PT;
    } else if (slice_ends(name, SLICE(".safetensors"))) {
        *format = SAVED_SAFETENSORS;
    } else if (slice_ends(name, SLICE(".mtrace"))) {
        *format = SAVED_TRACE;
    } else {
        return false;
    }
    return true;
}

bool saved_format_of_file(const char *path,
                          enum saved_format *format,
                          struct error *error)
{
    char start[8];
    struct mapping file;
    size_t count = 0;
    bool is_read;

    if (saved_format_of_name(slice_of(path), format)) {
        return true;
    }
    if (!mapping_open_to_read(&file, path, error)) {
        return false;
    }
    is_read = mapping_read(&file, 0, start, sizeof start, &count, error);
    mapping_close(&file);
    if (slice_starts((struct slice){start, count}, SLICE("PK"))) {
        *format = SAVED_PT;
    } else if (slice_starts((struct slice){start, count}, SLICE("mtrace"))) {
        *format = SAVED_TRACE;
    } else {
        *format = SAVED_SAFETENSORS;
    }
    return is_read;
}

bool saved_source_open(struct saved_source *source,
                       enum saved_format format,
                       const char *path,
                       struct error *error)
{
    source->format = format;
    switch (format) {
    case SAVED_PT:
        source->pt = pt_file_open(path, error);
        return source->pt != NULL;
    case SAVED_SAFETENSORS:
        source->safetensors = safetensors_file_open(path, error);
        return source->safetensors != NULL;
    case SAVED_TRACE:
        break;
    }
    source->trace = saved_trace_open(path, error);
    return source->trace != NULL;
}

void saved_source_close(struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        pt_file_close(source->pt);
        break;
    case SAVED_SAFETENSORS:
        safetensors_file_close(source->safetensors);
        break;
    case SAVED_TRACE:
        saved_trace_close(source->trace);
        break;
    }
}

size_t saved_source_count(const struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        return 1;
    case SAVED_SAFETENSORS:
        return safetensors_file_count(source->safetensors);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_count(source->trace);
}

const struct saved_tensor *saved_source_tensor(const struct saved_source *source,
                                               size_t index)
{
    switch (source->format) {
    case SAVED_PT:
        return pt_file_tensor(source->pt);
    case SAVED_SAFETENSORS:
        return safetensors_file_tensor(source->safetensors, index);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_tensor(source->trace, index);
}

void saved_source_place(const struct saved_source *source,
                        size_t index,
                        uint64_t *offset,
                        uint64_t *size)
{
    const struct array *array = &saved_source_tensor(source, index)->array;

    *offset = 0;
    *size = 0;
    if (source->format == SAVED_SAFETENSORS) {
        safetensors_file_place(source->safetensors, index, offset, size);
    } else if (source->format == SAVED_PT && array_is_contiguous(array) &&
               !array->is_conjugated && !array->is_negated) {
        pt_file_place(source->pt, offset, size);
    }
}

bool saved_source_read(struct saved_source *source,
                       size_t index,
                       struct array *array,
                       struct error *error)
{
    switch (source->format) {
    case SAVED_PT:
        return pt_file_read(source->pt, array, error);
    case SAVED_SAFETENSORS:
        return safetensors_file_read(source->safetensors, index, array, error);
    case SAVED_TRACE:
        break;
    }
    return saved_trace_read(source->trace, index, array, error);
}

bool saved_source_read_into(const struct saved_source *source,
                            size_t index,
                            void *bytes,
                            struct error *error)
{
    return source->format == SAVED_PT
               ? pt_file_read_into(source->pt, bytes, error)
               : safetensors_file_read_into(source->safetensors, index, bytes, error);
}

void saved_source_forget(struct saved_source *source)
{
    switch (source->format) {
    case SAVED_PT:
        pt_file_forget(source->pt);
        break;
    case SAVED_SAFETENSORS:
        safetensors_file_forget(source->safetensors);
        break;
    case SAVED_TRACE:
        saved_trace_forget(source->trace);
        break;
    }
}

const char *saved_source_damage(const struct saved_source *source, size_t index)
{
    return source->format == SAVED_TRACE ? saved_trace_damage(source->trace, index)
                                         : NULL;
}
