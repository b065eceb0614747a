/* The recorder: its trace, its modules, threads and calls. */
#include "runtime/record/recorder.h"

#include "runtime/base/memory.h"
#include "runtime/record/left_out.h"
#include "runtime/record/state.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t recorder_time(const struct recorder *recorder)
{
    return clock_now() - recorder->start;
}

static void tell_end(void *context, struct call *call)
{
    struct recorder *recorder = context;
    struct log_end *end;

    recorder_tap_end(recorder, call);
    if (call->told_in_chunk == UINT64_MAX || recorder->log == NULL) {
        return;
    }
    end = log_writer_begin_beside(recorder->log, sizeof(*end));
    if (end == NULL) {
        return;
    }
    end->time = recorder_time(recorder);
    end->call = call->number;
    end->error = call->error;
    log_writer_commit(recorder->log, (struct log_record){
                                         .size = sizeof(*end),
                                         .kind = LOG_END,
                                         .tag = call->has_returned && call->error == 0
                                                    ? LOG_END_RETURNED
                                                    : LOG_END_LEFT,
                                     });
}

static void free_names(struct recorder_options *options)
{
    for (size_t i = 0; i < options->name_count; i++) {
        memory_free((char *)options->names[i]);
    }
    memory_free((char **)options->names);
}

static bool copy_names(struct recorder_options *options)
{
    const char *const *given = options->names;
    size_t count = options->name_count;
    char **names = memory_allocate_zeroed(count + 1, sizeof(*names));

    options->names = (const char *const *)names;
    options->name_count = 0;
    if (names == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(given[i]) + 1;
        names[i] = memory_allocate(size, 1);
        if (names[i] == NULL) {
            return false;
        }
        memcpy(names[i], given[i], size);
        options->name_count++;
    }
    return true;
}

static void recorder_free(struct recorder *recorder)
{
    call_table_free(recorder->calls);
    for (size_t i = 0; i < recorder->module_count; i++) {
        recorded_module_free(recorder->modules[i]);
    }
    memory_free(recorder->modules);
    history_free(recorder->history);
    free_names(&recorder->options);
    recorder_free_settings(recorder);
    memory_free(recorder);
}

struct recorder *recorder_new(const char *path,
                              const struct recorder_options *options,
                              struct error *error)
{
    struct recorder *recorder = memory_allocate_zeroed(1, sizeof(*recorder));

    if (recorder == NULL) {
        error_set_memory(error);
        return NULL;
    }
    recorder->options = *options;
    recorder->process = (uint32_t)getpid();
    recorder->calls = call_table_new(tell_end, recorder);
    recorder->history = history_new();
    if (!copy_names(&recorder->options) || recorder->calls == NULL ||
        recorder->history == NULL) {
        error_set_memory(error);
        recorder_free(recorder);
        return NULL;
    }
    recorder->log = log_writer_new(path, &options->log, error);
    if (recorder->log == NULL) {
        recorder_free(recorder);
        return NULL;
    }
    recorder->start = log_writer_start_clock(recorder->log);
    return recorder;
}

static void end_if_returned(void *context, struct call *call)
{
    if (call->has_returned) {
        tell_end(context, call);
    }
}

bool recorder_close(struct recorder *recorder, struct error *error)
{
    bool is_done = true;

    if (recorder->log != NULL) {
        left_out_close(recorder);
        call_table_each(recorder->calls, end_if_returned, recorder);
        is_done = log_writer_close(recorder->log, error);
    }
    recorder_free(recorder);
    return is_done;
}

void recorder_abandon(struct recorder *recorder)
{
    if (recorder->log != NULL) {
        log_writer_abandon(recorder->log);
    }
    recorder_free(recorder);
}

const struct recorder_options *recorder_options(const struct recorder *recorder)
{
    return &recorder->options;
}

void recorder_set_tap(struct recorder *recorder, const struct recorder_tap *tap)
{
    recorder->options.tap = *tap;
}

