/* Consumers of visits: the recording, and those that Python adds: watchers of savers and monitors, the
 * tracings of tracers. Each has chosen sites, when it began or when a module is visited for the first
 * time since; a hook has the set of consumers of each of its sites. So a visit that nobody wants ends
 * in the hook, and any other visits those alone that want it, in the order in which they began. */
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
    PyObject *object;   /* borrowed: what Python has begun */
    PyObject *function; /* borrowed: what it calls with each visit; None: nothing */
};

struct consumer_kind {
    /* Adds `bit` to the sets of those sites of the module that it wants; there is a set for each site. Runs no
     * Python. False with an exception set. */
    bool (*choose)(const struct consumer *consumer,
                   const struct site_module *module,
                   consumer_set bit,
                   consumer_set *sets);
    /* One of these is visited: perhaps another one, where consumers share a bit. False with an exception
     * set, which leaves the hook. */
    bool (*visit)(const struct consumer *consumer, struct site_visit *visit);
};

#define CONSUMER_KIND_MAX 4

struct consumers {
    uint64_t
        number; /* of what is chosen: counts changes, so sets have the one that they are of */
    struct consumer_list *list; /* used; NULL: none but the recording */
    struct {
        PyTypeObject *type; /* owned */
        const struct consumer_kind *kind;
    } kinds[CONSUMER_KIND_MAX];
    size_t kind_count;
};

/* The sets are made anew: a consumer has begun or ended. */
static inline void consumers_change(struct consumers *consumers)
{
    consumers->number++;
}

/* What Python begins as an object of that type is a consumer of that kind. 0, or -1 with an exception
 * set. */
int consumers_add_kind(struct consumers *consumers,
                       PyObject *type,
                       const struct consumer_kind *kind);
/* Whether the object's type is one that was added with that kind. */
bool consumers_is(const struct consumers *consumers,
                  const struct consumer_kind *kind,
                  PyObject *object);

/* The sets of the module's sites, but for the recording. False with an exception set. */
bool consumers_choose(const struct consumers *consumers,
                      const struct site_module *module,
                      consumer_set *sets);

/* Passes the visit to those of the set; not to the recording. What they do may visit sites in turn:
 * these are nobody's. False with an exception set. */
bool consumers_visit(struct site_visit *visit, consumer_set set);

/* The function `set_watchers` of the module. */
PyObject *consumers_set_watchers(PyObject *module, PyObject *pairs);

int consumers_traverse(const struct consumers *consumers, visitproc visit, void *arg);
void consumers_clear(struct consumers *consumers);

#endif
