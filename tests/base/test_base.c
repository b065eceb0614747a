/* The base: memory, arenas, buffers, slices, errors, UTF-8, hashes. */
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/slice.h"
#include "runtime/base/utf8.h"
#include "tests/unit/check.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void test_memory(void)
{
    void *block = memory_allocate(0, 8);
    void *items = NULL;
    size_t capacity = 0;
    size_t before;
    unsigned char *zeroed = memory_allocate_zeroed(3, 1);

    CHECK(block != NULL);
    CHECK(zeroed[0] == 0 && zeroed[1] == 0 && zeroed[2] == 0);
    CHECK(memory_allocate(SIZE_MAX / 2, 3) == NULL);
    CHECK(memory_resize(block, SIZE_MAX, SIZE_MAX) == NULL);
    CHECK(memory_grow(&items, &capacity, 1, 4) && capacity >= 1);
    CHECK(memory_grow(&items, &capacity, 100, 4) && capacity >= 100);
    CHECK(!memory_grow(&items, &capacity, SIZE_MAX, 4) && capacity < 1000);
    memset(items, 0xAB, capacity * 4);
    before = capacity;
    CHECK(memory_grow_zeroed(&items, &capacity, before + 1, 4) && capacity > before);
    CHECK(((unsigned char *)items)[before * 4 - 1] == 0xAB);
    for (size_t i = before * 4; i < capacity * 4; i++) {
        CHECK(((unsigned char *)items)[i] == 0);
    }
    memory_free(items);
    memory_free(block);
    memory_free(zeroed);
    memory_free(NULL);
}

static void test_copying_away(void)
{
    unsigned char from[700];
    alignas(64) unsigned char to[700 + 64];

    for (size_t i = 0; i < sizeof(from); i++) {
        from[i] = (unsigned char)(i * 7 + i / 256);
    }
    for (size_t start = 0; start < 64; start += 7) {
        for (size_t size = 0; size < sizeof(from) - start; size += 13) {
            memset(to, 0xEE, sizeof(to));
            memory_copy_away(to + start, from + start, size);
            CHECK(memcmp(to + start, from + start, size) == 0);
            CHECK(to[start + size] == 0xEE && (start == 0 || to[start - 1] == 0xEE));
        }
    }
}

/* Which of six calls fail, as a text of `x` and `-`. */
static void count_failures(size_t countdown, bool keep_failing, char printed[7])
{
    memory_fail_after(countdown, keep_failing);
    for (int i = 0; i < 6; i++) {
        void *block = i % 2 ? memory_allocate_zeroed(1, 1) : memory_allocate(1, 1);

        printed[i] = block == NULL ? 'x' : '-';
        memory_free(block);
    }
    memory_fail_after(0, false);
    printed[6] = '\0';
}

static void test_failing_allocations(void)
{
    char printed[7];

    count_failures(0, false, printed);
    CHECK_TEXT(slice_of(printed), "------");
    count_failures(1, false, printed);
    CHECK_TEXT(slice_of(printed), "x-----");
    count_failures(3, false, printed);
    CHECK_TEXT(slice_of(printed), "--x---");
    count_failures(3, true, printed);
    CHECK_TEXT(slice_of(printed), "--xxxx");
}

static void test_arena(void)
{
    struct arena arena;
    struct slice copy;
    bool is_aligned = true;

    arena_init(&arena);
    for (size_t size = 0; size < 3000; size += 7) {
        char *bytes = arena_allocate(&arena, size, 1);

        memset(bytes, (int)size, size);
        is_aligned = is_aligned && (uintptr_t)bytes % _Alignof(max_align_t) == 0;
    }
    CHECK(is_aligned);
    memset(arena_allocate(&arena, 10000000, 1), 1, 10000000);
    CHECK(arena_allocate(&arena, SIZE_MAX / 2, 4) == NULL && arena.has_failed);
    arena_reset(&arena);
    CHECK(!arena.has_failed);
    memset(arena_allocate(&arena, 9000000, 1), 2, 9000000);
    copy = arena_copy(&arena, SLICE("text"));
    CHECK_TEXT(copy, "text");
    CHECK(copy.bytes[copy.size] == '\0');
    CHECK(arena_copy(&arena, (struct slice){NULL, 0}).bytes != NULL);
    arena_release(&arena);
    arena_release(&arena);
    arena_reset(&arena);
    memory_fail_after(1, false);
    CHECK(arena_copy(&arena, SLICE("x")).bytes == NULL && arena.has_failed);
    memory_fail_after(0, false);
    arena_release(&arena);
}

