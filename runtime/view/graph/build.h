/* The state of a reading: every value becomes a small raw node with its edges, in a tree of calls
 * and turns of loops, bound to the names and containers that hold it. `reading.h` has what is left
 * of it at the end. Private to this folder. */
#ifndef MONITORCH_VIEW_GRAPH_BUILD_H
#define MONITORCH_VIEW_GRAPH_BUILD_H

#include "runtime/site/term.h"
#include "runtime/view/graph/reading.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many values at most does one statement read, and so many edges come of it. */
#define GRAPH_SOURCES_MAX 65536
/* A trace that has so many edges gets fewer of each further statement, so that one that reads a
 * growing container again and again stays linear. */
#define GRAPH_PLENTY      4000000
#define GRAPH_SOURCES_FEW 1024
#define GRAPH_EDGES_FEW   4096

struct graph_raw_call {
    uint32_t number; /* in the trace */
    uint32_t parent; /* index of a call, or GRAPH_NONE */
    uint32_t module;
    uint32_t function;
    uint32_t line;       /* in the parent; 0: not known */
    uint32_t path;       /* text */
    uint32_t class_name; /* text */
    uint32_t scope;      /* where its names are bound */
    uint32_t owner;      /* the scope of the attributes of its `self` */
    uint32_t unit;
    uint32_t open_unit; /* the innermost turn that goes on, or `unit` */
    /* Calls that it has made since its last event, in their order. */
    uint32_t first_pending, last_pending;
    uint32_t next_pending;                   /* beside it, in its parent's list */
    uint32_t first_argument, argument_count; /* raw nodes */
    uint32_t first_result, result_count;
    uint16_t thread;
    bool is_pending;       /* its parent has had no event since */
    bool is_made_here;     /* by the statement that is being visited */
    uint32_t made;         /* the visit whose statement made the call; 0: not known */
    uint32_t term_node;    /* the call in the statement's term; GRAPH_NONE: not known */
    uint32_t next_at_term; /* another call of that term; GRAPH_NONE */
    bool is_bound;         /* its first parameter is the object that it is called on */
    bool is_inside;        /* made by what that call of the term called */
    uint32_t next_over;    /* another one whose names nothing can read; GRAPH_NONE */
    bool is_ended;
    bool is_generator; /* may be left and entered again */
    bool is_forgotten; /* its scope belongs to another call by now */
    bool is_joined;
    bool is_wanted; /* by the filter */
    /* Not wanted, but made by a call that is, or by such a one: what it is given and what it returns
     * are a way between values that are wanted. */
    bool is_between;
};

/* A value in a container, or, with the path "", the value of a name itself. */
struct graph_leaf {
    uint32_t path; /* text */
    uint32_t raw;
};

/* Leaves that stand side by side in builder.leaves. */
struct graph_leaves {
    uint32_t first, count, capacity;
};

/* The values that a name holds. A container, or another object, has one content under all its
 * names: found by its address. */
struct graph_content {
    uint64_t address; /* of the container or object; 0: a name's own */
    struct graph_leaves now;
    struct graph_leaves before; /* until the visit that wrote it last */
    uint32_t serial;            /* of that visit */
    uint32_t binding;           /* a name that has it; GRAPH_NONE */
    uint32_t length;            /* how many items; GRAPH_NONE: not known */
    /* Where it is an object that nothing more is known of: what that was made from. */
    uint32_t carried, carried_count;
    uint32_t type; /* text: of an object */
    uint32_t
        attributes; /* the scope of an object's attributes; GRAPH_NONE: no object */
    bool is_initialised; /* an object whose `__init__` is recorded */
};

/* Which subscript a name's value can be. */
enum graph_subscript {
    GRAPH_SUBSCRIPT_NONE,
    GRAPH_SUBSCRIPT_NUMBER,
    GRAPH_SUBSCRIPT_TEXT,
};

/* What a name stands for. */
struct graph_binding {
    uint32_t content;  /* GRAPH_NONE: never bound */
    uint32_t own;      /* the content of its own; GRAPH_NONE: none yet */
    uint32_t previous; /* the content before the visit that bound it */
    uint32_t serial;   /* of that visit */
    uint32_t scope;
    uint32_t writer;        /* the call that bound it */
    uint32_t number;        /* as a subscript: itself, or a text */
    uint8_t subscript;      /* enum graph_subscript */
    bool is_init;           /* written in a call of `__init__` */
    bool is_ambiguous;      /* by several of them: objects that share a scope */
    bool is_forgotten;      /* never bound in the call that has the scope now */
    uint32_t next_in_scope; /* another binding of the scope; GRAPH_NONE */
};

