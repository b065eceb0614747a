/* The table `sites`: the places of the source where something was recorded. */
#include "runtime/view/sql/tables/row_tables.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/paint.h"

enum column {
    COLUMN_TRACE,
    COLUMN_SITE,
    COLUMN_KIND,
    COLUMN_FILE,
    COLUMN_LINE,
    COLUMN_COLUMN,
    COLUMN_FUNCTION,
    COLUMN_NAMES,
    COLUMN_READS,
    COLUMN_KEY,
    COLUMN_CODE,
    COLUMN_COUNT
};

static const struct column_rule columns[COLUMN_COUNT] = {
    {"trace", COLUMN_FORM_TEXT, "the trace's file name"},
    {"site", COLUMN_FORM_INTEGER, "number of the site"},
    {"kind", COLUMN_FORM_TEXT,
     "enter, assign, mutate, loop, branch, return, spy, line"},
    {"file", COLUMN_FORM_TEXT, "source file"},
    {"line", COLUMN_FORM_INTEGER, "line in it"},
    {"column", COLUMN_FORM_INTEGER, "character of the line, from 1"},
    {"function", COLUMN_FORM_TEXT, "qualified name of the function"},
    {"names", COLUMN_FORM_TEXTS, "JSON: the names that it writes"},
    {"reads", COLUMN_FORM_TEXTS, "JSON: the names that it reads"},
    {"key", COLUMN_FORM_TEXT, "stays the same when unrelated lines are added"},
    {"code", COLUMN_FORM_TEXT, "the source line"},
};

static uint64_t guess(const struct sql_trace *trace)
{
    const struct log_reader *reader = trace->readers->reader;
    uint64_t count = 0;

    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        count += log_reader_module(reader, i)->table.site_count;
    }
    return count;
}

static size_t count_sites(const struct sql_trace *trace)
{
    return (size_t)guess(trace);
}

/* The module of the row. Most often it is the module of the previous row. */
static const struct log_module *find_module(struct sql_trace *trace, size_t row)
{
    const struct log_reader *reader = trace->readers->reader;
    const struct log_module *module;

    if (row < trace->sites_before) {
        trace->site_module = 0;
        trace->sites_before = 0;
    }
    module = log_reader_module(reader, trace->site_module);
    while (row - trace->sites_before >= module->table.site_count) {
        trace->sites_before += module->table.site_count;
        module = log_reader_module(reader, ++trace->site_module);
    }
    return module;
}

static void
find(const struct sql_trace *trace, uint64_t number, size_t *first, size_t *end)
{
    const struct log_reader *reader = trace->readers->reader;
    size_t before = 0;

    *first = *end = 0;
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if (number >= module->first_site &&
            number - module->first_site < module->table.site_count) {
            *first = before + (size_t)(number - module->first_site);
            *end = *first + 1;
            return;
        }
        before += module->table.site_count;
    }
}

static void add_name(struct buffer *text, struct slice name, bool is_first)
{
    buffer_add(text, is_first ? SLICE("\"") : SLICE(",\""));
    text_add_json(text, name);
    buffer_add_byte(text, '"');
}

static void add_names(struct buffer *text, const struct site *site)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < site->write_count; i++) {
        add_name(text, site->writes[i].name, i == 0);
    }
    buffer_add_byte(text, ']');
}

static void add_reads(struct buffer *text, const struct site *site)
{
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < site->read_count; i++) {
        add_name(text, site->reads[i].name, i == 0);
    }
    buffer_add_byte(text, ']');
}

static void get_code(struct sql_trace *trace,
                     uint32_t line,
                     struct buffer *scratch,
                     struct column_value *value)
{
    struct slice code = source_lines_get(&trace->sources, trace->site_module, line);

    scratch->has_failed = scratch->has_failed || trace->sources.has_failed;
    if (code.size > 0) {
        buffer_add(scratch, code);
        sql_value_set_text(value, buffer_slice(scratch));
    }
}

static void get(struct sql_trace *trace,
                size_t row,
                int column,
                struct buffer *scratch,
                struct column_value *value)
{
    const struct log_module *module = find_module(trace, row);
    const struct site_table *table = &module->table;
    size_t index = row - trace->sites_before;
    const struct site *site = &table->sites[index];

    switch (column) {
    case COLUMN_SITE:
        sql_value_set_number(value, (uint64_t)module->first_site + index);
        break;
    case COLUMN_KIND:
        sql_value_set_text(value, slice_of(site_kind_text(site->kind)));
        break;
    case COLUMN_FILE:
        sql_value_set_text(value, table->path);
        break;
    case COLUMN_LINE:
        sql_value_set_number(value, site->line);
        break;
    case COLUMN_COLUMN:
        sql_value_set_number(value, site->column);
        break;
    case COLUMN_FUNCTION:
        sql_value_set_text(value, table->functions[site->function].name);
        break;
    case COLUMN_NAMES:
        add_names(scratch, site);
        sql_value_set_text(value, buffer_slice(scratch));
        break;
    case COLUMN_READS:
        add_reads(scratch, site);
        sql_value_set_text(value, buffer_slice(scratch));
        break;
    case COLUMN_KEY:
        site_add_key(table, site, scratch);
        sql_value_set_text(value, buffer_slice(scratch));
        break;
    default:
        get_code(trace, site->line, scratch, value);
    }
}

const struct sql_rows sql_sites_rows = {
    .table = {"sites", "places of the source where something was recorded", columns,
              COLUMN_COUNT},
    .keys = {{.column = COLUMN_SITE, .is_unique = true, .find = find}},
    .key_count = 1,
    .guess = guess,
    .count = count_sites,
    .get = get,
};
