/* The variables of a frame, read in the way that each version of CPython has.
 *
 * Python 3.12 and later have PyFrame_GetVar. Before that there is only `f_locals`, which makes
 * or refreshes a dictionary of all variables: the program may use it as its own locals(), and it
 * keeps tensors alive. So the frames of 3.10 and 3.11, whose layout will not change any more,
 * are read in memory. That is done only after a frame with known variables was read correctly. */
#include "runtime/python/visit/variables.h"

#include "runtime/base/memory.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

/* `struct _frame` of 3.10. */
struct frame_310 {
    PyObject_VAR_HEAD void *back, *code, *builtins, *globals, *locals, *value_stack,
        *trace;
    int stack_depth;
    char trace_lines, trace_opcodes;
    void *generator;
    int last, line, block_count;
    signed char state;
    struct {
        int type, handler, level;
    } blocks[20];
    PyObject *variables[1];
};

/* `struct _PyInterpreterFrame` and `struct _frame` of 3.11. */
struct inner_frame_311 {
    void *function, *globals, *builtins, *locals, *code, *frame, *previous, *last;
    int stack_top;
    char is_entry, owner;
    PyObject *variables[1];
};

struct frame_311 {
    PyObject_HEAD void *back;
    struct inner_frame_311 *inner;
};

#define CODE_OPTIMIZED 1 /* of co_flags */

enum layout { LAYOUT_UNKNOWN, LAYOUT_310, LAYOUT_311, LAYOUT_CALL };

/* Valid for all interpreters of the process; set before anything is followed. */
static enum layout layout;
static PyObject *(*get_variable)(PyObject *frame, PyObject *name);
static int (*get_offset)(PyObject *frame);
static PyTypeObject *cell_type;

static PyObject **variables_of(enum layout kind, PyObject *frame)
{
    if (kind == LAYOUT_310) {
        return ((struct frame_310 *)frame)->variables;
    }
    return ((struct frame_311 *)frame)->inner->variables;
}

static bool holds(enum layout kind, PyObject *frame, PyObject *code, PyObject *value)
{
    void *found = kind == LAYOUT_310 ? ((struct frame_310 *)frame)->code
                                     : ((struct frame_311 *)frame)->inner->code;

    return found == code && variables_of(kind, frame)[0] == value;
}

void frame_learn_layout(PyObject *frame, PyObject *value)
{
    PyObject *number = PySys_GetObject("hexversion");
    long version = number == NULL ? 0 : PyLong_AsLong(number) >> 16;
    PyObject *code = frame_code(frame);

    *(void **)&get_variable = dlsym(RTLD_DEFAULT, "PyFrame_GetVar");
    cell_type = dlsym(RTLD_DEFAULT, "PyCell_Type");
    layout = LAYOUT_UNKNOWN;
    if (get_variable != NULL) {
        layout = LAYOUT_CALL;
    } else if (version == 0x030a && holds(LAYOUT_310, frame, code, value)) {
        layout = LAYOUT_310;
    } else if (version == 0x030b && holds(LAYOUT_311, frame, code, value)) {
        layout = LAYOUT_311;
    }
}

HOT PyObject *frame_code(PyObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);

    Py_DECREF(code);
    return (PyObject *)code;
}

long frame_offset(PyObject *frame)
{
    static atomic_bool is_known;
    PyObject *number;
    long offset;

    if (!atomic_load_explicit(&is_known, memory_order_acquire)) {
        *(void **)&get_offset = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
        atomic_store_explicit(&is_known, true, memory_order_release);
    }
    if (get_offset != NULL) {
        return get_offset(frame);
    }
    number = PyObject_GetAttrString(frame, "f_lasti");
    offset = number == NULL ? -1 : PyLong_AsLong(number);
    Py_XDECREF(number);
    PyErr_Clear();
    return offset;
}

/* The value of a name in a dictionary of the frame. Mappings of other types are not read. */
static PyObject *find_in(PyObject *frame, const char *attribute, PyObject *name)
{
    PyObject *names = PyObject_GetAttrString(frame, attribute);
    PyObject *value = NULL;

    if (names != NULL && PyDict_CheckExact(names)) {
        value = Py_XNewRef(PyDict_GetItemWithError(names, name));
    }
    Py_XDECREF(names);
    PyErr_Clear();
    return value;
}

