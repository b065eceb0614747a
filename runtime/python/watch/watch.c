/* The type Watcher: its choice of sites, and the visits that it gets. */
#include "runtime/python/watch/watch.h"

#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/slice.h"
#include "runtime/python/record/session.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/visit.h"
#include "runtime/python/visit/walk.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stdint.h>

struct watcher_lines {
    struct slice file; /* a path, the end of one, or a glob; size 0: any file */
    struct line_range range;
};

/* What is asked for; empty lists ask for everything. */
struct watcher_wish {
    const struct slice *names; /* globs */
    size_t name_count;
    const struct watcher_lines *lines;
    size_t line_count;
};

/* The answer for one module. */
struct watcher_choice {
    uint32_t site_count;
    uint32_t
        *firsts;     /* of each site, where in `is_wanted` its writes begin; one more */
    bool *is_wanted; /* of each write of each site */
    bool *has_any;   /* of each site: whether any of its writes is wanted */
};

/* ---- the values that a watcher wants, by names and lines ---- */

static bool has_name(const struct watcher_wish *wish, struct slice name)
{
    for (size_t i = 0; i < wish->name_count; i++) {
        if (name_select(name, SLICE(""), wish->names[i]) != NAME_OTHER) {
            return true;
        }
    }
    return wish->name_count == 0;
}

static bool is_file(struct slice path, struct slice wanted)
{
    return wanted.size == 0 || file_select(path, wanted);
}

static bool
has_line(const struct watcher_wish *wish, const bool *is_here, uint32_t line)
{
    for (size_t i = 0; i < wish->line_count; i++) {
        if (is_here[i] && line_range_has(wish->lines[i].range, line)) {
            return true;
        }
    }
    return wish->line_count == 0;
}

/* May be NULL. */
static void watcher_choice_free(struct watcher_choice *choice)
{
    if (choice != NULL) {
        memory_free(choice->firsts);
        memory_free(choice->is_wanted);
        memory_free(choice->has_any);
        memory_free(choice);
    }
}

static struct watcher_choice *make_choice(const struct site_table *table)
{
    struct watcher_choice *choice = memory_allocate_zeroed(1, sizeof(*choice));
    size_t count = 0;

    if (choice == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        count += table->sites[i].write_count;
    }
    choice->site_count = table->site_count;
    choice->firsts =
        memory_allocate((size_t)table->site_count + 1, sizeof(*choice->firsts));
    choice->is_wanted = memory_allocate_zeroed(count, sizeof(*choice->is_wanted));
    choice->has_any =
        memory_allocate_zeroed(table->site_count, sizeof(*choice->has_any));
    if (choice->firsts == NULL || choice->is_wanted == NULL ||
        choice->has_any == NULL) {
        watcher_choice_free(choice);
        return NULL;
    }
    return choice;
}

/* `file` is the one that runs; the one that it was made of has the same lines. NULL: no memory. */
static struct watcher_choice *watcher_choose(const struct watcher_wish *wish,
                                             const struct site_table *table,
                                             struct slice file)
{
    struct watcher_choice *choice = make_choice(table);
    bool *is_here = memory_allocate(wish->line_count, sizeof(*is_here));
    uint32_t next = 0;

    if (choice == NULL || is_here == NULL) {
        watcher_choice_free(choice);
        memory_free(is_here);
        return NULL;
    }
    for (size_t i = 0; i < wish->line_count; i++) {
        is_here[i] = is_file(file, wish->lines[i].file) ||
                     is_file(table->path, wish->lines[i].file);
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        bool is_on_line = has_line(wish, is_here, site->line);

        choice->firsts[i] = next;
        for (uint32_t j = 0; j < site->write_count; j++, next++) {
            choice->is_wanted[next] =
                is_on_line && has_name(wish, site->writes[j].name);
            choice->has_any[i] = choice->has_any[i] || choice->is_wanted[next];
        }
    }
    choice->firsts[table->site_count] = next;
    memory_free(is_here);
    return choice;
}

/* ---- values that are not finite ---- */

