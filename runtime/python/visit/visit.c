/* What is found out about a visit when somebody asks. */
#include "runtime/python/visit/visit.h"

#include "runtime/python/visit/walk.h"

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
