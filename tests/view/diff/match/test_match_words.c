/* What a statement does, as words: operations under their several names, numbers, and what one has that
 * another lacks. */
#include "runtime/view/diff/match/words.h"
#include "tests/unit/check.h"

#include <math.h>

static struct match_words words_of(const char *statement)
{
    struct match_words words = {.number_count = 0};

    match_words_add(&words, slice_of(statement));
    return words;
}

static void test_operations(void)
{
    static const struct {
        const char *a, *b;
        unsigned foreign; /* operations of a that b lacks */
    } cases[] = {
        {"y = torch.matmul(q, k)", "y = q @ k.T", 0},
        {"y = F.silu(x)", "self.act = nn.SiLU()", 0},
        {"y = F.gelu(x)", "y = F.silu(x)", 1},
        {"y = x.softmax(-1)", "y = x * 2", 1},
        {"y = x ** 2", "y = torch.square(x)", 0},
        {"y = x * d ** -0.5", "y = x / math.sqrt(d)", 0},
        {"y = 'softmax(x)'  # softmax(x)", "y = x", 0},
        /* A norm has a root inside, an attention a softmax. */
        {"y = x / torch.sqrt(v)", "y = F.layer_norm(x, n)", 0},
        {"y = s.softmax(-1)", "F.scaled_dot_product_attention(q, k, v)", 0},
        {"F.layer_norm(x, n)", "y = x / torch.sqrt(v)", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct match_words a = words_of(cases[i].a), b = words_of(cases[i].b);

        CHECK(match_words_count_foreign(&a, &b) == cases[i].foreign);
    }
}

static void test_numbers(void)
{
    struct match_words a = words_of("y = norm(x, eps=1e-6) + 0.25 * z[:, 0, 1_000]");
    struct match_words b = words_of("y = norm(x, eps=1e-5) + .25 * z");

    CHECK(a.number_count == 4);
    CHECK(match_words_has_number(&a, 1e-6) && match_words_has_number(&a, 1000));
    CHECK(match_words_foreign_number(&b, &a) == 1e-5);
    CHECK(isnan(
        match_words_foreign_number(&(struct match_words){.number_count = 0}, &a)));
    b = words_of("self.norm = nn.LayerNorm(width)");
    CHECK(match_words_implies(&b, 1e-5) && !match_words_implies(&b, 1e-6));
}

static void test_ends_of_texts(void)
{
    static const char *const texts[] = {"",     "'",      "\"\\", "1e",   ".",
                                        "x **", "x ** (", "#",    "0x1fj"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        (void)words_of(texts[i]);
    }
    CHECK(words_of("y = 'a").number_count == 0);
}

int main(void)
{
    test_operations();
    test_numbers();
    test_ends_of_texts();
    return check_finish();
}
