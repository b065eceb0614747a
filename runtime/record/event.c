/* Events: compares one value of a visit with its name's last state, and writes its event to the
 * trace. */
#include "runtime/array/expanded.h"
#include "runtime/array/sample.h"
#include "runtime/base/hash/hash.h"
#include "runtime/record/left_out.h"
#include "runtime/record/state.h"
#include "runtime/trace/late.h"

#include <assert.h>
#include <string.h>

/* ---- forms: shape, strides, dtype and so on of an array, written once for all events that have
 * them ---- */

static uint32_t mix(uint32_t hash, int64_t number)
{
    uint64_t product = (hash ^ (uint64_t)number) * 0x9e3779b97f4a7c15u;

    return (uint32_t)(product >> 32) ^ (uint32_t)product;
}

/* The form of an array with its shape and strides in one block, as the log expects it. */
struct form_record {
    struct log_form form;
    int64_t dimensions[2 * ARRAY_DIMENSION_MAX];
};

static void fill_shape(struct form_record *record,
                       const struct array *array,
                       struct form_mark *mark)
{
    uint32_t hash = array->dimension_count;

    for (uint32_t i = 0; i < array->dimension_count; i++) {
        record->dimensions[i] = array->shape[i];
        hash = mix(hash, array->shape[i]);
    }
    mark->shape = hash;
}

/* Strides in traces count elements, or bytes if one of them is no multiple of the element size.
 * Returns how many were written. */
static uint32_t fill_strides(struct form_record *record,
                             const struct array *array,
                             struct form_mark *mark)
{
    uint32_t count = array->dimension_count;
    int64_t *strides = record->dimensions + count;
    uint64_t unit = dtype_size(array->dtype);
    unsigned shift = 0; /* of strides in bytes: a unit is a power of two */
    uint32_t hash = 0;

    if (array->strides == NULL) {
        record->form.flags |= LOG_FORM_NO_STRIDES;
        mark->strides = 0;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (unit == 0 || ((uint64_t)array->strides[i] & (unit - 1)) != 0) {
            record->form.flags |= LOG_FORM_BYTE_STRIDES;
            unit = 1;
        }
    }
    assert((unit & (unit - 1)) == 0);
    while (unit >> shift > 1) {
        shift++;
    }
    for (uint32_t i = 0; i < count; i++) {
        strides[i] = array->strides[i] >> shift;
        hash = mix(hash, strides[i]);
    }
    mark->strides = hash;
    return count;
}

/* Returns the text's number in the log; 0 for the empty text. */
static uint32_t recorder_text_number(struct recorder *recorder, struct slice text)
{
    return text.size == 0 ? 0 : log_writer_text(recorder->log, text);
}

/* Returns the number of the array's form in the log, and fills in its mark. */
static uint32_t recorder_define_form(struct recorder *recorder,
                                     const struct recorded_array *given,
                                     struct form_mark *mark)
{
    struct form_record record;
    struct log_form *form = &record.form;
    const struct array *array = given->array;

    memset(form, 0, sizeof(*form));
    form->record.kind = LOG_FORM;
    form->record.tag = given->device.size > 0 ? LOG_DEVICE_OTHER : LOG_DEVICE_CPU;
    form->record.mark = given->layout.size > 0 ? LOG_LAYOUT_OTHER : LOG_LAYOUT_STRIDED;
    form->dtype = (uint8_t)array->dtype;
    form->dimension_count = (uint8_t)array->dimension_count;
    form->flags = (uint8_t)given->flags;
    form->type = recorder_text_number(recorder, given->type);
    form->dtype_text = recorder_text_number(recorder, given->dtype_text);
    form->device = recorder_text_number(recorder, given->device);
    form->layout = recorder_text_number(recorder, given->layout);
    form->note = recorder_text_number(recorder, given->note);
    fill_shape(&record, array, mark);
    uint32_t stride_count = fill_strides(&record, array, mark);
    mark->device = form->device;
    mark->layout = form->layout;
    mark->dtype = form->dtype;
    mark->flags = form->flags;
    return log_writer_form(recorder->log, form,
                           sizeof(*form) + (array->dimension_count + stride_count) *
                                               sizeof(int64_t));
}

