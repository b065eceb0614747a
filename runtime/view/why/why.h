/* Where a NaN, an infinity or any value of a trace comes from: which statement made it of what,
 * and which only passed it on. docs/reference/why.md tells the rules.
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

/* More are counted, not told. */
#define WHY_PRODUCERS_MAX 12
#define WHY_INPUTS_MAX    96
#define WHY_INPUTS_SHOWN  24
/* Of a picture that shows what leads to the value alone. */
#define WHY_BOXES 14

/* Which event is asked for. */
struct why_ask {
    struct slice
        event; /* `#12`, `12`, `#12+`, `FILE:LINE`, `FILE:LINE:NAME`, a glob; "": none */
    uint32_t call; /* 0: any */
    bool has_iteration;
    uint32_t iteration; /* as in the JSON of show: from 0 */
    uint64_t depth;     /* how far back the slice is told; UINT64_MAX: all */
    bool has_all_rows;
    bool has_source; /* rows with the text of their lines */
    bool has_color;
    bool wants_texts;      /* values in words and calls, for people */
    uint64_t memory_limit; /* bytes: more is refused before it is used; 0: no limit */
    /* Called before much memory is used; may be NULL. */
    void (*announce)(void *context, uint64_t values, uint64_t bytes);
    source_strip strip;
    bool (*progress)(void *context, uint64_t events); /* may be NULL */
    void *progress_context;
};

/* What is known of each node, in a few bytes: the walk visits all of them. */
struct why_fact {
    uint8_t holds;    /* enum why_hold */
    uint8_t made;     /* what it holds and nothing that it was made from does */
    uint8_t passes;   /* what of its holdings leads to the event asked for */
    bool is_read : 1; /* recorded because it was read */
    bool is_in_slice : 1;
    bool is_certain : 1; /* some way to the value asked about has certain edges alone */
    bool
        is_absorbed : 1; /* made: one number, of many with infinities that were meant */
    bool is_reported : 1; /* its value is wanted in words */
    bool is_counted : 1;  /* its figures are wanted */
};

/* All that the trace has of a node's event: read when it is asked for. */
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
    /* Of arguments: where the call was made; line 0: not known. */
    uint32_t from_module;
    uint32_t from_line;
    uint32_t alias_site;   /* in the trace: that wrote to its memory, where ALIASED */
    unsigned flags;        /* enum graph_flag */
    struct slice name;     /* with its place in a container */
    struct slice file;     /* borrowed from the reader */
    uint32_t line;         /* 0: not known */
    struct slice code;     /* the line's text without blanks around it; "" */
    struct slice function; /* qualified; borrowed from the reader */
    enum value_kind kind;
    struct slice text; /* where kind is no TENSOR: the value for people */
    struct slice
        words; /* the value in words, with its figures; set where it is reported */
    enum dtype dtype;
    struct slice dtype_text;
    uint32_t dimension_count;
    const int64_t *shape;
    struct slice note; /* why there are no values; "" */
    bool has_statistics;
    struct statistics statistics;
};

/* A name was given an object of a class of torch.nn, or something else after it. */
struct why_noted_object {
    uint64_t event;
    uint64_t address; /* 0: not known */
    uint64_t owner;   /* the `self` of the call; 0: none */
    uint32_t call;
    uint32_t module;
    uint32_t site;           /* in the table of its module */
    struct slice name;       /* borrowed from the reader */
    struct slice class_name; /* "": something else */
};

/* Figures of a node that holds infinities, or that such a one was made from. */
struct why_figures {
    uint32_t node;
    uint64_t count; /* of elements; 0: not known */
    uint64_t infinity_count;
};

/* So many of the objects that a statement calls are known. */
#define WHY_OBJECTS_MAX 8

/* A line that writes to parameters ran: `optimizer.step()`. */
struct why_step {
    uint64_t event;
    uint32_t module;
    uint32_t line;
};

