/* Calls of running frames: finds the call that a frame belongs to, its caller and its thread, or
 * starts a new one. */
#include "runtime/python/visit/frames.h"

#include "runtime/base/buffer.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/visit.h"
#include "runtime/record/left_out.h"

#include <assert.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the paths of torch.nn.Modules, kept with weak references ---- */

/* Modules nest a few levels; the limit ends the search in a module that contains itself. */
#define DEPTH_MAX 64
/* So many entries of deleted modules may stay in the table. */
#define PATH_SLACK 4096

/* session->module_paths: address -> (weak reference, path as bytes, weak reference to the root,
 * address of a root whose modules do not include it, or None). The weak reference is dead if
 * another object has the address now. */
enum { ENTRY_SELF, ENTRY_PATH, ENTRY_ROOT, ENTRY_TRIED };

/* The entry of the object at that address; borrowed, or NULL. */
static PyObject *find_entry(struct session *session, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *entry = key == NULL ? NULL : PyDict_GetItem(session->module_paths, key);

    Py_XDECREF(key);
    if (entry == NULL || PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_SELF)) !=
                             (PyObject *)address) {
        return NULL;
    }
    return entry;
}

/* The root that the entry's path starts at; borrowed, or NULL if it was deleted. */
static PyObject *root_of(PyObject *entry)
{
    PyObject *root = PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_ROOT));

    return root == Py_None ? NULL : root;
}

/* Removes the entries of deleted modules. Called when the table is twice as large as after the
 * last time. */
static void sweep(struct session *session)
{
    Py_ssize_t position = 0;
    PyObject *key, *entry;
    PyObject *gone = PyList_New(0);

    while (gone != NULL &&
           PyDict_Next(session->module_paths, &position, &key, &entry)) {
        if (PyWeakref_GetObject(PyTuple_GetItem(entry, ENTRY_SELF)) == Py_None &&
            PyList_Append(gone, key) < 0) {
            Py_CLEAR(gone);
        }
    }
    for (Py_ssize_t i = 0; gone != NULL && i < PyList_Size(gone); i++) {
        PyDict_DelItem(session->module_paths, PyList_GetItem(gone, i));
    }
    Py_XDECREF(gone);
    PyErr_Clear();
    session->path_limit = 2 * PyDict_Size(session->module_paths) + PATH_SLACK;
}

/* Stores the path of a module. `tried` may be NULL. */
static int remember(struct session *session,
                    PyObject *object,
                    struct slice path,
                    PyObject *root,
                    PyObject *tried)
{
    PyObject *key = PyLong_FromVoidPtr(object);
    PyObject *self_reference = PyWeakref_NewRef(object, NULL);
    PyObject *root_reference = PyWeakref_NewRef(root, NULL);
    PyObject *text = PyBytes_FromStringAndSize(path.bytes, (Py_ssize_t)path.size);
    PyObject *tried_key =
        tried == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(tried);
    PyObject *entry = NULL;
    int status = -1;

    if (PyDict_Size(session->module_paths) > session->path_limit) {
        sweep(session);
    }
    if (key != NULL && self_reference != NULL && root_reference != NULL &&
        text != NULL && tried_key != NULL) {
        entry = PyTuple_Pack(4, self_reference, text, root_reference, tried_key);
    }
    if (entry != NULL) {
        status = PyDict_SetItem(session->module_paths, key, entry);
    }
    Py_XDECREF(key);
    Py_XDECREF(self_reference);
    Py_XDECREF(root_reference);
    Py_XDECREF(text);
    Py_XDECREF(tried_key);
    Py_XDECREF(entry);
    return status;
}

