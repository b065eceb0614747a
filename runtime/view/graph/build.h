/* The state of a reading. Every value becomes a small raw node with its edges, inside a tree of
 * calls and turns of loops, and is bound to the names and containers that hold it. `reading.h`
 * has the result. Private to this folder. */
#ifndef MONITORCH_VIEW_GRAPH_BUILD_H
#define MONITORCH_VIEW_GRAPH_BUILD_H

#include "runtime/site/term.h"
#include "runtime/view/graph/reading.h"
#include "runtime/view/walk/open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most values that one statement reads, and the most edges that they make. */
#define GRAPH_SOURCES_MAX 65536
/* A trace with this many edges gets fewer for each further statement, so that the cost stays
 * linear where a statement reads a growing container again and again. */
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
    uint32_t open_unit; /* the innermost turn that has not ended, or `unit` */
    /* Calls that this one made since its last event, in their order. */
    uint32_t first_pending, last_pending;
    uint32_t next_pending;                   /* the next one in the parent's list */
    uint32_t first_argument, argument_count; /* raw nodes */
    uint32_t first_result, result_count;
    uint16_t thread;
    bool is_pending;       /* its parent has recorded no event since the call */
    bool is_made_here;     /* made by the visited statement */
    uint32_t made;         /* the visit whose statement made the call; 0: not known */
    uint32_t term_node;    /* the call in the statement's term; GRAPH_NONE: not known */
    uint32_t next_at_term; /* another call of that term; GRAPH_NONE */
    bool is_bound;  /* its first parameter is the object that it is called on: `self` */
    bool is_inside; /* made inside the call of that term, not by the statement itself */
    uint32_t next_over; /* next call whose names nothing reads; GRAPH_NONE */
    bool is_ended;
    bool is_generator; /* can be resumed after it was left */
    bool is_forgotten; /* its scope was given to another call */
    bool is_joined;
    bool is_wanted; /* passes the filter */
    /* Not wanted, but called by a wanted call or by one that is between: its arguments and
     * results connect wanted values. */
    bool is_between;
};

/* A value in a container, or, with the path "", the value of a name itself. */
struct graph_leaf {
    uint32_t path; /* text */
    uint32_t raw;
};

/* Leaves that are consecutive in builder.leaves. */
struct graph_leaves {
    uint32_t first, count, capacity;
};

/* The values that a name holds. A container or another object has one content under all its
 * names, found by its address. */
struct graph_content {
    uint64_t address; /* of the container or object; 0: a name's own */
    struct graph_leaves now;
    struct graph_leaves before; /* before the visit that wrote it last */
    uint32_t serial;            /* of that visit */
    uint32_t binding;           /* a binding that has it; GRAPH_NONE */
    uint32_t length;            /* number of items; GRAPH_NONE: not known */
    /* For an object without known contents: the values that it was made from. */
    uint32_t carried, carried_count;
    uint32_t type; /* text: of an object */
    uint32_t
        attributes; /* the scope of an object's attributes; GRAPH_NONE: no object */
    bool is_initialised; /* an object whose `__init__` is recorded */
};

/* The kinds of subscript that a name's value can be. */
enum graph_subscript {
    GRAPH_SUBSCRIPT_NONE,
    GRAPH_SUBSCRIPT_NUMBER,
    GRAPH_SUBSCRIPT_TEXT,
};

/* The value of a name. */
struct graph_binding {
    uint32_t content;  /* GRAPH_NONE: never bound */
    uint32_t own;      /* the binding's own content; GRAPH_NONE: none yet */
    uint32_t previous; /* the content before the visit that bound it */
    uint32_t serial;   /* of that visit */
    uint32_t scope;
    uint32_t writer;        /* the call that wrote it last */
    uint32_t number;        /* the subscript: the number itself, or a text */
    uint8_t subscript;      /* enum graph_subscript */
    bool is_init;           /* written in a call of `__init__` */
    bool is_ambiguous;      /* several calls of `__init__` wrote it */
    bool is_forgotten;      /* not bound in the call that has the scope now */
    uint32_t next_in_scope; /* the next binding of the scope; GRAPH_NONE */
};