/* A parameter as a step left it, after the event that a statement's input is. */
struct why_current {
    struct statistics statistics;
    struct slice words; /* `value 0 since train.py:20`; in the arena */
};

enum why_how {
    WHY_MADE,     /* here, of what went in */
    WHY_CAME_IN,  /* it was there when it was first seen: an argument, a parameter */
    WHY_SEEN,     /* it was finite before, and no recorded line made it so */
    WHY_BACKWARD, /* here, in the backward: it is the gradient of what went in */
    WHY_STEP, /* by a call that writes to parameters or gradients: `optimizer.step()` */
};

/* A gradient, in words. */
struct why_gradient {
    bool is_known;
    uint64_t event;    /* whose gradient it is */
    struct slice name; /* of that value; in the arena */
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
    bool is_soft;  /* an infinity that the statement names: meant */
    bool is_more;  /* besides those that came with what went in */
    bool is_certain;
    bool has_reason;   /* what the statement's text shows */
    struct slice file; /* where: for an argument the line that made the call */
    uint32_t module;
    uint32_t line;
    struct slice statement;
    struct slice reason; /* words: never empty */
    uint32_t inputs[WHY_INPUTS_MAX];
    struct slice names[WHY_INPUTS_MAX]; /* as the statement spells them */
    struct slice since[WHY_INPUTS_MAX]; /* of parameters that a step wrote to since, in
                                           words; else "" */
    uint32_t input_count;
    uint32_t input_total;
    bool is_gradient;          /* what is not finite is a gradient: `why->bad` */
    struct why_gradient given; /* BACKWARD: the one that arrived at the line's value */
    struct slice functions;    /* BACKWARD: autograd's that ran, the last one first */
    bool is_start;             /* BACKWARD: it is what backward() began with, instead */
    struct slice parameter;    /* STEP: it is of this parameter, and not of the node */
};

/* A parameter that steps let grow before an infinity: records of the training. */
struct why_growth {
    bool is_known;
    uint32_t first, last; /* of its value */
};

/* A row of the slice: a line of the source, and how many of its visits are in it. */
struct why_row {
    uint32_t node; /* the nearest */
    uint32_t depth;
    uint64_t count;
};

struct why {
    struct why_ask ask;
    const char *path;            /* borrowed */
    struct log_reader *reader;   /* owned */
    struct source_lines sources; /* owned */
    struct graph graph;          /* owned */
    struct log_reader
        *lookup;            /* owned: reads single events; NULL: none was asked for */
    struct arena arena;     /* owned: texts, values */
    struct why_fact *facts; /* owned: by node */
    struct why_value **values; /* owned: those that were asked for, in the arena */
    size_t value_capacity;
    uint32_t value_place_count;
    struct number_map value_places; /* owned: node -> place in `values` */
    struct why_figures *figures;    /* owned: in the order of their nodes */
    size_t figures_capacity;
    uint32_t figures_count;
    struct slice *calls; /* by producer: the calls around it */
    struct slice target_call;
    struct slice target_statement;
    struct why_step *steps; /* owned: in the order of the trace */
    size_t step_capacity;
    uint32_t step_count;
    struct why_noted_object *objects; /* owned: in the order of the trace */
    size_t object_capacity;
    uint32_t object_count;
    struct number_map object_names; /* owned: of hashes of their names */
    struct number_map owners;  /* owned: call -> place of the address of its `self` */
    uint64_t *owner_addresses; /* owned */
    size_t owner_capacity;
    uint32_t owner_count;
    struct number_map
        absorbing;             /* owned: sites where infinities are absorbed, or not */
    struct number_map written; /* owned: sites whose infinities are meant, or not */
    uint64_t event_count;
    uint64_t value_count; /* events with a value */
    uint64_t nonfinite_count;
    struct backwards backwards; /* owned */
    uint32_t backward;          /* the one that is answered with; BACKWARD_NONE: none */
    struct training_cause cause; /* of a parameter's, where has_cause */
    bool has_cause;
    struct slice chain; /* what followed from the answer, a line each; in the arena */
    struct why_growth growth;
    struct slice grown; /* the values of that parameter, a line each; in the arena */
    uint32_t undecided_count; /* lines of it of which one did it: the first producers */
    struct why_gradient bad;  /* its first gradient that is not finite */
    bool
        has_alternatives; /* several values may be what a NaN was made from: one of them is */
    uint64_t first_event; /* the number of the first that the trace has */
    uint32_t
        target; /* FLOW_NONE: there is none: everything is finite; the graph's end: it is a
                        parameter's, which is no node */
    uint64_t match_count; /* events that fit what was asked for */
    bool is_soft; /* no event was asked for, and there are meant infinities alone */
    struct why_producer producers[WHY_PRODUCERS_MAX];
    uint32_t producer_count;
    uint64_t producer_total;
    uint32_t main;        /* the producer that is told first */
    struct why_row *rows; /* owned */
    size_t row_capacity;
    uint32_t row_count;
    uint64_t hidden_rows; /* beyond depth, or too many */
    uint64_t slice_count; /* values in the whole slice */
};