/* Where a value lies in memory. */
struct graph_memory {
    uint64_t storage; /* address; 0: not known */
    uint64_t data;    /* where its elements begin */
    uint64_t extent; /* how many bytes they lie in; 0: not known, or not side by side */
};

/* What else is known of an argument until the statement is known that gave it. */
struct graph_argument {
    uint32_t maybe; /* the object that it is if that is alive; GRAPH_NONE */
    uint32_t base;  /* a value in the same memory that is alive; GRAPH_NONE */
    uint32_t guess; /* text */
};

/* One of these for each value of the trace: its size is what a graph costs. */
struct graph_raw {
    uint64_t event;
    uint64_t address; /* of the object; 0: not known */
    uint64_t hash;
    uint32_t memory; /* in builder.memories */
    uint32_t version;
    uint32_t
        same_as;     /* the raw node whose value it is under another name; GRAPH_NONE */
    uint32_t object; /* the first raw node that held the same object */
    uint32_t site;   /* of the trace */
    uint32_t call;   /* index */
    uint32_t unit;
    uint32_t name;    /* text, without the path */
    uint32_t path;    /* text */
    uint32_t serial;  /* of its visit */
    uint32_t written; /* where it wrote to its storage: who did before; GRAPH_NONE */
    uint32_t stamp;   /* 1 + the target that last got an edge from it */
    uint32_t stamped; /* that edge */
    uint32_t alias_site;
    uint32_t argument; /* in builder.arguments; 0: nothing is known */
    uint32_t holder;   /* of a first one: the newest that held the object */
    uint32_t older;    /* the one that held it before; GRAPH_NONE */
    uint32_t place;    /* text: the path in its content; items may have moved since */
    uint32_t content;  /* GRAPH_NONE: none */
    uint16_t flags;    /* enum graph_node_flag */
    uint8_t kind;      /* enum value_kind */
    uint8_t dtype;
    uint8_t change;
    uint8_t difference;
    bool is_read : 1; /* recorded because it was read */
    bool has_hash : 1;
    bool
        is_hidden : 1; /* the filter does not want it, or it is too old: a source at most */
    bool is_promoted : 1; /* was hidden until something was made from it */
    bool has_nan : 1;
    bool has_finite : 1; /* an element; or no statistics say that none is */
};

struct graph_raw_edge {
    uint32_t source;
    uint32_t target;
    uint32_t name; /* text: how the statement spells the source; 0: not known */
    enum graph_kind kind;
    bool is_unsure;
};

/* What is known of a module's functions and sites before anything ran. */
struct graph_module {
    const struct log_module *module; /* borrowed from the reader; NULL: not met yet */
    uint32_t globals;                /* scope */
    uint32_t first_function;         /* where its functions are in builder.functions */
    uint32_t
        *next_lines; /* owned: of each site, the line of the next one in its function */
    uint32_t *ends;  /* owned: of each loop, the site behind its body */
};
/* The names of one call, module or object. That of a call that has ended serves the next call of
 * its function. */
struct graph_scope {
    uint32_t first_binding; /* GRAPH_NONE */
    uint32_t next_free;     /* GRAPH_NONE */
};

struct graph_function {
    uint32_t free_scope; /* of a call that has ended; GRAPH_NONE */
    bool is_enclosing;   /* its names may be read when its call has ended */
    uint32_t enclosing;  /* index in the same module; GRAPH_NONE: the module itself */
    uint32_t last_call;  /* index of the newest; GRAPH_NONE */
    uint32_t owner;      /* scope of the attributes where `self` is no module */
    bool is_init;
};

struct graph_guess {
    uint32_t function, parameter, how; /* texts */
};

/* The visit that a thread made last, by its serial; 0: none. */
struct graph_thread {
    uint32_t now;
};

/* How a statement came by a source. */
enum graph_from {
    GRAPH_FROM_TERM,
    GRAPH_FROM_BESIDE, /* read, and no part of its term */
    GRAPH_FROM_WEIGHT, /* a weight of a module that it called */
    GRAPH_FROM_RESULT, /* of a call that is none of its term */
};

