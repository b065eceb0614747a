/* What the files on compound statements share: compound.c has what is common, `if`, `try` and
 * `with`; loop.c and match_cases.c the others; targets.c the names that headers bind. Not for use
 * elsewhere. */
#ifndef MONITORCH_INSTRUMENT_REWRITE_COMPOUND_H
#define MONITORCH_INSTRUMENT_REWRITE_COMPOUND_H

#include "instrument/rewrite/rewrite.h"

/* The states at the ends of the arms so far, joined. */
struct flow {
    struct scope_state merged;
    bool has_arm;
};

/* One more way through the statement ends here. */
void flow_add(struct rewriter *rewriter, struct flow *flow);

/* Rewrites an arm's block; the record stands at its start, or is handed back in `in_header`
 * where nothing in the block can carry it. */
void rewrite_arm(struct rewriter *rewriter,
                 uint32_t block,
                 const struct record *record,
                 struct record *in_header);

/* The else block of a loop or a try. */
void rewrite_else(struct rewriter *rewriter,
                  uint32_t statement,
                  struct slice condition);

/* `(c) and not (_mt and _mt(1))`, and ` or _mt and _mt(2)` for the other way: the condition's
 * truth is asked once. */
void insert_turn(struct rewriter *rewriter,
                 uint32_t condition,
                 const struct record *taken,
                 const struct record *other);

/* ---- loop.c, match_cases.c ---- */

void rewrite_while(struct rewriter *rewriter, uint32_t statement);
void rewrite_for(struct rewriter *rewriter, uint32_t statement);
void rewrite_match(struct rewriter *rewriter, uint32_t statement);

/* ---- targets.c ---- */

/* They add to the draft what stands between two nodes, and its arguments behind `count` others;
 * they give back how many arguments there are then. */

/* What targets bind: names, attributes to look up, objects whose items are set. */
uint32_t draft_targets(struct rewriter *rewriter,
                       struct slice *arguments,
                       uint32_t count,
                       uint32_t first,
                       uint32_t end);
/* The captures of a pattern. */
uint32_t draft_captures(struct rewriter *rewriter,
                        struct slice *arguments,
                        uint32_t count,
                        uint32_t first,
                        uint32_t end);

/* From now on the names are those that the site wrote: of targets, and of those behind `as`. */
void bind_range(struct rewriter *rewriter, uint32_t first, uint32_t end, uint32_t site);
void bind_aliases(struct rewriter *rewriter,
                  uint32_t first,
                  uint32_t end,
                  uint32_t site);

#endif
