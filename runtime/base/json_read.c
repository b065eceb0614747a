/* JSON reader. */
#include "runtime/base/json_read.h"

#include "runtime/base/utf8.h"

#include <assert.h>

/* The largest depth of values, to limit the use of the stack. */
#define DEPTH_MAX 64

static bool fail(struct json_reader *reader)
{
    reader->has_failed = true;
    return false;
}

/* The byte at the offset; 0 at the end and after a failure. */
static char byte_at(const struct json_reader *reader)
{
    return reader->has_failed || reader->offset >= reader->text.size
               ? '\0'
               : reader->text.bytes[reader->offset];
}

static void pass_space(struct json_reader *reader)
{
    char byte = byte_at(reader);

    while (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') {
        reader->offset++;
        byte = byte_at(reader);
    }
}

static bool skip_byte(struct json_reader *reader, char wanted)
{
    pass_space(reader);
    if (byte_at(reader) != wanted) {
        return fail(reader);
    }
    reader->offset++;
    return true;
}

void json_reader_init(struct json_reader *reader,
                      struct slice text,
                      struct arena *arena)
{
    *reader = (struct json_reader){.text = text, .arena = arena};
}

char json_reader_peek(struct json_reader *reader)
{
    pass_space(reader);
    return byte_at(reader);
}

bool json_reader_finish(struct json_reader *reader)
{
    pass_space(reader);
    assert(reader->offset <= reader->text.size);
    return !reader->has_failed && reader->depth == 0 &&
           reader->offset == reader->text.size;
}

/* ---- objects and arrays ---- */

static bool begin(struct json_reader *reader, char bracket)
{
    if (!skip_byte(reader, bracket)) {
        return false;
    }
    if (reader->depth == DEPTH_MAX) {
        return fail(reader);
    }
    reader->depth++;
    reader->is_first = true;
    return true;
}

/* Advances to the next member. Returns false if there is none, or after a failure. */
static bool next(struct json_reader *reader, char bracket)
{
    assert(reader->has_failed || reader->depth > 0);
    if (json_reader_peek(reader) == bracket) {
        reader->offset++;
        reader->depth--;
        reader->is_first = false;
        return false;
    }
    if (!reader->is_first && !skip_byte(reader, ',')) {
        return false;
    }
    reader->is_first = false;
    return !reader->has_failed;
}

bool json_reader_begin_object(struct json_reader *reader)
{
    return begin(reader, '{');
}

bool json_reader_next_key(struct json_reader *reader, struct slice *key)
{
    return next(reader, '}') && json_reader_text(reader, key) && skip_byte(reader, ':');
}

bool json_reader_begin_array(struct json_reader *reader)
{
    return begin(reader, '[');
}

bool json_reader_next_item(struct json_reader *reader)
{
    return next(reader, ']');
}

/* ---- texts ---- */

/* The offset of the closing quote of a text that starts at `start`; 0: none. */
static size_t find_quote(struct slice text, size_t start, bool *has_escapes)
{
    *has_escapes = false;
    for (size_t i = start; i < text.size; i++) {
        if (text.bytes[i] == '"') {
            return i;
        }
        if (text.bytes[i] == '\\') {
            *has_escapes = true;
            i++;
        } else if ((unsigned char)text.bytes[i] < 0x20) {
            return 0;
        }
    }
    return 0;
}