/* Bytes of whole values in one record; well below LOG_RECORD_MAX. */
#define PIECE_SIZE (16 * 1024)

static void fill_tensor(struct log_tensor *tensor,
                        const struct value *value,
                        const struct verdict *verdict)
{
    const struct recorded_array *array = value->array;

    tensor->object = value->object;
    tensor->data = array->data;
    tensor->offset = array->offset;
    tensor->origin = verdict->origin;
    tensor->version = array->version;
    tensor->alias_site = verdict->alias_site;
}

static void fill_statistics(struct log_statistics *record,
                            const struct recorded_array *array)
{
    const struct statistics *statistics = array->statistics;

    if (statistics != NULL) {
        *record = log_statistics_of(statistics);
    } else {
        memset(record, 0, sizeof(*record));
    }
    record->hash = array->has_hash ? array->hash : 0;
}

/* The size of an event's record and the flags that describe its variable part. */
struct event_layout {
    size_t size;
    unsigned flags;
    struct sample_grid grid;
};

static void lay_out_tensor(const struct recorder *recorder,
                           const struct recorded_array *array,
                           struct event_layout *layout)
{
    const struct statistics *statistics = array->statistics;

    layout->size += sizeof(struct log_tensor);
    if (array->is_late) {
        layout->size += LOG_LATE_SIZE;
        return;
    }
    if (statistics != NULL || array->has_hash) {
        layout->size += sizeof(struct log_statistics);
        layout->flags |= statistics != NULL ? LOG_EVENT_STATISTICS : 0;
        layout->flags |= array->has_hash ? LOG_EVENT_HASH : 0;
    }
    if (statistics != NULL &&
        statistics_finite_count(statistics) != statistics->count) {
        layout->size += sizeof(struct log_nonfinite);
        layout->flags |= LOG_EVENT_NONFINITE;
    }
    if (array->is_sampled && array->array->data != NULL) {
        sample_grid_init(&layout->grid, array->array->shape,
                         array->array->dimension_count, recorder->options.log.sample);
        if (layout->grid.count > 0) {
            layout->size += layout->grid.count * dtype_size(array->array->dtype);
            layout->flags |= LOG_EVENT_SAMPLE;
        }
    }
}

static void lay_out(const struct recorder *recorder,
                    const struct value *value,
                    struct event_layout *layout)
{
    layout->size = sizeof(struct log_event);
    layout->flags = (value->is_cut ? LOG_EVENT_MORE : 0u) |
                    (value->is_continued ? LOG_EVENT_CONTINUED : 0u);
    switch (value->kind) {
    case VALUE_TENSOR:
        lay_out_tensor(recorder, value->array, layout);
        return;
    case VALUE_NOTHING:
    case VALUE_NONE:
    case VALUE_MISSING:
        return;
    case VALUE_OBJECT:
        layout->size += sizeof(struct log_object);
        return;
    default:
        layout->size += sizeof(struct log_scalar) + value->text.size;
    }
}

static void fill_array_part(char *place,
                            const struct event_layout *layout,
                            const struct value *value,
                            const struct verdict *verdict)
{
    const struct recorded_array *array = value->array;
    const struct statistics *statistics = array->statistics;

    fill_tensor((struct log_tensor *)place, value, verdict);
    place += sizeof(struct log_tensor);
    if ((layout->flags & (LOG_EVENT_STATISTICS | LOG_EVENT_HASH)) != 0) {
        fill_statistics((struct log_statistics *)place, array);
        place += sizeof(struct log_statistics);
    }
    if ((layout->flags & LOG_EVENT_NONFINITE) != 0) {
        *(struct log_nonfinite *)place = log_nonfinite_of(statistics);
        place += sizeof(struct log_nonfinite);
    }
    if ((layout->flags & LOG_EVENT_SAMPLE) != 0) {
        sample_copy(&layout->grid, array->array, place);
        if (array->fresh != NULL) {
            uninitialised_hide(array->fresh, array->array, &layout->grid, place);
        }
    }
}

