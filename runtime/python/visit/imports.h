/* Detection of calls that are made while a module is imported. They are not recorded unless that
 * is requested. Python's import system is not changed: its functions are recognised on the
 * stack. */
#ifndef MONITORCH_PYTHON_VISIT_IMPORTS_H
#define MONITORCH_PYTHON_VISIT_IMPORTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_CODE_COUNT 2

struct imports {
    PyObject *codes
        [IMPORT_CODE_COUNT]; /* owned; of the functions that run a module; may be NULL */
    PyObject *
        locks; /* owned: a dict with an item for each module that is being imported; NULL: this Python has no such dict */
    uint64_t thread; /* the thread that started the recording */
    unsigned
        base_count; /* imports that were running there then: their calls are recorded */
    uint64_t left_out; /* visits that were not recorded */
};

/* Called once for the life of the extension module. In a Python with another import system no
 * import is detected. */
void imports_init(struct imports *imports);
void imports_release(struct imports *imports);

/* Called when a recording starts in the running thread, whose key is `thread`. `is_whole`: it
 * records the whole program, which runs inside no import. */
void imports_begin(struct imports *imports, uint64_t thread, bool is_whole);

/* Whether any module is being imported, in any thread. If not, no frame needs to be searched. */
bool imports_go_on(const struct imports *imports);
/* Whether this code runs modules for the import system. */
bool imports_has_code(const struct imports *imports, const void *code);
/* Whether a call in `thread` is made by an import, if there are `count` imports on the whole
 * stack. */
bool imports_made(struct imports *imports, uint64_t thread, unsigned count);

#endif
