/* Text in ASCII's letters alone, which are all that cairo itself can draw, without fonts. */
#ifndef MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PLAIN_LETTERS_H
#define MONITORCH_VIEW_PICTURE_PAINT_CAIRO_PLAIN_LETTERS_H

#include "runtime/base/slice.h"

/* Of a longer text the beginning is shown. */
#define PLAIN_LETTERS_SIZE 1024

/* Other letters become what is nearest. Ends with a zero. */
void plain_letters_write(char plain[PLAIN_LETTERS_SIZE], struct slice shown);

#endif
