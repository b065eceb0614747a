/* Terms of sites: what is read of their texts, and that damaged ones are none. */
#include "runtime/site/term.h"

#include "runtime/base/buffer.h"
#include "tests/unit/check.h"

/* The term in words: letters, marks, numbers and keys, with brackets around what a node holds. */
static void write_node(const struct term *term, uint32_t i, struct buffer *text)
{
    const struct term_node *node = &term->nodes[i];

    if (node->mark != TERM_PLAIN) {
        buffer_add_byte(text, (char)node->mark);
    }
    if (node->given.size > 0) {
        buffer_add(text, node->given);
        buffer_add_byte(text, ':');
    }
    buffer_add_byte(text, (char)node->kind);
    if (node->kind == TERM_READ || node->kind == TERM_ITEM || node->kind == TERM_LAST ||
        node->kind == TERM_NAMED || node->kind == TERM_AT_PLACE ||
        node->kind == TERM_NUMBER) {
        buffer_add_number(text, node->number);
    }
    buffer_add(text, node->key);
    if (term_child(term, i) == 0) {
        return;
    }
    buffer_add_byte(text, '(');
    for (uint32_t k = term_child(term, i); k != 0; k = term_sibling(term, i, k)) {
        write_node(term, k, text);
    }
    buffer_add_byte(text, ')');
}

static void write_parts(const struct term *term, struct buffer *text)
{
    for (uint32_t i = 0; i < term->part_count; i++) {
        const struct term_part *part = &term->parts[i];

        buffer_add_byte(text, '@');
        buffer_add_number(text, part->write);
        for (uint32_t k = 0; k < part->step_count; k++) {
            buffer_add_byte(text, (char)part->kinds[k]);
            buffer_add_number(text, part->numbers[k]);
        }
        buffer_add(text, part->is_put ? SLICE("!") : SLICE(""));
    }
}

static void check(const char *term_text, const char *wanted)
{
    struct buffer text = BUFFER_INIT;
    struct arena arena;
    struct term term;

    arena_init(&arena);
    if (CHECK(term_read(&term, slice_of(term_text), 3, &arena))) {
        if (term.node_count > 0) {
            CHECK(term.nodes[0].next == term.node_count);
            write_node(&term, 0, &text);
        }
        write_parts(&term, &text);
        CHECK_TEXT(buffer_slice(&text), wanted);
    }
    buffer_release(&text);
    arena_release(&arena);
}

static void test_terms(void)
{
    check("", "");
    check("r2", "r2");
    check("fr0", "f(r0)");
    check("pi0r0tmask;r1.", "p(i0(r0)tmask(r1))");
    check("sufr1k.r0", "s(u(f(r1)k)r0)");
    check("mview;r0kxfr1.", "mview(r0kxf(r1))");
    check("cOutput;k=logits;r0yr1.", "cOutput(k=logits:r0yr1)");
    check("d=a%20b;r0?r1xr2.", "d(=a b:r0?r1xr2)");
    check("gpw0r0w1r1.", "g(p(w0(r0)w1(r1)))");
    check("mpop;r0z3.", "mpop(r0z3)");
    check("ofr0r1r2.@0.0@1.1.2@2*", "o(f(r0)r1r2)@0.0@1.1.2@2*0");
    check("r0@0!", "r0@0!");
}

static void test_damaged_terms(void)
{
    static const char *const texts[] = {
        "r",     "r3",    "r99999999999", "ur0",     "X",   "i0",  "fr",
        "mview", "tab",   "c%2;k.",       "c%zz;k.", ".",   "r0r", "r0@",
        "r0@x",  "r0@0.", "=a",           "w0",      "=a;", "sr0",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check(texts[i], "");
    }
}

static void test_deep_terms(void)
{
    static char text[100001];

    memset(text, 'f', sizeof text - 1);
    check(text, "");
    memset(text, 'u', sizeof text - 1);
    check(text, "");
}

int main(void)
{
    test_terms();
    test_damaged_terms();
    test_deep_terms();
    return check_finish();
}
