/* Watchers, the visits that they get, and the modules whose methods run. */
#include "runtime/python/watch/watch.h"

#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/slice.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tracer/tracing.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"
#include "runtime/site/site.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From running frames to the modules whose methods they run. */

#define CODE_LIMIT 10000 /* codes that are remembered; then all are forgotten */

/* (code, name of the first parameter or None, its slot); a new reference, or NULL with an
 * exception. */
static PyObject *describe_code(PyObject *code)
{
    PyObject *names = PyObject_GetAttrString(code, "co_varnames");
    PyObject *number = PyObject_GetAttrString(code, "co_argcount");
    PyObject *result = NULL;

    if (names != NULL && number != NULL) {
        bool has_any = PyLong_AsLong(number) > 0 && PyTuple_Size(names) > 0;
        PyObject *name = has_any ? PyTuple_GetItem(names, 0) : Py_None;
        int slot = has_any ? frame_find_slot(code, name) : FRAME_NO_SLOT;

        result = Py_BuildValue("(OOi)", code, name, slot);
    }
    Py_XDECREF(names);
    Py_XDECREF(number);
    return result;
}

/* The same, found once; a borrowed reference. */
static PyObject *find_description(struct session *session, PyObject *code)
{
    PyObject *key = PyLong_FromVoidPtr(code);
    PyObject *found =
        key == NULL ? NULL : PyDict_GetItem(session->first_parameters, key);

    if (key != NULL && found == NULL) {
        found = describe_code(code);
        if (PyDict_Size(session->first_parameters) >= CODE_LIMIT) {
            PyDict_Clear(session->first_parameters);
        }
        if (found != NULL &&
            PyDict_SetItem(session->first_parameters, key, found) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(found); /* the dictionary has it */
    }
    Py_XDECREF(key);
    return found;
}

/* The frame's first argument where it is a module: a new reference. NULL where it is none, or with
 * an exception. */
static PyObject *find_first_module(struct session *session, PyObject *frame)
{
    PyObject *description = find_description(session, frame_code(frame));
    PyObject *value = NULL;
    long slot;

    if (description == NULL) {
        return NULL;
    }
    slot = PyLong_AsLong(PyTuple_GetItem(description, 2));
    if (slot >= 0) {
        value = frame_find(frame, true, PyTuple_GetItem(description, 1), (int)slot);
    }
    if (value != NULL && !type_cache_get(&session->types, Py_TYPE(value))->is_module) {
        Py_CLEAR(value);
    }
    return value;
}

/* The frame that called this one, whose reference is stolen; NULL: none. */
static PyObject *leave(struct session *session, PyObject *frame)
{
    PyObject *back = PyObject_GetAttr(frame, session->name_f_back);

    Py_DECREF(frame);
    if (back == Py_None) {
        Py_CLEAR(back);
    }
    return back;
}

/* The module that is the first argument of the innermost function of this thread that has one
 * there; None where no function has. A new reference, or NULL with an exception. `is_caller`:
 * the innermost function of all has none, but one that called it. */
static PyObject *watcher_find_module(struct session *session, bool *is_caller)
{
    unsigned depth = 0;
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *found = NULL;

    while (frame != NULL && found == NULL && !PyErr_Occurred()) {
        found = find_first_module(session, frame);
        frame = leave(session, frame);
        depth++;
    }
    Py_XDECREF(frame);
    if (PyErr_Occurred()) {
        Py_CLEAR(found);
        return NULL;
    }
    *is_caller = found != NULL && depth > 1;
    return found == NULL ? Py_NewRef(Py_None) : found;
}

/* Whether the frame runs a constructor; -1 with an exception. */
static int is_constructor(PyObject *frame)
{
    PyObject *name = PyObject_GetAttrString(frame_code(frame), "co_name");
    int is_it =
        name == NULL ? -1 : PyUnicode_CompareWithASCIIString(name, "__init__") == 0;

    Py_XDECREF(name);
    return is_it;
}

/* Adds (module, whether the frame is its constructor), unless it is what was added last: torch
 * calls a module's method in other methods of the same module. */
static void list_add(PyObject *list, PyObject *module, PyObject *frame)
{
    Py_ssize_t count = PyList_Size(list);
    PyObject *last = count == 0 ? NULL : PyList_GetItem(list, count - 1);
    int is_made_here = is_constructor(frame);
    PyObject *pair;

    if (is_made_here < 0) {
        return;
    }
    if (last != NULL && PyTuple_GetItem(last, 0) == module &&
        (!is_made_here || PyTuple_GetItem(last, 1) == Py_True)) {
        return;
    }
    pair = PyTuple_Pack(2, module, is_made_here ? Py_True : Py_False);
    if (pair != NULL) {
        PyList_Append(list, pair);
        Py_DECREF(pair);
    }
}

PyObject *watcher_running_modules(PyObject *module, PyObject *unused)
{
    struct session *session = PyModule_GetState(module);
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *list = PyList_New(0);

    (void)unused;
    while (list != NULL && frame != NULL && !PyErr_Occurred()) {
        PyObject *found = find_first_module(session, frame);

        if (found != NULL && !PyErr_Occurred()) {
            list_add(list, found, frame);
        }
        Py_XDECREF(found);
        frame = leave(session, frame);
    }
    Py_XDECREF(frame);
    if (PyErr_Occurred()) {
        Py_CLEAR(list);
    }
    return list;
}

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

static atomic_ullong last_module_number;
void watched_module_release(struct watched_module *module)
{
    if (module->number != 0) {
        arena_release(&module->arena);
        module->number = 0;
    }
}

static bool module_read(struct watched_module *module)
{
    struct error error = ERROR_INIT;

    if (module->number != 0) {
        return true;
    }
    arena_init(&module->arena);
    if (!site_table_read(&module->table, module->text, &module->arena, &error)) {
        arena_release(&module->arena);
        PyErr_SetString(error.kind == ERROR_MEMORY ? PyExc_MemoryError
                                                   : PyExc_RuntimeError,
                        error.text);
        return false;
    }
    module->number = atomic_fetch_add(&last_module_number, 1) + 1;
    return true;
}

/* NULL with an exception set: no memory. */
static const struct watcher_choice *find_choice(struct watcher *watcher,
                                                const struct watched_module *module)
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
            watcher_choose(&watcher->wish, &module->table, module->file);
        if (watcher->choices[place] == NULL) {
            PyErr_NoMemory();
        }
    }
    return watcher->choices[place];
}

