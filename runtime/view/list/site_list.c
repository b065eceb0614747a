/* Sites of a trace. */
#include "runtime/view/list/site_list.h"

#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/paint.h"

#include <assert.h>

#define TEXT_LIMIT 100

static void add_name(struct buffer *text, struct slice name, bool is_first)
{
    buffer_add(text, is_first ? SLICE("\"") : SLICE(",\""));
    text_add_json(text, name);
    buffer_add_byte(text, '"');
}

static void add_names(struct buffer *text, const struct site *site)
{
    json_key_add(text, SLICE("names"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < site->write_count; i++) {
        add_name(text, site->writes[i].name, i == 0);
    }
    buffer_add_byte(text, ']');
    json_key_add(text, SLICE("reads"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < site->read_count; i++) {
        add_name(text, site->reads[i].name, i == 0);
    }
    buffer_add_byte(text, ']');
}

static void add_json(struct buffer *text,
                     const struct log_module *module,
                     uint32_t index,
                     struct slice trace)
{
    const struct site_table *table = &module->table;
    const struct site *site = &table->sites[index];
    struct buffer key = BUFFER_INIT;

    assert(index < table->site_count);
    buffer_add(text, SLICE("{\"record\":\"site\""));
    if (trace.size > 0) {
        json_text_add(text, SLICE("trace"), trace);
    }
    json_number_add(text, SLICE("site"), (uint64_t)module->first_site + index);
    json_text_add(text, SLICE("kind"), slice_of(site_kind_text(site->kind)));
    json_text_add(text, SLICE("file"), table->path);
    json_number_add(text, SLICE("line"), site->line);
    json_number_add(text, SLICE("column"), site->column);
    json_text_add(text, SLICE("function"), table->functions[site->function].name);
    add_names(text, site);
    site_add_key(table, site, &key);
    text->has_failed = text->has_failed || key.has_failed;
    json_text_add(text, SLICE("key"), buffer_slice(&key));
    buffer_release(&key);
    buffer_add(text, SLICE("}\n"));
}

static void
add_line(struct buffer *text, const struct log_module *module, uint32_t index)
{
    assert(index < module->table.site_count);

    const struct site *site = &module->table.sites[index];

    text_add_shortened(text, module->table.path, TEXT_LIMIT);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->line);
    buffer_add_byte(text, ':');
    buffer_add_number(text, site->column);
    buffer_add(text, SLICE("  "));
    buffer_add(text, slice_of(site_kind_text(site->kind)));
    buffer_add(text, SLICE("  "));
    text_add_shortened(text, module->table.functions[site->function].name, TEXT_LIMIT);
    for (uint32_t i = 0; i < site->write_count; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE("  "));
        text_add_shortened(text, site->writes[i].name, TEXT_LIMIT);
    }
    buffer_add_byte(text, '\n');
}

void site_list_add(struct buffer *text,
                   const struct log_module *module,
                   uint32_t index,
                   struct slice trace,
                   bool is_json)
{
    if (is_json) {
        add_json(text, module, index, trace);
    } else {
        add_line(text, module, index);
    }
}
