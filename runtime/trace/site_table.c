/* The text form of a site table.
 *
 *   table     = "monitorch1 " hash " " prefix " " path " " options " " count "," count " "
 *               function* site* "."
 *   hash      = 32 hex digits, the high half first, as xxhsum prints it
 *   function  = line "," shared "," rest " "      its name: `shared` bytes of the name before
 *                                                 it, then `rest`
 *   site      = letter [line] [":" column] ["/" function] ["." ordinal] ["!" arm] ["*"]
 *               ["?" 8 hex digits] write* read* " "
 *   write     = "=" ["+" | "-"] name              plain: a value; +: a peek; -: the name alone
 *   read      = ("," | ";" | "(") name ["-" back | "+" ahead]     local, free, global
 *
 * A function's and a site's `line` is the distance from the line of the one before it, and is
 * left out of a site where it is 0; `column` and `function` are left out where they are those
 * of the site before; `ordinal` and `arm` where they are 0. `back` and `ahead` count sites.
 * Names keep their letters, also those outside ASCII; every other byte that could trouble a
 * string literal or a separator is written %XX. */
#include "runtime/trace/site_table.h"

#include "runtime/base/utf8.h"

#define TABLE_MAGIC   "monitorch"
#define TABLE_VERSION "1"

/* The longest run of bytes that a function's name takes from the one before: a small text
 * must not be able to describe very much. */
#define SHARED_LIMIT 99

/* The shortest texts of a function and of a site: "0,0, " and "a ". */
#define FUNCTION_SIZE_MIN 5
#define SITE_SIZE_MIN     2

static const char site_letters[SITE_KIND_COUNT] = {
#define SITE_KIND(name, letter, text) letter,
#include "runtime/trace/site_kinds.def"
#undef SITE_KIND
};

static const char *const site_texts[SITE_KIND_COUNT] = {
#define SITE_KIND(name, letter, text) text,
#include "runtime/trace/site_kinds.def"
#undef SITE_KIND
};

/* In the order of enum site_scope. */
static const char scope_marks[] = ",;(";

const char *site_kind_text(enum site_kind kind)
{
    return (unsigned)kind < SITE_KIND_COUNT ? site_texts[kind] : "unknown";
}

void site_add_name(const struct site *site, struct buffer *text)
{
    if (site->has_condition) {
        buffer_add_hex(text, site->condition, 8);
        return;
    }
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        buffer_add(text, site->writes[i].name);
    }
}

void site_add_key(const struct site_table *table,
                  const struct site *site,
                  struct buffer *text)
{
    buffer_add(text, table->path);
    buffer_add_byte(text, ':');
    if (site->function < table->function_count) {
        buffer_add(text, table->functions[site->function].name);
    }
    buffer_add_byte(text, ':');
    buffer_add(text, slice_of(site_kind_text(site->kind)));
    buffer_add_byte(text, ':');
    site_add_name(site, text);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->ordinal);
}

/* ---- writing ---- */

static bool is_letter_or_digit(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* What a name holds as it is, in ASCII. */
static bool is_name_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) || byte == '_' || byte == '.' || byte == '<' ||
           byte == '>';
}

/* What a path or an option holds as it is. Nothing outside ASCII: the encoding of the file
 * that will hold the table need not know those characters. */
static bool is_word_byte(unsigned char byte)
{
    return is_letter_or_digit(byte) ||
           (byte != '\0' && strchr("_./-+=,:*<>", byte) != NULL);
}

static void write_escaped(struct buffer *text, unsigned char byte)
{
    buffer_add_byte(text, '%');
    buffer_add_hex(text, byte, 2);
}

static void write_word(struct buffer *text, struct slice word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (is_word_byte((unsigned char)word.bytes[i])) {
            buffer_add_byte(text, word.bytes[i]);
        } else {
            write_escaped(text, (unsigned char)word.bytes[i]);
        }
    }
}