/* What the site's write stands for, of the values that are left; NULL: it has none. */
static PyObject *find_value(struct session *session,
                            const struct site_write *write,
                            PyObject *const *values,
                            Py_ssize_t count,
                            Py_ssize_t *next)
{
    PyObject *value;

    if (write->source == SITE_SOURCE_NONE || *next >= count) {
        return NULL;
    }
    value = values[(*next)++];
    if (value != NULL && write->source == SITE_SOURCE_PEEK) {
        return walk_dotted(&session->types, value, write->name);
    }
    return Py_XNewRef(value);
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

/* visit(name, value, may_be_unchanged, module), in the module's method or below it. */
static bool record_value(struct session *session,
                         PyObject *visit,
                         const struct site *site,
                         const struct site_write *write,
                         PyObject *value)
{
    PyObject *module, *name, *result, *frame, *former;
    bool is_called = false;

    if (!may_hold_tensors(session, value)) {
        return true;
    }
    frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    former = session_set_caller(frame);
    module = watcher_find_module(session, &is_called);
    name = PyUnicode_DecodeUTF8(write->name.bytes, (Py_ssize_t)write->name.size,
                                "replace");
    result =
        module == NULL || name == NULL
            ? NULL
            : PyObject_CallFunctionObjArgs(
                  visit, name, value,
                  may_be_unchanged(site, is_called) ? Py_True : Py_False, module, NULL);
    session_set_caller(former);
    Py_XDECREF(frame);
    Py_XDECREF(module);
    Py_XDECREF(name);
    Py_XDECREF(result);
    return result != NULL;
}

static bool record_values(struct session *session,
                          PyObject *visit,
                          const struct site *site,
                          const bool *is_wanted,
                          PyObject *const *values,
                          Py_ssize_t count)
{
    Py_ssize_t next = 0;
    bool is_good = true;

    for (uint32_t i = 0; i < site->write_count && is_good; i++) {
        PyObject *value = find_value(session, &site->writes[i], values, count, &next);

        if (value != NULL && is_wanted[i]) {
            is_good = record_value(session, visit, site, &site->writes[i], value);
        }
        Py_XDECREF(value);
    }
    return is_good;
}

static bool visit_one(struct session *session,
                      PyObject *pair,
                      struct traced_call *call,
                      const struct watched_module *module,
                      uint32_t index,
                      PyObject *const *values,
                      Py_ssize_t count)
{
    PyObject *watcher = PyTuple_GetItem(pair, 0);
    const struct watcher_choice *choice;

    if (Py_TYPE(watcher) == session->tracing_type) {
        return tracing_visit((struct tracing *)watcher, call, module, index, values,
                             count);
    }
    choice = find_choice((struct watcher *)watcher, module);
    if (choice == NULL) {
        return false;
    }
    return !choice->has_any[index] ||
           record_values(session, PyTuple_GetItem(pair, 1), &module->table.sites[index],
                         choice->is_wanted + choice->firsts[index], values, count);
}

/* Not inlined: as a rule there is one, which traces. */
static __attribute__((noinline)) bool visit_all(struct session *session,
                                                struct traced_call *call,
                                                const struct watched_module *module,
                                                uint32_t site,
                                                PyObject *const *values,
                                                Py_ssize_t count)
{
    PyObject *watchers = Py_NewRef(session->watchers); /* others may begin or end */
    bool is_good = true;

    for (Py_ssize_t i = 0; i < PyTuple_Size(watchers) && is_good; i++) {
        is_good = visit_one(session, PyTuple_GetItem(watchers, i), call, module, site,
                            values, count);
    }
    Py_DECREF(watchers);
    return is_good;
}

HOT bool watchers_visit(struct session *session,
                        struct watched_module *module,
                        unsigned long site,
                        PyObject *const *values,
                        Py_ssize_t count)
{
    struct tracing_thread *thread = tracing_this_thread();
    struct tracing *tracing = session->only_tracing;
    bool is_good;

    if (thread->is_at_work) {
        return true;
    }
    if (module->number == 0 && !module_read(module)) {
        return false;
    }
    if (site >= module->table.site_count) {
        return true;
    }
    /* What a watcher does may visit sites itself: it is not told of these. */
    thread->is_at_work = true;
    if (tracing == NULL) {
        is_good =
            visit_all(session, thread->top, module, (uint32_t)site, values, count);
    } else {
        Py_INCREF((PyObject *)tracing);
        is_good =
            tracing_visit(tracing, thread->top, module, (uint32_t)site, values, count);
        Py_DECREF((PyObject *)tracing);
    }
    thread->is_at_work = false;
    return is_good;
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

static bool is_pair(struct session *session, PyObject *pair)
{
    PyTypeObject *type = PyTuple_CheckExact(pair) && PyTuple_Size(pair) == 2
                             ? Py_TYPE(PyTuple_GetItem(pair, 0))
                             : NULL;

    return type != NULL &&
           (type == session->watcher_type || type == session->tracing_type);
}

static struct tracing *find_only_tracing(const struct session *session,
                                         PyObject *watchers)
{
    PyObject *watcher = PyTuple_Size(watchers) == 1
                            ? PyTuple_GetItem(PyTuple_GetItem(watchers, 0), 0)
                            : NULL;

    return watcher != NULL && Py_TYPE(watcher) == session->tracing_type
               ? (struct tracing *)watcher
               : NULL;
}

PyObject *watchers_set(PyObject *module, PyObject *watchers)
{
    struct session *session = PyModule_GetState(module);
    PyObject *old = session->watchers;
    bool is_good = PyTuple_CheckExact(watchers);

    for (Py_ssize_t i = 0; is_good && i < PyTuple_Size(watchers); i++) {
        is_good = is_pair(session, PyTuple_GetItem(watchers, i));
    }
    if (!is_good) {
        PyErr_SetString(PyExc_TypeError,
                        "set_watchers() expects a tuple of (watcher, function) pairs");
        return NULL;
    }
    session->watchers = PyTuple_Size(watchers) > 0 ? Py_NewRef(watchers) : NULL;
    session->only_tracing = find_only_tracing(session, watchers);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}
