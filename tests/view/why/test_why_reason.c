/* Causes that statements show, by what went in; statements of any bytes at all. */
#include "runtime/base/memory.h"
#include "runtime/view/why/reason/reason.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static struct buffer text;

/* An array of four elements from `low` to `high`. */
static struct why_input array(const char *name, double low, double high, uint64_t zeros)
{
    return (struct why_input){
        .name = slice_of(name),
        .has_statistics = true,
        .dtype = DTYPE_FLOAT32,
        .statistics = {.count = 4,
                       .zero_count = zeros,
                       .min = {.real = low},
                       .max = {.real = high}},
    };
}

static struct why_answer ask(const char *statement,
                             const struct why_input *inputs,
                             uint32_t count,
                             unsigned made)
{
    struct why_question question = {
        .statement = slice_of(statement),
        .inputs = inputs,
        .input_count = count,
        .dtype = DTYPE_FLOAT32,
        .made = made,
    };

    text.size = 0;
    return why_reason_add(&text, &question);
}

/* ---- what is told ---- */

static void test_reasons(void)
{
    static const struct {
        const char *statement;
        unsigned made;
        const char *words; /* "": nothing is told */
    } cases[] = {
        {"y = a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = z / z", WHY_NAN, "0/0: `z` has 2 zeros"},
        {"y = a / p", WHY_POSINF, ""},
        {"y: Tensor = a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = w = a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y[k, 1] = a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"return a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"returned = a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"a /= z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"a **= -1", WHY_POSINF, ""},
        {"y = a, p / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = (a) / (z)", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = -a / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = torch.div(a, z)", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = a.div_(z)", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = torch.div(a, other=z)", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = p / (z + 1e-8)", WHY_POSINF, ""},
        {"y = p / (z.abs() + 1)", WHY_POSINF, ""},
        {"y = p / z.clamp(min=1e-6)", WHY_POSINF, ""},
        {"y = p / (a - 1)", WHY_POSINF, "division by zero: `a - 1` was 0"},
        {"y = n.log()", WHY_NAN, "log of a negative number: min of `n` is -2"},
        {"y = (n * n).log()", WHY_NAN, ""},
        {"y = (n ** 2 + 1).log()", WHY_NAN, ""},
        {"y = math.log(n)", WHY_NAN, "log of a negative number: min of `n` is -2"},
        {"y = log(n)", WHY_NAN, "log of a negative number: min of `n` is -2"},
        {"y = self.log(n)", WHY_NAN, "inside `self.log(n)`"},
        {"y = torch.sqrt(p - 2)", WHY_NAN,
         "sqrt of a negative number: min of `p - 2` is -1.5"},
        {"y = (p - 2) ** 0.5", WHY_NAN,
         "a negative number to the power 0.5: min of `p - 2` is -1.5"},
        {"y = -p ** 2", WHY_NAN, ""},
        {"y = big.exp()", WHY_POSINF,
         "exp overflows above 88.72 in float32: `big` has max 100"},
        {"y = (big * 0.5).exp()", WHY_POSINF, ""},
        {"y = torch.softmax(m, dim=-1)", WHY_NAN,
         "softmax of a row that is -Inf everywhere: `m` has 1 -Inf of 4"},
        {"y = m.view(2, 2).softmax(-1)", WHY_NAN,
         "softmax of a row that is -Inf everywhere: `m.view(2, 2)` has -Inf"},
        {"y = a.masked_fill(k, -torch.inf)", WHY_NEGINF,
         "the statement names it: `torch.inf`"},
        {"y = torch.full((2,), float('nan'))", WHY_NAN,
         "the statement names it: `float('nan')`"},
        {"y = layer(a)", WHY_NAN, "inside `layer(a)`"},
        {"y = layer(a) / z", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"y = layer(a) / p", WHY_NAN, "inside `layer(a)`"},
        {"y = f'{a / z}'", WHY_NAN, ""},
        {"y = 'a / z'", WHY_NAN, ""},
        {"y = a if z else p", WHY_NAN, ""},
        {"for y in a / z:", WHY_POSINF, "division by zero: `z` has 2 zeros"},
        {"", WHY_NAN, ""},
    };
    struct why_input inputs[] = {
        array("a", 1, 3, 0),  array("z", 0, 2, 2),     array("p", 0.5, 4, 0),
        array("n", -2, 1, 0), array("big", 1, 100, 0), array("m", 0, 1, 0),
    };

    inputs[5].statistics.neginf_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct why_answer answer = ask(cases[i].statement, inputs,
                                       sizeof inputs / sizeof *inputs, cases[i].made);

        if (!CHECK_TEXT(buffer_slice(&text), cases[i].words)) {
            printf("  of: %s\n", cases[i].statement);
        }
        CHECK(answer.is_reported == (cases[i].words[0] != '\0'));
    }
}

/* Elements that are put or added at indices, and products of infinities. */
static void test_scattered(void)
{
    static const struct {
        const char *statement;
        const char *words;
    } cases[] = {
        {"y = torch.zeros_like(a).index_add_(0, k, n) / z",
         "0/0: `z` has 2 zeros, `torch.zeros_like(a).index_add_(0, k, n)` was 0"},
        {"y = p.scatter_add(0, k, layer(a))", "inside `layer(a)`"},
        {"y = p.index_add(0, k, m, alpha=2)", "inside `p.index_add(0, k, m, alpha=2)`"},
        {"y = a.scatter(0, k, p)", ""},
        {"y = -(z * z.log()).sum(-1)",
         "log of 0 gives -Inf: `z` has 2 zeros; then 0 * Inf: in `z` and `z.log()`"},
    };
    struct why_input inputs[] = {array("a", 1, 3, 0), array("z", 0, 2, 2),
                                 array("p", 0.5, 4, 0), array("n", -2, 1, 0),
                                 array("m", 0, 1, 0)};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(cases[i].statement, inputs, sizeof inputs / sizeof *inputs, WHY_NAN);
        if (!CHECK_TEXT(buffer_slice(&text), cases[i].words)) {
            printf("  of: %s\n", cases[i].statement);
        }
    }
}

