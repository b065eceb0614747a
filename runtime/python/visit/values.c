/* Values of Python as events: numbers, texts, tensors, and the leaves of containers. */
#include "runtime/python/visit/values.h"

#include "runtime/base/hash/hash.h"
#include "runtime/python/gradient/gradient.h"
#include "runtime/python/record/change.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/frames.h"
#include "runtime/python/visit/visit.h"
#include "runtime/python/visit/walk.h"
#include "runtime/python/visit/weights.h"
#include "runtime/trace/late.h"

#include <string.h>

/* Containers as events: the container, and those of its leaves that are new or have changed
 * since the name was recorded last in the same call.
 *
 * The cost of a visit depends on the number of changes, within limits. The first 64 items are
 * visited each time, and their leaves are compared with the stored ones: by place, and by object
 * and version, or by the value of a number. After the first 64, only items that were added since
 * are visited. The container is recorded as a whole, at most 1,024 items and 64 leaves, if it is
 * new to the name, or if leaves were removed or moved. */

/* Records the container itself, without its leaves. */
static void record_container(struct session *session,
                             const struct visit *visit,
                             uint32_t write,
                             PyObject *object,
                             const struct walk *walk,
                             bool is_continued)
{
    PyObject *name = Py_XNewRef(type_cache_get(&session->types, Py_TYPE(object))->name);
    struct value value = {.kind = VALUE_CONTAINER,
                          .object = (uint64_t)(uintptr_t)object,
                          .type = SLICE("?"),
                          .integer = (int64_t)walk->item_count,
                          .is_cut = walk->is_cut,
                          .is_continued = is_continued};

    if (name != NULL) {
        value.type = (struct slice){PyBytes_AsString(name), (size_t)PyBytes_Size(name)};
    }
    recorder_write(session->recorder, visit, write, SLICE(""), &value);
    if (session->gradients != NULL && PyDict_CheckExact(object)) {
        parameters_note_object(session, visit, object);
    }
    Py_XDECREF(name);
}

static void record_leaf(struct session *session,
                        const struct visit *visit,
                        uint32_t write,
                        const struct walk *walk,
                        size_t leaf)
{
    value_record_single(session, visit, write, walk_path(walk, leaf),
                        walk->leaves[leaf].object);
}

/* Records the container, and all leaves that the walk has found in it. */
static void container_record_leaves(struct session *session,
                                    const struct visit *visit,
                                    uint32_t write,
                                    PyObject *object,
                                    const struct walk *walk)
{
    record_container(session, visit, write, object, walk, false);
    for (size_t i = 0; i < walk->leaf_count; i++) {
        record_leaf(session, visit, write, walk, i);
    }
}

/* Limit of the items that are visited again in a container that was recorded before. */
#define AGAIN_ITEM_MAX 64

/* Visits only the first items, up to but not including the `end`-th. */
static void walk_again(struct walk *walk,
                       struct session *session,
                       size_t end,
                       PyObject *object,
                       bool has_paths)
{
    walk_init(walk);
    walk->end = (Py_ssize_t)end;
    walk->item_limit = AGAIN_ITEM_MAX;
    walk->has_paths = has_paths;
    walk_container(walk, &session->types, object);
}

/* ---- large containers without leaves ---- */

static struct plain_container *find_plain(struct session *session, PyObject *object)
{
    uint64_t slot = (uint64_t)(uintptr_t)object * 0x9e3779b97f4a7c15u >> 58;

    return &session->plain_containers[slot];
}

_Static_assert(PLAIN_CONTAINER_COUNT == 1 << (64 - 58), "the slot is an index");

/* Updates the entry of a large container without leaves, after items were added to it or
 * replaced. If it may have a leaf now, the entry is removed. */
static void follow_plain(struct session *session,
                         PyObject *object,
                         size_t before,
                         const struct type_info *info,
                         const struct walk *added)
{
    struct plain_container *known = find_plain(session, object);

    if (known->object != object) {
        return;
    }
    if (added->leaf_count > 0 || added->item_count <= before ||
        known->count != before) {
        known->object = NULL;
    } else {
        known->count = added->item_count;
        known->last = walk_item_at(info, object, added->item_count - 1);
    }
}

