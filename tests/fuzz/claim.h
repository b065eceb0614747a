/* What has to hold of any input. */
#ifndef MONITORCH_TESTS_FUZZ_CLAIM_H
#define MONITORCH_TESTS_FUZZ_CLAIM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define claim(holds) claim_at((holds), __LINE__)

static inline void claim_at(bool holds, int line)
{
    if (!holds) {
        fprintf(stderr, "line %d: a claim does not hold\n", line);
        abort();
    }
}

#endif
