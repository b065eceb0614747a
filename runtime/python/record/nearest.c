/* The names that a mistyped one was meant to be, for Python. */
#include "runtime/python/record/nearest.h"

#include "runtime/base/nearest_name.h"

const char nearest_names_doc[] = "nearest_names(word, names) -> tuple[str, ...]\n\n"
                                 "Returns the names that are nearest to the word or "
                                 "glob, at most three equally near ones.";

/* Borrows the text of a str; false with an exception. */
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

PyObject *nearest_names(PyObject *module, PyObject *arguments)
{
    PyObject *word, *given, *names, *found;
    struct nearest nearest;
    struct slice text;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "UO:nearest_names", &word, &given) ||
        !read_text(word, &text)) {
        return NULL;
    }
    names = PySequence_Tuple(given); /* keeps the texts that are borrowed below */
    if (names == NULL) {
        return NULL;
    }
    nearest_init(&nearest, text);
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
        if (!read_text(PyTuple_GetItem(names, i), &text)) {
            PyErr_Clear(); /* no str, or one with lone surrogates */
            continue;
        }
        nearest_add(&nearest, text);
    }
    found = list_names(&nearest);
    Py_DECREF(names);
    return found;
}
