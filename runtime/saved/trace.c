/* Saved tensors in traces: writing, and reading of all tensors with whole values. */
#include "runtime/saved/trace.h"

#include "runtime/array/expanded.h"
#include "runtime/array/sample.h"
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/base/sorted.h"
#include "runtime/base/text_table.h"
#include "runtime/trace/reader.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The writer: saved tensors as the events of a trace. */

/* A place is a function of the program with one site, or a context's prefix without a site. Each
 * is a module of the recording with its own table. */
struct saved_trace_writer {
    struct recorder *recorder; /* owned */
    struct text_table places;  /* the keys of places */
    /* Owned; indexed by the places' numbers; NULL: not made yet. */
    struct recorded_module **modules;
    size_t module_capacity;
};

static void writer_free(struct saved_trace_writer *writer)
{
    memory_free(writer->modules);
    text_table_release(&writer->places);
    memory_free(writer);
}

struct saved_trace_writer *saved_trace_writer_new(const char *path, struct error *error)
{
    struct recorder_options options = {
        .log.sample = SAMPLE_DEFAULT,
        .has_statistics = true,
        .has_hash = true,
        .every = 1,
    };
    struct saved_trace_writer *writer = memory_allocate_zeroed(1, sizeof *writer);

    if (writer == NULL) {
        error_set_memory(error);
        return NULL;
    }
    if (!text_table_init(&writer->places)) {
        memory_free(writer);
        error_set_memory(error);
        return NULL;
    }
    writer->recorder = recorder_new(path, &options, error);
    if (writer->recorder == NULL) {
        writer_free(writer);
        return NULL;
    }
    return writer;
}

bool saved_trace_writer_finish(struct saved_trace_writer *writer, struct error *error)
{
    bool is_done = recorder_close(writer->recorder, error);

    writer_free(writer);
    return is_done;
}

void saved_trace_writer_abandon(struct saved_trace_writer *writer)
{
    recorder_abandon(writer->recorder);
    writer_free(writer);
}

/* ---- places ---- */

static struct recorded_module *add_module(struct saved_trace_writer *writer,
                                          const struct site_table *table,
                                          struct error *error)
{
    struct buffer text = BUFFER_INIT;
    struct recorded_module *module = NULL;

    site_table_write(table, &text);
    if (text.has_failed) {
        error_set_memory(error);
    } else {
        struct module_text written = {
            .table = buffer_slice(&text),
            .name = SLICE(""),
            .file = table->path,
            .source_tag = LOG_SOURCE_OTHER,
        };
        module = recorder_add_text(writer->recorder, &written, error);
    }
    buffer_release(&text);
    return module;
}

/* Returns the module with this table, which is added if it is new. `key` must be unique to the
 * table. */
static struct recorded_module *get_place(struct saved_trace_writer *writer,
                                         struct slice key,
                                         const struct site_table *table,
                                         struct error *error)
{
    void *modules = writer->modules;
    uint32_t number;

    if (!text_table_add(&writer->places, key, &number) ||
        !memory_grow_zeroed(&modules, &writer->module_capacity, (size_t)number + 1,
                            sizeof *writer->modules)) {
        error_set_memory(error);
        return NULL;
    }
    writer->modules = modules;
    if (writer->modules[number] == NULL) {
        writer->modules[number] = add_module(writer, table, error);
    }
    return writer->modules[number];
}

/* The place of a context: a function with the prefix as its name, without a site. */
static struct recorded_module *
get_context(struct saved_trace_writer *writer, struct slice prefix, struct error *error)
{
    struct site_function functions[] = {{SLICE("<module>"), 1}, {prefix, 1}};
    struct site_table table = {
        .path = SLICE("<context>"),
        .prefix = SLICE("_mt"),
        .options = SLICE("saved"),
        .functions = functions,
        .function_count = 2,
    };

    return get_place(writer, prefix, &table, error);
}

