/* Sources that hold very many of one thing: no stack runs out, and the time grows no faster
 * than the text. */
#include "instrument/instrument.h"
#include "runtime/base/utf8.h"
#include "tests/unit/check.h"

#include <time.h>

/* A hundred times what is needed; where the time grew with the square, minutes would pass. */
#define SECONDS_LIMIT 20.0

struct shape {
    const char *name;
    const char *start;
    const char *part; /* `%zu` becomes the number of the part */
    size_t count;
    bool is_left; /* the function is too deep for insertions */
};

static const struct shape shapes[] = {
    {"elif", "def f(x):\n if x: y = 0\n", " elif x == %zu: y = 1\n", 200000, true},
    {"with", "def f(x):\n with x:\n", "  a%zu = 1\n", 200000, false},
    {"functions", "", "def f%zu():\n  return g()\n", 100000, false},
    {"classes", "", "if x:\n class A:\n  def f(x):\n   y = x\n", 50000, false},
    {"one line", "", "a = 1;", 300000, false},
};

static struct buffer make_source(const struct shape *shape)
{
    struct buffer text = BUFFER_INIT;
    struct slice part = slice_of(shape->part);
    size_t number = slice_find(part, SLICE("%zu"), 0);

    buffer_add(&text, slice_of(shape->start));
    for (size_t i = 0; i < shape->count; i++) {
        buffer_add(&text, slice_part(part, 0, number));
        if (number < part.size) {
            buffer_add_number(&text, i);
            buffer_add(&text, slice_part(part, number + strlen("%zu"), part.size));
        }
    }
    return text;
}

static void test_shape(const struct shape *shape)
{
    const struct selection everything = {.everything = true};
    struct buffer source = make_source(shape);
    struct error error = ERROR_INIT;
    struct instrumented result;
    clock_t before = clock();
    double seconds;

    instrumented_init(&result);
    if (!CHECK(instrument(buffer_slice(&source), shape->name, &everything, &result,
                          &error))) {
        printf("  %s\n", error.text);
    }
    CHECK((result.table.site_count >= shape->count) == !shape->is_left);
    seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (!CHECK(seconds < SECONDS_LIMIT)) {
        printf("  %s: %.1f seconds\n", shape->name, seconds);
    }
    instrumented_release(&result);
    buffer_release(&source);
}

/* A method's first name of a megabyte, which each of a thousand spy calls repeats. */
static void test_too_large(void)
{
    const struct slice every_name = SLICE("*");
    const struct selection spies = {.spy_names = &every_name, .spy_count = 1};
    struct buffer source = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct instrumented result;

    buffer_add(&source, SLICE("class A:\n def f("));
    for (size_t i = 0; i < 1 << 20; i++) {
        buffer_add_byte(&source, 's');
    }
    buffer_add(&source, SLICE("):\n"));
    for (size_t i = 0; i < 1000; i++) {
        buffer_add(&source, SLICE("  x = 1\n"));
    }
    instrumented_init(&result);
    CHECK(!instrument(buffer_slice(&source), "large.py", &spies, &result, &error));
    CHECK(error.kind == ERROR_INPUT);
    CHECK_TEXT(slice_of(error.text),
               "large.py:1:1: more than 469762048 bytes would be inserted: select "
               "fewer functions or lines");
    instrumented_release(&result);
    buffer_release(&source);
}

/* A note is cut between characters, whatever the name in it. */
static void test_long_note(void)
{
    const struct selection everything = {.everything = true};

    for (size_t letter = 0; letter < 2; letter++) {
        struct buffer source = BUFFER_INIT;
        struct error error = ERROR_INIT;
        struct instrumented result;

        buffer_add(&source, SLICE("import torch\n@torch.jit.script\ndef a"));
        buffer_add(&source, letter == 0 ? SLICE("") : SLICE("b"));
        for (size_t i = 0; i < 300; i++) {
            buffer_add(&source, SLICE("\xC3\xA9"));
        }
        buffer_add(&source, SLICE("():\n  return 1\n"));
        instrumented_init(&result);
        CHECK(
            instrument(buffer_slice(&source), "note.py", &everything, &result, &error));
        if (CHECK(result.note_count == 1)) {
            struct slice text = result.notes[0].text;

            CHECK(text.size > 400 && utf8_find_invalid(text) == text.size);
        }
        instrumented_release(&result);
        buffer_release(&source);
    }
}

int main(void)
{
    test_long_note();
    test_too_large();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        test_shape(&shapes[i]);
    }
    return check_finish();
}
