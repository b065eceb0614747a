/* The note that an argument was made up. */
#include "runtime/view/words/guess_text.h"

/* Returns the text before the next tab, and removes both from `rest`. */
static struct slice read_part(struct slice *rest)
{
    size_t end = slice_find(*rest, SLICE("\t"), 0);
    struct slice part = slice_part(*rest, 0, end);

    *rest = slice_part(*rest, end < rest->size ? end + 1 : end, rest->size);
    return part;
}

struct guess guess_read(struct slice note)
{
    struct guess guess;

    guess.function = read_part(&note);
    guess.parameter = read_part(&note);
    guess.how = note;
    return guess;
}

void guess_text_add(struct buffer *text, struct slice note)
{
    struct guess guess = guess_read(note);

    buffer_add(text, guess.function);
    buffer_add(text, SLICE(": the argument "));
    buffer_add(text, guess.parameter);
    buffer_add(text, SLICE(" was made up: "));
    buffer_add(text, guess.how);
}