uint64_t recorder_thread_native(const struct recorder *recorder, uint16_t number)
{
    const struct call_thread *thread = call_table_thread_at(recorder->calls, number);

    return thread == NULL ? 0 : thread->native;
}

struct log_writer *recorder_log(const struct recorder *recorder)
{
    return recorder->log;
}

struct call_table *recorder_calls(const struct recorder *recorder)
{
    return recorder->calls;
}

static bool tell_module(struct recorder *recorder, const struct recorded_module *module)
{
    struct log_table head = {
        .record = {.kind = LOG_TABLE},
        .number = module->number,
        .first_site = module->first_site,
        .site_count = module->table.site_count,
        .module = log_writer_text(recorder->log, module->text.name),
        .file = log_writer_text(recorder->log, module->text.file),
    };
    struct log_source source = {
        .record = {.kind = LOG_SOURCE, .tag = (uint8_t)module->text.source_tag},
        .table = module->number,
    };

    if (!log_writer_define(recorder->log, &head, sizeof(head), module->text.table)) {
        return false;
    }
    return module->text.source.size == 0 ||
           log_writer_define(recorder->log, &source, sizeof(source),
                             module->text.source);
}

struct recorded_module *recorder_add_module(struct recorder *recorder,
                                            const struct module_text *text,
                                            struct error *error)
{
    void *modules = recorder->modules;
    struct recorded_module *module;

    if (!memory_grow(&modules, &recorder->module_capacity, recorder->module_count + 1,
                     sizeof(struct recorded_module *))) {
        error_set_memory(error);
        return NULL;
    }
    recorder->modules = modules;
    module = recorded_module_new(
        text, recorder->options.has_sources || recorder->options.tap.on_item != NULL,
        error);
    if (module == NULL) {
        return NULL;
    }
    module->number = (uint32_t)recorder->module_count;
    module->first_site = recorder->site_count;
    module->told = (struct log_module){
        .table = module->table,
        .first_site = module->first_site,
        .name = module->text.name,
        .file = module->text.file,
        .source = module->text.source,
        .source_tag = module->text.source_tag,
    };
    for (uint32_t i = 0; i < module->table.function_count; i++) {
        module->functions[i].table = module->number;
    }
    recorder->modules[recorder->module_count] = module;
    recorder->module_count++;
    recorder->site_count += module->table.site_count;
    if (recorder->log != NULL) {
        /* Where this fails recording has stopped, and says so by itself. */
        tell_module(recorder, module);
    }
    return module;
}

static void forget_names(void *context, struct call *call)
{
    (void)context;
    call->told_in_chunk = UINT64_MAX;
    call->path = 0;
    call->class_name = 0;
    call->wish = 0;
    call->callers = 0;
    memset(call->names, 0, call->function->name_count * sizeof(struct name_state));
    leaf_states_release(&call->leaves);
    told_containers_release(&call->told);
}

bool recorder_fork(struct recorder *recorder, const char *path, struct error *error)
{
    if (recorder->log != NULL) {
        recorder->options.log.origin = log_writer_child_origin(recorder->log);
        log_writer_abandon(recorder->log);
    }
    /* Numbers of texts, forms and events belong to the parent's file. */
    call_table_each(recorder->calls, forget_names, NULL);
    call_table_forget_told_threads(recorder->calls);
    history_clear(recorder->history);
    recorder->options.log.parent = recorder->process;
    recorder->process = (uint32_t)getpid();
    recorder->log = log_writer_new(path, &recorder->options.log, error);
    if (recorder->log == NULL) {
        return false;
    }
    recorder->start = log_writer_start_clock(recorder->log);
    recorder_tell_settings(recorder);
    for (size_t i = 0; i < recorder->module_count; i++) {
        tell_module(recorder, recorder->modules[i]);
        left_out_forget(recorder->modules[i]);
    }
    return true;
}