/* Visits all items, or only the first ones of a large container that is known to have no leaf. */
static void walk_whole(struct session *session, PyObject *object, struct walk *walk)
{
    const struct type_info info = *type_cache_get(&session->types, Py_TYPE(object));
    size_t count = walk_count_items(&info, object);
    PyObject *last =
        count > AGAIN_ITEM_MAX ? walk_item_at(&info, object, count - 1) : NULL;
    struct plain_container now = {object, last, count, false};
    struct plain_container *known = find_plain(session, object);

    if (last != NULL && known->object == object && known->last == last &&
        known->count == count) {
        walk_again(walk, session, count, object, false);
        if (walk->leaf_count == 0) {
            walk->is_cut = known->is_cut;
            return;
        }
        walk_release(walk);
    }
    walk_init(walk);
    walk_container(walk, &session->types, object);
    if (last != NULL && walk->leaf_count == 0) {
        now.is_cut = walk->is_cut;
        *known = now;
    }
}

/* ---- changes of a container ---- */

/* The identity of a leaf. A number is identified by its value: it has no version, and its
 * address may be used again for another one. */
static struct known_leaf identify_leaf(struct session *session,
                                       const struct walk_leaf *leaf)
{
    PyObject *object = leaf->object;
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct known_leaf kept = {.place = leaf->place,
                              .object = (uint64_t)(uintptr_t)object};
    struct value value = {0};
    PyObject *owner = NULL;

    if (info->kind == TYPE_TENSOR) {
        kept.is_tensor = true;
        kept.has_version = info->tensor != TENSOR_CLASS_NUMPY;
        kept.version = kept.has_version ? tensor_version(session->access, object) : 0;
        return kept;
    }
    value_describe(info, object, &value, &owner);
    kept.has_version = true;
    kept.object =
        recorder_value_hash(&value) ^ hash_64(value.text) ^ (uint64_t)value.kind << 56;
    Py_XDECREF(owner);
    return kept;
}

/* Whether a leaf is the same as when the container was recorded last. The address of a deleted
 * tensor may belong to another one now, which an event since then shows. A NumPy array has no
 * version: in a small container it is measured again, in a larger one it counts as unchanged. */
static bool is_leaf_same(struct session *session,
                         const struct known_container *kept,
                         const struct known_leaf *before,
                         const struct known_leaf *now)
{
    return before->object == now->object && before->version == now->version &&
           before->is_tensor == now->is_tensor &&
           (now->has_version || kept->leaf_count > WALK_SMALL) &&
           (!now->is_tensor ||
            recorder_is_same_since(session->recorder, now->object, kept->event));
}

static void keep_leaves(struct session *session,
                        struct known_container *kept,
                        const struct walk *walk,
                        size_t first)
{
    for (size_t i = 0; i < walk->leaf_count && first + i < KNOWN_LEAF_MAX; i++) {
        kept->leaves[first + i] = identify_leaf(session, &walk->leaves[i]);
        kept->leaf_count = (uint32_t)(first + i + 1);
    }
}

static void keep_container(struct session *session,
                           struct known_container *kept,
                           const struct type_info *info,
                           PyObject *object,
                           size_t count)
{
    kept->object = (uint64_t)(uintptr_t)object;
    kept->item_count = count;
    kept->last =
        count == 0 ? 0 : (uint64_t)(uintptr_t)walk_item_at(info, object, count - 1);
    kept->event = log_writer_event_count(recorder_log(session->recorder));
}

/* Whether the changes of a container since its last record can be found from its first and its
 * new items: it is the same object, and it only grew at its end, or is a short list that shrank
 * there. */
static bool can_continue(const struct visit *visit,
                         uint32_t write,
                         const struct known_container *kept,
                         const struct type_info *info,
                         PyObject *object,
                         size_t count)
{
    PyObject *last;

    if (kept->object != (uint64_t)(uintptr_t)object || visit->call->is_tapped ||
        (visit->site->kind != SITE_MUTATE && !recorder_reads_own_name(visit, write))) {
        return false;
    }
    if (count < kept->item_count) {
        return info->kind == TYPE_LIST && kept->item_count <= AGAIN_ITEM_MAX;
    }
    last =
        kept->item_count == 0 ? NULL : walk_item_at(info, object, kept->item_count - 1);
    return kept->item_count == 0 || (last != NULL && count == kept->item_count) ||
           (last != NULL && kept->last == (uint64_t)(uintptr_t)last);
}

