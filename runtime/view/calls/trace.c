/* The paths of the modules that were called, read from a file. */
#include "runtime/view/calls/trace.h"

#include "runtime/base/file/file.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/walk/open_calls.h"
#include "runtime/view/words/number_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The modules that the calls of a trace belong to. */

/* A shape text of more bytes than this gets no more arguments. */
#define SHAPE_LIMIT 400

struct reading {
    struct call_trace *trace;  /* borrowed */
    struct log_reader *reader; /* owned, as all below */
    struct open_calls calls;
    struct number_map places; /* number of a call -> index of its path */
    struct buffer scratch;
};

static struct call_path *call_trace_add(struct call_trace *trace,
                                        struct call_path path);

/* Whether a file that starts like this is a trace. */
static bool call_trace_is_log(struct slice beginning)
{
    return slice_starts(beginning, SLICE(LOG_MAGIC));
}

/* ---- calls ---- */

static bool is_forward(const struct reading *reading, const struct open_call *call)
{
    return call->class_name.size > 0 &&
           slice_equal(
               slice_last_part(open_call_function(call, reading->reader)->name, '.'),
               SLICE("forward"));
}

/* Whether the call counts as one of its module: it is a forward, and not one that another
 * forward of the same module called, as that of a subclass does. */
static bool is_module_call(const struct reading *reading, const struct open_call *call)
{
    const struct open_call *parent = call->parent;

    return is_forward(reading, call) &&
           (parent == NULL || !slice_equal(parent->path, call->path) ||
            !is_forward(reading, parent));
}

static bool note_call(struct reading *reading, const struct log_call_view *view)
{
    struct call_trace *trace = reading->trace;
    bool is_new;
    struct open_call *call = open_calls_begin(&reading->calls, view, &is_new);
    struct slice path;

    if (call == NULL) {
        return false;
    }
    if (!is_new || !is_module_call(reading, call)) {
        return true;
    }
    path = call->path.size == 0 ? CALL_ROOT_NAME : call->path;
    path = arena_copy(&trace->arena, path);
    return path.bytes != NULL &&
           number_map_put(&reading->places, call->call, (uint32_t)trace->count) &&
           call_trace_add(trace, (struct call_path){path, SLICE("")}) != NULL;
}

/* ---- shapes ---- */

/* Adds the shape of an argument or result to the path. Arguments precede the arrow, results
 * follow it. */
static bool note_event(struct reading *reading, const struct log_event_view *event)
{
    uint32_t place = number_map_get(&reading->places, event->call);
    bool is_result = event->site->kind == SITE_RETURN;
    struct buffer *text = &reading->scratch;
    struct call_path *path;
    bool has_arrow;

    if (place == NUMBER_MAP_NONE || event->shape == NULL ||
        (!is_result && event->site->kind != SITE_ENTER)) {
        return true;
    }
    path = &reading->trace->paths[place];
    has_arrow = slice_find(path->shape, SLICE("->"), 0) < path->shape.size;
    if (path->shape.size > SHAPE_LIMIT || (has_arrow && !is_result)) {
        return true;
    }
    text->size = 0;
    buffer_add(text, path->shape);
    if (is_result && !has_arrow) {
        buffer_add(text, path->shape.size > 0 ? SLICE(" -> ") : SLICE("-> "));
    } else {
        buffer_add(text, path->shape.size > 0 ? SLICE(", ") : SLICE(""));
    }
    dimensions_add(text, event->shape->shape, event->shape->dimension_count);
    path->shape = arena_copy(&reading->trace->arena, buffer_slice(text));
    return path->shape.bytes != NULL && !text->has_failed;
}

/* ---- the stream ---- */

static bool note_item(struct reading *reading, const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return note_call(reading, &item->call);
    case LOG_EVENT:
        return note_event(reading, &item->event);
    case LOG_END:
        open_calls_end(&reading->calls,
                       open_calls_find(&reading->calls, item->end.call));
        return true;
    default:
        return true;
    }
}

static void write_state(struct reading *reading)
{
    struct call_trace *trace = reading->trace;
    const struct log_header *header = log_reader_header(reading->reader);

    trace->is_log = true;
    trace->is_recording = header->is_closed == 0;
    trace->lost_count = header->is_closed == 0 ? 0 : header->lost_count;
    trace->damage_count = log_reader_damage_count(reading->reader);
    if (trace->damage_count > 0) {
        snprintf(trace->damage, sizeof trace->damage, "%s",
                 log_reader_damage(reading->reader, 0));
    }
}

/* Reads a trace: a path for each call of an nn.Module's forward that another forward of the same
 * module did not make. */
static bool
call_trace_read_log(struct call_trace *trace, const char *path, struct error *error)
{
    struct reading reading = {.trace = trace, .scratch = BUFFER_INIT};
    struct log_item item;
    bool is_done = true;

    reading.reader = log_reader_new(path, error);
    if (reading.reader == NULL) {
        return false;
    }
    open_calls_init(&reading.calls);
    number_map_init(&reading.places);
    while (is_done && log_reader_next(reading.reader, &item)) {
        is_done = note_item(&reading, &item);
    }
    write_state(&reading);
    buffer_release(&reading.scratch);
    number_map_release(&reading.places);
    open_calls_release(&reading.calls);
    log_reader_free(reading.reader);
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}

#define TEXT_SIZE_MAX ((size_t)1 << 32)
/* The number of bytes that identify a trace. */
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

/* Adds a path; its texts are borrowed. NULL: out of memory. The result is valid until the next
 * path is added. */
static struct call_path *call_trace_add(struct call_trace *trace, struct call_path path)
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

/* Whether the text can be a list of paths: it has no zero byte. */
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

/* Whether the file is a trace. Also false if the file cannot be read: the reader of the whole
 * file reports that. */
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
