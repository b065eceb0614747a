/* The encoding of a Python source, found by Python's rules. */
#include "instrument/text/encoding.h"

#include "instrument/text/coding_comment.h"
#include "runtime/base/utf8.h"

#include <errno.h>
#include <iconv.h>

#define BOM "\xEF\xBB\xBF"

/* ---- positions in messages ---- */

struct position {
    size_t line;
    size_t column;
};

/* The line and column at which a UTF-8 text ends. Lines end at CR, LF and CRLF. */
static struct position position_at_end(struct slice text)
{
    struct position position = {1, 1};
    size_t line_start = 0;

    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];
        bool is_in_pair =
            byte == '\r' && i + 1 < text.size && text.bytes[i + 1] == '\n';

        if (byte == '\n' || (byte == '\r' && !is_in_pair)) {
            position.line++;
            line_start = i + 1;
        }
    }
    position.column += utf8_count(slice_part(text, line_start, text.size));
    return position;
}

/* ---- transcoding ---- */

enum transcode_end {
    TRANSCODE_DONE,
    TRANSCODE_BAD_INPUT, /* the bytes at `consumed` are not in the encoding */
    TRANSCODE_NO_MEMORY,
    TRANSCODE_UNKNOWN, /* iconv does not know the encoding */
};

/* Runs the converter on the whole input, then once without input, which returns a stateful
 * encoding to its initial state. */
static enum transcode_end
converter_run(iconv_t converter, struct slice from, struct buffer *to, size_t *consumed)
{
    char *input = (char *)from.bytes; /* iconv does not write to it */
    size_t input_left = from.size;
    bool is_last = from.size == 0;

    for (;;) {
        char *output;
        size_t output_left;
        size_t result;

        if (!buffer_reserve(to, input_left + input_left / 2 + 64)) {
            return TRANSCODE_NO_MEMORY;
        }
        output = to->bytes + to->size;
        output_left = to->capacity - to->size;
        result = iconv(converter, is_last ? NULL : &input, is_last ? NULL : &input_left,
                       &output, &output_left);
        to->size = (size_t)(output - to->bytes);
        *consumed = from.size - input_left;
        if (result == (size_t)-1 && errno != E2BIG) {
            return TRANSCODE_BAD_INPUT;
        }
        if (result == (size_t)-1) {
            continue;
        }
        if (result > 0) { /* a character was replaced by a similar one */
            return TRANSCODE_BAD_INPUT;
        }
        if (is_last) {
            return TRANSCODE_DONE;
        }
        is_last = true;
    }
}

static enum transcode_end transcode(const char *to_name,
                                    const char *from_name,
                                    struct slice from,
                                    struct buffer *to,
                                    size_t *consumed)
{
    iconv_t converter = iconv_open(to_name, from_name);
    enum transcode_end end;

    *consumed = 0;
    if (converter == (iconv_t)-1) {
        return errno == ENOMEM ? TRANSCODE_NO_MEMORY : TRANSCODE_UNKNOWN;
    }
    end = converter_run(converter, from, to, consumed);
    iconv_close(converter);
    return end;
}

/* ---- decoding ---- */

static bool fail_at(struct error *error,
                    const char *path,
                    struct slice text_before,
                    const char *what,
                    unsigned char byte,
                    const struct decoded *decoded)
{
    struct position position = position_at_end(text_before);

    if (decoded->is_declared) {
        error_set_at(
            error, ERROR_INPUT, path, position.line, position.column,
            "byte 0x%02X %s \"%.*s\", expected text in the encoding that the file "
            "declares",
            byte, what, (int)decoded->encoding_name.size, decoded->encoding_name.bytes);
    } else {
        error_set_at(
            error, ERROR_INPUT, path, position.line, position.column,
            "byte 0x%02X %s UTF-8, expected UTF-8 text or a comment on line 1 or 2 "
            "that names the encoding (PEP 263)",
            byte, what);
    }
    return false;
}

static bool refuse_nul(struct slice text, const char *path, struct error *error)
{
    const char *nul = text.size == 0 ? NULL : memchr(text.bytes, '\0', text.size);
    struct position position;

    if (nul == NULL) {
        return true;
    }
    position = position_at_end((struct slice){text.bytes, (size_t)(nul - text.bytes)});
    error_set_at(error, ERROR_INPUT, path, position.line, position.column,
                 "NUL byte, expected Python source text");
    return false;
}

static size_t find_not_ascii(struct slice text)
{
    size_t offset = 0;

    while (offset < text.size && (unsigned char)text.bytes[offset] < 0x80) {
        offset++;
    }
    return offset;
}

static bool decode_utf8(struct slice text,
                        const char *path,
                        struct decoded *decoded,
                        struct error *error)
{
    bool is_ascii = strcmp(decoded->iconv_name, "ASCII") == 0;
    size_t bad = is_ascii ? find_not_ascii(text) : utf8_find_invalid(text);

    if (bad < text.size) {
        return fail_at(error, path, slice_part(text, 0, bad), "is not valid",
                       (unsigned char)text.bytes[bad], decoded);
    }
    decoded->utf8 = text;
    decoded->is_utf8 = true;
    return true;
}

static bool fail_unknown(struct slice source,
                         const char *path,
                         const struct decoded *decoded,
                         struct error *error)
{
    struct slice name = decoded->encoding_name;
    struct position position =
        position_at_end(slice_part(source, 0, (size_t)(name.bytes - source.bytes)));

    error_set_at(
        error, ERROR_INPUT, path, position.line, position.column,
        "encoding \"%.*s\" is not known, expected utf-8 or another encoding of "
        "text that contains ASCII",
        (int)(name.size < 80 ? name.size : 80), name.bytes);
    return false;
}

