/* One tensor, one .pt file. */
#include "runtime/python/spy/saver.h"
#include "runtime/saved/pt/pt.h"

#include <errno.h>

const char saver_save_pt_doc[] = PyDoc_STR(
    "save_pt(path, tensor, key, *, may_replace, norm_only=False, place=None)\n"
    "    -> 'written' | 'replaced' | 'exists'\n\n"
    "Writes a file that torch.load(path, weights_only=True) reads. `key` is (prefix,\n"
    "module path, name, call), `place` (file, line, function). Raises OSError with\n"
    "the tensor's name where the file cannot be written, TypeError for what is no\n"
    "tensor.");

static PyObject *save(const struct saver_item *item, const char *path, bool may_replace)
{
    static const char *const texts[] = {
        [PT_WRITTEN] = "written",
        [PT_REPLACED] = "replaced",
        [PT_EXISTS] = "exists",
    };
    struct error error = ERROR_INIT;
    enum pt_write_result result;
    int number;

    Py_BEGIN_ALLOW_THREADS;
    errno = 0;
    result = pt_write(path, &item->request.saved, may_replace, &error);
    number = errno;
    Py_END_ALLOW_THREADS;
    if (result == PT_FAILED) {
        return saver_raise(&error, number, &item->request, path);
    }
    return PyUnicode_FromString(texts[result]);
}

PyObject *saver_save_pt(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",      "tensor", "key", "may_replace",
                            "norm_only", "place",  NULL};
    struct session *session = PyModule_GetState(module);
    struct saver_item item;
    PyObject *path, *tensor, *key, *place = Py_None, *result = NULL;
    int may_replace = -1, norm_only = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&OO|$ppO:save_pt", names,
                                     PyUnicode_FSConverter, &path, &tensor, &key,
                                     &may_replace, &norm_only, &place)) {
        return NULL;
    }
    if (may_replace < 0) {
        PyErr_SetString(PyExc_TypeError, "save_pt() needs may_replace=");
    } else if (saver_item_init(&item, session, tensor, key, place, norm_only)) {
        result = save(&item, PyBytes_AsString(path), may_replace);
        saver_item_release(&item);
    }
    Py_DECREF(path);
    return result;
}

const char saver_stem_doc[] = PyDoc_STR(
    "saved_file_stem(full_name) -> str\n\n"
    "A name as part of a file's name: bytes that are not allowed there become %XX,\n"
    "what is too long is cut.");

PyObject *saver_stem(PyObject *module, PyObject *name)
{
    PyObject *bytes = PyUnicode_Check(name)
                          ? PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass")
                          : NULL;
    struct buffer text = BUFFER_INIT;
    PyObject *stem;

    (void)module;
    if (bytes == NULL) {
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "expected a str, not %R", name);
    }
    saved_add_file_stem(
        (struct slice){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)}, &text);
    stem = text.has_failed ? PyErr_NoMemory()
                           : PyUnicode_FromStringAndSize(buffer_slice(&text).bytes,
                                                         (Py_ssize_t)text.size);
    buffer_release(&text);
    Py_DECREF(bytes);
    return stem;
}
