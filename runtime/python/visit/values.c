/* Values of Python as events: numbers, texts, tensors, and what is in containers. */
#include "runtime/python/visit/values.h"

#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/container.h"
#include "runtime/python/visit/weights.h"
#include "runtime/trace/late.h"

/* Up to so many elements an array whose elements overlap is measured; beyond, where memory holds at
 * least a part of them that is as large as this. */
#define OVERLAPPING_COUNT_MAX ((uint64_t)1 << 26)
#define OVERLAPPING_PART      64

/* Whether Ctrl-C was pressed. Python's own handler runs when the hook is done. */
static bool is_interrupted(void)
{
    if (!PyOS_InterruptOccurred()) {
        return false;
    }
    PyErr_SetInterrupt();
    return true;
}

unsigned value_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash)
{
    return statistics_measure_until(&tensor->array, wanted, thread_limit,
                                    is_interrupted, statistics, hash);
}

/* Windows over an array can have far more elements than memory: reading them all would hold up the
 * program for nothing. What stands at several places by a stride of 0 is read once. */
static bool is_too_large(const struct array *array)
{
    uint64_t count = 1;
    uint64_t span = 1; /* from the first element to the last, in elements */
    int64_t size = (int64_t)dtype_size(array->dtype);

    if (array->strides == NULL || size == 0) {
        return false;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        uint64_t length = (uint64_t)array->shape[i];
        uint64_t stride =
            (uint64_t)(array->strides[i] < 0 ? -array->strides[i] : array->strides[i]);

        if (length == 0) {
            return false;
        }
        if (stride != 0 && __builtin_mul_overflow(count, length, &count)) {
            return true;
        }
        span += (length - 1) * (stride / (uint64_t)size);
    }
    return count > OVERLAPPING_COUNT_MAX && count / span > OVERLAPPING_PART;
}

static bool is_measured(const struct recorder_options *options,
                        const struct visit *visit,
                        const struct array *array)
{
    return visit->is_measured && (options->element_limit == 0 ||
                                  array_count(array) <= options->element_limit);
}

/* Tells a tensor of another device, and has it measured there: the record is filled in later. */
static void tell_late(struct session *session,
                      const struct visit *visit,
                      uint32_t write,
                      struct slice path,
                      const struct value *value,
                      const struct tensor *tensor)
{
    struct log_nonfinite counts;

    recorder_tell(session->recorder, visit, write, path, value);
    struct log_event *event = recorder_late(session->recorder);
    if (event != NULL) {
        /* The record stays where it is as long as no other is written: no finalizer may visit
         * sites now. */
        int had_collector = PyGC_Disable();
        device_queue_add(session->devices, (PyObject *)(uintptr_t)tensor->object,
                         tensor, event);
        /* A recording that stops at a value has to wait for it. */
        if (stop_is_looking(&session->stop)) {
            device_queue_flush(session->devices);
            if (log_late_read(event, &counts)) {
                stop_meet_array(&session->stop, session_thread_key(), visit, write,
                                path, value->array, &counts);
            }
        }
        if (had_collector) {
            PyGC_Enable();
        }
    }
}

/* Whether the array is what the recording is to stop at: then its event tells its statistics in
 * any case. Not inlined: few recordings come here. */
static __attribute__((noinline)) bool stops_at(struct session *session,
                                               const struct visit *visit,
                                               uint32_t write,
                                               struct slice path,
                                               const struct recorded_array *array,
                                               const struct statistics *statistics)
{
    struct log_nonfinite counts = {statistics->nan_count, statistics->posinf_count,
                                   statistics->neginf_count};

    return stop_meet_array(&session->stop, session_thread_key(), visit, write, path,
                           array, &counts);
}

struct recorded_array value_array(const struct tensor *tensor)
{
    return (struct recorded_array){
        .array = &tensor->array,
        .data = tensor->data,
        .offset = tensor->offset,
        .version = tensor->version,
        .flags = tensor->flags,
        .type = slice_of(tensor->type),
        .dtype_text = slice_of(tensor->dtype_text),
        .device = slice_of(tensor->device),
        .layout = slice_of(tensor->layout),
        .note = slice_of(tensor->note),
    };
}

/* Whether the array's memory holds no values yet: nothing is measured of it then. What was written
 * in part is measured where a NaN or an infinity was written: that is no chance. */
static bool find_fresh(struct session *session,
                       const struct tensor *tensor,
                       struct recorded_array *array)
{
    const struct uninitialised_piece *piece = NULL;

    switch (fresh_find(session, tensor, &piece)) {
    case UNINITIALISED_WHOLE:
        array->note = SLICE(UNINITIALISED_NOTE);
        return true;
    case UNINITIALISED_PART:
        if (uninitialised_wrote_nonfinite(piece, &tensor->array)) {
            return false;
        }
        array->note = SLICE(UNINITIALISED_PART_NOTE);
        array->fresh = piece;
        return true;
    default:
        return false;
    }
}

/* What the recording asks for; false where there are no statistics. The hash goes into the array. */
static bool measure_array(struct session *session,
                          const struct tensor *tensor,
                          bool is_wanted,
                          struct statistics *statistics,
                          struct recorded_array *array)
{
    const struct recorder_options *options = recorder_options(session->recorder);
    unsigned wanted = (options->has_statistics ? STATISTICS_WANT_VALUES : 0) |
                      (options->has_hash && is_wanted ? STATISTICS_WANT_HASH : 0);
    unsigned found = 0;

