/* The comment in which a Python source names its encoding (PEP 263). */
#ifndef MONITORCH_INSTRUMENT_TEXT_CODING_COMMENT_H
#define MONITORCH_INSTRUMENT_TEXT_CODING_COMMENT_H

#include "runtime/base/slice.h"

/* The name on one of the first two lines of a text without byte order mark, borrowed from the
 * text; size 0 where there is none. */
struct slice coding_comment_find(struct slice text);

/* What iconv calls the encoding that Python knows by this name; "UTF-8" and "ASCII" are among
 * the results. NULL where Python does not know it, or where it does not contain ASCII. */
const char *coding_iconv_name(struct slice name);

#endif
