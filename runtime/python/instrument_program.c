/* Runs a program with no frame of Python's below its own, as the interpreter does.
 *
 * What `python -m` starts has the frames of runpy and its own below all that it calls, and a
 * program would find them: in stacks that it prints or counts, and in the depth of recursion.
 * The interpreter calls sys.excepthook when they have all been left, so the program is run
 * there; an exception gets Python out of the frames. */
#include "runtime/python/instrument_module.h"

#include <signal.h>
#include <unistd.h>

/* What the hook is bound to: (function, arguments, function to be called behind it, the
 * sys.excepthook that the program is to find, None for none). */
enum { PROGRAM_FUNCTION, PROGRAM_ARGUMENTS, PROGRAM_END, PROGRAM_HOOK };

/* How Python itself ends where nobody has caught a KeyboardInterrupt: other processes see that
 * it was interrupted. */
static void die_of_interrupt(void)
{
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
}

/* The interpreter has remembered the exception that got it here. */
static void forget_exception(void)
{
    static const char *const names[] = {"last_type", "last_value", "last_traceback",
                                        "last_exc"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PySys_SetObject(names[i], NULL);
    }
    PyErr_Clear();
}

/* The function is exec or runpy's, but a code object is run without a call of exec. */
static PyObject *program_call(PyObject *function, PyObject *arguments)
{
    if (function != Py_None) {
        return PyObject_Call(function, arguments, NULL);
    }
    PyObject *names = PyTuple_GetItem(arguments, 1);
    return PyEval_EvalCode(PyTuple_GetItem(arguments, 0), names, names);
}

static void flush_stream(const char *name)
{
    PyObject *stream = PySys_GetObject(name);
    PyObject *result =
        stream == NULL ? NULL : PyObject_CallMethod(stream, "flush", NULL);

    Py_XDECREF(result);
    PyErr_Clear();
}

/* As the interpreter does when a script has ended, before what comes at exit. */
static void flush_streams(void)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    flush_stream("stderr");
    flush_stream("stdout");
    PyErr_Restore(type, value, traceback);
}

static void program_end(PyObject *program)
{
    PyObject *result = PyObject_CallObject(PyTuple_GetItem(program, PROGRAM_END), NULL);

    if (result == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(result);
}

static PyObject *program_run_to_end(PyObject *program)
{
    Py_LeaveRecursiveCall(); /* of this hook, which the program is not to be counted in */
    PyObject *result = program_call(PyTuple_GetItem(program, PROGRAM_FUNCTION),
                                    PyTuple_GetItem(program, PROGRAM_ARGUMENTS));
    (void)Py_EnterRecursiveCall(""); /* cannot fail: nothing else is running */
    flush_streams();
    if (result != NULL) {
        Py_DECREF(result);
        program_end(program);
        PyErr_SetNone(PyExc_SystemExit); /* where the interpreter goes on to its end */
        return NULL;
    }
    if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
        return NULL;
    }
    bool is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Print();
    program_end(program);
    if (is_interrupt) {
        Py_AtExit(die_of_interrupt);
    }
    Py_RETURN_NONE;
}

static PyObject *program_run(PyObject *program, PyObject *exception)
{
    PyObject *hook = PyTuple_GetItem(program, PROGRAM_HOOK);

    (void)exception;
    forget_exception();
    PySys_SetObject("excepthook", hook == Py_None ? NULL : hook);
    return program_run_to_end(program);
}

static PyMethodDef program_method = {"excepthook", program_run, METH_VARARGS, NULL};

PyObject *program_new(PyObject *arguments)
{
    PyObject *function, *function_arguments, *end, *hook;

    if (!PyArg_ParseTuple(arguments, "OO!OO:make_program", &function, &PyTuple_Type,
                          &function_arguments, &end, &hook)) {
        return NULL;
    }
    if (function == Py_None && PyTuple_Size(function_arguments) != 2) {
        PyErr_SetString(PyExc_ValueError, "code and its names were expected");
        return NULL;
    }
    /* Some interpreters borrow sys.excepthook while they call it, and this one takes itself
     * out of there: it is kept for good. */
    return Py_XNewRef(PyCFunction_New(&program_method, arguments));
}