/* The memory of a value. */
struct graph_memory {
    uint64_t storage; /* address; 0: not known */
    uint64_t data;    /* address of the first element */
    uint64_t extent;  /* size in bytes; 0: not known, or not contiguous */
};

/* Facts about an argument that are kept until the statement that made the call is known. */
struct graph_argument {
    uint32_t maybe; /* the object that it is, if that one is still alive; GRAPH_NONE */
    uint32_t base;  /* a value in the same memory that is still alive; GRAPH_NONE */
    uint32_t guess; /* text */
};

/* One for each value of the trace: its size decides the memory that a graph needs. */
struct graph_raw {
    uint64_t event;
    uint64_t address; /* of the object; 0: not known */
    uint64_t hash;
    uint32_t memory; /* in builder.memories */
    uint32_t version;
    uint32_t
        same_as;     /* the raw node of the same value under another name; GRAPH_NONE */
    uint32_t object; /* the first raw node that held the same object */
    uint32_t site;   /* of the trace */
    uint32_t call;   /* index */
    uint32_t unit;
    uint32_t name;    /* text, without the path */
    uint32_t path;    /* text */
    uint32_t serial;  /* of its visit */
    uint32_t written; /* the node that wrote to its storage before; GRAPH_NONE */
    uint32_t stamp;   /* 1 + the target of its newest edge */
    uint32_t stamped; /* index of that edge */
    uint32_t alias_site;
    uint32_t argument; /* in builder.arguments; 0: none */
    uint32_t holder;   /* of an object's first node: the newest that held the object */
    uint32_t older;    /* the previous node that held it; GRAPH_NONE */
    uint32_t place;    /* text: the path in its content now, after items moved */
    uint32_t content;  /* GRAPH_NONE: none */
    uint16_t flags;    /* enum graph_node_flag */
    uint8_t kind;      /* enum value_kind */
    uint8_t dtype;
    uint8_t change;
    uint8_t difference;
    bool is_read : 1; /* recorded because it was read */
    bool has_hash : 1;
    bool is_hidden : 1;   /* filtered out, or too old: drawn as a source at most */
    bool is_promoted : 1; /* was hidden until an edge started at it */
    bool has_nan : 1;
    bool has_finite : 1; /* has a finite element, or no statistics */
};

struct graph_raw_edge {
    uint32_t source;
    uint32_t target;
    uint32_t name; /* text: how the statement spells the source; 0: not known */
    enum graph_kind kind;
    bool is_unsure;
};

/* Facts about a module's functions and sites that are known before its code ran. */
struct graph_module {
    const struct log_module *module; /* borrowed from the reader; NULL: not seen yet */
    uint32_t globals;                /* scope */
    uint32_t first_function;         /* index in builder.functions */
    uint32_t *
        next_lines; /* owned; by site: the next line with a site in the same function */
    uint32_t *ends; /* owned; by loop's site: the first site after its body */
};
/* The names of one call, module or object. The scope of a call that ended is reused by the next
 * call of its function. */
struct graph_scope {
    uint32_t first_binding; /* GRAPH_NONE */
    uint32_t next_free;     /* GRAPH_NONE */
};

struct graph_function {
    uint32_t free_scope; /* the scope of a call that ended; GRAPH_NONE */
    bool is_enclosing;   /* inner functions may read its names after its call ended */
    uint32_t enclosing;  /* index in the same module; GRAPH_NONE: the module itself */
    uint32_t last_call;  /* index of the newest call; GRAPH_NONE */
    uint32_t owner;      /* scope of the attributes of a `self` that is no module */
    bool is_init;
};

struct graph_guess {
    uint32_t function, parameter, how; /* texts */
};

