/* Mixing of numbers for tables and keys. The only place for its constants. */
#ifndef MONITORCH_BASE_HASH_MIX_H
#define MONITORCH_BASE_HASH_MIX_H

#include <stddef.h>
#include <stdint.h>

/* Mixes two numbers into one: each bit of the result depends on all bits of both. If one of them
 * is fixed, different values of the other give different results. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t mixed = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    mixed = (mixed ^ (mixed >> 32)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 29);
}

/* The slot of an address in a table of 2^bits slots, `bits` at least 1. It is a single
 * multiplication, for code that runs at each line of a program. */
static inline size_t hash_slot(uint64_t address, unsigned bits)
{
    return (size_t)((address * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

#endif
