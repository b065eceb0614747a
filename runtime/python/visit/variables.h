/* Variables of a running frame, read without running code and without changing the frame. */
#ifndef MONITORCH_PYTHON_VISIT_VARIABLES_H
#define MONITORCH_PYTHON_VISIT_VARIABLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

/* A slot is twice the index of the frame's variable, plus one if a cell is there. FRAME_NO_SLOT:
 * the code has no such variable. */
#define FRAME_NO_SLOT (-1)

/* Finds out how this interpreter's frames are read. `frame` is a function's frame, and `value`
 * is the value of its first variable. */
void frame_learn_layout(PyObject *frame, PyObject *value);

/* Whether the code is that of a function: its variables have slots. */
bool frame_is_function(PyObject *code);

/* The slot of a variable of that name in frames of the code. */
int frame_find_slot(PyObject *code, PyObject *name);

/* The value of a name in the frame. `is_function`: its variables have slots. A new reference, or
 * NULL without an exception if it is not bound. */
PyObject *frame_find(PyObject *frame, bool is_function, PyObject *name, int slot);

/* The variables of a function's frame: that of a slot is at slot / 2, and NULL if it is not
 * bound. Returns NULL if they cannot be read in memory. Then, and for a slot with a cell,
 * frame_find must be used. Valid as long as the frame runs. */
PyObject *const *frame_peek(PyObject *frame);

/* The offset in bytes of the current instruction of the frame; negative: it has not started. */
long frame_offset(PyObject *frame);

/* Borrowed: the frame keeps it alive. */
PyObject *frame_code(PyObject *frame);

#endif