/* Compares the leaves of the items that were there the last time; `changed` gets a bit for each
 * changed leaf. Returns false if leaves were removed or moved. */
static bool find_changes(struct session *session,
                         const struct known_container *kept,
                         const struct walk *walk,
                         struct known_leaf *now,
                         uint64_t *changed)
{
    *changed = 0;
    for (size_t i = 0; i < walk->leaf_count; i++) {
        now[i] = identify_leaf(session, &walk->leaves[i]);
        if (i >= kept->leaf_count || now[i].place != kept->leaves[i].place) {
            return false;
        }
        if (!is_leaf_same(session, kept, &kept->leaves[i], &now[i])) {
            *changed |= UINT64_C(1) << i;
        }
    }
    return walk->leaf_count == kept->leaf_count || walk->is_cut ||
           walk->item_count < kept->item_count;
}

_Static_assert(KNOWN_LEAF_MAX == 64 && WALK_LEAF_MAX == 64, "a bit for each leaf");

/* Visits the items that were added. If none was added to a large container, an item may have
 * been replaced: the last one is visited if it differs. If not, and the first items have no
 * leaf, each visit examines another part of the rest. */
static void walk_added(struct walk *walk,
                       struct session *session,
                       struct known_container *kept,
                       const struct type_info *info,
                       PyObject *object,
                       size_t count)
{
    walk_init(walk);
    walk->item_count = count;
    walk->first = (Py_ssize_t)kept->item_count;
    if (count == kept->item_count && count > AGAIN_ITEM_MAX) {
        if (kept->last != (uint64_t)(uintptr_t)walk_item_at(info, object, count - 1)) {
            walk->first = (Py_ssize_t)count - 1;
        } else if (kept->leaf_count == 0) {
            walk->first = (Py_ssize_t)(kept->next_item % count);
            walk->end = walk->first + AGAIN_ITEM_MAX;
            kept->next_item = (uint64_t)walk->end;
        }
    }
    if ((size_t)walk->first < count) {
        walk_container(walk, &session->types, object);
    }
}

static void record_changed(struct session *session,
                           const struct visit *visit,
                           uint32_t write,
                           const struct walk *walk,
                           uint64_t changed)
{
    for (size_t i = 0; i < walk->leaf_count; i++) {
        if ((changed >> i & 1) != 0) {
            record_leaf(session, visit, write, walk, i);
        }
    }
}

/* Records the container, its changed leaves, and its new items. Returns false if it must be
 * recorded as a whole. */
static bool record_changes(struct session *session,
                           const struct visit *visit,
                           uint32_t write,
                           PyObject *object,
                           struct known_container *kept)
{
    const struct type_info info = *type_cache_get(&session->types, Py_TYPE(object));
    size_t count = walk_count_items(&info, object);
    size_t end = count < kept->item_count ? count : kept->item_count;
    struct known_leaf now[KNOWN_LEAF_MAX];
    struct walk old, added;
    uint64_t changed;
    bool is_found;

    if (!can_continue(visit, write, kept, &info, object, count)) {
        return false;
    }
    walk_again(&old, session, end, object, false);
    is_found = find_changes(session, kept, &old, now, &changed);
    if (is_found && changed != 0) {
        walk_release(&old);
        walk_again(&old, session, end, object, true);
    }
    if (!is_found) {
        walk_release(&old);
        return false;
    }
    walk_added(&added, session, kept, &info, object, count);
    follow_plain(session, object, kept->item_count, &info, &added);
    memcpy(kept->leaves, now, old.leaf_count * sizeof *now);
    kept->leaf_count = (uint32_t)old.leaf_count;
    if (!old.is_cut && count > kept->item_count) {
        keep_leaves(session, kept, &added, old.leaf_count);
    }
    record_container(session, visit, write, object, &added, true);
    record_changed(session, visit, write, &old, changed);
    record_changed(session, visit, write, &added, UINT64_MAX);
    keep_container(session, kept, &info, object, count);
    walk_release(&added);
    walk_release(&old);
    return true;
}

