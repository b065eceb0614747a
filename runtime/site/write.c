/* Writer of site tables as text. */
#include "runtime/site/site.h"

#include "runtime/base/memory.h"
#include "runtime/base/text_table.h"
#include "runtime/base/utf8.h"
#include "runtime/site/format.h"

#include <assert.h>

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

/* Writes the distance from one number to another; only negative ones have a sign. */
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

/* ---- repeated names ---- */

/* The numbers that names have got. */
struct name_numbers {
    struct text_table names;
    uint32_t *numbers; /* owned; indexed by the names' numbers in the table */
    size_t capacity;
    uint32_t next; /* the number of the next name */
};

static size_t decimal_size(uint32_t number)
{
    size_t size = 1;

    while (number >= 10) {
        number /= 10;
        size++;
    }
    return size;
}

/* Writes the number of a repeated name if that is shorter. Otherwise it gives the name, which
 * must then be written as text, the next number. */
static bool
write_number_of(struct name_numbers *numbers, struct slice name, struct buffer *text)
{
    uint32_t known_count = numbers->names.count;
    void *items = numbers->numbers;
    uint32_t place;

    if (name.size < NUMBERED_SIZE_MIN || name.size > NUMBERED_SIZE_MAX) {
        return false;
    }
    if (!text_table_add(&numbers->names, name, &place) ||
        !memory_grow(&items, &numbers->capacity, (size_t)place + 1,
                     sizeof *numbers->numbers)) {
        text->has_failed = true;
        return false;
    }
    numbers->numbers = items;
    assert(place <= known_count);
    if (place == known_count) {
        numbers->numbers[place] = numbers->next;
    } else if (decimal_size(numbers->numbers[place]) < name.size) {
        buffer_add_number(text, numbers->numbers[place]);
        return true;
    }
    numbers->next++;
    return false;
}

/* ---- sites ---- */

static void
write_site_name(struct name_numbers *numbers, struct slice name, struct buffer *text)
{
    if (name.size == 0) {
        buffer_add_byte(text, '!');
        return;
    }
    if (write_number_of(numbers, name, text)) {
        return;
    }
    if (is_digit(name.bytes[0])) { /* otherwise it would be read as a number */
        write_escaped(text, (unsigned char)name.bytes[0]);
        name = slice_part(name, 1, name.size);
    }
    write_name(text, name);
}

/* Writes a reference that implies the name. Returns false if the referenced site did not write
 * it. */
static bool write_implied_name(const struct site_table *table,
                               const struct site_read *read,
                               uint32_t id,
                               struct buffer *text)
{
    const struct site *site;

    if (read->site >= id) {
        return false;
    }
    assert(read->site < table->site_count);
    site = &table->sites[read->site];
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (slice_equal(site->writes[i].name, read->name)) {
            buffer_add_byte(text, '-');
            buffer_add_number(text, id - read->site);
            write_optional(text, '.', i);
            return true;
        }
    }
    return false;
}

static void write_bindings(const struct site_table *table,
                           uint32_t id,
                           struct name_numbers *numbers,
                           struct buffer *text)
{
    assert(id < table->site_count);

    const struct site *site = &table->sites[id];

    for (uint32_t i = 0; i < site->write_count; i++) {
        const struct site_write *write = &site->writes[i];

        buffer_add_byte(text, '=');
        if (write->source != SITE_SOURCE_VALUE) {
            buffer_add_byte(text, write->source == SITE_SOURCE_PEEK ? '+' : '-');
        }
        write_site_name(numbers, write->name, text);
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        const struct site_read *read = &site->reads[i];

        buffer_add_byte(text, scope_marks[read->scope]);
        if (write_implied_name(table, read, id, text)) {
            continue;
        }
        write_site_name(numbers, read->name, text);
        if (read->site != SITE_NONE) {
            buffer_add_byte(text, read->site < id ? '-' : '+');
            buffer_add_number(text,
                              read->site < id ? id - read->site : read->site - id);
        }
    }
}

static void write_site(const struct site_table *table,
                       uint32_t id,
                       struct name_numbers *numbers,
                       struct buffer *text)
{
    assert(id < table->site_count);

    static const struct site nothing;
    const struct site *site = &table->sites[id];
    const struct site *before = id == 0 ? &nothing : site - 1;

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
    write_bindings(table, id, numbers, text);
    if (site->term.size > 0) {
        buffer_add_byte(text, '~');
        buffer_add(text, site->term);
    }
    buffer_add_byte(text, ' ');
}

void site_table_write(const struct site_table *table, struct buffer *text)
{
    struct name_numbers numbers = {.numbers = NULL};

    assert(site_table_is_sound(table));
    if (!text_table_init(&numbers.names)) {
        text->has_failed = true;
        return;
    }
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
        write_site(table, i, &numbers, text);
    }
    buffer_add_byte(text, '.');
    text_table_release(&numbers.names);
    memory_free(numbers.numbers);
}
