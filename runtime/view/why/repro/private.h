/* Shared by the files of the folder alone. */
#ifndef MONITORCH_VIEW_WHY_REPRO_PRIVATE_H
#define MONITORCH_VIEW_WHY_REPRO_PRIVATE_H

#include "runtime/view/why/repro/repro.h"

/* ---- names.c: the names that a Python text uses ---- */

/* The names of a text, in its order: `x`, or dotted, `self.scale`. Keywords, the keys of arguments,
 * strings, comments, and names that the text binds within itself (of comprehensions and lambdas)
 * are none. */
struct names {
    struct slice text; /* borrowed */
    size_t at;
    int depth; /* of brackets */
};
#define NAMES_OF(borrowed_text) ((struct names){.text = (borrowed_text)})
/* Sets the next name; false: there is no other. */
bool names_next(struct names *names, struct slice *name);
/* `self` of `self.scale`. */
struct slice name_root(struct slice name);
/* Whether the name is the other one, or an attribute of it: `self.scale.mean` of `self.scale`. */
bool name_is_of(struct slice name, struct slice of);
bool name_is_builtin(struct slice root);

/* The statement of the source that imports the name: `from math import sqrt as root`. "": there is
 * none. */
struct slice source_find_import(struct slice source, struct slice name);
/* The `def`, `class` or assignment of the module that gives the name, whole, with its decorators. */
struct slice source_find_definition(struct slice source, struct slice name);
/* The head of the innermost block around the line, `with torch.no_grad():`, and sets the line to its own.
 * "": there is none. */
struct slice source_next_head(struct slice source, uint32_t *line);
/* Whether it is an assignment. */
bool definition_is_assignment(struct slice definition, struct slice name);

/* ---- values.c: recorded values as Python's expressions ---- */

/* How a script has a value. */
enum script_source {
    SCRIPT_NONE,       /* it cannot be written */
    SCRIPT_WHOLE,      /* all its elements are recorded */
    SCRIPT_SUBSTITUTE, /* its figures are */
    SCRIPT_PLAIN,      /* a number, a text … */
};
struct script_value {
    enum script_source source;
    bool is_followed;    /* by autograd */
    struct buffer text;  /* owned: the expression */
    struct buffer shown; /* owned: the value in words, for a comment */
};
/* The text as a Python string. */
void script_add_text(struct buffer *text, struct slice added);
void script_value_release(struct script_value *value);
/* Reads the event's value; `backward` is 0, or the number of the backward whose gradient of that value is
 * wanted. */
void script_value_read(struct log_reader *reader,
                       uint64_t event,
                       uint32_t backward,
                       struct script_value *value);

/* ---- scope.c: what gives the names of statements their values ---- */

/* A name of the script, and the node whose value it has. */
struct binding {
    struct slice name;
    uint32_t
        node; /* GRAPH_NONE: an object, or what a statement of the script gave it */
};

#define BINDINGS_MAX 256
#define MISSING_MAX  12
/* Objects whose constructors read objects. */
#define SCOPE_DEPTH_MAX 4

struct repro {
    struct why *why;
    struct log_reader *reader; /* owned; gives parameters too */
    struct arena arena;        /* owned: names, sources */
    struct slice source;       /* of the module of the lines; in the arena */
    uint32_t module;
    struct buffer imports, definitions; /* owned */
    struct slice known[BINDINGS_MAX];   /* names that imports and definitions give */
    uint32_t known_count;
    struct slice missing[MISSING_MAX]; /* objects that the trace does not hold */
    uint32_t missing_count;
    uint32_t maker_count; /* functions of the script that make objects */
    struct slice
        objects[BINDINGS_MAX]; /* names of objects whose parameters may get gradients */
    uint32_t object_count;
    bool is_backward;
    struct repro_report report;
};

/* The names of the statements of one call. */
struct script_scope {
    struct repro *repro;
    uint32_t call;  /* in the graph */
    uint64_t event; /* names have the values that they had before this event */
    unsigned depth;
    const char *indent;
    struct buffer text; /* owned: the script's statements so far */
    struct binding bindings[BINDINGS_MAX];
    uint32_t binding_count;
};

/* Gives the node's value to the name, unless it has it. */
void script_bind(struct script_scope *scope, struct slice name, uint32_t node);
/* The name has what a statement of the script gave it. */
void script_note(struct script_scope *scope, struct slice name, uint32_t node);
/* Whether all names of the text are imported or Python's own, and adds these imports. */
bool script_import_all(struct script_scope *scope, struct slice text);
/* Makes the objects that the name is an attribute of. */
void script_add_owners(struct script_scope *scope, struct slice name);
/* Gives values to all names of the text, or notes what is missing. */
void script_resolve(struct script_scope *scope, struct slice text);

#endif
