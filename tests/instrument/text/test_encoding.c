/* Python sources in every encoding: found, decoded, encoded again, or refused by position. */
#include "instrument/text/coding_comment.h"
#include "instrument/text/encoding.h"
#include "tests/unit/check.h"

#include <stdlib.h>

struct outcome {
    struct arena arena;
    struct decoded decoded;
    struct error error;
    bool is_decoded;
};

static void outcome_init(struct outcome *outcome, const char *bytes, size_t size)
{
    arena_init(&outcome->arena);
    outcome->error = ERROR_INIT;
    outcome->is_decoded =
        encoding_decode((struct slice){bytes, size}, "a.py", &outcome->arena,
                        &outcome->decoded, &outcome->error);
}

static bool turns_back(const struct outcome *outcome, const char *bytes, size_t size)
{
    struct buffer again = BUFFER_INIT;
    struct error error = ERROR_INIT;
    bool is_same =
        encoding_encode(&outcome->decoded, outcome->decoded.utf8, &again, &error) &&
        slice_equal(buffer_slice(&again), (struct slice){bytes, size});

    buffer_release(&again);
    return is_same;
}

static void expect_text(const char *bytes, size_t size, const char *utf8)
{
    struct outcome outcome;

    outcome_init(&outcome, bytes, size);
    if (CHECK(outcome.is_decoded)) {
        CHECK_TEXT(outcome.decoded.utf8, utf8);
        CHECK(turns_back(&outcome, bytes, size));
    } else {
        printf("  %s\n", outcome.error.text);
    }
    arena_release(&outcome.arena);
}

static void expect_error(const char *bytes, size_t size, const char *message)
{
    struct outcome outcome;

    outcome_init(&outcome, bytes, size);
    CHECK(!outcome.is_decoded);
    CHECK_TEXT(slice_of(outcome.error.text), message);
    arena_release(&outcome.arena);
}

#define TEXT(literal, utf8)     expect_text((literal), sizeof(literal) - 1, (utf8))
#define REFUSED(literal, error) expect_error((literal), sizeof(literal) - 1, (error))

