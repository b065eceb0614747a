/* Reading a running frame's variables without running code and without leaving anything in it. */
#ifndef MONITORCH_PYTHON_VISIT_VARIABLES_H
#define MONITORCH_PYTHON_VISIT_VARIABLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

/* A slot is twice the place among the frame's variables, and one more where a cell is there.
 * The code has no such variable. */
#define FRAME_NO_SLOT (-1)

/* Finds out how this interpreter's frames are read. `frame` is a function's; `value` is what
 * its first variable holds. */
void frame_learn_layout(PyObject *frame, PyObject *value);

/* Whether the code is a function's: its variables have slots. */
bool frame_is_function(PyObject *code);

/* Where frames of the code keep a variable of that name. */
int frame_find_slot(PyObject *code, PyObject *name);

/* What a name means in the frame; `is_function`: its variables have slots. A new reference, or
 * NULL without an exception: it is not bound. */
PyObject *frame_find(PyObject *frame, bool is_function, PyObject *name, int slot);

/* Where the variables of a function's frame lie: that of a slot is at slot / 2, and NULL where it is not
 * bound. NULL: that is not known, frame_find has to be asked, as it has for a slot with a cell. Good as
 * long as the frame runs on. */
PyObject *const *frame_peek(PyObject *frame);

/* The offset in bytes of the instruction that the frame is at; negative: it has not begun. */
long frame_offset(PyObject *frame);

/* Borrowed: the frame keeps it alive. */
PyObject *frame_code(PyObject *frame);

#endif