static void test_buffer(void)
{
    struct buffer buffer = BUFFER_INIT;

    buffer_add_number(&buffer, 0);
    buffer_add_byte(&buffer, ' ');
    buffer_add_number(&buffer, UINT64_MAX);
    buffer_add_byte(&buffer, ' ');
    buffer_add_hex(&buffer, 0xBEEF, 6);
    buffer_add_hex(&buffer, 0xABCDEF, 2);
    buffer_add_format(&buffer, " %s %d", "word", -3);
    CHECK_TEXT(buffer_slice(&buffer), "0 18446744073709551615 00beefef word -3");
    buffer.size = 0;
    buffer_add_json(&buffer, SLICE("a\"\\\n\x01/\x7F\xC3\xA4\xFF\xE2\x80\xAE\xC2\x85"));
    CHECK_TEXT(buffer_slice(&buffer),
               "a\\\"\\\\\\n\\u0001/\\u007f\xC3\xA4\xEF\xBF\xBD\\u202e\\u0085");
    buffer.size = 0;
    buffer_add_printable(&buffer, SLICE("a\x1B[1m\xC3\xA4\xFF\xE2\x80\xAE\xC2\x9B\t"));
    CHECK_TEXT(buffer_slice(&buffer), "a?[1m\xC3\xA4????");
    buffer_add_bytes(&buffer, NULL, 0);
    CHECK(!buffer.has_failed);
    CHECK(!buffer_reserve(&buffer, SIZE_MAX - 3) && buffer.has_failed);
    buffer_release(&buffer);
    CHECK(buffer.bytes == NULL && !buffer.has_failed);
    memory_fail_after(1, false);
    buffer_add(&buffer, SLICE("lost"));
    memory_fail_after(0, false);
    CHECK(buffer.has_failed && buffer.size == 0);
    buffer_release(&buffer);
}

static void test_find(void)
{
    CHECK(slice_find(SLICE("abcabc"), SLICE("bc"), 0) == 1);
    CHECK(slice_find(SLICE("abcabc"), SLICE("bc"), 2) == 4);
    CHECK(slice_find(SLICE("abcabc"), SLICE("bcd"), 0) == 6);
    CHECK(slice_find(SLICE("abc"), SLICE("abcd"), 0) == 3);
    CHECK(slice_find(SLICE("abc"), SLICE("a"), 9) == 3);
    CHECK(slice_find(SLICE("abc"), SLICE(""), 1) == 1);
    CHECK(slice_find((struct slice){NULL, 0}, SLICE("a"), 0) == 0);
    CHECK(slice_starts(SLICE("abc"), SLICE("ab")) &&
          !slice_starts(SLICE("a"), SLICE("ab")));
    CHECK(slice_ends(SLICE("abc"), SLICE("bc")) &&
          !slice_ends(SLICE("c"), SLICE("bc")));
    CHECK(slice_equal(slice_trim(SLICE("  a b ")), SLICE("a b")) &&
          slice_trim(SLICE("   ")).size == 0);
}

static void test_match(void)
{
    static const struct {
        const char *text;
        const char *glob;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "*", true},
        {"", "?", false},
        {"forward", "forward", true},
        {"forward", "for", false},
        {"Attention.forward", "Attention.*", true},
        {"Attention.forward", "*.forward", true},
        {"a.b.c", "a*c", true},
        {"a.b.c", "*b*", true},
        {"a.b.d", "a*c", false},
        {"aaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*c", false},
        {"block1", "block[0-9]", true},
        {"blockx", "block[0-9]", false},
        {"blockx", "block[!0-9]", true},
        {"block1", "block[!0-9]", false},
        {"a]", "a[]]", true},
        {"a-", "a[x-]", true},
        {"a", "[!]]", true},
        {"]", "[!]]", false},
        {"a[b", "a[b", true},
        {"out[0]", "out[0]", true},
        {"out0", "out[0]", true},
        {"out[1]", "out[0]", false},
        {"out[0].x", "out[0]*", true},
        {"out[10]['k']", "out[*]['?']", true},
        {"d['a-b']", "d['a-b']", true},
        {"x[[0]]", "x[[0]]", true},
        {"a[", "a[", true},
        {"ab", "a[!", false},
        {"f.<locals>.g", "f.*.g", true},
        {"\xC3\xA4", "?", true},
        {"\xC3\xA4", "??", false},
        {"\xC3\xA4", "[\xC3\xA0-\xC3\xBF]", true},
        {"\xC3\xA4", "[!\xC3\xA0-\xC3\xBF]", false},
        {"\xC3", "[\xC0-\xC9]", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK(glob_match(slice_of(cases[i].text), slice_of(cases[i].glob)) ==
                   cases[i].matches)) {
            printf("  %s %s\n", cases[i].text, cases[i].glob);
        }
    }
}

