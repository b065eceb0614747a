/* The lines of the sources in a trace. */
#include "runtime/view/walk/source_lines.h"

#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

void source_lines_init(struct source_lines *sources,
                       const struct log_reader *reader,
                       source_strip strip)
{
    *sources = (struct source_lines){.reader = reader, .strip = strip};
}

void source_lines_release(struct source_lines *sources)
{
    for (size_t i = 0; i < sources->capacity; i++) {
        buffer_release(&sources->modules[i].original);
        memory_free(sources->modules[i].starts);
        memory_free(sources->modules[i].returns);
    }
    memory_free(sources->modules);
    *sources = (struct source_lines){0};
}

/* The text to whose lines the sites refer. A source that has changed since is not shown, because
 * its lines may differ. */
static struct slice original_text(const struct source_module *known,
                                  const struct log_module *module)
{
    if (module->source_tag == LOG_SOURCE_ORIGINAL) {
        return module->source;
    }
    return buffer_slice(&known->original);
}

/* The offset after the end of the line that starts at `start`. Line ends are those of Python. */
static size_t line_end(struct slice text, size_t start)
{
    const char *feed = memchr(text.bytes + start, '\n', text.size - start);
    size_t limit = feed == NULL ? text.size : (size_t)(feed - text.bytes) + 1;
    const char *carriage = memchr(text.bytes + start, '\r', limit - start);
    size_t end = carriage == NULL ? limit : (size_t)(carriage - text.bytes) + 1;

    return carriage != NULL && end < limit && text.bytes[end] == '\n' ? end + 1 : end;
}

/* Finds the start of each line. If memory runs out, returns false, and the rest of the source
 * has no lines. */
static bool find_lines(struct source_module *known, struct slice text)
{
    size_t capacity = 0;
    void *items = NULL;

    for (size_t start = 0; start < text.size; start = line_end(text, start)) {
        if (!memory_grow(&items, &capacity, known->line_count + 1,
                         sizeof *known->starts)) {
            return false;
        }
        known->starts = items;
        known->starts[known->line_count++] = start;
    }
    return true;
}

static bool find_returns(struct source_module *known, const struct site_table *table)
{
    known->returns = memory_allocate_zeroed((size_t)table->function_count + 1, 1);
    if (known->returns == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].kind == SITE_RETURN) {
            known->returns[table->sites[i].function] = 1;
        }
    }
    return true;
}

/* The state of a module; its lines are found at the first call. NULL: out of memory. */
static struct source_module *get_module(struct source_lines *sources,
                                        const struct log_module *module,
                                        uint32_t number)
{
    struct source_module *known;
    void *items = sources->modules;

    if (!memory_grow_zeroed(&items, &sources->capacity, (size_t)number + 1,
                            sizeof *sources->modules)) {
        sources->has_failed = true;
        return NULL;
    }
    sources->modules = items;
    known = &sources->modules[number];
    if (!known->is_read) {
        known->is_read = true;
        if ((module->source_tag == LOG_SOURCE_INSTRUMENTED && sources->strip != NULL &&
             !sources->strip(module->source, &known->original)) ||
            !find_lines(known, original_text(known, module)) ||
            !find_returns(known, &module->table)) {
            sources->has_failed = true;
        }
    }
    return known;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\f' || byte == '\r' || byte == '\n';
}

struct slice source_lines_get_from(struct source_lines *sources,
                                   const struct log_module *module,
                                   uint32_t module_number,
                                   uint32_t line)
{
    const struct source_module *known = get_module(sources, module, module_number);
    struct slice text;
    size_t start;
    size_t end;

    if (known == NULL || line == 0 || line > known->line_count) {
        return SLICE("");
    }
    text = original_text(known, module);
    start = known->starts[line - 1];
    end = line < known->line_count ? known->starts[line] : text.size;
    while (start < end && is_blank(text.bytes[start])) {
        start++;
    }
    while (end > start && is_blank(text.bytes[end - 1])) {
        end--;
    }
    return slice_part(text, start, end);
}

struct slice
source_lines_get(struct source_lines *sources, uint32_t module_number, uint32_t line)
{
    return source_lines_get_from(sources,
                                 log_reader_module(sources->reader, module_number),
                                 module_number, line);
}

struct slice source_lines_get_statement(struct source_lines *sources,
                                        uint32_t module_number,
                                        uint32_t line,
                                        uint32_t column)
{
    struct slice text = source_lines_get(sources, module_number, line);
    const struct source_module *known;
    struct slice whole;
    size_t offset, before;
    uint32_t code;

    if (text.size == 0 || column < 2) {
        return text;
    }
    known = &sources->modules[module_number];
    whole = original_text(known, log_reader_module(sources->reader, module_number));
    offset = known->starts[line - 1];
    for (uint32_t i = 1; i < column && offset < whole.size; i++) {
        offset += utf8_read(whole, offset, &code);
    }
    before = offset;
    while (before > 0 && is_blank(whole.bytes[before - 1])) {
        before--;
    }
    if (whole.bytes + before <= text.bytes ||
        whole.bytes + offset >= text.bytes + text.size ||
        (whole.bytes[before - 1] != ':' && whole.bytes[before - 1] != ';')) {
        return text;
    }
    return slice_part(text, (size_t)(whole.bytes + offset - text.bytes), text.size);
}

struct slice source_lines_text(struct source_lines *sources, uint32_t module_number)
{
    const struct log_module *module = log_reader_module(sources->reader, module_number);
    const struct source_module *known = get_module(sources, module, module_number);

    return known == NULL ? SLICE("") : original_text(known, module);
}

bool source_lines_has_return(struct source_lines *sources,
                             uint32_t module_number,
                             uint32_t function)
{
    const struct source_module *known = get_module(
        sources, log_reader_module(sources->reader, module_number), module_number);

    return known != NULL && known->returns != NULL && known->returns[function] != 0;
}
