/* Search for the source of a NaN, an infinity or any value of a trace: the statement that made it,
 * the values that it was computed from, and the statements that only passed it on.
 * docs/reference/why.md has the rules.
 *
 *     why_init(&why);
 *     if (why_find(&why, path, &ask, &error)) { why_text_add(&why, …); }
 *     why_release(&why);
 */
#ifndef MONITORCH_VIEW_WHY_WHY_H
#define MONITORCH_VIEW_WHY_WHY_H

#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/number_map.h"
#include "runtime/trace/reader.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/gradient/gradient.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/walk/source_lines.h"
#include "runtime/view/why/reason/reason.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Further producers are only counted. */
#define WHY_PRODUCERS_MAX 12
#define WHY_INPUTS_MAX    96
#define WHY_INPUTS_SHOWN  24
/* The number of boxes of a picture that shows only the way to the value. */
#define WHY_BOXES 14

/* The question: an event, and the form of the answer. */
struct why_ask {
    struct slice
        event; /* `#12`, `12`, `#12+`, `FILE:LINE`, `FILE:LINE:NAME`, a glob; "": none */
    uint32_t call; /* 0: any */
    bool has_iteration;
    uint32_t iteration; /* counted from 0, as in the JSON of show */
    uint64_t depth;     /* how far back the slice is printed; UINT64_MAX: all */
    bool has_all_rows;
    bool has_source; /* rows include the text of their lines */
    bool has_color;
    bool wants_texts; /* texts of values and calls, for people */
    uint64_t
        memory_limit; /* in bytes, checked before the memory is used; 0: no limit */
    /* Called before much memory is used; may be NULL. */
    void (*announce)(void *context, uint64_t values, uint64_t bytes);
    source_strip strip;
    bool (*progress)(void *context, uint64_t events); /* may be NULL */
    void *progress_context;
};

/* The facts of a node, in a few bytes: the walk visits all nodes. */
struct why_fact {
    uint8_t holds;    /* enum why_hold */
    uint8_t made;     /* held by it, and by none of its sources */
    uint8_t passes;   /* the part of `holds` that leads to the event in question */
    bool is_read : 1; /* recorded because it was read */
    bool is_in_slice : 1;
    bool is_certain : 1;  /* a path of certain edges leads to the value in question */
    bool is_absorbed : 1; /* reduced infinities that were intended to one number */
    bool is_reported : 1; /* its value is printed */
    bool is_counted : 1;  /* its figures are needed */
};

/* The trace's data of a node's event, read on the first access. */
struct why_value {
    uint64_t event;
    uint64_t origin; /* 1 + the event that held the object before; 0: none */
    uint64_t data;   /* address of the first element; 0: not known */
    double number;   /* of scalars */
    bool is_number;
    uint32_t visit;
    uint32_t call;
    uint32_t site; /* in the table of its module */
    uint32_t module;
    /* Only for arguments: the place of the call; line 0: not known. */
    uint32_t from_module;
    uint32_t from_line;
    uint32_t
        alias_site; /* counted over the trace: the site that wrote to its memory, if ALIASED */
    unsigned flags;        /* enum graph_flag */
    struct slice name;     /* with its index in a container */
    struct slice file;     /* borrowed from the reader */
    uint32_t line;         /* 0: not known */
    struct slice code;     /* the line's text, trimmed; "" */
    struct slice function; /* qualified; borrowed from the reader */
    enum value_kind kind;
    struct slice text; /* if kind is not TENSOR: the value, for people */
    struct slice
        words; /* the value and its figures, for people; set only if is_reported */
    enum dtype dtype;
    struct slice dtype_text;
    uint32_t dimension_count;
    const int64_t *shape;
    struct slice note; /* the reason why the values are missing; "" */
    bool has_statistics;
    struct statistics statistics;
};

/* An assignment of a torch.nn object to a name, or of another value to a name that had one. */
struct why_noted_object {
    uint64_t event;
    uint64_t address; /* 0: not known */
    uint64_t owner;   /* the `self` of the call; 0: none */
    uint32_t call;
    uint32_t module;
    uint32_t site;           /* in the table of its module */
    struct slice name;       /* borrowed from the reader */
    struct slice class_name; /* "": another value */
};

