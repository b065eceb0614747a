/* The values of a statement's rows as text, for programs. */
#include "runtime/view/sql/rows_text.h"

#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>

struct slice sql_text_of(sqlite3_stmt *statement, int column)
{
    /* As a blob it needs no NUL behind it, and so is not copied. */
    const char *bytes = sqlite3_column_blob(statement, column);

    return (struct slice){bytes == NULL ? "" : bytes,
                          (size_t)sqlite3_column_bytes(statement, column)};
}

void sql_blob_add(struct buffer *text, sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);

    for (int i = 0; bytes != NULL && i < size; i++) {
        buffer_add_hex(text, bytes[i], 2);
    }
}

/* Infinities are words where no quotes stand around them. */
static void add_real(struct buffer *text, double number)
{
    if (isinf(number)) {
        buffer_add(text, number < 0 ? SLICE("-Infinity") : SLICE("Infinity"));
    } else {
        real_add_exact(text, number);
    }
}

/* Each tab, end of line, backslash and control character as an escape. */
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

/* In quotes where it has to be. */
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

void sql_text_add(struct buffer *text,
                  const struct sql_print *print,
                  struct slice added)
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

void sql_value_add(struct buffer *text,
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
