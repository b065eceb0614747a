/* The backwards of a trace, in memory that grows with their number and not with that of
 * gradients; and the parameters of a training, in memory that grows with the number of their
 * records. */
#ifndef MONITORCH_VIEW_GRADIENT_GRADIENT_H
#define MONITORCH_VIEW_GRADIENT_GRADIENT_H

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define BACKWARD_NONE UINT32_MAX

/* A gradient that another one was made from. */
struct gradient_origin {
    bool is_start;  /* a tensor that backward() was called with, and no event's value */
    uint64_t event; /* else: the event of the value */
    struct slice functions; /* autograd's between, the last one first; in the arena */
};

struct backward {
    uint32_t step;     /* number of the step in the trace */
    struct slice file; /* of the call; in the arena; "": not known */
    uint32_t line;
    uint16_t thread;
    uint64_t next_event; /* number of the first event after its start */
    uint64_t begin, end; /* its first and its last record, counted over all backwards */
    uint64_t gradient_count;
    uint64_t bad_count; /* number of gradients with NaN or an infinity */
    uint64_t bad_event; /* if bad_count > 0: the event of the first of them … */
    uint64_t bad_next;  /* … and the number of the first event after it */
    struct gradient_origin
        *origins; /* of that gradient; in the arena; NULL: not known */
    uint32_t origin_count;
};

#define TRAINING_NONE UINT32_MAX

enum training_what {
    TRAINING_READ,        /* the value, as a line read it */
    TRAINING_WRITTEN,     /* the value after a step */
    TRAINING_ACCUMULATED, /* the gradient after a backward */
    TRAINING_GRADIENT_READ,
    TRAINING_GRADIENT_WRITTEN, /* the gradient after a function such as clip_grad_norm_ */
    TRAINING_STATE,            /* a tensor that the optimizer keeps for the parameter */
};

/* One record of a parameter. */
struct training_record {
    uint64_t event;  /* its number; ACCUMULATED: the number of the value's event */
    uint64_t next;   /* number of the first event after it */
    uint64_t object; /* address of the tensor */
    double largest;  /* largest magnitude of a finite element */
    double rate;     /* WRITTEN: the optimizer's learning rate; NaN: not known */
    uint32_t rate_module, rate_site; /* the line that set the rate */
    uint64_t nan_count, inf_count;
    uint32_t parameter; /* index in `names` */
    uint32_t before;    /* previous record of the same parameter; TRAINING_NONE */
    uint32_t step;      /* number of the backward or the call in the trace; 0: none */
    uint32_t version;
    uint32_t module, site; /* of the line: of the trace, and of the module's table */
    uint32_t state;        /* STATE: index in `names` */
    uint8_t what;          /* enum training_what */
    bool is_rate_read; /* that line's step read the rate: who set it is not recorded */
    bool has_figures;
};

/* A call that wrote to parameters or gradients. */
struct training_step {
    uint32_t number;
    enum log_step_tag tag;
    struct slice name; /* "SGD.step"; in the arena */
    struct slice file; /* in the arena */
    uint32_t line;
};

/* The newest learning rate of an optimizer. */
struct training_rate {
    struct slice optimizer; /* "SGD"; the second of its class: "SGD@2"; in the arena */
    double rate;            /* NaN: its parameter groups have different rates */
    uint32_t module, site;  /* the line that set it */
    bool is_read;           /* or whose step read it */
};

struct training {
    struct arena arena;              /* owned */
    struct training_record *records; /* owned; in the order of the trace */
    size_t record_capacity;
    uint32_t record_count;
    struct training_step *steps; /* owned */
    size_t step_capacity;
    uint32_t step_count;
    struct slice *names; /* owned; in the arena */
    size_t name_capacity;
    uint32_t name_count;
    uint32_t *newest; /* owned; by name: its newest record */
    size_t newest_capacity;
    struct number_map numbers;   /* owned; hash of a name -> its number */
    struct training_rate *rates; /* owned */
    size_t rate_capacity;
    uint32_t rate_count;
};

struct backwards {
    struct arena arena;     /* owned */
    struct backward *items; /* owned; in the order of the trace */
    size_t capacity;
    uint32_t count;
    uint64_t record_count;
    uint64_t gradient_count; /* of all backwards */
    uint64_t bad_count;
    struct training training; /* owned: what steps did with the gradients; filled by
                                 training_add */
};

void backwards_init(struct backwards *backwards);
void backwards_release(struct backwards *backwards);

/* Adds the item. Must be called with each item of the stream in order. `next_event`: the number
 * that the next event will have. Returns false if memory runs out. */
bool backwards_add(struct backwards *backwards,
                   const struct log_reader *reader,
                   const struct log_item *item,
                   uint64_t next_event);

/* The first backward, from event `start` on, with a gradient that is not finite, unless a later
 * backward of the same line had only finite ones. So a backward whose step a GradScaler skipped
 * is not returned. BACKWARD_NONE: none. */
uint32_t backwards_find_bad(const struct backwards *backwards, uint64_t start);

/* The index of the backward with that number in the trace. BACKWARD_NONE: none. */
uint32_t backwards_find(const struct backwards *backwards, uint32_t step);

/* ---- parameters: training.c ---- */

void training_init(struct training *training);
void training_release(struct training *training);
/* Adds the item, like backwards_add. The reader must be set to show parameters. */
bool training_add(struct training *training,
                  const struct log_item *item,
                  uint64_t next_event);

/* The origin of the NaN or infinities of a parameter. */
enum training_cause_kind {
    TRAINING_CAUSE_UNKNOWN,
    TRAINING_CAUSE_CAME_IN,  /* the parameter had them when it was recorded first */
    TRAINING_CAUSE_FOUND,    /* no recorded call wrote them */
    TRAINING_CAUSE_GRADIENT, /* a gradient of the backward `backward` had them */
    TRAINING_CAUSE_SPREAD, /* another parameter's gradient had them: one norm of all */
    TRAINING_CAUSE_STATE,  /* the optimizer kept them since the backward `backward` */
    TRAINING_CAUSE_CALL,   /* a function made them of finite gradients */
    TRAINING_CAUSE_STEP,   /* the step made them of finite values and gradients */
};
struct training_cause {
    enum training_cause_kind kind;
    uint32_t value;    /* the first record of the value with them */
    uint32_t gradient; /* the record of the gradient that had them; TRAINING_NONE */
    uint32_t state;    /* the record of the optimizer's tensor; TRAINING_NONE */
    uint32_t backward; /* number of the backward in the trace; 0: none */
};
/* Finds the cause for the parameter whose tensor is at `object` before event `before`. Returns
 * false if the parameter is not known or was finite. */
bool training_explain(const struct training *training,
                      uint64_t object,
                      uint64_t before,
                      struct training_cause *cause);
/* The first record, from event `start` on, in which a step left a parameter with NaN or
 * infinities that it still has at the end. TRAINING_NONE: none. */
uint32_t training_find_bad(const struct training *training, uint64_t start);
/* The newest record of the value of the parameter at `object` before event `before`.
 * TRAINING_NONE: none. */
uint32_t
training_find_value(const struct training *training, uint64_t object, uint64_t before);
/* Whether the newest gradient that a backward before step `step` accumulated for that parameter
 * was not finite. */
bool training_accumulated_bad(const struct training *training,
                              struct slice parameter,
                              uint32_t step);
/* The step with that number. NULL: none. */
const struct training_step *training_step_of(const struct training *training,
                                             uint32_t number);
static inline bool training_is_bad(const struct training_record *record)
{
    return record->nan_count + record->inf_count > 0;
}

#endif
