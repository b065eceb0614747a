/* The recorder: its trace, its modules, threads and calls. */
#include "runtime/record/recorder.h"

#include "runtime/array/sample.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/record/left_out.h"
#include "runtime/record/state.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the tap: passes on what is recorded, as items that a reader of the trace would return
 * ---- */

static void give(struct recorder *recorder, const struct log_item *item)
{
    recorder->options.tap.on_item(recorder->options.tap.context, item);
}

static bool is_wanted(const struct recorder *recorder, const struct call *call)
{
    return call->is_tapped && recorder->options.tap.on_item != NULL;
}

/* Passes the call to the tap, if there is one and it wants the call. */
static void recorder_tap_call(struct recorder *recorder,
                              const struct call *call,
                              const struct call_start *start)
{
    const struct recorded_module *module = start->module;

    if (!is_wanted(recorder, call)) {
        return;
    }
    struct log_item item = {
        .kind = LOG_CALL,
        .call = {.time = recorder_time(recorder),
                 .call = call->number,
                 .parent = call->parent,
                 .module = &module->recorded,
                 .module_number = module->number,
                 .function = &module->table.functions[start->function],
                 .line = call->line,
                 .thread = call->thread->number,
                 .flags = call->flags,
                 .path = start->path,
                 .class_name = start->class_name},
    };
    uint64_t time = item.call.time;
    give(recorder, &item);
    if (call->tracked != NULL) {
        give(recorder, &(struct log_item){.kind = LOG_TRACKED,
                                          .tracked = {.time = time,
                                                      .call = call->number,
                                                      .wish = start->wish,
                                                      .callers = start->callers}});
    }
}

static void recorder_tap_end(struct recorder *recorder, const struct call *call)
{
    if (!is_wanted(recorder, call)) {
        return;
    }
    struct slice error = call == recorder->ended ? recorder->end_error : SLICE("");
    bool is_return = call->has_returned && error.size == 0;
    give(recorder,
         &(struct log_item){.kind = LOG_END,
                            .end = {.time = recorder_time(recorder),
                                    .call = call->number,
                                    .how = is_return ? LOG_END_RETURNED : LOG_END_LEFT,
                                    .error = error}});
}

/* ---- events ---- */

static void fill_statistics(const struct recorded_array *array,
                            struct log_event_view *view)
{
    view->has_statistics = array->statistics != NULL;
    view->has_hash = array->has_hash;
    view->hash = array->has_hash ? array->hash : 0;
    view->statistics.count = array_count(array->array);
    if (array->statistics == NULL) {
        return;
    }
    view->statistics = *array->statistics;
    if (statistics_finite_count(array->statistics) != array->statistics->count) {
        view->flags |= LOG_EVENT_NONFINITE;
    }
}

static void fill_sample(const struct recorded_array *array,
                        uint32_t limit,
                        struct viewed_array *viewed,
                        struct log_event_view *view)
{
    if (!array->is_sampled || array->array->data == NULL) {
        return;
    }
    sample_grid_init(&view->grid, array->array->shape, array->array->dimension_count,
                     limit);
    if (view->grid.count == 0 || view->grid.count > SAMPLE_MAX ||
        dtype_size(array->array->dtype) > VIEWED_ELEMENT_SIZE_MAX) {
        view->grid.count = 0;
        return;
    }
    sample_copy(&view->grid, array->array, viewed->sample.bytes);
    view->sample = viewed->sample.bytes;
    view->flags |= LOG_EVENT_SAMPLE;
}

static struct slice text_or(struct slice text, const char *usual)
{
    return text.size > 0 ? text : slice_of(usual);
}

static void view_array(const struct recorded_array *given,
                       uint32_t sample,
                       struct viewed_array *viewed,
                       struct log_event_view *view)
{
    const struct array *array = given->array;

