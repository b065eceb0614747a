/* From the steps of a frame to visits of sites. */
#include "runtime/python/follow/visit.h"

#include "runtime/base/memory.h"
#include "runtime/python/visit/hook.h"
#include "runtime/python/visit/variables.h"
#include "runtime/python/visit/walk.h"

#include <string.h>

/* Frames that are remembered at once in a thread. A step is forgotten where more calls than
 * these are nested between its two instructions. */
#define FRAME_LIMIT  64
#define VALUES_KEPT  16 /* more values of a visit than these need memory of their own */
#define VALUES_LIMIT 256

static __thread struct {
    struct followed_frame frames[FRAME_LIMIT];
    size_t count;
} followed;

static struct followed_frame *find_frame(const void *frame,
                                         const struct follow_plan *plan)
{
    for (size_t i = followed.count; i > 0; i--) {
        struct followed_frame *known = &followed.frames[i - 1];
        if (known->frame == frame && known->plan == plan) {
            return known;
        }
    }
    return NULL;
}

struct followed_frame *followed_frame_get(const void *frame,
                                          const struct follow_plan *plan)
{
    struct followed_frame *known = find_frame(frame, plan);

    if (known != NULL) {
        return known;
    }
    if (followed.count == FRAME_LIMIT) {
        /* The oldest half has not been heard of for long. */
        followed.count = FRAME_LIMIT / 2;
        memmove(followed.frames, followed.frames + FRAME_LIMIT / 2,
                FRAME_LIMIT / 2 * sizeof(followed.frames[0]));
    }
    known = &followed.frames[followed.count++];
    *known = (struct followed_frame){.frame = frame, .plan = plan};
    return known;
}

void followed_frame_leave(const void *frame, const struct follow_plan *plan)
{
    struct followed_frame *known = find_frame(frame, plan);

    if (known != NULL) {
        size_t behind = (size_t)(followed.frames + followed.count - (known + 1));
        memmove(known, known + 1, behind * sizeof(*known));
        followed.count--;
    }
}

/* Whether a mode of the program's would see torch's own attributes being read. */
static bool has_torch_mode(const struct follow_plan *plan)
{
    PyObject *torch = PyDict_GetItemString(plan->session->types.modules, "torch._C");
    PyObject *count =
        torch == NULL ? NULL
                      : PyObject_CallMethod(torch, "_len_torch_function_stack", NULL);
    long modes = count == NULL ? 1 : PyLong_AsLong(count);

    Py_XDECREF(count);
    PyErr_Clear();
    return modes != 0;
}

/* `x.data` and `x.grad` of a plain tensor, which torch makes or keeps in C: reading them runs no
 * code of the program's, and nothing of torch's that could be counted. */
static PyObject *
read_of_tensor(const struct follow_plan *plan, PyObject *owner, const char *attribute)
{
    struct type_cache *types = &plan->session->types;
    PyObject *name = PyUnicode_FromString(attribute);
    PyObject *descriptor = NULL;
    PyObject *value = NULL;

    if (name != NULL &&
        type_cache_get(types, Py_TYPE(owner))->tensor == TENSOR_CLASS_EXACT) {
        descriptor = type_cache_find(types, Py_TYPE(owner), name);
    }
    if (descriptor != NULL && Py_TYPE(descriptor) == &PyGetSetDescr_Type &&
        !has_torch_mode(plan)) {
        value = PyObject_GetAttr(owner, name);
    }
    Py_XDECREF(descriptor);
    Py_XDECREF(name);
    PyErr_Clear();
    return value;
}

/* What stands at the end of a dotted name that begins with `object`; a new reference or NULL. */
static PyObject *
find_end(const struct follow_plan *plan, PyObject *object, struct slice dotted)
{
    static const char *const attributes[] = {".data", ".grad"};
    struct type_cache *types = &plan->session->types;
    PyObject *end = walk_dotted(types, object, dotted);

    for (size_t i = 0; end == NULL && i < sizeof(attributes) / sizeof(*attributes);
         i++) {
        struct slice attribute = slice_of(attributes[i]);
        if (slice_ends(dotted, attribute)) {
            struct slice before = slice_part(dotted, 0, dotted.size - attribute.size);
            bool is_root = slice_find(before, SLICE("."), 0) == before.size;
            PyObject *owner =
                is_root ? Py_NewRef(object) : walk_dotted(types, object, before);
            if (owner != NULL) {
                end = read_of_tensor(plan, owner, attributes[i] + 1);
                Py_DECREF(owner);
            }
        }
    }
    return end;
}

/* A new reference, or NULL without an exception: it cannot be found. */
static PyObject *find_value(const struct follow_plan *plan,
                            PyObject *frame,
                            const struct plan_value *value,
                            PyObject *returned)
{
    PyObject *object, *end;

    if (value->root == NULL) {
        return Py_XNewRef(returned);
    }
    object = frame_find(frame, plan->is_function, value->root, value->slot);
    if (object == NULL || value->dotted == NULL) {
        return object;
    }
    end = find_end(plan, object,
                   (struct slice){PyBytes_AsString(value->dotted),
                                  (size_t)PyBytes_Size(value->dotted)});
    Py_DECREF(object);
    return end;
}

static void
visit(struct follow_plan *plan, uint32_t index, PyObject *frame, PyObject *returned)
{
    const struct plan_visit *asked = &plan->visits[index];
    size_t count =
        asked->value_count < VALUES_LIMIT ? asked->value_count : VALUES_LIMIT;
    PyObject *kept[VALUES_KEPT] = {NULL};
    PyObject **values = kept;

    if (plan->session->recorder == NULL) {
        return;
    }
    if (count > VALUES_KEPT) {
        values = memory_allocate(count, sizeof(*values));
        if (values == NULL) {
            return;
        }
    }
    for (size_t i = 0; i < count; i++) {
        values[i] =
            find_value(plan, frame, &plan->values[asked->first_value + i], returned);
    }
    hook_visit(plan->hook, asked->site, values, (Py_ssize_t)count);
    for (size_t i = 0; i < count; i++) {
        Py_XDECREF(values[i]);
    }
    if (values != kept) {
        memory_free(values);
    }
}

void visit_enter(struct follow_plan *plan, PyObject *frame)
{
    followed_frame_get(frame, plan)->last = 0;
    if (plan->enter != PLAN_NOTHING) {
        visit(plan, plan->enter, frame, NULL);
    } else if (plan->session->recorder != NULL) {
        hook_join(plan->hook, frame);
    }
}

void visit_step(struct follow_plan *plan, PyObject *frame, long offset)
{
    uint32_t number = offset < 0 ? 0 : plan_number(plan, (size_t)offset);
    struct followed_frame *known;
    uint32_t last;

    if (number == 0) {
        return;
    }
    known = followed_frame_get(frame, plan);
    last = known->last;
    known->last = number;
    for (uint32_t i = plan->first_step[number]; i < plan->first_step[number + 1]; i++) {
        if (plan->steps[i].before == last) {
            visit(plan, plan->steps[i].visit, frame, NULL);
        }
    }
}

void visit_return(struct follow_plan *plan,
                  PyObject *frame,
                  long offset,
                  PyObject *value)
{
    uint32_t number = offset < 0 ? 0 : plan_number(plan, (size_t)offset);

    if (plan->returns[number] != PLAN_NOTHING) {
        visit(plan, plan->returns[number], frame, value);
    }
}
