/* The arguments for a picture's style. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/view/style.h"

#include <string.h>

int view_read_format(const char *text, bool has_dot, enum render_format *format)
{
    if (!render_format_read(slice_of(text), format) ||
        (*format == RENDER_DOT && !has_dot)) {
        PyErr_Format(PyExc_ValueError, "format: expected %s, not %.80s",
                     has_dot ? "png, svg, pdf or dot" : "png, svg or pdf", text);
        return -1;
    }
    return 0;
}

int view_check_dpi(double dpi)
{
    if (!(dpi >= RENDER_DPI_LEAST && dpi <= RENDER_DPI_MOST)) {
        PyErr_Format(PyExc_ValueError, "dpi: expected %d to %d", RENDER_DPI_LEAST,
                     RENDER_DPI_MOST);
        return -1;
    }
    return 0;
}

int view_read_theme(const char *text, enum picture_theme *theme)
{
    bool is_dark = strcmp(text, "dark") == 0;

    if (!is_dark && strcmp(text, "light") != 0) {
        PyErr_Format(PyExc_ValueError, "theme: expected light or dark, not %.80s",
                     text);
        return -1;
    }
    *theme = is_dark ? PICTURE_DARK : PICTURE_LIGHT;
    return 0;
}
