/* Which parts of a container a statement reads. The site tells the container's name alone; its
 * text tells whether `parts[0]` and `d['mask']` are all that is used of it. */
#include "runtime/view/flow_build.h"

#include "runtime/base/buffer.h"

/* A statement is looked at for so many lines. */
#define LINES_MAX 30

static size_t skip_blanks(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] == ' ') {
        at++;
    }
    return at;
}

/* Reads `[12]` or `['key']` at `*at` and goes behind it; adds it as paths in traces spell it.
 * false: there is no subscript, or none that is constant. */
static bool read_subscript(struct slice text, size_t *at, struct buffer *part)
{
    size_t start = skip_blanks(text, *at);
    size_t end;
    char quote;

    if (start == text.size || text.bytes[start] != '[') {
        return false;
    }
    start = skip_blanks(text, start + 1);
    if (start == text.size) {
        return false;
    }
    quote = text.bytes[start];
    end = start + 1;
    if (quote == '\'' || quote == '"') {
        while (end < text.size && text.bytes[end] != quote && text.bytes[end] != '\\') {
            end++;
        }
        if (end == text.size || text.bytes[end] != quote) {
            return false;
        }
        start++;
    } else if (quote >= '0' && quote <= '9') {
        while (end < text.size && text.bytes[end] >= '0' && text.bytes[end] <= '9') {
            end++;
        }
        quote = '\0';
    } else {
        return false;
    }
    *at = skip_blanks(text, end + (quote != '\0'));
    if (*at == text.size || text.bytes[*at] != ']') {
        return false;
    }
    ++*at;
    buffer_add(part, quote != '\0' ? SLICE("['") : SLICE("["));
    buffer_add(part, slice_part(text, start, end));
    buffer_add(part, quote != '\0' ? SLICE("']") : SLICE("]"));
    return true;
}

/* The subscripts behind one use of the name. false: it is used as a whole. */
static bool read_part(struct slice text, size_t at, struct buffer *part)
{
    part->size = 0;
    while (read_subscript(text, &at, part)) {}
    return part->size > 0 && !part->has_failed;
}

void flow_statement_add(struct flow_builder *builder,
                        const struct site *site,
                        struct buffer *text)
{
    uint32_t module = builder->calls[builder->visit.call].module;
    const struct log_module *known = builder->modules[module].module;
    uint32_t line = site->line;
    int depth = 0;

    for (int i = 0; i < LINES_MAX; i++) {
        struct slice added = source_lines_get(builder->lines, module, line++);

        if (i == 0) {
            added = flow_statement(added, &known->table,
                                   builder->visit.site - known->first_site);
        }
        buffer_add(text, added);
        buffer_add_byte(text, ' ');
        depth += flow_bracket_depth(added);
        if (depth <= 0 && !slice_ends(added, SLICE("\\"))) {
            return;
        }
    }
    text->size = 0; /* too long to be sure of */
}

static bool find_parts(struct flow_builder *builder,
                       const struct site *site,
                       struct slice name,
                       struct flow_parts *parts)
{
    struct buffer text = BUFFER_INIT;
    struct buffer part = BUFFER_INIT;
    struct slice whole;
    bool is_done = true;

    flow_statement_add(builder, site, &text);
    whole = buffer_slice(&text);
    for (size_t at = flow_find_use(whole, name, 0); at < whole.size && is_done;
         at = flow_find_use(whole, name, at + 1)) {
        if (parts->count == FLOW_PARTS_MAX ||
            !read_part(whole, at + name.size, &part)) {
            parts->count = 0;
            break;
        }
        is_done = flow_text(builder, buffer_slice(&part), &parts->texts[parts->count]);
        parts->count += is_done;
    }
    is_done = is_done && !text.has_failed && !part.has_failed;
    buffer_release(&text);
    buffer_release(&part);
    return is_done || flow_out_of_memory(builder);
}

bool flow_parts_of(struct flow_builder *builder,
                   const struct site *site,
                   uint32_t read,
                   const struct flow_parts **parts)
{
    uint64_t key = number_map_key(builder->visit.site, read);
    uint32_t known = number_map_get(&builder->part_index, key);
    void *items = builder->parts;

    if (known == NUMBER_MAP_NONE) {
        known = builder->part_count;
        if (!flow_grow(builder, &items, &builder->part_capacity, known,
                       sizeof *builder->parts)) {
            return false;
        }
        builder->parts = items;
        builder->parts[known] = (struct flow_parts){0};
        if (!find_parts(builder, site, site->reads[read].name,
                        &builder->parts[known])) {
            return false;
        }
        if (!number_map_put(&builder->part_index, key, known)) {
            return flow_out_of_memory(builder);
        }
        builder->part_count++;
    }
    *parts = &builder->parts[known];
    return true;
}

bool flow_is_part(const struct flow_builder *builder,
                  const struct flow_parts *parts,
                  uint32_t path)
{
    struct slice leaf = builder->texts.texts[path];

    for (uint32_t i = 0; i < parts->count; i++) {
        struct slice part = builder->texts.texts[parts->texts[i]];

        if (slice_starts(leaf, part) || slice_starts(part, leaf)) {
            return true;
        }
    }
    return parts->count == 0;
}