void why_init(struct why *why);
void why_release(struct why *why);

/* Finds the event and where it comes from. Fails where the trace cannot be read, memory runs
 * out, or (ERROR_USAGE) what is asked for is not there. */
bool why_find(struct why *why,
              const char *path,
              const struct why_ask *ask,
              struct error *error);

/* Whether `event` is `#N+`, which asks for the first NaN or Inf from event N on. */
bool why_read_start(struct slice event, uint64_t *first);

/* The number of the event that the answer is about: of a parameter's, which is no node, of the parameter. */
uint64_t why_focus(const struct why *why);

/* Whether what was asked for is bad: a NaN, or an infinity that nobody meant. */
bool why_is_bad(const struct why *why);

/* Another trace of the same run that has a value which came in. */
struct why_beside {
    struct why why;   /* owned: where it was made there */
    const char *path; /* borrowed; NULL: there is none */
    bool
        is_certain; /* it is the value; else it is like it, or several lines made such ones */
};

void why_beside_init(struct why_beside *beside);
void why_beside_release(struct why_beside *beside);
/* Whether the value that is printed first was there before any recorded line made it, or came with a
 * gradient that another rank may have sent. */
bool why_came_in(const struct why *why);
/* Looks for that value in those traces; one that cannot be read is passed over. */
void why_find_beside(struct why *why,
                     const char *const *paths,
                     size_t count,
                     struct why_beside *beside);

/* For people; the first line has the form that docs/reference/why.md tells. */
void why_text_add(const struct why *why, struct buffer *text);
/* Its first line alone, without colours and line end. */
void why_head_add(const struct why *why, struct buffer *text);
/* The mark of an event, for flow_options and pages; `why` is a struct why. What the answer was made from
 * has one; the rest, FLOW_MARK_NONE. */
enum flow_mark why_mark(void *why, uint64_t event);
/* The reason, of a line that made a NaN or an infinity; else "". */
struct slice why_remark(void *why, uint64_t event);
/* One object in one line; `beside` may be NULL. */
void why_json_add(const struct why *why,
                  const struct why_beside *beside,
                  struct slice trace,
                  struct buffer *text);
/* The same where no event fits the question: `message` says why. */
void why_json_add_no_match(const struct why *why,
                           struct slice trace,
                           struct slice message,
                           struct buffer *text);

/* What begins on that line, to the end of its last statement; without comments and line ends. */
struct slice why_statement(struct why *why, uint32_t module, uint32_t line);
/* The statement that made a node: neither one in front of it on its line nor one behind it. */
struct slice why_statement_of(struct why *why, uint32_t node);

/* ---- parts of it, for its own files ---- */

/* facts.c: what an array with such figures holds: enum why_hold. */
unsigned why_holds(const struct statistics *statistics);
/* Counts events, in memory that does not grow. */
void why_count(struct why *why);
/* What the trace has of the node's event. Never NULL: where memory runs out all is empty, and the
 * arena has failed. */
