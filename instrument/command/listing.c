/* Listings of the sites of a file, for people and as JSON. */
#include "instrument/command/listing.h"

#include "runtime/base/utf8.h"

#include <assert.h>

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define CYAN   "\033[36m"
#define NORMAL "\033[0m"

/* ---- for people ---- */

enum column {
    COLUMN_PLACE,
    COLUMN_KIND,
    COLUMN_FUNCTION,
    COLUMN_NAMES,
    COLUMN_KEY,
    COLUMN_COUNT
};

/* The maximum width of each column. Wider text extends past its column. */
static const size_t column_limits[COLUMN_COUNT] = {48, 8, 32, 40, 0};
static const char *const column_colors[COLUMN_COUNT] = {BOLD, CYAN, "", "", DIM};

static void add_names(const struct site *site, struct buffer *text)
{
    for (uint32_t i = 0; i < site->write_count; i++) {
        if (i > 0) {
            buffer_add(text, SLICE(", "));
        }
        buffer_add_printable(text, site->writes[i].name);
    }
    if (site->kind == SITE_BRANCH) {
        buffer_add_format(text, "%sarm %u", site->write_count > 0 ? ", " : "",
                          site->arm);
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        bool is_start = i == 0 && site->write_count == 0 && site->kind != SITE_BRANCH;

        buffer_add(text, i > 0 ? SLICE(", ") : is_start ? SLICE("<- ") : SLICE(" <- "));
        buffer_add_printable(text, site->reads[i].name);
    }
}

static void add_cell(const struct site_table *table,
                     const struct site *site,
                     const char *path,
                     enum column column,
                     struct buffer *text)
{
    struct buffer key = BUFFER_INIT;

    switch (column) {
    case COLUMN_PLACE:
        buffer_add_printable(text, slice_of(path));
        buffer_add_format(text, ":%u:%u", site->line, site->column);
        break;
    case COLUMN_KIND:
        buffer_add(text, slice_of(site_kind_text(site->kind)));
        break;
    case COLUMN_FUNCTION:
        if (site->function < table->function_count) {
            buffer_add_printable(text, table->functions[site->function].name);
        }
        break;
    case COLUMN_NAMES:
        add_names(site, text);
        break;
    default:
        site_add_key(table, site, &key);
        buffer_add_printable(text, buffer_slice(&key));
        text->has_failed |= key.has_failed;
        buffer_release(&key);
        break;
    }
}

/* The width of the text after `start`, in characters. */
static size_t width_from(const struct buffer *text, size_t start)
{
    return text->size > start
               ? utf8_count(slice_part(buffer_slice(text), start, text->size))
               : 0;
}

/* Returns false if out of memory. */
static bool
measure(const struct site_table *table, const char *path, size_t widths[COLUMN_COUNT])
{
    struct buffer cell = BUFFER_INIT;
    bool is_measured;

    for (int column = 0; column < COLUMN_COUNT; column++) {
        widths[column] = 0;
        for (uint32_t i = 0; i < table->site_count && column != COLUMN_KEY; i++) {
            size_t width;

            cell.size = 0;
            add_cell(table, &table->sites[i], path, (enum column)column, &cell);
            width = width_from(&cell, 0);
            if (width > widths[column] && width <= column_limits[column]) {
                widths[column] = width;
            }
        }
    }
    is_measured = !cell.has_failed;
    buffer_release(&cell);
    return is_measured;
}

void listing_add_text(const struct site_table *table,
                      const char *path,
                      bool has_color,
                      struct buffer *text)
{
    size_t widths[COLUMN_COUNT];

    if (!measure(table, path, widths)) {
        text->has_failed = true;
        return;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        for (int column = 0; column < COLUMN_COUNT; column++) {
            bool is_colored = has_color && column_colors[column][0] != '\0';
            size_t start;

            if (is_colored) {
                buffer_add(text, slice_of(column_colors[column]));
            }
            start = text->size;
            add_cell(table, &table->sites[i], path, (enum column)column, text);
            for (size_t width = width_from(text, start); width < widths[column];
                 width++) {
                buffer_add_byte(text, ' ');
            }
            if (is_colored) {
                buffer_add(text, SLICE(NORMAL));
            }
            buffer_add(text, column == COLUMN_KEY ? SLICE("\n") : SLICE("  "));
        }
    }
}

/* ---- for programs ---- */

