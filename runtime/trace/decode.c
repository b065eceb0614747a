/* Decoder of the records of a trace's stream. Every field of a record is checked before it is
 * passed on. */
#include "runtime/trace/reader_private.h"

#include <assert.h>

/* The rest of a record. */
struct rest {
    const char *bytes;
    size_t size;
};

/* Returns the next `size` bytes, or NULL if fewer are left. */
static const void *rest_read(struct rest *rest, size_t size)
{
    const char *bytes = rest->bytes;

    if (size > rest->size) {
        return NULL;
    }
    rest->bytes += size;
    rest->size -= size;
    return bytes;
}

static struct rest rest_of(const char *bytes, size_t head_size)
{
    const struct log_record *record = (const void *)bytes;

    return (struct rest){bytes + head_size, record->size - head_size};
}

/* ---- events ---- */

static const char too_short[] = "a record is too short for what it holds";

static const char *
decode_scalar(struct rest *rest, struct log_event_view *view, bool has_text)
{
    const struct log_scalar *scalar = rest_read(rest, sizeof *scalar);

    if (scalar == NULL) {
        return too_short;
    }
    if (view->kind == VALUE_FLOAT || view->kind == VALUE_COMPLEX) {
        view->real = scalar->real;
        view->imaginary = view->kind == VALUE_COMPLEX ? scalar->imaginary : 0;
    } else {
        view->integer = scalar->integer;
        view->object = view->kind == VALUE_CONTAINER ? scalar->object : 0;
    }
    if (has_text) {
        view->text = (struct slice){rest->bytes, rest->size};
    }
    return NULL;
}

/* Traces of older versions do not hold an object's address. */
static const char *decode_object(struct rest *rest, struct log_event_view *view)
{
    const struct log_object *object = rest_read(rest, sizeof *object);

    view->object = object == NULL ? 0 : object->object;
    return NULL;
}

static bool counts_are_sane(const struct statistics *statistics)
{
    uint64_t left = statistics->count;

#define STATISTIC_NONFINITE(field, name, function)                                     \
    if (statistics->field > left) {                                                    \
        return false;                                                                  \
    }                                                                                  \
    left -= statistics->field;
#define STATISTIC_COUNT(field, name, function)                                         \
    if (statistics->field > left) {                                                    \
        return false;                                                                  \
    }
#include "runtime/array/statistics/statistics.def"
    return true;
}

static const char *
decode_statistics(struct rest *rest, uint64_t count, struct log_event_view *view)
{
    const struct log_statistics *statistics = rest_read(rest, sizeof *statistics);

    if (statistics == NULL) {
        return too_short;
    }
    view->has_hash = (view->flags & LOG_EVENT_HASH) != 0;
    view->hash = view->has_hash ? statistics->hash : 0;
    view->has_statistics = (view->flags & LOG_EVENT_STATISTICS) != 0;
    if (view->has_statistics) {
        view->statistics = (struct statistics){.count = count};
#define STATISTIC_NONFINITE(field, name, function)
#define STATISTIC_COUNT(field, name, function)                                         \
    view->statistics.field = statistics->field;
#define STATISTIC_BOUND(field, name) view->statistics.field.natural = statistics->field;
#define STATISTIC_REAL(field, name)  view->statistics.field = statistics->field;
#include "runtime/array/statistics/statistics.def"
    }
    return NULL;
}

static const char *decode_nonfinite(struct rest *rest, struct log_event_view *view)
{
    const struct log_nonfinite *nonfinite = rest_read(rest, sizeof *nonfinite);

    if (nonfinite == NULL) {
        return too_short;
    }
#define STATISTIC_NONFINITE(field, name, function)                                     \
    view->statistics.field = nonfinite->field;
#include "runtime/array/statistics/statistics.def"
    return NULL;
}

static const char *decode_sample(struct rest *rest, struct log_event_view *view)
{
    const struct log_shape *shape = view->shape;
    size_t size = dtype_size(shape->dtype);

    view->grid.dimension_count = shape->grid->dimension_count;
    view->grid.shape = shape->grid->shape;
    view->grid.count = shape->grid->count;
    memcpy(view->grid.counts, shape->grid->counts,
           shape->dimension_count * sizeof *shape->grid->counts);
    if (size == 0 || view->grid.count > rest->size / size) {
        return too_short;
    }
    view->sample = rest_read(rest, (size_t)view->grid.count * size);
    return NULL;
}

static const char *decode_tensor(const struct log_reader *reader,
                                 uint32_t form,
                                 struct rest *rest,
                                 struct log_event_view *view)
{
    const struct log_tensor *tensor = rest_read(rest, sizeof *tensor);
    const char *problem = NULL;
    struct array array;
    uint32_t ignored;

