/* Values of Python as events: numbers, texts, tensors, and what is in containers. */
#include "runtime/python/recorder_values.h"

#include "runtime/python/fresh.h"
#include "runtime/python/recorder_container.h"
#include "runtime/trace/log_late.h"

/* Up to so many elements an expanded array is measured; beyond, where it was not expanded by more
 * than this factor. */
#define EXPANDED_COUNT_MAX ((uint64_t)1 << 26)
#define EXPANSION_MAX      64

void value_measure(const struct tensor *tensor,
                   unsigned wanted,
                   unsigned thread_limit,
                   struct statistics *statistics,
                   uint64_t *hash)
{
    statistics_measure(&tensor->array, wanted, thread_limit, statistics, hash);
}

/* An expanded array can have far more elements than memory: reading them all would hold up the
 * program for nothing. */
static bool is_too_large(const struct array *array)
{
    uint64_t count = array_count(array);
    uint64_t held = 1;

    if (count <= EXPANDED_COUNT_MAX) {
        return false;
    }
    for (uint32_t i = 0; array->strides != NULL && i < array->dimension_count; i++) {
        held *= array->strides[i] != 0 ? (uint64_t)array->shape[i] : 1;
    }
    return array->strides != NULL && count / held > EXPANSION_MAX;
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
        array.note = SLICE("expanded, not measured");
    }
    array.is_late = is_looked_at && tensor->is_on_device && options->has_statistics;
    if (array.is_late) {
        tell_late(session, visit, write, path, &value, tensor);
        return;
    }
    if (is_looked_at && tensor->array.data != NULL) {
        bool has_hash = options->has_hash && is_wanted;
        unsigned wanted = (options->has_statistics ? STATISTICS_WANT_VALUES : 0) |
                          (has_hash ? STATISTICS_WANT_HASH : 0);
        if (wanted != 0) {
            value_measure(tensor, wanted, session->thread_limit, &statistics,
                          &array.hash);
        }
        if (is_stopping && stops_at(session, visit, write, path, &array, &statistics)) {
            is_wanted = true;
        }
        array.statistics = options->has_statistics && is_wanted ? &statistics : NULL;
        array.has_hash = has_hash;
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
