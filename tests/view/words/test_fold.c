/* Lines that are folded to the width of a terminal. */
#include "runtime/view/words/fold.h"
#include "tests/unit/check.h"

static void check_fold(const char *text, size_t width, const char *wanted)
{
    struct buffer folded = BUFFER_INIT;

    text_fold(slice_of(text), width, &folded);
    if (!CHECK_TEXT(buffer_slice(&folded), wanted)) {
        printf("  text:   %s\n", text);
    }
    buffer_release(&folded);
}

static void test_lines(void)
{
    check_fold("", 20, "");
    check_fold("short\n\nlines\n", 20, "short\n\nlines\n");
    check_fold("twenty columns, all.", 20, "twenty columns, all.");
    check_fold("twenty-one columns, so", 20, "twenty-one columns,\n  so");
    /* Under what follows the label; at two blanks rather than at one. */
    check_fold("  gave     w = int [4, 4]  min 0 max 1  #80\n", 30,
               "  gave     w = int [4, 4]\n             min 0 max 1  #80\n");
    check_fold("  a  bbbbb cccc dddd eeeee f", 20,
               "  a  bbbbb cccc dddd\n       eeeee f");
    check_fold("one two three four     five", 20, "one two three four\n  five");
    /* Under the text where there is no label. */
    check_fold("     train  a.py:72  #3  from line 94", 24,
               "     train  a.py:72  #3\n       from line 94");
}

static void test_lines_that_stay(void)
{
    check_fold("  34 |     weights = scores.softmax(dim=-1)", 20,
               "  34 |     weights = scores.softmax(dim=-1)");
    check_fold("a/very/long/path/without/a/blank.py", 20,
               "a/very/long/path/without/a/blank.py");
    check_fold("a b", 3, "a b");
    check_fold("                    deep inside", 20,
               "                    deep inside");
}

static void test_colors_and_letters(void)
{
    check_fold("\033[1;31mNaN\033[0m made here: weights", 19,
               "\033[1;31mNaN\033[0m made here:\n  weights");
    check_fold("π π π π π π π π π π π", 20, "π π π π π π π π π π\n  π");
}

int main(void)
{
    test_lines();
    test_lines_that_stay();
    test_colors_and_letters();
    return check_finish();
}
