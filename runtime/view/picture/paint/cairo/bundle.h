/* The libraries cairo and pango that came with the package (a wheel has them), for machines that have
 * none of their own. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_BUNDLE_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_BUNDLE_H

#include <stddef.h>

/* Opens those that the file `order` of the folder names, one a line, each after those that it needs, so that
 * the loader looks for none elsewhere. Gives what dlopen gave for the last, whose functions and
 * those of the others dlsym finds; NULL where one cannot be opened, and where there are none. */
void *cairo_bundle_open(const char *folder);

/* The same from where the package lies: beside the extension module that this is part of, or
 * below the prefix that the command was installed under. */
void *cairo_bundle_find(void);

#endif