static void test_declarations(void)
{
    static const struct {
        const char *text;
        const char *name;
    } cases[] = {
        {"", ""},
        {"# coding: latin-1\n", "latin-1"},
        {"# -*- coding:cp1252 -*-", "cp1252"},
        {"\f \t# vim: set fileencoding=\tkoi8-r :\n", "koi8-r"},
        {"#!/usr/bin/python\r\n# coding=euc_jp\r\n", "euc_jp"},
        {"\n\f # coding: gbk\n", "gbk"},
        {"\n\n# coding: gbk\n", ""},
        {"x = 1 # coding: gbk\n# coding: big5\n", ""},
        {"#\n'''\n# coding: gbk", ""},
        {"#\n''' # coding: gbk", ""},
        {"#\r# coding: gbk\r", "gbk"},
        {"# coding : gbk\n", ""},
        {"# coding: \n# coding: gbk\n", "gbk"},
        {"# coding x coding: gbk", "gbk"},
        {"# coding", ""},
        {"# coding:", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_TEXT(coding_comment_find(slice_of(cases[i].text)), cases[i].name);
    }
}

static void test_names(void)
{
    static const struct {
        const char *name;
        const char *iconv_name;
    } cases[] = {
        {"utf_8", "UTF-8"},          {"UTF8", "UTF-8"},
        {"utf-8-unix", "UTF-8"},     {"utf-8-sig", "UTF-8"},
        {"latin-1", "ISO-8859-1"},   {"iso-latin-1-unix", "ISO-8859-1"},
        {"L1", "ISO-8859-1"},        {"ISO-8859-15", "ISO-8859-15"},
        {"windows-1252", "CP1252"},  {"us-ascii", "ASCII"},
        {"ANSI_X3.4-1968", "ASCII"}, {"sjis", "CP932"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = coding_iconv_name(slice_of(cases[i].name));

        CHECK_TEXT(slice_of(found == NULL ? "NULL" : found), cases[i].iconv_name);
    }
    CHECK(coding_iconv_name(SLICE("rot13")) == NULL);
    CHECK(coding_iconv_name(SLICE("utf-16")) == NULL);
    CHECK(coding_iconv_name(
              SLICE("a-name-that-is-longer-than-any-of-those-in-the-table")) == NULL);
}

static void test_texts(void)
{
    TEXT("", "");
    TEXT("x = 1\n", "x = 1\n");
    TEXT("\xEF\xBB\xBF", "");
    TEXT("\xEF\xBB\xBFx = '\xC3\xA4'\r\n", "x = '\xC3\xA4'\r\n");
    TEXT("\xEF\xBB\xBF# coding: utf-8\nx", "# coding: utf-8\nx");
    TEXT("# coding: latin-1\nx = '\xE4'", "# coding: latin-1\nx = '\xC3\xA4'");
    TEXT("# coding: cp1252\n'\x80'", "# coding: cp1252\n'\xE2\x82\xAC'");
    TEXT("# coding: shift_jis\n'\x83\x5C\\n~'",
         "# coding: shift_jis\n'\xE3\x82\xBD\\n~'");
    TEXT("# coding: euc-jp\n'\xA4\xA2'", "# coding: euc-jp\n'\xE3\x81\x82'");
    TEXT("# coding: iso2022_jp\n'\x1B$B$\"\x1B(B'",
         "# coding: iso2022_jp\n'\xE3\x81\x82'");
    TEXT("# coding: koi8-r\n\xC1 = 1", "# coding: koi8-r\n\xD0\xB0 = 1");
}

static void test_errors(void)
{
    REFUSED(
        "x = 1\r\ny\xC3\xA4 = '\xE4'\n",
        "a.py:2:7: byte 0xE4 is not valid UTF-8, expected UTF-8 text or a comment on "
        "line 1 or 2 that names the encoding (PEP 263)");
    REFUSED(
        "x\r\r\xED\xA0\x80",
        "a.py:3:1: byte 0xED is not valid UTF-8, expected UTF-8 text or a comment on "
        "line 1 or 2 that names the encoding (PEP 263)");
    REFUSED("# coding: utf-8\n\xFF", "a.py:2:1: byte 0xFF is not valid \"utf-8\", "
                                     "expected text in the encoding that "
                                     "the file declares");
    REFUSED("# coding: ascii\nx = '\xC3\xA4'",
            "a.py:2:6: byte 0xC3 is not valid \"ascii\", expected text in the encoding "
            "that "
            "the file declares");
    REFUSED(
        "# coding: cp1252\nx = '\xE4\x81'",
        "a.py:2:7: byte 0x81 is not valid \"cp1252\", expected text in the encoding "
        "that the file declares");
    REFUSED(
        "# coding: euc-jp\n'\xA4",
        "a.py:2:2: byte 0xA4 is not valid \"euc-jp\", expected text in the encoding "
        "that the file declares");
    REFUSED("x = 1\ny\0", "a.py:2:2: NUL byte, expected Python source text");
    REFUSED("#\n# coding: rot13\n", "a.py:2:11: encoding \"rot13\" is not known, "
                                    "expected utf-8 or another encoding "
                                    "of text that contains ASCII");
    REFUSED("\xEF\xBB\xBF# coding: latin-1\n",
            "a.py:1:1: encoding \"latin-1\" declared after a UTF-8 byte order mark, "
            "expected utf-8");
    REFUSED(
        "# coding: iso2022_jp\n'\x1B$B\x1B(B\x1B$B$\"\x1B(B'",
        "a.py:1:1: text in encoding \"iso2022_jp\" would not turn back into the same "
        "bytes, expected the usual bytes for each character");
}

static void test_lacking(void)
{
    struct outcome outcome;
    struct buffer out = BUFFER_INIT;
    struct error error = ERROR_INIT;
    static const char latin[] = "# coding: latin-1\n";

    outcome_init(&outcome, latin, sizeof latin - 1);
    buffer_add(&out, SLICE("kept"));
    CHECK(!encoding_encode(&outcome.decoded, SLICE("a\xE2\x82\xAC"), &out, &error));
    CHECK_TEXT(slice_of(error.text),
               "encoding \"latin-1\" lacks the character U+20AC, which the text holds");
    CHECK_TEXT(buffer_slice(&out), "kept");
    buffer_release(&out);
    arena_release(&outcome.arena);
}

/* Valid or not, no bytes may make a decoder step over their end or change on the way back. */
static void test_any_bytes(void)
{
    static const char *const heads[] = {
        "",
        "# coding: utf-8\n",
        "# coding: big5\n",
        "# coding: gb18030\n",
        "# coding: euc-kr\n",
        "# coding: iso2022_jp_3\n",
        "# coding: mac-roman\n",
    };
    int wrong = 0;

    srand(3);
    for (int i = 0; i < 14000; i++) {
        const char *head = heads[(size_t)i % (sizeof heads / sizeof *heads)];
        size_t size = strlen(head) + (size_t)(rand() % 9);
        char *bytes = malloc(size + 1);
        struct outcome outcome;

        memcpy(bytes, head, strlen(head));
        for (size_t k = strlen(head); k < size; k++) {
            bytes[k] = (char)(rand() % 3 ? 0x81 + rand() % 0x7E : 0x20 + rand() % 0x5F);
        }
        outcome_init(&outcome, bytes, size);
        wrong += outcome.is_decoded && !turns_back(&outcome, bytes, size);
        arena_release(&outcome.arena);
        free(bytes);
    }
    CHECK(wrong == 0);
}

int main(void)
{
    test_declarations();
    test_names();
    test_texts();
    test_errors();
    test_lacking();
    test_any_bytes();
    return check_finish();
}
