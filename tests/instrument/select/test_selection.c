/* Selections as text, and line ranges. */
#include "instrument/select/selection.h"
#include "tests/unit/check.h"

#include <stdint.h>

static void expect_range(const char *text, size_t first, size_t last)
{
    struct line_range range = {0, 0};
    bool is_read = line_range_read(&range, slice_of(text));

    if (!CHECK(is_read == (first > 0)) ||
        !CHECK(range.first == first && range.last == last)) {
        printf("  %s: %zu-%zu\n", text, range.first, range.last);
    }
}

static void test_ranges(void)
{
    expect_range("10-40", 10, 40);
    expect_range("7", 7, 7);
    expect_range("7-", 7, SIZE_MAX);
    expect_range("-9", 1, 9);
    expect_range("3-3", 3, 3);
    expect_range("", 0, 0);
    expect_range("-", 0, 0);
    expect_range("0-3", 0, 0);
    expect_range("4-3", 0, 0);
    expect_range("a", 0, 0);
    expect_range("1-2-3", 0, 0);
    expect_range("1 - 2", 0, 0);
    expect_range("99999999999999999999999", 0, 0);
}

/* Words as they are read and written again. */
static void expect_words(const char *words, const char *wanted)
{
    struct selection selection;
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct arena arena;

    arena_init(&arena);
    if (CHECK(selection_read(&selection, slice_of(words), &arena, &error))) {
        selection_write(&selection, &text);
        CHECK_TEXT(buffer_slice(&text), wanted);
    }
    buffer_release(&text);
    arena_release(&arena);
}

static void test_words(void)
{
    struct selection selection;
    struct error error = ERROR_INIT;
    struct arena arena;

    expect_words("", "");
    expect_words("--forward", "--forward");
    expect_words(" --forward  --all ", "--all --forward");
    expect_words("--every-line --forward", "--forward --every-line");
    expect_words("--lines=3- --lines=-4 --lines=5 --lines=6-7",
                 "--lines=3- --lines=1-4 --lines=5 --lines=6-7");
    expect_words("--function=A.* --function=f%20%25 --function=b --function=c",
                 "--function=A.* --function=f%20%25 --function=b --function=c");
    expect_words("--spy=q,,k,v%2c --spy=x", "--spy=q,k,v%2c,x");
    expect_words("--function=%zz%4", "--function=%25zz%254");
    arena_init(&arena);
    CHECK(selection_read(&selection, SLICE("--function=a%20b"), &arena, &error));
    CHECK(selection.function_count == 1);
    CHECK_TEXT(selection.functions[0], "a b");
    CHECK(!selection_read(&selection, SLICE("--none"), &arena, &error));
    CHECK_TEXT(slice_of(error.text),
               "\"--none\" selects nothing, expected --all, --forward, --every-line, "
               "--function=, --lines= or --spy=");
    CHECK(!selection_read(&selection, SLICE("--lines=x"), &arena, &error));
    arena_release(&arena);
}

int main(void)
{
    test_ranges();
    test_words();
    return check_finish();
}