/* The place at which a tensor of that name is saved. */
static struct recorded_module *get_site(struct saved_trace_writer *writer,
                                        const struct saved_tensor *saved,
                                        struct error *error)
{
    uint32_t line = saved->line > 0 ? saved->line : 1;
    struct site_function functions[] = {
        {SLICE("<module>"), 1},
        {saved->function.size > 0 ? saved->function : SLICE("?"), line},
    };
    struct site_write write = {saved->key.name, SITE_SOURCE_VALUE};
    struct site site = {.kind = SITE_SPY,
                        .line = line,
                        .column = 1,
                        .function = 1,
                        .writes = &write,
                        .write_count = 1};
    struct site_table table = {
        .path = saved->file.size > 0 ? saved->file : SLICE("?"),
        .prefix = SLICE("_mt"),
        .options = SLICE("saved"),
        .functions = functions,
        .function_count = 2,
        .sites = &site,
        .site_count = 1,
    };
    struct recorded_module *module = NULL;
    struct buffer key = BUFFER_INIT;

    /* The first byte separates these keys from those of contexts. */
    buffer_add_byte(&key, '\0');
    buffer_add_number(&key, line);
    buffer_add_byte(&key, '\0');
    buffer_add(&key, saved->file);
    buffer_add_byte(&key, '\0');
    buffer_add(&key, saved->function);
    buffer_add_byte(&key, '\0');
    buffer_add(&key, saved->key.name);
    if (key.has_failed) {
        error_set_memory(error);
    } else {
        module = get_place(writer, buffer_slice(&key), &table, error);
    }
    buffer_release(&key);
    return module;
}

/* ---- calls ---- */

/* Starts a call. There are no real frames here. The address of the thread stands for its
 * context's frame, and the next address for the frame of the function that saves. */
static struct call *begin_call(struct saved_trace_writer *writer,
                               struct call_thread *thread,
                               struct recorded_module *module,
                               const struct call *parent,
                               struct slice path)
{
    struct call_start start = {
        .thread = thread,
        .module = module,
        .function = 1,
        .frame = parent == NULL ? (const char *)thread : (const char *)thread + 1,
        .code = module,
        .parent = parent,
        .path = path,
        .class_name = SLICE(""),
    };
    struct call_table *calls = recorder_calls(writer->recorder);
    struct call *call;

    call_table_run(calls, thread, (struct call *)parent);
    call = recorder_begin_call(writer->recorder, &start);
    if (call != NULL) {
        call_table_run(calls, thread, call);
    }
    return call;
}

/* Finds or starts the context's call. It runs until the thread saves in another context. */
static struct call *find_context(struct saved_trace_writer *writer,
                                 struct call_thread *thread,
                                 struct recorded_module *context)
{
    struct call *call =
        call_table_find(recorder_calls(writer->recorder), thread, context);

    if (call == NULL) {
        call = begin_call(writer, thread, context, NULL, SLICE(""));
        if (call != NULL) { /* the call has no event, so its record is written here */
            recorder_write_call(writer->recorder, call);
        }
    }
    return call;
}

static struct call *find_call(struct saved_trace_writer *writer,
                              const struct saved_trace_thread *thread,
                              const struct saved_tensor *saved,
                              struct recorded_module *site,
                              struct error *error)
{
    struct recorded_module *context = NULL;
    struct call_thread *known =
        recorder_thread(writer->recorder, thread->key, thread->native, thread->name);
    struct call *parent = NULL;
    struct call *call = NULL;

    if (saved->key.prefix.size > 0) {
        context = get_context(writer, saved->key.prefix, error);
        if (context == NULL) {
            return NULL;
        }
    }
    if (known != NULL && context != NULL) {
        parent = find_context(writer, known, context);
    }
    if (known != NULL && (context == NULL || parent != NULL)) {
        call = begin_call(writer, known, site, parent, saved->key.module_path);
    }
    if (call == NULL) {
        error_set_memory(error);
    }
    return call;
}

/* ---- tensors ---- */