    viewed->shape = (struct log_shape){
        .dtype = array->dtype,
        .dtype_text = text_or(given->dtype_text, dtype_text(array->dtype)),
        .dimension_count = array->dimension_count,
        .shape = array->shape,
        .flags = given->flags,
        .type = given->type,
        .device = text_or(given->device, "cpu"),
        .layout = text_or(given->layout, "strided"),
        .note = given->note,
    };
    view->shape = &viewed->shape;
    if (!given->is_late) {
        fill_statistics(given, view);
        fill_sample(given, sample, viewed, view);
    }
    view->flags |= (view->has_statistics ? LOG_EVENT_STATISTICS : 0) |
                   (view->has_hash ? LOG_EVENT_HASH : 0);
}

void recorder_view_value(const struct value *value,
                         uint32_t sample,
                         struct viewed_array *viewed,
                         struct log_event_view *view)
{
    view->kind = value->kind;
    view->flags |= value->is_cut ? (unsigned)LOG_EVENT_MORE : 0u;
    view->flags |= value->is_continued ? (unsigned)LOG_EVENT_CONTINUED : 0u;
    view->type = value->type;
    view->object = value->kind == VALUE_OBJECT || value->kind == VALUE_CONTAINER
                       ? value->object
                       : 0;
    view->integer = value->integer;
    view->real = value->real;
    view->imaginary = value->imaginary;
    view->text = value->text;
    if (value->kind == VALUE_TENSOR) {
        view_array(value->array, sample, viewed, view);
    }
}

void recorder_tap_event(struct recorder *recorder,
                        const struct visit *visit,
                        const struct log_event *head,
                        uint64_t number,
                        struct slice name,
                        struct slice path,
                        const struct value *value,
                        const struct verdict *verdict)
{
    struct viewed_array viewed;
    struct log_item item = {
        .kind = LOG_EVENT,
        .event = {.number = number,
                  .time = visit->time,
                  .module = &visit->module->recorded,
                  .module_number = visit->module->number,
                  .site = visit->site,
                  .site_number = head->site,
                  .call = visit->call->number,
                  .visit = visit->number,
                  .thread = visit->call->thread->number,
                  .change = verdict->change,
                  .difference = head->difference,
                  .flags = head->record.flags,
                  .name = name,
                  .path = path},
    };

    if (!is_wanted(recorder, visit->call)) {
        return;
    }
    recorder_view_value(value, recorder->options.log.sample | SAMPLE_WHOLE, &viewed,
                        &item.event);
    if (value->kind == VALUE_TENSOR) {
        item.event.tensor = (struct log_tensor){
            .object = value->object,
            .data = value->array->data,
            .offset = value->array->offset,
            .origin = verdict->origin,
            .version = value->array->version,
            .alias_site = verdict->alias_site,
        };
    }
    give(recorder, &item);
}

/* ---- settings of the run, kept because a forked child starts its own trace ---- */

static struct slice setting_name(const struct recorder_setting *setting)
{
    return (struct slice){setting->text, setting->name_size};
}

static struct slice setting_value(const struct recorder_setting *setting)
{
    return (struct slice){setting->text + setting->name_size, setting->value_size};
}

/* Returns the setting of that name, or a zeroed one at the end of the list. NULL: out of memory. */
static struct recorder_setting *find_place(struct recorder *recorder, struct slice name)
{
    void *settings = recorder->settings;

    for (size_t i = 0; i < recorder->setting_count; i++) {
        if (slice_equal(setting_name(&recorder->settings[i]), name)) {
            return &recorder->settings[i];
        }
    }
    if (!memory_grow(&settings, &recorder->setting_capacity,
                     recorder->setting_count + 1, sizeof(struct recorder_setting))) {
        return NULL;
    }
    recorder->settings = settings;
    recorder->settings[recorder->setting_count] = (struct recorder_setting){0};
    return &recorder->settings[recorder->setting_count];
}

/* Stores the setting. Returns false if it was stored already, with this value. */
static bool remember(struct recorder *recorder, struct slice name, struct slice value)
{
    struct recorder_setting *setting = find_place(recorder, name);
    char *text;

    if (setting == NULL) {
        return true;
    }
    if (setting->text != NULL && slice_equal(setting_value(setting), value)) {
        return false;
    }
    text = memory_allocate(name.size + value.size + 1, 1);
    if (text == NULL) {
        return true;
    }
    memcpy(text, name.bytes, name.size);
    memcpy(text + name.size, value.bytes, value.size);
    recorder->setting_count += setting->text == NULL;
    memory_free(setting->text);
    *setting = (struct recorder_setting){text, name.size, value.size};
    return true;
}