/* The serial of a thread's newest visit; 0: none. */
struct graph_thread {
    uint32_t now;
};

/* How a statement read a source. */
enum graph_from {
    GRAPH_FROM_TERM,
    GRAPH_FROM_BESIDE, /* read outside of its term */
    GRAPH_FROM_WEIGHT, /* a weight of a module that it called */
    GRAPH_FROM_RESULT, /* returned by a call that is not in its term */
};

/* A value that a statement reads. */
struct graph_input {
    uint32_t raw;
    uint32_t read; /* index of the site's read; GRAPH_NONE: a call returned it */
    uint32_t name; /* text: the spelling in the statement, without attributes
                      that are read of the value; 0: a call returned it */
    uint32_t node; /* the outermost term that reads it; GRAPH_NONE: none */
    uint32_t rest; /* text: the value's path below what the term stands for */
    uint8_t from;  /* enum graph_from */
    bool is_form;
    bool is_unsure;
    bool is_carried; /* read through an object that was made from it */
};

/* A term at this visit: a name with its subscripts and attributes (a chain), or a call. */
struct graph_use {
    uint32_t first, count; /* in builder.sources */
    uint32_t content;      /* the content that the name has; GRAPH_NONE */
    uint32_t first_call;   /* the first recorded call of the term; GRAPH_NONE */
    bool is_chain;
    bool is_inner;     /* a part of a chain */
    bool is_container; /* the content is a container, and the name is all of it */
};

/* A value that an object without known contents is made from. */
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
    uint32_t before; /* the serial of the thread's previous visit */
    bool is_resolved;
    uint32_t removed;        /* the content that an item is removed from; GRAPH_NONE */
    uint32_t removed_path;   /* text: the item's path in it */
    uint32_t removed_raw;    /* the item, if its removal is uncertain; GRAPH_NONE */
    const struct term *term; /* borrowed from the builder; NULL: nothing was resolved */
    bool is_entered;         /* the site is a function's entry */
    uint32_t container;    /* text: name of the container that was read last; 0: none */
    uint32_t source_count; /* how many of builder.sources are this visit's */
    uint32_t edges_left;   /* how many edges this visit may still add */
};

/* The newest learning rate of an optimizer. */
struct graph_rate {
    uint32_t optimizer; /* text */
    double rate;
};
#define GRAPH_RATES_MAX 64

struct graph_parameter {
    uint32_t written_by; /* the update that wrote its gradient last; GRAPH_NONE: none */
    uint32_t version;    /* version of that gradient */
    uint64_t gradient;   /* address of that gradient; 0: not known */
};

/* Updates in the order of the trace, and parameters by address. */
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
        of_object;    /* address of a parameter or of its gradient -> parameter */
    bool is_backward; /* the newest update is a backward */
    bool is_open;     /* the newest update still gets events */
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
    struct number_map scope_index;   /* two numbers that identify an owner -> scope */
    struct number_map leaf_index;    /* content, path -> the leaf's place */
    struct number_map content_index; /* address -> the newest content there */
    struct number_map writings; /* storage -> the newest raw node that wrote to it */
    struct number_map storages; /* storage -> its newest raw node */
    struct number_map written_sites; /* site -> its newest raw node */
    struct number_map repeated; /* event -> the raw node that already has its value */
    bool is_in_part; /* the container being read was not recorded completely */
    struct number_map term_index; /* site -> index in `terms` */
    struct term **terms;          /* owned; pointers, because terms must not move */
    size_t term_capacity;
    uint32_t term_count;
    struct arena term_arena;
    struct graph_use *uses; /* owned; by node of the visit's term */
    size_t use_capacity;
    struct number_map name_scopes; /* function, name -> enum site_scope, unless LOCAL */
    struct graph_scope *scopes;
    struct graph_raw_call *calls;
    struct reading_unit *units;
    struct graph_binding *bindings;
    struct graph_content *contents;
    struct graph_leaf *leaves;
    struct graph_raw *raws;
    struct graph_memory *memories;    /* item 0: values without memory */
    struct graph_argument *arguments; /* item 0: values without facts as an argument */
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
    uint32_t first_over; /* ended calls whose scopes the next visit frees */
    struct graph_visit visit;
    struct graph_updates updates;
    bool has_updates; /* the options ask for updates, and there is no filter */
};