static void record_tensor(struct saved_trace_writer *writer,
                          struct recorded_module *site,
                          struct call *call,
                          const struct recorded_array *array,
                          uint64_t object)
{
    struct statistics statistics;
    struct recorded_array stored = *array;
    struct value value = {.kind = VALUE_TENSOR, .object = object, .array = &stored};
    struct visit visit;

    unsigned found = statistics_measure_until(
        array->array, STATISTICS_WANT_VALUES | STATISTICS_WANT_HASH, 1, NULL,
        &statistics, &stored.hash);
    stored.statistics = &statistics;
    stored.has_hash = (found & STATISTICS_WANT_HASH) != 0;
    stored.is_sampled = true;
    stored.is_kept = true;
    recorder_begin_visit(writer->recorder, site, 0, call, &visit);
    recorder_write(writer->recorder, &visit, 0, SLICE(""), &value);
}

bool saved_trace_writer_add(struct saved_trace_writer *writer,
                            const struct saved_trace_thread *thread,
                            const struct saved_tensor *saved,
                            const struct recorded_array *array,
                            uint64_t object,
                            struct error *error)
{
    struct recorded_module *site = get_site(writer, saved, error);
    struct call *call =
        site == NULL ? NULL : find_call(writer, thread, saved, site, error);
    struct buffer line = BUFFER_INIT;

    if (call == NULL) {
        return false;
    }
    saved_add_json(saved, &line);
    if (line.has_failed) {
        return error_set_memory(error);
    }
    record_tensor(writer, site, call, array, object);
    recorder_note(writer->recorder, LOG_NOTE_SAVED, site->first_site,
                  buffer_slice(&line));
    buffer_release(&line);
    const char *stopped = log_writer_stopped(recorder_log(writer->recorder));
    if (stopped != NULL) {
        error_set(error, ERROR_SYSTEM, "%s", stopped);
        return false;
    }
    return true;
}

struct saved_trace_call;

struct saved_trace_calls {
    struct saved_trace_call *items; /* owned; sorted by number */
    size_t count;
    size_t capacity;
};

/* ---- the module of each call of a trace, by the call's number ---- */

struct saved_trace_call {
    uint32_t number;
    struct slice path; /* in the caller's arena */
};

static void saved_trace_calls_release(struct saved_trace_calls *calls)
{
    memory_free(calls->items);
    *calls = (struct saved_trace_calls){NULL, 0, 0};
}

static bool is_before(const void *items, size_t place, uint64_t number)
{
    return ((const struct saved_trace_call *)items)[place].number < number;
}

/* The index of the first call whose number is not less. */
static size_t find(const struct saved_trace_calls *calls, uint32_t number)
{
    return sorted_place(calls->items, calls->count, is_before, number);
}

/* Copies a path to the arena. Consecutive calls of one module share the text. */
static struct slice
copy_path(const struct saved_trace_calls *calls, struct slice path, struct arena *arena)
{
    if (calls->count > 0 && slice_equal(calls->items[calls->count - 1].path, path)) {
        return calls->items[calls->count - 1].path;
    }
    return arena_copy(arena, path);
}

/* Adds a call with a copy of its path. Returns false if memory runs out. */
static bool saved_trace_calls_add(struct saved_trace_calls *calls,
                                  uint32_t number,
                                  struct slice path,
                                  struct arena *arena)
{
    struct saved_trace_call call = {number, copy_path(calls, path, arena)};
    size_t place = find(calls, number);
    void *items = calls->items;
    bool has_room;

    if (place < calls->count && calls->items[place].number == number) {
        return true; /* repeated record */
    }
    has_room =
        memory_grow(&items, &calls->capacity, calls->count + 1, sizeof *calls->items);
    calls->items = items;
    if (!has_room || call.path.bytes == NULL) {
        return false;
    }
    memmove(calls->items + place + 1, calls->items + place,
            (calls->count - place) * sizeof *calls->items);
    calls->items[place] = call;
    calls->count++;
    return true;
}

