/* What the tables of SQL are, for people. */
#include "runtime/view/sql/session.h"
#include "runtime/view/sql/tables/tables.h"
#include "runtime/view/words/paint.h"

#include <string.h>

#define NAME_WIDTH 14
#define TYPE_WIDTH 9

static void
add_table(struct buffer *text, const struct sql_table *table, bool has_color)
{
    paint_start(text, has_color, PAINT_CALL);
    buffer_add(text, slice_of(table->name));
    paint_end(text, has_color);
    buffer_add(text, SLICE(": "));
    buffer_add(text, slice_of(table->what));
    buffer_add_byte(text, '\n');
    for (int i = 0; i < table->column_count; i++) {
        const struct column_rule *column = &table->columns[i];
        const char *type = sql_column_type(column);

        buffer_add_format(text, "  %-*s", NAME_WIDTH, column->name);
        paint_start(text, has_color, PAINT_FAINT);
        buffer_add_format(text, "%-*s", TYPE_WIDTH, type[0] == '\0' ? "number" : type);
        paint_end(text, has_color);
        buffer_add(text, slice_of(column->what));
        buffer_add_byte(text, '\n');
    }
}

bool sql_schema_add(struct buffer *text, const char *name, bool has_color)
{
    bool is_found = false;

    for (int i = 0; i < SQL_TABLE_COUNT; i++) {
        if (name != NULL && sqlite3_stricmp(name, sql_tables[i]->name) != 0) {
            continue;
        }
        if (is_found) {
            buffer_add_byte(text, '\n');
        }
        add_table(text, sql_tables[i], has_color);
        is_found = true;
    }
    return is_found;
}

const char *sql_schema_name(size_t index)
{
    for (int i = 0; i < SQL_TABLE_COUNT; i++) {
        const struct sql_table *table = sql_tables[i];

        if (index == 0) {
            return table->name;
        }
        index--;
        if (index < (size_t)table->column_count) {
            return table->columns[index].name;
        }
        index -= (size_t)table->column_count;
    }
    return NULL;
}

bool sql_is_complete(const char *text)
{
    return sqlite3_complete(text) != 0;
}

bool sql_is_blank(const char *text)
{
    while (*text != '\0') {
        if (strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            text = strstr(text + 2, "*/");
            if (text == NULL) {
                return true;
            }
            text += 2;
        } else if (strchr(" \t\r\n\f;", *text) != NULL) {
            text++;
        } else {
            return false;
        }
    }
    return true;
}
