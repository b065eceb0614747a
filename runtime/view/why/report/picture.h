/* Where a NaN comes from, as a picture: what it was made from, with marks. */
#ifndef MONITORCH_VIEW_WHY_REPORT_PICTURE_H
#define MONITORCH_VIEW_WHY_REPORT_PICTURE_H

#include "runtime/base/buffer.h"
#include "runtime/view/picture/render.h"
#include "runtime/view/why/why.h"

/* Appends the file's bytes. Reads the trace again: turns of loops and calls that are alike are
 * folded in it. */
bool why_picture_add(struct why *why,
                     const struct render_options *options,
                     struct buffer *bytes,
                     struct error *error);

#endif