static void fill_scalar_part(char *place, const struct value *value)
{
    struct log_scalar *scalar = (struct log_scalar *)place;

    if (value->kind == VALUE_FLOAT || value->kind == VALUE_COMPLEX) {
        scalar->real = value->real;
    } else {
        scalar->integer = value->integer;
    }
    if (value->kind == VALUE_CONTAINER) {
        scalar->object = value->object;
    } else {
        scalar->imaginary = value->imaginary;
    }
    if (value->text.size > 0) {
        memcpy(scalar + 1, value->text.bytes, value->text.size);
    }
}

void recorder_count_nan(struct recorder *recorder, const struct statistics *statistics)
{
    recorder->nan_count += statistics->nan_count > 0;
}

uint64_t recorder_nan_count(const struct recorder *recorder)
{
    return recorder->nan_count;
}

/* NaNs in memory that the program has not written are not counted. */
static void count_nan_of(struct recorder *recorder, const struct recorded_array *array)
{
    if (array->statistics != NULL && array->fresh == NULL) {
        recorder_count_nan(recorder, array->statistics);
    }
}

static void keep_values(struct recorder *recorder, const struct array *whole)
{
    struct expanded_array expanded;
    bool is_once = expanded_find(whole, &expanded);
    const struct array *array = is_once ? &expanded.once : whole;
    uint64_t count = array_count(array);
    size_t element = dtype_size(array->dtype);
    uint64_t step = element > 0 ? PIECE_SIZE / element : 0;

    for (uint64_t first = 0; step > 0 && first < count; first += step) {
        uint64_t piece = count - first < step ? count - first : step;
        size_t size = sizeof(struct log_data) + piece * element;
        struct log_data *data = log_writer_begin_beside(recorder->log, size);
        if (data == NULL) {
            return;
        }
        data->offset = first * element;
        array_read(array, first, piece, data + 1);
        log_writer_commit(recorder->log,
                          (struct log_record){.size = (uint32_t)size,
                                              .kind = LOG_DATA,
                                              .flags = is_once ? LOG_DATA_ONCE : 0});
    }
}

/* Writes the event. Returns false if recording has stopped. */
static bool write_event(struct recorder *recorder,
                        const struct visit *visit,
                        const struct log_event *head,
                        const struct value *value,
                        const struct verdict *verdict)
{
    struct event_layout layout;
    struct log_event *event;

    lay_out(recorder, value, &layout);
    event = log_writer_begin(recorder->log, layout.size);
    if (event == NULL) {
        return false;
    }
    struct log_record record = event->record;
    *event = *head;
    event->record = record;
    event->thread = visit->call->thread->number;
    if (value->kind == VALUE_TENSOR) {
        fill_array_part((char *)(event + 1), &layout, value, verdict);
    } else if (value->kind == VALUE_OBJECT) {
        ((struct log_object *)(event + 1))->object = value->object;
    } else if (layout.size > sizeof(*event)) {
        fill_scalar_part((char *)(event + 1), value);
    }
    log_writer_commit(
        recorder->log,
        (struct log_record){.size = (uint32_t)layout.size,
                            .kind = LOG_EVENT,
                            .tag = (uint8_t)value->kind,
                            .mark = (uint8_t)verdict->change,
                            .flags = (uint8_t)(layout.flags | head->record.flags)});
    if (value->array != NULL) {
        count_nan_of(recorder, value->array);
    }
    recorder->late = value->array != NULL && value->array->is_late ? event : NULL;
    return true;
}

struct log_event *recorder_late(const struct recorder *recorder)
{
    bool is_kept = recorder->late != NULL && log_writer_is_kept(recorder->log);

    return is_kept ? recorder->late : NULL;
}

/* Fills in the name's new state, and the event's type. */
static void fill_state(struct recorder *recorder,
                       const struct visit *visit,
                       const struct value *value,
                       struct log_event *head,
                       struct name_state *now)
{
    const struct recorded_array *array = value->array;