/* True or False; NotImplemented where the values cannot be read here. */
static PyObject *
answer(struct session *session, const struct tensor *tensor, unsigned wanted)
{
    struct statistics statistics;
    uint64_t hash;
    bool is_reached;

    if (tensor->array.data == NULL && array_count(&tensor->array) > 0) {
        return Py_NewRef(Py_NotImplemented);
    }
    if (array_count(&tensor->array) == 0) {
        Py_RETURN_FALSE;
    }
    value_measure(tensor, STATISTICS_WANT_VALUES,
                  session->thread_limit == 0 ? 1 : session->thread_limit, &statistics,
                  &hash);
    is_reached = ((wanted & STOP_AT_NAN) != 0 && statistics.nan_count > 0) ||
                 ((wanted & STOP_AT_INF) != 0 &&
                  (statistics.posinf_count > 0 || statistics.neginf_count > 0));
    return PyBool_FromLong(is_reached);
}

PyObject *watcher_is_nonfinite(PyObject *module, PyObject *args)
{
    struct session *session = PyModule_GetState(module);
    PyObject *value, *result;
    unsigned int wanted;
    enum tensor_class class;
    struct tensor tensor;

    if (!PyArg_ParseTuple(args, "OI:is_nonfinite", &value, &wanted)) {
        return NULL;
    }
    class = tensor_classify(session->access, Py_TYPE(value));
    if (class == TENSOR_CLASS_NONE ||
        tensor_describe(session->access, value, class, &tensor) < 0) {
        return Py_NewRef(Py_NotImplemented);
    }
    result = answer(session, &tensor, wanted);
    tensor_release(&tensor);
    return result;
}

/* Python's object. The choices stay with it: a watcher that begins again knows its sites. */
struct watcher {
    PyObject_HEAD struct arena arena; /* of the wish */
    struct watcher_wish wish;
    struct watcher_choice **choices; /* owned; by the number of the module less one */
    size_t choice_room;
};

/* NULL with an exception set: no memory. */
static const struct watcher_choice *find_choice(struct watcher *watcher,
                                                const struct site_module *module)
{
    size_t place = (size_t)module->number - 1;
    size_t room = watcher->choice_room;
    void *choices = watcher->choices;

    if (place >= room) {
        if (!memory_grow(&choices, &watcher->choice_room, place + 1,
                         sizeof(*watcher->choices))) {
            PyErr_NoMemory();
            return NULL;
        }
        watcher->choices = choices;
        memset(watcher->choices + room, 0,
               (watcher->choice_room - room) * sizeof(*watcher->choices));
    }
    if (watcher->choices[place] == NULL) {
        watcher->choices[place] =
            watcher_choose(&watcher->wish, &module->table, module->text.file);
        if (watcher->choices[place] == NULL) {
            PyErr_NoMemory();
        }
    }
    return watcher->choices[place];
}

/* Numbers and texts are nothing to watch. */
static bool may_hold_tensors(struct session *session, PyObject *value)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(value));

    return info->kind == TYPE_TENSOR || type_is_container(info);
}

/* An argument of a call such as `x.add_(y)` may be as it was. A parameter of what a module's method
 * calls may be what that has under the same name. */
static bool may_be_unchanged(const struct site *site, bool is_called)
{
    return site->kind == SITE_MUTATE || (site->kind == SITE_ENTER && is_called);
}

/* function(name, value, may_be_unchanged, module), in the module's method or below it. */
static bool record_value(struct site_visit *visit,
                         PyObject *function,
                         const struct site_write *write,
                         PyObject *value)
{
    PyObject *module, *name, *result;
    bool is_called;

    if (!may_hold_tensors(visit->session, value)) {
        return true;
    }
    module = visit_module(visit, &is_called);
    name = PyUnicode_DecodeUTF8(write->name.bytes, (Py_ssize_t)write->name.size,
                                "replace");
    result = module == NULL || name == NULL
                 ? NULL
                 : PyObject_CallFunctionObjArgs(
                       function, name, value,
                       may_be_unchanged(visit->site, is_called) ? Py_True : Py_False,
                       module, NULL);
    Py_XDECREF(name);
    Py_XDECREF(result);
    return result != NULL;
}

/* `is_wanted`: of each write of the site. */
static bool
record_values(struct site_visit *visit, PyObject *function, const bool *is_wanted)
{
    const struct site *site = visit->site;
    Py_ssize_t next = 0;

    for (uint32_t i = 0; i < site->write_count && next < visit->count; i++) {
        bool is_peeked = site->writes[i].source == SITE_SOURCE_PEEK;
        PyObject *value;
        bool is_good = true;

        if (site->writes[i].source == SITE_SOURCE_NONE) {
            continue;
        }
        value = visit->values[next++];
        if (!is_wanted[i] || value == NULL) {
            continue;
        }
        value = is_peeked ? visit_peek(visit, i, value) : Py_NewRef(value);
        if (value != NULL) {
            is_good = record_value(visit, function, &site->writes[i], value);
            Py_DECREF(value);
        }
        if (!is_good) {
            return false;
        }
    }
    return true;
}