const struct why_value *why_value(const struct why *why, uint32_t node);
/* Its first edge, and the one behind its last, in the graph's edges. */
static inline uint32_t why_first_edge(const struct why *why, uint32_t node)
{
    assert(node < why->graph.node_count);
    return why->graph.nodes[node].first_edge;
}
static inline uint32_t why_end_edge(const struct why *why, uint32_t node)
{
    return why->graph.nodes[node + 1].first_edge;
}
/* The value that the parameter of that node had at event `before`; false: as the node has it, or not known. */
bool why_read_current(struct why *why,
                      uint32_t node,
                      uint64_t before,
                      struct why_current *current);
/* `model.py:31 by y`: the site that wrote to the value's memory; "" where none did. In the arena. */
struct slice why_writer(struct why *why, uint32_t node);
/* Sets the figures of the nodes that are marked as counted. */
bool why_read_figures(struct why *why, struct error *error);
/* Whether more elements of the node are infinite than of any array as large that it was made from:
 * of nodes whose figures were read. */
bool why_has_more(const struct why *why, uint32_t node);
/* Reads the stream again, beside the graph. */
bool why_read_facts(struct why *why, struct error *error);
/* Values and calls in words, of what is told. */
bool why_read_texts(struct why *why, struct error *error);
/* The last optimizer's step that ran before that event; NULL: none is recorded. */
const struct why_step *why_last_step(const struct why *why, uint64_t event);
/* The objects that the node's statement may call, WHY_OBJECTS_MAX at most; of one that is of no known
 * class the class is "". */
uint32_t why_find_objects(struct why *why,
                          uint32_t node,
                          struct slice statement,
                          struct why_object *objects);
/* What made that node's NaN or infinities, which are `made`. */
void why_judge(struct why *why,
               uint32_t node,
               unsigned made,
               struct why_producer *producer);
/* judge.c: the statement that made the node, its place and what went in. */
void why_read_statement(struct why *why, struct why_producer *producer);
void why_fill_inputs(struct why *why,
                     struct why_producer *producer,
                     struct why_input *inputs);
/* The text is the producer's reason from now on; releases it. */
void why_keep_reason(struct why *why,
                     struct why_producer *producer,
                     struct buffer *text);
/* Whether a value, a gradient or a parameter holds NaN or an infinity. */
bool why_has_bad(const struct why *why);
/* backward.c: where no event is asked for, sets the backward and the target if a gradient was not finite
 * before the target was. */
void why_choose_backward(struct why *why);
/* Sets the producers to the lines of the backward: of the one that was chosen, or of one that an optimizer
 * brought into what came in. */
bool why_follow_backward(struct why *why, struct error *error);
/* growth.c: adds to the reason of an infinity that steps were too large, if a parameter grew. */
void why_explain_growth(struct why *why);
/* "lr is 30, set at train.py:16"; nothing where the record has no learning rate. */
void why_rate_add(const struct why *why,
                  const struct training_record *record,
                  struct buffer *text);
/* Whether the producers are lines of which one alone did it, and it is not known which. */
bool why_is_undecided(const struct why *why);
/* why.c: whether the node is one number of many with infinities in them: no mask means that. */
enum why_absorbed {
    WHY_ABSORBS_NOT,
    WHY_ABSORBS_PASSES, /* a sum: the line that wrote the infinity made it */
    WHY_ABSORBS_MAKES,  /* a loss: of -Inf it makes Inf */
};
/* Fails with "out of memory". */
bool why_out_of_memory(struct error *error);

/* Where a NaN comes from, as a picture: what it was made from, with marks. */

/* Appends the file's bytes. Reads the trace again: turns of loops and calls that are alike are
 * folded in it. */
bool why_picture_add(struct why *why,
                     const struct render_options *options,
                     struct buffer *bytes,
                     struct error *error);

#endif
