/* The order in which saved tensors are told. */
#ifndef MONITORCH_SAVED_ORDER_H
#define MONITORCH_SAVED_ORDER_H

#include "runtime/base/slice.h"
#include "runtime/saved/folder.h"

#include <stddef.h>

/* Numbers in names count as numbers: call2 comes before call10. */
void saved_order_sort_names(struct slice *names, size_t count);

/* As they were saved; those of which that is not known come last, by name. */
void saved_order_sort_entries(struct saved_entry *entries, size_t count);

#endif
