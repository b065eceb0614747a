/* A note that an argument was made up (LOG_NOTE_GUESS): its parts, and a sentence for people. */
#ifndef MONITORCH_VIEW_WORDS_GUESS_TEXT_H
#define MONITORCH_VIEW_WORDS_GUESS_TEXT_H

#include "runtime/base/buffer.h"
#include "runtime/base/slice.h"

/* Borrowed from the note's text; "" what is not in it. */
struct guess {
    struct slice function; /* qualified */
    struct slice parameter;
    struct slice how; /* `randn(8, 8)` */
};

struct guess guess_read(struct slice note);

/* `block: the argument x was made up: randn(8, 8)`, nothing escaped. */
void guess_text_add(struct buffer *text, struct slice note);

#endif
