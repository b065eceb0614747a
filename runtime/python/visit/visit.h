/* A visit of a site, as the hook passes it to consumers. Facts that are expensive to find are
 * found at most once a visit, by the first consumer that needs them. */
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

/* So many values at the end of dotted names are stored; others are found again each time. */
#define VISIT_PEEKED_MAX 4

struct traced_call;

/* State of a thread that consumers need at each visit. */
struct visit_thread {
    struct traced_call *traced; /* the innermost call that is traced; NULL: none */
    bool is_at_work;            /* consumers are being visited */
};

struct visit_thread *visit_this_thread(void);

struct site_visit {
    struct session *session; /* borrowed, like the next two */
    const struct site_module *module;
    const struct site *site;
    uint32_t index; /* of the site in its module */
    PyObject *const
        *values; /* as passed to the hook; NULL: a value that cannot be found */
    Py_ssize_t count;
    struct visit_thread *thread; /* set by consumers_visit */
    /* The following are found when a consumer needs them. */
    PyObject *owner; /* owned: see visit_module; NULL: not found yet */
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

/* Figures of tensors in a visit with several consumers, so that each tensor is measured once. */
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

/* Makes visit_measure store this thread's figures in `figures`; NULL: it stores none. Returns
 * the previous place. */
struct visit_figures *visit_keep_figures(struct visit_figures *figures);
void visit_figures_release(struct visit_figures *figures);

/* value_measure of a whole tensor, without measuring again what was measured in this visit. */
unsigned visit_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash);

/* The value at the end of the site's `write`-th name, whose root is `root`. Reads no property. A
 * new reference, or NULL without an exception. */
PyObject *visit_peek(struct site_visit *visit, uint32_t write, PyObject *root);

/* The torch.nn.Module that is the first argument of the innermost running function with such an
 * argument; None if no function has one. Borrowed; NULL with an exception set. `is_called` is
 * true if that function is a direct or indirect caller of the running one. */
PyObject *visit_module(struct site_visit *visit, bool *is_called);

#endif
