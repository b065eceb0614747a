/* Parameters of a training: the values that each recorded call read and wrote, and from these
 * the call that gave a parameter its NaN. */
#include "runtime/view/gradient/gradient.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>
#include <math.h>

void training_init(struct training *training)
{
    *training = (struct training){.record_count = 0};
    arena_init(&training->arena);
    number_map_init(&training->numbers);
}

void training_release(struct training *training)
{
    arena_release(&training->arena);
    memory_free(training->records);
    memory_free(training->steps);
    memory_free(training->names);
    memory_free(training->newest);
    memory_free(training->rates);
    number_map_release(&training->numbers);
    training_init(training);
}

/* ---- adding ---- */

static uint32_t find_name(const struct training *training, struct slice name)
{
    struct number_map_search search =
        number_map_search(&training->numbers, hash_64(name));

    while (number_map_next(&search)) {
        if (slice_equal(training->names[search.number], name)) {
            return search.number;
        }
    }
    return TRAINING_NONE;
}

/* The number of the name, which is added if it is new. TRAINING_NONE: out of memory. */
static uint32_t add_name(struct training *training, struct slice name)
{
    uint32_t number = find_name(training, name);
    void *names = training->names;
    void *newest = training->newest;
    bool has_room;

    if (number != TRAINING_NONE) {
        return number;
    }
    has_room = memory_grow(&names, &training->name_capacity,
                           (size_t)training->name_count + 1, sizeof *training->names);
    training->names = names;
    has_room = has_room &&
               memory_grow(&newest, &training->newest_capacity,
                           (size_t)training->name_count + 1, sizeof *training->newest);
    training->newest = newest;
    number = training->name_count;
    if (!has_room || !number_map_add(&training->numbers, hash_64(name), number)) {
        return TRAINING_NONE;
    }
    training->names[number] = arena_copy(&training->arena, name);
    training->newest[number] = TRAINING_NONE;
    training->name_count++;
    return training->arena.has_failed ? TRAINING_NONE : number;
}

static bool add_step(struct training *training, const struct log_step_view *step)
{
    void *steps = training->steps;

    if (!memory_grow(&steps, &training->step_capacity, (size_t)training->step_count + 1,
                     sizeof *training->steps)) {
        return false;
    }
    training->steps = steps;
    training->steps[training->step_count++] = (struct training_step){
        .number = step->number,
        .tag = step->tag,
        .name = arena_copy(&training->arena, step->name),
        .file = arena_copy(&training->arena, step->file),
        .line = step->line,
    };
    return !training->arena.has_failed;
}

static double largest_of(const struct log_event_view *event)
{
    double min, max;

    if (!event->has_statistics || statistics_finite_count(&event->statistics) == 0) {
        return 0;
    }
    min = fabs(statistics_bound_real(event->shape->dtype, event->statistics.min));
    max = fabs(statistics_bound_real(event->shape->dtype, event->statistics.max));
    return min > max ? min : max;
}

static struct training_record record_of(const struct log_event_view *event,
                                        uint64_t next_event)
{
    const struct statistics *statistics = &event->statistics;
    bool has_figures = event->has_statistics;

    return (struct training_record){
        .event = event->number,
        .next = next_event,
        .object = event->tensor.object,
        .largest = largest_of(event),
        .rate = NAN,
        .nan_count = has_figures ? statistics->nan_count : 0,
        .inf_count =
            has_figures ? statistics->posinf_count + statistics->neginf_count : 0,
        .step = event->step,
        .version = event->tensor.version,
        .module = event->module_number,
        .site = event->site_number - event->module->first_site,
        .has_figures = has_figures,
    };
}

static bool keep(struct training *training, const struct training_record *record)
{
    void *records = training->records;

    if (record->parameter == TRAINING_NONE ||
        !memory_grow(&records, &training->record_capacity,
                     (size_t)training->record_count + 1, sizeof *training->records)) {
        return false;
    }
    training->records = records;
    training->records[training->record_count] = *record;
    training->records[training->record_count].before =
        training->newest[record->parameter];
    training->newest[record->parameter] = training->record_count++;
    return true;
}