static void write_name(struct buffer *text, struct slice name)
{
    size_t plain = 0;

    while (plain < name.size && is_name_byte((unsigned char)name.bytes[plain])) {
        plain++;
    }
    buffer_add_bytes(text, name.bytes, plain);
    for (size_t i = plain; i < name.size;) {
        uint32_t code = 0;
        size_t size = utf8_read(name, i, &code);

        if (size > 1 && utf8_is_printable(code)) {
            buffer_add_bytes(text, name.bytes + i, size);
            i += size;
        } else if (is_name_byte((unsigned char)name.bytes[i])) {
            buffer_add_byte(text, name.bytes[i++]);
        } else {
            write_escaped(text, (unsigned char)name.bytes[i++]);
        }
    }
}

/* The distance from one number to another, with a sign only where it is negative. */
static void write_step(struct buffer *text, uint32_t from, uint32_t to)
{
    if (to < from) {
        buffer_add_byte(text, '-');
        buffer_add_number(text, from - to);
    } else {
        buffer_add_number(text, to - from);
    }
}

static size_t names_shared(struct slice before, struct slice name)
{
    size_t limit = before.size < name.size ? before.size : name.size;
    size_t shared = 0;

    if (limit > SHARED_LIMIT) {
        limit = SHARED_LIMIT;
    }
    while (shared < limit && before.bytes[shared] == name.bytes[shared]) {
        shared++;
    }
    return utf8_cut(name, shared);
}

static void write_functions(const struct site_table *table, struct buffer *text)
{
    struct site_function before = {{NULL, 0}, 0};

    for (uint32_t i = 0; i < table->function_count; i++) {
        struct site_function function = table->functions[i];
        size_t shared = names_shared(before.name, function.name);

        write_step(text, before.line, function.line);
        buffer_add_byte(text, ',');
        buffer_add_number(text, shared);
        buffer_add_byte(text, ',');
        write_name(text, slice_part(function.name, shared, function.name.size));
        buffer_add_byte(text, ' ');
        before = function;
    }
}

static void write_optional(struct buffer *text, char mark, uint32_t number)
{
    if (number != 0) {
        buffer_add_byte(text, mark);
        buffer_add_number(text, number);
    }
}

static void write_bindings(const struct site *site, uint32_t id, struct buffer *text)
{
    for (uint32_t i = 0; i < site->write_count; i++) {
        const struct site_write *write = &site->writes[i];

        buffer_add_byte(text, '=');
        if (write->source != SITE_SOURCE_VALUE) {
            buffer_add_byte(text, write->source == SITE_SOURCE_PEEK ? '+' : '-');
        }
        write_name(text, write->name);
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        const struct site_read *read = &site->reads[i];

        buffer_add_byte(text, scope_marks[read->scope]);
        write_name(text, read->name);
        if (read->site != SITE_NONE) {
            buffer_add_byte(text, read->site < id ? '-' : '+');
            buffer_add_number(text,
                              read->site < id ? id - read->site : read->site - id);
        }
    }
}

static void write_site(const struct site *site,
                       const struct site *before,
                       uint32_t id,
                       struct buffer *text)
{
    buffer_add_byte(text, site_letters[site->kind]);
    if (site->line != before->line) {
        write_step(text, before->line, site->line);
    }
    if (site->column != before->column) {
        buffer_add_byte(text, ':');
        buffer_add_number(text, site->column);
    }
    if (site->function != before->function) {
        buffer_add_byte(text, '/');
        buffer_add_number(text, site->function);
    }
    write_optional(text, '.', site->ordinal);
    write_optional(text, '!', site->arm);
    if (site->repeats) {
        buffer_add_byte(text, '*');
    }
    if (site->has_condition) {
        buffer_add_byte(text, '?');
        buffer_add_hex(text, site->condition, 8);
    }
    write_bindings(site, id, text);
    buffer_add_byte(text, ' ');
}

