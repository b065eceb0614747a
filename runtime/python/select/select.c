/* The selection language for Python, and suggestions for mistyped names. */
#include "runtime/python/select/select.h"

#include "runtime/base/nearest_name.h"
#include "runtime/base/selection/selection.h"

/* Encodes a str as UTF-8 with lone surrogates encoded as other characters. Returns a new
 * reference to bytes that `slice` borrows from, or NULL with an exception. */
static PyObject *encode(PyObject *text, struct slice *slice)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");

    if (bytes != NULL) {
        *slice = (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    }
    return bytes;
}

static PyObject *decode(struct slice text)
{
    return PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.size, "surrogatepass");
}

/* ---- matching ---- */

typedef bool (*matches)(struct slice text, struct slice glob);

static PyObject *
match_texts(PyObject *arguments, const char *format, matches matches_text)
{
    PyObject *text, *glob, *text_bytes, *glob_bytes, *answer = NULL;
    struct slice text_slice, glob_slice;

    if (!PyArg_ParseTuple(arguments, format, &text, &glob)) {
        return NULL;
    }
    text_bytes = encode(text, &text_slice);
    glob_bytes = text_bytes == NULL ? NULL : encode(glob, &glob_slice);
    if (glob_bytes != NULL) {
        answer = PyBool_FromLong(matches_text(text_slice, glob_slice));
    }
    Py_XDECREF(text_bytes);
    Py_XDECREF(glob_bytes);
    return answer;
}

static PyObject *match_glob(PyObject *module, PyObject *arguments)
{
    (void)module;
    return match_texts(arguments, "UU:match_glob", glob_match);
}

static bool has_name(struct slice name, struct slice glob)
{
    return name_select(name, SLICE(""), glob) != NAME_OTHER;
}

static PyObject *match_name(PyObject *module, PyObject *arguments)
{
    (void)module;
    return match_texts(arguments, "UU:match_name", has_name);
}

static PyObject *match_file(PyObject *module, PyObject *arguments)
{
    (void)module;
    return match_texts(arguments, "UU:match_file", file_select);
}

/* ---- reading ---- */

static PyObject *read_lines(PyObject *module, PyObject *text)
{
    struct slice slice, file;
    struct line_range range;
    PyObject *bytes = PyUnicode_Check(text) ? encode(text, &slice) : NULL;
    PyObject *answer = NULL;

    (void)module;
    if (bytes != NULL && line_place_read(&file, &range, slice)) {
        answer = Py_BuildValue("NKK", decode(file), (unsigned long long)range.first,
                               (unsigned long long)range.last);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "expected FILE:N-M, " LINE_RANGE_EXPECTED);
    }
    Py_XDECREF(bytes);
    return answer;
}

static PyObject *split_list(PyObject *module, PyObject *text)
{
    struct slice rest, item;
    PyObject *bytes = PyUnicode_Check(text) ? encode(text, &rest) : NULL;
    PyObject *items = bytes == NULL ? NULL : PyList_New(0);

    (void)module;
    if (bytes == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "split_list() expects a str");
    }
    while (items != NULL && list_next(&rest, &item)) {
        PyObject *part = decode(item);

        if (part == NULL || PyList_Append(items, part) < 0) {
            Py_CLEAR(items);
        }
        Py_XDECREF(part);
    }
    Py_XDECREF(bytes);
    return items;
}

/* ---- suggestions for a mistyped name ---- */

/* Borrows the text of a str. Returns false with an exception set. */
static bool read_text(PyObject *text, struct slice *slice)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);

    if (bytes == NULL) {
        return false;
    }
    *slice = (struct slice){bytes, (size_t)size};
    return true;
}

static PyObject *list_names(const struct nearest *nearest)
{
    PyObject *found = PyTuple_New((Py_ssize_t)nearest->count);

    for (size_t i = 0; found != NULL && i < nearest->count; i++) {
        PyObject *name = PyUnicode_FromStringAndSize(
            nearest->names[i].bytes, (Py_ssize_t)nearest->names[i].size);

        if (name == NULL || PyTuple_SetItem(found, (Py_ssize_t)i, name) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

static PyObject *nearest_names(PyObject *module, PyObject *arguments)
{
    PyObject *word, *given, *names, *found;
    struct nearest nearest;
    struct slice text;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "UO:nearest_names", &word, &given) ||
        !read_text(word, &text)) {
        return NULL;
    }
    names = PySequence_Tuple(given); /* keeps the texts alive that are borrowed below */
    if (names == NULL) {
        return NULL;
    }
    nearest_init(&nearest, text);
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
        if (!read_text(PyTuple_GetItem(names, i), &text)) {
            PyErr_Clear(); /* not a str, or with lone surrogates */
            continue;
        }
        nearest_add(&nearest, text);
    }
    found = list_names(&nearest);
    Py_DECREF(names);
    return found;
}

/* ---- the functions ---- */

PyDoc_STRVAR(match_glob_doc,
             "match_glob(text, glob) -> bool\n\n"
             "Whether the whole text matches the glob: * ? [abc] [!a].");

PyDoc_STRVAR(
    match_name_doc,
    "match_name(name, glob) -> bool\n\n"
    "Whether the glob selects the name: it matches the name, or a name that it\n"
    "is in, as box of box.item.");

PyDoc_STRVAR(
    match_file_doc,
    "match_file(path, glob) -> bool\n\n"
    "Whether the glob selects the file: it matches the path, its last parts, or,\n"
    "where it begins with /, a folder that the file is in.");

PyDoc_STRVAR(
    read_lines_doc,
    "read_lines(text) -> tuple[str, int, int]\n\n"
    "Reads FILE:N-M, also N, N- and -M: file, first line, last line. The file may\n"
    "be empty. Raises ValueError for other texts.");

PyDoc_STRVAR(split_list_doc,
             "split_list(text) -> list[str]\n\n"
             "The items of a list with commas between them; commas in brackets part\n"
             "nothing.");

PyDoc_STRVAR(
    nearest_names_doc,
    "nearest_names(word, names) -> tuple[str, ...]\n\n"
    "Returns the names that are nearest to the word or glob, at most three equally\n"
    "near ones.");

int select_exec(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"match_glob", match_glob, METH_VARARGS, match_glob_doc},
        {"match_name", match_name, METH_VARARGS, match_name_doc},
        {"match_file", match_file, METH_VARARGS, match_file_doc},
        {"read_lines", read_lines, METH_O, read_lines_doc},
        {"split_list", split_list, METH_O, split_list_doc},
        {"nearest_names", nearest_names, METH_VARARGS, nearest_names_doc},
        {NULL, NULL, 0, NULL},
    };

    return PyModule_AddFunctions(module, functions);
}