/* A value that a statement read. */
struct graph_input {
    uint32_t raw;
    uint32_t read; /* which of the site's reads it is; GRAPH_NONE: a call returned it */
    uint32_t name; /* text: as the statement spells it, as far as it is this value and
                      not an attribute of it; 0: a call returned it */
    uint32_t node; /* the outermost term that reads it; GRAPH_NONE: none */
    uint32_t rest; /* text: its path in what that term stands for */
    uint8_t from;  /* enum graph_from */
    bool is_form;
    bool is_unsure;
    bool is_carried; /* an object that it went into stands there */
};

/* A term that is read at this visit: a name, with all that is asked of it, or a call. */
struct graph_use {
    uint32_t first, count; /* in builder.sources */
    uint32_t content;      /* that the name has; GRAPH_NONE */
    uint32_t first_call;   /* a recorded call of it; GRAPH_NONE */
    bool is_chain;
    bool is_inner;     /* of a chain */
    bool is_container; /* and the content is all of it */
};

/* What an object is made from, of which nothing more is known. */
struct graph_carried {
    uint32_t raw;
    bool is_form;
    bool is_unsure;
};

/* The visit of a site whose events are being read. */
struct graph_visit {
    uint32_t call;
    uint32_t site;
    uint32_t number;
    uint32_t serial;
    uint32_t before; /* the serial of the visit that the thread made before it */
    bool is_resolved;
    uint32_t removed;      /* the content that an item is taken out of; GRAPH_NONE */
    uint32_t removed_path; /* text: where the item is in it */
    uint32_t removed_raw;  /* that item, where it may be taken out; GRAPH_NONE: it is */
    const struct term *term; /* borrowed from the builder; NULL: nothing was read */
    bool is_entered;         /* the site is a function's entry */
    uint32_t container; /* text: the name of the container that it read last; 0: none */
    uint32_t source_count; /* in builder.sources: what its reads stand for */
    uint32_t edges_left;   /* edges from all of them that may still be made */
};

/* The newest learning rate of an optimizer. */
struct graph_rate {
    uint32_t optimizer; /* text */
    double rate;
};
#define GRAPH_RATES_MAX 64

struct graph_parameter {
    uint32_t written_by; /* the update that wrote its gradient last; GRAPH_NONE */
    uint32_t version;    /* of that gradient */
    uint64_t gradient;   /* its address; 0: not known */
};

/* Updates in their order; parameters by address. */
struct graph_updates {
    struct reading_update *items; /* owned */
    size_t capacity;
    uint32_t count;
    struct graph_parameter *parameters; /* owned */
    size_t parameter_capacity;
    uint32_t parameter_count;
    struct graph_rate rates[GRAPH_RATES_MAX];
    uint32_t rate_count;
    struct number_map of_event; /* event -> parameter */
    struct number_map
        of_object;    /* address, of a parameter or of its gradient -> parameter */
    bool is_backward; /* the newest is one */
    bool is_open;     /* and it is in `items` */
};

