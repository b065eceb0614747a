/* The choice of functions and lines to record: the selection combined with the file's own
 * pragmas. */
#ifndef MONITORCH_INSTRUMENT_SELECT_CHOICE_H
#define MONITORCH_INSTRUMENT_SELECT_CHOICE_H

#include "instrument/instrument.h"
#include "instrument/tree/syntax.h"

#include <stdbool.h>
#include <stdint.h>

struct choice {
    const struct selection *selection; /* borrowed */
    const struct syntax *syntax;       /* borrowed */
    /* borrowed from the arena; NULL if nothing is selected by line */
    uint8_t *rows;
};

/* Returns false if out of memory. */
bool choice_read(struct choice *choice,
                 const struct selection *selection,
                 const struct syntax *syntax,
                 struct arena *arena);

/* Whether a function is selected as a whole. `name` is qualified. `is_method`: its parent is a
 * class. */
bool choice_has_function(const struct choice *choice,
                         struct slice name,
                         bool is_method);

/* Whether code that starts in `row` is recorded, given whether its function is selected as a
 * whole. */
bool choice_has_row(const struct choice *choice,
                    uint32_t row,
                    bool is_function_selected);

/* Whether any statement or assignment expression of a function's block is recorded. Those of
 * nested functions and classes do not count. */
bool choice_has_statement(const struct choice *choice,
                          uint32_t block,
                          bool is_function_selected);

/* Whether --spy names this name. */
bool choice_has_spy(const struct choice *choice, struct slice name);

#endif
