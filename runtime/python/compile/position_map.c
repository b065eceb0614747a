/* The mapping of positions in the instrumented text to the original: single ranges, or a whole
 * location table at a time. CPython describes the tables in Objects/locations.md. */
#include "runtime/python/compile/position_map.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

struct position_line {
    size_t start;           /* offset in the original */
    size_t first_insertion; /* index of the first insertion on this line or later */
};

struct position_place {
    size_t shift;  /* bytes that earlier insertions add to the line */
    size_t blanks; /* blanks of the original after it: no code starts with them */
};

/* One end of a range, in the original text. */
struct position_end {
    int32_t column; /* in the original; for inserted text the place of the insertion */
    bool is_inserted; /* inside an insertion */
    size_t insertion; /* index of that insertion */
};

/* Kinds of entries in a location table; less than 10 is a short entry. */
enum {
    ENTRY_ONE_LINE = 10, /* 10, 11, 12: line change plus 10 */
    ENTRY_NO_COLUMNS = 13,
    ENTRY_LONG = 14,
    ENTRY_NONE = 15,
};

struct table_reader {
    struct slice table;
    size_t offset;
    bool is_damaged;
};

static size_t line_ends_count(struct slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        bool is_crlf =
            text.bytes[i] == '\r' && i + 1 < text.size && text.bytes[i + 1] == '\n';
        if (text.bytes[i] == '\n' || (text.bytes[i] == '\r' && !is_crlf)) {
            count++;
        }
    }
    return count;
}

static void lines_find_starts(struct position_line *lines, struct slice text)
{
    size_t line = 1;

    lines[0].start = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool is_crlf =
            text.bytes[i] == '\r' && i + 1 < text.size && text.bytes[i + 1] == '\n';
        if (text.bytes[i] == '\n' || (text.bytes[i] == '\r' && !is_crlf)) {
            lines[line++].start = i + 1;
        }
    }
}

static size_t blanks_count(struct slice text, size_t offset)
{
    size_t end = offset;

    while (end < text.size && (text.bytes[end] == ' ' || text.bytes[end] == '\t' ||
                               text.bytes[end] == '\f')) {
        end++;
    }
    return end - offset;
}

/* Finds each line's first insertion and each insertion's place, in one pass over both. */
static void map_join_insertions(struct position_map *map, struct slice original)
{
    size_t insertion = 0;

    for (size_t line = 0; line < map->line_count; line++) {
        bool is_last = line + 1 == map->line_count;
        size_t shift = 0;

        map->lines[line].first_insertion = insertion;
        while (insertion < map->insertion_count &&
               (is_last ||
                map->insertions[insertion].offset < map->lines[line + 1].start)) {
            map->places[insertion].shift = shift;
            map->places[insertion].blanks =
                blanks_count(original, map->insertions[insertion].offset);
            shift += map->insertions[insertion].size;
            insertion++;
        }
    }
    map->lines[map->line_count].first_insertion = map->insertion_count;
}

bool position_map_init(struct position_map *map,
                       struct slice original,
                       const struct insertion *insertions,
                       size_t insertion_count,
                       struct error *error)
{
    struct position_map made = {
        .insertions = insertions,
        .insertion_count = insertion_count,
        .line_count = line_ends_count(original) + 1,
    };

    made.places = memory_allocate(insertion_count, sizeof *made.places);
    made.lines = memory_allocate(made.line_count + 1, sizeof *made.lines);
    if (made.places == NULL || made.lines == NULL) {
        position_map_release(&made);
        return error_set_memory(error);
    }
    lines_find_starts(made.lines, original);
    made.lines[made.line_count].start = original.size + 1;
    map_join_insertions(&made, original);
    *map = made;
    return true;
}

void position_map_release(struct position_map *map)
{
    memory_free(map->places);
    memory_free(map->lines);
    *map = (struct position_map){0};
}

/* The column of the insertion in its instrumented line. */
static int64_t
map_insertion_column(const struct position_map *map, size_t line, size_t insertion)
{
    return (int64_t)map->insertions[insertion].offset -
           (int64_t)map->lines[line].start + (int64_t)map->places[insertion].shift;
}

/* Finds one end of a range. A column at the edge of an insertion belongs to it if the range
 * starts there and starts with inserted text, or if it ends there and ends with it. */