struct graph_builder {
    struct log_reader *reader;
    const struct reading_options *options;
    struct reading_left_out left_out;
    struct error *error;
    struct open_calls open_calls; /* for the filter */
    struct text_table texts;
    struct number_map call_index;    /* number -> index */
    struct number_map binding_index; /* scope, name -> index */
    struct number_map scope_index;   /* what an owner is known by -> scope */
    struct number_map leaf_index;    /* content, path -> the leaf's place */
    struct number_map content_index; /* address -> the newest content there */
    struct number_map writings; /* a storage, as a number -> the raw node that wrote */
    struct number_map storages; /* a storage, as a number -> its newest raw node */
    struct number_map written_sites; /* site -> its newest raw node */
    struct number_map repeated;      /* event -> the raw node that tells the same */
    bool is_in_part;              /* the container whose values are read now goes on */
    struct number_map term_index; /* site -> where in `terms` */
    struct term **terms;          /* owned; by pointers, for they stay */
    size_t term_capacity;
    uint32_t term_count;
    struct arena term_arena;
    struct graph_use *uses; /* owned: of the visit's term, by node */
    size_t use_capacity;
    struct number_map
        name_scopes; /* function, name -> enum site_scope, where not LOCAL */
    struct graph_scope *scopes;
    struct graph_raw_call *calls;
    struct reading_unit *units;
    struct graph_binding *bindings;
    struct graph_content *contents;
    struct graph_leaf *leaves;
    struct graph_raw *raws;
    struct graph_memory *memories;    /* the first is that of what has none */
    struct graph_argument *arguments; /* the first is that of all others */
    struct number_map memory_index;   /* hash of a memory -> index */
    struct graph_raw_edge *edges;
    struct graph_module *modules;
    struct graph_function *functions;
    struct graph_guess *guesses;
    struct graph_thread *threads;
    struct graph_carried *carried;
    struct graph_input *sources;
    size_t thread_capacity, scope_capacity, memory_capacity, argument_capacity;
    size_t call_capacity, unit_capacity, binding_capacity, raw_capacity, edge_capacity,
        module_capacity, function_capacity, guess_capacity, carried_capacity,
        source_capacity, content_capacity, leaf_capacity;
    uint32_t call_count, unit_count, binding_count, raw_count, module_count,
        function_count, guess_count, carried_count, content_count, leaf_count;
    uint32_t memory_count, argument_count;
    uint32_t edge_count;
    uint32_t scope_count;
    uint32_t thread_count;
    uint32_t first_over; /* calls that the last statement made, and that have ended */
    struct graph_visit visit;
    struct graph_updates updates;
    bool has_updates; /* the options want them, and there is no filter */
};

/* reading.c: before the reading, and after it. */
bool graph_builder_init(struct graph_builder *builder);
void graph_builder_release(struct graph_builder *builder);

static inline const struct graph_memory *
graph_memory_of(const struct graph_builder *builder, const struct graph_raw *raw)
{
    return &builder->memories[raw->memory];
}

/* The address of the memory that the value is a part of; 0: not known. */
static inline uint64_t graph_storage_of(const struct graph_builder *builder,
                                        const struct graph_raw *raw)
{
    return graph_memory_of(builder, raw)->storage;
}

static inline const struct graph_argument *
graph_argument_of(const struct graph_builder *builder, const struct graph_raw *raw)
{
    return &builder->arguments[raw->argument];
}

/* calls.c: the module that the node's site is in. */
const struct log_module *graph_module_of(const struct graph_builder *builder,
                                         const struct graph_raw *raw,
                                         uint32_t *number);
/* The node's site. */
const struct site *graph_site_of(const struct graph_builder *builder,
                                 const struct graph_raw *raw);
/* events.c: what is known of the argument, to be written; NULL: out of memory. */
struct graph_argument *graph_argument_set(struct graph_builder *builder, uint32_t raw);

/* Room for one more item behind `count` of them; false with the error set. */
bool graph_grow(struct graph_builder *builder,
                void **items,
                size_t *capacity,
                uint32_t count,
                size_t size);
bool graph_out_of_memory(struct graph_builder *builder);
bool graph_text_add(struct graph_builder *builder, struct slice text, uint32_t *number);

/* calls.c: what is known before anything ran. */
/* A scope's number, by two numbers that tell it from all others. false: out of memory. */
bool graph_scope_of(struct graph_builder *builder,
                    uint32_t high,
                    uint32_t low,
                    uint32_t *scope);
void graph_modules_release(struct graph_builder *builder);
/* calls.c: calls and turns of loops. */
/* bindings.c: scopes. */
/* A scope of its own. false: out of memory. */
bool graph_scope_add(struct graph_builder *builder, uint32_t *scope);
/* Gives the call a scope for its names. */
bool graph_scope_begin(struct graph_builder *builder, struct graph_raw_call *call);
/* Notes that nothing can read the call's names any more, if that is so. */
void graph_scope_note_over(struct graph_builder *builder, uint32_t call);
/* Another visit begins, of that call: the scopes of all calls that were noted are free. */
void graph_scopes_forget(struct graph_builder *builder, uint32_t call);

bool graph_call_begin(struct graph_builder *builder, const struct log_call_view *view);
bool graph_call_of_event(struct graph_builder *builder,
                         const struct log_event_view *event,
                         struct open_call **open,
                         uint32_t *call);
