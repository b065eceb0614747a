/* Functions that another compiler reads from their source text: torch.jit.script, triton.jit,
 * numba … They are left unchanged. */
#ifndef MONITORCH_INSTRUMENT_TREE_FOREIGN_H
#define MONITORCH_INSTRUMENT_TREE_FOREIGN_H

#include "instrument/tree/names.h"
#include "instrument/tree/syntax.h"

#include <stdbool.h>
#include <stdint.h>

struct foreign {
    const struct syntax *syntax; /* borrowed */
    const struct names *names;   /* borrowed */
    /* borrowed from the arena; by name: its import, as `torch.jit.script`, or empty */
    struct slice *imports;
    /* borrowed from the arena; by name: the compiler to which a call passes it, or empty */
    struct slice *scripted;
};

/* Returns false if out of memory. */
bool foreign_read(struct foreign *foreign,
                  const struct syntax *syntax,
                  const struct names *names,
                  struct arena *arena);

/* The compiler that reads this function or class. Empty: none. `definition` is the definition
 * itself, `decorated` the node with its decorators, or 0. */
struct slice foreign_compiler(const struct foreign *foreign,
                              uint32_t definition,
                              uint32_t decorated);

#endif
