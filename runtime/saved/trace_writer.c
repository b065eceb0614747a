/* Saved tensors as the events of a trace. */
#include "runtime/saved/trace_writer.h"

#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/text_table.h"

#include <string.h>

/* A place is a function of the program with one site, or a context's prefix with none: each is a
 * module of the recording, with a table of its own. */
struct saved_trace_writer {
    struct recorder *recorder;        /* owned */
    struct text_table places;         /* what tells a place from all others */
    struct recorded_module **modules; /* owned; by the places' numbers, may be NULL */
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
        module = recorder_add_module(writer->recorder, &written, error);
    }
    buffer_release(&text);
    return module;
}

/* The module that has this table, which `key` tells from all others. */
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

/* A context: a function of the prefix's name, without a line. */
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

/* Where a tensor is saved under that name. */
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

    /* A context's key has no such byte in front. */
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

/* No frames are known here. What goes by a frame's address is a thread's context, and behind it
 * the function that saves. */
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

/* The context's call goes on as long as the thread saves in no other. */
static struct call *find_context(struct saved_trace_writer *writer,
                                 struct call_thread *thread,
                                 struct recorded_module *context)
{
    struct call *call =
        call_table_find(recorder_calls(writer->recorder), thread, context);

    if (call == NULL) {
        call = begin_call(writer, thread, context, NULL, SLICE(""));
        if (call != NULL) { /* it has no event of its own */
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
