/* Numbers by chance, the same in each run. */
#ifndef MONITORCH_TESTS_UNIT_RANDOM_H
#define MONITORCH_TESTS_UNIT_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252;

static inline uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

#endif
