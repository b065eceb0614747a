/* The comment in which a Python source declares its encoding. */
#include "instrument/text/coding_comment.h"

/* The longest name of an encoding that is known. */
#define NAME_SIZE_MAX 40

struct encoding_entry {
    const char *name;
    const char *iconv_name;
};

static const struct encoding_entry encodings[] = {
#define ENCODING(name, iconv_name) {name, iconv_name},
#include "instrument/text/encodings.def"
#undef ENCODING
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\f';
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

/* Removes the first line from the text and returns it. */
static struct slice next_line(struct slice *text)
{
    size_t end = 0;
    struct slice line;

    while (end < text->size && text->bytes[end] != '\n' && text->bytes[end] != '\r') {
        end++;
    }
    line = slice_part(*text, 0, end);
    if (end + 1 < text->size && text->bytes[end] == '\r' &&
        text->bytes[end + 1] == '\n') {
        end++;
    }
    *text = slice_part(*text, end < text->size ? end + 1 : end, text->size);
    return line;
}

/* The name that a line declares, by PEP 263's `^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`.
 * Sets `is_code` if the line holds more than a comment: Python reads no further lines then. */
static struct slice find_name_in_line(struct slice line, bool *is_code)
{
    static const struct slice word = {"coding", 6};
    size_t start = 0;

    while (start < line.size && is_blank(line.bytes[start])) {
        start++;
    }
    *is_code = start < line.size && line.bytes[start] != '#';
    if (start == line.size || *is_code) {
        return (struct slice){NULL, 0};
    }
    for (size_t at = slice_find(line, word, start); at < line.size;
         at = slice_find(line, word, at + 1)) {
        size_t begin = at + word.size;
        size_t end;

        if (begin == line.size ||
            (line.bytes[begin] != ':' && line.bytes[begin] != '=')) {
            continue;
        }
        begin++;
        while (begin < line.size &&
               (line.bytes[begin] == ' ' || line.bytes[begin] == '\t')) {
            begin++;
        }
        end = begin;
        while (end < line.size && is_name_byte(line.bytes[end])) {
            end++;
        }
        if (end > begin) {
            return slice_part(line, begin, end);
        }
    }
    return (struct slice){NULL, 0};
}

struct slice coding_comment_find(struct slice text)
{
    bool is_code;
    struct slice name = find_name_in_line(next_line(&text), &is_code);

    if (name.size == 0 && !is_code) {
        name = find_name_in_line(next_line(&text), &is_code);
    }
    return name;
}

static bool is_or_starts(const char *name, const char *word)
{
    size_t size = strlen(word);

    return strncmp(name, word, size) == 0 && (name[size] == '\0' || name[size] == '_');
}

/* Writes the name as Python's table has it. Returns false if it is too long to be in the table. */
static bool normalize_name(struct slice name, char normal[NAME_SIZE_MAX + 1])
{
    if (name.size > NAME_SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];

        if (byte >= 'A' && byte <= 'Z') {
            byte = (char)(byte - 'A' + 'a');
        }
        normal[i] = byte == '-' || byte == '.' ? '_' : byte;
    }
    normal[name.size] = '\0';
    return true;
}

const char *coding_iconv_name(struct slice name)
{
    char normal[NAME_SIZE_MAX + 1];

    if (!normalize_name(name, normal)) {
        return NULL;
    }
    /* Python lets editors add `-unix` and the like to these. */
    if (is_or_starts(normal, "utf_8")) {
        return "UTF-8";
    }
    if (is_or_starts(normal, "latin_1") || is_or_starts(normal, "iso_8859_1") ||
        is_or_starts(normal, "iso_latin_1")) {
        return "ISO-8859-1";
    }
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(encodings[i].name, normal) == 0) {
            return encodings[i].iconv_name;
        }
    }
    return NULL;
}