/* The number of the newest call that is no backward: the one that is running. 0: none. */
static uint32_t newest_call(const struct training *training)
{
    for (uint32_t i = training->step_count; i > 0; i--) {
        if (training->steps[i - 1].tag == LOG_STEP_OPTIMIZER ||
            training->steps[i - 1].tag == LOG_STEP_GRADIENTS) {
            return training->steps[i - 1].number;
        }
    }
    return 0;
}

/* ---- learning rates ---- */

static struct training_rate *find_rate(const struct training *training,
                                       struct slice optimizer)
{
    for (uint32_t i = 0; i < training->rate_count; i++) {
        if (slice_equal(training->rates[i].optimizer, optimizer)) {
            return &training->rates[i];
        }
    }
    return NULL;
}

/* Adds a setting of an optimizer: `SGD.lr`, or `SGD.lr[1]` for another parameter group. */
static bool add_rate(struct training *training, const struct log_event_view *event)
{
    size_t end = slice_find(event->name, SLICE(".lr"), 0);
    bool is_first = end + 3 == event->name.size;
    double number = event->kind == VALUE_FLOAT ? event->real : (double)event->integer;
    void *rates = training->rates;
    struct training_rate *rate;

    if (!is_first &&
        (end + 3 >= event->name.size || event->name.bytes[end + 3] != '[')) {
        return true;
    }
    rate = find_rate(training, slice_part(event->name, 0, end));
    if (rate == NULL) {
        if (!memory_grow(&rates, &training->rate_capacity,
                         (size_t)training->rate_count + 1, sizeof *training->rates)) {
            return false;
        }
        training->rates = rates;
        rate = &training->rates[training->rate_count++];
        rate->optimizer = arena_copy(&training->arena, slice_part(event->name, 0, end));
        rate->rate = number;
    }
    rate->rate = is_first || rate->rate == number ? number : NAN;
    rate->module = event->module_number;
    rate->site = event->site_number - event->module->first_site;
    rate->is_read = (event->flags & LOG_EVENT_READ) != 0;
    return !training->arena.has_failed;
}

/* Sets the learning rate of the optimizer whose step wrote the record. */
static void set_rate(const struct training *training, struct training_record *record)
{
    const struct training_step *step = training_step_of(training, record->step);
    const struct training_rate *rate;

    if (step == NULL || step->tag != LOG_STEP_OPTIMIZER) {
        return;
    }
    rate = find_rate(training,
                     slice_part(step->name, 0, slice_find(step->name, SLICE("."), 0)));
    if (rate != NULL) {
        record->rate = rate->rate;
        record->rate_module = rate->module;
        record->rate_site = rate->site;
        record->is_rate_read = rate->is_read;
    }
}

/* Adds a record of a tensor. `weight.grad` and `weight.exp_avg` are records of `weight`. */
static bool add_tensor(struct training *training,
                       const struct log_event_view *event,
                       uint64_t next_event)
{
    struct training_record record = record_of(event, next_event);
    bool is_read = (event->flags & LOG_EVENT_READ) != 0;
    struct slice last = slice_last_part(event->name, '.');
    struct slice owner =
        last.size == event->name.size
            ? SLICE("")
            : slice_part(event->name, 0, event->name.size - last.size - 1);
    uint32_t owner_number = find_name(training, owner);

    record.step = newest_call(training);
    set_rate(training, &record);
    if (owner_number == TRAINING_NONE) {
        record.parameter = add_name(training, event->name);
        record.what = is_read ? TRAINING_READ : TRAINING_WRITTEN;
    } else if (slice_equal(last, SLICE("grad"))) {
        record.parameter = owner_number;
        record.what = is_read ? TRAINING_GRADIENT_READ : TRAINING_GRADIENT_WRITTEN;
    } else {
        record.parameter = owner_number;
        record.what = TRAINING_STATE;
        /* The name is no parameter's, and has no records of its own. */
        record.state = add_name(training, event->name);
    }
    return keep(training, &record);
}

static bool add_gradient(struct training *training,
                         const struct log_event_view *gradient,
                         uint64_t next_event)
{
    struct training_record record = record_of(gradient, next_event);

    record.parameter = find_name(training, gradient->name);
    record.what = TRAINING_ACCUMULATED;
    return record.parameter == TRAINING_NONE || keep(training, &record);
}

