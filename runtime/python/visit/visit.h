/* A visit of a site, as its consumers get it from the hook. What costs something to find out is found
 * at most once a visit, by the first consumer that asks. */
#ifndef MONITORCH_PYTHON_VISIT_VISIT_H
#define MONITORCH_PYTHON_VISIT_VISIT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <assert.h>

#include "runtime/array/statistics/statistics.h"
#include "runtime/python/record/session.h"
#include "runtime/python/tensor/tensor.h"
#include "runtime/record/site_module.h"

#include <stdbool.h>
#include <stdint.h>

/* Values at the end of dotted names that are kept; those of further names are found again. */
#define VISIT_PEEKED_MAX 4

struct traced_call;

/* What consumers keep of a thread, close together. */
struct visit_thread {
    struct traced_call *traced; /* the innermost call that is traced; NULL: none */
    bool is_at_work;            /* consumers are being visited */
};

struct visit_thread *visit_this_thread(void);

struct site_visit {
    struct session *session; /* borrowed, as the next ones */
    const struct site_module *module;
    const struct site *site;
    uint32_t index; /* of the site in its module */
    PyObject *const
        *values; /* as the hook got them; NULL is one that cannot be found */
    Py_ssize_t count;
    struct visit_thread *thread; /* set by consumers_visit */
    /* Found when somebody asks. */
    PyObject *owner; /* owned: see visit_module; NULL: nobody has asked */
    bool is_called;
    uint32_t peeked_count;
    struct {
        uint32_t write;
        PyObject *object; /* owned; may be NULL */
    } peeked[VISIT_PEEKED_MAX];
};

static inline void visit_init(struct site_visit *visit,
                              struct session *session,
                              const struct site_module *module,
                              uint32_t index,
                              PyObject *const *values,
                              Py_ssize_t count)
{
    assert(index < module->table.site_count);
    visit->session = session;
    visit->module = module;
    visit->site = &module->table.sites[index];
    visit->index = index;
    visit->values = values;
    visit->count = count;
    visit->owner = NULL;
    visit->peeked_count = 0;
}

static inline void visit_release(struct site_visit *visit)
{
    for (uint32_t i = 0; i < visit->peeked_count; i++) {
        Py_XDECREF(visit->peeked[i].object);
    }
    Py_XDECREF(visit->owner);
}

/* The figures of tensors in one visit of several consumers, so that they are measured once. */
#define VISIT_FIGURES_MAX 4
struct visit_figures {
    uint32_t count;
    struct {
        PyObject *object; /* owned */
        uint64_t data;
        uint32_t version;
        unsigned found; /* enum statistics_want */
        struct statistics statistics;
        uint64_t hash;
    } items[VISIT_FIGURES_MAX];
};

/* From now on visit_measure keeps this thread's figures there; NULL: nowhere. Returns where it did. */
struct visit_figures *visit_keep_figures(struct visit_figures *figures);
void visit_figures_release(struct visit_figures *figures);

/* As value_measure, of a whole tensor: what was measured in this visit is not measured again. */
unsigned visit_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash);

/* The value at the end of the site's `write`-th name, whose root is `root`: no property is read. A new
 * reference, or NULL without an exception. */
PyObject *visit_peek(struct site_visit *visit, uint32_t write, PyObject *root);

/* The torch.nn.Module that is the first argument of the innermost running function which has one
 * there; None: no function has. Borrowed; NULL with an exception set. `is_called`: that function has
 * called, not directly perhaps, the one that runs. */
PyObject *visit_module(struct site_visit *visit, bool *is_called);

#endif