/* The path of a call's module. "" if there is no such call. */
static struct slice saved_trace_calls_path(const struct saved_trace_calls *calls,
                                           uint32_t number)
{
    size_t place = find(calls, number);

    return place < calls->count && calls->items[place].number == number
               ? calls->items[place].path
               : SLICE("");
}

struct kept {
    struct saved_tensor tensor;
    uint64_t event;
    uint64_t size;    /* in bytes */
    bool is_reported; /* a saver recorded its key */
};

struct saved_trace {
    struct arena arena;
    struct log_reader *reader; /* owned */
    const char *path;          /* in the arena */
    struct kept *kept;         /* owned */
    size_t count;
    size_t capacity;
    struct buffer values;
};

/* The state of the first pass over the trace: the last event, whose values may follow. */
struct scan {
    struct saved_trace *trace;
    struct saved_trace_calls calls;
    struct buffer name; /* of the event */
    const struct log_module *module;
    const struct site *site;
    enum dtype dtype;
    int64_t shape[ARRAY_DIMENSION_MAX];
    int64_t strides[ARRAY_DIMENSION_MAX]; /* in bytes, if `is_once` */
    const struct log_shape *stored;       /* the event's form */
    uint32_t dimension_count;
    uint32_t call;
    uint64_t event;
    bool is_once;   /* each element of an expanded tensor was kept once */
    uint64_t size;  /* of all its values, in bytes */
    uint64_t count; /* bytes of values found so far */
    bool is_open;   /* no values are missing so far, and it is not kept yet */
};

/* Whether the reader ran out of memory, which it reports as its last damage. */
static bool has_no_memory(const struct log_reader *reader)
{
    size_t count = log_reader_damage_count(reader);

    return count > 0 && slice_starts(slice_of(log_reader_damage(reader, count - 1)),
                                     SLICE("out of memory"));
}

/* ---- the first pass ---- */

static void scan_event(struct scan *scan, const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;

    scan->is_open = event->kind == VALUE_TENSOR && shape->dtype != DTYPE_OTHER &&
                    shape->dimension_count <= ARRAY_DIMENSION_MAX;
    if (!scan->is_open) {
        return;
    }
    scan->name.size = 0;
    buffer_add(&scan->name, event->name);
    buffer_add(&scan->name, event->path);
    scan->module = event->module;
    scan->site = event->site;
    scan->dtype = shape->dtype;
    scan->dimension_count = shape->dimension_count;
    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        scan->shape[i] = shape->shape[i];
    }
    scan->call = event->call;
    scan->event = event->number;
    scan->count = 0;
    scan->is_once = false;
    scan->stored = shape;
    scan->is_open = !__builtin_mul_overflow(
        array_count(&(struct array){.dimension_count = scan->dimension_count,
                                    .shape = scan->shape}),
        (uint64_t)dtype_size(scan->dtype), &scan->size);
}

/* Prepares for values of which each element in memory is stored once: computes their size, and
 * the strides that make the whole tensor out of them. Returns false if the form does not
 * describe such a tensor. */
static bool scan_once(struct scan *scan)
{
    struct expanded_array expanded;
    int64_t unit =
        scan->stored->strides_are_bytes ? 1 : (int64_t)dtype_size(scan->dtype);
    struct array array = {.dtype = scan->dtype,
                          .dimension_count = scan->dimension_count,
                          .shape = scan->shape,
                          .strides = scan->strides};

    if (scan->stored->strides == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < scan->dimension_count; i++) {
        scan->strides[i] = scan->stored->strides[i] == 0 ? 0 : unit;
    }
    if (!expanded_find(&array, &expanded)) {
        return false;
    }
    expanded_pack_strides(&expanded, scan->strides);
    scan->size = array_count(&expanded.once) * dtype_size(scan->dtype);
    scan->is_once = true;
    return true;
}

