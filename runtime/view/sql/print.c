/* Printing of a statement's rows while the statement runs. */
#include "runtime/view/sql/print.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/text_width.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

/* ---- values of rows as text, for programs ---- */

/* The value as text. A text is borrowed until the next row; a blob is written as hexadecimal
 * digits. */
static struct slice sql_text_of(sqlite3_stmt *statement, int column)
{
    /* Read as a blob, since SQLite would copy a text to append a NUL. */
    const char *bytes = sqlite3_column_blob(statement, column);

    return (struct slice){bytes == NULL ? "" : bytes,
                          (size_t)sqlite3_column_bytes(statement, column)};
}

static void sql_blob_add(struct buffer *text, sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);

    for (int i = 0; bytes != NULL && i < size; i++) {
        buffer_add_hex(text, bytes[i], 2);
    }
}

/* Appends a number. Infinities are words, which need no quotes. */
static void add_real(struct buffer *text, double number)
{
    if (isinf(number)) {
        buffer_add(text, number < 0 ? SLICE("-Infinity") : SLICE("Infinity"));
    } else {
        real_add_exact(text, number);
    }
}

/* Appends the text with tabs, line ends, backslashes and control characters as escapes. */
static void add_escaped(struct buffer *text, struct slice added)
{
    size_t start = 0;

    for (size_t i = 0; i < added.size; i++) {
        unsigned char byte = (unsigned char)added.bytes[i];
        const char *place;

        if (byte >= ' ' && byte != 0x7F && byte != '\\') {
            continue;
        }
        buffer_add(text, slice_part(added, start, i));
        start = i + 1;
        place = byte == 0 ? NULL : strchr("\tt\nn\rr\\\\", byte);
        buffer_add_byte(text, '\\');
        if (place != NULL) {
            buffer_add_byte(text, place[1]);
        } else {
            buffer_add_byte(text, 'x');
            buffer_add_hex(text, byte, 2);
        }
    }
    buffer_add(text, slice_part(added, start, added.size));
}

/* Appends a CSV field, in quotes if it needs them. */
static void add_csv(struct buffer *text, struct slice added)
{
    bool has_quotes = added.size == 0;

    for (size_t i = 0; i < added.size && !has_quotes; i++) {
        has_quotes = added.bytes[i] == ',' || added.bytes[i] == '"' ||
                     added.bytes[i] == '\n' || added.bytes[i] == '\r';
    }
    if (!has_quotes) {
        buffer_add(text, added);
        return;
    }
    buffer_add_byte(text, '"');
    for (size_t i = 0; i < added.size; i++) {
        if (added.bytes[i] == '"') {
            buffer_add_byte(text, '"');
        }
        buffer_add_byte(text, added.bytes[i]);
    }
    buffer_add_byte(text, '"');
}

/* Appends a text, such as a column's name, in the format of the output. */
static void
sql_text_add(struct buffer *text, const struct sql_print *print, struct slice added)
{
    struct buffer clean = BUFFER_INIT;

    if (print->format == SQL_TABS) {
        add_escaped(text, added);
    } else if (print->format == SQL_JSON) {
        buffer_add_byte(text, '"');
        text_add_json(text, added);
        buffer_add_byte(text, '"');
    } else if (print->is_terminal) {
        buffer_add_printable(&clean, added);
        add_csv(text, buffer_slice(&clean));
        text->has_failed = text->has_failed || clean.has_failed;
        buffer_release(&clean);
    } else {
        add_csv(text, added);
    }
}

/* Appends one value in the format of the output, without separators. */
static void sql_value_add(struct buffer *text,
                          const struct sql_print *print,
                          sqlite3_stmt *statement,
                          int column)
{
    bool is_json = print->format == SQL_JSON;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        buffer_add(text, is_json ? SLICE("null") : SLICE(""));
        break;
    case SQLITE_INTEGER:
        integer_add(text, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        if (is_json) {
            real_add_exact(text, sqlite3_column_double(statement, column));
        } else {
            add_real(text, sqlite3_column_double(statement, column));
        }
        break;
    case SQLITE_BLOB:
        buffer_add(text, is_json ? SLICE("\"") : SLICE(""));
        sql_blob_add(text, statement, column);
        buffer_add(text, is_json ? SLICE("\"") : SLICE(""));
        break;
    default:
        sql_text_add(text, print, sql_text_of(statement, column));
    }
}

/* The layout of a table. The first rows are kept until the widths of the columns are known. */
struct sql_layout {
    const struct sql_print *print; /* borrowed */
    int column_count;
    size_t *widths;     /* owned */
    bool *is_number;    /* owned; the column is aligned to the right */
    bool is_decided;    /* widths are known, and rows are printed at once */
    bool is_list;       /* too wide: one line for each value */
    struct buffer kept; /* owned; texts of the kept cells, concatenated */
    size_t *ends;       /* owned; end of each cell in `kept`, the header's first */
    size_t end_count;
    size_t end_capacity;
    uint64_t row_count; /* rows printed so far */
};