    view->shape = log_numbered_find(&reader->shapes, form);
    if (view->shape == NULL) {
        return "an event refers to a form that is not defined";
    }
    if (tensor == NULL) {
        return too_short;
    }
    view->tensor = *tensor;
    if (tensor->origin > view->number) {
        return "an event refers to a later one";
    }
    if (tensor->alias_site != UINT32_MAX &&
        log_site_module(reader, tensor->alias_site, &ignored) == NULL) {
        return "an event refers to a site that is not defined";
    }
    array = (struct array){
        .dtype = view->shape->dtype,
        .dimension_count = view->shape->dimension_count,
        .shape = view->shape->shape,
    };
    if ((view->flags & (LOG_EVENT_STATISTICS | LOG_EVENT_HASH)) != 0) {
        uint64_t count = array_count(&array);

        if (count == UINT64_MAX) {
            return "an event measures a tensor of impossible size";
        }
        problem = decode_statistics(rest, count, view);
    }
    if (problem == NULL && (view->flags & LOG_EVENT_NONFINITE) != 0) {
        problem = decode_nonfinite(rest, view);
    }
    if (problem == NULL && view->has_statistics &&
        !counts_are_sane(&view->statistics)) {
        problem = "an event counts more elements than its tensor has";
    }
    if (problem == NULL && (view->flags & LOG_EVENT_SAMPLE) != 0) {
        problem = decode_sample(rest, view);
    }
    return problem;
}

static const char *decode_value(const struct log_reader *reader,
                                uint32_t type,
                                struct rest *rest,
                                struct log_event_view *view)
{
    switch (view->kind) {
    case VALUE_TENSOR:
        return decode_tensor(reader, type, rest, view);
    case VALUE_TEXT:
    case VALUE_BIG_INT:
        return decode_scalar(rest, view, true);
    case VALUE_CONTAINER:
    case VALUE_OBJECT:
        if (!log_text_find(reader, type, &view->type)) {
            return "an event refers to a text that is not defined";
        }
        return view->kind == VALUE_CONTAINER ? decode_scalar(rest, view, false)
                                             : decode_object(rest, view);
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
    case VALUE_BYTES:
        return decode_scalar(rest, view, false);
    default:
        return NULL;
    }
}

static const char *find_name(const struct log_event *event, struct log_event_view *view)
{
    if ((view->flags & LOG_EVENT_READ) != 0) {
        if (event->write >= view->site->read_count) {
            return "an event names a variable that its site does not read";
        }
        view->name = view->site->reads[event->write].name;
        return NULL;
    }
    if (event->write < view->site->write_count) {
        view->name = view->site->writes[event->write].name;
        return NULL;
    }
    if (event->write != 0) {
        return "an event is of a name that its site does not write";
    }
    view->name = SLICE("");
    return NULL;
}

/* Finds the place and name of an event, or of the event that a gradient belongs to. */
static const char *find_place(const struct log_reader *reader,
                              const struct log_event *event,
                              struct log_event_view *view)
{
    view->module = log_site_module(reader, event->site, &view->module_number);
    if (view->module == NULL) {
        return "an event refers to a site that is not defined";
    }
    view->site = &view->module->table.sites[event->site - view->module->first_site];
    if (!log_text_find(reader, event->path, &view->path)) {
        return "an event refers to a text that is not defined";
    }
    if ((view->flags & LOG_EVENT_PARAMETER) != 0) {
        view->name = view->path;
        view->path = SLICE("");
        return NULL;
    }
    return find_name(event, view);
}

/* Fills in the fields that events and gradients share, and clears the others. */
static void begin_view(const struct log_reader *reader,
                       const struct log_event *event,
                       uint64_t number,
                       struct log_event_view *view)
{
    memset(view, 0, offsetof(struct log_event_view, grid));
    view->grid.dimension_count = 0;
    view->grid.count = 0;
    view->number = number;
    view->time = event->time;
    view->site_number = event->site;
    view->call = event->call;
    view->visit = event->visit;
    view->thread = event->thread;
    view->training_step = reader->stream.training_step;
    view->flags = event->record.flags;
    view->type = SLICE("");
    view->text = SLICE("");
}

static const char *decode_event(const struct log_reader *reader,
                                const char *bytes,
                                uint64_t number,
                                struct log_item *item)
{
    const struct log_event *event = (const void *)bytes;
    struct rest rest = rest_of(bytes, sizeof *event);
    struct log_event_view *view = &item->event;
    const char *problem;