/* The module's `_modules`; a new reference, or NULL. */
static PyObject *children_of(PyObject *module)
{
    PyObject *dict = PyObject_GenericGetDict(module, NULL);
    PyObject *children = NULL;

    if (dict != NULL && PyDict_Check(dict)) {
        children = PyDict_GetItemString(dict, "_modules");
        children =
            children != NULL && PyDict_Check(children) ? Py_NewRef(children) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return children;
}

/* Whether the search reaches the module for the first time; -1 on failure. */
static int is_first_visit(PyObject *seen, PyObject *module)
{
    PyObject *key = PyLong_FromVoidPtr(module);
    int is_known = key == NULL ? -1 : PySet_Contains(seen, key);

    if (is_known == 0 && PySet_Add(seen, key) < 0) {
        is_known = -1;
    }
    Py_XDECREF(key);
    return is_known < 0 ? -1 : !is_known;
}

/* Stores the paths of the module and of all modules below it. `path` is the module's own path;
 * it is unchanged on return. A shared module keeps the first name under which it was found. */
static int add_below(struct session *session,
                     PyObject *module,
                     struct buffer *path,
                     PyObject *root,
                     PyObject *seen,
                     int depth)
{
    PyObject *children = depth < DEPTH_MAX ? children_of(module) : NULL;
    PyObject *name, *child;
    Py_ssize_t position = 0;
    size_t size = path->size;
    int status = is_first_visit(seen, module);

    if (status == 1) {
        status = remember(session, module, buffer_slice(path), root, NULL);
    } else {
        Py_CLEAR(children);
    }
    while (status == 0 && children != NULL &&
           PyDict_Next(children, &position, &name, &child)) {
        Py_ssize_t name_size;
        const char *text = PyUnicode_CheckExact(name)
                               ? PyUnicode_AsUTF8AndSize(name, &name_size)
                               : NULL;
        if (text == NULL ||
            !type_cache_get(&session->types, Py_TYPE(child))->is_module) {
            PyErr_Clear();
            continue;
        }
        if (path->size > 0) {
            buffer_add_byte(path, '.');
        }
        buffer_add_bytes(path, text, (size_t)name_size);
        Py_INCREF(child);
        status = add_below(session, child, path, root, seen, depth + 1);
        Py_DECREF(child);
        path->size = size;
    }
    Py_XDECREF(children);
    return status;
}

/* Makes `root` a root, and stores the paths of all modules below it. */
static int add_root(struct session *session, PyObject *root)
{
    struct buffer path = BUFFER_INIT;
    PyObject *seen = PySet_New(NULL);
    int status = -1;

    if (seen != NULL) {
        status = add_below(session, root, &path, root, seen, 0);
    }
    buffer_release(&path);
    Py_XDECREF(seen);
    return status;
}

/* Searches `self` below the root of the module that called it, once for each root. */
static int
find_below_caller(struct session *session, PyObject *self, PyObject *caller_root)
{
    PyObject *entry = find_entry(session, self);
    PyObject *tried = entry == NULL ? NULL : PyTuple_GetItem(entry, ENTRY_TRIED);

    if (entry != NULL && root_of(entry) != self) {
        return 0; /* it has a path already */
    }
    if (tried != NULL && tried != Py_None && PyLong_AsVoidPtr(tried) == caller_root) {
        return 0;
    }
    if (add_root(session, caller_root) < 0) {
        return -1;
    }
    entry = find_entry(session, self);
    if (entry != NULL && root_of(entry) != self) {
        return 0;
    }
    return remember(session, self, SLICE(""), self, caller_root);
}

/* Stores a path for the module `self` if it has none. */
static int make_known(struct session *session, PyObject *self, const void *caller)
{
    PyObject *caller_entry = caller == NULL ? NULL : find_entry(session, caller);
    PyObject *caller_root = caller_entry == NULL ? NULL : root_of(caller_entry);
    int status;

    if (caller_root != NULL && caller_root != self) {
        Py_INCREF(caller_root);
        status = find_below_caller(session, self, caller_root);
        Py_DECREF(caller_root);
        return status;
    }
    return find_entry(session, self) != NULL ? 0 : add_root(session, self);
}

/* Adds the path and the class name of `self`. Returns false, and adds nothing, if `self` is no
 * torch.nn.Module; it may be any object. `caller` is the address of the module that called it,
 * or NULL. A module below the caller's root has its path from that root, even if it was added
 * there later. Any other module becomes a root, with an empty path, but not while its
 * constructor runs. */
static bool path_find(struct session *session,
                      PyObject *self,
                      const void *caller,
                      bool is_being_made,
                      struct buffer *path,
                      struct buffer *class_name)
{
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(self));
    PyObject *entry;

    if (!info->is_module) {
        return false;
    }
    buffer_add(class_name, type_info_name(info));
    if (!is_being_made && make_known(session, self, caller) < 0) {
        PyErr_Clear();
    }
    entry = find_entry(session, self);
    if (entry != NULL) {
        PyObject *known = PyTuple_GetItem(entry, ENTRY_PATH);
        buffer_add_bytes(path, PyBytes_AsString(known), (size_t)PyBytes_Size(known));
    }
    return true;
}

PyObject *path_find_alive(struct session *session, const void *address)
{
    return find_entry(session, address) != NULL ? Py_NewRef((PyObject *)address) : NULL;
}