/* Recorded figures of all elements bound what a statement takes of all of them. */
static void test_whole_figures(void)
{
    static const struct {
        const char *statement;
        unsigned made;
        const char *words;
    } cases[] = {
        {"y = d / d.std()", WHY_POSINF, ""},
        {"y = d / d.std(0)", WHY_POSINF, "division by zero: `d.std(0)` was 0"},
        {"y = d / d.var()", WHY_POSINF, ""},
        {"y = d / d.mean()", WHY_POSINF, ""},
        {"y = d / d.mean(-1)", WHY_POSINF, "division by zero: `d.mean(-1)` was 0"},
        {"y = d.mean().log()", WHY_NAN, ""},
        {"y = flat / flat.std()", WHY_POSINF, "division by zero: `flat.std()` was 0"},
        {"y = holed / holed.std()", WHY_POSINF,
         "division by zero: `holed.std()` was 0"},
    };
    struct why_input inputs[] = {
        array("d", -1, 5, 0),
        array("flat", 1, 1.001, 0),
        array("holed", -1, 5, 0),
    };

    inputs[0].statistics.mean = inputs[2].statistics.mean = 2;
    inputs[0].statistics.std = inputs[2].statistics.std = 1.5;
    inputs[1].statistics.mean = 1;
    inputs[1].statistics.std = 1e-4;
    inputs[2].statistics.nan_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(cases[i].statement, inputs, sizeof inputs / sizeof *inputs, cases[i].made);
        if (!CHECK_TEXT(buffer_slice(&text), cases[i].words)) {
            printf("  of: %s\n", cases[i].statement);
        }
    }
}

static void test_what_cannot_be(void)
{
    struct why_input inputs[] = {array("a", 1, 3, 0), array("p", 0.5, 4, 0)};

    CHECK(ask("y = a + p * 2", inputs, 2, WHY_NAN).is_impossible);
    CHECK(ask("y = (a / p).sqrt()", inputs, 2, WHY_NAN).is_impossible);
    CHECK(!ask("y = a + unknown", inputs, 2, WHY_NAN).is_impossible);
    CHECK(!ask("y = a + f(p)", inputs, 2, WHY_NAN).is_impossible);
    CHECK(ask("y = a / 0.0", inputs, 2, WHY_POSINF).is_certain);
    CHECK(ask("y = a * float('inf')", inputs, 2, WHY_POSINF).is_written);
    CHECK(ask("y = a.grad", inputs, 2, WHY_NAN).is_outside);
}

/* ---- any bytes ---- */

static void test_any_text(void)
{
    static const char *const words[] = {
        "a",      "z",          "(",      ")",
        "[",      "]",          "{",      "}",
        "'",      "\"",         "\\",     "=",
        "==",     "+",          "-",      "*",
        "**",     "/",          "//",     "%",
        "@",      ".",          ",",      ":",
        " ",      "1",          "1e-5",   "0x",
        "log",    "exp",        "sqrt",   "std",
        "sum",    "softmax(",   "f(",     "if",
        "else",   "for",        "inf",    "nan",
        "lambda", "return",     "\x80",   "\xff",
        "x=",     "...",        "torch.", "masked_fill(",
        ".pow(",  "clamp(min=", "to(",    "float('inf')",
        ".T",     "grad",
    };
    struct why_input inputs[] = {array("a", -3, 3, 1), array("z", 0, 0, 4)};
    char statement[600];

    srand(6);
    for (int i = 0; i < 30000; i++) {
        size_t size = 0;
        int count = rand() % 60;

        for (int k = 0; k < count; k++) {
            const char *word = words[(size_t)rand() % (sizeof words / sizeof *words)];

            if (size + strlen(word) < sizeof statement) {
                memcpy(statement + size, word, strlen(word));
                size += strlen(word);
            }
        }
        statement[size] = '\0';
        /* The size of the block is the text's: a look behind it is seen by the sanitizer. */
        char *exact = memory_allocate(size + 1, 1);

        memcpy(exact, statement, size + 1);
        ask(exact, inputs, 2, (unsigned)(1 + rand() % 7));
        memory_free(exact);
    }
    CHECK(!text.has_failed);
}

static void test_long_and_deep(void)
{
    size_t size = 100000;
    char *statement = memory_allocate(size + 1, 1);
    const char *patterns[] = {"(",  "[",    "-",    "a+", "f(", "a.b().", "**",
                              "x=", "a[0]", "not ", "a,", "'",  "\\",     "a**-"};

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        size_t step = strlen(patterns[i]);

        for (size_t k = 0; k < size; k++) {
            statement[k] = patterns[i][k % step];
        }
        statement[size] = '\0';
        ask(statement, NULL, 0, WHY_NAN);
        CHECK(text.size < 2000);
    }
    memory_free(statement);
}

int main(void)
{
    test_reasons();
    test_scattered();
    test_whole_figures();
    test_what_cannot_be();
    test_any_text();
    test_long_and_deep();
    buffer_release(&text);
    return check_finish();
}