/* ---- rows as a table for people ---- */

#define KEPT_ROWS    300  /* number of rows that decide the widths of columns */
#define CELL_LIMIT   1000 /* bytes of a text in a table */
#define SHORT_DIGITS 6
#define GAP          2 /* blanks between columns */
#define NARROWEST    8 /* minimal width of a column of texts */
#define ELLIPSIS     "\xE2\x80\xA6"
/* A kept cell that is NULL. No text has this value. */
#define NULL_CELL "\x01"

/* The number of terminal columns of a character. */
static size_t character_width(uint32_t code)
{
    uint32_t advance = code < 0x7F ? 600 : text_advance(PICTURE_MONO, code);

    return advance == 0 ? 0 : advance >= 1000 ? 2 : 1;
}

/* The size of the part of the text that fits into `limit` columns. `width` is set to its
 * columns. */
static size_t fit(struct slice text, size_t limit, size_t *width)
{
    size_t at = 0;

    *width = 0;
    while (at < text.size) {
        uint32_t code = 0;
        size_t size = utf8_read(text, at, &code);
        size_t more = size == 0 ? 1 : character_width(code);

        if (*width + more > limit) {
            break;
        }
        *width += more;
        at += size == 0 ? 1 : size;
    }
    return at;
}

static size_t width_of(struct slice text)
{
    size_t width;

    fit(text, SIZE_MAX / 2, &width);
    return width;
}

static void add_cell(struct buffer *text, sqlite3_stmt *statement, int column)
{
    struct slice added;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        buffer_add(text, SLICE(NULL_CELL));
        break;
    case SQLITE_INTEGER:
        integer_add(text, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        real_add_short(text, sqlite3_column_double(statement, column), SHORT_DIGITS);
        break;
    case SQLITE_BLOB:
        buffer_add(text, SLICE("x'"));
        sql_blob_add(text, statement, column);
        buffer_add_byte(text, '\'');
        break;
    default:
        added = sql_text_of(statement, column);
        if (added.size > CELL_LIMIT) {
            added.size = utf8_cut(added, CELL_LIMIT);
            buffer_add_printable(text, added);
            buffer_add(text, SLICE(ELLIPSIS));
        } else {
            buffer_add_printable(text, added);
        }
    }
}

static bool note_end(struct sql_layout *layout)
{
    void *ends = layout->ends;

    if (!memory_grow(&ends, &layout->end_capacity, layout->end_count + 1,
                     sizeof *layout->ends)) {
        return false;
    }
    layout->ends = ends;
    layout->ends[layout->end_count++] = layout->kept.size;
    return true;
}

static bool sql_layout_init(struct sql_layout *layout,
                            const struct sql_print *print,
                            sqlite3_stmt *statement)
{
    int count = sqlite3_column_count(statement);
    bool is_done = true;

    *layout = (struct sql_layout){.print = print, .column_count = count};
    layout->widths = memory_allocate_zeroed((size_t)count, sizeof *layout->widths);
    layout->is_number =
        memory_allocate_zeroed((size_t)count, sizeof *layout->is_number);
    is_done = layout->widths != NULL && layout->is_number != NULL;
    for (int i = 0; is_done && i < count; i++) {
        const char *name = sqlite3_column_name(statement, i);

        is_done = name != NULL;
        if (is_done) {
            buffer_add_printable(&layout->kept, slice_of(name));
            is_done = note_end(layout);
        }
    }
    return is_done && !layout->kept.has_failed;
}

static void sql_layout_release(struct sql_layout *layout)
{
    memory_free(layout->widths);
    memory_free(layout->is_number);
    memory_free(layout->ends);
    buffer_release(&layout->kept);
}

static struct slice cell_at(const struct sql_layout *layout, size_t index)
{
    return slice_part(buffer_slice(&layout->kept),
                      index == 0 ? 0 : layout->ends[index - 1], layout->ends[index]);
}

static bool is_null(struct slice cell)
{
    return slice_equal(cell, SLICE(NULL_CELL));
}

static void add_aligned(
    struct buffer *text, struct slice cell, size_t width, bool is_right, bool is_last)
{
    size_t used;
    size_t size;

    cell = is_null(cell) ? SLICE("") : cell;
    size = fit(cell, width, &used);
    if (size < cell.size && !is_right) {
        size = fit(cell, width > 0 ? width - 1 : 0, &used);
        used++;
        buffer_add(text, slice_part(cell, 0, size));
        buffer_add(text, SLICE(ELLIPSIS));
        text_add_blanks(text, is_last || used > width ? 0 : width - used);
        return;
    }
    used = size < cell.size ? width : used; /* numbers are not cut */
    if (is_right) {
        text_add_blanks(text, width - used);
    }
    buffer_add(text, cell);
    if (!is_right && !is_last) {
        text_add_blanks(text, width - used);
    }
}

