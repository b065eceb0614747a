/* What saved tensors are known by, written: full names, files' names, lines of JSON. */
#include "runtime/saved/saved.h"

#include "runtime/base/hash/hash.h"

#include <string.h>

/* With ".call", a number and a suffix it stays below the 255 bytes that file systems take. */
#define STEM_SIZE_MAX    200
#define HASH_DIGIT_COUNT 16
/* What is kept of a stem that is cut, in front of `~` and the hash. */
#define STEM_SIZE_CUT (STEM_SIZE_MAX - HASH_DIGIT_COUNT - 1)

static void add_part(struct slice part, size_t start, struct buffer *text)
{
    if (part.size == 0) {
        return;
    }
    if (text->size > start) {
        buffer_add_byte(text, '.');
    }
    buffer_add(text, part);
}

void saved_key_add_full_name(const struct saved_key *key, struct buffer *text)
{
    size_t start = text->size;

    add_part(key->prefix, start, text);
    add_part(key->module_path, start, text);
    add_part(key->name, start, text);
}

static bool is_kept(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') ||
           (byte != '\0' && strchr("._-[]()+=@,", byte) != NULL);
}

void saved_add_file_stem(struct slice full_name, struct buffer *text)
{
    size_t start = text->size;
    size_t cut =
        start; /* the end of the last byte's form that a cut stem keeps whole */

    for (size_t i = 0; i < full_name.size; i++) {
        char byte = full_name.bytes[i];

        if (is_kept(byte) && (byte != '.' || i > 0)) {
            buffer_add_byte(text, byte);
        } else {
            buffer_add_format(text, "%%%02X", (unsigned)(unsigned char)byte);
        }
        if (text->size - start <= STEM_SIZE_CUT) {
            cut = text->size;
        }
    }
    if (text->size - start > STEM_SIZE_MAX) {
        text->size = cut;
        buffer_add_byte(text, '~');
        buffer_add_hex(text, hash_64(full_name), HASH_DIGIT_COUNT);
    }
}

/* Whether the three bytes are half of a surrogate pair, as Python's "surrogatepass" has it. */
static bool is_half_pair(const char *bytes)
{
    const unsigned char *unit = (const unsigned char *)bytes;

    return unit[0] == 0xed && unit[1] >= 0xa0 && unit[1] <= 0xbf &&
           (unit[2] & 0xc0) == 0x80;
}

/* Python's texts may hold halves of surrogate pairs: in JSON they are escaped. */
static void add_quoted(struct buffer *text, struct slice value)
{
    size_t start = 0;

    buffer_add_byte(text, '"');
    for (size_t i = 0; i + 3 <= value.size; i++) {
        if (is_half_pair(value.bytes + i)) {
            unsigned char middle = (unsigned char)value.bytes[i + 1];
            unsigned char last = (unsigned char)value.bytes[i + 2];

            buffer_add_json(text, slice_part(value, start, i));
            buffer_add_format(text, "\\u%04x",
                              0xd000u | (middle & 0x3fu) << 6 | (last & 0x3fu));
            start = i + 3;
            i += 2;
        }
    }
    buffer_add_json(text, slice_part(value, start, value.size));
    buffer_add_byte(text, '"');
}

void saved_add_json(const struct saved_tensor *tensor, struct buffer *text)
{
    buffer_add(text, SLICE("{\"prefix\": "));
    add_quoted(text, tensor->key.prefix);
    buffer_add(text, SLICE(", \"module\": "));
    add_quoted(text, tensor->key.module_path);
    buffer_add(text, SLICE(", \"name\": "));
    add_quoted(text, tensor->key.name);
    buffer_add(text, SLICE(", \"call\": "));
    buffer_add_number(text, tensor->key.call);
    buffer_add(text, SLICE(", \"order\": "));
    buffer_add_number(text, tensor->order);
    buffer_add(text, SLICE(", \"file\": "));
    add_quoted(text, tensor->file);
    buffer_add(text, SLICE(", \"line\": "));
    buffer_add_number(text, tensor->line);
    buffer_add(text, SLICE(", \"function\": "));
    add_quoted(text, tensor->function);
    buffer_add_byte(text, '}');
}
