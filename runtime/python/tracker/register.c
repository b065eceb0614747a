/* What is wanted of calls of a code, as Python says it. */
#include "runtime/base/memory.h"
#include "runtime/python/tracker/types.h"
#include "runtime/python/tracker/value.h"
#include "runtime/view/tracklog/labels.h"

#include <string.h>

/* The one with that text; NULL: no memory. */
static const struct tracked_wish *find_wish(struct tracking *tracking,
                                            struct slice text)
{
    struct tracked_wish *wish;

    for (wish = tracking->wishes; wish != NULL; wish = wish->next) {
        if (slice_equal((struct slice){wish->text, wish->size}, text)) {
            return wish;
        }
    }
    wish = memory_allocate(sizeof *wish + text.size, 1);
    if (wish != NULL) {
        wish->size = text.size;
        memcpy(wish->text, text.bytes, text.size);
        wish->read = track_wish_read((struct slice){wish->text, text.size});
        wish->next = tracking->wishes;
        tracking->wishes = wish;
    }
    return wish;
}

static PyObject *
make_calls(struct tracking *tracking, PyObject *code, const struct track_wish *wish)
{
    struct buffer text = BUFFER_INIT;
    const struct tracked_wish *known;
    allocfunc allocate = (allocfunc)PyType_GetSlot(tracking->calls_type, Py_tp_alloc);
    struct tracked_calls *calls;

    track_wish_write(wish, &text);
    known = text.has_failed ? NULL : find_wish(tracking, buffer_slice(&text));
    buffer_release(&text);
    if (known == NULL) {
        return PyErr_NoMemory();
    }
    calls = (struct tracked_calls *)allocate(tracking->calls_type, 0);
    if (calls != NULL) {
        calls->code = Py_NewRef(code);
        calls->wish = known;
    }
    return (PyObject *)calls;
}

const char track_register_doc[] = PyDoc_STR(
    "track_register(code, *, names='', calls=False, lines=False, stack=False,\n"
    "               bare=False, depth=0, when='', labels='') -> TrackedCalls\n\n"
    "Requests a log of calls of that code: see runtime/view/tracklog/wish.h.");

static bool read_when(const char *text, enum track_when *when)
{
    if (strcmp(text, "changed") == 0) {
        *when = TRACK_CHANGED;
    } else if (strcmp(text, "nan") == 0) {
        *when = TRACK_NAN;
    } else if (text[0] != '\0') {
        PyErr_Format(PyExc_ValueError, "when must be 'changed' or 'nan', not '%s'",
                     text);
        return false;
    }
    return true;
}

PyObject *track_register(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"code", "names", "calls", "lines",  "stack",
                            "bare", "depth", "when",  "labels", NULL};
    struct tracking *tracking = tracking_of_module(module);
    struct track_wish wish = {.when = TRACK_ALWAYS};
    const char *globs = "", *labels = "", *when = "";
    Py_ssize_t globs_size = 0, labels_size = 0;
    int is_calls = 0, has_lines = 0, has_stack = 0, is_bare = 0;
    unsigned int depth = 0;
    PyObject *code;

    if (tracking == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "O|$s#ppppIss#:track_register",
                                     names, &code, &globs, &globs_size, &is_calls,
                                     &has_lines, &has_stack, &is_bare, &depth, &when,
                                     &labels, &labels_size) ||
        !read_when(when, &wish.when)) {
        return NULL;
    }
    wish.names = (struct slice){globs, (size_t)globs_size};
    wish.labels = (struct slice){labels, (size_t)labels_size};
    wish.is_calls = is_calls;
    wish.has_lines = has_lines;
    wish.has_stack = has_stack;
    wish.is_bare = is_bare;
    wish.depth = depth;
    return make_calls(tracking, code, &wish);
}

const char track_labels_doc[] =
    PyDoc_STR("track_labels(pairs) -> str\n\n"
              "Labels of runtime/view/tracklog/labels.def and their texts, in one.");

static bool add_label(PyObject *pair, struct buffer *text)
{
    const char *key, *label;
    Py_ssize_t key_size, label_size;

    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "a label is a pair of texts");
        return false;
    }
    if (!PyArg_ParseTuple(pair, "s#s#;a label is a pair of texts", &key, &key_size,
                          &label, &label_size)) {
        return false;
    }
    if (!track_labels_write((struct slice){key, (size_t)key_size},
                            (struct slice){label, (size_t)label_size}, text)) {
        PyErr_Format(PyExc_ValueError, "there is no label '%s'; there are %s", key,
                     track_label_keys + 1);
        return false;
    }
    return true;
}

PyObject *track_labels(PyObject *module, PyObject *pairs)
{
    struct buffer text = BUFFER_INIT;
    PyObject *result = NULL;
    bool is_good = PyTuple_Check(pairs);

    (void)module;
    if (!is_good) {
        PyErr_SetString(PyExc_TypeError, "track_labels() expects a tuple of pairs");
    }
    for (Py_ssize_t i = 0; is_good && i < PyTuple_Size(pairs); i++) {
        is_good = add_label(PyTuple_GetItem(pairs, i), &text);
    }
    if (is_good) {
        result =
            text.has_failed
                ? PyErr_NoMemory()
                : PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "replace");
    }
    buffer_release(&text);
    return result;
}