static bool watcher_choose_sites(const struct consumer *consumer,
                                 const struct site_module *module,
                                 consumer_set bit,
                                 consumer_set *sets)
{
    const struct watcher_choice *choice =
        find_choice((struct watcher *)consumer->object, module);

    for (uint32_t i = 0; choice != NULL && i < choice->site_count; i++) {
        sets[i] |= choice->has_any[i] ? bit : 0;
    }
    return choice != NULL;
}

static bool watcher_visit(const struct consumer *consumer, struct site_visit *visit)
{
    const struct watcher_choice *choice =
        find_choice((struct watcher *)consumer->object, visit->module);
    PyObject *frame, *former;
    bool is_good;

    if (choice == NULL || !choice->has_any[visit->index]) {
        return choice != NULL;
    }
    frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    former = session_set_caller(frame);
    is_good = record_values(visit, consumer->function,
                            choice->is_wanted + choice->firsts[visit->index]);
    session_set_caller(former);
    Py_XDECREF(frame);
    return is_good;
}

int watcher_add_kind(struct session *session)
{
    static const struct consumer_kind kind = {watcher_choose_sites, watcher_visit};

    return consumers_add_kind(&session->consumers, (PyObject *)session->watcher_type,
                              &kind);
}

static void watcher_dealloc(PyObject *self)
{
    struct watcher *watcher = (struct watcher *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    for (size_t i = 0; i < watcher->choice_room; i++) {
        watcher_choice_free(watcher->choices[i]);
    }
    memory_free(watcher->choices);
    arena_release(&watcher->arena);
    release(self);
    Py_DECREF(type);
}

PyObject *watcher_make_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, watcher_dealloc},
        {Py_tp_doc, "Selects values that instrumented code makes."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Watcher",
        .basicsize = sizeof(struct watcher),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return PyType_FromModuleAndSpec(module, &spec, NULL);
}

static bool read_text(struct watcher *watcher, PyObject *bytes, struct slice *text)
{
    char *start;
    Py_ssize_t size;

    if (PyBytes_AsStringAndSize(bytes, &start, &size) < 0) {
        return false;
    }
    *text = arena_copy(&watcher->arena, (struct slice){start, (size_t)size});
    return true;
}

static bool read_names(struct watcher *watcher, PyObject *names)
{
    Py_ssize_t count = PyTuple_Size(names);
    struct slice *globs =
        arena_allocate(&watcher->arena, (size_t)count, sizeof(*globs));

    for (Py_ssize_t i = 0; globs != NULL && i < count; i++) {
        if (!read_text(watcher, PyTuple_GetItem(names, i), &globs[i])) {
            return false;
        }
    }
    watcher->wish.names = globs;
    watcher->wish.name_count = (size_t)count;
    return true;
}

/* A tuple of (file, first, last). */
static bool read_lines(struct watcher *watcher, PyObject *items)
{
    Py_ssize_t count = PyTuple_Size(items);
    struct watcher_lines *lines =
        arena_allocate(&watcher->arena, (size_t)count, sizeof(*lines));

    for (Py_ssize_t i = 0; lines != NULL && i < count; i++) {
        PyObject *file;
        unsigned int first, last;

        if (!PyArg_ParseTuple(PyTuple_GetItem(items, i), "SII", &file, &first, &last) ||
            !read_text(watcher, file, &lines[i].file)) {
            return false;
        }
        lines[i].range = (struct line_range){first, last};
    }
    watcher->wish.lines = lines;
    watcher->wish.line_count = (size_t)count;
    return true;
}

PyObject *watcher_make(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"names", "lines", NULL};
    struct session *session = PyModule_GetState(module);
    PyTypeObject *type = session->watcher_type;
    PyObject *names, *lines;
    struct watcher *watcher;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!:make_watcher", words,
                                     &PyTuple_Type, &names, &PyTuple_Type, &lines)) {
        return NULL;
    }
    watcher = (struct watcher *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (watcher == NULL) {
        return NULL;
    }
    arena_init(&watcher->arena);
    if (read_names(watcher, names) && read_lines(watcher, lines) &&
        watcher->arena.has_failed) {
        PyErr_NoMemory();
    }
    if (PyErr_Occurred()) {
        Py_DECREF(watcher);
        return NULL;
    }
    return (PyObject *)watcher;
}
