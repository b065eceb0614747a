/* The comment in which a Python source declares its encoding (PEP 263). */
#ifndef MONITORCH_INSTRUMENT_TEXT_CODING_COMMENT_H
#define MONITORCH_INSTRUMENT_TEXT_CODING_COMMENT_H

#include "runtime/base/slice.h"

/* The name on one of the first two lines of a text without byte order mark, borrowed from the
 * text. Empty if there is none. */
struct slice coding_comment_find(struct slice text);

/* The iconv name of the encoding that Python knows by this name; "UTF-8" and "ASCII" are
 * possible results. NULL if Python does not know the name, or if the encoding does not contain
 * ASCII. */
const char *coding_iconv_name(struct slice name);

#endif