/* reading.c: start and end of the state. */
bool graph_builder_init(struct graph_builder *builder);
void graph_builder_release(struct graph_builder *builder);

static inline const struct graph_memory *
graph_memory_of(const struct graph_builder *builder, const struct graph_raw *raw)
{
    return &builder->memories[raw->memory];
}

/* The address of the storage that the value is in; 0: not known. */
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

/* calls.c: the module of the node's site. Sets `number` to its index. */
const struct log_module *graph_module_of(const struct graph_builder *builder,
                                         const struct graph_raw *raw,
                                         uint32_t *number);
const struct site *graph_site_of(const struct graph_builder *builder,
                                 const struct graph_raw *raw);
/* events.c: the facts about the argument, for writing. NULL: out of memory. */
struct graph_argument *graph_argument_set(struct graph_builder *builder, uint32_t raw);

/* Makes room for one more item after `count` items. Returns false, with the error set, if memory
 * runs out. */
bool graph_grow(struct graph_builder *builder,
                void **items,
                size_t *capacity,
                uint32_t count,
                size_t size);
bool graph_out_of_memory(struct graph_builder *builder);
bool graph_text_add(struct graph_builder *builder, struct slice text, uint32_t *number);

/* calls.c: facts of the site tables. */
/* Sets `scope` to the scope with these two numbers. Returns false if memory runs out. */
bool graph_scope_of(struct graph_builder *builder,
                    uint32_t high,
                    uint32_t low,
                    uint32_t *scope);
void graph_modules_release(struct graph_builder *builder);
/* bindings.c: scopes. */
/* Adds a new scope. Returns false if memory runs out. */
bool graph_scope_add(struct graph_builder *builder, uint32_t *scope);
/* Gives the call a scope for its names. */
bool graph_scope_begin(struct graph_builder *builder, struct graph_raw_call *call);
/* Notes the call for graph_scopes_forget if nothing can read its names any more. */
void graph_scope_note_over(struct graph_builder *builder, uint32_t call);
/* Called when a visit of that call starts: frees the scopes of all other calls that were noted. */
void graph_scopes_forget(struct graph_builder *builder, uint32_t call);

/* calls.c: calls and turns of loops. */
bool graph_call_begin(struct graph_builder *builder, const struct log_call_view *view);
bool graph_call_of_event(struct graph_builder *builder,
                         const struct log_event_view *event,
                         struct open_call **open,
                         uint32_t *call);
void graph_call_end(struct graph_builder *builder, uint32_t number);
/* Follows a visit: ends the turns that its site is not in, and starts a turn if the site is a
 * loop's. */
bool graph_turns_follow(struct graph_builder *builder,
                        const struct log_event_view *event,
                        uint32_t call);
/* Follows a call that is made at that line: ends the turns that the line is not in. */
void graph_turns_follow_line(struct graph_builder *builder,
                             struct graph_raw_call *call,
                             uint32_t line);

/* bindings.c: the values of names. */
/* The binding that the call's site writes under that name. GRAPH_NONE: out of memory. */
uint32_t
graph_binding_of_write(struct graph_builder *builder, uint32_t call, uint32_t name);
/* The binding of a name that was recorded because the site reads it. GRAPH_NONE: out of memory. */
uint32_t graph_binding_of_read(struct graph_builder *builder,
                               uint32_t call,
                               const struct log_event_view *event,
                               uint32_t name);
