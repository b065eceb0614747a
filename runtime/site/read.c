/* Reader of site tables, from text that may be damaged or hostile. */
#include "runtime/site/site.h"

#include "runtime/base/arena.h"
#include "runtime/base/error.h"
#include "runtime/base/memory.h"
#include "runtime/base/slice.h"
#include "runtime/site/format.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_reader {
    struct slice text;
    size_t offset;
    struct arena *arena; /* borrowed */
    struct error *error; /* borrowed */
    struct slice *names; /* owned; the names that have a number */
    size_t name_count;
    size_t name_capacity;
};

/* All functions that return a bool, except reader_accept, return false on failure and set the
 * error. */

/* ---- elements of the text ---- */

/* Sets the error: the expectation at the current byte. Returns false. */
static bool reader_fail(struct table_reader *reader, const char *wanted)
{
    error_set(reader->error, ERROR_INPUT,
              "damaged site table: byte %zu of %zu: expected %s", reader->offset,
              reader->text.size, wanted);
    return false;
}

static bool reader_fail_memory(struct table_reader *reader)
{
    return error_set_memory(reader->error);
}

/* The next byte, or NUL at the end, since a table never contains NUL. */
static char reader_peek(const struct table_reader *reader)
{
    assert(reader->offset <= reader->text.size);
    return reader->offset < reader->text.size ? reader->text.bytes[reader->offset]
                                              : '\0';
}

/* Skips the byte if it is the next one. Returns whether it was. */
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

/* Numbers: with a fixed count of hex digits, or in decimal. */
static bool reader_hex(struct table_reader *reader, int digits, uint64_t *number)
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

static bool reader_number(struct table_reader *reader, uint32_t *number)
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

/* Reads a distance and adds it to `number`. */
static bool reader_step(struct table_reader *reader, uint32_t *number)
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

/* Copies a text and resolves its escapes. `raw` must consist of plain bytes and whole escapes. */
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

/* Reads a name or a word, up to the first byte that cannot belong to it. */
static bool reader_text(struct table_reader *reader, bool is_word, struct slice *text)
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

static bool reader_word(struct table_reader *reader, struct slice *word)
{
    return reader_text(reader, true, word) && reader_expect(reader, ' ');
}

/* The shortest texts of a function and of a site: "0,0, " and "a ". */
#define FUNCTION_SIZE_MIN 5
#define SITE_SIZE_MIN     2

