/* The note that an argument was made up (LOG_NOTE_GUESS): its parts, and a sentence for the
 * reader. */
#ifndef MONITORCH_VIEW_WORDS_GUESS_TEXT_H
#define MONITORCH_VIEW_WORDS_GUESS_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

/* Parts of the note, borrowed from its text. "": a missing part. */
struct guess {
    struct slice function; /* qualified name */
    struct slice parameter;
    struct slice how; /* `randn(8, 8)` */
};

struct guess guess_read(struct slice note);

/* Adds `block: the argument x was made up: randn(8, 8)`, unescaped. */
void guess_text_add(struct buffer *text, struct slice note);

#endif