void site_table_write(const struct site_table *table, struct buffer *text)
{
    static const struct site nothing;
    const struct site *before = &nothing;

    buffer_add(text, SLICE(TABLE_MAGIC TABLE_VERSION " "));
    buffer_add_hex(text, table->source_hash[1], 16);
    buffer_add_hex(text, table->source_hash[0], 16);
    buffer_add_byte(text, ' ');
    write_word(text, table->prefix);
    buffer_add_byte(text, ' ');
    write_word(text, table->path);
    buffer_add_byte(text, ' ');
    write_word(text, table->options);
    buffer_add_byte(text, ' ');
    buffer_add_number(text, table->function_count);
    buffer_add_byte(text, ',');
    buffer_add_number(text, table->site_count);
    buffer_add_byte(text, ' ');
    write_functions(table, text);
    for (uint32_t i = 0; i < table->site_count; i++) {
        write_site(&table->sites[i], before, i, text);
        before = &table->sites[i];
    }
    buffer_add_byte(text, '.');
}

/* ---- reading ---- */

struct table_reader {
    struct slice text;
    size_t offset;
    struct arena *arena; /* borrowed */
    struct error *error; /* borrowed */
};

static bool reader_fail(struct table_reader *reader, const char *wanted)
{
    error_set(reader->error, ERROR_INPUT,
              "damaged site table: byte %zu of %zu: expected %s", reader->offset,
              reader->text.size, wanted);
    return false;
}

static bool reader_fail_memory(struct table_reader *reader)
{
    error_set_memory(reader->error);
    return false;
}

/* The next byte, or NUL at the end: NUL is never a part of a table. */
static char reader_peek(const struct table_reader *reader)
{
    return reader->offset < reader->text.size ? reader->text.bytes[reader->offset]
                                              : '\0';
}

static bool reader_accept(struct table_reader *reader, char byte)
{
    if (reader_peek(reader) != byte || reader->offset >= reader->text.size) {
        return false;
    }
    reader->offset++;
    return true;
}

static bool reader_expect(struct table_reader *reader, char byte)
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

static bool read_hex(struct table_reader *reader, int digits, uint64_t *number)
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

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool read_number(struct table_reader *reader, uint32_t *number)
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

/* Moves `number` on by the distance that stands next. */
static bool read_step(struct table_reader *reader, uint32_t *number)
{
    bool is_back = reader_accept(reader, '-');
    uint32_t distance;

    if (!read_number(reader, &distance)) {
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

/* Reads a name or a word: the bytes up to the first that cannot belong to it. */
static bool read_text(struct table_reader *reader, bool is_word, struct slice *text)
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
            if (!read_hex(reader, 2, &unused)) {
                return false;
            }
        } else {
            break;
        }
    }
    *text = slice_part(reader->text, start, reader->offset);
    return !has_escapes || unescape(reader, *text, text);
}

static bool read_word(struct table_reader *reader, struct slice *word)
{
    return read_text(reader, true, word) && reader_expect(reader, ' ');
}

static bool
read_function_name(struct table_reader *reader, struct slice before, struct slice *name)
{
    uint32_t shared;
    struct slice rest;
    char *bytes;

    if (!read_number(reader, &shared)) {
        return false;
    }
    if (shared > before.size || shared > SHARED_LIMIT) {
        return reader_fail(reader,
                           "no more than the name before holds, and at most 99");
    }
    if (!reader_expect(reader, ',') || !read_text(reader, false, &rest)) {
        return false;
    }
    if (shared == 0) {
        *name = rest;
        return true;
    }
    bytes = arena_allocate(reader->arena, shared + rest.size, 1);
    if (bytes == NULL) {
        return reader_fail_memory(reader);
    }
    memcpy(bytes, before.bytes, shared);
    memcpy(bytes + shared, rest.bytes, rest.size);
    *name = (struct slice){bytes, shared + rest.size};
    return true;
}

