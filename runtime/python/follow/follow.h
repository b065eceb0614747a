/* Following code that was not instrumented: what is shared by its two ways, the trace function
 * of Python 3.10 and 3.11 (trace.c) and sys.monitoring of 3.12 and later
 * (monitor.c). */
#ifndef MONITORCH_PYTHON_FOLLOW_FOLLOW_H
#define MONITORCH_PYTHON_FOLLOW_FOLLOW_H

#include "runtime/python/follow/codes.h"

/* There is one for the process: trace functions get no state of ours. The interpreter's lock
 * guards it. */
struct follower {
    bool is_on;
    PyObject *decide; /* owned: what says whether a code object is followed */
    struct code_table codes;
    PyObject *plan_type; /* owned */
};

extern struct follower follower;

/* The plan of a code object that begins to run or runs, borrowed; NULL: it is not followed.
 * What is not known yet is decided. */
struct follow_plan *follower_find(PyObject *code, PyObject *frame);

/* The functions of trace.c and monitor.c. */
extern PyMethodDef follow_trace_methods[];
extern PyMethodDef follow_monitor_methods[];

/* Part of making the module `_recorder`; 0, or -1 with an exception. */
int follow_exec(PyObject *module);

#endif