    if (value->kind == VALUE_TENSOR) {
        if (!visit->module->sites[visit->index].holds_tensor) {
            left_out_note_tensor(recorder, visit->module, visit->index, visit->call);
        }
        head->type = recorder_define_form(recorder, array, &now->mark);
        now->data = array->data;
        now->version = array->version;
        now->hash = array->hash;
        now->has_hash = array->has_hash;
    } else {
        head->type = recorder_text_number(recorder, value->type);
        now->hash = recorder_value_hash(value);
    }
    now->type = head->type;
    now->event = log_writer_event_count(recorder->log);
}

/* After a tensor's event is written: remembers it as the owner of a gradient, and writes its
 * whole values. */
static void finish_array(struct recorder *recorder,
                         const struct log_event *head,
                         uint64_t event,
                         const struct recorded_array *array)
{
    recorder->has_written = true;
    recorder->written = (struct gradient_owner){
        .event = event,
        .site = head->site,
        .call = head->call,
        .visit = head->visit,
        .path = head->path,
        .write = head->write,
        .flags = head->record.flags & (LOG_EVENT_READ | LOG_EVENT_PARAMETER),
    };
    if (array->is_kept && array->array->data != NULL) {
        keep_values(recorder, array->array);
    }
}

void recorder_write(struct recorder *recorder,
                    const struct visit *visit,
                    uint32_t write,
                    struct slice path,
                    const struct value *value)
{
    struct verdict verdict = {CHANGE_NONE, UINT32_MAX, 0, false};
    struct name_state now = {.object = value->object, .kind = (uint8_t)value->kind};
    bool is_read = write >= RECORDER_READ(0);
    uint32_t index = is_read ? write - RECORDER_READ(0) : write;
    uint32_t name_count = is_read ? visit->site->read_count : visit->site->write_count;
    struct log_event head = {
        .record.flags = is_read ? LOG_EVENT_READ : 0,
        .time = visit->time,
        .site = visit->module->first_site + visit->index,
        .call = visit->call->number,
        .visit = visit->number,
        .write = (uint8_t)index,
    };
    struct slice name = SLICE("");

    recorder->late = NULL;
    recorder->has_written = false;
    if (recorder->log == NULL || index > UINT8_MAX) {
        return;
    }
    recorder_write_call(recorder, visit->call);
    head.path = recorder_text_number(recorder, path);
    fill_state(recorder, visit, value, &head, &now);
    if (index < name_count) {
        name =
            is_read ? visit->site->reads[index].name : visit->site->writes[index].name;
        uint32_t place = is_read ? visit->site->write_count + index : index;
        if (!recorder_follow_name(recorder, visit, place, value, &now, &head,
                                  &verdict)) {
            return;
        }
    }
    bool is_written = write_event(recorder, visit, &head, value, &verdict);
    if (visit->call->is_tapped) {
        recorder_tap_event(recorder, visit, &head, now.event, name, path, value,
                           &verdict);
    }
    if (is_written && value->kind == VALUE_TENSOR) {
        finish_array(recorder, &head, now.event, value->array);
    }
}

void recorder_write_parameter(struct recorder *recorder,
                              const struct visit *visit,
                              struct slice name,
                              bool is_read,
                              struct name_state *state,
                              const struct value *value)
{
    struct name_state now = {.object = value->object, .kind = (uint8_t)value->kind};
    struct log_event head = {
        .record.flags = LOG_EVENT_PARAMETER | (is_read ? LOG_EVENT_READ : 0),
        .time = visit->time,
        .site = visit->module->first_site + visit->index,
        .call = visit->call->number,
        .visit = visit->number,
    };
    struct verdict verdict;

    recorder->late = NULL;
    recorder->has_written = false;
    if (recorder->log == NULL) {
        return;
    }
    recorder_write_call(recorder, visit->call);
    head.path = recorder_text_number(recorder, name);
    fill_state(recorder, visit, value, &head, &now);
    verdict =
        recorder_follow_parameter(recorder, visit, is_read, state, value, &now, &head);
    if (write_event(recorder, visit, &head, value, &verdict) &&
        value->kind == VALUE_TENSOR) {
        finish_array(recorder, &head, now.event, value->array);
    }
}

