/* The options of `monitorch run` as Python reads them: its names, arguments and --help. */
#include "runtime/python/compile/module.h"

#include "instrument/command/run_options.h"
#include "runtime/base/buffer.h"

PyObject *run_help_text(void)
{
    struct buffer text = BUFFER_INIT;
    PyObject *help = NULL;

    help_write(&run_help, &text);
    if (text.has_failed) {
        PyErr_NoMemory();
    } else {
        struct slice whole = buffer_slice(&text);

        help = PyUnicode_FromStringAndSize(whole.bytes, (Py_ssize_t)whole.size);
    }
    buffer_release(&text);
    return help;
}

static PyObject *option_new(const struct argument_rule *rule)
{
    char letter[] = {rule->letter, '\0'};

    return Py_BuildValue("(ssz)", letter, rule->text, rule->argument);
}

PyObject *run_options_list(void)
{
    PyObject *list = PyList_New(0);

    for (int i = 0; list != NULL && i < run_help.rule_count; i++) {
        const struct argument_rule *rule = &run_help.rules[i];
        PyObject *option = rule->help == NULL ? NULL : option_new(rule);

        if (rule->help != NULL &&
            (option == NULL || PyList_Append(list, option) != 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(option);
    }
    return list;
}
