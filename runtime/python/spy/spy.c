/* The function spy_save, and the names of saved tensors. */
#include "runtime/python/spy/spy.h"

#include "runtime/python/record/session.h"

/* ---- the savers' data of a session ---- */

#define FULL_NAME_ATTRIBUTE_COUNT 5 /* see spy_make_full_name */

struct spy_part {
    PyObject *contexts;  /* owned: see spy_begin; NULL: no context was ever open */
    uint64_t next_order; /* of the next tensor that this process saves */
    PyObject *attributes
        [FULL_NAME_ATTRIBUTE_COUNT]; /* owned: attribute names; NULL until needed */
};

static int part_traverse(void *part, visitproc visit, void *arg)
{
    Py_VISIT(((struct spy_part *)part)->contexts);
    return 0;
}

static void part_clear(void *object)
{
    struct spy_part *part = object;

    Py_CLEAR(part->contexts);
    for (size_t i = 0; i < FULL_NAME_ATTRIBUTE_COUNT; i++) {
        Py_CLEAR(part->attributes[i]);
    }
}

static const struct part_kind spy_kind = {sizeof(struct spy_part), part_traverse,
                                          part_clear, NULL};

static struct spy_part *part_of(const struct session *session)
{
    return parts_get(&session->parts, &spy_kind);
}

int spy_exec(PyObject *module)
{
    struct session *session = PyModule_GetState(module);

    return parts_add(&session->parts, &spy_kind);
}

uint64_t spy_next_order(struct session *session)
{
    return part_of(session)->next_order++;
}

/* ---- spy_save ---- */

enum { NAME, TENSOR, MODULE, PARAMETER_COUNT };

static const char *const parameters[PARAMETER_COUNT] = {"name", "tensor", "module"};

const char spy_save_doc[] =
    "spy_save(name, tensor, module=None)\n--\n\n"
    "Saves a tensor if a DebugContext is open, and does nothing otherwise.\n"
    "\n"
    "The tensor is saved detached, on the CPU, by the saver of the innermost open\n"
    "context, as {prefix}.{module path}.{name}.call{n}.pt; n counts from 0 for each\n"
    "name. Outside a context the call is about as fast as an empty function, so it\n"
    "may stay in the code.\n"
    "\n"
    "Args:\n"
    "    name (str): what the tensor is called.\n"
    "    tensor (Tensor, ndarray or container of them): the value. Of a tuple, list,\n"
    "        dict, named tuple or dataclass each tensor is saved, for example as\n"
    "        name[0] or name['k'].\n"
    "    module (Module, optional): the module whose path is part of the file's name.\n"
    "        It must be registered with the saver; an unregistered one logs a warning\n"
    "        and saves nothing. Without a module the path is \"manual\".\n"
    "\n"
    "Raises:\n"
    "    FileExistsError: if the file exists and the saver has overwrite=False.\n"
    "    OSError: if the file cannot be written.\n"
    "    TypeError: if the tensor has no values (meta device, vmap).\n"
    "\n"
    "Example::\n"
    "\n"
    "    >>> class Attention(nn.Module):\n"
    "    ...     def forward(self, x):\n"
    "    ...         q = self.proj_q(x)\n"
    "    ...         spy_save(\"q\", q, self)\n"
    "    ...         return q";

const char spy_begin_doc[] =
    "spy_begin(get)\n--\n\n"
    "Sets the function that returns the open contexts: None, or (innermost, others).";

static bool
read_keyword(PyObject *keyword, PyObject *value, PyObject *values[PARAMETER_COUNT])
{
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        if (PyUnicode_CompareWithASCIIString(keyword, parameters[i]) != 0) {
            continue;
        }
        if (values[i] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         "spy_save() got multiple values for argument '%s'",
                         parameters[i]);
            return false;
        }
        values[i] = value;
        return true;
    }
    PyErr_Format(PyExc_TypeError, "spy_save() got an unexpected keyword argument '%U'",
                 keyword);
    return false;
}

