/* Reading memory that may be unmapped: the system rejects bad addresses, so there is no fault. */
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
/* Reads as many bytes as possible from `address` on, and returns their number. */
size_t peek_read(const struct peek *peek, uint64_t address, void *bytes, size_t size);

#endif
