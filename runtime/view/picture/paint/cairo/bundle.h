/* The cairo and pango libraries that a wheel brings, for machines that have none. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_BUNDLE_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_BUNDLE_H

#include <stddef.h>

/* Opens the libraries that the file `order` of the folder names, one a line. Each follows those
 * that it needs, so that the loader does not search for any elsewhere. Returns the handle of the
 * last one; dlsym finds the functions of all of them through it. NULL: a library cannot be
 * opened, or the folder has none. */
void *cairo_bundle_open(const char *folder);

/* Opens the libraries in the package's own folder: beside the extension module that contains this
 * code, or under the prefix in which the command is installed. Returns as cairo_bundle_open does. */
void *cairo_bundle_find(void);

#endif