bool training_add(struct training *training,
                  const struct log_item *item,
                  uint64_t next_event)
{
    const struct log_event_view *event = &item->event;

    if (item->kind == LOG_STEP) {
        return add_step(training, &item->step);
    }
    if ((item->kind != LOG_EVENT && item->kind != LOG_GRADIENT) ||
        (event->flags & LOG_EVENT_PARAMETER) == 0) {
        return true;
    }
    if (item->kind == LOG_GRADIENT) {
        return add_gradient(training, event, next_event);
    }
    if (event->kind == VALUE_TENSOR) {
        return add_tensor(training, event, next_event);
    }
    return event->kind != VALUE_FLOAT && event->kind != VALUE_INT
               ? true
               : add_rate(training, event);
}

/* ---- explaining ---- */

const struct training_step *training_step_of(const struct training *training,
                                             uint32_t number)
{
    for (uint32_t i = training->step_count; i > 0; i--) {
        if (training->steps[i - 1].number == number) {
            return &training->steps[i - 1];
        }
    }
    return NULL;
}

static bool is_value(const struct training_record *record)
{
    return record->what == TRAINING_READ || record->what == TRAINING_WRITTEN;
}

static bool is_gradient(const struct training_record *record)
{
    return record->what == TRAINING_ACCUMULATED ||
           record->what == TRAINING_GRADIENT_READ ||
           record->what == TRAINING_GRADIENT_WRITTEN;
}

/* The nearest earlier record of the same parameter for which `is_one` is true. TRAINING_NONE:
 * none. */
static uint32_t find_before(const struct training *training,
                            uint32_t index,
                            bool (*is_one)(const struct training_record *record))
{
    assert(index < training->record_count);

    uint32_t at = training->records[index].before;

    while (at != TRAINING_NONE && !is_one(&training->records[at])) {
        at = training->records[at].before;
    }
    return at;
}

/* The first record of the value since which it has not been finite. */
static uint32_t find_first(const struct training *training, uint32_t value)
{
    assert(value < training->record_count);
    for (;;) {
        uint32_t before = find_before(training, value, is_value);

        if (before == TRAINING_NONE ||
            training->records[before].object != training->records[value].object ||
            !training_is_bad(&training->records[before])) {
            return value;
        }
        value = before;
    }
}

/* The first accumulated gradient of a sum that is not finite: adding to it does not make it
 * finite again. Versions of the tensor that are not consecutive show another write in between,
 * where the sum ends. */
static uint32_t find_first_sum(const struct training *training, uint32_t gradient)
{
    assert(gradient < training->record_count);
    for (;;) {
        const struct training_record *record = &training->records[gradient];
        uint32_t before = find_before(training, gradient, is_gradient);
        const struct training_record *last =
            before == TRAINING_NONE ? NULL : &training->records[before];

        if (last == NULL || last->object != record->object ||
            record->version != last->version + 1 || !training_is_bad(last) ||
            last->what != TRAINING_ACCUMULATED) {
            return gradient;
        }
        gradient = before;
    }
}

/* The first record since the last step of an optimizer in which a backward accumulated a
 * gradient that is not finite. TRAINING_NONE: none before `index`. */
static uint32_t find_other(const struct training *training, uint32_t index)
{
    uint32_t found = TRAINING_NONE;

    for (uint32_t i = index; i > 0; i--) {
        const struct training_record *record = &training->records[i - 1];

        if (record->what == TRAINING_WRITTEN) {
            break;
        }
        if (record->what == TRAINING_ACCUMULATED && training_is_bad(record)) {
            found = i - 1;
        }
    }
    return found;
}

/* Explains a step whose gradient was not finite. `cause->gradient` is the gradient's record. */
static void explain_gradient(const struct training *training,
                             struct training_cause *cause)
{
    uint32_t at = cause->gradient;

    while (at != TRAINING_NONE && training->records[at].what != TRAINING_ACCUMULATED) {
        uint32_t before = find_before(training, at, is_gradient);

        if (before == TRAINING_NONE || !training_is_bad(&training->records[before])) {
            uint32_t other = find_other(training, at);

            cause->gradient = at;
            cause->kind = training->records[at].what == TRAINING_GRADIENT_READ
                              ? TRAINING_CAUSE_FOUND
                              : TRAINING_CAUSE_CALL;
            if (cause->kind == TRAINING_CAUSE_CALL && other != TRAINING_NONE) {
                cause->kind = TRAINING_CAUSE_SPREAD;
                cause->backward = training->records[other].step;
            }
            return;
        }
        at = before;
    }
    if (at != TRAINING_NONE) {
        at = find_first_sum(training, at);
        cause->kind = TRAINING_CAUSE_GRADIENT;
        cause->gradient = at;
        cause->backward = training->records[at].step;
    }
}

