/* Reading memory that may not be there: the system refuses bad addresses instead of faulting. */
#ifndef MONITORCH_BASE_PEEK_H
#define MONITORCH_BASE_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peek {
    int pipe[2];
};

bool peek_init(struct peek *peek);
void peek_release(struct peek *peek);
/* Reads what can be read from `address` on; returns how many bytes that was. */
size_t peek_read(const struct peek *peek, uint64_t address, void *bytes, size_t size);

#endif