/* Adds `"name":"text"`, after a comma unless it is the first of an object. */
static void add_text_field(struct buffer *text, const char *name, struct slice value)
{
    if (text->size > 0 && text->bytes[text->size - 1] != '{') {
        buffer_add_byte(text, ',');
    }
    buffer_add_format(text, "\"%s\":\"", name);
    buffer_add_json(text, value);
    buffer_add_byte(text, '"');
}

static void add_number_field(struct buffer *text, const char *name, uint64_t value)
{
    if (text->size > 0 && text->bytes[text->size - 1] != '{') {
        buffer_add_byte(text, ',');
    }
    buffer_add_format(text, "\"%s\":%llu", name, (unsigned long long)value);
}

static void add_functions(const struct site_table *table, struct buffer *text)
{
    buffer_add(text, SLICE(",\"functions\":["));
    for (uint32_t i = 0; i < table->function_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",{") : SLICE("{"));
        add_text_field(text, "name", table->functions[i].name);
        add_number_field(text, "line", table->functions[i].line);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

static void add_bindings(const struct site *site, struct buffer *text)
{
    static const char *const sources[] = {"value", "peek", "none"};
    static const char *const scopes[] = {"local", "free", "global"};

    buffer_add(text, SLICE(",\"writes\":["));
    for (uint32_t i = 0; i < site->write_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",{") : SLICE("{"));
        add_text_field(text, "name", site->writes[i].name);
        add_text_field(text, "source", slice_of(sources[site->writes[i].source]));
        buffer_add_byte(text, '}');
    }
    buffer_add(text, SLICE("],\"reads\":["));
    for (uint32_t i = 0; i < site->read_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",{") : SLICE("{"));
        add_text_field(text, "name", site->reads[i].name);
        add_text_field(text, "scope", slice_of(scopes[site->reads[i].scope]));
        if (site->reads[i].site != SITE_NONE) {
            add_number_field(text, "site", site->reads[i].site);
        }
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

static void add_key_field(const struct site_table *table,
                          const struct site *site,
                          struct buffer *text)
{
    struct buffer key = BUFFER_INIT;

    site_add_key(table, site, &key);
    add_text_field(text, "key", buffer_slice(&key));
    text->has_failed |= key.has_failed;
    buffer_release(&key);
}

static void add_site(const struct site_table *table, uint32_t id, struct buffer *text)
{
    assert(id < table->site_count);

    const struct site *site = &table->sites[id];

    buffer_add_byte(text, '{');
    add_number_field(text, "id", id);
    add_text_field(text, "kind", slice_of(site_kind_text(site->kind)));
    add_number_field(text, "line", site->line);
    add_number_field(text, "column", site->column);
    add_number_field(text, "function", site->function);
    add_number_field(text, "ordinal", site->ordinal);
    if (site->kind == SITE_BRANCH) {
        add_number_field(text, "arm", site->arm);
    }
    if (site->has_condition) {
        buffer_add_format(text, ",\"condition\":\"%08x\"", site->condition);
    }
    if (site->repeats) {
        buffer_add(text, SLICE(",\"repeats\":true"));
    }
    add_bindings(site, text);
    add_key_field(table, site, text);
    buffer_add_byte(text, '}');
}

static void add_notes(const struct note *notes, size_t note_count, struct buffer *text)
{
    buffer_add(text, SLICE(",\"notes\":["));
    for (size_t i = 0; i < note_count; i++) {
        bool is_warning = notes[i].kind == NOTE_WARNING;

        buffer_add(text, i > 0 ? SLICE(",{") : SLICE("{"));
        add_text_field(text, "kind", is_warning ? SLICE("warning") : SLICE("remark"));
        add_number_field(text, "line", notes[i].line);
        add_number_field(text, "column", notes[i].column);
        add_text_field(text, "text", notes[i].text);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

void listing_add_json(const struct site_table *table,
                      const char *path,
                      const struct note *notes,
                      size_t note_count,
                      struct buffer *text)
{
    buffer_add_byte(text, '{');
    add_text_field(text, "file", slice_of(path));
    add_text_field(text, "path", table->path);
    buffer_add_format(text, ",\"source_hash\":\"%016llx%016llx\"",
                      (unsigned long long)table->source_hash[1],
                      (unsigned long long)table->source_hash[0]);
    add_text_field(text, "options", table->options);
    add_functions(table, text);
    buffer_add(text, SLICE(",\"sites\":["));
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (i > 0) {
            buffer_add_byte(text, ',');
        }
        add_site(table, i, text);
    }
    buffer_add_byte(text, ']');
    add_notes(notes, note_count, text);
    buffer_add(text, SLICE("}\n"));
}