    begin_view(reader, event, number, view);
    view->kind = event->record.tag;
    view->change = event->record.mark;
    view->difference = event->difference;
    if (event->record.tag >= VALUE_KIND_COUNT || event->record.mark >= CHANGE_COUNT) {
        return "an event is of an unknown kind";
    }
    problem = find_place(reader, event, view);
    return problem != NULL ? problem : decode_value(reader, event->type, &rest, view);
}

static const char *decode_gradient(const struct log_reader *reader,
                                   const char *bytes,
                                   uint64_t next_event,
                                   struct log_item *item)
{
    const struct log_gradient *gradient = (const void *)bytes;
    const struct log_event *event = &gradient->event;
    struct rest rest = rest_of(bytes, sizeof *gradient);
    struct log_event_view *view = &item->event;
    const char *problem;

    begin_view(reader, event, next_event, view);
    view->kind = VALUE_TENSOR;
    view->gradient = event->record.tag;
    view->step = gradient->step;
    if (view->gradient != LOG_GRADIENT_ARRIVED &&
        view->gradient != LOG_GRADIENT_ACCUMULATED) {
        return "a gradient is of an unknown kind";
    }
    problem = find_place(reader, event, view);
    if (problem == NULL) {
        problem = decode_tensor(reader, event->type, &rest, view);
    }
    if (problem == NULL && view->tensor.origin == 0) {
        problem = "a gradient is of no event";
    }
    view->number = view->tensor.origin - 1;
    return problem;
}

/* ---- the rest of the stream ---- */

static const char *
decode_step(const struct log_reader *reader, const char *bytes, struct log_item *item)
{
    const struct log_step *step = (const void *)bytes;

    item->step = (struct log_step_view){
        .time = step->time,
        .tag = step->record.tag,
        .number = step->number,
        .line = step->line,
        .thread = step->thread,
    };
    if (step->record.tag < LOG_STEP_BACKWARD || step->record.tag > LOG_STEP_LAST) {
        return "a step is of an unknown kind";
    }
    return log_text_find(reader, step->file, &item->step.file) &&
                   log_text_find(reader, step->name, &item->step.name)
               ? NULL
               : "a step refers to a text that is not defined";
}

struct slice log_step_text(enum log_step_tag tag)
{
    switch (tag) {
    case LOG_STEP_OPTIMIZER:
        return SLICE("optimizer");
    case LOG_STEP_GRADIENTS:
        return SLICE("gradients");
    case LOG_STEP_SETTINGS:
        return SLICE("settings");
    default:
        return SLICE("backward");
    }
}

static const char *decode_birth(const struct log_reader *reader,
                                const char *bytes,
                                uint64_t next_event,
                                struct log_item *item)
{
    const struct log_birth *birth = (const void *)bytes;
    struct rest rest = rest_of(bytes, sizeof *birth);
    size_t size = sizeof(struct log_birth_source);
    const struct log_birth_source *sources = (const void *)rest.bytes;
    struct slice ignored;

    if (birth->count > rest.size / size) {
        return too_short;
    }
    for (uint32_t i = 0; i < birth->count; i++) {
        if (sources[i].event > next_event ||
            !log_text_find(reader, sources[i].functions, &ignored)) {
            return "a gradient refers to what is not there";
        }
    }
    if (birth->event >= next_event) {
        return "a gradient refers to a later event";
    }
    item->birth = (struct log_birth_view){
        .time = birth->time,
        .event = birth->event,
        .step = birth->step,
        .count = birth->count,
        .sources = rest.bytes,
    };
    return NULL;
}

struct log_birth_source_view log_birth_source_read(const struct log_reader *reader,
                                                   const struct log_birth_view *birth,
                                                   uint32_t index)
{
    const struct log_birth_source *source =
        (const struct log_birth_source *)(const void *)birth->sources + index;
    struct log_birth_source_view view = {
        .is_start = source->event == 0,
        .event = source->event == 0 ? 0 : source->event - 1,
    };

    assert(index < birth->count);
    log_text_find(reader, source->functions, &view.functions);
    return view;
}

static const char *
decode_call(const struct log_reader *reader, const char *bytes, struct log_item *item)
{
    const struct log_call *call = (const void *)bytes;
    struct log_call_view *view = &item->call;

    *view = (struct log_call_view){
        .time = call->time,
        .call = call->call,
        .parent = call->parent,
        .line = call->line,
        .thread = call->thread,
        .flags = call->record.flags,
    };
    view->module = log_table_module(reader, call->table, &view->module_number);
    if (view->module == NULL || call->function >= view->module->table.function_count) {
        return "a call refers to a function that is not defined";
    }
    view->function = &view->module->table.functions[call->function];
    if (!log_text_find(reader, call->path, &view->path) ||
        !log_text_find(reader, call->class_name, &view->class_name)) {
        return "a call refers to a text that is not defined";
    }
    return NULL;
}

