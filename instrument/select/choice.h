/* Which functions and lines are recorded: the selection joined with the file's own pragmas. */
#ifndef MONITORCH_INSTRUMENT_SELECT_CHOICE_H
#define MONITORCH_INSTRUMENT_SELECT_CHOICE_H

#include "instrument/instrument.h"
#include "instrument/tree/syntax.h"

#include <stdbool.h>
#include <stdint.h>

struct choice {
    const struct selection *selection; /* borrowed */
    const struct syntax *syntax;       /* borrowed */
    /* Borrowed from the arena; NULL where nothing is asked for by line. */
    uint8_t *rows;
};

/* False where memory ran out. */
bool choice_read(struct choice *choice,
                 const struct selection *selection,
                 const struct syntax *syntax,
                 struct arena *arena);

/* Whether a function is selected as a whole. `name` is qualified; `is_method`: its parent is a
 * class. */
bool choice_has_function(const struct choice *choice,
                         struct slice name,
                         bool is_method);

/* Whether something that starts in `row` is recorded, in a function that is (or is not)
 * selected as a whole. */
bool choice_has_row(const struct choice *choice,
                    uint32_t row,
                    bool is_function_selected);

/* The same for the statements and assignment expressions of a function's block: whether any of
 * them is recorded. Those of functions and classes in it do not count. */
bool choice_has_statement(const struct choice *choice,
                          uint32_t block,
                          bool is_function_selected);

/* Whether --spy asks for this name. */
bool choice_has_spy(const struct choice *choice, struct slice name);

#endif