/* Prints the row whose first cell is `first`. */
static void add_line(struct sql_layout *layout, size_t first, struct buffer *text)
{
    bool is_header = first == 0;

    paint_start(text, layout->print->has_color && is_header, PAINT_CALL);
    for (int i = 0; i < layout->column_count; i++) {
        bool is_last = i + 1 == layout->column_count;

        text_add_blanks(text, i == 0 ? 0 : GAP);
        add_aligned(text, cell_at(layout, first + (size_t)i), layout->widths[i],
                    layout->is_number[i], is_last);
    }
    text_trim(text); /* removes the blanks of empty cells at the end */
    paint_end(text, layout->print->has_color && is_header);
    buffer_add_byte(text, '\n');
}

/* Prints a row as one line for each value that is not NULL. */
static void add_list(struct sql_layout *layout, size_t first, struct buffer *text)
{
    size_t name_width = 0;

    for (int i = 0; i < layout->column_count; i++) {
        size_t width = width_of(cell_at(layout, (size_t)i));

        name_width = width > name_width ? width : name_width;
    }
    paint_start(text, layout->print->has_color, PAINT_FAINT);
    buffer_add(text, SLICE("-- row "));
    buffer_add_number(text, layout->row_count + 1);
    paint_end(text, layout->print->has_color);
    buffer_add_byte(text, '\n');
    for (int i = 0; i < layout->column_count; i++) {
        struct slice cell = cell_at(layout, first + (size_t)i);

        if (is_null(cell)) {
            continue;
        }
        paint_start(text, layout->print->has_color, PAINT_CALL);
        add_aligned(text, cell_at(layout, (size_t)i), name_width, false, false);
        paint_end(text, layout->print->has_color);
        text_add_blanks(text, GAP);
        buffer_add(text, cell);
        buffer_add_byte(text, '\n');
    }
}

static void layout_add_row(struct sql_layout *layout, size_t first, struct buffer *text)
{
    if (layout->is_list) {
        add_list(layout, first, text);
    } else {
        add_line(layout, first, text);
    }
    layout->row_count++;
}

/* Narrows the columns of texts, the widest first, until the row fits. Sets is_list if it cannot. */
static void fit_widths(struct sql_layout *layout)
{
    size_t total = (size_t)(layout->column_count - 1) * GAP;
    size_t limit = layout->print->width;

    for (int i = 0; i < layout->column_count; i++) {
        total += layout->widths[i];
    }
    while (limit > 0 && total > limit) {
        int widest = -1;

        for (int i = 0; i < layout->column_count; i++) {
            if (!layout->is_number[i] && layout->widths[i] > NARROWEST &&
                (widest < 0 || layout->widths[i] > layout->widths[widest])) {
                widest = i;
            }
        }
        if (widest < 0) {
            layout->is_list = true;
            return;
        }
        layout->widths[widest]--;
        total--;
    }
}

/* Decides the widths, and prints the kept rows. */
static void decide(struct sql_layout *layout, struct buffer *text)
{
    size_t count = (size_t)layout->column_count;

    for (size_t i = layout->print->has_header ? 0 : count; i < layout->end_count; i++) {
        struct slice cell = cell_at(layout, i);
        size_t width = is_null(cell) ? 0 : width_of(cell);

        if (width > layout->widths[i % count]) {
            layout->widths[i % count] = width;
        }
    }
    fit_widths(layout);
    layout->is_decided = true;
    if (layout->print->has_header && !layout->is_list) {
        add_line(layout, 0, text);
    }
    for (size_t i = count; i < layout->end_count; i += count) {
        layout_add_row(layout, i, text);
    }
}

/* Drops the kept rows. The header is needed for lists. */
static void forget_rows(struct sql_layout *layout)
{
    layout->end_count = (size_t)layout->column_count;
    layout->kept.size = layout->ends[layout->end_count - 1];
}

/* Returns false if memory runs out. */
static bool sql_layout_add_row(struct sql_layout *layout,
                               sqlite3_stmt *statement,
                               struct buffer *text)
{
    bool is_first = layout->end_count == (size_t)layout->column_count;

    for (int i = 0; i < layout->column_count; i++) {
        int type = sqlite3_column_type(statement, i);
        bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;

        add_cell(&layout->kept, statement, i);
        if (!note_end(layout) || layout->kept.has_failed) {
            return false;
        }
        if (!layout->is_decided) {
            layout->is_number[i] = (is_first || layout->is_number[i]) &&
                                   (is_number || type == SQLITE_NULL);
        }
    }
    if (layout->is_decided) {
        layout_add_row(layout, (size_t)layout->column_count, text);
        forget_rows(layout);
    } else if (layout->end_count / (size_t)layout->column_count > KEPT_ROWS) {
        decide(layout, text);
        forget_rows(layout);
    }
    return true;
}

