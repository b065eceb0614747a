/* The text of a site's statement: its part of a line with others, and how often it reads a name. */
#include "runtime/view/flow/build.h"

#include "runtime/site/statement_text.h"

#define STATEMENTS_MAX 64

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* ---- which statement of a line ---- */

/* The statements of a line, without the blanks around them. */
struct statements {
    struct slice items[STATEMENTS_MAX];
    uint32_t count;
};

/* Splits at semicolons outside of strings, and not in a comment. */
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

/* Whether the statement begins by giving the name a value: `name =`, `name[0] +=`, `name, b =`. */
static bool begins_with(struct slice statement, struct slice name)
{
    return slice_starts(statement, name) &&
           (statement.size == name.size || !is_word(statement.bytes[name.size]));
}

static struct slice first_name(const struct site *site)
{
    return site->write_count > 0 ? site->writes[0].name : SLICE("");
}

/* How many sites before this one on its line write the same name first. */
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

/* ---- how often a name is read ---- */

static uint32_t count_in_line(struct slice line, struct slice name)
{
    uint32_t count = 0;

    for (size_t at = statement_find_use(line, name, 0); at < line.size;
         at = statement_find_use(line, name, at + 1)) {
        count++;
    }
    return count;
}

bool flow_uses(struct flow_builder *builder,
               const struct log_event_view *event,
               uint32_t read,
               uint32_t *count)
{
    uint64_t key = number_map_key(event->site_number, read);
    struct slice name = event->site->reads[read].name;
    uint32_t line = event->site->line;
    int depth = 0;

    *count = number_map_get(&builder->uses, key);
    if (*count != NUMBER_MAP_NONE) {
        return true;
    }
    *count = 0;
    for (int i = 0; i < STATEMENT_LINES_MAX && name.size > 0; i++) {
        struct slice text =
            source_lines_get(builder->lines, event->module_number, line++);

        *count += count_in_line(text, name);
        depth += statement_depth(text);
        if (depth <= 0 && !slice_ends(text, SLICE("\\"))) {
            break;
        }
    }
    return number_map_put(&builder->uses, key, *count) || flow_out_of_memory(builder);
}
