/* Runs a program with no frame of Python's below its own, as the interpreter does.
 *
 * What `python -m` starts has the frames of runpy and its own below all that it calls, and a
 * program would find them: in stacks that it prints or counts, and in the depth of recursion.
 * The interpreter calls sys.excepthook when they have all been left, so the program is run
 * there; an exception gets Python out of the frames. */
#include "runtime/python/compile/module.h"

#include <signal.h>
#include <unistd.h>

/* What the hook is bound to: a list of the function, its arguments, the function to be called
 * behind it, and the sys.excepthook that the program is to find (None for none). The list is
 * emptied when the program begins. */
enum { PROGRAM_PART_COUNT = 4 };

struct program {
    PyObject
        *function; /* owned; None where the arguments are a code object and its names */
    PyObject *arguments; /* owned */
    PyObject *end;       /* owned */
};

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

/* Removes our frames from the traceback of the exception that left them. The interpreter holds
 * that traceback for as long as the program runs, and often until the process has ended. The
 * frames refer to the names of __main__, which must be destroyed when the interpreter destroys
 * the module: a file that the program left open is written then. */
static void release_frames(PyObject *exception)
{
    PyObject *first = PyTuple_GetItem(exception, 2);
    PyObject *frame = first == NULL ? NULL : PyObject_GetAttrString(first, "tb_frame");
    PyObject *result = frame == NULL ? NULL : PyObject_CallMethod(frame, "clear", NULL);

    if (result != NULL) {
        (void)PyObject_SetAttrString(first, "tb_next", Py_None);
    }
    Py_XDECREF(result);
    Py_XDECREF(frame);
    PyErr_Clear();
}

static void program_end(struct program *program)
{
    PyObject *result = PyObject_CallObject(program->end, NULL);

    if (result == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(result);
}

/* Gives the names of __main__ back to their module. Both the interpreter's end and a hook of the
 * program's that raises SystemExit may end the process before our functions return. */
static void program_release_names(struct program *program)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    Py_CLEAR(program->function);
    Py_CLEAR(program->arguments);
    PyErr_Restore(type, value, traceback);
}

static PyObject *program_run_to_end(struct program *program)
{
    Py_LeaveRecursiveCall(); /* of this hook, which the program is not to be counted in */
    PyObject *result = program_call(program->function, program->arguments);
    (void)Py_EnterRecursiveCall(""); /* cannot fail: nothing else is running */
    flush_streams();
    program_release_names(program);
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

/* Empties the list that the hook is bound to. */
static bool program_read(struct program *program, PyObject *parts)
{
    PyObject *hook;

    if (PyList_Size(parts) != PROGRAM_PART_COUNT) {
        PyErr_SetString(PyExc_RuntimeError, "the program has been started already");
        return false;
    }
    program->function = Py_NewRef(PyList_GetItem(parts, 0));
    program->arguments = Py_NewRef(PyList_GetItem(parts, 1));
    program->end = Py_NewRef(PyList_GetItem(parts, 2));
    hook = PyList_GetItem(parts, 3);
    PySys_SetObject("excepthook", hook == Py_None ? NULL : hook);
    (void)PyList_SetSlice(parts, 0, PROGRAM_PART_COUNT, NULL);
    return true;
}

static PyObject *program_run(PyObject *parts, PyObject *exception)
{
    struct program program;

    forget_exception();
    release_frames(exception);
    if (!program_read(&program, parts)) {
        return NULL;
    }
    PyObject *result = program_run_to_end(&program);
    Py_DECREF(program.end);
    return result;
}

static PyMethodDef program_method = {"excepthook", program_run, METH_VARARGS, NULL};

PyObject *program_new(PyObject *arguments)
{
    PyObject *function, *function_arguments, *end, *hook, *parts, *method;

    if (!PyArg_ParseTuple(arguments, "OO!OO:make_program", &function, &PyTuple_Type,
                          &function_arguments, &end, &hook)) {
        return NULL;
    }
    if (function == Py_None && PyTuple_Size(function_arguments) != 2) {
        PyErr_SetString(PyExc_ValueError, "code and its names were expected");
        return NULL;
    }
    parts = PySequence_List(arguments);
    if (parts == NULL) {
        return NULL;
    }
    /* Some interpreters borrow sys.excepthook while they call it, and this one takes itself
     * out of there: it is kept for good. */
    method = PyCFunction_New(&program_method, parts);
    Py_DECREF(parts);
    return Py_XNewRef(method);
}
