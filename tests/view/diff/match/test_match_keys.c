/* Keys that a program computes: texts, names, f-strings, sums; and what is none. */
#include "runtime/view/diff/match/run.h"
#include "tests/unit/check.h"

static struct match_text texts[] = {
    {.name = {"prefix", 6}, .text = {"0.", 2}, .call = 1, .value = 0},
    {.name = {"prefix", 6}, .text = {"1.", 2}, .call = 2, .value = 1},
};
static struct match_value values[] = {
    {.name = {"layer", 5}, .number = 3, .is_integer = true, .call = 1},
    {.name = {"rate", 4}, .number = 0.5, .call = 1},
};
static const struct match_run run = {
    .texts = texts, .text_count = 2, .values = values, .value_count = 2};

static const struct {
    const char *expression, *key; /* NULL: none */
    uint32_t call;
} cases[] = {
    {"'q'", "q", 1},
    {"prefix + \"q.w\"", "0.q.w", 1},
    {"prefix + \"q.w\"", "1.q.w", 2},
    {" prefix+'k' ", "0.k", 1},
    {"f\"{layer}.up\"", "3.up", 1},
    {"f'{prefix}{layer}' + '.w'", "0.3.w", 1},
    {"f\"{layer}.up\"", NULL, 2},
    {"f\"{layer + 1}.up\"", NULL, 1},
    {"f\"{rate}.up\"", NULL, 1},
    {"name + 'q'", NULL, 1},
    {"prefix * 2", NULL, 1},
    {"'q", NULL, 1},
    {"'a\\n'", NULL, 1},
    {"prefix +", NULL, 1},
    {"", NULL, 1},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer key = BUFFER_INIT;
        bool is_known =
            match_key_add(&run, slice_of(cases[i].expression), cases[i].call, 2, &key);

        CHECK(is_known == (cases[i].key != NULL));
        if (is_known) {
            CHECK(slice_equal(buffer_slice(&key), slice_of(cases[i].key)));
        }
        buffer_release(&key);
    }
    return check_finish();
}