static bool read_functions(struct table_reader *reader, struct site_table *table)
{
    struct site_function before = {{NULL, 0}, 0};

    table->functions =
        arena_allocate(reader->arena, table->function_count, sizeof *table->functions);
    if (table->functions == NULL) {
        return reader_fail_memory(reader);
    }
    for (uint32_t i = 0; i < table->function_count; i++) {
        struct site_function *function = &table->functions[i];

        function->line = before.line;
        if (!read_step(reader, &function->line) || !reader_expect(reader, ',') ||
            !read_function_name(reader, before.name, &function->name) ||
            !reader_expect(reader, ' ')) {
            return false;
        }
        before = *function;
    }
    return true;
}

static enum site_scope scope_of(char mark)
{
    return (enum site_scope)(strchr(scope_marks, mark) - scope_marks);
}

static bool is_scope_mark(char byte)
{
    return byte != '\0' && strchr(scope_marks, byte) != NULL;
}

/* Makes room for what the text up to the next blank can hold. */
static bool allocate_bindings(struct table_reader *reader, struct site *site)
{
    uint32_t writes = 0;
    uint32_t reads = 0;

    for (size_t i = reader->offset; i < reader->text.size; i++) {
        char byte = reader->text.bytes[i];

        if (byte == ' ') {
            break;
        }
        writes += byte == '=';
        reads += is_scope_mark(byte);
    }
    site->writes = NULL;
    site->reads = NULL;
    if (writes > 0) {
        site->writes = arena_allocate(reader->arena, writes, sizeof *site->writes);
    }
    if (reads > 0) {
        site->reads = arena_allocate(reader->arena, reads, sizeof *site->reads);
    }
    return !reader->arena->has_failed || reader_fail_memory(reader);
}

static bool read_reference(struct table_reader *reader,
                           uint32_t id,
                           uint32_t site_count,
                           uint32_t *site)
{
    bool is_back = reader_peek(reader) == '-';
    uint32_t distance;

    *site = SITE_NONE;
    if (!is_back && reader_peek(reader) != '+') {
        return true;
    }
    reader->offset++;
    if (!read_number(reader, &distance)) {
        return false;
    }
    if (is_back ? distance > id : distance >= site_count - id) {
        return reader_fail(reader, "the distance of a site of this table");
    }
    *site = is_back ? id - distance : id + distance;
    return true;
}

static bool read_bindings(struct table_reader *reader,
                          uint32_t id,
                          uint32_t site_count,
                          struct site *site)
{
    if (!allocate_bindings(reader, site)) {
        return false;
    }
    while (reader_accept(reader, '=')) {
        struct site_write *write = &site->writes[site->write_count];

        write->source = SITE_SOURCE_VALUE;
        if (reader_accept(reader, '+')) {
            write->source = SITE_SOURCE_PEEK;
        } else if (reader_accept(reader, '-')) {
            write->source = SITE_SOURCE_NONE;
        }
        if (!read_text(reader, false, &write->name)) {
            return false;
        }
        site->write_count++;
    }
    while (is_scope_mark(reader_peek(reader))) {
        struct site_read *read = &site->reads[site->read_count];

        read->scope = scope_of(reader_peek(reader));
        reader->offset++;
        if (!read_text(reader, false, &read->name) ||
            !read_reference(reader, id, site_count, &read->site)) {
            return false;
        }
        site->read_count++;
    }
    return true;
}

static bool read_optional(struct table_reader *reader, char mark, uint32_t *number)
{
    return !reader_accept(reader, mark) || read_number(reader, number);
}

static bool read_kind(struct table_reader *reader, enum site_kind *kind)
{
    const char *found = memchr(site_letters, reader_peek(reader), sizeof site_letters);

    if (found == NULL) {
        return reader_fail(reader, "the letter of a kind of site");
    }
    *kind = (enum site_kind)(found - site_letters);
    reader->offset++;
    return true;
}

