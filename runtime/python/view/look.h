/* Arguments that say what a picture is to be: its format, its dots for each inch, its colours. Each
 * returns 0; or -1, with a ValueError set. */
#ifndef MONITORCH_PYTHON_VIEW_LOOK_H
#define MONITORCH_PYTHON_VIEW_LOOK_H

#include "runtime/view/picture/render.h"

#include <stdbool.h>

/* `has_dot`: it may be DOT's text too. */
int view_read_format(const char *text, bool has_dot, enum render_format *format);
int view_check_dpi(double dpi);
int view_read_theme(const char *text, enum picture_theme *theme);

#endif
