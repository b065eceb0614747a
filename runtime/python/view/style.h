/* The arguments for a picture's style: its format, its dots for each inch, its colours. Each function
 * returns 0; or -1, with a ValueError set. */
#ifndef MONITORCH_PYTHON_VIEW_STYLE_H
#define MONITORCH_PYTHON_VIEW_STYLE_H

#include "runtime/view/picture/render.h"

#include <stdbool.h>

/* `has_dot`: it may be DOT's text too. */
int view_read_format(const char *text, bool has_dot, enum render_format *format);
int view_check_dpi(double dpi);
int view_read_theme(const char *text, enum picture_theme *theme);

#endif