/* The record of the optimizer's first tensor for the parameter that was not finite after the
 * step that wrote `value`. TRAINING_NONE: none. */
static uint32_t find_state(const struct training *training, uint32_t value)
{
    assert(value < training->record_count);

    const struct training_record *written = &training->records[value];

    for (uint32_t i = value + 1; i < training->record_count; i++) {
        const struct training_record *record = &training->records[i];

        if (record->step != written->step || (record->parameter == written->parameter &&
                                              record->what != TRAINING_STATE)) {
            break;
        }
        if (record->parameter == written->parameter && training_is_bad(record)) {
            return i;
        }
    }
    return TRAINING_NONE;
}

/* Explains a step before which value and gradient were finite. */
static void explain_step(const struct training *training, struct training_cause *cause)
{
    uint32_t at = cause->value;

    cause->kind = TRAINING_CAUSE_STEP;
    cause->state = find_state(training, cause->value);
    while (cause->state != TRAINING_NONE && at != TRAINING_NONE) {
        at = find_before(training, at, is_gradient);
        if (at != TRAINING_NONE && training_is_bad(&training->records[at])) {
            struct training_cause old = *cause;

            old.gradient = at;
            explain_gradient(training, &old);
            if (old.backward != 0) {
                *cause = old;
                cause->kind = TRAINING_CAUSE_STATE;
            }
            return;
        }
    }
}

static void explain(const struct training *training, struct training_cause *cause)
{
    const struct training_record *value = &training->records[cause->value];
    uint32_t before = find_before(training, cause->value, is_value);

    if (value->what == TRAINING_READ) {
        cause->kind =
            before == TRAINING_NONE || training->records[before].object != value->object
                ? TRAINING_CAUSE_CAME_IN
                : TRAINING_CAUSE_FOUND;
        return;
    }
    cause->gradient = find_before(training, cause->value, is_gradient);
    if (cause->gradient != TRAINING_NONE &&
        training_is_bad(&training->records[cause->gradient])) {
        explain_gradient(training, cause);
    } else {
        explain_step(training, cause);
    }
}

uint32_t
training_find_value(const struct training *training, uint64_t object, uint64_t before)
{
    for (uint32_t i = training->record_count; i > 0; i--) {
        const struct training_record *record = &training->records[i - 1];

        if (record->event < before && is_value(record) && record->object == object) {
            return i - 1;
        }
    }
    return TRAINING_NONE;
}

bool training_explain(const struct training *training,
                      uint64_t object,
                      uint64_t before,
                      struct training_cause *cause)
{
    uint32_t value = training_find_value(training, object, before);

    if (value == TRAINING_NONE || !training_is_bad(&training->records[value])) {
        return false;
    }
    *cause = (struct training_cause){
        .value = find_first(training, value),
        .gradient = TRAINING_NONE,
        .state = TRAINING_NONE,
    };
    explain(training, cause);
    return true;
}

bool training_accumulated_bad(const struct training *training,
                              struct slice parameter,
                              uint32_t step)
{
    uint32_t name = find_name(training, parameter);
    uint32_t at = name == TRAINING_NONE ? TRAINING_NONE : training->newest[name];

    while (at != TRAINING_NONE && (training->records[at].what != TRAINING_ACCUMULATED ||
                                   training->records[at].step >= step)) {
        at = training->records[at].before;
    }
    return at != TRAINING_NONE && training_is_bad(&training->records[at]);
}

uint32_t training_find_bad(const struct training *training, uint64_t start)
{
    for (uint32_t i = 0; i < training->record_count; i++) {
        const struct training_record *record = &training->records[i];
        uint32_t last = training->newest[record->parameter];

        if (record->what != TRAINING_WRITTEN || record->event < start ||
            !training_is_bad(record)) {
            continue;
        }
        while (last != TRAINING_NONE && !is_value(&training->records[last])) {
            last = training->records[last].before;
        }
        if (last != TRAINING_NONE && training_is_bad(&training->records[last]) &&
            training->records[last].object == record->object) {
            return i;
        }
    }
    return TRAINING_NONE;
}