static const char *
decode_end(const struct log_reader *reader, const char *bytes, struct log_item *item)
{
    const struct log_end *end = (const void *)bytes;

    item->end.time = end->time;
    item->end.call = end->call;
    item->end.how = end->record.tag;
    if (!log_text_find(reader, end->error, &item->end.error)) {
        return "the end of a call refers to a text that is not defined";
    }
    return end->record.tag == LOG_END_RETURNED || end->record.tag == LOG_END_LEFT
               ? NULL
               : "the end of a call is of an unknown kind";
}

static const char *decode_tracked(const struct log_reader *reader,
                                  const char *bytes,
                                  struct log_item *item)
{
    const struct log_tracked *tracked = (const void *)bytes;

    item->tracked.time = tracked->time;
    item->tracked.call = tracked->call;
    return log_text_find(reader, tracked->wish, &item->tracked.wish) &&
                   log_text_find(reader, tracked->callers, &item->tracked.callers)
               ? NULL
               : "a tracked call refers to a text that is not defined";
}

static const char *
decode_data(const char *bytes, uint64_t next_event, struct log_item *item)
{
    const struct log_data *data = (const void *)bytes;
    struct rest rest = rest_of(bytes, sizeof *data);

    if (next_event == 0) {
        return "there are values of an event before the first one";
    }
    if (data->offset > UINT64_MAX - rest.size) {
        return "values lie at an impossible place";
    }
    item->data.event = next_event - 1;
    item->data.is_once = (data->record.flags & LOG_DATA_ONCE) != 0;
    item->data.offset = data->offset;
    item->data.bytes = (struct slice){rest.bytes, rest.size};
    return NULL;
}

static const char *
decode_note(const struct log_reader *reader, const char *bytes, struct log_item *item)
{
    const struct log_note *note = (const void *)bytes;
    struct rest rest = rest_of(bytes, sizeof *note);
    uint32_t ignored;

    if (note->record.tag < LOG_NOTE_REMARK || note->record.tag > LOG_NOTE_SAVED) {
        return "a note is of an unknown kind";
    }
    item->note.time = note->time;
    item->note.tag = note->record.tag;
    item->note.text = (struct slice){rest.bytes, rest.size};
    item->note.module = log_site_module(reader, note->site, &ignored);
    item->note.site = NULL;
    if (item->note.module != NULL) {
        item->note.site =
            &item->note.module->table.sites[note->site - item->note.module->first_site];
    }
    return NULL;
}

static const char *decode_training_step(const char *bytes, struct log_item *item)
{
    const struct log_training_step *step = (const void *)bytes;

    item->training_step.time = step->time;
    item->training_step.number = step->number;
    item->training_step.is_again = (step->record.flags & LOG_TRAINING_STEP_AGAIN) != 0;
    return NULL;
}

const char *log_decode(const struct log_reader *reader,
                       const char *bytes,
                       uint64_t next_event,
                       struct log_item *item)
{
    static const size_t head_sizes[] = {
        [LOG_CALL] = sizeof(struct log_call),
        [LOG_END] = sizeof(struct log_end),
        [LOG_EVENT] = sizeof(struct log_event),
        [LOG_DATA] = sizeof(struct log_data),
        [LOG_NOTE] = sizeof(struct log_note),
        [LOG_TRACKED] = sizeof(struct log_tracked),
        [LOG_STEP] = sizeof(struct log_step),
        [LOG_GRADIENT] = sizeof(struct log_gradient),
        [LOG_BIRTH] = sizeof(struct log_birth),
        [LOG_TRAINING_STEP] = sizeof(struct log_training_step),
    };
    const struct log_record *record = (const void *)bytes;

    if (record->size < head_sizes[record->kind]) {
        return too_short;
    }
    item->kind = record->kind;
    switch (record->kind) {
    case LOG_CALL:
        return decode_call(reader, bytes, item);
    case LOG_END:
        return decode_end(reader, bytes, item);
    case LOG_EVENT:
        return decode_event(reader, bytes, next_event, item);
    case LOG_DATA:
        return decode_data(bytes, next_event, item);
    case LOG_TRACKED:
        return decode_tracked(reader, bytes, item);
    case LOG_STEP:
        return decode_step(reader, bytes, item);
    case LOG_GRADIENT:
        return decode_gradient(reader, bytes, next_event, item);
    case LOG_BIRTH:
        return decode_birth(reader, bytes, next_event, item);
    case LOG_TRAINING_STEP:
        return decode_training_step(bytes, item);
    default:
        return decode_note(reader, bytes, item);
    }
}