/* Reads the arguments of spy_save. The values are borrowed; that of `module` may be NULL.
 * Returns false with an exception set. */
static bool read_arguments(PyObject *const *arguments,
                           Py_ssize_t count,
                           PyObject *keyword_names,
                           PyObject *values[PARAMETER_COUNT])
{
    Py_ssize_t keyword_count = keyword_names == NULL ? 0 : PyTuple_Size(keyword_names);

    if (count > PARAMETER_COUNT) {
        PyErr_Format(PyExc_TypeError,
                     "spy_save() takes from 2 to 3 positional arguments but %zd were "
                     "given",
                     count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        values[i] = arguments[i];
    }
    for (Py_ssize_t i = 0; i < keyword_count; i++) {
        if (!read_keyword(PyTuple_GetItem(keyword_names, i), arguments[count + i],
                          values)) {
            return false;
        }
    }
    for (int i = NAME; i <= TENSOR; i++) {
        if (values[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "spy_save() missing required argument '%s'",
                         parameters[i]);
            return false;
        }
    }
    return true;
}

/* Saves into the innermost context. `contexts` is the value of the context variable. */
static PyObject *save_in(PyObject *contexts, PyObject *values[PARAMETER_COUNT])
{
    PyObject *context, *result;
    PyObject *module = values[MODULE] == NULL ? Py_None : values[MODULE];

    if (!PyTuple_Check(contexts) || PyTuple_Size(contexts) < 1) {
        PyErr_SetString(PyExc_TypeError, "the open contexts are a tuple, or None");
        return NULL;
    }
    context = PyTuple_GetItem(contexts, 0);
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *former = session_set_caller(frame);
    result = PyObject_CallMethod(context, "_save", "OOO", values[NAME], values[TENSOR],
                                 module);
    session_set_caller(former);
    Py_XDECREF(frame);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    Py_RETURN_NONE;
}

PyObject *spy_save(PyObject *module,
                   PyObject *const *arguments,
                   Py_ssize_t count,
                   PyObject *keyword_names)
{
    const struct spy_part *part = part_of(PyModule_GetState(module));
    PyObject *values[PARAMETER_COUNT] = {NULL};
    PyObject *contexts, *result;

    if (!read_arguments(arguments, count, keyword_names, values)) {
        return NULL;
    }
    if (part->contexts == NULL) {
        Py_RETURN_NONE;
    }
    contexts = PyObject_CallNoArgs(part->contexts);
    if (contexts == NULL || contexts == Py_None) {
        return contexts;
    }
    result = save_in(contexts, values);
    Py_DECREF(contexts);
    return result;
}

PyObject *spy_begin(PyObject *module, PyObject *get)
{
    struct spy_part *part = part_of(PyModule_GetState(module));
    PyObject *former = part->contexts;

    Py_INCREF(get);
    part->contexts = get;
    Py_XDECREF(former);
    Py_RETURN_NONE;
}

const char spy_find_module_path_doc[] =
    "find_module_path(default, saver, module)\n--\n\n"
    "The path under which a module was registered, or 'unknown'.\n"
    "\n"
    "Calls the saver's get_module_path, unless that is the `default`, a function that\n"
    "calls this one with None.";

/* Whether the saver's class overrides get_module_path; -1 on failure. */
static int has_own_method(PyObject *saver, PyObject *standard)
{
    PyObject *method = PyObject_GetAttrString(saver, "get_module_path");
    PyObject *function =
        method == NULL ? NULL : PyObject_GetAttrString(method, "__func__");
    int is_own = method == NULL ? -1 : function != standard;

    if (method != NULL) {
        PyErr_Clear(); /* the method may be any callable */
    }
    Py_XDECREF(function);
    Py_XDECREF(method);
    return is_own;
}

/* The registered path of the module, or "unknown". The weak references and the paths are stored
 * by the modules' ids. */
static PyObject *
find_registered(PyObject *registered, PyObject *paths, PyObject *object)
{
    PyObject *key = PyLong_FromVoidPtr(object);
    PyObject *reference, *path = NULL;

    if (key == NULL) {
        return NULL;
    }
    reference = PyDict_GetItemWithError(registered, key);
    /* If the registered module was deleted, this one may have its address. */
    if (reference == NULL || PyWeakref_GetObject(reference) == object) {
        path = PyDict_GetItemWithError(paths, key);
    }
    Py_DECREF(key);
    if (path == NULL && PyErr_Occurred()) {
        return NULL;
    }
    return path != NULL ? Py_NewRef(path) : PyUnicode_FromString("unknown");
}

PyObject *spy_find_module_path(PyObject *module, PyObject *args)
{
    PyObject *standard, *saver, *object, *registered, *paths, *path = NULL;
    int is_own;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO:find_module_path", &standard, &saver, &object)) {
        return NULL;
    }
    is_own = standard == Py_None ? 0 : has_own_method(saver, standard);
    if (is_own != 0) {
        return is_own < 0 ? NULL
                          : PyObject_CallMethod(saver, "get_module_path", "O", object);
    }
    registered = PyObject_GetAttrString(saver, "_registered");
    paths = PyObject_GetAttrString(saver, "module_paths");
    if (registered != NULL && paths != NULL) {
        if (PyDict_Check(registered) && PyDict_Check(paths)) {
            path = find_registered(registered, paths, object);
        } else {
            PyErr_SetString(PyExc_TypeError, "module_paths is a dict: id -> path");
        }
    }
    Py_XDECREF(registered);
    Py_XDECREF(paths);
    return path;
}