/* co_flags of generators, coroutines, iterable coroutines and asynchronous generators. */
#define CODE_FLAGS_SUSPENDED (0x20 | 0x80 | 0x100 | 0x200)

/* The running thread in the active recording. */
static __thread struct {
    uint64_t session;
    unsigned fork_count;
    struct call_thread *thread; /* borrowed */
} current_thread;

/* The text of `object.__dict__[name]`, where both are plain; a new reference or NULL. */
static PyObject *peek_text(PyObject *object, const char *name)
{
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    PyObject *text = NULL;

    if (dict != NULL && PyDict_Check(dict)) {
        text = PyDict_GetItemString(dict, name);
        text = text != NULL && PyUnicode_CheckExact(text) ? Py_NewRef(text) : NULL;
    }
    Py_XDECREF(dict);
    PyErr_Clear();
    return text;
}

PyObject *frame_thread_name(struct session *session)
{
    PyObject *threading = PyDict_GetItemString(session->types.modules, "threading");
    PyObject *dict = threading != NULL && PyModule_Check(threading)
                         ? PyModule_GetDict(threading)
                         : NULL;
    PyObject *active = dict == NULL ? NULL : PyDict_GetItemString(dict, "_active");
    PyObject *ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *name = NULL;

    if (active != NULL && PyDict_CheckExact(active) && ident != NULL) {
        PyObject *thread = PyDict_GetItem(active, ident);
        if (thread != NULL) {
            Py_INCREF(thread);
            name = peek_text(thread, "_name");
            Py_DECREF(thread);
        }
    }
    Py_XDECREF(ident);
    PyErr_Clear();
    return name;
}

struct call_thread *frame_thread(struct session *session)
{
    if (current_thread.session == session->number &&
        current_thread.fork_count == session->fork_count) {
        return current_thread.thread;
    }
    PyObject *name = frame_thread_name(session);
    Py_ssize_t size = 0;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    struct call_thread *thread = recorder_thread(
        session->recorder, session_thread_key(), (uint64_t)syscall(SYS_gettid),
        (struct slice){text, text == NULL ? 0 : (size_t)size});

    PyErr_Clear();
    Py_XDECREF(name);
    current_thread.session = session->number;
    current_thread.fork_count = session->fork_count;
    current_thread.thread = thread;
    return thread;
}

/* The frame's code. Only the address may be used: the reference is released, and the frame keeps
 * the code alive. */
static const void *code_of(PyObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);

    Py_DECREF(code);
    return code;
}

static bool is_suspended_code(struct session *session, const void *code)
{
    PyObject *flags = PyObject_GetAttr((PyObject *)code, session->name_co_flags);
    long bits = flags == NULL ? 0 : PyLong_AsLong(flags);

    Py_XDECREF(flags);
    PyErr_Clear();
    return (bits & CODE_FLAGS_SUSPENDED) != 0;
}

static uint32_t line_of(PyObject *frame)
{
    int number = PyFrame_GetLineNumber((PyFrameObject *)frame);

    return number > 0 ? (uint32_t)number : 0;
}

/* line_of for a frame that has made a call and will repeat it. The lines are cached because
 * Python finds a line by reading the code's line table from its start. A cache entry is never
 * replaced: releasing a code object could run other code. */
static uint32_t line_of_call(struct session *session, PyObject *frame)
{
    PyObject *code = frame_code(frame);
    long offset = frame_offset(frame);
    uintptr_t mixed = ((uintptr_t)code >> 4) ^ ((uintptr_t)offset >> 1);
    struct known_line *known = &session->known_lines[mixed % KNOWN_LINE_COUNT];

    if (known->code == code && known->offset == offset) {
        return known->line;
    }
    if (known->code == NULL) {
        *known = (struct known_line){Py_NewRef(code), offset, line_of(frame)};
        return known->line;
    }
    return line_of(frame);
}

void frame_forget_lines(struct session *session)
{
    for (size_t i = 0; i < KNOWN_LINE_COUNT; i++) {
        Py_CLEAR(session->known_lines[i].code);
    }
}

/* The call of the nearest calling frame that has one, or NULL. `line` is the current line of
 * that frame. `import_count` is the number of imports that run between the two frames, or on the
 * whole stack if there is no parent. */
