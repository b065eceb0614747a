/* The paths of the modules that were called, read from a file. */
#include "runtime/view/calls/trace.h"

#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"

#include <fcntl.h>
#include <unistd.h>

#define TEXT_SIZE_MAX ((size_t)1 << 32)
/* Of a file's beginning: enough to know it by. */
#define BEGINNING_SIZE 64

void call_trace_init(struct call_trace *trace)
{
    *trace = (struct call_trace){.text = BUFFER_INIT};
    arena_init(&trace->arena);
}

void call_trace_release(struct call_trace *trace)
{
    memory_free(trace->paths);
    buffer_release(&trace->text);
    arena_release(&trace->arena);
    call_trace_init(trace);
}

struct call_path *call_trace_add(struct call_trace *trace, struct call_path path)
{
    void *paths = trace->paths;

    if (!memory_grow(&paths, &trace->capacity, trace->count + 1,
                     sizeof *trace->paths)) {
        return NULL;
    }
    trace->paths = paths;
    trace->paths[trace->count] = path;
    return &trace->paths[trace->count++];
}

/* ---- text ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static struct slice trim(struct slice text)
{
    size_t start = 0;
    size_t end = text.size;

    while (start < end && is_blank(text.bytes[start])) {
        start++;
    }
    while (end > start && is_blank(text.bytes[end - 1])) {
        end--;
    }
    return slice_part(text, start, end);
}

bool call_trace_read_text(struct call_trace *trace, struct slice text)
{
    size_t start = 0;

    while (start < text.size) {
        size_t end = slice_find(text, SLICE("\n"), start);
        struct slice line = trim(slice_part(text, start, end));
        size_t tab = slice_find(line, SLICE("\t"), 0);
        struct call_path path = {
            .path = trim(slice_part(line, 0, tab)),
            .shape = trim(slice_part(line, tab, line.size)),
        };

        if (path.path.size > 0 && call_trace_add(trace, path) == NULL) {
            return false;
        }
        start = end + 1;
    }
    return true;
}

/* ---- files ---- */

/* What a path with a zero byte in it would be: something else than a list of paths. */
static bool is_text(struct slice text)
{
    return text.size == 0 || memchr(text.bytes, '\0', text.size) == NULL;
}

static bool
read_text_file(struct call_trace *trace, const char *path, struct error *error)
{
    if (!file_read(path, TEXT_SIZE_MAX, &trace->text, error)) {
        return false;
    }
    if (!is_text(buffer_slice(&trace->text))) {
        error_set(error, ERROR_INPUT,
                  "%.200s: is neither a trace nor a list of module paths, expected a "
                  "file of monitorch or CallTracer",
                  path);
        return false;
    }
    if (!call_trace_read_text(trace, buffer_slice(&trace->text))) {
        return error_set_memory(error);
    }
    return true;
}

/* false also where the file cannot be read: who reads all of it tells why. */
static bool is_log_file(const char *path)
{
    char beginning[BEGINNING_SIZE];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size;

    if (descriptor < 0) {
        return false;
    }
    size = pread(descriptor, beginning, sizeof beginning, 0);
    close(descriptor);
    return size > 0 && call_trace_is_log((struct slice){beginning, (size_t)size});
}

bool call_trace_read(struct call_trace *trace, const char *path, struct error *error)
{
    if (is_log_file(path)) {
        return call_trace_read_log(trace, path, error);
    }
    return read_text_file(trace, path, error);
}
