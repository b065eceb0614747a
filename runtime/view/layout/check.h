/* Whether what is to be placed makes sense. */
#ifndef MONITORCH_VIEW_LAYOUT_CHECK_H
#define MONITORCH_VIEW_LAYOUT_CHECK_H

#include "runtime/base/error.h"
#include "runtime/view/layout/layout.h"

#include <stdbool.h>

/* Fails where a length, a count or an index cannot be. */
bool layout_check(const struct layout *layout, struct error *error);

#endif