static bool read_hex(struct slice text, size_t offset, uint32_t *code)
{
    *code = 0;
    if (offset > text.size || text.size - offset < 4) {
        return false;
    }
    for (size_t i = offset; i < offset + 4; i++) {
        char byte = text.bytes[i];
        char lower = (char)(byte | 0x20);

        if (byte >= '0' && byte <= '9') {
            *code = *code << 4 | (uint32_t)(byte - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            *code = *code << 4 | (uint32_t)(lower - 'a' + 10);
        } else {
            return false;
        }
    }
    return true;
}

/* Reads the character of a `\u` whose digits start at `*offset`, and advances `*offset`. */
static bool read_unicode(struct slice text, size_t *offset, uint32_t *code)
{
    uint32_t low;

    if (!read_hex(text, *offset, code)) {
        return false;
    }
    *offset += 4;
    if (*code < 0xD800 || *code > 0xDFFF) {
        return true;
    }
    if (*code <= 0xDBFF &&
        slice_starts(slice_part(text, *offset, text.size), SLICE("\\u")) &&
        read_hex(text, *offset + 2, &low) && low >= 0xDC00 && low <= 0xDFFF) {
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        *offset += 6;
    } else {
        *code = 0xFFFD;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12);
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* The character of an escape other than `\u`; 0: no valid escape. */
static char plain_escape(char byte)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *found = byte == '\0' ? NULL : strchr(from, byte);

    return found == NULL ? '\0' : to[found - from];
}

/* Resolves the escapes of `text`; the result is never longer. */
static bool unescape(struct slice text, struct arena *arena, struct slice *result)
{
    char *bytes = arena_allocate(arena, text.size, 1);
    char *end = bytes;

    if (bytes == NULL) {
        return false;
    }
    for (size_t i = 0; i < text.size;) {
        uint32_t code;

        if (text.bytes[i] != '\\') {
            *end++ = text.bytes[i++];
        } else if (text.bytes[i + 1] ==
                   'u') { /* find_quote checked that a byte follows each
                                                  backslash */
            i += 2;
            if (!read_unicode(text, &i, &code)) {
                return false;
            }
            end = put_utf8(end, code);
        } else {
            *end = plain_escape(text.bytes[i + 1]);
            if (*end++ == '\0') {
                return false;
            }
            i += 2;
        }
    }
    *result = (struct slice){bytes, (size_t)(end - bytes)};
    return true;
}

bool json_reader_text(struct json_reader *reader, struct slice *text)
{
    struct slice found;
    bool has_escapes;
    size_t end;

    if (!skip_byte(reader, '"')) {
        return false;
    }
    end = find_quote(reader->text, reader->offset, &has_escapes);
    if (end == 0) {
        return fail(reader);
    }
    found = slice_part(reader->text, reader->offset, end);
    if (utf8_find_invalid(found) != found.size ||
        (has_escapes && !unescape(found, reader->arena, &found))) {
        return fail(reader);
    }
    reader->offset = end + 1;
    *text = found;
    return true;
}

/* ---- numbers and words ---- */

static size_t pass_digits(struct json_reader *reader)
{
    size_t start = reader->offset;

    while (byte_at(reader) >= '0' && byte_at(reader) <= '9') {
        reader->offset++;
    }
    return reader->offset - start;
}

/* Skips digits. A zero must not be followed by other digits. */
static bool pass_whole(struct json_reader *reader)
{
    char first = byte_at(reader);
    size_t count = pass_digits(reader);

    return (count == 1 || (count > 1 && first != '0')) || fail(reader);
}

bool json_reader_natural(struct json_reader *reader, uint64_t *number)
{
    uint64_t value = 0;
    size_t start;
    char after;

    pass_space(reader);
    start = reader->offset;
    if (!pass_whole(reader)) {
        return false;
    }
    after = byte_at(reader);
    if (after == '.' || after == 'e' || after == 'E') {
        return fail(reader);
    }
    for (size_t i = start; i < reader->offset; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(reader->text.bytes[i] - '0'),
                                   &value)) {
            return fail(reader);
        }
    }
    *number = value;
    return true;
}

static bool skip_number(struct json_reader *reader)
{
    if (byte_at(reader) == '-') {
        reader->offset++;
    }
    if (!pass_whole(reader)) {
        return false;
    }
    if (byte_at(reader) == '.') {
        reader->offset++;
        if (pass_digits(reader) == 0) {
            return fail(reader);
        }
    }
    if (byte_at(reader) == 'e' || byte_at(reader) == 'E') {
        reader->offset++;
        if (byte_at(reader) == '+' || byte_at(reader) == '-') {
            reader->offset++;
        }
        if (pass_digits(reader) == 0) {
            return fail(reader);
        }
    }
    return true;
}

static bool skip_word(struct json_reader *reader, struct slice word)
{
    if (!slice_starts(slice_part(reader->text, reader->offset, reader->text.size),
                      word)) {
        return fail(reader);
    }
    reader->offset += word.size;
    return true;
}

static bool skip_object(struct json_reader *reader)
{
    struct slice key;

    json_reader_begin_object(reader);
    while (json_reader_next_key(reader, &key)) {
        json_reader_skip(reader);
    }
    return !reader->has_failed;
}

static bool skip_array(struct json_reader *reader)
{
    json_reader_begin_array(reader);
    while (json_reader_next_item(reader)) {
        json_reader_skip(reader);
    }
    return !reader->has_failed;
}

bool json_reader_skip(struct json_reader *reader)
{
    struct slice text;

    switch (json_reader_peek(reader)) {
    case '{':
        return skip_object(reader);
    case '[':
        return skip_array(reader);
    case '"':
        return json_reader_text(reader, &text);
    case 't':
        return skip_word(reader, SLICE("true"));
    case 'f':
        return skip_word(reader, SLICE("false"));
    case 'n':
        return skip_word(reader, SLICE("null"));
    default:
        return skip_number(reader);
    }
}
