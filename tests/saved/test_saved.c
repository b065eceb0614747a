/* What saved tensors are called: full names, files' names, lines of JSON. */
#include "runtime/base/hash/hash.h"
#include "runtime/saved/saved.h"
#include "tests/unit/check.h"

#include <stdio.h>

#define STEM_SIZE_MAX 200

static void check_stem(struct slice name, const char *wanted)
{
    struct buffer text = BUFFER_INIT;

    saved_add_file_stem(name, &text);
    CHECK_TEXT(buffer_slice(&text), wanted);
    buffer_release(&text);
}

static void check_full_name(struct saved_key key, const char *wanted)
{
    struct buffer text = BUFFER_INIT;

    buffer_add_byte(&text, '|');
    saved_key_add_full_name(&key, &text);
    CHECK_TEXT(slice_part(buffer_slice(&text), 1, text.size), wanted);
    buffer_release(&text);
}

static void test_full_names(void)
{
    check_full_name((struct saved_key){.prefix = SLICE("step0"),
                                       .module_path = SLICE("encoder.attn"),
                                       .name = SLICE("q")},
                    "step0.encoder.attn.q");
    check_full_name(
        (struct saved_key){.module_path = SLICE("manual"), .name = SLICE("q")},
        "manual.q");
    check_full_name((struct saved_key){.prefix = SLICE("a"), .name = SLICE("q")},
                    "a.q");
    check_full_name((struct saved_key){.name = SLICE("q")}, "q");
    check_full_name((struct saved_key){.call = 3}, "");
}

static void test_stems(void)
{
    check_stem(SLICE("step0.encoder.q"), "step0.encoder.q");
    check_stem(SLICE("cache[0]['k']"), "cache[0][%27k%27]");
    check_stem(SLICE("a(b)+c=d@e,f_g-h"), "a(b)+c=d@e,f_g-h");
    check_stem(SLICE("../up/down\\c:"), "%2E.%2Fup%2Fdown%5Cc%3A");
    check_stem(SLICE(".hidden.not"), "%2Ehidden.not");
    check_stem(SLICE("100%~"), "100%25%7E");
    check_stem(SLICE("a\0b c\n\x7f"), "a%00b%20c%0A%7F");
    check_stem(SLICE("\xc3\xa9\xed\xa0\x80"), "%C3%A9%ED%A0%80");
    check_stem(SLICE(""), "");
}

/* A name of so many letters, with one that takes three bytes at `escaped`. */
static struct slice make_name(char *name, size_t size, size_t escaped)
{
    memset(name, 'a', size);
    if (escaped < size) {
        name[escaped] = '/';
    }
    return (struct slice){name, size};
}

static void check_cut(size_t size, size_t escaped, size_t kept)
{
    char name[1000], wanted[64];
    struct buffer text = BUFFER_INIT;
    struct slice given = make_name(name, size, escaped);

    saved_add_file_stem(given, &text);
    snprintf(wanted, sizeof wanted, "~%016llx", (unsigned long long)hash_64(given));
    CHECK(text.size == kept + 17);
    CHECK_TEXT(slice_part(buffer_slice(&text), text.size - 17, text.size), wanted);
    CHECK(memchr(text.bytes, '~', text.size) == text.bytes + kept);
    buffer_release(&text);
}

static void test_long_stems(void)
{
    char name[1000] = "";

    make_name(name, STEM_SIZE_MAX, SIZE_MAX);
    check_stem(slice_of(name), name);
    check_cut(STEM_SIZE_MAX + 1, SIZE_MAX, STEM_SIZE_MAX - 17);
    check_cut(1000, SIZE_MAX, STEM_SIZE_MAX - 17);
    /* What was escaped is cut as a whole. */
    check_cut(STEM_SIZE_MAX - 1, 0, STEM_SIZE_MAX - 17);
    check_cut(1000, STEM_SIZE_MAX - 17 - 3, STEM_SIZE_MAX - 17);
    check_cut(1000, STEM_SIZE_MAX - 17 - 2, STEM_SIZE_MAX - 17 - 2);
    check_cut(1000, STEM_SIZE_MAX - 17 - 1, STEM_SIZE_MAX - 17 - 1);
}

static void test_json(void)
{
    struct saved_tensor tensor = {
        .key = {.prefix = SLICE("step\"0\""),
                .module_path = SLICE("encoder\n"),
                .name = SLICE("\xc3\xa9\xff"),
                .call = 3},
        .order = 12,
        .file = SLICE("/a\\b.py"),
        .line = 7,
        .function = SLICE("f"),
    };
    struct saved_tensor nothing = {.order = 0};
    struct buffer text = BUFFER_INIT;

    saved_add_json(&tensor, &text);
    CHECK_TEXT(buffer_slice(&text),
               "{\"prefix\": \"step\\\"0\\\"\", \"module\": \"encoder\\n\", "
               "\"name\": \"\xc3\xa9\xef\xbf\xbd\", \"call\": 3, \"order\": 12, "
               "\"file\": \"/a\\\\b.py\", \"line\": 7, \"function\": \"f\"}");
    nothing.key.name = SLICE("a\xed\xb2\x80\xed\xa0");
    text.size = 0;
    saved_add_json(&nothing, &text);
    CHECK(slice_find(buffer_slice(&text),
                     SLICE("\"name\": \"a\\udc80\xef\xbf\xbd\xef\xbf\xbd\""),
                     0) < text.size);
    nothing.key.name = SLICE("");
    text.size = 0;
    saved_add_json(&nothing, &text);
    CHECK_TEXT(buffer_slice(&text),
               "{\"prefix\": \"\", \"module\": \"\", \"name\": \"\", \"call\": 0, "
               "\"order\": 0, \"file\": \"\", \"line\": 0, \"function\": \"\"}");
    buffer_release(&text);
}

int main(void)
{
    test_full_names();
    test_stems();
    test_long_stems();
    test_json();
    return check_finish();
}