struct call_thread *recorder_thread(struct recorder *recorder,
                                    uint64_t key,
                                    uint64_t native,
                                    struct slice name)
{
    struct call_thread *thread = call_table_thread(recorder->calls, key);

    /* Those that share the last number have no name. */
    if (thread != NULL) {
        thread->native = native;
    }
    if (thread != NULL && thread->number < THREAD_NUMBER_MAX && !thread->is_told &&
        recorder->log != NULL) {
        struct log_thread head = {
            .record = {.kind = LOG_THREAD},
            .number = thread->number,
            .name = log_writer_text(recorder->log, name),
            .native = native,
        };
        thread->is_told =
            log_writer_define(recorder->log, &head, sizeof(head), SLICE(""));
    }
    return thread;
}

struct call *recorder_begin_call(struct recorder *recorder,
                                 const struct call_start *start)
{
    struct call_function *function = &start->module->functions[start->function];
    struct call *call = call_table_begin(recorder->calls, start->thread, function,
                                         start->frame, start->code, start->is_left_out);

    if (call == NULL) {
        return NULL;
    }
    bool has_parent = start->parent != NULL && !start->parent->is_left_out;

    call->parent = has_parent ? start->parent->number : 0;
    call->line = has_parent ? start->line : 0;
    call->self = start->self;
    call->tracked = start->tracked;
    call->is_tapped =
        start->tracked != NULL || (start->parent != NULL && start->parent->is_tapped);
    call->flags = (uint8_t)((start->is_joined ? LOG_CALL_JOINED : 0) |
                            (function->is_generator ? LOG_CALL_GENERATOR : 0));
    if (recorder->log != NULL) {
        call->path = log_writer_text(recorder->log, start->path);
        call->class_name = log_writer_text(recorder->log, start->class_name);
        call->wish = log_writer_text(recorder->log, start->wish);
        call->callers = log_writer_text(recorder->log, start->callers);
    }
    recorder_tap_call(recorder, call, start);
    return call;
}

static void tell_tracked(struct recorder *recorder, const struct call *call)
{
    struct log_tracked *record =
        log_writer_begin_beside(recorder->log, sizeof(*record));

    if (record == NULL) {
        return;
    }
    record->time = recorder_time(recorder);
    record->call = call->number;
    record->wish = call->wish;
    record->callers = call->callers;
    log_writer_commit(recorder->log, (struct log_record){
                                         .size = sizeof(*record),
                                         .kind = LOG_TRACKED,
                                     });
}

void recorder_tell_call(struct recorder *recorder, struct call *call)
{
    uint64_t chunk = log_writer_chunk(recorder->log);
    bool is_told = call->told_in_chunk != UINT64_MAX;
    struct log_call *record;

    if (is_told && (recorder->options.log.last == 0 || call->told_in_chunk == chunk)) {
        return;
    }
    record = log_writer_begin_beside(recorder->log, sizeof(*record));
    if (record == NULL) {
        return;
    }
    record->time = recorder_time(recorder);
    record->call = call->number;
    record->parent = call->parent;
    record->table = call->function->table;
    record->function = call->function->index;
    record->line = call->line;
    record->thread = call->thread->number;
    record->path = call->path;
    record->class_name = call->class_name;
    log_writer_commit(
        recorder->log,
        (struct log_record){
            .size = sizeof(*record),
            .kind = LOG_CALL,
            .flags = (uint8_t)(call->flags | (is_told ? LOG_CALL_AGAIN : 0)),
        });
    call->told_in_chunk = log_writer_chunk(recorder->log);
    if (call->wish != 0) {
        tell_tracked(recorder, call);
    }
}

void recorder_end_call(struct recorder *recorder, struct call *call, struct slice error)
{
    if (recorder->log != NULL) {
        call->error = log_writer_text(recorder->log, error);
    }
    recorder->ended = call;
    recorder->end_error = error;
    call_table_end(recorder->calls, call);
    recorder->ended = NULL;
}
