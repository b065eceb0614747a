/* Declarations that only the files of this folder share. */
#ifndef MONITORCH_VIEW_WHY_REPRO_PRIVATE_H
#define MONITORCH_VIEW_WHY_REPRO_PRIVATE_H

#include "runtime/view/why/repro/repro.h"

/* ---- names.c: the names that a Python text uses ---- */

/* Iterator over the names of a text, in their order: `x`, or dotted, `self.scale`. It skips
 * keywords of Python and of arguments, strings, comments, and names that the text itself binds
 * (in comprehensions and lambdas). */
struct names {
    struct slice text; /* borrowed */
    size_t at;
    int depth; /* number of open brackets */
};
#define NAMES_OF(borrowed_text) ((struct names){.text = (borrowed_text)})
/* Sets the next name. Returns false if there is none. */
bool names_next(struct names *names, struct slice *name);
/* The first part of a dotted name: `self` of `self.scale`. */
struct slice name_root(struct slice name);
/* Whether the name equals `of` or is an attribute of it: `self.scale.mean` of `self.scale`. */
bool name_is_of(struct slice name, struct slice of);
bool name_is_builtin(struct slice root);

/* The statement of the source that imports the name, such as `from math import sqrt as root`. ""
 * if there is none. */
struct slice source_find_import(struct slice source, struct slice name);
/* The `def`, `class` or assignment of the module that defines the name, whole, with its
 * decorators. "" if there is none. */
struct slice source_find_definition(struct slice source, struct slice name);
/* The head of the innermost block around the line, such as `with torch.no_grad():`. Sets `line`
 * to the line of the head. Returns "" if there is none. */
struct slice source_next_head(struct slice source, uint32_t *line);
/* Whether the definition is an assignment to the name. */
bool definition_is_assignment(struct slice definition, struct slice name);

/* ---- values.c: recorded values as Python's expressions ---- */

/* The ways in which a script can get a value. */
enum script_source {
    SCRIPT_NONE,       /* not possible */
    SCRIPT_WHOLE,      /* all its elements are recorded */
    SCRIPT_SUBSTITUTE, /* only its figures are recorded */
    SCRIPT_PLAIN,      /* a number, a text or another plain value */
};
struct script_value {
    enum script_source source;
    bool is_followed;    /* by autograd */
    struct buffer text;  /* owned: the expression */
    struct buffer shown; /* owned: the value in words, for a comment */
};
/* Appends the text as a string literal of Python. */
void script_add_text(struct buffer *text, struct slice added);
void script_value_release(struct script_value *value);
/* Reads the event's value; or, if `backward` is not 0, the gradient of that value in the
 * backward with that number. */
void script_value_read(struct log_reader *reader,
                       uint64_t event,
                       uint32_t backward,
                       struct script_value *value);

/* ---- scope.c: definitions of the names that statements read ---- */

/* A name of the script, and the node whose value it holds. */
struct binding {
    struct slice name;
    uint32_t node; /* GRAPH_NONE: an object */
};

#define BINDINGS_MAX 256
#define MISSING_MAX  12
/* The depth of objects whose constructors read other objects. */
#define SCOPE_DEPTH_MAX 4

struct repro {
    struct why *why;
    struct log_reader *reader; /* owned; also returns parameters */
    struct arena arena;        /* owned: names, sources */
    struct slice source;       /* source text of `module`; in the arena */
    uint32_t module;
    struct buffer imports, definitions; /* owned */
    struct slice known[BINDINGS_MAX];   /* names that imports and definitions define */
    uint32_t known_count;
    struct slice missing[MISSING_MAX]; /* objects that the trace does not hold */
    uint32_t missing_count;
    uint32_t maker_count; /* number of make_N functions in the script */
    struct slice
        objects[BINDINGS_MAX]; /* names of objects whose parameters may get gradients */
    uint32_t object_count;
    bool is_backward;
    struct repro_report report;
};

/* The names that the statements of one call use. */
struct script_scope {
    struct repro *repro;
    uint32_t call;  /* index in the graph */
    uint64_t event; /* names get the values that they had before this event */
    unsigned depth;
    const char *indent;
    struct buffer text; /* owned: the script's statements up to here */
    struct binding bindings[BINDINGS_MAX];
    uint32_t binding_count;
};

/* Assigns the node's value to the name in the script, unless the name holds it already. */
void script_bind(struct script_scope *scope, struct slice name, uint32_t node);
/* Notes that a statement of the script assigned the node's value to the name. */
void script_note(struct script_scope *scope, struct slice name, uint32_t node);
/* Whether all names of the text are imported or builtin. Adds these imports to the script. */
bool script_import_all(struct script_scope *scope, struct slice text);
/* Adds an empty object for each name that the name is an attribute of: `self.cfg.eps` needs
 * `self` and `self.cfg`. */
void script_add_owners(struct script_scope *scope, struct slice name);
/* Defines all names of the text, or notes those that are missing. */
void script_resolve(struct script_scope *scope, struct slice text);

#endif
