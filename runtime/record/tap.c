/* What is recorded, for those who read along: the items that a reader of the trace would make. */
#include "runtime/record/state.h"

#include "runtime/array/sample.h"

static void give(struct recorder *recorder, const struct log_item *item)
{
    recorder->options.tap.on_item(recorder->options.tap.context, item);
}

static bool is_wanted(const struct recorder *recorder, const struct call *call)
{
    return call->is_tapped && recorder->options.tap.on_item != NULL;
}

void recorder_tap_call(struct recorder *recorder,
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
                 .module = &module->told,
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

void recorder_tap_end(struct recorder *recorder, const struct call *call)
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
    sample_take(&view->grid, array->array, viewed->sample.bytes);
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
                  .module = &visit->module->told,
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