/* `site` comes in as a copy of what carries over from the site before it. */
static bool read_site(struct table_reader *reader,
                      const struct site_table *table,
                      uint32_t id,
                      struct site *site)
{
    uint64_t condition;

    if (!read_kind(reader, &site->kind)) {
        return false;
    }
    if ((is_digit(reader_peek(reader)) || reader_peek(reader) == '-') &&
        !read_step(reader, &site->line)) {
        return false;
    }
    if (!read_optional(reader, ':', &site->column) ||
        !read_optional(reader, '/', &site->function)) {
        return false;
    }
    if (site->function >= table->function_count) {
        return reader_fail(reader, "the number of a function of this table");
    }
    if (!read_optional(reader, '.', &site->ordinal) ||
        !read_optional(reader, '!', &site->arm)) {
        return false;
    }
    site->repeats = reader_accept(reader, '*');
    site->has_condition = reader_accept(reader, '?');
    if (site->has_condition) {
        if (!read_hex(reader, 8, &condition)) {
            return false;
        }
        site->condition = (uint32_t)condition;
    }
    return read_bindings(reader, id, table->site_count, site) &&
           reader_expect(reader, ' ');
}

static bool read_sites(struct table_reader *reader, struct site_table *table)
{
    struct site before = {0};

    table->sites =
        arena_allocate(reader->arena, table->site_count, sizeof *table->sites);
    if (table->sites == NULL) {
        return reader_fail_memory(reader);
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        table->sites[i] = (struct site){
            .line = before.line, .column = before.column, .function = before.function};
        if (!read_site(reader, table, i, &table->sites[i])) {
            return false;
        }
        before = table->sites[i];
    }
    return true;
}

static bool read_magic(struct table_reader *reader)
{
    struct slice start = reader->text;

    if (!slice_starts(start, SLICE(TABLE_MAGIC))) {
        return reader_fail(reader, "\"" TABLE_MAGIC TABLE_VERSION " \"");
    }
    reader->offset = sizeof TABLE_MAGIC - 1;
    if (!slice_starts(start, SLICE(TABLE_MAGIC TABLE_VERSION " "))) {
        return reader_fail(reader, "version " TABLE_VERSION
                                   ": another version of monitorch made this file");
    }
    reader->offset = sizeof TABLE_MAGIC TABLE_VERSION;
    return true;
}

/* The counts come before what they count, so they are held against the size of the text
 * before anything is allocated for them. */
static bool read_counts(struct table_reader *reader, struct site_table *table)
{
    size_t left;

    if (!read_number(reader, &table->function_count) || !reader_expect(reader, ',') ||
        !read_number(reader, &table->site_count) || !reader_expect(reader, ' ')) {
        return false;
    }
    left = reader->text.size - reader->offset;
    if (table->function_count > left / FUNCTION_SIZE_MIN ||
        table->site_count > left / SITE_SIZE_MIN) {
        return reader_fail(reader, "as many functions and sites as the counts say");
    }
    return true;
}

bool site_table_read(struct site_table *table,
                     struct slice text,
                     struct arena *arena,
                     struct error *error)
{
    struct table_reader reader = {text, 0, arena, error};
    struct site_table result = {0};

    if (!read_magic(&reader) || !read_hex(&reader, 16, &result.source_hash[1]) ||
        !read_hex(&reader, 16, &result.source_hash[0]) ||
        !reader_expect(&reader, ' ') || !read_word(&reader, &result.prefix) ||
        !read_word(&reader, &result.path) || !read_word(&reader, &result.options) ||
        !read_counts(&reader, &result) || !read_functions(&reader, &result) ||
        !read_sites(&reader, &result) || !reader_expect(&reader, '.')) {
        return false;
    }
    if (reader.offset != text.size) {
        return reader_fail(&reader, "the end of the text");
    }
    *table = result;
    return true;
}
