/* Consumers of visits: the recording, and those that Python adds: watchers of savers and
 * monitors, the tracings of tracers. A consumer chooses its sites in each module: when it
 * starts, or when the module is visited for the first time after that. A hook has the set of
 * consumers of each of its sites. So a visit without a consumer ends in the hook, and any other
 * visit reaches only its consumers, in the order in which they started. */
#ifndef MONITORCH_PYTHON_VISIT_CONSUMERS_H
#define MONITORCH_PYTHON_VISIT_CONSUMERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct site_module;
struct site_visit;

/* A bit for each consumer; those from the 32nd on share the last one. */
typedef uint32_t consumer_set;
#define CONSUMER_RECORDING    ((consumer_set)1)
#define CONSUMER_SHARED_PLACE 31

struct consumer {
    const struct consumer_kind *kind;
    PyObject *object;   /* borrowed: the watcher or tracing that Python started */
    PyObject *function; /* borrowed: called with each visit; None: no function */
};

struct consumer_kind {
    /* Adds `bit` to the sets of the sites of the module that the consumer wants; `sets` has one
     * set for each site. Runs no Python code. Returns false with an exception set. */
    bool (*choose)(const struct consumer *consumer,
                   const struct site_module *module,
                   consumer_set bit,
                   consumer_set *sets);
    /* Handles the visit of a site. Consumers that share a bit also get visits of sites that only
     * another one wants. Returns false with an exception set, which the hook raises. */
    bool (*visit)(const struct consumer *consumer, struct site_visit *visit);
};

#define CONSUMER_KIND_MAX 4

struct consumers {
    uint64_t
        number; /* of the current choice: increased with each change; sets are valid for one number */
    struct consumer_list *list; /* used; NULL: no consumer but the recording */
    struct {
        PyTypeObject *type; /* owned */
        const struct consumer_kind *kind;
    } kinds[CONSUMER_KIND_MAX];
    size_t kind_count;
};

/* Makes the sets of all hooks outdated, after a consumer has started or ended. */
static inline void consumers_change(struct consumers *consumers)
{
    consumers->number++;
}

/* Registers `type`: an object of that type is a consumer of that kind. Returns 0, or -1 with an
 * exception set. */
int consumers_add_kind(struct consumers *consumers,
                       PyObject *type,
                       const struct consumer_kind *kind);
/* Whether the object's type was added with that kind. */
bool consumers_is(const struct consumers *consumers,
                  const struct consumer_kind *kind,
                  PyObject *object);

/* Adds the bits of all consumers but the recording to the sets of the module's sites. Returns
 * false with an exception set. */
bool consumers_choose(const struct consumers *consumers,
                      const struct site_module *module,
                      consumer_set *sets);

/* Passes the visit to the consumers of the set, which must not contain the recording. Visits of
 * sites that the consumers cause themselves reach no consumer. Returns false with an exception
 * set. */
bool consumers_visit(struct site_visit *visit, consumer_set set);

/* The module's function `set_watchers`. */
PyObject *consumers_set_watchers(PyObject *module, PyObject *pairs);

int consumers_traverse(const struct consumers *consumers, visitproc visit, void *arg);
void consumers_clear(struct consumers *consumers);

#endif
