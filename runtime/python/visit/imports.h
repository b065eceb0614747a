/* Whether a call is made while a module is imported, which is not recorded unless it is asked for.
 * Nothing of Python's import system is changed: its functions are known on the stack. */
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
        locks; /* owned: a dict with an item for each module that is being imported; NULL:
                            this Python has none */
    uint64_t thread;     /* the one that began the recording */
    unsigned base_count; /* imports that were going on there then: they are recorded */
    uint64_t left_out;   /* visits that were not recorded */
};

/* For the life of the extension module. A Python whose import system is another one has no imports
 * that are known. */
void imports_init(struct imports *imports);
void imports_release(struct imports *imports);

/* A recording begins in the running thread, whose key is `thread`. `is_whole`: it is of the whole
 * program, which is being imported by nobody. */
void imports_begin(struct imports *imports, uint64_t thread, bool is_whole);

/* Whether any module is being imported, in any thread: otherwise no frame needs to be looked at. */
bool imports_go_on(const struct imports *imports);
/* Whether this code runs modules for the import system. */
bool imports_has_code(const struct imports *imports, const void *code);
/* Whether a call in `thread` is made by an import, where `count` imports are on its whole stack. */
bool imports_made(struct imports *imports, uint64_t thread, unsigned count);

#endif
