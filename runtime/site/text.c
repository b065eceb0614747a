/* The parts that the text of a site table is made of. */
#include "runtime/site/text.h"

#include "runtime/base/memory.h"
#include "runtime/site/format.h"
#include "runtime/site/site.h"

bool reader_fail(struct table_reader *reader, const char *wanted)
{
    error_set(reader->error, ERROR_INPUT,
              "damaged site table: byte %zu of %zu: expected %s", reader->offset,
              reader->text.size, wanted);
    return false;
}

bool reader_fail_memory(struct table_reader *reader)
{
    return error_set_memory(reader->error);
}

char reader_peek(const struct table_reader *reader)
{
    return reader->offset < reader->text.size ? reader->text.bytes[reader->offset]
                                              : '\0';
}

bool reader_accept(struct table_reader *reader, char byte)
{
    if (reader_peek(reader) != byte || reader->offset >= reader->text.size) {
        return false;
    }
    reader->offset++;
    return true;
}

bool reader_expect(struct table_reader *reader, char byte)
{
    char wanted[] = "'?'";

    if (reader_accept(reader, byte)) {
        return true;
    }
    wanted[1] = byte;
    return reader_fail(reader, byte == ' ' ? "a blank" : wanted);
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

bool reader_hex(struct table_reader *reader, int digits, uint64_t *number)
{
    uint64_t result = 0;

    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(reader_peek(reader));

        if (digit < 0) {
            return reader_fail(reader, "a hex digit");
        }
        result = result << 4 | (uint64_t)digit;
        reader->offset++;
    }
    *number = result;
    return true;
}

bool reader_number(struct table_reader *reader, uint32_t *number)
{
    uint64_t result = 0;

    if (!is_digit(reader_peek(reader))) {
        return reader_fail(reader, "a number");
    }
    while (is_digit(reader_peek(reader))) {
        result = result * 10 + (uint64_t)(reader_peek(reader) - '0');
        if (result > UINT32_MAX) {
            return reader_fail(reader, "a number below 4294967296");
        }
        reader->offset++;
    }
    *number = (uint32_t)result;
    return true;
}

bool reader_step(struct table_reader *reader, uint32_t *number)
{
    bool is_back = reader_accept(reader, '-');
    uint32_t distance;

    if (!reader_number(reader, &distance)) {
        return false;
    }
    if (is_back ? distance > *number : distance > UINT32_MAX - *number) {
        return reader_fail(reader, "a line from 0 to 4294967295");
    }
    *number = is_back ? *number - distance : *number + distance;
    return true;
}

/* Copies text with escapes; `raw` holds nothing but plain bytes and whole escapes. */
static bool unescape(struct table_reader *reader, struct slice raw, struct slice *text)
{
    char *bytes = arena_allocate(reader->arena, raw.size, 1);
    size_t size = 0;

    if (bytes == NULL) {
        return reader_fail_memory(reader);
    }
    for (size_t i = 0; i < raw.size; i++) {
        if (raw.bytes[i] == '%') {
            bytes[size++] =
                (char)(hex_digit(raw.bytes[i + 1]) << 4 | hex_digit(raw.bytes[i + 2]));
            i += 2;
        } else {
            bytes[size++] = raw.bytes[i];
        }
    }
    *text = (struct slice){bytes, size};
    return true;
}

bool reader_text(struct table_reader *reader, bool is_word, struct slice *text)
{
    size_t start = reader->offset;
    bool has_escapes = false;

    for (;;) {
        unsigned char byte = (unsigned char)reader_peek(reader);
        uint64_t unused;

        if (is_word ? is_word_byte(byte) : is_name_byte(byte) || byte >= 0x80) {
            reader->offset++;
        } else if (byte == '%') {
            has_escapes = true;
            reader->offset++;
            if (!reader_hex(reader, 2, &unused)) {
                return false;
            }
        } else {
            break;
        }
    }
    *text = slice_part(reader->text, start, reader->offset);
    return !has_escapes || unescape(reader, *text, text);
}

bool reader_word(struct table_reader *reader, struct slice *word)
{
    return reader_text(reader, true, word) && reader_expect(reader, ' ');
}