static bool check_reversible(struct slice source,
                             struct slice utf8,
                             const char *path,
                             const struct decoded *decoded,
                             struct error *error)
{
    struct buffer again = BUFFER_INIT;
    bool is_done = encoding_encode(decoded, utf8, &again, error);

    if (is_done && !slice_equal(buffer_slice(&again), source)) {
        error_set_at(
            error, ERROR_INPUT, path, 1, 1,
            "text in encoding \"%.*s\" would not turn back into the same bytes, "
            "expected the usual bytes for each character",
            (int)decoded->encoding_name.size, decoded->encoding_name.bytes);
        is_done = false;
    } else if (!is_done && error->kind == ERROR_INPUT) {
        char reason[ERROR_TEXT_SIZE];

        memcpy(reason, error->text, sizeof reason);
        error_set_at(error, ERROR_INPUT, path, 1, 1, "%s", reason);
    }
    buffer_release(&again);
    return is_done;
}

static bool decode_other(struct slice source,
                         const char *path,
                         struct arena *arena,
                         struct decoded *decoded,
                         struct error *error)
{
    struct buffer text = BUFFER_INIT;
    size_t consumed;
    bool is_done = false;

    switch (transcode("UTF-8", decoded->iconv_name, source, &text, &consumed)) {
    case TRANSCODE_DONE:
        is_done = refuse_nul(buffer_slice(&text), path, error) &&
                  check_reversible(source, buffer_slice(&text), path, decoded, error);
        break;
    case TRANSCODE_BAD_INPUT:
        fail_at(error, path, buffer_slice(&text), "is not valid",
                (unsigned char)source.bytes[consumed < source.size ? consumed : 0],
                decoded);
        break;
    case TRANSCODE_UNKNOWN:
        fail_unknown(source, path, decoded, error);
        break;
    case TRANSCODE_NO_MEMORY:
        error_set_memory(error);
        break;
    }
    if (is_done) {
        decoded->utf8 = arena_copy(arena, buffer_slice(&text));
        decoded->is_utf8 = false;
        is_done = decoded->utf8.bytes != NULL;
        if (!is_done) {
            error_set_memory(error);
        }
    }
    buffer_release(&text);
    return is_done;
}

bool encoding_decode(struct slice source,
                     const char *path,
                     struct arena *arena,
                     struct decoded *decoded,
                     struct error *error)
{
    struct decoded result = {.encoding_name = SLICE("utf-8"), .iconv_name = "UTF-8"};
    struct slice text = source;
    struct slice name;
    bool is_decoded;

    result.has_bom = slice_starts(source, SLICE(BOM));
    if (result.has_bom) {
        text = slice_part(source, sizeof BOM - 1, source.size);
    }
    name = coding_comment_find(text);
    if (name.size > 0) {
        result.encoding_name = name;
        result.iconv_name = coding_iconv_name(name);
        result.is_declared = true;
    }
    if (result.iconv_name == NULL) {
        return fail_unknown(text, path, &result, error);
    }
    if (result.has_bom && strcmp(result.iconv_name, "UTF-8") != 0) {
        error_set_at(
            error, ERROR_INPUT, path, 1, 1,
            "encoding \"%.*s\" declared after a UTF-8 byte order mark, expected "
            "utf-8",
            (int)name.size, name.bytes);
        return false;
    }
    if (!refuse_nul(text, path, error)) {
        return false;
    }
    if (strcmp(result.iconv_name, "UTF-8") == 0 ||
        strcmp(result.iconv_name, "ASCII") == 0) {
        is_decoded = decode_utf8(text, path, &result, error);
    } else {
        is_decoded = decode_other(text, path, arena, &result, error);
    }
    if (is_decoded) {
        *decoded = result;
    }
    return is_decoded;
}

/* ---- encoding ---- */

static bool fail_lacking(const struct decoded *decoded,
                         struct slice utf8,
                         size_t offset,
                         struct error *error)
{
    uint32_t code = 0;

    utf8_read(utf8, offset, &code);
    error_set(error, ERROR_INPUT,
              "encoding \"%.*s\" lacks the character U+%04X, which the text holds",
              (int)decoded->encoding_name.size, decoded->encoding_name.bytes,
              (unsigned)code);
    return false;
}

static bool encode_other(const struct decoded *decoded,
                         struct slice utf8,
                         struct buffer *out,
                         struct error *error)
{
    size_t size = out->size;
    size_t consumed;

    switch (transcode(decoded->iconv_name, "UTF-8", utf8, out, &consumed)) {
    case TRANSCODE_DONE:
        return true;
    case TRANSCODE_BAD_INPUT:
        out->size = size;
        return fail_lacking(decoded, utf8, consumed, error);
    case TRANSCODE_UNKNOWN:
        error_set(error, ERROR_INPUT, "encoding \"%s\" is not known to this system",
                  decoded->iconv_name);
        break;
    case TRANSCODE_NO_MEMORY:
        error_set_memory(error);
        break;
    }
    out->size = size;
    return false;
}

bool encoding_encode(const struct decoded *decoded,
                     struct slice utf8,
                     struct buffer *out,
                     struct error *error)
{
    bool is_ascii = strcmp(decoded->iconv_name, "ASCII") == 0;

    if (!decoded->is_utf8 && !is_ascii && strcmp(decoded->iconv_name, "UTF-8") != 0) {
        return encode_other(decoded, utf8, out, error);
    }
    if (is_ascii && find_not_ascii(utf8) < utf8.size) {
        return fail_lacking(decoded, utf8, find_not_ascii(utf8), error);
    }
    if (!buffer_reserve(out, utf8.size + sizeof BOM)) {
        return error_set_memory(error);
    }
    if (decoded->has_bom) {
        buffer_add(out, SLICE(BOM));
    }
    buffer_add(out, utf8);
    return true;
}
