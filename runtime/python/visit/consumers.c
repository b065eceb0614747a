/* The consumers of a session, and the passing of visits to them. */
#include "runtime/python/visit/consumers.h"

#include "runtime/base/memory.h"
#include "runtime/python/record/session.h"
#include "runtime/python/visit/visit.h"

#include <assert.h>

/* The active consumers. A list is not changed while a visit is passed on: set_watchers makes a
 * new one. */
struct consumer_list {
    size_t user_count;
    PyObject *pairs; /* owned: a tuple of (object, function) */
    size_t count;
    struct consumer items[];
};

static void list_leave(struct consumer_list *list)
{
    if (list == NULL) {
        return;
    }
    assert(list->user_count > 0);
    list->user_count--;
    if (list->user_count == 0) {
        Py_DECREF(list->pairs);
        memory_free(list);
    }
}

int consumers_add_kind(struct consumers *consumers,
                       PyObject *type,
                       const struct consumer_kind *kind)
{
    if (type == NULL) {
        return -1;
    }
    assert(consumers->kind_count < CONSUMER_KIND_MAX);
    consumers->kinds[consumers->kind_count].type = (PyTypeObject *)Py_NewRef(type);
    consumers->kinds[consumers->kind_count].kind = kind;
    consumers->kind_count++;
    return 0;
}

/* Returns NULL if the object is no consumer. */
static const struct consumer_kind *find_kind(const struct consumers *consumers,
                                             PyObject *object)
{
    for (size_t i = 0; i < consumers->kind_count; i++) {
        if (Py_TYPE(object) == consumers->kinds[i].type) {
            return consumers->kinds[i].kind;
        }
    }
    return NULL;
}

bool consumers_is(const struct consumers *consumers,
                  const struct consumer_kind *kind,
                  PyObject *object)
{
    return find_kind(consumers, object) == kind;
}

/* The bit of the `i`-th consumer of the list. The first bit of a set is the recording's. */
static consumer_set bit_of(size_t i)
{
    size_t place = i + 1 < CONSUMER_SHARED_PLACE ? i + 1 : CONSUMER_SHARED_PLACE;

    return (consumer_set)1 << place;
}

bool consumers_choose(const struct consumers *consumers,
                      const struct site_module *module,
                      consumer_set *sets)
{
    const struct consumer_list *list = consumers->list;

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct consumer *consumer = &list->items[i];

        if (!consumer->kind->choose(consumer, module, bit_of(i), sets)) {
            return false;
        }
    }
    return true;
}

static inline bool visit_those(const struct consumer_list *list,
                               struct site_visit *visit,
                               consumer_set set)
{
    size_t first = (size_t)__builtin_ctz(set) - 1;

    assert(first < list->count);
    if ((set & (set - 1)) == 0 &&
        first + 1 < CONSUMER_SHARED_PLACE) { /* the usual case */
        return list->items[first].kind->visit(&list->items[first], visit);
    }
    for (size_t i = first; i < list->count; i++) {
        const struct consumer *consumer = &list->items[i];

        if ((set & bit_of(i)) != 0 && !consumer->kind->visit(consumer, visit)) {
            return false;
        }
    }
    return true;
}

HOT bool consumers_visit(struct site_visit *visit, consumer_set set)
{
    struct consumer_list *list = visit->session->consumers.list;
    struct visit_thread *thread = visit_this_thread();
    bool is_good;

    assert((set & CONSUMER_RECORDING) == 0 && set != 0);
    if (thread->is_at_work || list == NULL) {
        return true;
    }
    visit->thread = thread;
    thread->is_at_work = true;
    list->user_count++; /* visits may add or remove consumers */
    is_good = visit_those(list, visit, set);
    thread->is_at_work = false;
    list_leave(list);
    return is_good;
}

/* Returns NULL with an exception set if a pair of the tuple is not (watcher, function), or
 * memory ran out. */
static struct consumer_list *make_list(const struct consumers *consumers,
                                       PyObject *pairs)
{
    size_t count = (size_t)PyTuple_Size(pairs);
    struct consumer_list *list =
        memory_allocate_zeroed(1, sizeof(*list) + count * sizeof(struct consumer));

    if (list == NULL) {
        return (struct consumer_list *)PyErr_NoMemory();
    }
    list->user_count = 1;
    list->pairs = Py_NewRef(pairs);
    list->count = count;
    for (size_t i = 0; i < count; i++) {
        PyObject *pair = PyTuple_GetItem(pairs, (Py_ssize_t)i);
        bool is_pair = PyTuple_CheckExact(pair) && PyTuple_Size(pair) == 2;
        PyObject *object = is_pair ? PyTuple_GetItem(pair, 0) : NULL;
        const struct consumer_kind *kind =
            is_pair ? find_kind(consumers, object) : NULL;

        if (kind == NULL) {
            PyErr_SetString(
                PyExc_TypeError,
                "set_watchers() expects a tuple of (watcher, function) pairs");
            list_leave(list);
            return NULL;
        }
        list->items[i] = (struct consumer){kind, object, PyTuple_GetItem(pair, 1)};
    }
    return list;
}

PyObject *consumers_set_watchers(PyObject *module, PyObject *pairs)
{
    struct session *session = PyModule_GetState(module);
    struct consumers *consumers = &session->consumers;
    struct consumer_list *former = consumers->list;
    struct consumer_list *list = NULL;

    if (!PyTuple_CheckExact(pairs)) {
        PyErr_SetString(PyExc_TypeError,
                        "set_watchers() expects a tuple of (watcher, function) pairs");
        return NULL;
    }
    if (PyTuple_Size(pairs) > 0) {
        list = make_list(consumers, pairs);
        if (list == NULL) {
            return NULL;
        }
    }
    consumers->list = list;
    consumers_change(consumers);
    list_leave(former);
    Py_RETURN_NONE;
}

int consumers_traverse(const struct consumers *consumers, visitproc visit, void *arg)
{
    for (size_t i = 0; i < consumers->kind_count; i++) {
        Py_VISIT(consumers->kinds[i].type);
    }
    if (consumers->list != NULL) {
        Py_VISIT(consumers->list->pairs);
    }
    return 0;
}

void consumers_clear(struct consumers *consumers)
{
    struct consumer_list *list = consumers->list;

    consumers->list = NULL;
    consumers_change(consumers);
    list_leave(list);
    for (size_t i = 0; i < consumers->kind_count; i++) {
        Py_CLEAR(consumers->kinds[i].type);
    }
    consumers->kind_count = 0;
}