    if (wanted != 0) {
        found = value_measure(tensor, wanted, session->thread_limit, statistics,
                              &array->hash);
        if (found == 0) {
            array->note = SLICE("interrupted, not measured");
        }
    }
    array->has_hash = (found & STATISTICS_WANT_HASH) != 0;
    return (found & STATISTICS_WANT_VALUES) != 0;
}

/* Before a written value that is not finite: the weights that were not. */
static void tell_weights(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         const struct statistics *statistics)
{
    if (statistics != NULL && write < visit->site->write_count &&
        statistics_finite_count(statistics) != statistics->count) {
        weights_tell(session, visit);
    }
}

static void tell_array(struct session *session,
                       const struct visit *visit,
                       uint32_t write,
                       struct slice path,
                       const struct tensor *tensor)
{
    const struct recorder_options *options = recorder_options(session->recorder);
    struct statistics statistics;
    struct recorded_array array = value_array(tensor);
    struct value value = {
        .kind = VALUE_TENSOR, .object = tensor->object, .array = &array};

    bool is_fresh = find_fresh(session, tensor, &array);
    bool is_wanted = is_measured(options, visit, &tensor->array);
    bool is_stopping = stop_is_looking(&session->stop);
    bool is_looked_at = (is_wanted || is_stopping) && !is_fresh;
    if (is_looked_at && is_too_large(&tensor->array)) {
        is_looked_at = false;
        array.note = SLICE("overlapping, not measured");
    }
    array.is_late = is_looked_at && tensor->is_on_device && options->has_statistics;
    if (array.is_late) {
        tell_late(session, visit, write, path, &value, tensor);
        return;
    }
    if (is_looked_at && tensor->array.data != NULL) {
        bool has_statistics =
            measure_array(session, tensor, is_wanted, &statistics, &array);
        if (is_stopping && has_statistics &&
            stops_at(session, visit, write, path, &array, &statistics)) {
            is_wanted = true;
        }
        array.statistics = has_statistics && is_wanted ? &statistics : NULL;
        tell_weights(session, visit, write, array.statistics);
        array.is_sampled = is_wanted;
    }
    array.is_sampled = array.is_sampled || (is_wanted && array.fresh != NULL);
    if (options->name_count > 0 && write < visit->site->write_count && !is_fresh) {
        array.is_kept =
            recorder_keeps(session->recorder, visit->site->writes[write].name);
    }
    recorder_tell(session->recorder, visit, write, path, &value);
}

static void tell_scalar(struct session *session,
                        const struct visit *visit,
                        uint32_t write,
                        struct slice path,
                        const struct type_info *info,
                        PyObject *object)
{
    struct value value = {.object = (uint64_t)(uintptr_t)object};
    PyObject *owner = NULL;

    value_describe(info, object, &value, &owner);
    if (value.kind == VALUE_FLOAT || value.kind == VALUE_COMPLEX) {
        stop_meet_number(&session->stop, session_thread_key(), visit, write, path,
                         value.real, value.imaginary);
    }
    recorder_tell(session->recorder, visit, write, path, &value);
    Py_XDECREF(owner);
}

bool value_tell_single(struct session *session,
                       const struct visit *visit,
                       uint32_t write,
                       struct slice path,
                       PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor tensor;

    if (info->kind == TYPE_TENSOR) {
        if (tensor_describe(session->access, object, info->tensor, &tensor) == 0) {
            tell_array(session, visit, write, path, &tensor);
            tensor_release(&tensor);
            return true;
        }
        info = type_cache_get(&session->types, Py_TYPE(object));
    }
    if (type_is_container(info)) {
        return false;
    }
    tell_scalar(session, visit, write, path, info, object);
    return true;
}

static bool is_tensor(struct session *session, PyObject *object)
{
    return type_cache_get(&session->types, Py_TYPE(object))->kind == TYPE_TENSOR;
}

bool value_tell_tensors(struct session *session,
                        const struct visit *visit,
                        uint32_t write,
                        PyObject *object)
{
    struct walk walk;
    bool has_tensor = false;

    if (is_tensor(session, object)) {
        return value_tell_single(session, visit, write, SLICE(""), object);
    }
    if (!type_is_container(type_cache_get(&session->types, Py_TYPE(object)))) {
        return false;
    }
    walk_init(&walk);
    walk_container(&walk, &session->types, object);
    for (size_t i = 0; i < walk.leaf_count; i++) {
        has_tensor = has_tensor || is_tensor(session, walk.leaves[i].object);
    }
    if (has_tensor) {
        container_tell_leaves(session, visit, write, object, &walk);
    }
    walk_release(&walk);
    return has_tensor;
}

void value_tell(struct session *session,
                const struct visit *visit,
                uint32_t write,
                PyObject *object)
{
    if (!value_tell_single(session, visit, write, SLICE(""), object)) {
        container_tell(session, visit, write, object);
    }
}

void value_tell_peeked(struct session *session,
                       const struct visit *visit,
                       uint32_t write,
                       PyObject *root)
{
    PyObject *object =
        walk_dotted(&session->types, root, visit->site->writes[write].name);
    struct value missing = {.kind = VALUE_MISSING};

    if (object == NULL) {
        recorder_tell(session->recorder, visit, write, SLICE(""), &missing);
        return;
    }
    value_tell(session, visit, write, object);
    Py_DECREF(object);
}
