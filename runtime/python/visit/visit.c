/* Facts about a visit that are found when a consumer needs them. */
#include "runtime/python/visit/visit.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/values.h"
#include "runtime/python/visit/walk.h"

static __thread struct visit_thread this_thread;

HOT struct visit_thread *visit_this_thread(void)
{
    return &this_thread;
}

PyObject *visit_peek(struct site_visit *visit, uint32_t write, PyObject *root)
{
    PyObject *found;

    for (uint32_t i = 0; i < visit->peeked_count; i++) {
        if (visit->peeked[i].write == write) {
            return Py_XNewRef(visit->peeked[i].object);
        }
    }
    found = walk_dotted(&visit->session->types, root, visit->site->writes[write].name);
    if (visit->peeked_count < VISIT_PEEKED_MAX) {
        visit->peeked[visit->peeked_count].write = write;
        visit->peeked[visit->peeked_count].object = Py_XNewRef(found);
        visit->peeked_count++;
    }
    return found;
}

/* ---- figures ---- */

static __thread struct visit_figures *kept; /* of the running visit; may be NULL */

struct visit_figures *visit_keep_figures(struct visit_figures *figures)
{
    struct visit_figures *former = kept;

    kept = figures;
    return former;
}

void visit_figures_release(struct visit_figures *figures)
{
    for (uint32_t i = 0; i < figures->count; i++) {
        Py_DECREF(figures->items[i].object);
    }
    figures->count = 0;
}

/* Copies the stored figures of the tensor if they include all that is wanted, and the tensor is
 * unchanged since. Returns `wanted`, or 0. */
static unsigned find_kept(const struct tensor *tensor,
                          unsigned wanted,
                          struct statistics *statistics,
                          uint64_t *hash)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        if ((uint64_t)(uintptr_t)kept->items[i].object == tensor->object &&
            kept->items[i].data == tensor->data &&
            kept->items[i].version == tensor->version &&
            (kept->items[i].found & wanted) == wanted) {
            *statistics = kept->items[i].statistics;
            *hash = kept->items[i].hash;
            return wanted;
        }
    }
    return 0;
}

unsigned visit_measure(const struct tensor *tensor,
                       unsigned wanted,
                       unsigned thread_limit,
                       struct statistics *statistics,
                       uint64_t *hash)
{
    unsigned found = kept == NULL ? 0 : find_kept(tensor, wanted, statistics, hash);

    if (found != 0) {
        return found;
    }
    found = value_measure(tensor, wanted, thread_limit, statistics, hash);
    if (kept != NULL && (found & STATISTICS_WANT_VALUES) != 0 &&
        kept->count < VISIT_FIGURES_MAX) {
        uint32_t i = kept->count++;

        kept->items[i].object = Py_NewRef((PyObject *)(uintptr_t)tensor->object);
        kept->items[i].data = tensor->data;
        kept->items[i].version = tensor->version;
        kept->items[i].found = found;
        kept->items[i].statistics = *statistics;
        kept->items[i].hash = (found & STATISTICS_WANT_HASH) != 0 ? *hash : 0;
    }
    return found;
}