static void scan_data(struct scan *scan, const struct log_item *item)
{
    if (item->data.is_once && scan->is_open && scan->count == 0 && !scan_once(scan)) {
        scan->is_open = false;
    }
    if (item->data.event != scan->event || item->data.offset != scan->count) {
        scan->is_open = false; /* values are missing */
    }
    scan->count += item->data.bytes.size;
}

/* The tensor as described by the event itself. */
static struct saved_tensor tensor_of(const struct scan *scan)
{
    struct arena *arena = &scan->trace->arena;
    int64_t *shape =
        arena_allocate(arena, 2 * (size_t)scan->dimension_count + 1, sizeof *shape);
    int64_t *strides = shape == NULL ? NULL : shape + scan->dimension_count;

    for (uint32_t i = 0; shape != NULL && i < scan->dimension_count; i++) {
        shape[i] = scan->shape[i];
        strides[i] = scan->strides[i];
    }
    return (struct saved_tensor){
        .key = {.prefix = SLICE(""),
                .module_path = saved_trace_calls_path(&scan->calls, scan->call),
                .name = arena_copy(arena, buffer_slice(&scan->name))},
        .order = scan->event,
        .file = scan->module->file,
        .function = scan->module->table.functions[scan->site->function].name,
        .line = scan->site->line,
        .array = {.dtype = scan->dtype,
                  .dimension_count = scan->dimension_count,
                  .shape = shape,
                  .strides = scan->is_once ? strides : NULL},
    };
}

/* Keeps the event's tensor. `line` is the saver's description of it, or "". */
static bool keep(struct scan *scan, struct slice line)
{
    struct saved_trace *trace = scan->trace;
    void *items = trace->kept;
    bool has_room =
        memory_grow(&items, &trace->capacity, trace->count + 1, sizeof *trace->kept);
    struct kept kept;

    trace->kept = items;
    if (!has_room) {
        return false;
    }
    scan->is_open = false;
    kept = (struct kept){tensor_of(scan), scan->event, scan->size, false};
    kept.is_reported =
        line.size > 0 && saved_read_json(&kept.tensor, line, &trace->arena);
    trace->kept[trace->count++] = kept;
    return !trace->arena.has_failed && !scan->name.has_failed;
}

/* Keeps the last event if all its values were found. */
static bool finish_event(struct scan *scan)
{
    return !scan->is_open || scan->size == 0 || scan->count != scan->size ||
           keep(scan, SLICE(""));
}

static bool scan_item(struct scan *scan, const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return saved_trace_calls_add(&scan->calls, item->call.call, item->call.path,
                                     &scan->trace->arena);
    case LOG_EVENT:
        if (!finish_event(scan)) {
            return false;
        }
        scan_event(scan, &item->event);
        return true;
    case LOG_DATA:
        scan_data(scan, item);
        return true;
    case LOG_NOTE:
        return item->note.tag != LOG_NOTE_SAVED || !scan->is_open ||
               scan->count != scan->size || keep(scan, item->note.text);
    default:
        return true;
    }
}

static bool scan_trace(struct saved_trace *trace, struct error *error)
{
    struct scan scan = {.trace = trace, .name = BUFFER_INIT};
    struct log_item item;
    bool is_done = true;

    while (is_done && log_reader_next(trace->reader, &item)) {
        is_done = scan_item(&scan, &item);
    }
    is_done = is_done && finish_event(&scan) && !has_no_memory(trace->reader);
    saved_trace_calls_release(&scan.calls);
    buffer_release(&scan.name);
    if (!is_done) {
        error_set_memory(error);
    }
    return is_done;
}

/* ---- numbers of calls ---- */

