/* The text as tree-sitter gets it: long runs of comments. */
#include "instrument/text/shown.h"
#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "tests/unit/check.h"

#include <string.h>

static void add_comments(struct buffer *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add(text, i % 2 == 0 ? SLICE("# a\n") : SLICE("    # b\n"));
    }
}

static size_t count_byte(const char *text, size_t size, char byte)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++) {
        count += text[i] == byte;
    }
    return count;
}

/* The number of `#` that are shown of a text with so many lines of comments between code. */
static size_t shown_comments(size_t lines)
{
    struct buffer text = {0};
    char *copy;
    size_t count;

    buffer_add(&text, SLICE("a = 1\n"));
    add_comments(&text, lines);
    buffer_add(&text, SLICE("\nb = 2  # c\n"));
    copy = memory_allocate(text.size, 1);
    CHECK(copy != NULL);
    shown_copy(copy, buffer_slice(&text));
    count = count_byte(copy, text.size, '#');
    CHECK(shown_is_same(buffer_slice(&text)) == (count == lines + 1));
    CHECK(count_byte(copy, text.size, '\n') == lines + 3);
    CHECK(memcmp(copy, "a = 1\n# a\n", 10) == 0);
    CHECK(memcmp(copy + text.size - 12, "\nb = 2  # c\n", 12) == 0);
    memory_free(copy);
    buffer_release(&text);
    return count;
}

static void test_long_runs_show_their_ends(void)
{
    CHECK(shown_comments(1) == 2);
    CHECK(shown_comments(100) == 101);
    CHECK(shown_comments(101) == 3);
    CHECK(shown_comments(5000) == 3);
}

static void test_runs_are_found_one_by_one(void)
{
    struct buffer text = {0};
    char *copy;

    for (int i = 0; i < 3; i++) {
        add_comments(&text, i == 1 ? 50 : 200);
        buffer_add(&text, SLICE("x = 1\n"));
    }
    add_comments(&text, 200);
    copy = memory_allocate(text.size, 1);
    CHECK(copy != NULL);
    shown_copy(copy, buffer_slice(&text));
    CHECK(count_byte(copy, text.size, '#') == 2 + 50 + 2 + 2);
    memory_free(copy);
    buffer_release(&text);
}

int main(void)
{
    test_long_runs_show_their_ends();
    test_runs_are_found_one_by_one();
    return check_finish();
}