/* The figures of a node that holds infinities, or of one of its sources. */
struct why_figures {
    uint32_t node;
    uint64_t count; /* number of elements; 0: not known */
    uint64_t infinity_count;
};

/* The number of objects that are found for a statement. */
#define WHY_OBJECTS_MAX 8

/* A visit of a line that writes to parameters: `optimizer.step()`. */
struct why_step {
    uint64_t event;
    uint32_t module;
    uint32_t line;
};

/* The newest value of a parameter, if a step wrote to it after the event of the statement's
 * input. */
struct why_current {
    struct statistics statistics;
    struct slice words; /* `value 0 since train.py:20`; in the arena */
};

enum why_how {
    WHY_MADE,    /* here, from the inputs */
    WHY_CAME_IN, /* present in the first event of the value: an argument, a parameter */
    WHY_SEEN,    /* finite before; no recorded line made it */
    WHY_BACKWARD, /* here, in the backward: the gradient of an input */
    WHY_STEP, /* by a call that writes to parameters or gradients: `optimizer.step()` */
};

/* A gradient and its texts. */
struct why_gradient {
    bool is_known;
    uint64_t event;    /* the event of the value that has the gradient */
    struct slice name; /* the value's name; in the arena */
    struct slice text; /* its figures; in the arena */
    enum dtype dtype;
    bool has_statistics;
    struct statistics statistics;
    uint32_t module; /* the value's place */
    uint32_t line;
};

struct why_producer {
    uint32_t node;
    enum why_how how;
    unsigned made; /* enum why_hold */
    bool is_soft;  /* an intended infinity: the statement names it */
    bool is_more;  /* additional infinities, besides those of the inputs */
    bool is_certain;
    bool has_reason;   /* the reason was found in the statement's text */
    struct slice file; /* the place: for an argument, that of the call */
    uint32_t module;
    uint32_t line;
    struct slice statement;
    struct slice reason; /* for people; never empty */
    uint32_t inputs[WHY_INPUTS_MAX];
    struct slice names[WHY_INPUTS_MAX]; /* spelled as in the statement */
    struct slice since
        [WHY_INPUTS_MAX]; /* the text of a later value that a step wrote; else "" */
    uint32_t input_count;
    uint32_t input_total;
    bool is_gradient; /* the value that is not finite is a gradient: `why->bad` */
    struct why_gradient
        given; /* BACKWARD: the gradient that arrived at the line's value */
    struct slice
        functions; /* BACKWARD: functions of autograd that ran, the last one first */
    bool is_start; /* BACKWARD: the gradient is the one that backward() started with */
    struct slice parameter; /* STEP: the parameter in question, instead of the node */
};

/* A parameter that grew over the steps before an infinity. */
struct why_growth {
    bool is_known;
    uint32_t first, last; /* training records of its value */
};

/* A row of the slice: a line of the source and the number of its visits. */
struct why_row {
    uint32_t node; /* the nearest visit */
    uint32_t depth;
    uint64_t count;
};

