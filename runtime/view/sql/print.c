/* Printing the rows of a statement as they come. */
#include "runtime/view/sql/print.h"

#include "runtime/base/buffer.h"
#include "runtime/base/file/output.h"
#include "runtime/view/sql/layout.h"
#include "runtime/view/sql/rows_text.h"

#include <string.h>

struct rows {
    const struct sql_print *print; /* borrowed */
    sqlite3_stmt *statement;       /* borrowed */
    int column_count;
    struct sql_layout layout; /* owned; of a TABLE */
    struct buffer names;      /* owned; what stands before each value of JSON */
    struct buffer text;       /* owned; what is not written yet */
    bool is_stopped;          /* nobody reads it any more */
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
    /* The rows before an error are printed all the same; a heading alone is not. */
    if (has_memory && (code == SQLITE_ROW || code == SQLITE_DONE || count > 0)) {
        has_memory = rows_end(&rows);
    }
    rows_release(&rows);
    *row_count += count;
    return !has_memory ? SQLITE_NOMEM : rows.is_stopped ? SQLITE_DONE : code;
}
