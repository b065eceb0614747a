/* Weights that were not finite when a statement used them. backward() and an optimizer's step()
 * write to them, and no line does. They are examined only when a line makes a value that is not
 * finite. */
#include "runtime/python/visit/weights.h"

#include "runtime/python/gradient/gradient.h"
#include "runtime/python/record/fresh.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"
#include "runtime/site/statement_text.h"

/* Limits: visits of a site that are examined, tensors that are measured, tensors that are
 * recorded. */
#define INSPECTIONS_MAX 8
#define MEASURED_MAX    128
#define REPORTED_MAX    8
#define DEPTH_MAX       16

/* The search below one read name. */
struct search {
    struct session *session;
    const struct visit *visit;
    uint32_t read;
    bool has_parameters_alone;
    unsigned measured;
    unsigned recorded;
    struct buffer path; /* owned */
};

static bool is_finite(struct session *session, const struct tensor *tensor)
{
    const struct uninitialised_piece *piece = NULL;
    struct statistics statistics;
    uint64_t hash;

    if (tensor->array.data == NULL || tensor->is_on_device ||
        fresh_find(session, tensor, &piece) != UNINITIALISED_NONE) {
        return true; /* not known for other devices and unwritten memory */
    }
    return value_measure(tensor, STATISTICS_WANT_VALUES, session->thread_limit,
                         &statistics, &hash) == 0 ||
           statistics_finite_count(&statistics) == statistics.count;
}

static void inspect_tensor(struct search *search, PyObject *object)
{
    const struct type_info *info =
        type_cache_get(&search->session->types, Py_TYPE(object));
    struct tensor tensor;
    bool is_bad;

    if (info->kind != TYPE_TENSOR || search->recorded == REPORTED_MAX ||
        parameters_know_finite(search->session, object) ||
        search->measured++ >= MEASURED_MAX ||
        tensor_describe(search->session->access, object, info->tensor, &tensor) != 0) {
        PyErr_Clear();
        return;
    }
    is_bad =
        (!search->has_parameters_alone || (tensor.flags & LOG_FORM_PARAMETER) != 0) &&
        !is_finite(search->session, &tensor);
    tensor_release(&tensor);
    if (is_bad) {
        search->recorded++;
        value_record_single(search->session, search->visit, RECORDER_READ(search->read),
                            buffer_slice(&search->path), object);
    }
}

static void add_name(struct buffer *path, PyObject *name)
{
    Py_ssize_t size = 0;
    const char *text =
        PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;

    PyErr_Clear();
    buffer_add_byte(path, '.');
    buffer_add_bytes(path, text == NULL ? "?" : text, text == NULL ? 1 : (size_t)size);
}

static void inspect_below(struct search *search, PyObject *module, int depth)
{
    static const char *const homes[] = {"_parameters", "_buffers", "_modules"};
    PyObject *dict = PyObject_GenericGetDict(module, NULL);
    size_t size = search->path.size;

    for (size_t i = 0; i < 3 && dict != NULL && PyDict_Check(dict); i++) {
        PyObject *home = PyDict_GetItemString(dict, homes[i]);
        PyObject *name, *item;
        Py_ssize_t position = 0;

        Py_XINCREF(home);
        while (home != NULL && PyDict_Check(home) &&
               PyDict_Next(home, &position, &name, &item)) {
            Py_INCREF(item);
            add_name(&search->path, name);
            if (i < 2) {
                inspect_tensor(search, item);
            } else if (depth < DEPTH_MAX &&
                       type_cache_get(&search->session->types, Py_TYPE(item))
                           ->is_module) {
                inspect_below(search, item, depth + 1);
            }
            search->path.size = size;
            Py_DECREF(item);
        }
        Py_XDECREF(home);
    }
    Py_XDECREF(dict);
    PyErr_Clear();
}

static bool is_module(const struct search *search, PyObject *object)
{
    return type_cache_get(&search->session->types, Py_TYPE(object))->is_module;
}

static void inspect_object(struct search *search, PyObject *object)
{
    search->measured = 0;
    if (is_module(search, object)) {
        inspect_below(search, object, 0);
    } else {
        inspect_tensor(search, object);
    }
}

/* ---- the parts of a module that the statement uses ---- */

/* The source from the visited site's line on. */
static struct slice rest_of_source(const struct visit *visit)
{
    struct slice source = visit->module->source->text.source;
    size_t at = 0;

    for (uint32_t line = 1; line < visit->site->line && at < source.size; line++) {
        at = slice_find(source, SLICE("\n"), at) + 1;
    }
    return slice_part(source, at < source.size ? at : source.size, source.size);
}

