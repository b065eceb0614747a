/* Inspection: finds the functions that can list their own local variables, or run code from a
 * string among them. Such a function uses `locals`, `vars`, `dir`, `eval` or `exec`, or another
 * name to which the file assigns one of these. Insertions must add no temporary variable to it. */
#ifndef MONITORCH_INSTRUMENT_TREE_INSPECTION_H
#define MONITORCH_INSTRUMENT_TREE_INSPECTION_H

#include "instrument/tree/scope.h"

#include <stdbool.h>
#include <stdint.h>

#define INSPECTION_WORD_COUNT 5

struct inspection {
    const struct syntax *syntax; /* borrowed */
    const struct names *names;   /* borrowed */
    bool has_words;              /* the text contains the letters of a word */
    bool has_builtins; /* and those of `builtins`: attributes and strings count too */
    struct name_id
        numbers[INSPECTION_WORD_COUNT]; /* the numbers of the words, or NAME_NONE */
    /* both borrowed from the arena; NULL if not has_words */
    bool *is_alias;          /* by name */
    struct name_id *aliases; /* the names for which is_alias holds */
    uint32_t alias_count;
};

/* Starts with the words alone. Returns false if out of memory. */
bool inspection_init(struct inspection *inspection,
                     const struct syntax *syntax,
                     const struct names *names,
                     struct arena *arena);

/* Whether the function or module at `node`, whose scope is open, can list its local variables.
 * Adds the aliases that it gives the words, so it must be called before the functions inside.
 * Functions, lambdas and classes inside have frames of their own. */
bool inspection_visit(struct inspection *inspection,
                      const struct scope *scope,
                      uint32_t node);

#endif
