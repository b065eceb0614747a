/* Sizes of paper by name or by numbers. */
#ifndef MONITORCH_COMMAND_SHARED_PAGE_SIZE_H
#define MONITORCH_COMMAND_SHARED_PAGE_SIZE_H

#include "runtime/base/slice.h"

#include <stdbool.h>

#define PAGE_SIZE_EXPECTED                                                             \
    "A3, A4, A5, Letter or Legal, also with -landscape, or WxH in "                    \
    "millimetres, 50 to 5000 each (297x210)"

/* Reads a size in points. Returns false if the text is not a size. */
bool page_size_read(struct slice text, double *width, double *height);

#endif
