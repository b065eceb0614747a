/* Inspection: the functions that can list their own local variables, or run code from a string
 * among them. Such a function names `locals`, `vars`, `dir`, `eval` or `exec`, or another name that
 * the file gives one of these. None of our temporaries may be among its variables. */
#ifndef MONITORCH_INSTRUMENT_TREE_INSPECTION_H
#define MONITORCH_INSTRUMENT_TREE_INSPECTION_H

#include "instrument/tree/scope.h"

#include <stdbool.h>
#include <stdint.h>

#define INSPECTION_WORD_COUNT 5

struct inspection {
    const struct syntax *syntax; /* borrowed */
    const struct names *names;   /* borrowed */
    bool has_words;              /* the letters of a word are somewhere in the file */
    bool has_builtins; /* those of `builtins` too: attributes and strings count */
    struct name_id numbers[INSPECTION_WORD_COUNT]; /* the words' names, or NAME_NONE */
    /* Both borrowed from the arena; NULL where has_words is false. */
    bool *is_alias;          /* by name */
    struct name_id *aliases; /* the names for which is_alias holds */
    uint32_t alias_count;
};

/* Begins with the words alone. False where memory ran out. */
bool inspection_init(struct inspection *inspection,
                     const struct syntax *syntax,
                     const struct names *names,
                     struct arena *arena);

/* Whether the function or module at `node`, whose scope is open, can list its local variables.
 * Adds the other names that it gives the words; functions inside it are asked after it. The
 * frames of functions, lambdas and classes inside it are their own. */
bool inspection_visit(struct inspection *inspection,
                      const struct scope *scope,
                      uint32_t node);

#endif
