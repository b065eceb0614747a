/* The places that a trace has records of. */
#include "runtime/view/site_list.h"

#include "runtime/view/paint.h"

#define TEXT_LIMIT 100

static void add_json(struct buffer *text,
                     const struct log_module *module,
                     uint32_t index,
                     struct slice trace)
{
    const struct site *site = &module->table.sites[index];
    struct buffer name = BUFFER_INIT;

    buffer_add(text, SLICE("{\"record\":\"site\""));
    if (trace.size > 0) {
        buffer_add(text, SLICE(",\"trace\":\""));
        text_add_json(text, trace);
        buffer_add_byte(text, '"');
    }
    buffer_add(text, SLICE(",\"site\":"));
    buffer_add_number(text, (uint64_t)module->first_site + index);
    buffer_add(text, SLICE(",\"kind\":\""));
    buffer_add(text, slice_of(site_kind_text(site->kind)));
    buffer_add(text, SLICE("\",\"file\":\""));
    text_add_json(text, module->table.path);
    buffer_add(text, SLICE("\",\"line\":"));
    buffer_add_number(text, site->line);
    buffer_add(text, SLICE(",\"column\":"));
    buffer_add_number(text, site->column);
    buffer_add(text, SLICE(",\"function\":\""));
    text_add_json(text, module->table.functions[site->function].name);
    buffer_add(text, SLICE("\",\"names\":["));
    for (uint32_t i = 0; i < site->write_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",\"") : SLICE("\""));
        text_add_json(text, site->writes[i].name);
        buffer_add_byte(text, '"');
    }
    buffer_add(text, SLICE("],\"reads\":["));
    for (uint32_t i = 0; i < site->read_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",\"") : SLICE("\""));
        text_add_json(text, site->reads[i].name);
        buffer_add_byte(text, '"');
    }
    buffer_add(text, SLICE("],\"key\":\""));
    site_add_key(&module->table, site, &name);
    text->has_failed = text->has_failed || name.has_failed;
    text_add_json(text, buffer_slice(&name));
    buffer_release(&name);
    buffer_add(text, SLICE("\"}\n"));
}

static void
add_line(struct buffer *text, const struct log_module *module, uint32_t index)
{
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