/* The end of the dotted names from `at` on: `.lin.weight`. */
static size_t end_of_names(struct slice text, size_t at)
{
    while (at < text.size &&
           (text.bytes[at] == '.' || text.bytes[at] == '_' ||
            (text.bytes[at] >= '0' && text.bytes[at] <= '9') ||
            ((text.bytes[at] | 0x20) >= 'a' && (text.bytes[at] | 0x20) <= 'z'))) {
        at++;
    }
    return at;
}

/* Examines one use of the module: of `self.lin(x)` only `self.lin`, of `self.step(x)` the whole
 * module. */
static void inspect_use(struct search *search, PyObject *object, struct slice names)
{
    PyObject *found = NULL;

    search->recorded = 0;
    while (names.size > 1 && found == NULL) {
        struct buffer dotted = BUFFER_INIT;

        buffer_add_byte(&dotted, 'x');
        buffer_add(&dotted, names);
        found = dotted.has_failed ? NULL
                                  : walk_dotted(&search->session->types, object,
                                                buffer_slice(&dotted));
        buffer_release(&dotted);
        if (found != NULL) {
            break;
        }
        names.size -= slice_last_part(names, '.').size + 1;
    }
    search->path.size = 0;
    buffer_add(&search->path, names);
    if (found != NULL) {
        inspect_object(search, found);
    } else {
        search->path.size = 0;
        inspect_object(search, object);
    }
    search->path.size = 0;
    Py_XDECREF(found);
}

static void inspect_uses(struct search *search, PyObject *object, struct slice name)
{
    struct buffer buffer = BUFFER_INIT;
    struct slice text;

    statement_add(&buffer, rest_of_source(search->visit));
    text = buffer_slice(&buffer);
    for (size_t at = statement_find_use(text, name, 0); at < text.size;
         at = statement_find_use(text, name, at + 1)) {
        size_t start = at + name.size;

        inspect_use(search, object, slice_part(text, start, end_of_names(text, start)));
    }
    buffer_release(&buffer);
}

/* The value of the read name in the running frame; a new reference, or NULL. */
static PyObject *
find(struct session *session, PyObject *frame, const struct site_read *read)
{
    struct slice root =
        slice_part(read->name, 0, slice_find(read->name, SLICE("."), 0));
    PyObject *name = PyUnicode_DecodeUTF8(root.bytes, (Py_ssize_t)root.size, "strict");
    PyObject *code = frame_code(frame);
    int slot = name == NULL || read->scope == SITE_SCOPE_GLOBAL
                   ? FRAME_NO_SLOT
                   : frame_find_slot(code, name);
    PyObject *found =
        name == NULL ? NULL : frame_find(frame, frame_is_function(code), name, slot);
    PyObject *end = found == NULL || root.size == read->name.size
                        ? Py_XNewRef(found)
                        : walk_dotted(&session->types, found, read->name);

    Py_XDECREF(name);
    Py_XDECREF(found);
    PyErr_Clear();
    return end;
}

/* Whether the name may be a weight without being a Parameter: an attribute, or a global. Local
 * tensors are recorded where they are made, and so are a module's in its own lines. */
static bool may_be_weight(const struct site *site, const struct site_read *read)
{
    return (read->scope == SITE_SCOPE_GLOBAL && site->function != 0) ||
           slice_find(read->name, SLICE("."), 0) < read->name.size;
}

static void
inspect_all(struct session *session, const struct visit *visit, PyObject *frame)
{
    for (uint32_t i = 0; i < visit->site->read_count; i++) {
        const struct site_read *read = &visit->site->reads[i];
        PyObject *object =
            site_writes(visit->site, read->name) ? NULL : find(session, frame, read);
        struct search search = {
            .session = session, .visit = visit, .read = i, .path = BUFFER_INIT};

        if (object != NULL && is_module(&search, object)) {
            inspect_uses(&search, object, read->name);
        } else if (object != NULL) {
            search.has_parameters_alone = !may_be_weight(visit->site, read);
            inspect_object(&search, object);
        }
        buffer_release(&search.path);
        Py_XDECREF(object);
    }
}

void weights_record(struct session *session, const struct visit *visit)
{
    uint64_t key = (uint64_t)(uintptr_t)visit->site;
    uint32_t count = number_map_get(&session->weight_searches, key);
    PyObject *frame = (PyObject *)PyEval_GetFrame(); /* borrowed */

    count = count == NUMBER_MAP_NONE ? 0 : count;
    if (count >= INSPECTIONS_MAX || frame == NULL || visit->is_inspection ||
        !number_map_put(&session->weight_searches, key, count + 1)) {
        return;
    }
    Py_INCREF(frame);
    inspect_all(session, visit, frame);
    Py_DECREF(frame);
}

void weights_forget(struct session *session)
{
    number_map_release(&session->weight_searches);
}
