/* Widths of text without a font. */
#include "runtime/view/words/text_width.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>

static double width_of(enum picture_face face, const char *text)
{
    return text_width(face, 1000, slice_of(text));
}

static void test_characters(void)
{
    CHECK(text_advance(PICTURE_SANS, ' ') == 318);
    CHECK(text_advance(PICTURE_SANS, '0') == 636);
    CHECK(text_advance(PICTURE_SANS_BOLD, '0') == 696);
    CHECK(text_advance(PICTURE_SANS, 'i') < text_advance(PICTURE_SANS, 'W'));
    for (uint32_t digit = '0'; digit <= '9'; digit++) {
        CHECK(text_advance(PICTURE_SANS, digit) == 636);
    }
    for (uint32_t code = ' '; code < 0x7F; code++) {
        CHECK(text_advance(PICTURE_MONO, code) == 602);
        CHECK(text_advance(PICTURE_MONO_BOLD, code) == 602);
        CHECK(text_advance(PICTURE_SANS_BOLD, code) >=
              text_advance(PICTURE_SANS, code));
    }
    /* Controls are never drawn. */
    CHECK(text_advance(PICTURE_SANS, '\n') == 0);
    CHECK(text_advance(PICTURE_SANS, 0x9F) == 0);
}

static void test_scripts(void)
{
    CHECK(text_advance(PICTURE_SANS, 0x00D7) == 838);  /* the multiplication sign */
    CHECK(text_advance(PICTURE_SANS, 0x2192) == 838);  /* an arrow */
    CHECK(text_advance(PICTURE_SANS, 0x03B1) == 659);  /* alpha */
    CHECK(text_advance(PICTURE_SANS, 0x0416) == 1077); /* zhe */
    CHECK(text_advance(PICTURE_SANS, 0x6CE8) == 1000);
    CHECK(text_advance(PICTURE_MONO, 0x6CE8) == 1000);
    CHECK(text_advance(PICTURE_SANS, 0xAC00) == 1000);
    CHECK(text_advance(PICTURE_SANS, 0x1F600) == 1000);
    CHECK(text_advance(PICTURE_SANS, 0x0301) == 0);
    CHECK(text_advance(PICTURE_MONO, 0x0301) == 0);
    CHECK(text_advance(PICTURE_SANS, 0x200B) == 0);
    CHECK(text_advance(PICTURE_SANS, 0xFE0F) == 0);
    CHECK(text_advance(PICTURE_SANS, 0x0D05) == 700); /* Malayalam: a guess */
    CHECK(text_advance(PICTURE_SANS, 0x10FFFF) == 700);
}

static void test_widths(void)
{
    CHECK(width_of(PICTURE_SANS, "") == 0);
    CHECK(width_of(PICTURE_MONO, "abc") == 3 * 602);
    CHECK(text_width(PICTURE_MONO, 10, SLICE("abc")) == 3 * 6.02);
    /* e and an acute accent are as wide as e. */
    CHECK(width_of(PICTURE_SANS, "e\xCC\x81") == width_of(PICTURE_SANS, "e"));
    /* Each byte that is not UTF-8 is drawn as U+FFFD. */
    CHECK(width_of(PICTURE_SANS, "\xFF\xFE") == 2 * 1000);
    CHECK(width_of(PICTURE_SANS, "\xE6\xB3") == 2 * 1000);
}

static void test_fit(void)
{
    struct slice text = SLICE("abcdefghij");
    struct slice marks = SLICE("abe\xCC\x81"); /* e with an accent, at the end */
    struct slice wide = SLICE("\xE6\xB3\xA8\xE6\x84\x8F\xE5\x8A\x9B");

    CHECK(text_fit_start(PICTURE_MONO, 10, text, 6.02 * 3 + 0.1) == 3);
    CHECK(text_fit_end(PICTURE_MONO, 10, text, 6.02 * 3 + 0.1) == 7);
    CHECK(text_fit_start(PICTURE_MONO, 10, text, 1000) == text.size);
    CHECK(text_fit_end(PICTURE_MONO, 10, text, 1000) == 0);
    CHECK(text_fit_start(PICTURE_MONO, 10, text, 0) == 0);
    CHECK(text_fit_end(PICTURE_MONO, 10, text, 0) == text.size);
    CHECK(text_fit_start(PICTURE_SANS, 10, wide, 20.5) == 6);
    CHECK(text_fit_end(PICTURE_SANS, 10, wide, 20.5) == 3);
    /* An accent is not left without its letter. */
    CHECK(text_fit_end(PICTURE_MONO, 10, marks, 1) == marks.size);
    CHECK(text_fit_end(PICTURE_MONO, 10, marks, 6.1) == 2);
}

static void test_fit_any_bytes(void)
{
    char bytes[48];
    uint64_t state = 7;

    for (int round = 0; round < 4000; round++) {
        struct slice text;
        double width;
        size_t start;
        size_t end;

        for (size_t i = 0; i < sizeof bytes; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(state >> 56);
        }
        text = (struct slice){bytes, (size_t)(round % 48)};
        width = (double)(state >> 40 & 0xFF);
        start = text_fit_start(PICTURE_SANS, 7, text, width);
        end = text_fit_end(PICTURE_SANS, 7, text, width);
        CHECK(start <= text.size && end <= text.size);
        CHECK(text_width(PICTURE_SANS, 7, slice_part(text, 0, start)) <= width + 1e-9);
    }
}

static void test_directions(void)
{
    CHECK(!text_is_right_to_left(SLICE("")));
    CHECK(!text_is_right_to_left(SLICE("name")));
    CHECK(!text_is_right_to_left(SLICE("12.5")));
    CHECK(text_is_right_to_left(SLICE("\xD7\xA9\xD7\x9B\xD7\x91\xD7\x94")));
    CHECK(text_is_right_to_left(SLICE("\xD9\x85\xD8\xB5")));
    /* What has no direction of its own does not count. */
    CHECK(text_is_right_to_left(SLICE("[3] _\xD9\x85 abc")));
    CHECK(!text_is_right_to_left(SLICE("a\xD9\x85")));
    CHECK(!text_is_right_to_left(SLICE("\xE6\xB3\xA8\xD9\x85")));
    CHECK(!text_is_right_to_left(SLICE("\xFF\xFF")));
}

int main(void)
{
    test_characters();
    test_scripts();
    test_widths();
    test_fit();
    test_fit_any_bytes();
    test_directions();
    return check_finish();
}