void graph_call_end(struct graph_builder *builder, uint32_t number);
/* The site was visited: turns that it is not in have ended; a loop's site begins one. */
bool graph_turns_follow(struct graph_builder *builder,
                        const struct log_event_view *event,
                        uint32_t call);
/* The call makes another at that line: turns of loops that it is not in have ended. */
void graph_turns_follow_line(struct graph_builder *builder,
                             struct graph_raw_call *call,
                             uint32_t line);

/* bindings.c: what names stand for. */
/* The binding to be written where the call's site writes the name. GRAPH_NONE: no memory. */
uint32_t
graph_binding_of_write(struct graph_builder *builder, uint32_t call, uint32_t name);
/* The binding of a name that was told because the site reads it. */
uint32_t graph_binding_of_read(struct graph_builder *builder,
                               uint32_t call,
                               const struct log_event_view *event,
                               uint32_t name);
/* sources.c: what a statement reads. */
/* Fills builder.sources and builder.uses with what the visit's site reads. */
bool graph_resolve(struct graph_builder *builder, const struct site *site);
bool graph_input_add(struct graph_builder *builder, const struct graph_input *source);
/* The term of the site with that number; NULL: out of memory. */
const struct term *
graph_term_of(struct graph_builder *builder, uint32_t number, const struct site *site);
/* The term that this one asks something of: of `x` in `x[0]`; GRAPH_NONE: it does not. */
uint32_t graph_term_inner(const struct term *term, uint32_t node);
/* Sets the path of what such a term asks for, with `then` behind it. */
struct graph_path;
void graph_term_step(const struct graph_builder *builder,
                     const struct site *site,
                     const struct term_node *node,
                     struct graph_path *path,
                     struct slice then);
/* Sets the path of the item that a container's method gives, `parts.pop(0)`, with `then` behind it;
 * `[*]` where its place is computed. */
void graph_term_item(const struct graph_builder *builder,
                     const struct term *term,
                     uint32_t method,
                     struct graph_path *path,
                     struct slice then);
/* Whether the term is a part of one of that kind: of a comprehension, of a choice. */
bool graph_term_is_in(const struct term *term, uint32_t node, enum term_kind kind);

/* made.c: what a value was made from, by the term of the visit's site. */
bool graph_made(struct graph_builder *builder,
                uint32_t raw,
                const struct log_event_view *event);
/* The event's object is made from that. */
bool graph_carry(struct graph_builder *builder,
                 uint32_t content,
                 const struct log_event_view *event);
/* The same, of an argument of a call whose place in the term is known. */
bool graph_made_argument(struct graph_builder *builder,
                         const struct site *site,
                         uint32_t raw,
                         const struct graph_raw_call *callee);

/* bindings.c: what names and containers hold. */
/* The name holds a value of its own from now on. */
bool graph_bind_value(struct graph_builder *builder, uint32_t binding);
/* The name holds the event's container or object. */
bool graph_bind_object(struct graph_builder *builder,
                       uint32_t binding,
                       const struct log_event_view *event);
/* The name holds the node's value at the node's path. */
bool graph_bind_leaf(struct graph_builder *builder, uint32_t binding, uint32_t raw);
/* The same value in the container whose attribute the name is: `state.hidden`. */
bool graph_bind_attribute(struct graph_builder *builder, uint32_t call, uint32_t raw);
bool graph_content_put(struct graph_builder *builder,
                       uint32_t content,
                       uint32_t path,
                       uint32_t raw);
/* The item at that path is no longer in the container; those behind it move up in a list. */
bool graph_content_remove(struct graph_builder *builder,
                          uint32_t content,
                          uint32_t path);
/* The node at that path; GRAPH_NONE. */
uint32_t graph_content_find(const struct graph_builder *builder,
                            uint32_t content,
                            uint32_t path);
/* Whether the name or the container that the value was bound to has it still, as the visiting
 * call's thread can tell: then its object is alive, and an equal address is the same object. */
bool graph_is_held(const struct graph_builder *builder, uint32_t raw);
/* What the name had before this visit, at the same place in it; GRAPH_NONE. */
uint32_t graph_find_previous(const struct graph_builder *builder,
                             uint32_t path,
                             const struct graph_binding *binding);

/* Whether the object is as it was: nothing has been written to it. */
bool graph_is_unchanged(const struct graph_builder *builder,
                        const struct graph_raw *then,
                        const struct graph_raw *now);

