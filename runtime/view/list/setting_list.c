/* Settings of the run that recorded a trace. */
#include "runtime/view/list/setting_list.h"

#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/paint.h"

#define NAME_LIMIT  120
#define VALUE_LIMIT 1000

struct setting_list {
    struct buffer *text;
    struct slice trace;
    size_t width; /* of the column of names */
    size_t count;
    bool is_json;
};

static void add(struct setting_list *list, struct slice name, struct slice value)
{
    struct buffer *text = list->text;
    size_t start = text->size;

    list->count++;
    if (list->is_json) {
        buffer_add(text, SLICE("{\"record\":\"setting\""));
        if (list->trace.size > 0) {
            json_text_add(text, SLICE("trace"), list->trace);
        }
        json_text_add(text, SLICE("name"), name);
        json_text_add(text, SLICE("value"), value);
        buffer_add(text, SLICE("}\n"));
        return;
    }
    text_add_shortened(text, name, NAME_LIMIT);
    if (text->size - start < list->width) {
        text_add_blanks(text, list->width - (text->size - start));
    }
    buffer_add(text, SLICE("  "));
    text_add_shortened(text, value, VALUE_LIMIT);
    buffer_add_byte(text, '\n');
}

/* Adds the hash of a source, or only counts its width. Sources are no settings of the trace;
 * their hashes are in the site tables. */
static void
add_source(struct setting_list *list, const struct log_module *module, bool is_counting)
{
    struct buffer name = BUFFER_INIT;
    struct buffer hash = BUFFER_INIT;

    buffer_add(&name, SLICE("source "));
    buffer_add(&name, module->table.path);
    if (is_counting) {
        list->width = name.size > list->width ? name.size : list->width;
    } else {
        buffer_add_hex(&hash, module->table.source_hash[1], 16);
        buffer_add_hex(&hash, module->table.source_hash[0], 16);
        add(list, buffer_slice(&name), buffer_slice(&hash));
    }
    list->text->has_failed =
        list->text->has_failed || name.has_failed || hash.has_failed;
    buffer_release(&name);
    buffer_release(&hash);
}

size_t setting_list_add(struct buffer *text,
                        const struct log_reader *reader,
                        struct slice trace,
                        bool is_json)
{
    struct setting_list list = {.text = text, .trace = trace, .is_json = is_json};
    size_t count = log_reader_setting_count(reader);
    uint32_t module_count = log_reader_module_count(reader);

    for (size_t i = 0; i < count; i++) {
        size_t size = log_reader_setting(reader, i)->name.size;

        list.width = size > list.width ? size : list.width;
    }
    for (uint32_t i = 0; i < module_count; i++) {
        add_source(&list, log_reader_module(reader, i), true);
    }
    list.width = list.width < NAME_LIMIT ? list.width : NAME_LIMIT;
    for (size_t i = 0; i < count; i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);

        add(&list, setting->name, setting->value);
    }
    for (uint32_t i = 0; i < module_count; i++) {
        add_source(&list, log_reader_module(reader, i), false);
    }
    return list.count;
}