struct why {
    struct why_ask ask;
    const char *path;            /* borrowed */
    struct log_reader *reader;   /* owned */
    struct source_lines sources; /* owned */
    struct graph graph;          /* owned */
    struct log_reader *lookup;   /* owned: reads single events; NULL: not used yet */
    struct arena arena;          /* owned: texts, values */
    struct why_fact *facts;      /* owned: one for each node */
    struct why_value *
        *values; /* owned; the items are in the arena, each from its first access on */
    size_t value_capacity;
    uint32_t value_place_count;
    struct number_map value_places; /* owned: node -> index in `values` */
    struct why_figures *figures;    /* owned; sorted by node */
    size_t figures_capacity;
    uint32_t figures_count;
    struct slice *calls; /* for each producer, the calls around it */
    struct slice target_call;
    struct slice target_statement;
    struct why_step *steps; /* owned; in trace order */
    size_t step_capacity;
    uint32_t step_count;
    struct why_noted_object *objects; /* owned; in trace order */
    size_t object_capacity;
    uint32_t object_count;
    struct number_map object_names; /* owned: hashes of the noted names */
    struct number_map
        owners; /* owned: call -> index of its `self` in `owner_addresses` */
    uint64_t *owner_addresses; /* owned */
    size_t owner_capacity;
    uint32_t owner_count;
    struct number_map absorbing; /* owned: site -> enum why_absorbed */
    struct number_map written; /* owned: site -> whether its infinities are intended */
    uint64_t event_count;
    uint64_t value_count; /* events with a value */
    uint64_t nonfinite_count;
    struct backwards backwards;  /* owned */
    uint32_t backward;           /* the backward of the answer; BACKWARD_NONE: none */
    struct training_cause cause; /* the cause of a bad parameter, if has_cause */
    bool has_cause;
    struct slice chain; /* the events after the answer, one line each; in the arena */
    struct why_growth growth;
    struct slice
        grown; /* the values of the parameter in `growth`, one line each; in the arena */
    uint32_t
        undecided_count; /* number of leading producers of which exactly one made the gradient */
    struct why_gradient bad; /* the first gradient of `backward` that is not finite */
    bool
        has_alternatives; /* a NaN comes from one of several values, and it is not known which */
    uint64_t first_event; /* number of the trace's first event */
    uint32_t
        target; /* FLOW_NONE: all is finite; the node count: a parameter, which is no node */
    uint64_t match_count; /* number of events that match the question */
    bool is_soft;         /* no event was asked for, and all infinities are intended */
    struct why_producer producers[WHY_PRODUCERS_MAX];
    uint32_t producer_count;
    uint64_t producer_total;
    uint32_t main;        /* index of the producer that is printed first */
    struct why_row *rows; /* owned */
    size_t row_capacity;
    uint32_t row_count;
    uint64_t hidden_rows; /* rows beyond the depth or the limit */
    uint64_t slice_count; /* number of values in the whole slice */
};

void why_init(struct why *why);
void why_release(struct why *why);

/* Finds the event and its producers. Fails if the trace cannot be read, memory runs out, or
 * (ERROR_USAGE) nothing matches the question. */
bool why_find(struct why *why,
              const char *path,
              const struct why_ask *ask,
              struct error *error);

/* Whether `event` has the form `#N+`, which asks for the first NaN or Inf from event N on. */
bool why_read_start(struct slice event, uint64_t *first);

/* The number of the event that the answer is about. If the target is a parameter's event, which
 * is no node, the event of the parameter. */
uint64_t why_focus(const struct why *why);

/* Whether the value in question is bad: it holds a NaN, or an infinity that is not intended. */
bool why_is_bad(const struct why *why);

/* Another trace of the same run that holds a value which came into this process. */
struct why_beside {
    struct why why;   /* owned: the answer of that trace */
    const char *path; /* borrowed; NULL: there is none */
    bool
        is_certain; /* the same value, made by one line; else a similar one, or several lines */
};

void why_beside_init(struct why_beside *beside);
void why_beside_release(struct why_beside *beside);
/* Whether the first printed value existed before any recorded line made it, or came with a
 * gradient that another rank may have sent. */
bool why_came_in(const struct why *why);
/* Searches these traces for that value. A trace that cannot be read is skipped. */
void why_find_beside(struct why *why,
                     const char *const *paths,
                     size_t count,
                     struct why_beside *beside);

/* Appends the answer for people. docs/reference/why.md has the form of its first line. */
void why_text_add(const struct why *why, struct buffer *text);
/* Appends the first line alone, without colours and line end. */
void why_head_add(const struct why *why, struct buffer *text);
/* The mark of an event, for flow_options and pages; `why` is a struct why. FLOW_MARK_NONE for
 * events that the answer was not computed from. */
enum flow_mark why_mark(void *why, uint64_t event);
/* The reason, for an event whose line made a NaN or an infinity; "" for others. */
struct slice why_remark(void *why, uint64_t event);
/* Appends the answer as one JSON object on one line. `beside` may be NULL. */
void why_json_add(const struct why *why,
                  const struct why_beside *beside,
                  struct slice trace,
                  struct buffer *text);
/* Appends the JSON object for a question that no event matches. `message` is the reason. */
void why_json_add_no_match(const struct why *why,
                           struct slice trace,
                           struct slice message,
                           struct buffer *text);

/* The text of all statements that start on the line, to the end of the last one, without
 * comments and line ends. */
struct slice why_statement(struct why *why, uint32_t module, uint32_t line);
/* The text of the one statement that made the node, without others on its line. */
struct slice why_statement_of(struct why *why, uint32_t node);

/* ---- shared by the files of this folder ---- */