static void test_match_inside(void)
{
    struct slice name = SLICE("out");
    struct slice path = SLICE("[0]");
    char longest[700];

    memset(longest, 'a', sizeof longest);
    CHECK(name_select(name, path, SLICE("out")) == NAME_ITSELF);
    CHECK(name_select(name, path, SLICE("out[0]")) == NAME_ITSELF);
    CHECK(name_select(name, path, SLICE("*[0]")) == NAME_ITSELF);
    CHECK(name_select(name, path, SLICE("out[1]")) == NAME_OTHER);
    CHECK(name_select(name, path, SLICE("[0]")) == NAME_OTHER);
    CHECK(name_select(name, SLICE(""), SLICE("out[0]")) == NAME_OTHER);
    CHECK(name_select(name, (struct slice){longest, 700}, SLICE("outa*a")) ==
          NAME_ITSELF);
    CHECK(name_select((struct slice){longest, 700}, path, SLICE("*0]")) == NAME_OTHER);
}

static void test_error(void)
{
    struct error error = ERROR_INIT;
    char longest[2000];

    error_set(&error, ERROR_INPUT, "bad\n%s \x1B[0m", "\xC2\x9B");
    CHECK_TEXT(slice_of(error.text), "bad?? ?[0m");
    CHECK(error.kind == ERROR_INPUT);
    error_set_at(&error, ERROR_SYSTEM, "a.py", 3, 14, "no %s", "good");
    CHECK_TEXT(slice_of(error.text), "a.py:3:14: no good");
    error_set_at(&error, ERROR_SYSTEM, "b.py", 1, 1, "%s", error.text);
    CHECK_TEXT(slice_of(error.text), "b.py:1:1: a.py:3:14: no good");
    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < 4; i++) {
        memcpy(longest + ERROR_TEXT_SIZE - 4 + i, "\xC3\xA4", 2);
        longest[ERROR_TEXT_SIZE + i] = '\0';
        error_set(&error, ERROR_INPUT, "%s", longest);
        CHECK(strlen(error.text) < ERROR_TEXT_SIZE);
        CHECK(utf8_find_invalid(slice_of(error.text)) == strlen(error.text));
        CHECK(strchr(error.text, '?') == NULL);
        memset(longest, 'x', sizeof longest);
    }
    error_set_memory(&error);
    CHECK(error.kind == ERROR_MEMORY);
    CHECK_TEXT(slice_of(error.text), "out of memory");
}

static void test_utf8(void)
{
    static const struct {
        const char *text;
        size_t invalid; /* the offset, or the size */
    } cases[] = {
        {"", 0},
        {"plain text that is longer than eight bytes", 42},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9},
        {"\xEE\x80\x80\xED\x9F\xBF\xF4\x8F\xBF\xBF", 10},
        {"12345678\xC3", 8},
        {"1234567\xC3\xA4\xA4", 9},
        {"\xC0\x80", 0},
        {"\xC1\xBF", 0},
        {"\xE0\x9F\xBF", 0},
        {"\xED\xA0\x80", 0},
        {"\xF0\x8F\xBF\xBF", 0},
        {"\xF4\x90\x80\x80", 0},
        {"\xF5\x80\x80\x80", 0},
        {"a\xE2\x82", 1},
        {"a\xF0\x9F\x98", 1},
        {"a\xE2\x82x", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(utf8_find_invalid(slice_of(cases[i].text)) == cases[i].invalid);
    }
    CHECK(utf8_count(SLICE("a\xC3\xA4\xF0\x9F\x98\x80")) == 3);
    CHECK(utf8_cut(SLICE("a\xC3\xA4"), 2) == 1);
    CHECK(utf8_cut(SLICE("a\xC3\xA4"), 3) == 3);
}

static void test_hash(void)
{
    uint64_t result[2];

    /* The values that xxhsum gives. */
    hash_128(SLICE(""), result);
    CHECK(result[1] == 0x99aa06d3014798d8 && result[0] == 0x6001c324468d497f);
    CHECK(hash_64(SLICE("")) == 0x2d06800538d394c2);
    hash_128(SLICE("a"), result);
    CHECK(hash_64(SLICE("a")) != hash_64(SLICE("b")));
}

int main(void)
{
    test_memory();
    test_copying_away();
    test_failing_allocations();
    test_arena();
    test_buffer();
    test_find();
    test_match();
    test_match_inside();
    test_error();
    test_utf8();
    test_hash();
    return check_finish();
}