/* edges.c */
/* The raw node of that event, or the one that holds the same; GRAPH_NONE. */
uint32_t graph_raw_of_event(const struct graph_builder *builder, uint64_t event);
/* An edge, and where what it comes from is hidden it becomes a source. A source of GRAPH_NONE, and one
 * that has an edge to the target already, make none. */
bool graph_edge_add(struct graph_builder *builder,
                    enum graph_kind kind,
                    uint32_t source,
                    uint32_t target);
/* From something that the visit's statement read, spelled as it spells it. */
bool graph_edge_add_read(struct graph_builder *builder,
                         const struct graph_input *source,
                         uint32_t target,
                         bool is_form,
                         bool is_unsure);
bool graph_edges_of_value(struct graph_builder *builder,
                          uint32_t raw,
                          uint32_t binding,
                          const struct log_event_view *event);
/* Of a value that is recorded because it was read: from what held the object before, `origin`, else
 * what the binding's name had before (GRAPH_NONE: no such), and from what has written into its memory
 * through other names since. */
bool graph_edges_of_read(struct graph_builder *builder,
                         uint32_t raw,
                         uint32_t index,
                         uint32_t origin);
/* So many writes through other names of its memory belong to a value at most. */
#define GRAPH_WRITINGS_MAX 256
/* Whether the write covers the value's memory: nothing is left of what was there before. */
bool graph_is_covered(const struct graph_builder *builder,
                      const struct graph_raw *value,
                      const struct graph_raw *write);
/* The raw node that held the event's object last, or GRAPH_NONE. */
uint32_t graph_origin_of(const struct graph_builder *builder,
                         const struct log_event_view *event);
/* The node holds its object from now on. */
void graph_hold(struct graph_builder *builder, uint32_t raw);

/* edges.c: arguments */
/* Finds out what an argument is; its edge is made when the statement is known that gave it. */
/* false: out of memory. */
bool graph_judge_argument(struct graph_builder *builder,
                          uint32_t raw,
                          const struct log_event_view *event);
/* What calls made by the event's statement were given, and what they returned. */
bool graph_edges_of_calls(struct graph_builder *builder, const struct site *site);
/* The same at the trace's end, for calls that no event of their callers followed. */
bool graph_edges_of_last_calls(struct graph_builder *builder);

/* events.c: the first reading. */
bool graph_read(struct graph_builder *builder);

/* updates.c: each fails where memory runs out. */
/* `event`: the number of the newest event. */
bool graph_update_begin(struct graph_builder *builder,
                        const struct log_step_view *step,
                        uint64_t event);
/* An event of a parameter, which the reader shows. */
bool graph_update_parameter(struct graph_builder *builder,
                            const struct log_event_view *event);
bool graph_update_gradient(struct graph_builder *builder,
                           const struct log_event_view *gradient);
/* A value that the update's own statement made: an edge from the update. */
bool graph_update_join(struct graph_builder *builder, uint32_t raw);
void graph_updates_release(struct graph_updates *updates);

/* A number or a text, which may be a subscript: the name has it from now on. */
bool graph_note_subscript(struct graph_builder *builder,
                          uint32_t binding,
                          const struct log_event_view *event);

/* ---- bindings.c: scopes ---- */

/* The binding of a plain name where a site of that kind finds it, and its scope; NUMBER_MAP_NONE:
 * none. */
uint32_t graph_find_plain(const struct graph_builder *builder,
                          uint32_t index,
                          enum site_scope kind,
                          uint32_t name,
                          uint32_t *scope);

/* The name before the first dot; the whole where there is none. */
struct slice graph_root_of(struct slice name);

/* Where a name is bound: for `self.scale`, `.scale` among the attributes of that object. */
struct graph_place {
    uint32_t scope;
    struct slice name; /* borrowed from the name that was asked for */
    bool is_attribute; /* of an object: its root may be bound anew, and it stays */
    bool is_searched;  /* the name has no dots: `found` is its binding, or GRAPH_NONE */
    uint32_t found;
};
void graph_find_place(const struct graph_builder *builder,
                      uint32_t call,
                      enum site_scope kind,
                      struct slice name,
                      struct graph_place *place);
/* The binding at that place; GRAPH_NONE. */
uint32_t graph_find_at(const struct graph_builder *builder,
                       const struct graph_place *place);

#endif
