/* The rewriter: the state of rewriting one file, shared by the files that rewrite its parts:
 * rewrite.c (blocks, functions, classes, what could not be parsed), compound.c (if, for, try …), simple.c (simple statements), walrus.c, output/edits.c (the placing of records) and
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

/* Records that wait for the next statement that can carry them. More than these never wait:
 * each comes from one enclosing construct whose block begins with another, or is the header's
 * own line. */
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
    bool is_selected;   /* the function as a whole, or everything */
    bool is_names_only; /* no temporaries: it can list its local variables */
    struct slice self;  /* a method's first parameter; empty elsewhere */
    /* Records for the next statement; borrowed, or NULL. */
    struct pending *later;
    /* Sites and spy calls in it, nested functions not counted. */
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
    struct instrumented *result; /* borrowed: counts and notes go there */
    struct arena *arena;         /* borrowed */
    struct place *place;         /* the innermost; borrowed from the stack */
    struct site_draft draft;     /* the site being made; reused, for it is large */
    size_t note_capacity;
    uint32_t first_module_edit; /* offset of the first insertion that runs at import */
    bool uses_module_temporary;
    bool has_walrus; /* an assignment expression is in the file */
    bool has_record; /* at least one call of the hook is inserted */
    bool
        needs_spy_import; /* there are spy_save calls, and the module does not import it */
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

/* Makes the drafted site; the record is to be inserted unless its site is SITE_NONE. */
struct record record_make(struct rewriter *rewriter,
                          const struct slice *arguments,
                          uint32_t argument_count);

void pending_add(struct pending *pending, const struct record *record);

/* Whether the drafted statement at `node` is recorded. */
bool is_recorded(const struct rewriter *rewriter, uint32_t node);

/* Whether a node ends on a later line than it starts. */
bool is_on_several_lines(const struct rewriter *rewriter, uint32_t node);

/* `; _mt and _mt(…)` behind the simple statement; `temporary`: it used `_mt_t`. */
void insert_after(struct rewriter *rewriter,
                  uint32_t statement,
                  bool is_last_in_block,
                  const struct record *records,
                  uint32_t record_count,
                  const struct slice *spy_names,
                  uint32_t spy_count,
                  bool has_temporary);

/* `not (_mt and _mt(…)); ` before the simple statement. */
void insert_before(struct rewriter *rewriter,
                   uint32_t statement,
                   const struct pending *pending);

/* `(_mt and _mt(…)) or (` … `)` around an expression. */
void insert_header(struct rewriter *rewriter,
                   uint32_t start,
                   uint32_t end,
                   const struct pending *pending);

/* One more base of a class, which adds none: `*(expressions ())`. The expressions, each with
 * ` or ` behind it, are the text since `begin`. */
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

/* Rewrites a simple statement: what it binds, changes or returns. */
void rewrite_simple(struct rewriter *rewriter, uint32_t statement, bool is_last);

/* Whether the statement is complete: after it comes a line's end, `;` or a comment. */
bool is_sound(const struct rewriter *rewriter, uint32_t statement);

/* rewrite.c: do nothing where --every-line is not asked for */

/* The record of a header that is read once on the way: if, elif, with, match. */
void line_in_header(struct rewriter *rewriter, uint32_t node, struct pending *pending);

/* values.c: the draft's names and reads are there already */

/* The draft's value is that of the expression at `node`; an item of it. */
void draft_value(struct rewriter *rewriter, uint32_t node);
void draft_value_item(struct rewriter *rewriter, uint32_t node);

/* Which parts of the value the names of the target get. */
void draft_parts(struct rewriter *rewriter, uint32_t target);

/* walrus.c */

/* Assignment expressions between two nodes. */
void rewrite_walruses(struct rewriter *rewriter, uint32_t first, uint32_t end);

/* simple.c */

/* Whether evaluating the expression does nothing: a number, a string that is no format. */
bool is_constant(const struct rewriter *rewriter, uint32_t node);

/* compound.c */

/* Rewrites an if, for, while, try, with or match statement, the pending records in its
 * header. */
void rewrite_compound(struct rewriter *rewriter,
                      uint32_t statement,
                      struct pending *pending);
bool is_compound(enum kind kind);

/* compound.c */

/* The expression in the header of a compound statement (not try) that runs first, as offsets of
 * the text. False where the header is not complete. */
bool header_range(const struct rewriter *rewriter,
                  uint32_t statement,
                  uint32_t *start,
                  uint32_t *end);

/* rewrite.c */

/* Rewrites the statements of a block or of the module. What is still pending at its end is
 * lost and reported. */
void rewrite_block(struct rewriter *rewriter,
                   uint32_t block,
                   struct pending *pending,
                   bool has_docstring);

/* The same as record_make, for a record that only the statements of `block` can carry. */
struct record record_make_in(struct rewriter *rewriter,
                             uint32_t block,
                             const struct slice *arguments,
                             uint32_t argument_count);

/* `__all__ = …`, `__version__ = …`: tools read such lines of a module as text. */
bool is_dunder_assignment(const struct rewriter *rewriter, uint32_t statement);

/* Whether something in a statement or clause could not be read, outside its blocks. */
bool is_damaged(const struct rewriter *rewriter, uint32_t statement);

/* Whether some statement of the block can carry a record in front of it. */
bool block_can_carry(const struct rewriter *rewriter, uint32_t block);

/* The whole file. */
void rewrite_module(struct rewriter *rewriter);

/* Whether the statement is a string alone, which is documentation to Python. */
bool is_docstring(const struct rewriter *rewriter, uint32_t statement);

/* bootstrap.c */

/* Inserts what brings `_mt` into the file. */
void insert_bootstrap(struct rewriter *rewriter, struct slice table);

#endif