/* sources.c: the values that a statement reads. */
/* Fills builder.sources and builder.uses with the reads of the visit's site. */
bool graph_resolve(struct graph_builder *builder, const struct site *site);
bool graph_input_add(struct graph_builder *builder, const struct graph_input *source);
/* The term of the site with that number. NULL: out of memory. */
const struct term *
graph_term_of(struct graph_builder *builder, uint32_t number, const struct site *site);
/* The term that this one reads a part of: `x` for `x[0]`. GRAPH_NONE: none. */
uint32_t graph_term_inner(const struct term *term, uint32_t node);
/* Sets the path to the step that such a term reads, followed by `then`. */
struct graph_path;
void graph_term_step(const struct graph_builder *builder,
                     const struct site *site,
                     const struct term_node *node,
                     struct graph_path *path,
                     struct slice then);
/* Sets the path of the item that a container's method returns, as `parts.pop(0)`, followed by
 * `then`; `[*]` if its place is computed. */
void graph_term_item(const struct graph_builder *builder,
                     const struct term *term,
                     uint32_t method,
                     struct graph_path *path,
                     struct slice then);
/* Whether the term is inside one of that kind, such as a comprehension or a choice. */
bool graph_term_is_in(const struct term *term, uint32_t node, enum term_kind kind);

/* made.c: adds the edges to a value, by the term of the visit's site. */
bool graph_made(struct graph_builder *builder,
                uint32_t raw,
                const struct log_event_view *event);
/* Notes the values that the event's object is made from. */
bool graph_carry(struct graph_builder *builder,
                 uint32_t content,
                 const struct log_event_view *event);
/* Adds the edges to an argument of a call whose place in the term is known. */
bool graph_made_argument(struct graph_builder *builder,
                         const struct site *site,
                         uint32_t raw,
                         const struct graph_raw_call *callee);

/* bindings.c: the contents of names and containers. */
/* Binds the name to a new value of its own. */
bool graph_bind_value(struct graph_builder *builder, uint32_t binding);
/* Binds the name to the event's container or object. */
bool graph_bind_object(struct graph_builder *builder,
                       uint32_t binding,
                       const struct log_event_view *event);
/* Binds the name to the node's value, at the node's path. */
bool graph_bind_leaf(struct graph_builder *builder, uint32_t binding, uint32_t raw);
/* Also puts the value into the container whose attribute the name is: `state.hidden`. */
bool graph_bind_attribute(struct graph_builder *builder, uint32_t call, uint32_t raw);
bool graph_content_put(struct graph_builder *builder,
                       uint32_t content,
                       uint32_t path,
                       uint32_t raw);
/* Removes the item at that path from the container. In a list the later items move up. */
bool graph_content_remove(struct graph_builder *builder,
                          uint32_t content,
                          uint32_t path);
/* The node at that path. GRAPH_NONE: none. */
uint32_t graph_content_find(const struct graph_builder *builder,
                            uint32_t content,
                            uint32_t path);
/* Whether the name or container that the value was bound to still has it, as far as the visiting
 * call's thread knows. Its object is alive then, and an equal address is the same object. */
bool graph_is_held(const struct graph_builder *builder, uint32_t raw);
/* The value that the name had before this visit, at the same path. GRAPH_NONE: none. */
uint32_t graph_find_previous(const struct graph_builder *builder,
                             uint32_t path,
                             const struct graph_binding *binding);

/* Whether the object has not been written to since. */
bool graph_is_unchanged(const struct graph_builder *builder,
                        const struct graph_raw *then,
                        const struct graph_raw *now);

/* edges.c */
/* The raw node of that event, or the one that already has its value. GRAPH_NONE: none. */
uint32_t graph_raw_of_event(const struct graph_builder *builder, uint64_t event);
/* Adds an edge. A hidden source becomes visible as a source. Adds none if the source is
 * GRAPH_NONE or has an edge to the target already. */
bool graph_edge_add(struct graph_builder *builder,
                    enum graph_kind kind,
                    uint32_t source,
                    uint32_t target);
