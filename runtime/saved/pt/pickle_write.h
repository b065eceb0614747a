/* The pickle that tells torch.load of a tensor. Private to the files that write .pt. */
#ifndef MONITORCH_SAVED_PT_PICKLE_WRITE_H
#define MONITORCH_SAVED_PT_PICKLE_WRITE_H

#include "runtime/array/array.h"
#include "runtime/base/buffer.h"

/* A plain tensor on the CPU that fills the storage "0", contiguous, no gradient required. Its
 * dtype must be one of those that pt_has_dtype knows. */
void pickle_add_tensor(struct buffer *pickle, const struct array *array);

#endif