static void record_whole(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         PyObject *object,
                         struct known_container *kept)
{
    struct walk walk;

    walk_whole(session, object, &walk);
    container_record_leaves(session, visit, write, object, &walk);
    if (kept != NULL) {
        kept->leaf_count = 0;
        kept->next_item = 0;
        keep_leaves(session, kept, &walk, 0);
        keep_container(session, kept, type_cache_get(&session->types, Py_TYPE(object)),
                       object, walk.item_count);
    }
    walk_release(&walk);
}

/* Records the container as the value of the visit's `write`-th name, and its new or changed leaves. */
static void container_record(struct session *session,
                             const struct visit *visit,
                             uint32_t write,
                             PyObject *object)
{
    bool is_known = false;
    struct known_container *kept = recorder_known_container(visit, write, &is_known);

    if (!is_known || !record_changes(session, visit, write, object, kept)) {
        record_whole(session, visit, write, object, kept);
    }
}

/* An array with overlapping elements is measured if it has at most this many elements, or at
 * most OVERLAPPING_PART elements for each one in memory. */
#define OVERLAPPING_COUNT_MAX ((uint64_t)1 << 26)
#define OVERLAPPING_PART      64

/* Whether Ctrl-C was pressed. Python's own handler runs after the hook has returned. */
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

/* Whether an array is not worth reading. Windows over an array can have far more elements than
 * memory, and reading them all would delay the program. Elements that a stride of 0 repeats
 * count once. */
static bool is_too_large(const struct array *array)
{
    uint64_t count = 1; /* elements, without those that a stride of 0 repeats */
    uint64_t span = 1;  /* from the first element to the last, in elements */
    uint64_t size = dtype_size(array->dtype);
    bool is_beyond = false;

    if (array->strides == NULL || size == 0) {
        return false;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        if (array->shape[i] == 0) {
            return false;
        }
        is_beyond |= array->strides[i] != 0 &&
                     __builtin_mul_overflow(count, (uint64_t)array->shape[i], &count);
    }
    if (is_beyond || count <= OVERLAPPING_COUNT_MAX) {
        return is_beyond;
    }
    for (uint32_t i = 0; i < array->dimension_count; i++) {
        uint64_t stride =
            (uint64_t)(array->strides[i] < 0 ? -array->strides[i] : array->strides[i]);

        span += ((uint64_t)array->shape[i] - 1) * (stride / size);
    }
    return count / span > OVERLAPPING_PART;
}

static bool is_measured(const struct recorder_options *options,
                        const struct visit *visit,
                        const struct array *array)
{
    return visit->is_measured && (options->element_limit == 0 ||
                                  array_count(array) <= options->element_limit);
}

/* Called after a tensor's event was written, for the recording of its gradient and the change of
 * its values. */
static inline void note_written(struct session *session,
                                const struct visit *visit,
                                uint32_t write,
                                struct slice path,
                                const struct value *value,
                                const struct tensor *tensor)
{
    if (session->gradients != NULL) {
        gradient_watch(session, visit, tensor);
    }
    if (session->changes != NULL) {
        change_note(session, visit, write, path, value);
    }
}

/* Writes a tensor of another device, and starts its measurement there. The record is filled in
 * later. */
static void record_late(struct session *session,
                        const struct visit *visit,
                        uint32_t write,
                        struct slice path,
                        const struct value *value,
                        const struct tensor *tensor)
{
    struct log_nonfinite counts;

    recorder_write(session->recorder, visit, write, path, value);
    struct log_event *event = recorder_late(session->recorder);
    if (event != NULL) {
        /* The record stays in its place until another one is written, so no finalizer may visit
         * sites now. */
        int had_collector = PyGC_Disable();
        device_queue_add(session->devices, (PyObject *)(uintptr_t)tensor->object,
                         tensor, event);
        /* A recording that stops at a value waits for the result. */
        if (stop_is_wanted(&session->stop)) {
            device_queue_flush(session->devices);
            if (log_late_read(event, &counts)) {
                stop_check_array(&session->stop, session_thread_key(), visit, write,
                                 path, value->array, &counts);
            }
        }
        if (had_collector) {
            PyGC_Enable();
        }
    }
    note_written(session, visit, write, path, value, tensor);
}