const char spy_make_full_name_doc[] =
    "make_full_name(kind, prefix, module_path, name, context=None, place=None)\n--\n\n"
    "A FullName, which is the `kind`: its parts joined by dots, the empty ones left "
    "out.";

/* The parts that are not empty, joined by dots; a new reference. */
static PyObject *join_parts(PyObject *const *parts, size_t count)
{
    PyObject *text = NULL;

    for (size_t i = 0; i < count; i++) {
        PyObject *former = text;

        if (PyUnicode_GetLength(parts[i]) <= 0) {
            continue;
        }
        text = former == NULL ? Py_NewRef(parts[i])
                              : PyUnicode_FromFormat("%U.%U", former, parts[i]);
        Py_XDECREF(former);
        if (text == NULL) {
            return NULL;
        }
    }
    return text == NULL ? PyUnicode_FromString("") : text;
}

PyObject *spy_make_full_name(PyObject *module, PyObject *args)
{
    static const char *const attributes[] = {"prefix", "module_path", "name", "context",
                                             "place"};
    enum { PART_COUNT = 3, ATTRIBUTE_COUNT = FULL_NAME_ATTRIBUTE_COUNT };
    struct spy_part *part = part_of(PyModule_GetState(module));
    PyObject *kind, *values[ATTRIBUTE_COUNT] = {NULL, NULL, NULL, Py_None, Py_None};
    PyObject *text, *made;

    if (!PyArg_ParseTuple(args, "OUUU|OO:make_full_name", &kind, &values[0], &values[1],
                          &values[2], &values[3], &values[4])) {
        return NULL;
    }
    text = join_parts(values, PART_COUNT);
    made = text == NULL ? NULL : PyObject_CallFunctionObjArgs(kind, text, NULL);
    Py_XDECREF(text);
    for (size_t i = 0; made != NULL && i < ATTRIBUTE_COUNT; i++) {
        PyObject **name = &part->attributes[i];

        if (*name == NULL) {
            *name = PyUnicode_InternFromString(attributes[i]);
        }
        if (*name == NULL || PyObject_SetAttr(made, *name, values[i]) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}
