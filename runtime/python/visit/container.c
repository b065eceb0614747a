/* Containers as events: the container, and those of its leaves that are new or have changed since the
 * name was recorded last in the same call.
 *
 * A visit costs what has changed, within limits. The first 64 items are visited each time, and their
 * leaves compared with what is kept of them: the place, and the object and version, or the value of a
 * number. Behind those only items are visited by which the container has grown. It is recorded as a
 * whole, at most 1,024 items and 64 leaves, where it is new to the name, or where leaves are gone or
 * stand elsewhere. */
#include "runtime/python/visit/container.h"

#include "runtime/base/hash/hash.h"

#include <string.h>

/* The container itself, without its leaves. */
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
    recorder_tell(session->recorder, visit, write, SLICE(""), &value);
    Py_XDECREF(name);
}

static void record_leaf(struct session *session,
                        const struct visit *visit,
                        uint32_t write,
                        const struct walk *walk,
                        size_t leaf)
{
    value_tell_single(session, visit, write, walk_path(walk, leaf),
                      walk->leaves[leaf].object);
}

/* The container, and all leaves that were found in it. */
void container_tell_leaves(struct session *session,
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

/* So many items of a container that was recorded before are visited again. */
#define AGAIN_ITEM_MAX 64

/* Visits the first items alone, up to the `end`-th. */
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

/* Items were added to a container, or written to: whether it holds a leaf is known from these, or not
 * known any more. */
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

/* Visits all items, or the first ones of a large container that is known to hold no leaf. */
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

/* ---- what has changed in a container ---- */

/* What a leaf is known by. Numbers have no version, and their addresses are used again: of these it
 * is the value. */
static struct told_leaf identify_leaf(struct session *session,
                                      const struct walk_leaf *leaf)
{
    PyObject *object = leaf->object;
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct told_leaf told = {.place = leaf->place,
                             .object = (uint64_t)(uintptr_t)object};
    struct value value = {0};
    PyObject *owner = NULL;

    if (info->kind == TYPE_TENSOR) {
        told.is_tensor = true;
        told.has_version = info->tensor != TENSOR_CLASS_NUMPY;
        told.version = told.has_version ? tensor_version(session->access, object) : 0;
        return told;
    }
    value_describe(info, object, &value, &owner);
    told.has_version = true;
    told.object =
        recorder_value_hash(&value) ^ hash_64(value.text) ^ (uint64_t)value.kind << 56;
    Py_XDECREF(owner);
    return told;
}

/* Whether a leaf is what it was when the container was recorded last. The address of a tensor that is
 * gone may be another's now, which an event has seen since. A NumPy array has no version: in a small
 * container it is measured again, in a larger one it counts as unchanged. */
static bool is_leaf_same(struct session *session,
                         const struct told_container *told,
                         const struct told_leaf *before,
                         const struct told_leaf *now)
{
    return before->object == now->object && before->version == now->version &&
           before->is_tensor == now->is_tensor &&
           (now->has_version || told->leaf_count > WALK_SMALL) &&
           (!now->is_tensor ||
            recorder_is_same_since(session->recorder, now->object, told->event));
}

static void keep_leaves(struct session *session,
                        struct told_container *told,
                        const struct walk *walk,
                        size_t first)
{
    for (size_t i = 0; i < walk->leaf_count && first + i < TOLD_LEAF_MAX; i++) {
        told->leaves[first + i] = identify_leaf(session, &walk->leaves[i]);
        told->leaf_count = (uint32_t)(first + i + 1);
    }
}

static void keep_container(struct session *session,
                           struct told_container *told,
                           const struct type_info *info,
                           PyObject *object,
                           size_t count)
{
    told->object = (uint64_t)(uintptr_t)object;
    told->item_count = count;
    told->last =
        count == 0 ? 0 : (uint64_t)(uintptr_t)walk_item_at(info, object, count - 1);
    told->event = log_writer_event_count(recorder_log(session->recorder));
}

/* Whether what has become of a container since it was recorded last can be found by its first and its
 * new items: it is the same one, and it only grew at its end, or a short list shrank there. */
static bool can_continue(const struct visit *visit,
                         uint32_t write,
                         const struct told_container *told,
                         const struct type_info *info,
                         PyObject *object,
                         size_t count)
{
    PyObject *last;

    if (told->object != (uint64_t)(uintptr_t)object || visit->call->is_tapped ||
        (visit->site->kind != SITE_MUTATE && !recorder_reads_own_name(visit, write))) {
        return false;
    }
    if (count < told->item_count) {
        return info->kind == TYPE_LIST && told->item_count <= AGAIN_ITEM_MAX;
    }
    last =
        told->item_count == 0 ? NULL : walk_item_at(info, object, told->item_count - 1);
    return told->item_count == 0 || (last != NULL && count == told->item_count) ||
           (last != NULL && told->last == (uint64_t)(uintptr_t)last);
}

/* Visits the items that were there the last time, and finds which of their leaves have changed: a bit
 * for each. False: leaves are gone or have moved. */
static bool find_changes(struct session *session,
                         const struct told_container *told,
                         const struct walk *walk,
                         struct told_leaf *now,
                         uint64_t *changed)
{
    *changed = 0;
    for (size_t i = 0; i < walk->leaf_count; i++) {
        now[i] = identify_leaf(session, &walk->leaves[i]);
        if (i >= told->leaf_count || now[i].place != told->leaves[i].place) {
            return false;
        }
        if (!is_leaf_same(session, told, &told->leaves[i], &now[i])) {
            *changed |= UINT64_C(1) << i;
        }
    }
    return walk->leaf_count == told->leaf_count || walk->is_cut ||
           walk->item_count < told->item_count;
}

_Static_assert(TOLD_LEAF_MAX == 64 && WALK_LEAF_MAX == 64, "a bit for each leaf");

/* The items that were added. Where none was, one of a large container may have been replaced: the last
 * one, or any; where the first ones hold no leaf, the others are visited by and by. */
static void walk_added(struct walk *walk,
                       struct session *session,
                       struct told_container *told,
                       const struct type_info *info,
                       PyObject *object,
                       size_t count)
{
    walk_init(walk);
    walk->item_count = count;
    walk->first = (Py_ssize_t)told->item_count;
    if (count == told->item_count && count > AGAIN_ITEM_MAX) {
        if (told->last != (uint64_t)(uintptr_t)walk_item_at(info, object, count - 1)) {
            walk->first = (Py_ssize_t)count - 1;
        } else if (told->leaf_count == 0) {
            walk->first = (Py_ssize_t)(told->next_item % count);
            walk->end = walk->first + AGAIN_ITEM_MAX;
            told->next_item = (uint64_t)walk->end;
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

/* Records the container, the changed ones of its leaves, and its new items. False: it is to be
 * recorded as a whole. */
static bool record_changes(struct session *session,
                           const struct visit *visit,
                           uint32_t write,
                           PyObject *object,
                           struct told_container *told)
{
    const struct type_info info = *type_cache_get(&session->types, Py_TYPE(object));
    size_t count = walk_count_items(&info, object);
    size_t end = count < told->item_count ? count : told->item_count;
    struct told_leaf now[TOLD_LEAF_MAX];
    struct walk old, added;
    uint64_t changed;
    bool is_found;

    if (!can_continue(visit, write, told, &info, object, count)) {
        return false;
    }
    walk_again(&old, session, end, object, false);
    is_found = find_changes(session, told, &old, now, &changed);
    if (is_found && changed != 0) {
        walk_release(&old);
        walk_again(&old, session, end, object, true);
    }
    if (!is_found) {
        walk_release(&old);
        return false;
    }
    walk_added(&added, session, told, &info, object, count);
    follow_plain(session, object, told->item_count, &info, &added);
    memcpy(told->leaves, now, old.leaf_count * sizeof *now);
    told->leaf_count = (uint32_t)old.leaf_count;
    if (!old.is_cut && count > told->item_count) {
        keep_leaves(session, told, &added, old.leaf_count);
    }
    record_container(session, visit, write, object, &added, true);
    record_changed(session, visit, write, &old, changed);
    record_changed(session, visit, write, &added, UINT64_MAX);
    keep_container(session, told, &info, object, count);
    walk_release(&added);
    walk_release(&old);
    return true;
}

static void record_whole(struct session *session,
                         const struct visit *visit,
                         uint32_t write,
                         PyObject *object,
                         struct told_container *told)
{
    struct walk walk;

    walk_whole(session, object, &walk);
    container_tell_leaves(session, visit, write, object, &walk);
    if (told != NULL) {
        told->leaf_count = 0;
        told->next_item = 0;
        keep_leaves(session, told, &walk, 0);
        keep_container(session, told, type_cache_get(&session->types, Py_TYPE(object)),
                       object, walk.item_count);
    }
    walk_release(&walk);
}

void container_tell(struct session *session,
                    const struct visit *visit,
                    uint32_t write,
                    PyObject *object)
{
    bool is_known = false;
    struct told_container *told = recorder_told_container(visit, write, &is_known);

    if (!is_known || !record_changes(session, visit, write, object, told)) {
        record_whole(session, visit, write, object, told);
    }
}
