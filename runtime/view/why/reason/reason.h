/* Reason for a statement's NaN or infinity: the steps of its text that are consistent with the
 * recorded figures of its inputs. */
#ifndef MONITORCH_VIEW_WHY_REASON_REASON_H
#define MONITORCH_VIEW_WHY_REASON_REASON_H

#include "runtime/array/dtype.h"
#include "runtime/array/statistics/statistics.h"
#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum why_hold {
    WHY_NAN = 1,
    WHY_POSINF = 2,
    WHY_NEGINF = 4,
    WHY_INF = WHY_POSINF | WHY_NEGINF,
};

/* A value that the statement read, or that one of its calls returned. */
struct why_input {
    struct slice
        name; /* spelled as in the text; for results the item of the value: "", `[0]` */
    bool is_result;
    bool is_mask;        /* its least element was written into a mask by a line */
    uint32_t call;       /* for results: the call's number */
    struct slice callee; /* for results: the function, `Norm.forward` */
    struct slice path;   /* for results: the nn.Module's path, `blocks.0.norm`; "" */
    bool is_number;      /* `number` is the value */
    bool has_statistics;
    double number;
    enum dtype dtype; /* DTYPE_OTHER for numbers */
    struct statistics statistics;
    const int64_t *shape; /* may be NULL */
    uint32_t dimension_count;
};

/* An object of a class of torch.nn that the statement may call. */
struct why_object {
    struct slice name; /* spelled as in the statement: `loss_fct`, `self.criterion` */
    struct slice class_name; /* `CrossEntropyLoss`; "": not known */
    struct slice maker;      /* the statement that made it; "": not known */
};

struct why_question {
    struct slice statement; /* without comments and line ends */
    const struct why_object *objects;
    uint32_t object_count;
    const struct why_input *inputs;
    uint32_t input_count;
    bool is_cut; /* more inputs exist */
    /* Only for a question about an argument, which the statement passed to a call: the function,
     * its class and path, the parameter, and its place among arguments without a keyword. */
    struct slice callee, class_name, callee_path, parameter;
    uint32_t position;
    enum dtype dtype; /* of the value in question */
    unsigned
        made; /* enum why_hold, combined: held by the value and by none of its inputs */
    /* The inputs hold the infinities already. The question is whether the statement reduced many
     * numbers with infinities to one, by a sum, a mean, a norm or a loss, which no mask intends. */
    bool is_absorbed;
};

struct why_answer {
    bool is_reported; /* a reason was found and appended to the text */
    bool
        is_certain; /* the figures prove the reason; else it is the only possible step */
    bool is_written;    /* the text names the infinity or NaN */
    bool is_outside;    /* the cause is a gradient, which is not recorded */
    bool is_impossible; /* the statement cannot give the result from such inputs */
    bool
        is_handed; /* the statement only passes on an existing value: `getattr(value, name)` */
    bool is_item;       /* if is_handed: an item of an iterated value */
    bool is_collective; /* if is_handed: a value that other ranks sent */
    bool is_default;    /* an argument that the call does not give: the default */
    struct slice text;  /* if is_handed: the expression, borrowed from the statement */
};

/* The short name of a class of torch.nn, for its full name such as
 * `torch.nn.modules.loss.CrossEntropyLoss`. "" if calls of its objects are not known. */
struct slice why_class_of(struct slice type);

/* Whether the statement writes that number at the places of a mask: `masked_fill(m, -1e9)`,
 * `where(keep, 0.0, -1e9)`, `m * -1e9`, `m[0] = -1e9`. */
bool why_writes_mask(struct slice statement, double number);

/* A line whose backward made a gradient that is not finite. */
struct why_backward {
    const struct why_question
        *question; /* the statement, and its inputs in the forward */
    struct why_input
        given; /* the gradient that arrived at the line's value, with the value's name */
    enum dtype dtype; /* of the gradient that the line's backward made */
    struct slice
        functions;    /* autograd functions that ran there, the last one first; "" */
    bool is_infinite; /* the gradient holds infinities and no NaN */
};
/* Appends the reason to `text`: a derivative that is not finite for the inputs. If none is
 * found, appends the names of the functions, and the answer has no reason. */
struct why_answer why_backward_add(struct buffer *text,
                                   const struct why_backward *backward);

/* Appends the autograd functions: the first by name, the others by their number. */
void why_functions_add(struct buffer *text, struct slice functions);

/* Appends a reason to `text`, or nothing if none is found. */
struct why_answer why_reason_add(struct buffer *text,
                                 const struct why_question *question);

#endif
