/* The text of a site's statement, on a line that may have several. */
#include "runtime/view/flow/flow.h"

#include <string.h>

#define STATEMENTS_MAX 64

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* The statements of a line, without surrounding blanks. */
struct statements {
    struct slice items[STATEMENTS_MAX];
    uint32_t count;
};

/* Splits a line at semicolons outside of strings and comments. */
static void split(struct slice line, struct statements *statements)
{
    char quote = '\0';
    size_t start = 0;

    statements->count = 0;
    for (size_t i = 0; i <= line.size && statements->count < STATEMENTS_MAX; i++) {
        char byte = i < line.size ? line.bytes[i] : ';';
        bool is_end = i == line.size || (quote == '\0' && (byte == ';' || byte == '#'));

        if (is_end) {
            struct slice part = slice_trim(slice_part(line, start, i));

            if (part.size > 0) {
                statements->items[statements->count++] = part;
            }
            start = i + 1;
            if (byte == '#' && i < line.size) {
                return;
            }
        } else if (quote != '\0') {
            i += byte == '\\';
            quote = byte == quote ? '\0' : quote;
        } else if (byte == '"' || byte == '\'') {
            quote = byte;
        }
    }
}

/* Whether the statement starts with the name: `name =`, `name[0] +=`, `name, b =`. */
static bool begins_with(struct slice statement, struct slice name)
{
    return slice_starts(statement, name) &&
           (statement.size == name.size || !is_word(statement.bytes[name.size]));
}

static struct slice first_name(const struct site *site)
{
    return site->write_count > 0 ? site->writes[0].name : SLICE("");
}

/* The number of earlier sites on the same line that write the same name first. */
static uint32_t rank_of(const struct site_table *table, uint32_t index)
{
    const struct site *site = &table->sites[index];
    uint32_t rank = 0;

    for (uint32_t i = index;
         i > 0 && table->sites[i - 1].line == site->line && index - i < STATEMENTS_MAX;
         i--) {
        rank += slice_equal(first_name(&table->sites[i - 1]), first_name(site));
    }
    return rank;
}

/* The statement of the site, on a line with several statements; else the whole line. */
struct slice
flow_statement(struct slice line, const struct site_table *table, uint32_t index)
{
    struct slice name = first_name(&table->sites[index]);
    struct statements statements;
    uint32_t rank;

    if (name.size == 0 || line.size == 0 ||
        memchr(line.bytes, ';', line.size) == NULL) {
        return line;
    }
    split(line, &statements);
    rank = rank_of(table, index);
    for (uint32_t i = 0; i < statements.count; i++) {
        if (begins_with(statements.items[i], name) && rank-- == 0) {
            return statements.items[i];
        }
    }
    return line;
}
