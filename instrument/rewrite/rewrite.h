/* The rewriter: the state of rewriting one file, shared by the files that rewrite its parts:
 * rewrite.c (blocks, functions, classes, code that could not be parsed), compound.c (if, for,
 * try …), simple.c (simple statements), walrus.c, output/edits.c (placing records) and
 * output/bootstrap.c. */
#ifndef MONITORCH_INSTRUMENT_REWRITE_REWRITE_H
#define MONITORCH_INSTRUMENT_REWRITE_REWRITE_H

#include "instrument/instrument.h"
#include "instrument/output/edits.h"
#include "instrument/output/forms.h"
#include "instrument/output/sites.h"
#include "instrument/select/choice.h"
#include "instrument/tree/depth.h"
#include "instrument/tree/foreign.h"
#include "instrument/tree/inspection.h"
#include "instrument/tree/scope.h"
#include "instrument/tree/syntax.h"

#include <assert.h>

/* The maximum number of records that are pending for the next statement that can carry them.
 * More cannot occur: each comes from one enclosing construct whose block begins with another, or
 * is the header's own line. */
#define PENDING_LIMIT 9

struct pending {
    struct record items[PENDING_LIMIT];
    uint32_t count;
};

/* The function, class or module whose statements are being rewritten. */
struct place {
    struct place *outer; /* borrowed; NULL for the module */
    enum scope_kind kind;
    uint32_t function;  /* index in the site table of the nearest function, or 0 */
    struct slice name;  /* qualified; empty for the module */
    bool is_selected;   /* the function as a whole, or the whole file */
    bool is_names_only; /* no temporaries, because it can list its local variables */
    struct slice self;  /* a method's first parameter; empty elsewhere */
    /* records for the next statement; borrowed, or NULL */
    struct pending *later;
    /* number of sites and spy calls in it, without nested functions */
    uint32_t emitted_count;
    struct scope scope;
};

struct rewriter {
    const char *path; /* borrowed */
    struct syntax syntax;
    struct names names;
    struct choice choice;
    struct foreign foreign;
    struct inspection inspection;
    struct depth depth;
    struct forms forms;
    struct sites sites;
    struct edits *edits;         /* borrowed */
    struct instrumented *result; /* borrowed; receives counts and notes */
    struct arena *arena;         /* borrowed */
    struct place *place;         /* the innermost; borrowed from the stack */
    struct site_draft draft;     /* the current site; reused because it is large */
    size_t note_capacity;
    uint32_t first_module_edit; /* offset of the first insertion that runs at import */
    bool uses_module_temporary;
    bool has_walrus; /* an assignment expression is in the file */
    bool has_record; /* at least one call of the hook is inserted */
    bool
        needs_spy_import; /* there are spy_save calls, but no import of it in the module */
    bool has_failed;      /* out of memory; checked at the end */
};

static inline const struct syntax_node *node_at(const struct rewriter *rewriter,
                                                uint32_t node)
{
    assert(node < rewriter->syntax.count);
    return &rewriter->syntax.nodes[node];
}

static inline struct slice text_of(const struct rewriter *rewriter, uint32_t node)
{
    return syntax_text(&rewriter->syntax, node);
}

static inline uint32_t first_child(const struct rewriter *rewriter, uint32_t node)
{
    return syntax_child(&rewriter->syntax, node);
}

static inline uint32_t
child_of_kind(const struct rewriter *rewriter, uint32_t node, enum kind kind)
{
    return syntax_find(&rewriter->syntax, node, kind);
}

/* output/edits.c */

/* Makes the drafted site. The record is to be inserted unless its site is SITE_NONE. */
struct record record_make(struct rewriter *rewriter,
                          const struct slice *arguments,
                          uint32_t argument_count);

void pending_add(struct pending *pending, const struct record *record);

/* Whether the drafted statement at `node` is recorded. */
bool is_recorded(const struct rewriter *rewriter, uint32_t node);

/* Whether a node ends on a later line than it starts. */
bool is_on_several_lines(const struct rewriter *rewriter, uint32_t node);

/* Inserts `; _mt and _mt(…)` after the simple statement. `has_temporary`: the statement used
 * `_mt_t`. */