static bool
read_function_name(struct table_reader *reader, struct slice before, struct slice *name)
{
    uint32_t shared;
    struct slice rest;
    char *bytes;

    if (!reader_number(reader, &shared)) {
        return false;
    }
    if (shared > before.size || shared > SHARED_LIMIT) {
        return reader_fail(reader,
                           "no more than the name before holds, and at most 99");
    }
    if (!reader_expect(reader, ',') || !reader_text(reader, false, &rest)) {
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
        if (!reader_step(reader, &function->line) || !reader_expect(reader, ',') ||
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

/* Allocates as many writes and reads as the text up to the next blank can hold. */
static bool allocate_bindings(struct table_reader *reader, struct site *site)
{
    uint32_t writes = 0;
    uint32_t reads = 0;

    for (size_t i = reader->offset; i < reader->text.size; i++) {
        char byte = reader->text.bytes[i];

        if (byte == ' ' || byte == '~') {
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

/* Gives the next number to a name that was read as text. */
static bool number_name(struct table_reader *reader, struct slice name)
{
    void *names = reader->names;

    if (name.size < NUMBERED_SIZE_MIN || name.size > NUMBERED_SIZE_MAX) {
        return true;
    }
    if (!memory_grow(&names, &reader->name_capacity, reader->name_count + 1,
                     sizeof *reader->names)) {
        return reader_fail_memory(reader);
    }
    reader->names = names;
    reader->names[reader->name_count++] = name;
    return true;
}

static bool read_site_name(struct table_reader *reader, struct slice *name)
{
    uint32_t number;

    if (reader_accept(reader, '!')) {
        *name = (struct slice){"", 0};
        return true;
    }
    if (!is_digit(reader_peek(reader))) {
        return reader_text(reader, false, name) &&
               (name->size > 0 || reader_fail(reader, "a name")) &&
               number_name(reader, *name);
    }
    if (!reader_number(reader, &number)) {
        return false;
    }
    if (number >= reader->name_count) {
        return reader_fail(reader, "the number of an earlier name");
    }
    *name = reader->names[number];
    return true;
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
    if (!reader_number(reader, &distance)) {
        return false;
    }
    if (is_back ? distance > id : distance >= site_count - id) {
        return reader_fail(reader, "the distance of a site of this table");
    }
    *site = is_back ? id - distance : id + distance;
    return true;
}

static bool read_optional(struct table_reader *reader, char mark, uint32_t *number)
{
    return !reader_accept(reader, mark) || reader_number(reader, number);
}

/* Reads a reference to an earlier site, and the name that this site wrote. */
static bool read_implied_name(struct table_reader *reader,
                              const struct site_table *table,
                              uint32_t id,
                              struct site_read *read)
{
    uint32_t write = 0;

    if (!read_reference(reader, id, table->site_count, &read->site)) {
        return false;
    }
    if (read->site == id) {
        return reader_fail(reader, "the distance of an earlier site");
    }
    if (!read_optional(reader, '.', &write)) {
        return false;
    }
    if (write >= table->sites[read->site].write_count) {
        return reader_fail(reader, "the number of a name that the site wrote");
    }
    read->name = table->sites[read->site].writes[write].name;
    return true;
}

static bool read_write(struct table_reader *reader, struct site_write *write)
{
    write->source = SITE_SOURCE_VALUE;
    if (reader_accept(reader, '+')) {
        write->source = SITE_SOURCE_PEEK;
    } else if (reader_accept(reader, '-')) {
        write->source = SITE_SOURCE_NONE;
    }
    return read_site_name(reader, &write->name);
}

static bool read_read(struct table_reader *reader,
                      const struct site_table *table,
                      uint32_t id,
                      struct site_read *read)
{
    read->scope = scope_of(reader_peek(reader));
    reader->offset++;
    if (reader_peek(reader) == '-') {
        return read_implied_name(reader, table, id, read);
    }
    return read_site_name(reader, &read->name) &&
           read_reference(reader, id, table->site_count, &read->site);
}

static bool read_bindings(struct table_reader *reader,
                          const struct site_table *table,
                          uint32_t id,
                          struct site *site)
{
    if (!allocate_bindings(reader, site)) {
        return false;
    }
    while (reader_accept(reader, '=')) {
        if (!read_write(reader, &site->writes[site->write_count])) {
            return false;
        }
        site->write_count++;
    }
    while (is_scope_mark(reader_peek(reader))) {
        if (!read_read(reader, table, id, &site->reads[site->read_count])) {
            return false;
        }
        site->read_count++;
    }
    return true;
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

/* Finds the end of a term. Its content is read where it is used: term.h. */
static void read_term(struct table_reader *reader, struct site *site)
{
    size_t start;

    site->term = SLICE("");
    if (!reader_accept(reader, '~')) {
        return;
    }
    start = reader->offset;
    while (is_term_byte((unsigned char)reader_peek(reader))) {
        reader->offset++;
    }
    site->term = slice_part(reader->text, start, reader->offset);
}

/* Reads a site. `site` holds the values that are inherited from the site before it. */
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
        !reader_step(reader, &site->line)) {
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
        if (!reader_hex(reader, 8, &condition)) {
            return false;
        }
        site->condition = (uint32_t)condition;
    }
    if (!read_bindings(reader, table, id, site)) {
        return false;
    }
    read_term(reader, site);
    return reader_expect(reader, ' ');
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
    if (!slice_starts(start, SLICE(TABLE_MAGIC TABLE_VERSION " ")) &&
        !slice_starts(start, SLICE(TABLE_MAGIC TABLE_VERSION_BEFORE " "))) {
        return reader_fail(reader, "version " TABLE_VERSION
                                   ": another version of monitorch made this file");
    }
    reader->offset = sizeof TABLE_MAGIC TABLE_VERSION;
    return true;
}

/* Reads the counts, and compares them with the size of the text before anything is allocated for
 * them. */
static bool read_counts(struct table_reader *reader, struct site_table *table)
{
    size_t left;

    if (!reader_number(reader, &table->function_count) || !reader_expect(reader, ',') ||
        !reader_number(reader, &table->site_count) || !reader_expect(reader, ' ')) {
        return false;
    }
    left = reader->text.size - reader->offset;
    if (table->function_count > left / FUNCTION_SIZE_MIN ||
        table->site_count > left / SITE_SIZE_MIN) {
        return reader_fail(reader, "as many functions and sites as the counts say");
    }
    return true;
}

static bool read_table(struct table_reader *reader, struct site_table *table)
{
    if (!read_magic(reader) || !reader_hex(reader, 16, &table->source_hash[1]) ||
        !reader_hex(reader, 16, &table->source_hash[0]) ||
        !reader_expect(reader, ' ') || !reader_word(reader, &table->prefix) ||
        !reader_word(reader, &table->path) || !reader_word(reader, &table->options) ||
        !read_counts(reader, table) || !read_functions(reader, table) ||
        !read_sites(reader, table) || !reader_expect(reader, '.')) {
        return false;
    }
    return reader->offset == reader->text.size ||
           reader_fail(reader, "the end of the text");
}

bool site_table_read(struct site_table *table,
                     struct slice text,
                     struct arena *arena,
                     struct error *error)
{
    struct table_reader reader = {.text = text, .arena = arena, .error = error};
    struct site_table result = {0};
    bool is_read = read_table(&reader, &result);

    memory_free(reader.names);
    if (is_read) {
        assert(site_table_is_sound(&result));
        *table = result;
    }
    return is_read;
}