void recorder_write_setting(struct recorder *recorder,
                            struct slice name,
                            struct slice value)
{
    if (recorder->log != NULL && remember(recorder, name, value)) {
        log_writer_setting(recorder->log, name, value);
    }
}

/* Writes all settings to a log that has just started. */
static void recorder_write_settings(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->setting_count; i++) {
        log_writer_setting(recorder->log, setting_name(&recorder->settings[i]),
                           setting_value(&recorder->settings[i]));
    }
}

static void recorder_free_settings(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->setting_count; i++) {
        memory_free(recorder->settings[i].text);
    }
    memory_free(recorder->settings);
}

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

static void record_end(void *context, struct call *call)
{
    struct recorder *recorder = context;
    struct log_end *end;

    recorder_tap_end(recorder, call);
    if (call->written_in_chunk == UINT64_MAX || recorder->log == NULL) {
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
    recorder->calls = call_table_new(record_end, recorder);
    recorder->history = history_new();
    if (!copy_names(&recorder->options) || recorder->calls == NULL ||
        recorder->history == NULL) {
        error_set_memory(error);
        recorder_free(recorder);
        return NULL;
    }
    recorder->log = path == NULL ? log_writer_new_unkept(&options->log, error)
                                 : log_writer_new(path, &options->log, error);
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
        record_end(context, call);
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

struct recorded_module *recorder_module(const struct recorder *recorder,
                                        uint32_t number)
{
    return number < recorder->module_count ? recorder->modules[number] : NULL;
}

static bool write_module(struct recorder *recorder,
                         const struct recorded_module *module)
{
    const struct module_text *text = &module->source->text;
    struct log_table head = {
        .record = {.kind = LOG_TABLE},
        .number = module->number,
        .first_site = module->first_site,
        .site_count = module->table.site_count,
        .module = log_writer_text(recorder->log, text->name),
        .file = log_writer_text(recorder->log, text->file),
    };
    struct log_source source = {
        .record = {.kind = LOG_SOURCE, .tag = (uint8_t)text->source_tag},
        .table = module->number,
    };

    if (!log_writer_define(recorder->log, &head, sizeof(head), text->table)) {
        return false;
    }
    return text->source.size == 0 ||
           log_writer_define(recorder->log, &source, sizeof(source), text->source);
}

struct recorded_module *recorder_add_module(struct recorder *recorder,
                                            struct site_module *source,
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
    module = recorded_module_new(source, recorder->options.has_sources ||
                                             recorder->options.tap.on_item != NULL);
    if (module == NULL) {
        error_set_memory(error);
        return NULL;
    }
    module->number = (uint32_t)recorder->module_count;
    module->first_site = recorder->site_count;
    module->recorded = (struct log_module){
        .table = module->table,
        .first_site = module->first_site,
        .name = source->text.name,
        .file = source->text.file,
        .source = source->text.source,
        .source_tag = source->text.source_tag,
    };
    for (uint32_t i = 0; i < module->table.function_count; i++) {
        module->functions[i].table = module->number;
    }
    recorder->modules[recorder->module_count] = module;
    recorder->module_count++;
    recorder->site_count += module->table.site_count;
    if (recorder->log != NULL) {
        /* A failure stops recording, and the log reports it. */
        write_module(recorder, module);
    }
    return module;
}

struct recorded_module *recorder_add_text(struct recorder *recorder,
                                          const struct module_text *text,
                                          struct error *error)
{
    struct site_module *source = site_module_new(text, error);
    struct recorded_module *module =
        source == NULL ? NULL : recorder_add_module(recorder, source, error);

    site_module_leave(source);
    return module;
}

static void forget_names(void *context, struct call *call)
{
    (void)context;
    call->written_in_chunk = UINT64_MAX;
    call->path = 0;
    call->class_name = 0;
    call->wish = 0;
    call->callers = 0;
    memset(call->names, 0, call->function->name_count * sizeof(struct name_state));
    leaf_states_release(&call->leaves);
    known_containers_release(&call->recorded);
}

bool recorder_fork(struct recorder *recorder, const char *path, struct error *error)
{
    if (recorder->log != NULL) {
        recorder->options.log.origin = log_writer_child_origin(recorder->log);
        log_writer_abandon(recorder->log);
    }
    /* Numbers of texts, forms and events are valid in the parent's file only. */
    call_table_each(recorder->calls, forget_names, NULL);
    call_table_forget_recorded_threads(recorder->calls);
    history_clear(recorder->history);
    recorder->options.log.parent = recorder->process;
    recorder->process = (uint32_t)getpid();
    recorder->log = log_writer_new(path, &recorder->options.log, error);
    if (recorder->log == NULL) {
        return false;
    }
    recorder->start = log_writer_start_clock(recorder->log);
    log_writer_begin_step(recorder->log, recorder->training_step);
    recorder->training_chunk = UINT64_MAX;
    recorder_write_settings(recorder);
    for (size_t i = 0; i < recorder->module_count; i++) {
        write_module(recorder, recorder->modules[i]);
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

    /* Threads that share the last number have no name. */
    if (thread != NULL) {
        thread->native = native;
    }
    if (thread != NULL && thread->number < THREAD_NUMBER_MAX && !thread->is_recorded &&
        recorder->log != NULL) {
        struct log_thread head = {
            .record = {.kind = LOG_THREAD},
            .number = thread->number,
            .name = log_writer_text(recorder->log, name),
            .native = native,
        };
        thread->is_recorded =
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

static void write_tracked(struct recorder *recorder, const struct call *call)
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

static void write_training_step(struct recorder *recorder, unsigned flags)
{
    struct log_training_step *record =
        log_writer_begin_beside(recorder->log, sizeof(*record));

    if (record == NULL) {
        return;
    }
    record->time = recorder_time(recorder);
    record->number = recorder->training_step;
    log_writer_commit(recorder->log, (struct log_record){
                                         .size = sizeof(*record),
                                         .kind = LOG_TRAINING_STEP,
                                         .flags = (uint8_t)flags,
                                     });
    recorder->training_chunk = log_writer_chunk(recorder->log);
}

void recorder_begin_training_step(struct recorder *recorder, uint64_t step)
{
    recorder->training_step = step;
    if (recorder->log != NULL) {
        log_writer_begin_step(recorder->log, step);
        write_training_step(recorder, 0);
    }
}

void recorder_write_call(struct recorder *recorder, struct call *call)
{
    uint64_t chunk = log_writer_chunk(recorder->log);
    bool is_recorded = call->written_in_chunk != UINT64_MAX;
    struct log_call *record;

    if (recorder->training_step > 0 && recorder->training_chunk != chunk) {
        write_training_step(recorder, LOG_TRAINING_STEP_AGAIN);
    }
    if (is_recorded && (!log_options_keep_newest(&recorder->options.log) ||
                        call->written_in_chunk == chunk)) {
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
            .flags = (uint8_t)(call->flags | (is_recorded ? LOG_CALL_AGAIN : 0)),
        });
    call->written_in_chunk = log_writer_chunk(recorder->log);
    if (call->wish != 0) {
        write_tracked(recorder, call);
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

/* ---- visits of sites: which ones are recorded, and the states of the names that they read ---- */

/* Flags of a site in a while header, in `repeats` of struct call. */
enum {
    REPEAT_IS_RECORDED = 1, /* since the loop was reached */
    REPEAT_HAS_TURNED = 2   /* an iteration has started since */
};

bool recorder_is_entered(const struct recorded_module *module,
                         const struct call *call,
                         uint32_t site)
{
    assert(site < module->table.site_count);

    uint32_t repeat = module->sites[site].repeat;
    uint8_t seen = REPEAT_IS_RECORDED | REPEAT_HAS_TURNED;

    return repeat != SITE_NONE && !call->has_returned &&
           (call->repeats[repeat] & seen) == seen;
}

/* Whether this visit of a site in a while header is a repetition. The header runs at each
 * iteration of the loop, but is recorded only once each time that the loop is reached: it counts
 * as reached again after an earlier site was visited, or if no iteration has started since. */
static bool
is_repetition(const struct recorded_module *module, struct call *call, uint32_t site)
{
    const struct call_function *function = call->function;
    const struct repeating_site *repeating =
        &module->repeating[module->first_repeating[function->index]];
    bool is_again = false;

    for (uint32_t i = 0; i < function->repeat_count; i++) {
        uint8_t *state = &call->repeats[i];
        if (site == repeating[i].loop) {
            *state |= REPEAT_HAS_TURNED;
        } else if (site < repeating[i].site) {
            *state = 0;
        } else if (site == repeating[i].site) {
            is_again = *state == (REPEAT_IS_RECORDED | REPEAT_HAS_TURNED);
            *state = REPEAT_IS_RECORDED;
        }
    }
    return is_again;
}

bool recorder_begin_visit(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call,
                          struct visit *visit)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];
    uint32_t *count = &call->visits[recorded->local];

    if (call->function->repeat_count > 0 && is_repetition(module, call, site)) {
        return false;
    }
    visit->module = module;
    visit->site = &module->table.sites[site];
    visit->index = site;
    visit->call = call;
    visit->time = recorder_time(recorder);
    *count += left_out_pop_skipped(recorded, call->function);
    visit->number = *count;
    visit->is_inspection = false;
    visit->is_measured = recorder->options.every <= 1 ||
                         recorded->visit_count % recorder->options.every == 0;
    *count += *count < UINT32_MAX;
    recorded->visit_count++;
    left_out_consider(recorder, module, site);
    if (visit->site->kind == SITE_RETURN) {
        call->has_returned = true;
    }
    return true;
}

bool recorder_is_read_new(const struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t read)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);

    return recorder->options.has_sources && read <= UINT8_MAX && name != SITE_NONE &&
           visit->call->names[name].object == 0;
}

struct visit recorder_peek(const struct recorder *recorder,
                           struct recorded_module *module,
                           uint32_t site,
                           struct call *call)
{
    return (struct visit){
        .module = module,
        .site = &module->table.sites[site],
        .index = site,
        .call = call,
        .time = recorder_time(recorder),
        .number = call->visits[module->sites[site].local],
        .is_measured = true,
    };
}

bool recorder_read_may_differ(const struct visit *visit,
                              uint32_t read,
                              uint64_t object,
                              bool has_version,
                              uint32_t version)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);
    const struct name_state *state;

    if (name == SITE_NONE || read > UINT8_MAX) {
        return false;
    }
    state = &visit->call->names[name];
    if (state->object == 0 || state->object == NAME_PASSED) {
        return false;
    }
    return state->object != object || !has_version || state->version != version;
}

void recorder_pass_read(const struct visit *visit, uint32_t read)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);

    visit->call->names[name].object = NAME_PASSED;
}

bool recorder_keeps(const struct recorder *recorder,
                    struct slice name,
                    struct slice path)
{
    for (size_t i = 0; i < recorder->options.name_count; i++) {
        if (name_select(name, path, slice_of(recorder->options.names[i])) !=
            NAME_OTHER) {
            return true;
        }
    }
    return false;
}

void recorder_note(struct recorder *recorder,
                   enum log_note_tag tag,
                   uint32_t site,
                   struct slice text)
{
    size_t limit = LOG_RECORD_MAX - sizeof(struct log_note);
    size_t size = text.size < limit ? text.size : limit;
    struct log_note *note;

    if (recorder->log == NULL) {
        return;
    }
    note = log_writer_begin_beside(recorder->log, sizeof(*note) + size);
    if (note == NULL) {
        return;
    }
    note->time = recorder_time(recorder);
    note->site = site;
    memcpy(note + 1, text.bytes, size);
    log_writer_commit(recorder->log,
                      (struct log_record){.size = (uint32_t)(sizeof(*note) + size),
                                          .kind = LOG_NOTE,
                                          .tag = (uint8_t)tag});
}
