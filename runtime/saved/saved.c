/* Saved tensors: their full names, file names and JSON lines, written and read. */
#include "runtime/saved/saved.h"

#include "runtime/base/arena.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/json_read.h"
#include "runtime/base/utf8.h"

#include <string.h>

/* The key of a saved tensor, read from its JSON line or from its file's name. */

/* ---- the JSON line ---- */

/* Values of another type are ignored. */
static void read_text(struct json_reader *reader, struct slice *text)
{
    if (json_reader_peek(reader) == '"') {
        json_reader_text(reader, text);
    } else {
        json_reader_skip(reader);
    }
}

static uint64_t read_number(struct json_reader *reader, uint64_t missing)
{
    uint64_t number = missing;
    char first = json_reader_peek(reader);

    if (first >= '0' && first <= '9') {
        json_reader_natural(reader, &number);
    } else {
        json_reader_skip(reader);
    }
    return number;
}

static void
read_field(struct json_reader *reader, struct slice key, struct saved_tensor *tensor)
{
    uint64_t line;

    if (slice_equal(key, SLICE("prefix"))) {
        read_text(reader, &tensor->key.prefix);
    } else if (slice_equal(key, SLICE("module"))) {
        read_text(reader, &tensor->key.module_path);
    } else if (slice_equal(key, SLICE("name"))) {
        read_text(reader, &tensor->key.name);
    } else if (slice_equal(key, SLICE("call"))) {
        tensor->key.call = read_number(reader, 0);
    } else if (slice_equal(key, SLICE("order"))) {
        tensor->order = read_number(reader, SAVED_ORDER_UNKNOWN);
    } else if (slice_equal(key, SLICE("file"))) {
        read_text(reader, &tensor->file);
    } else if (slice_equal(key, SLICE("function"))) {
        read_text(reader, &tensor->function);
    } else if (slice_equal(key, SLICE("line"))) {
        line = read_number(reader, 0);
        tensor->line = line > UINT32_MAX ? 0 : (uint32_t)line;
    } else {
        json_reader_skip(reader);
    }
}

static bool copy_texts(struct saved_tensor *tensor, struct arena *arena)
{
    struct slice *const texts[] = {&tensor->key.prefix, &tensor->key.module_path,
                                   &tensor->key.name, &tensor->file, &tensor->function};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = arena_copy(arena, *texts[i]);
        if (texts[i]->bytes == NULL) {
            return false;
        }
    }
    return true;
}

static const int64_t *
copy_sizes(const int64_t *sizes, uint32_t count, struct arena *arena)
{
    int64_t *copy;

    if (sizes == NULL) {
        return NULL;
    }
    copy = arena_allocate(arena, count, sizeof *copy);
    if (copy != NULL && count > 0) {
        memcpy(copy, sizes, count * sizeof *copy);
    }
    return copy;
}

bool saved_tensor_copy(struct saved_tensor *copy,
                       const struct saved_tensor *tensor,
                       struct arena *arena)
{
    uint32_t count = tensor->array.dimension_count;
    struct saved_tensor result = *tensor;

    result.array.data = NULL;
    result.array.shape = copy_sizes(tensor->array.shape, count, arena);
    result.array.strides = copy_sizes(tensor->array.strides, count, arena);
    if (!copy_texts(&result, arena) || arena->has_failed) {
        return false;
    }
    *copy = result;
    return true;
}

/* A tensor with only the array set. */
static struct saved_tensor begin(const struct saved_tensor *tensor)
{
    struct slice none = SLICE("");

    return (struct saved_tensor){
        .key = {none, none, none, 0},
        .order = SAVED_ORDER_UNKNOWN,
        .file = none,
        .function = none,
        .array = tensor->array,
    };
}

bool saved_read_json(struct saved_tensor *tensor,
                     struct slice text,
                     struct arena *arena)
{
    struct saved_tensor found = begin(tensor);
    struct json_reader reader;
    struct slice key;
    struct slice no_name = {NULL, 0};

