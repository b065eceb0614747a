/* The type Watcher: its choice of sites, and its visits. */
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

/* The selection of a watcher. An empty list selects everything. */
struct watcher_wish {
    const struct slice *names; /* globs */
    size_t name_count;
    const struct watcher_lines *lines;
    size_t line_count;
};

/* The function that measures a name's values in methods of one module. The function that Python
 * returned for the first value is stored here, so that Python is called only once for it. */
struct watcher_sink {
    struct watcher_sink *next; /* owned; may be NULL */
    PyObject *module;          /* owned */
    PyObject *
        function; /* owned: called with (value, may_be_unchanged); or False: no function */
};

/* The selected sites and writes of one module. */
struct watcher_choice {
    uint32_t site_count;
    uint32_t *
        firsts; /* for each site the index of its first write in `is_wanted`; one more for the end */
    bool *is_wanted; /* for each write of each site */
    bool *has_any;   /* for each site: whether any of its writes is wanted */
    struct watcher_sink *
        *sinks; /* owned, with their items: a list for each write; may be NULL */
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

static void clear_sinks(struct watcher_choice *choice)
{
    uint32_t count = choice->sinks == NULL ? 0 : choice->firsts[choice->site_count];

    for (uint32_t i = 0; i < count; i++) {
        while (choice->sinks[i] != NULL) {
            struct watcher_sink *sink = choice->sinks[i];

            choice->sinks[i] = sink->next;
            Py_DECREF(sink->module);
            Py_DECREF(sink->function);
            memory_free(sink);
        }
    }
}

/* Frees the choice, which may be NULL. */
static void watcher_choice_free(struct watcher_choice *choice)
{
    if (choice != NULL) {
        clear_sinks(choice);
        memory_free(choice->sinks);
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
        memory_allocate_zeroed((size_t)table->site_count + 1, sizeof(*choice->firsts));
    choice->is_wanted = memory_allocate_zeroed(count, sizeof(*choice->is_wanted));
    choice->sinks = memory_allocate_zeroed(count, sizeof(struct watcher_sink *));
    choice->has_any =
        memory_allocate_zeroed(table->site_count, sizeof(*choice->has_any));
    if (choice->firsts == NULL || choice->is_wanted == NULL ||
        choice->has_any == NULL || choice->sinks == NULL) {
        if (choice->firsts == NULL) {
            memory_free(choice->sinks);
            choice->sinks = NULL;
        }
        watcher_choice_free(choice);
        return NULL;
    }
    return choice;
}

/* Finds the selected sites of a module. `file` is the file that runs; the file from which it was
 * compiled has the same lines and may be named instead. NULL: out of memory. */
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

/* Whether the tensor has values of the wanted kinds. Returns True or False, or NotImplemented if
 * the values cannot be read here. */
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

/* The object Watcher. It keeps its choices, so they are found only once if it is started again. */
struct watcher {
    PyObject_HEAD struct arena arena; /* memory of the wish */
    struct watcher_wish wish;
    struct watcher_choice **choices; /* owned; by the module's number minus one */
    size_t choice_room;
};

/* The choice for the module. NULL with an exception set if memory ran out. */
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

/* Whether the value is a tensor or a container. Watchers do not get numbers and texts. */
static bool may_hold_tensors(struct session *session, PyObject *value)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(value));

    return info->kind == TYPE_TENSOR || type_is_container(info);
}

/* Whether the value may be the same as before. An argument of a call such as `x.add_(y)` may be
 * unchanged. A parameter of a function that a module's method calls may be the method's value of
 * the same name. */
static bool may_be_unchanged_at(const struct site *site, bool is_called)
{
    return site->kind == SITE_MUTATE || (site->kind == SITE_ENTER && is_called);
}