void insert_after(struct rewriter *rewriter,
                  uint32_t statement,
                  bool is_last_in_block,
                  const struct record *records,
                  uint32_t record_count,
                  const struct slice *spy_names,
                  uint32_t spy_count,
                  bool has_temporary);

/* Inserts `not (_mt and _mt(…)); ` before the simple statement. */
void insert_before(struct rewriter *rewriter,
                   uint32_t statement,
                   const struct pending *pending);

/* Inserts `(_mt and _mt(…)) or (` … `)` around an expression. */
void insert_header(struct rewriter *rewriter,
                   uint32_t start,
                   uint32_t end,
                   const struct pending *pending);

/* Inserts a base of a class that expands to nothing: `*(expressions ())`. The expressions, each
 * with ` or ` after it, are the text since `begin`. */
void insert_base(struct rewriter *rewriter,
                 uint32_t definition,
                 size_t begin,
                 enum edit_rank rank);

/* Adds a note; the text is copied. */
void note_add(struct rewriter *rewriter,
              enum note_kind kind,
              uint32_t node,
              const char *format,
              ...) __attribute__((format(printf, 4, 5)));

/* simple.c */

/* Rewrites a simple statement: records what it binds, changes or returns. */
void rewrite_simple(struct rewriter *rewriter, uint32_t statement, bool is_last);

/* Whether the statement is complete: a line's end, `;` or a comment follows it. */
bool is_sound(const struct rewriter *rewriter, uint32_t statement);

/* rewrite.c: does nothing without --every-line */

/* Adds the record of a header that runs once: if, elif, with, match. */
void line_in_header(struct rewriter *rewriter, uint32_t node, struct pending *pending);

/* values.c: requires the draft's names and reads */

/* Sets the draft's value to that of the expression at `node`, or to an item of it. */
void draft_value(struct rewriter *rewriter, uint32_t node);
void draft_value_item(struct rewriter *rewriter, uint32_t node);

/* Sets the part of the value that each name of the target gets. */
void draft_parts(struct rewriter *rewriter, uint32_t target);

/* walrus.c */

/* Rewrites the assignment expressions between two nodes. */
void rewrite_walruses(struct rewriter *rewriter, uint32_t first, uint32_t end);

/* simple.c */

/* Whether evaluating the expression has no effect: a number, or a string that is no format
 * string. */
bool is_constant(const struct rewriter *rewriter, uint32_t node);

/* compound.c */

/* Rewrites an if, for, while, try, with or match statement, with the pending records in its
 * header. */
void rewrite_compound(struct rewriter *rewriter,
                      uint32_t statement,
                      struct pending *pending);
bool is_compound(enum kind kind);

/* compound.c */

/* Finds the expression in the header of a compound statement (not try) that runs first, as
 * offsets of the text. Returns false if the header is not complete. */
bool header_range(const struct rewriter *rewriter,
                  uint32_t statement,
                  uint32_t *start,
                  uint32_t *end);

/* rewrite.c */

/* Rewrites the statements of a block or of the module. Records that are still pending at its end
 * are lost, and reported. */
void rewrite_block(struct rewriter *rewriter,
                   uint32_t block,
                   struct pending *pending,
                   bool has_docstring);

/* Makes the drafted site like record_make, for a record that only statements of `block` can
 * carry. Makes no site if none can. */
struct record record_make_in(struct rewriter *rewriter,
                             uint32_t block,
                             const struct slice *arguments,
                             uint32_t argument_count);

/* Whether the statement is like `__all__ = …` or `__version__ = …`: tools read such lines of a
 * module as text. */
bool is_dunder_assignment(const struct rewriter *rewriter, uint32_t statement);

/* Whether a part of a statement or clause, outside its blocks, could not be parsed. */
bool is_damaged(const struct rewriter *rewriter, uint32_t statement);

/* Whether a record can be placed before some statement of the block. */
bool block_can_carry(const struct rewriter *rewriter, uint32_t block);

/* Rewrites the whole file. */
void rewrite_module(struct rewriter *rewriter);

/* Whether the statement is a single string, which Python treats as documentation. */
bool is_docstring(const struct rewriter *rewriter, uint32_t statement);

/* bootstrap.c */

/* Inserts the code that defines `_mt`, with the table. */
void insert_bootstrap(struct rewriter *rewriter, struct slice table);

#endif