static struct call *find_parent(struct session *session,
                                PyObject *frame,
                                uint32_t *line,
                                unsigned *import_count)
{
    struct call_table *calls = recorder_calls(session->recorder);
    bool may_import = imports_go_on(&session->imports);
    struct call *parent = NULL;

    *import_count = 0;
    if (call_table_is_empty(calls) && !may_import) {
        return NULL;
    }
    Py_INCREF(frame);
    while (parent == NULL) {
        PyObject *back = PyObject_GetAttr(frame, session->name_f_back);
        if (back == NULL || back == Py_None) {
            Py_XDECREF(back);
            break;
        }
        const void *code = code_of(back);
        parent = call_table_find(calls, back, code);
        if (may_import && parent == NULL) {
            *import_count += imports_has_code(&session->imports, code);
        }
        if (parent != NULL) {
            *line = line_of_call(session, parent->function->is_observed ? frame : back);
        }
        Py_DECREF(frame);
        frame = back;
    }
    Py_DECREF(frame);
    PyErr_Clear();
    return parent;
}

/* Whether the code is a continuation that Dynamo made: the part of a function after a graph
 * break runs as a function of its own, which the part before it calls. */
static bool is_resumed(struct session *session, const void *code)
{
    PyObject *name = PyObject_GetAttr((PyObject *)code, session->name_co_name);
    Py_ssize_t size = 0;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &size);
    bool is_so = text != NULL && slice_starts((struct slice){text, (size_t)size},
                                              SLICE("torch_dynamo_resume_in_"));

    Py_XDECREF(name);
    PyErr_Clear();
    return is_so;
}

static bool is_initializer(const struct recorded_module *module, uint32_t function)
{
    assert(function < module->table.function_count);
    return slice_ends(module->table.functions[function].name, SLICE(".__init__"));
}

/* Whether the call runs while a module is imported. Such calls are not recorded, unless they
 * were requested: by an option, by monitorch.on() in that frame, by a tracker of the call. */
static bool is_left_out(struct session *session,
                        const struct call_start *start,
                        unsigned import_count)
{
    if (recorder_options(session->recorder)->has_imports || session->is_own) {
        return false;
    }
    if (start->parent != NULL) {
        return start->parent->is_left_out || import_count > 0;
    }
    return imports_made(&session->imports, session_thread_key(), import_count);
}

static struct call *begin_call(struct session *session,
                               struct call_start *start,
                               PyObject *frame,
                               const struct frame_owner *owner,
                               bool is_wanted)
{
    struct call_table *calls = recorder_calls(session->recorder);
    struct call_function *function = &start->module->functions[start->function];
    struct buffer path = BUFFER_INIT;
    struct buffer class_name = BUFFER_INIT;
    unsigned import_count;
    struct call *call;

    if (!function->is_known) {
        function->is_generator = is_suspended_code(session, start->code);
        function->is_observed = owner->has_path;
        function->is_known = true;
    }
    start->parent = find_parent(session, frame, &start->line, &import_count);
    start->is_left_out = !is_wanted && is_left_out(session, start, import_count);
    call_table_run(calls, start->thread, (struct call *)start->parent);
    start->self = start->parent != NULL ? start->parent->self : NULL;
    if (owner->object != NULL &&
        path_find(session, owner->object, start->self,
                  is_initializer(start->module, start->function), &path, &class_name)) {
        start->self = owner->object;
    }
    start->path = owner->has_path ? owner->path : buffer_slice(&path);
    start->class_name = buffer_slice(&class_name);
    /* Repeated, because the search for a path may have run finalizers that visit sites. */
    call_table_run(calls, start->thread, (struct call *)start->parent);
    PyObject *token = track_call_begin(session, frame, start);
    start->is_left_out = start->is_left_out && token == NULL;
    call = recorder_begin_call(session->recorder, start);
    if (call != NULL) {
        call_table_run(calls, start->thread, call);
        if (call->function->holds_tensor) {
            left_out_note_call(session->recorder, call);
        }
    }
    if (call != NULL && token != NULL) {
        track_began(token, session, call);
    }
    Py_XDECREF(token);
    buffer_release(&path);
    buffer_release(&class_name);
    return call;
}

/* The call whose function Dynamo continues in this frame; NULL if there is none. */
static struct call *find_resumed(struct session *session,
                                 const struct call_function *function,
                                 PyObject *frame,
                                 const void *code)
{
    struct call *call = NULL;
    unsigned import_count;
    uint32_t line;

    if (is_resumed(session, code)) {
        call = find_parent(session, frame, &line, &import_count);
    }
    if (call == NULL || call->function != function) {
        return NULL;
    }
    call_table_move(recorder_calls(session->recorder), call, frame, code);
    return call;
}