static struct position_end map_find(const struct position_map *map,
                                    int32_t line_number,
                                    int32_t column,
                                    bool is_end)
{
    size_t line = (size_t)line_number - 1;
    size_t low = map->lines[line].first_insertion;
    size_t high = map->lines[line + 1].first_insertion;
    size_t first = low;
    int64_t limit = is_end ? column : (int64_t)column + 1;

    while (low < high) { /* find the insertions that start before the limit */
        size_t middle = low + (high - low) / 2;
        if (map_insertion_column(map, line, middle) < limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == first) {
        return (struct position_end){.column = column};
    }
    size_t last = low - 1;
    int64_t start = map_insertion_column(map, line, last);
    int64_t size = map->insertions[last].size;
    if (limit <= start + size) {
        return (struct position_end){
            .column = (int32_t)(start - (int64_t)map->places[last].shift),
            .is_inserted = true,
            .insertion = last,
        };
    }
    return (struct position_end){
        .column = (int32_t)(column - size - (int64_t)map->places[last].shift)};
}

/* Whether the line starts at the offset or before it. */
static bool is_line_before(const void *lines, size_t line, uint64_t offset)
{
    return ((const struct position_line *)lines)[line].start <= offset;
}

/* The line, from 0, of an offset in the original. */
static size_t map_find_line(const struct position_map *map, size_t offset)
{
    size_t next = sorted_place(map->lines, map->line_count, is_line_before, offset);

    return next == 0 ? 0 : next - 1;
}

/* Gives a range that is entirely inserted the first anchor among its insertions. */
static void map_anchor(const struct position_map *map,
                       size_t first,
                       size_t last,
                       struct position_range *range)
{
    range->column = POSITION_NONE;
    range->end_column = POSITION_NONE;
    for (size_t i = first; i <= last; i++) {
        const struct insertion *insertion = &map->insertions[i];
        if (insertion->anchor_start >= insertion->anchor_end) {
            continue;
        }
        size_t line = map_find_line(map, insertion->anchor_start);
        size_t end_line = map_find_line(map, insertion->anchor_end);
        *range = (struct position_range){
            .line = (int32_t)(line + 1),
            .end_line = (int32_t)(end_line + 1),
            .column = (int32_t)(insertion->anchor_start - map->lines[line].start),
            .end_column = (int32_t)(insertion->anchor_end - map->lines[end_line].start),
        };
        return;
    }
}

static bool map_has_line(const struct position_map *map, int32_t line)
{
    return line >= 1 && (size_t)line <= map->line_count;
}

void position_map_range(const struct position_map *map, struct position_range *range)
{
    if (range->column < 0 || range->end_column < 0 || !map_has_line(map, range->line) ||
        !map_has_line(map, range->end_line)) {
        return;
    }
    bool is_empty =
        range->line == range->end_line && range->column == range->end_column;
    struct position_end start = map_find(map, range->line, range->column, is_empty);
    struct position_end end = map_find(map, range->end_line, range->end_column, true);
    if (start.is_inserted && end.is_inserted && range->line == range->end_line &&
        start.column == end.column) {
        map_anchor(map, start.insertion, end.insertion, range);
        return;
    }
    range->column = start.column;
    range->end_column = end.column;
    if (start.is_inserted) {
        range->column += (int32_t)map->places[start.insertion].blanks;
    }
}

static uint8_t reader_byte(struct table_reader *reader)
{
    if (reader->offset >= reader->table.size) {
        reader->is_damaged = true;
        return 0;
    }
    return (uint8_t)reader->table.bytes[reader->offset++];
}

/* The next byte of an entry. Only an entry's first byte has the highest bit set. */
static uint8_t reader_next_byte(struct table_reader *reader)
{
    uint8_t byte = reader_byte(reader);

    if (byte & 0x80) {
        reader->is_damaged = true;
    }
    return byte & 0x7f;
}

/* Reads a number: six bits in each byte, the lowest first; bit 6 is set if more bytes follow. */
static uint32_t reader_number(struct table_reader *reader)
{
    uint64_t number = 0;
    uint8_t byte;
    int shift = 0;

    do {
        byte = reader_next_byte(reader);
        number |= (uint64_t)(byte & 0x3f) << shift;
        shift += 6;
        if (shift > 36 || number > INT32_MAX) {
            reader->is_damaged = true;
        }
    } while ((byte & 0x40) && !reader->is_damaged);
    return (uint32_t)number;
}

static int32_t reader_signed_number(struct table_reader *reader)
{
    uint32_t number = reader_number(reader);

    return number & 1 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
}

static int32_t reader_line(struct table_reader *reader, int32_t line, int32_t change)
{
    int64_t changed = (int64_t)line + change;

    if (changed < 0 || changed > INT32_MAX) {
        reader->is_damaged = true;
        return line;
    }
    return (int32_t)changed;
}

/* Reads the rest of an entry of this kind, after its first byte. `line` is the line of the
 * previous entry. */
static struct position_range
reader_range(struct table_reader *reader, int kind, int32_t line)
{
    struct position_range range = {line, line, POSITION_NONE, POSITION_NONE};

    if (kind < ENTRY_ONE_LINE) {
        uint8_t byte = reader_next_byte(reader);
        range.column = kind * 8 + (byte >> 4);
        range.end_column = range.column + (byte & 15);
    } else if (kind < ENTRY_NO_COLUMNS) {
        range.line = reader_line(reader, line, kind - ENTRY_ONE_LINE);
        range.end_line = range.line;
        range.column = reader_next_byte(reader);
        range.end_column = reader_next_byte(reader);
    } else if (kind == ENTRY_NO_COLUMNS) {
        range.line = reader_line(reader, line, reader_signed_number(reader));
        range.end_line = range.line;
    } else if (kind == ENTRY_LONG) {
        range.line = reader_line(reader, line, reader_signed_number(reader));
        range.end_line =
            reader_line(reader, range.line, (int32_t)reader_number(reader));
        /* Columns are stored plus one; 0 means none. */
        range.column = (int32_t)(reader_number(reader) - 1);
        range.end_column = (int32_t)(reader_number(reader) - 1);
    } else {
        range.line = POSITION_NONE;
        range.end_line = POSITION_NONE;
    }
    return range;
}

static void output_add_number(struct buffer *output, uint32_t number)
{
    while (number >= 0x40) {
        buffer_add_byte(output, (char)(0x40 | (number & 0x3f)));
        number >>= 6;
    }
    buffer_add_byte(output, (char)number);
}

static void output_add_signed_number(struct buffer *output, int32_t number)
{
    uint32_t magnitude = number < 0 ? (uint32_t)-number : (uint32_t)number;

    output_add_number(output, magnitude << 1 | (number < 0));
}

static void output_add_kind(struct buffer *output, int kind, int length_bits)
{
    buffer_add_byte(output, (char)(0x80 | kind << 3 | length_bits));
}

/* Writes the range in the shortest form, as CPython's compiler does. */
static void output_add_range(struct buffer *output,
                             const struct position_range *range,
                             int32_t last_line,
                             int length_bits)
{
    int32_t more_lines = range->line - last_line;
    int32_t column = range->column;
    int32_t end_column = range->end_column;
    bool has_columns = column >= 0 && end_column >= 0;
    bool is_one_line = range->line == range->end_line;

    if (range->line < 0) {
        output_add_kind(output, ENTRY_NONE, length_bits);
    } else if (!has_columns && is_one_line) {
        output_add_kind(output, ENTRY_NO_COLUMNS, length_bits);
        output_add_signed_number(output, more_lines);
    } else if (has_columns && is_one_line && more_lines == 0 && column < 80 &&
               end_column >= column && end_column - column < 16) {
        output_add_kind(output, column / 8, length_bits);
        buffer_add_byte(output, (char)(column % 8 << 4 | (end_column - column)));
    } else if (has_columns && is_one_line && more_lines >= 0 && more_lines < 3 &&
               column < 128 && end_column < 128) {
        output_add_kind(output, ENTRY_ONE_LINE + more_lines, length_bits);
        buffer_add_byte(output, (char)column);
        buffer_add_byte(output, (char)end_column);
    } else {
        output_add_kind(output, ENTRY_LONG, length_bits);
        output_add_signed_number(output, more_lines);
        output_add_number(output, (uint32_t)(range->end_line - range->line));
        output_add_number(output, (uint32_t)(column + 1));
        output_add_number(output, (uint32_t)(end_column + 1));
    }
}

bool position_map_table(const struct position_map *map,
                        struct slice table,
                        int32_t first_line,
                        struct buffer *output,
                        struct error *error)
{
    struct table_reader reader = {.table = table};
    int32_t line_read = first_line;
    int32_t line_written = first_line;

    if (first_line < 0) {
        error_set(error, ERROR_INPUT, "a code object that starts on line %d",
                  first_line);
        return false;
    }
    while (reader.offset < table.size) {
        size_t entry_offset = reader.offset;
        uint8_t head = reader_byte(&reader);
        int kind = head >> 3 & 15;
        struct position_range range = reader_range(&reader, kind, line_read);

        if (!(head & 0x80) || reader.is_damaged) {
            error_set(error, ERROR_INPUT,
                      "the location table is damaged at byte %zu of %zu", entry_offset,
                      table.size);
            return false;
        }
        line_read = range.line >= 0 ? range.line : line_read;
        position_map_range(map, &range);
        output_add_range(output, &range, line_written, head & 7);
        line_written = range.line >= 0 ? range.line : line_written;
    }
    if (output->has_failed) {
        return error_set_memory(error);
    }
    return true;
}
