/* The names that a mistyped one, or a glob of one, was meant to be. */
#include "runtime/base/nearest_name.h"
#include "tests/unit/check.h"

#include <string.h>

/* What is suggested for a word, of names with blanks between them. */
static void check_suggestion(const char *word, const char *names, const char *wanted)
{
    struct buffer text = BUFFER_INIT;
    struct nearest nearest;
    struct slice all = slice_of(names);
    size_t start = 0;

    nearest_init(&nearest, slice_of(word));
    while (start < all.size) {
        size_t end = slice_find(all, SLICE(" "), start);

        nearest_add(&nearest, slice_part(all, start, end));
        start = end + 1;
    }
    nearest_write(&nearest, &text);
    if (!CHECK_TEXT(buffer_slice(&text), wanted)) {
        printf("  word:   %s\n", word);
    }
    buffer_release(&text);
}

static void test_words(void)
{
    check_suggestion("shwo", "show graph diff", "; did you mean show?");
    check_suggestion("encodr", "decoder encoder", "; did you mean encoder?");
    check_suggestion("p_proj", "q_proj k_proj fc", "; did you mean q_proj or k_proj?");
    check_suggestion("p_proj", "q_proj k_proj q_proj v_proj o_proj",
                     "; did you mean q_proj, k_proj or v_proj?");
    check_suggestion("attention", "mlp norm", "");
    check_suggestion("x", "y z", "");
    check_suggestion("", "a", "");
    check_suggestion("a", "", "");
    check_suggestion("hidden", "", "");
    check_suggestion("forwrad", "forward", "; did you mean forward?");
}

/* A star costs nothing, so that what stands beside it counts alone. */
static void test_globs(void)
{
    check_suggestion("activations/*/nan", "activation/encoder.layers.10.attention/nan",
                     "; did you mean activation/encoder.layers.10.attention/nan?");
    check_suggestion("activations/*/nan",
                     "activation/a/std activation/a/nan gradient/a/nan",
                     "; did you mean activation/a/nan?");
    check_suggestion("*.forwrad", "Net.forward Net.helper",
                     "; did you mean Net.forward?");
    check_suggestion("blocks.?.atn", "blocks.0.attn blocks.1.attn blocks.1.mlp",
                     "; did you mean blocks.0.attn or blocks.1.attn?");
    check_suggestion("*", "a b", "");
    check_suggestion("**?", "abc", "");
}

static void test_long_ones(void)
{
    char word[NEAREST_NAME_MAX_SIZE + 2];
    char name[NEAREST_NAME_MAX_SIZE + 2];
    struct nearest nearest;

    memset(word, 'a', sizeof word);
    memcpy(name, word, sizeof name);
    word[5] = 'b';
    for (size_t size = NEAREST_NAME_MAX_SIZE - 1; size <= sizeof word; size++) {
        nearest_init(&nearest, (struct slice){word, size});
        nearest_add(&nearest, (struct slice){name, size});
        CHECK(nearest.count == (size <= NEAREST_NAME_MAX_SIZE));
    }
}

static void test_the_one_name(void)
{
    const char *const names[] = {"graph", "show", "shot"};

    CHECK(nearest_name("shwo", names, 3) == names[1]);
    CHECK(nearest_name("shox", names, 3) == names[1]);
    CHECK(nearest_name("why", names, 3) == NULL);
    CHECK(nearest_name("show", names, 0) == NULL);
}

int main(void)
{
    test_words();
    test_globs();
    test_long_ones();
    test_the_one_name();
    return check_finish();
}