/* Adds a sink to the list. Returns false with an exception set if memory ran out. */
static bool add_sink(struct watcher_sink **place, PyObject *module, PyObject *function)
{
    struct watcher_sink *sink = memory_allocate(1, sizeof(*sink));

    if (sink == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *sink = (struct watcher_sink){*place, Py_NewRef(module), Py_NewRef(function)};
    *place = sink;
    return true;
}

/* Calls function(name, value, may_be_unchanged, module). If it returns a function, that one is
 * called with (value, may_be_unchanged) from then on, for this site's name in this module. If it
 * returns False, nothing is called for them any more. Returns false with an exception set. */
static bool ask(PyObject *function,
                const struct site_write *write,
                PyObject *value,
                PyObject *may_be_unchanged,
                PyObject *module,
                struct watcher_sink **place)
{
    PyObject *name = PyUnicode_DecodeUTF8(write->name.bytes,
                                          (Py_ssize_t)write->name.size, "replace");
    PyObject *result =
        name == NULL ? NULL
                     : PyObject_CallFunctionObjArgs(function, name, value,
                                                    may_be_unchanged, module, NULL);
    bool is_good =
        result != NULL && (result == Py_None || add_sink(place, module, result));

    Py_XDECREF(name);
    Py_XDECREF(result);
    return is_good;
}

/* Passes a value of a write to its sink. The module is that of visit_module. `place` is the list
 * of the write's sinks. Returns false with an exception set. */
static bool record_value(struct site_visit *visit,
                         PyObject *function,
                         const struct site_write *write,
                         PyObject *value,
                         struct watcher_sink **place)
{
    PyObject *module, *may_be_unchanged, *result;
    bool is_called;

    if (!may_hold_tensors(visit->session, value)) {
        return true;
    }
    module = visit_module(visit, &is_called);
    if (module == NULL) {
        return false;
    }
    may_be_unchanged = may_be_unchanged_at(visit->site, is_called) ? Py_True : Py_False;
    for (const struct watcher_sink *sink = *place; sink != NULL; sink = sink->next) {
        if (sink->module == module && sink->function == Py_False) {
            return true;
        }
        if (sink->module == module) {
            result = PyObject_CallFunctionObjArgs(sink->function, value,
                                                  may_be_unchanged, NULL);
            Py_XDECREF(result);
            return result != NULL;
        }
    }
    return ask(function, write, value, may_be_unchanged, module, place);
}

static bool record_values(struct site_visit *visit,
                          PyObject *function,
                          const struct watcher_choice *choice)
{
    const struct site *site = visit->site;
    uint32_t first = choice->firsts[visit->index];
    Py_ssize_t next = 0;

    for (uint32_t i = 0; i < site->write_count && next < visit->count; i++) {
        bool is_peeked = site->writes[i].source == SITE_SOURCE_PEEK;
        PyObject *value;
        bool is_good = true;

        if (site->writes[i].source == SITE_SOURCE_NONE) {
            continue;
        }
        value = visit->values[next++];
        if (!choice->is_wanted[first + i] || value == NULL) {
            continue;
        }
        value = is_peeked ? visit_peek(visit, i, value) : Py_NewRef(value);
        if (value != NULL) {
            is_good = record_value(visit, function, &site->writes[i], value,
                                   &choice->sinks[first + i]);
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
    is_good = record_values(visit, consumer->function, choice);
    session_set_caller(former);
    Py_XDECREF(frame);
    return is_good;
}

static int watcher_traverse(PyObject *self, visitproc visit, void *arg)
{
    const struct watcher *watcher = (const struct watcher *)self;

    Py_VISIT(Py_TYPE(self));
    for (size_t i = 0; i < watcher->choice_room; i++) {
        const struct watcher_choice *choice = watcher->choices[i];
        uint32_t count = choice == NULL ? 0 : choice->firsts[choice->site_count];

        for (uint32_t j = 0; j < count; j++) {
            for (const struct watcher_sink *sink = choice->sinks[j]; sink != NULL;
                 sink = sink->next) {
                Py_VISIT(sink->module);
                Py_VISIT(sink->function);
            }
        }
    }
    return 0;
}

static int watcher_clear(PyObject *self)
{
    struct watcher *watcher = (struct watcher *)self;

    for (size_t i = 0; i < watcher->choice_room; i++) {
        if (watcher->choices[i] != NULL) {
            clear_sinks(watcher->choices[i]);
        }
    }
    return 0;
}

static void watcher_dealloc(PyObject *self)
{
    struct watcher *watcher = (struct watcher *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(self);
    for (size_t i = 0; i < watcher->choice_room; i++) {
        watcher_choice_free(watcher->choices[i]);
    }
    memory_free(watcher->choices);
    arena_release(&watcher->arena);
    release(self);
    Py_DECREF(type);
}

/* The type is stored as a part of the session. */
static int part_traverse(void *part, visitproc visit, void *arg)
{
    Py_VISIT(*(PyObject **)part);
    return 0;
}

static void part_clear(void *part)
{
    Py_CLEAR(*(PyObject **)part);
}

static const struct part_kind watcher_part = {sizeof(PyObject *), part_traverse,
                                              part_clear, NULL};

int watcher_exec(PyObject *module)
{
    static const struct consumer_kind kind = {watcher_choose_sites, watcher_visit};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, watcher_dealloc},
        {Py_tp_traverse, watcher_traverse},
        {Py_tp_clear, watcher_clear},
        {Py_tp_doc, "Selects values that instrumented code makes."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "monitorch._recorder.Watcher",
        .basicsize = sizeof(struct watcher),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    struct session *session = PyModule_GetState(module);
    PyObject *type;

    if (parts_add(&session->parts, &watcher_part) < 0) {
        return -1;
    }
    type = PyType_FromModuleAndSpec(module, &spec, NULL);
    *(PyObject **)parts_get(&session->parts, &watcher_part) = type;
    return consumers_add_kind(&session->consumers, type, &kind);
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

/* Reads a tuple of (file, first, last). Returns false with an exception set. */
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
    PyTypeObject *type = *(PyTypeObject **)parts_get(&session->parts, &watcher_part);
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