/* Whether `call`, which was left out, may have ended, and another call of the function now has
 * its address. Without an enter site the two look the same. */
static bool is_stale(struct session *session, const struct call *call)
{
    return call->is_left_out && (call->flags & LOG_CALL_GENERATOR) == 0 &&
           !imports_go_on(&session->imports);
}

struct call *frame_find_call(struct session *session,
                             struct recorded_module *module,
                             uint32_t index,
                             const struct frame_owner *owner)
{
    assert(index < module->table.site_count);

    const struct site *site = &module->table.sites[index];
    struct call_function *function = &module->functions[site->function];

    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct call_thread *thread = frame_thread(session);

    if (frame == NULL || thread == NULL) {
        return NULL;
    }
    bool is_enter = site->kind == SITE_ENTER;
    if (!is_enter && thread->top != NULL && thread->top->frame == frame &&
        thread->top->function == function && !is_stale(session, thread->top)) {
        return thread->top;
    }
    const void *code = code_of(frame);
    struct call_table *calls = recorder_calls(session->recorder);
    struct call *call = call_table_find(calls, frame, code);
    if (call != NULL && call->function == function && !is_stale(session, call) &&
        (!is_enter || recorder_is_entered(module, call, index))) {
        call_table_run(calls, thread, call);
        return call;
    }
    call = is_enter ? NULL : find_resumed(session, function, frame, code);
    if (call != NULL) {
        call_table_run(calls, thread, call);
        return call;
    }
    /* A function that is observed may have no enter site: then its first event starts the call. */
    bool has_enter = !owner->has_path || function->enter != SITE_NONE;
    struct call_start start = {
        .thread = thread,
        .module = module,
        .function = site->function,
        .frame = frame,
        .code = code,
        .is_joined = !is_enter && site->function != 0 && has_enter,
    };
    return begin_call(session, &start, frame, owner, false);
}

void frame_skip_call(struct session *session)
{
    struct call_table *calls = recorder_calls(session->recorder);
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    struct call_thread *thread = frame_thread(session);
    struct call *call;
    unsigned import_count;
    uint32_t line;

    if (frame == NULL || thread == NULL) {
        return;
    }
    call_table_run(calls, thread, find_parent(session, frame, &line, &import_count));
    call = call_table_find(calls, frame, code_of(frame));
    if (call != NULL) {
        call_table_end(calls, call);
    }
}

/* The text of a code object's attribute. Returns a new reference from which `name` borrows, or
 * NULL. */
static PyObject *read_name(PyObject *code, const char *attribute, struct slice *name)
{
    PyObject *text = PyObject_GetAttrString(code, attribute);
    Py_ssize_t size = 0;
    const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &size);

    PyErr_Clear();
    *name = (struct slice){bytes, bytes == NULL ? 0 : (size_t)size};
    return text;
}

static bool is_named(struct slice function, struct slice name)
{
    return slice_ends(function, name) &&
           (function.size == name.size ||
            function.bytes[function.size - name.size - 1] == '.');
}

/* The function of the table that the code was compiled from, or the table's function count.
 * Several functions may have the same name: of these it is the first one at or after the code's
 * first line, which may be the line of a decorator. */
static uint32_t find_function(const struct site_table *table, PyObject *code)
{
    PyObject *number = PyObject_GetAttrString(code, "co_firstlineno");
    long line = number == NULL ? 0 : PyLong_AsLong(number);
    uint32_t found = table->function_count;
    struct slice name;
    PyObject *text = read_name(code, "co_name", &name);

    PyErr_Clear();
    if (slice_equal(name, SLICE("<module>"))) {
        found = 0;
    }
    for (uint32_t i = 1; i < table->function_count && found != 0 && name.size > 0;
         i++) {
        const struct site_function *function = &table->functions[i];
        if (is_named(function->name, name) && (long)function->line >= line &&
            (found == table->function_count ||
             function->line < table->functions[found].line)) {
            found = i;
        }
    }
    Py_XDECREF(text);
    Py_XDECREF(number);
    return found;
}