static void sql_layout_end(struct sql_layout *layout, struct buffer *text)
{
    if (!layout->is_decided) {
        decide(layout, text);
    }
}

struct rows {
    const struct sql_print *print; /* borrowed */
    sqlite3_stmt *statement;       /* borrowed */
    int column_count;
    struct sql_layout layout; /* owned; for SQL_TABLE */
    struct buffer names;      /* owned; for JSON, the text before each value */
    struct buffer text;       /* owned; text that is not written yet */
    bool is_stopped;          /* the reader of the output has closed it */
};

static const char *separator(const struct sql_print *print)
{
    return print->format == SQL_TABS ? "\t" : ",";
}

static void add_line_end(struct rows *rows)
{
    switch (rows->print->format) {
    case SQL_CSV:
        buffer_add(&rows->text, SLICE("\r\n"));
        break;
    case SQL_JSON:
        buffer_add(&rows->text, SLICE("}\n"));
        break;
    default:
        buffer_add_byte(&rows->text, '\n');
    }
}

static void add_header(struct rows *rows)
{
    for (int i = 0; i < rows->column_count; i++) {
        const char *name = sqlite3_column_name(rows->statement, i);

        if (name == NULL) {
            rows->text.has_failed = true;
            return;
        }
        if (rows->print->format == SQL_JSON) {
            buffer_add(&rows->names, i == 0 ? SLICE("{") : SLICE(","));
            sql_text_add(&rows->names, rows->print, slice_of(name));
            buffer_add(&rows->names, SLICE(":"));
            buffer_add_byte(&rows->names, '\0');
        } else if (rows->print->has_header) {
            buffer_add(&rows->text, slice_of(i == 0 ? "" : separator(rows->print)));
            sql_text_add(&rows->text, rows->print, slice_of(name));
        }
    }
    if (rows->print->format != SQL_JSON && rows->print->has_header) {
        add_line_end(rows);
    }
}

static void add_row(struct rows *rows)
{
    const char *name = rows->names.bytes;

    for (int i = 0; i < rows->column_count; i++) {
        if (rows->print->format == SQL_JSON) {
            buffer_add(&rows->text, slice_of(name));
            name += strlen(name) + 1;
        } else {
            buffer_add(&rows->text, slice_of(i == 0 ? "" : separator(rows->print)));
        }
        sql_value_add(&rows->text, rows->print, rows->statement, i);
    }
    add_line_end(rows);
}

static void rows_write(struct rows *rows, size_t limit)
{
    if (rows->text.size >= limit && !rows->is_stopped) {
        rows->is_stopped =
            !rows->print->write(rows->print->context, buffer_slice(&rows->text));
        rows->text.size = 0;
    }
}

static bool rows_begin(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        return sql_layout_init(&rows->layout, rows->print, rows->statement);
    }
    add_header(rows);
    return !rows->text.has_failed && !rows->names.has_failed;
}

static bool rows_add(struct rows *rows)
{
    if (rows->print->format != SQL_TABLE) {
        add_row(rows);
    } else if (!sql_layout_add_row(&rows->layout, rows->statement, &rows->text)) {
        return false;
    }
    rows_write(rows, rows->print->is_terminal ? 1 : OUTPUT_PIECE);
    return !rows->text.has_failed;
}

static bool rows_end(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        sql_layout_end(&rows->layout, &rows->text);
    }
    rows_write(rows, 1);
    return !rows->text.has_failed;
}

static void rows_release(struct rows *rows)
{
    if (rows->print->format == SQL_TABLE) {
        sql_layout_release(&rows->layout);
    }
    buffer_release(&rows->names);
    buffer_release(&rows->text);
}

int sql_print_rows(sqlite3_stmt *statement,
                   const struct sql_print *print,
                   uint64_t *row_count,
                   bool *has_more)
{
    struct rows rows = {.print = print,
                        .statement = statement,
                        .column_count = sqlite3_column_count(statement)};
    bool has_memory = rows_begin(&rows);
    uint64_t count = 0;
    int code = SQLITE_DONE;

    while (has_memory && !rows.is_stopped) {
        code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            break;
        }
        if (count == print->max_rows) {
            *has_more = true;
            code = SQLITE_DONE;
            break;
        }
        has_memory = rows_add(&rows);
        count++;
    }
    /* Rows before an error are printed. A header without rows is not. */
    if (has_memory && (code == SQLITE_ROW || code == SQLITE_DONE || count > 0)) {
        has_memory = rows_end(&rows);
    }
    rows_release(&rows);
    *row_count += count;
    return !has_memory ? SQLITE_NOMEM : rows.is_stopped ? SQLITE_DONE : code;
}
