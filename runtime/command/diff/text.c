/* Texts that the reports of `monitorch diff` share. */
#include "runtime/command/diff/text.h"

#include "runtime/view/words/paint.h"

void diff_text_add_grouped(struct buffer *text, uint64_t number)
{
    if (number >= 1000) {
        diff_text_add_grouped(text, number / 1000);
        buffer_add_format(text, ",%03u", (unsigned)(number % 1000));
    } else {
        buffer_add_number(text, number);
    }
}

void diff_text_add_count(struct buffer *text, uint64_t count, const char *noun)
{
    diff_text_add_grouped(text, count);
    buffer_add_byte(text, ' ');
    buffer_add(text, slice_of(noun));
    buffer_add(text, count == 1 ? SLICE("") : SLICE("s"));
}

void diff_text_add_equal(struct buffer *text,
                         uint64_t count,
                         const char *noun,
                         uint64_t close_count,
                         bool is_exact)
{
    buffer_add(text, SLICE("equal: "));
    diff_text_add_count(text, count, noun);
    if (is_exact) {
        buffer_add(text, SLICE(" to the bit"));
    } else if (close_count > 0) {
        buffer_add(text, SLICE(", "));
        diff_text_add_grouped(text, close_count);
        buffer_add(text, SLICE(" of them within tolerance"));
    }
}

void diff_text_add_both(struct buffer *text,
                        uint64_t count,
                        const char *noun,
                        uint64_t equal_count,
                        uint64_t close_count)
{
    diff_text_add_count(text, count, noun);
    buffer_add(text, SLICE(" in both: "));
    diff_text_add_grouped(text, equal_count);
    buffer_add(text, SLICE(" equal"));
    if (close_count > 0) {
        buffer_add(text, SLICE(" ("));
        diff_text_add_grouped(text, close_count);
        buffer_add(text, SLICE(" within tolerance)"));
    }
}

void diff_text_add_part(struct buffer *text, uint64_t count, struct slice words)
{
    if (count > 0) {
        buffer_add(text, SLICE("; "));
        diff_text_add_grouped(text, count);
        buffer_add_byte(text, ' ');
        buffer_add(text, words);
    }
}

void diff_text_add_alone(struct buffer *text, const uint64_t counts[2])
{
    diff_text_add_part(text, counts[0], SLICE("only in A"));
    diff_text_add_part(text, counts[1], SLICE("only in B"));
}

void diff_text_add_column(struct buffer *text, struct slice column, size_t width)
{
    buffer_add(text, column);
    text_add_blanks(text, (column.size < width ? width - column.size : 0) + 2);
}

void diff_text_add_more(struct buffer *text, uint64_t count, const char *noun)
{
    buffer_add(text, SLICE("    and "));
    diff_text_add_grouped(text, count);
    buffer_add(text, SLICE(" more "));
    buffer_add(text, slice_of(noun));
    buffer_add(text, count == 1 ? SLICE(" (--all)\n") : SLICE("s (--all)\n"));
}
