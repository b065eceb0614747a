/* One value as lines of the tree log. */
#include "runtime/python/tracker/value.h"

#include "runtime/array/sample.h"
#include "runtime/base/buffer.h"
#include "runtime/python/record/session.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/walk.h"
#include "runtime/view/tracklog/value.h"

const char track_value_doc[] =
    "track_value(prefix, name, value, indent, line) -> str\n\n"
    "The log's lines of a value, and of what is in it if it is a container.";

/* What the lines have in common. */
struct value_lines {
    struct session *session;
    struct slice prefix, name, indent, line;
    struct buffer *text;
};

static void add_line(const struct value_lines *value_lines,
                     struct slice path,
                     bool is_leaf,
                     const struct log_event_view *view)
{
    struct buffer *text = value_lines->text;

    buffer_add(text, value_lines->indent);
    buffer_add(text, is_leaf ? SLICE("│   ├─ ") : SLICE("├─ "));
    if (!is_leaf && value_lines->prefix.size > 0) {
        buffer_add_printable(text, value_lines->prefix);
        buffer_add_byte(text, ' ');
    }
    buffer_add_byte(text, '[');
    buffer_add(text, track_value_tag(view));
    buffer_add(text, SLICE("] "));
    buffer_add_printable(text, value_lines->name);
    buffer_add_printable(text, path);
    buffer_add_byte(text, '@');
    buffer_add_printable(text, value_lines->line);
    buffer_add(text, view->kind == VALUE_TENSOR ? SLICE(" → ") : SLICE(" "));
    track_value_add(text, view, false);
    buffer_add_byte(text, '\n');
}

static void add_array(const struct value_lines *value_lines,
                      struct slice path,
                      bool is_leaf,
                      const struct tensor *tensor)
{
    struct recorded_array array = value_array(tensor);
    struct value value = {.kind = VALUE_TENSOR, .array = &array};
    struct log_event_view view = {.name = SLICE("")};
    struct viewed_array viewed;
    struct statistics statistics;

    if (tensor->array.data != NULL) {
        value_measure(tensor, STATISTICS_WANT_VALUES,
                      value_lines->session->thread_limit, &statistics, NULL);
        array.statistics = &statistics;
        array.is_sampled = true;
    }
    recorder_view_value(&value, SAMPLE_WHOLE, &viewed, &view);
    add_line(value_lines, path, is_leaf, &view);
}

/* False where it is a container. */
static bool add_single(const struct value_lines *value_lines,
                       struct slice path,
                       bool is_leaf,
                       PyObject *object)
{
    struct session *session = value_lines->session;
    const struct type_info *info = type_cache_get(&session->types, Py_TYPE(object));
    struct log_event_view view = {.name = SLICE("")};
    struct value value = {.kind = VALUE_NOTHING};
    PyObject *owner = NULL;
    struct tensor tensor;

    if (info->kind == TYPE_TENSOR) {
        if (tensor_describe(session->access, object, info->tensor, &tensor) == 0) {
            add_array(value_lines, path, is_leaf, &tensor);
            tensor_release(&tensor);
            return true;
        }
        info = type_cache_get(&session->types, Py_TYPE(object));
    }
    if (type_is_container(info)) {
        return false;
    }
    value_describe(info, object, &value, &owner);
    recorder_view_value(&value, 0, NULL, &view);
    add_line(value_lines, path, is_leaf, &view);
    Py_XDECREF(owner);
    return true;
}

static void add_container(const struct value_lines *value_lines, PyObject *object)
{
    struct log_event_view view = {.name = SLICE("")};
    struct walk walk;

    walk_init(&walk);
    walk_container(&walk, &value_lines->session->types, object);
    recorder_view_value(&(struct value){.kind = VALUE_CONTAINER,
                                        .integer = (int64_t)walk.item_count,
                                        .is_cut = walk.is_cut},
                        0, NULL, &view);
    add_line(value_lines, SLICE(""), false, &view);
    for (size_t i = 0; i < walk.leaf_count; i++) {
        add_single(value_lines, walk_path(&walk, i), true, walk.leaves[i].object);
    }
    walk_release(&walk);
}

static PyObject *read_text(PyObject *argument, struct slice *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(argument, "utf-8", "replace");

    if (bytes != NULL) {
        *text = (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    }
    return bytes;
}

PyObject *track_value(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct buffer text = BUFFER_INIT;
    struct value_lines value_lines = {.session = PyModule_GetState(module),
                                      .text = &text};
    PyObject *texts[4] = {NULL};
    struct slice *const read[] = {&value_lines.prefix, &value_lines.name,
                                  &value_lines.indent, &value_lines.line};
    const Py_ssize_t places[] = {0, 1, 3, 4};
    PyObject *result = NULL;
    bool is_good = count == 5;

    if (!is_good) {
        PyErr_SetString(PyExc_TypeError, "track_value() expects five arguments");
    }
    for (int i = 0; i < 4 && is_good; i++) {
        texts[i] = read_text(arguments[places[i]], read[i]);
        is_good = texts[i] != NULL;
    }
    if (is_good) {
        if (!add_single(&value_lines, SLICE(""), false, arguments[2])) {
            add_container(&value_lines, arguments[2]);
        }
        result =
            text.has_failed
                ? PyErr_NoMemory()
                : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    for (int i = 0; i < 4; i++) {
        Py_XDECREF(texts[i]);
    }
    buffer_release(&text);
    return result;
}