/* ---- gradients ---- */

bool recorder_find_written(const struct recorder *recorder,
                           struct gradient_owner *owner)
{
    if (recorder->has_written) {
        *owner = recorder->written;
    }
    return recorder->has_written;
}

uint32_t recorder_write_step(struct recorder *recorder,
                             enum log_step_tag tag,
                             const struct call_thread *thread,
                             struct slice name,
                             struct slice file,
                             uint32_t line)
{
    struct log_step *step;
    uint32_t file_number, name_number;

    if (recorder->log == NULL) {
        return 0;
    }
    file_number = recorder_text_number(recorder, file);
    name_number = recorder_text_number(recorder, name);
    step = log_writer_begin_beside(recorder->log, sizeof(*step));
    if (step == NULL) {
        return 0;
    }
    step->time = recorder_time(recorder);
    step->number = ++recorder->step_count;
    step->file = file_number;
    step->name = name_number;
    step->line = line;
    step->thread = thread->number;
    log_writer_commit(recorder->log, (struct log_record){.size = sizeof(*step),
                                                         .kind = LOG_STEP,
                                                         .tag = (uint8_t)tag});
    return recorder->step_count;
}

void recorder_write_gradient(struct recorder *recorder,
                             const struct gradient_owner *owner,
                             enum log_gradient_tag tag,
                             const struct call_thread *thread,
                             uint32_t step,
                             const struct value *value)
{
    struct verdict verdict = {CHANGE_NONE, UINT32_MAX, owner->event + 1, false};
    struct event_layout layout = {.size = sizeof(struct log_gradient)};
    struct form_mark mark;
    struct log_gradient *gradient;

    recorder->late = NULL;
    if (recorder->log == NULL) {
        return;
    }
    uint32_t form = recorder_define_form(recorder, value->array, &mark);
    lay_out_tensor(recorder, value->array, &layout);
    gradient = log_writer_begin_beside(recorder->log, layout.size);
    if (gradient == NULL) {
        return;
    }
    gradient->event.time = recorder_time(recorder);
    gradient->event.site = owner->site;
    gradient->event.call = owner->call;
    gradient->event.visit = owner->visit;
    gradient->event.thread = thread->number;
    gradient->event.write = owner->write;
    gradient->event.path = owner->path;
    gradient->event.type = form;
    gradient->step = step;
    fill_array_part((char *)(gradient + 1), &layout, value, &verdict);
    log_writer_commit(recorder->log,
                      (struct log_record){
                          .size = (uint32_t)layout.size,
                          .kind = LOG_GRADIENT,
                          .tag = (uint8_t)tag,
                          .flags = (uint8_t)(layout.flags | owner->flags),
                      });
    count_nan_of(recorder, value->array);
    recorder->late = value->array->is_late ? &gradient->event : NULL;
}

/* Limits the size of the record; real values have only a few sources. */
#define BIRTH_SOURCES_MAX 256

void recorder_write_birth(struct recorder *recorder,
                          uint64_t event,
                          uint32_t step,
                          const struct gradient_source *sources,
                          size_t count)
{
    uint32_t texts[BIRTH_SOURCES_MAX];
    struct log_birth *birth;
    struct log_birth_source *written;

    if (recorder->log == NULL || count > BIRTH_SOURCES_MAX) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = recorder_text_number(recorder, sources[i].functions);
    }
    size_t size = sizeof(*birth) + count * sizeof(*written);
    birth = log_writer_begin_beside(recorder->log, size);
    if (birth == NULL) {
        return;
    }
    written = (struct log_birth_source *)(birth + 1);
    birth->time = recorder_time(recorder);
    birth->event = event;
    birth->step = step;
    birth->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        written[i].event = sources[i].event;
        written[i].functions = texts[i];
    }
    log_writer_commit(recorder->log,
                      (struct log_record){.size = (uint32_t)size, .kind = LOG_BIRTH});
}