    found.key.name = no_name;
    json_reader_init(&reader, text, arena);
    json_reader_begin_object(&reader);
    while (json_reader_next_key(&reader, &key)) {
        read_field(&reader, key, &found);
    }
    if (!json_reader_finish(&reader) || found.key.name.bytes == NULL ||
        !copy_texts(&found, arena)) {
        return false;
    }
    *tensor = found;
    return true;
}

/* ---- the file's name ---- */

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Resolves %XX. If the result is not UTF-8, the text stays unchanged. */
static struct slice unescape(struct slice text, struct arena *arena)
{
    struct slice result = arena_copy(arena, text);
    char *bytes = (char *)result.bytes; /* the copy's own bytes */
    size_t size = 0;

    if (bytes == NULL) {
        return result;
    }
    for (size_t i = 0; i < text.size; size++) {
        if (text.bytes[i] == '%' && text.size - i >= 3 &&
            hex_digit(text.bytes[i + 1]) >= 0 && hex_digit(text.bytes[i + 2]) >= 0) {
            bytes[size] = (char)(hex_digit(text.bytes[i + 1]) << 4 |
                                 hex_digit(text.bytes[i + 2]));
            i += 3;
        } else {
            bytes[size] = text.bytes[i++];
        }
    }
    result.size = size;
    return utf8_find_invalid(result) == size ? result : arena_copy(arena, text);
}

/* Removes a final `.callN` from the stem, and returns N, or 0. */
static uint64_t cut_call(struct slice *stem)
{
    const struct slice mark = SLICE(".call");
    uint64_t call = 0;
    size_t digits = stem->size;

    while (digits > 0 && stem->bytes[digits - 1] >= '0' &&
           stem->bytes[digits - 1] <= '9') {
        digits--;
    }
    if (digits == stem->size || !slice_ends(slice_part(*stem, 0, digits), mark)) {
        return 0;
    }
    for (size_t i = digits; i < stem->size; i++) {
        if (__builtin_mul_overflow(call, 10, &call) ||
            __builtin_add_overflow(call, (uint64_t)(stem->bytes[i] - '0'), &call)) {
            return 0;
        }
    }
    stem->size = digits - mark.size;
    return call;
}

/* The offset of the name: after the last dot outside of brackets, such as those of the leaf
 * `cache['a.b']`. */
static size_t find_name(struct slice stem)
{
    size_t depth = 0;

    for (size_t i = stem.size; i > 0; i--) {
        char byte = stem.bytes[i - 1];

        if (byte == ']') {
            depth++;
        } else if (byte == '[' && depth > 0) {
            depth--;
        } else if (byte == '.' && depth == 0) {
            return i;
        }
    }
    return 0;
}

bool saved_read_file_name(struct saved_tensor *tensor,
                          struct slice file_name,
                          struct arena *arena)
{
    struct saved_tensor found = begin(tensor);
    struct slice stem = file_name;
    size_t name;

    if (slice_ends(stem, SLICE(".pt"))) {
        stem.size -= 3;
    }
    found.key.call = cut_call(&stem);
    name = find_name(stem);
    found.key.name = unescape(slice_part(stem, name, stem.size), arena);
    found.key.module_path =
        unescape(slice_part(stem, 0, name == 0 ? 0 : name - 1), arena);
    if (found.key.name.bytes == NULL || found.key.module_path.bytes == NULL) {
        return false;
    }
    *tensor = found;
    return true;
}

/* With ".call", a number and a suffix, the name stays below the 255 bytes that file systems
 * accept. */
#define STEM_SIZE_MAX    200
#define HASH_DIGIT_COUNT 16
/* The part of a cut stem before `~` and the hash. */
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
    size_t cut = start; /* end of the last byte that a cut stem keeps in full */

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

/* Whether the three bytes are half of a surrogate pair, as Python's "surrogatepass" encodes it. */
static bool is_half_pair(const char *bytes)
{
    const unsigned char *unit = (const unsigned char *)bytes;

    return unit[0] == 0xed && unit[1] >= 0xa0 && unit[1] <= 0xbf &&
           (unit[2] & 0xc0) == 0x80;
}

/* Adds a quoted text. Texts of Python can contain halves of surrogate pairs, which are escaped
 * in JSON. */
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