/* facts.c: the kinds of values (enum why_hold) in an array with these figures. */
unsigned why_holds(const struct statistics *statistics);
/* Counts events, in constant memory. */
void why_count(struct why *why);
/* The trace's data of the node's event. Never NULL: if memory runs out the data is empty, and
 * the arena has failed. */
const struct why_value *why_value(const struct why *why, uint32_t node);
/* The node's edges are those from its first edge up to, and without, its end edge. */
static inline uint32_t why_first_edge(const struct why *why, uint32_t node)
{
    assert(node < why->graph.node_count);
    return why->graph.nodes[node].first_edge;
}
static inline uint32_t why_end_edge(const struct why *why, uint32_t node)
{
    return why->graph.nodes[node + 1].first_edge;
}
/* Reads the value that the node's parameter had at event `before`. Returns false if the value is
 * that of the node, or not known. */
bool why_read_current(struct why *why,
                      uint32_t node,
                      uint64_t before,
                      struct why_current *current);
/* The site that wrote to the value's memory, such as `model.py:31 by y`; "" if none did. In the
 * arena. */
struct slice why_writer(struct why *why, uint32_t node);
/* Reads the figures of the nodes with is_counted. */
bool why_read_figures(struct why *why, struct error *error);
/* Whether the node has more infinite elements than each of its sources of the same size. Uses
 * only nodes whose figures were read. */
bool why_has_more(const struct why *why, uint32_t node);
/* Reads the stream a second time, in parallel to the graph. */
bool why_read_facts(struct why *why, struct error *error);
/* Reads the texts of the values and calls that are printed. */
bool why_read_texts(struct why *why, struct error *error);
/* The last optimizer step before the event; NULL if none is recorded. */
const struct why_step *why_last_step(const struct why *why, uint64_t event);
/* Finds the objects that the node's statement may call, at most WHY_OBJECTS_MAX. The class is ""
 * if it is not a known one. Returns their number. */
uint32_t why_find_objects(struct why *why,
                          uint32_t node,
                          struct slice statement,
                          struct why_object *objects);
/* Finds how the node's line made its NaN or infinities, which are `made`. */
void why_judge(struct why *why,
               uint32_t node,
               unsigned made,
               struct why_producer *producer);
/* judge.c: finds the statement that made the node, its place and its inputs. */
void why_read_statement(struct why *why, struct why_producer *producer);
void why_fill_inputs(struct why *why,
                     struct why_producer *producer,
                     struct why_input *inputs);
/* Makes the text the producer's reason, and releases the buffer. */
void why_keep_reason(struct why *why,
                     struct why_producer *producer,
                     struct buffer *text);
/* Whether any value, gradient or parameter holds NaN or an infinity. */
bool why_has_bad(const struct why *why);
/* backward.c: sets the backward and the target if no event was asked for, and a gradient stopped
 * being finite before the target did. */
void why_choose_backward(struct why *why);
/* Sets the producers to the lines of the chosen backward, or of the backward whose gradient an
 * optimizer wrote into a value that came in. */
bool why_follow_backward(struct why *why, struct error *error);
/* growth.c: adds the growth of a parameter to the reason of an infinity, if steps were too
 * large. */
void why_explain_growth(struct why *why);
/* Appends the learning rate, such as "lr is 30, set at train.py:16"; nothing if the record has
 * none. */
void why_rate_add(const struct why *why,
                  const struct training_record *record,
                  struct buffer *text);
/* Whether exactly one of the producers made the gradient, and it is not known which. */
bool why_is_undecided(const struct why *why);
/* why.c: whether the node reduced many numbers with infinities to one, which no mask intends. */
enum why_absorbed {
    WHY_ABSORBS_NOT,
    WHY_ABSORBS_PASSES, /* a sum: the line that wrote the infinity is the cause */
    WHY_ABSORBS_MAKES,  /* a loss: turns -Inf into Inf, and is the cause */
};
/* Sets the error "out of memory". Returns false. */
bool why_out_of_memory(struct error *error);

/* The picture of the values that a NaN was computed from, with marks. */

/* Appends the file's bytes. Reads the trace again; iterations and calls that are alike are
 * folded. */
bool why_picture_add(struct why *why,
                     const struct render_options *options,
                     struct buffer *bytes,
                     struct error *error);

#endif