/* The content of a cell; NULL if it is empty. */
static PyObject *open_cell(PyObject *cell)
{
    PyObject *value = Py_TYPE(cell) == cell_type
                          ? PyObject_GetAttrString(cell, "cell_contents")
                          : NULL;

    PyErr_Clear();
    return value;
}

/* The value of a name in `f_locals` of a function's frame: a dictionary, or from 3.13 on a
 * proxy. */
static PyObject *find_in_locals(PyObject *frame, PyObject *name)
{
    PyObject *names = PyObject_GetAttrString(frame, "f_locals");
    PyObject *value = names == NULL ? NULL : PyObject_GetItem(names, name);

    Py_XDECREF(names);
    PyErr_Clear();
    return value;
}

HOT static PyObject *find_variable(PyObject *frame, PyObject *name, int slot)
{
    PyObject *value;

    switch (layout) {
    case LAYOUT_CALL:
        value = get_variable(frame, name);
        PyErr_Clear();
        /* A comprehension of the same function may hide a cell of that name. */
        return value == NULL && slot % 2 ? find_in_locals(frame, name) : value;
    case LAYOUT_310:
    case LAYOUT_311:
        value = variables_of(layout, frame)[slot / 2];
        return value != NULL && slot % 2 ? open_cell(value) : Py_XNewRef(value);
    case LAYOUT_UNKNOWN:
        break;
    }
    return find_in_locals(frame, name);
}

HOT PyObject *const *frame_peek(PyObject *frame)
{
    return layout == LAYOUT_310 || layout == LAYOUT_311 ? variables_of(layout, frame)
                                                        : NULL;
}

/* A tuple of names of the code; a new reference, or NULL. */
static PyObject *names_of(PyObject *code, const char *kind)
{
    PyObject *names = PyObject_GetAttrString(code, kind);

    PyErr_Clear();
    return names;
}

/* The index of the name in `names`; negative: it is not there. */
static Py_ssize_t find_place(PyObject *names, PyObject *name)
{
    Py_ssize_t place = names == NULL ? -1 : PySequence_Index(names, name);

    PyErr_Clear();
    return place;
}

/* The place of a cell. Cells follow the plain variables, own ones first. Only 3.10 has cells of
 * parameters there too. */
static int find_cell(PyObject *plain, PyObject *own, PyObject *outer, PyObject *name)
{
    Py_ssize_t place = find_place(own, name);
    Py_ssize_t count = own == NULL ? 0 : PyTuple_Size(own);
    Py_ssize_t before;

    if (place < 0) {
        place = find_place(outer, name) + count;
        before = count;
    } else {
        before = place;
    }
    for (Py_ssize_t i = 0; i < before && layout != LAYOUT_310; i++) {
        place -= find_place(plain, PyTuple_GetItem(own, i)) >= 0;
    }
    return (int)(2 * ((plain == NULL ? 0 : PyTuple_Size(plain)) + place) + 1);
}

bool frame_is_function(PyObject *code)
{
    PyObject *flags = PyObject_GetAttrString(code, "co_flags");
    long bits = flags == NULL ? 0 : PyLong_AsLong(flags);

    Py_XDECREF(flags);
    PyErr_Clear();
    return (bits & CODE_OPTIMIZED) != 0;
}

int frame_find_slot(PyObject *code, PyObject *name)
{
    PyObject *plain = names_of(code, "co_varnames");
    PyObject *own = names_of(code, "co_cellvars");
    PyObject *outer = names_of(code, "co_freevars");
    Py_ssize_t place = find_place(plain, name);
    bool is_cell = find_place(own, name) >= 0 || find_place(outer, name) >= 0;
    int slot = place < 0 ? FRAME_NO_SLOT : (int)(2 * place + is_cell);

    if (!frame_is_function(code)) {
        slot = FRAME_NO_SLOT;
    } else if (is_cell && (place < 0 || layout == LAYOUT_310)) {
        slot = find_cell(plain, own, outer, name);
    }
    Py_XDECREF(plain);
    Py_XDECREF(own);
    Py_XDECREF(outer);
    return slot;
}

HOT PyObject *frame_find(PyObject *frame, bool is_function, PyObject *name, int slot)
{
    PyObject *value = NULL;

    if (slot >= 0) {
        return find_variable(frame, name, slot);
    }
    if (!is_function) {
        value = find_in(frame, "f_locals", name);
    }
    if (value == NULL) {
        value = find_in(frame, "f_globals", name);
    }
    if (value == NULL) {
        value = find_in(frame, "f_builtins", name);
    }
    return value;
}