/* Whether the recording stops at the array. Then the event gets its statistics in any case. Not
 * inlined: few recordings stop at values. */
static __attribute__((noinline)) bool stops_at(struct session *session,
                                               const struct visit *visit,
                                               uint32_t write,
                                               struct slice path,
                                               const struct recorded_array *array,
                                               const struct statistics *statistics)
{
    struct log_nonfinite counts = log_nonfinite_of(statistics);

    return stop_check_array(&session->stop, session_thread_key(), visit, write, path,
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

/* Whether the array's memory holds no values yet, so that nothing is measured. An array that was
 * written in part is measured if a NaN or an infinity was written: then it is not there by
 * chance. */
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

/* Measures the statistics and the hash that the recording wants. Returns false if there are no
 * statistics. The hash is stored in the array. */
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
        found = visit_measure(tensor, wanted, session->thread_limit, statistics,
                              &array->hash);
        if (found == 0) {
            array->note = SLICE("interrupted, not measured");
        }
    }
    array->has_hash = (found & STATISTICS_WANT_HASH) != 0;
    return (found & STATISTICS_WANT_VALUES) != 0;
}

/* Records weights that are not finite, before a written value that is not finite. */
static void record_weights(struct session *session,
                           const struct visit *visit,
                           uint32_t write,
                           const struct statistics *statistics)
{
    if (statistics != NULL && write < visit->site->write_count &&
        statistics_finite_count(statistics) != statistics->count) {
        weights_record(session, visit);
    }
}

static void record_array(struct session *session,
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
    bool is_stopping = stop_is_wanted(&session->stop);
    bool is_inspected = (is_wanted || is_stopping) && !is_fresh;
    if (is_inspected && is_too_large(&tensor->array)) {
        is_inspected = false;
        array.note = SLICE("overlapping, not measured");
    }
    array.is_late = is_inspected && tensor->is_on_device && options->has_statistics;
    if (array.is_late) {
        record_late(session, visit, write, path, &value, tensor);
        return;
    }
    if (is_inspected && tensor->array.data != NULL) {
        bool has_statistics =
            measure_array(session, tensor, is_wanted, &statistics, &array);
        if (is_stopping && has_statistics &&
            stops_at(session, visit, write, path, &array, &statistics)) {
            is_wanted = true;
        }
        array.statistics = has_statistics && is_wanted ? &statistics : NULL;
        record_weights(session, visit, write, array.statistics);
        array.is_sampled = is_wanted;
    }
    array.is_sampled = array.is_sampled || (is_wanted && array.fresh != NULL);
    if (options->name_count > 0 && write < visit->site->write_count && !is_fresh) {
        array.is_kept =
            recorder_keeps(session->recorder, visit->site->writes[write].name, path);
    }
    recorder_write(session->recorder, visit, write, path, &value);
    note_written(session, visit, write, path, &value, tensor);
}

/* A tensor that is recorded whatever the line does with it: a gradient or a parameter. */
struct measured {
    struct tensor tensor;
    struct recorded_array array;
    struct value value;
    struct statistics statistics;
    struct log_nonfinite counts; /* all 0 if nothing was measured */
};

/* Describes and measures the tensor. Returns false if the object is no tensor. After true the
 * caller must call measured_release. */
static bool
measure_object(struct session *session, PyObject *object, struct measured *measured)
{
    const struct recorder_options *options = recorder_options(session->recorder);
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor *tensor = &measured->tensor;
    struct recorded_array *array = &measured->array;
    bool is_inspected;

    if (info->kind != TYPE_TENSOR ||
        tensor_describe(session->access, object, info->tensor, tensor) != 0) {
        return false;
    }
    *array = value_array(tensor);
    measured->counts = (struct log_nonfinite){0, 0, 0};
    measured->value =
        (struct value){.kind = VALUE_TENSOR, .object = tensor->object, .array = array};
    is_inspected = !is_too_large(&tensor->array) &&
                   (options->element_limit == 0 ||
                    array_count(&tensor->array) <= options->element_limit) &&
                   !find_fresh(session, tensor, array);
    array->is_late = is_inspected && tensor->is_on_device && options->has_statistics;
    if (is_inspected && !array->is_late && tensor->array.data != NULL &&
        measure_array(session, tensor, true, &measured->statistics, array)) {
        array->statistics = &measured->statistics;
        measured->counts = log_nonfinite_of(&measured->statistics);
    }
    array->is_sampled = is_inspected && !array->is_late && tensor->array.data != NULL;
    return true;
}