/* Adds an edge from a value that the visit's statement read, named as the statement spells it. */
bool graph_edge_add_read(struct graph_builder *builder,
                         const struct graph_input *source,
                         uint32_t target,
                         bool is_form,
                         bool is_unsure);
bool graph_edges_of_value(struct graph_builder *builder,
                          uint32_t raw,
                          uint32_t binding,
                          const struct log_event_view *event);
/* Adds the edges to a value that was recorded because it was read: from `origin`, which held the
 * object before, or else from the binding's previous value (GRAPH_NONE: no binding), and from
 * later writes to its memory through other names. */
bool graph_edges_of_read(struct graph_builder *builder,
                         uint32_t raw,
                         uint32_t index,
                         uint32_t origin);
/* The most writes through other names that become edges of one value. */
#define GRAPH_WRITINGS_MAX 256
/* Whether the write covers all of the value's memory, so that nothing of the old content is
 * left. */
bool graph_is_covered(const struct graph_builder *builder,
                      const struct graph_raw *value,
                      const struct graph_raw *write);
/* The raw node that held the event's object last. GRAPH_NONE: none. */
uint32_t graph_origin_of(const struct graph_builder *builder,
                         const struct log_event_view *event);
/* Notes the node as the newest that holds its object. */
void graph_hold(struct graph_builder *builder, uint32_t raw);

/* edges.c: arguments */
/* Finds out which object an argument is. Its edge is added later, with the statement that made
 * the call. */
/* Returns false if memory runs out. */
bool graph_judge_argument(struct graph_builder *builder,
                          uint32_t raw,
                          const struct log_event_view *event);
/* Adds the edges of the arguments and results of the calls that the event's statement made. */
bool graph_edges_of_calls(struct graph_builder *builder, const struct site *site);
/* Does so at the end of the trace, for calls that no event of their caller followed. */
bool graph_edges_of_last_calls(struct graph_builder *builder);

/* events.c: the first reading. */
bool graph_read(struct graph_builder *builder);

/* updates.c: every function returns false if memory runs out. */
/* `event`: the number of the newest event. */
bool graph_update_begin(struct graph_builder *builder,
                        const struct log_step_view *step,
                        uint64_t event);
/* Adds an event of a parameter. The reader must be set to show these. */
bool graph_update_parameter(struct graph_builder *builder,
                            const struct log_event_view *event);
bool graph_update_gradient(struct graph_builder *builder,
                           const struct log_event_view *gradient);
/* Adds an edge from the update to a value that the update's own statement made. */
bool graph_update_join(struct graph_builder *builder, uint32_t raw);
void graph_updates_release(struct graph_updates *updates);

/* Notes the number or text that the name is bound to, for its use as a subscript. */
bool graph_note_subscript(struct graph_builder *builder,
                          uint32_t binding,
                          const struct log_event_view *event);

/* ---- bindings.c: scopes ---- */

/* The binding of a plain name as a site of that kind finds it; sets its scope. GRAPH_NONE: none. */
uint32_t graph_find_plain(const struct graph_builder *builder,
                          uint32_t index,
                          enum site_scope kind,
                          uint32_t name,
                          uint32_t *scope);

/* The name up to its first dot, or all of it. */
struct slice graph_root_of(struct slice name);

/* The place where a name is bound. For `self.scale` it is `.scale` in the scope of that object's
 * attributes. */
struct graph_place {
    uint32_t scope;
    struct slice name; /* borrowed from the searched name */
    bool is_attribute; /* of an object: survives a new binding of the root */
    bool is_searched;  /* the name has no dots: `found` is its binding, or GRAPH_NONE */
    uint32_t found;
};
void graph_find_place(const struct graph_builder *builder,
                      uint32_t call,
                      enum site_scope kind,
                      struct slice name,
                      struct graph_place *place);
/* The binding at that place. GRAPH_NONE: none. */
uint32_t graph_find_at(const struct graph_builder *builder,
                       const struct graph_place *place);

#endif