struct call *
frame_join(struct session *session, struct recorded_module *module, PyObject *frame)
{
    struct call *call = NULL;
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    uint32_t function = find_function(&module->table, code);
    struct call_thread *thread = frame_thread(session);

    if (thread != NULL && function < module->table.function_count &&
        call_table_find(recorder_calls(session->recorder), frame, code) == NULL) {
        struct call_start start = {
            .thread = thread,
            .module = module,
            .function = function,
            .frame = frame,
            .code = code,
            .is_joined = function != 0,
        };
        call = begin_call(session, &start, frame, &(struct frame_owner){0}, true);
        /* The call is written now: the calls that it makes refer to it before it has an event. */
        if (call != NULL && recorder_log(session->recorder) != NULL) {
            recorder_write_call(session->recorder, call);
        }
    }
    Py_DECREF(code);
    return call;
}

/* Whether the frame runs code of torch itself. */
static bool is_of_torch(struct session *session, PyObject *frame)
{
    PyObject *globals = PyObject_GetAttr(frame, session->name_f_globals);
    PyObject *name = globals != NULL && PyDict_Check(globals)
                         ? PyDict_GetItem(globals, session->name_name)
                         : NULL;
    Py_ssize_t size = 0;
    const char *text = name != NULL && PyUnicode_CheckExact(name)
                           ? PyUnicode_AsUTF8AndSize(name, &size)
                           : NULL;
    struct slice slice = {text, (size_t)size};
    bool is_so = text != NULL && (slice_equal(slice, SLICE("torch")) ||
                                  slice_starts(slice, SLICE("torch.")));

    Py_XDECREF(globals);
    PyErr_Clear();
    return is_so;
}

/* The file that the frame's code was compiled from. */
static void add_file(struct buffer *file, PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    struct slice name;
    PyObject *text = read_name(code, "co_filename", &name);

    buffer_add(file, name);
    Py_XDECREF(text);
    Py_DECREF(code);
}

PyObject *frame_find_program(struct session *session, struct call **known)
{
    struct call_table *calls = recorder_calls(session->recorder);
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *nearest = NULL;

    *known = NULL;
    while (frame != NULL && frame != Py_None && *known == NULL) {
        struct call *call = call_table_find(calls, frame, code_of(frame));
        PyObject *back;

        if (call != NULL && !call->is_left_out && !call->function->is_observed) {
            *known = call;
            Py_XDECREF(nearest);
            nearest = Py_NewRef(frame);
        } else if (nearest == NULL && !is_of_torch(session, frame)) {
            nearest = Py_NewRef(frame);
        }
        back = PyObject_GetAttr(frame, session->name_f_back);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
    return nearest;
}

uint32_t frame_line(PyObject *frame)
{
    return line_of(frame);
}

uint32_t frame_find_caller(struct session *session, struct buffer *file)
{
    struct call *call;
    PyObject *frame = frame_find_program(session, &call);
    uint32_t line = 0;

    if (frame != NULL) {
        add_file(file, frame);
        line = line_of(frame);
        Py_DECREF(frame);
    }
    return line;
}

/* ---- from running frames to the modules whose methods they run ---- */

#define CODE_LIMIT 10000 /* codes in the table; when it is full, it is cleared */

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

/* The result of describe_code, cached; a borrowed reference, or NULL with an exception. */
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
        Py_XDECREF(found); /* the dictionary keeps it */
    }
    Py_XDECREF(key);
    return found;
}

/* The frame's first argument if it is a module: a new reference. NULL if it is none, or with an
 * exception set. */
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

/* The frame that called `frame`, or NULL. Steals the reference to `frame`. */
static PyObject *leave(struct session *session, PyObject *frame)
{
    PyObject *back = PyObject_GetAttr(frame, session->name_f_back);

    Py_DECREF(frame);
    if (back == Py_None) {
        Py_CLEAR(back);
    }
    return back;
}

PyObject *visit_module(struct site_visit *visit, bool *is_called)
{
    unsigned depth = 0;
    PyObject *frame, *found = NULL;

    if (visit->owner == NULL) {
        frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
        while (frame != NULL && found == NULL && !PyErr_Occurred()) {
            found = find_first_module(visit->session, frame);
            frame = leave(visit->session, frame);
            depth++;
        }
        Py_XDECREF(frame);
        if (PyErr_Occurred()) {
            Py_XDECREF(found);
            return NULL;
        }
        visit->is_called = found != NULL && depth > 1;
        visit->owner = found == NULL ? Py_NewRef(Py_None) : found;
    }
    *is_called = visit->is_called;
    return visit->owner;
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

/* Adds (module, whether the frame is its constructor). A module that equals the last one added
 * is skipped: methods of a module call other methods of the same module. */
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

PyObject *frame_running_modules(PyObject *module, PyObject *unused)
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