/* Called after its record was written. Statistics of a tensor on another device are filled in
 * later. */
static void measured_release(struct session *session, struct measured *measured)
{
    struct log_event *event =
        measured->array.is_late ? recorder_late(session->recorder) : NULL;

    if (event != NULL) {
        int had_collector = PyGC_Disable(); /* as in record_late */

        device_queue_add(session->devices,
                         (PyObject *)(uintptr_t)measured->tensor.object,
                         &measured->tensor, event);
        if (had_collector) {
            PyGC_Enable();
        }
    }
    tensor_release(&measured->tensor);
}

bool value_record_gradient(struct session *session,
                           struct value_gradient *gradient,
                           PyObject *object)
{
    struct call_thread *thread = frame_thread(session);
    struct measured measured;

    if (thread == NULL || !measure_object(session, object, &measured)) {
        return false;
    }
    gradient->counts = measured.counts;
    gradient->element_count = array_count(&measured.tensor.array);
    gradient->what = slice_of(dtype_text(measured.tensor.array.dtype));
    recorder_write_gradient(session->recorder, gradient->owner, gradient->tag, thread,
                            gradient->step, &measured.value);
    measured_release(session, &measured);
    return true;
}

bool value_record_parameter(struct session *session,
                            const struct visit *visit,
                            struct slice name,
                            bool is_read,
                            struct name_state *state,
                            PyObject *object,
                            struct log_nonfinite *counts)
{
    struct measured measured;

    if (!measure_object(session, object, &measured)) {
        return false;
    }
    *counts = measured.counts;
    recorder_write_parameter(session->recorder, visit, name, is_read, state,
                             &measured.value);
    measured_release(session, &measured);
    return true;
}

static void record_scalar(struct session *session,
                          const struct visit *visit,
                          uint32_t write,
                          struct slice path,
                          const struct type_info *info,
                          PyObject *object)
{
    struct value value = {.object = (uint64_t)(uintptr_t)object};
    PyObject *owner = NULL;
    bool is_module = info->is_module;

    value_describe(info, object, &value, &owner);
    if (value.kind == VALUE_FLOAT || value.kind == VALUE_COMPLEX) {
        stop_check_number(&session->stop, session_thread_key(), visit, write, path,
                          value.real, value.imaginary);
    }
    recorder_write(session->recorder, visit, write, path, &value);
    Py_XDECREF(owner);
    if (is_module && session->gradients != NULL) {
        parameters_add_module(session, object);
    }
    if (value.kind == VALUE_OBJECT && path.size == 0 && session->gradients != NULL) {
        parameters_note_object(session, visit, object);
    }
}

bool value_record_single(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         struct slice path,
                         PyObject *object)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct tensor tensor;

    if (info->kind == TYPE_TENSOR) {
        if (tensor_describe(session->access, object, info->tensor, &tensor) == 0) {
            record_array(session, visit, write, path, &tensor);
            tensor_release(&tensor);
            return true;
        }
        info = type_cache_get(&session->types, Py_TYPE(object));
    }
    if (type_is_container(info)) {
        return false;
    }
    record_scalar(session, visit, write, path, info, object);
    return true;
}

static bool is_tensor(struct session *session, PyObject *object)
{
    return type_cache_get(&session->types, Py_TYPE(object))->kind == TYPE_TENSOR;
}

bool value_record_tensors(struct session *session,
                          const struct visit *visit,
                          uint32_t write,
                          PyObject *object)
{
    struct walk walk;
    bool has_tensor = false;

    if (is_tensor(session, object)) {
        return value_record_single(session, visit, write, SLICE(""), object);
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
        container_record_leaves(session, visit, write, object, &walk);
    }
    walk_release(&walk);
    return has_tensor;
}

void value_record(struct session *session,
                  const struct visit *visit,
                  uint32_t write,
                  PyObject *object)
{
    if (!value_record_single(session, visit, write, SLICE(""), object)) {
        container_record(session, visit, write, object);
    }
}
