/* JSON read piece by piece: what RFC 8259 allows is read, the rest is refused. */
#include "runtime/base/json_read.h"
#include "tests/unit/check.h"

#include <string.h>

static struct arena arena;

static bool is_json(const char *text)
{
    struct json_reader reader;

    json_reader_init(&reader, slice_of(text), &arena);
    json_reader_skip(&reader);
    return json_reader_finish(&reader);
}

static void test_what_is_json(void)
{
    static const char *const good[] = {
        "{}",
        "[]",
        " [ ] ",
        "\"\"",
        "0",
        "-0",
        "12",
        "1.5",
        "-1.5e+10",
        "1E-2",
        "true",
        "false",
        "null",
        "[1, 2,3]",
        "{\"a\": {\"b\": [null]}}",
        "\"\\u00e9\"",
        "\"\\\\\"",
        "[[],[]]",
        "\t\n\r 1 \t\n",
        "{\"a\":1,\"a\":2}",
    };
    static const char *const bad[] = {
        "",
        "{",
        "[",
        "]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{1: 2}",
        "{\"a\":}",
        "{\"a\":1,}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "nul",
        "nullx",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "1 2",
        "[1}",
        "'a'",
        "\"\\",
        "\"\xff\"",
        "NaN",
        "\"\xed\xa0\x80\"",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!CHECK(is_json(good[i]))) {
            printf("  %s\n", good[i]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK(!is_json(bad[i]))) {
            printf("  %s\n", bad[i]);
        }
    }
}

static struct slice text_of(const char *json)
{
    struct json_reader reader;
    struct slice text = SLICE("none");

    json_reader_init(&reader, slice_of(json), &arena);
    CHECK(json_reader_text(&reader, &text) && json_reader_finish(&reader));
    return text;
}

static void test_texts(void)
{
    CHECK_TEXT(text_of("\"plain\""), "plain");
    CHECK_TEXT(text_of("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\/\b\f\n\r\t");
    CHECK_TEXT(text_of("\"\\u0041\\u00e9\\u6CE8\""), "A\xc3\xa9\xe6\xb3\xa8");
    CHECK_TEXT(text_of("\"\\ud83d\\ude00.\""), "\xf0\x9f\x98\x80.");
    /* Half a pair is no character. */
    CHECK_TEXT(text_of("\"\\ud83d\""), "\xef\xbf\xbd");
    CHECK_TEXT(text_of("\"\\ud83d\\u0041\""), "\xef\xbf\xbd"
                                              "A");
    CHECK_TEXT(text_of("\"\\ude00\\ud83d\""), "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(slice_equal(text_of("\"a\\u0000b\""), SLICE("a\0b")));
}

static bool natural_of(const char *json, uint64_t *number)
{
    struct json_reader reader;

    json_reader_init(&reader, slice_of(json), &arena);
    return json_reader_natural(&reader, number) && json_reader_finish(&reader);
}

static void test_numbers(void)
{
    uint64_t number = 0;

    CHECK(natural_of("0", &number) && number == 0);
    CHECK(natural_of(" 18446744073709551615", &number) && number == UINT64_MAX);
    CHECK(!natural_of("18446744073709551616", &number));
    CHECK(!natural_of("99999999999999999999999", &number));
    CHECK(!natural_of("-1", &number) && !natural_of("1.0", &number));
    CHECK(!natural_of("1e3", &number) && !natural_of("007", &number));
}

static void test_depth(void)
{
    char text[400];

    memset(text, '[', 200);
    memset(text + 200, ']', 199);
    text[399] = '\0';
    CHECK(!is_json(text));
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = '\0';
    CHECK(is_json(text));
}

static void test_walking(void)
{
    struct json_reader reader;
    struct slice key;
    uint64_t number = 0;
    int count = 0;

    json_reader_init(&reader, SLICE("{\"a\": [1, 2], \"b\": {\"c\": 3}, \"d\": 4}"),
                     &arena);
    CHECK(json_reader_peek(&reader) == '{' && json_reader_begin_object(&reader));
    while (json_reader_next_key(&reader, &key)) {
        count++;
        if (slice_equal(key, SLICE("d"))) {
            CHECK(json_reader_natural(&reader, &number));
        } else {
            CHECK(json_reader_skip(&reader));
        }
    }
    CHECK(json_reader_finish(&reader) && count == 3 && number == 4);
    /* A value that was not read is a failure, and stays one. */
    json_reader_init(&reader, SLICE("{\"a\": 1, \"b\": 2}"), &arena);
    json_reader_begin_object(&reader);
    CHECK(json_reader_next_key(&reader, &key) && !json_reader_next_key(&reader, &key));
    CHECK(!json_reader_skip(&reader) && !json_reader_finish(&reader));
}

int main(void)
{
    arena_init(&arena);
    test_what_is_json();
    test_texts();
    test_numbers();
    test_depth();
    test_walking();
    arena_release(&arena);
    return check_finish();
}
