/* Sizes of paper, as a user names them. */
#ifndef MONITORCH_COMMAND_SHARED_PAGE_SIZE_H
#define MONITORCH_COMMAND_SHARED_PAGE_SIZE_H

#include "runtime/base/slice.h"

#include <stdbool.h>

#define PAGE_SIZE_EXPECTED                                                             \
    "A3, A4, A5, Letter or Legal, also with -landscape, or WxH in "                    \
    "millimetres, 50 to 5000 each (297x210)"

/* In points. false where the text is no size. */
bool page_size_read(struct slice text, double *width, double *height);

#endif
