/* Where the bootstrap of a file can stand: before anything that calls it, on lines that are there
 * already. Used by bootstrap.c alone. */
#ifndef MONITORCH_INSTRUMENT_OUTPUT_BOOTSTRAP_SLOT_H
#define MONITORCH_INSTRUMENT_OUTPUT_BOOTSTRAP_SLOT_H

#include "instrument/rewrite/rewrite.h"

enum slot_kind {
    SLOT_NONE,
    SLOT_AFTER,  /* behind a simple statement: documentation or a __future__ import */
    SLOT_BEFORE, /* before a simple statement */
    SLOT_HEADER, /* around an expression in a header, decorator or default */
    SLOT_CLASS,  /* among a class's bases */
    SLOT_BLANK_LINE, /* on a blank or comment line between statements */
    SLOT_END,        /* behind the text's last line end */
};

struct slot {
    enum slot_kind kind;
    uint32_t node;  /* the statement or class */
    uint32_t start; /* of the expression or line */
    uint32_t end;   /* of the expression */
};

/* The node behind this one under its parent; 0: it is the last. */
uint32_t sibling(const struct rewriter *rewriter, uint32_t parent, uint32_t node);

/* A place at that statement, or SLOT_NONE. */
struct slot find_slot_at(const struct rewriter *rewriter, uint32_t statement);

/* Finds the first place, in the order in which the file runs. Plain functions may stand before
 * it: they are not called yet. `next` is the statement that follows the place, or 0. */
struct slot find_slot(const struct rewriter *rewriter, uint32_t *next);

/* Files of many functions alone would hold the table many times: it goes behind the text's last
 * line end instead. */
bool find_end_slot(const struct rewriter *rewriter,
                   struct slice table,
                   struct slot *slot);

/* The next simple statement on another line, before anything is recorded: the table stands
 * there, so that the line that fails where monitorch is missing is a short one. Not where the
 * lines between may call functions that were defined before. */
struct slot find_table_slot(const struct rewriter *rewriter,
                            const struct slot *first,
                            uint32_t next);

#endif