static int compare_texts(struct slice a, struct slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size == 0 ? 0 : memcmp(a.bytes, b.bytes, size);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_names(const struct kept *a, const struct kept *b)
{
    int order = compare_texts(a->tensor.key.module_path, b->tensor.key.module_path);

    return order != 0 ? order : compare_texts(a->tensor.key.name, b->tensor.key.name);
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept *first = *(const struct kept *const *)a;
    const struct kept *second = *(const struct kept *const *)b;
    int order = compare_names(first, second);

    return order != 0 ? order : first->event < second->event ? -1 : 1;
}

/* Numbers the tensors that no saver has numbered, by module and name, as a saver does. */
static bool count_calls(struct saved_trace *trace, struct error *error)
{
    struct kept **order = memory_allocate(trace->count, sizeof *order);
    size_t count = 0;

    if (order == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < trace->count; i++) {
        if (!trace->kept[i].is_reported) {
            order[count++] = &trace->kept[i];
        }
    }
    if (count > 1) {
        qsort(order, count, sizeof *order, compare_kept);
    }
    for (size_t i = 1; i < count; i++) {
        order[i]->tensor.key.call = compare_names(order[i - 1], order[i]) == 0
                                        ? order[i - 1]->tensor.key.call + 1
                                        : 0;
    }
    memory_free(order);
    return true;
}

/* ---- the tensors, for readers ---- */

struct saved_trace *saved_trace_open(const char *path, struct error *error)
{
    struct saved_trace *trace = memory_allocate_zeroed(1, sizeof *trace);

    if (trace == NULL) {
        error_set_memory(error);
        return NULL;
    }
    arena_init(&trace->arena);
    trace->path = arena_copy(&trace->arena, slice_of(path)).bytes;
    if (trace->path == NULL) {
        error_set_memory(error);
    } else {
        trace->reader = log_reader_new(trace->path, error);
    }
    if (trace->reader == NULL || !scan_trace(trace, error) ||
        !count_calls(trace, error)) {
        saved_trace_close(trace);
        return NULL;
    }
    return trace;
}

void saved_trace_close(struct saved_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    log_reader_free(trace->reader);
    memory_free(trace->kept);
    buffer_release(&trace->values);
    arena_release(&trace->arena);
    memory_free(trace);
}

size_t saved_trace_count(const struct saved_trace *trace)
{
    return trace->count;
}

const struct saved_tensor *saved_trace_tensor(const struct saved_trace *trace,
                                              size_t index)
{
    assert(index < trace->count);
    return &trace->kept[index].tensor;
}

const char *saved_trace_damage(const struct saved_trace *trace, size_t index)
{
    return index < log_reader_damage_count(trace->reader)
               ? log_reader_damage(trace->reader, index)
               : NULL;
}

/* Appends the values that follow the last event that was read. */
static bool collect(struct saved_trace *trace, const struct kept *kept)
{
    struct log_item item;

    while (trace->values.size < kept->size && log_reader_next(trace->reader, &item)) {
        if (item.kind == LOG_EVENT) {
            break;
        }
        if (item.kind == LOG_DATA && item.data.event == kept->event) {
            buffer_add(&trace->values, item.data.bytes);
        }
    }
    return trace->values.size == kept->size;
}

bool saved_trace_read(struct saved_trace *trace,
                      size_t index,
                      struct array *array,
                      struct error *error)
{
    assert(index < trace->count);

    const struct kept *kept = &trace->kept[index];
    struct log_item item;
    bool is_found = false;

    trace->values.size = 0;
    if (!buffer_reserve(&trace->values, (size_t)kept->size)) {
        return error_set_memory(error);
    }
    log_reader_go_to_event(trace->reader, kept->event);
    while (!is_found && log_reader_next(trace->reader, &item)) {
        is_found = item.kind == LOG_EVENT;
    }
    if (!is_found || item.event.number != kept->event || !collect(trace, kept)) {
        if (trace->values.has_failed || has_no_memory(trace->reader)) {
            return error_set_memory(error);
        }
        error_set(error, ERROR_INPUT, "%s: has changed since it was opened",
                  trace->path);
        return false;
    }
    *array = kept->tensor.array;
    array->data = buffer_slice(&trace->values).bytes;
    return true;
}

void saved_trace_forget(struct saved_trace *trace)
{
    buffer_release(&trace->values);
}
