/* What the record after one simple statement passes to the hook: collected target by target,
 * then inserted. */
#ifndef MONITORCH_INSTRUMENT_REWRITE_PASSING_H
#define MONITORCH_INSTRUMENT_REWRITE_PASSING_H

#include "instrument/rewrite/rewrite.h"

struct passing {
    struct slice arguments[WRITES_LIMIT];
    uint32_t argument_count;
    struct slice spy_names[WRITES_LIMIT];
    uint32_t spy_count;
    bool is_recorded;    /* insertions are wanted, not only the count of sites */
    bool has_temporary;  /* `_mt_t` holds a value of this statement */
    bool may_suspend;    /* holds a yield or await: no temporary may be seen there */
    bool is_all_changed; /* every target so far is a part of something: x[i] */
};

/* Nothing is passed yet for `statement`. */
void passing_init(struct passing *passing,
                  const struct rewriter *rewriter,
                  uint32_t statement);

/* Adds a written name to the draft, and the argument that brings its value. */
void passing_add(struct rewriter *rewriter,
                 struct passing *passing,
                 struct slice name,
                 enum site_source source,
                 struct slice argument);

/* Passes the object at the root of `a.b.c`, for the recorder to look the rest up. */
void passing_peek(struct rewriter *rewriter,
                  struct passing *passing,
                  uint32_t attribute);

/* Catches the value of an attribute where an expression has it: `(_mt_t := self.b)[i] = v`,
 * `self.x: T = (_mt_t := e)`; looks it up where no temporary can be used. */
void passing_catch(struct rewriter *rewriter,
                   struct passing *passing,
                   uint32_t attribute,
                   uint32_t expression);

/* `x[i] = v` changes x, `self.b[i] = v` changes self.b, `x.numpy()[i] = v` may change x;
 * `is_alone`: the only target. */
void passing_change(struct rewriter *rewriter,
                    struct passing *passing,
                    uint32_t subscript,
                    bool is_alone);

/* What the result of a call may be a view of: the object of the method, of the innermost one
 * where several are called in a row; the arguments of a function. */
void passing_reach(struct rewriter *rewriter, struct passing *passing, uint32_t call);

/* The names, attributes and items in a target, which may be a tuple or list. */
void passing_targets(struct rewriter *rewriter,
                     struct passing *passing,
                     uint32_t target);

/* Makes the site of the drafted statement and inserts its record and spy calls. Returns the
 * site, or SITE_NONE where it is not recorded. */
uint32_t passing_finish(struct rewriter *rewriter,
                        struct passing *passing,
                        uint32_t statement,
                        bool is_last);

/* An attribute's name in tables: `self.x`, or `.x` where it hangs on something unnamed. */
struct slice attribute_name(const struct rewriter *rewriter, uint32_t attribute);

/* The object that `x[i]`, `x[i][j]` is a part of. */
uint32_t subscript_base(const struct rewriter *rewriter, uint32_t node);

#endif
