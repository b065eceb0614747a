/* Which parts of a container a statement reads. The site tells the container's name alone; its
 * text tells whether `parts[0]` and `d['mask']` are all that is used of it. */
#include "runtime/view/flow/build.h"

#include "runtime/base/buffer.h"
#include "runtime/site/statement_text.h"

static size_t skip_blanks(struct slice text, size_t at)
{
    while (at < text.size && text.bytes[at] == ' ') {
        at++;
    }
    return at;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '_' || (unsigned char)byte >= 0x80;
}

static size_t skip_word(struct slice text, size_t at)
{
    while (at < text.size && (is_letter(text.bytes[at]) || is_digit(text.bytes[at]))) {
        at++;
    }
    return at;
}

/* Where the subscript that begins at `start`, behind its bracket, ends: a text in quotes, a whole
 * number, or a name. `start` if it is nothing of these. */
static size_t skip_subscript(struct slice text, size_t start)
{
    char first = text.bytes[start];
    size_t at = start + 1;

    if (first == '\'' || first == '"') {
        while (at < text.size && text.bytes[at] != first && text.bytes[at] != '\\') {
            at++;
        }
        return at < text.size && text.bytes[at] == first ? at + 1 : start;
    }
    if (is_letter(first)) {
        return skip_word(text, at);
    }
    if (first == '-') {
        start = at;
    }
    at = start;
    while (at < text.size && is_digit(text.bytes[at])) {
        at++;
    }
    return at > start ? at : start - (first == '-');
}

static void add_subscript(struct slice found, struct buffer *part)
{
    buffer_add_byte(part, '[');
    if (found.bytes[0] == '"' || found.bytes[0] == '\'') {
        buffer_add_byte(part, '\'');
        buffer_add(part, slice_part(found, 1, found.size - 1));
        buffer_add_byte(part, '\'');
    } else {
        buffer_add(part, is_letter(found.bytes[0]) ? SLICE("$") : SLICE(""));
        buffer_add(part, found);
    }
    buffer_add_byte(part, ']');
}

/* Reads `[12]`, `['key']`, `[-1]` or `[name]` at `*at` and goes behind it; adds it as paths in
 * traces spell it, a name as `[$name]`. false: there is no subscript, or another one. */
static bool read_subscript(struct slice text, size_t *at, struct buffer *part)
{
    size_t start = skip_blanks(text, *at);
    size_t end;
    struct slice found;

    if (start >= text.size || text.bytes[start] != '[') {
        return false;
    }
    start = skip_blanks(text, start + 1);
    end = start < text.size ? skip_subscript(text, start) : start;
    found = slice_part(text, start, end);
    end = skip_blanks(text, end);
    if (found.size == 0 || end >= text.size || text.bytes[end] != ']') {
        return false;
    }
    *at = end + 1;
    add_subscript(found, part);
    return true;
}
/* Reads `.pop()`, `.pop(1)`, `.pop('key', None)` or `.popleft()`: adds the part that it takes out.
 * false: it is nothing of these. */
static bool read_pop(struct slice text, size_t at, struct buffer *part)
{
    struct slice rest = slice_part(text, at, text.size);
    size_t end;

    part->size = 0;
    if (slice_starts(rest, SLICE(".popleft()"))) {
        buffer_add(part, SLICE("[0]"));
        return true;
    }
    if (slice_starts(rest, SLICE(".pop()"))) {
        buffer_add(part, SLICE("[-1]"));
        return true;
    }
    if (!slice_starts(rest, SLICE(".pop(")) || rest.size == 5) {
        return false;
    }
    end = skip_subscript(rest, 5);
    if (end == 5 || end >= rest.size || memchr("),", rest.bytes[end], 2) == NULL) {
        return false;
    }
    add_subscript(slice_part(rest, 5, end), part);
    return true;
}

/* Whether all of the statement is done once, or none of it. */
static bool is_done_once(struct slice text)
{
    static const char *const words[] = {" if ",  " and ",  " or ",
                                        " for ", "lambda", "while "};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_find(text, slice_of(words[i]), 0) < text.size) {
            return false;
        }
    }
    return !slice_starts(text, SLICE("for "));
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

    for (int i = 0; i < STATEMENT_LINES_MAX; i++) {
        struct slice added = source_lines_get(builder->lines, module, line++);

        if (i == 0) {
            added = flow_statement(added, &known->table,
                                   builder->visit.site - known->first_site);
        }
        buffer_add(text, added);
        buffer_add_byte(text, ' ');
        depth += statement_depth(added);
        if (depth <= 0 && !slice_ends(added, SLICE("\\"))) {
            return;
        }
    }
    text->size = 0; /* too long to be sure of */
}

/* Whether `at` is where a statement ends what it writes to: `=` or `+=`, and not `==`. */
static bool is_assigned_at(struct slice text, size_t at)
{
    at = skip_blanks(text, at);
    while (at < text.size && memchr("+-*/%&|^@<>", text.bytes[at], 11) != NULL) {
        at++;
    }
    return at < text.size && text.bytes[at] == '=' &&
           !(at + 1 < text.size && text.bytes[at + 1] == '=');
}

/* Whether the statement begins by writing to the container that has the name, or to what is in
 * it: `parts.append(`, `parts[i] = `, `parts += `. */
static bool is_receiver(struct slice text, struct slice name, const struct site *site)
{
    size_t at = name.size;

    if (!slice_starts(text, name) || site->write_count == 0 ||
        !slice_equal(site->writes[0].name, name)) {
        return false;
    }
    if (is_assigned_at(text, at)) {
        return text.bytes[skip_blanks(text, at)] != '=';
    }
    return site->kind == SITE_MUTATE;
}

static bool find_parts(struct flow_builder *builder,
                       const struct site *site,
                       struct slice name,
                       struct flow_parts *parts)
{
    struct buffer text = BUFFER_INIT;
    struct buffer part = BUFFER_INIT;
    struct slice whole;
    size_t at;
    bool is_done = true;
    bool is_pop;

    flow_statement_add(builder, site, &text);
    whole = slice_trim(buffer_slice(&text));
    parts->is_unused = is_receiver(whole, name, site);
    at = statement_find_use(whole, name, parts->is_unused ? name.size : 0);
    for (; at < whole.size && is_done; at = statement_find_use(whole, name, at + 1)) {
        parts->is_unused = false;
        is_pop = !parts->is_used && read_pop(whole, at + name.size, &part);
        if (parts->count == FLOW_PARTS_MAX ||
            (!is_pop && !read_part(whole, at + name.size, &part))) {
            parts->count = 0;
            break;
        }
        parts->is_used = is_pop;
        is_done = flow_text(builder, buffer_slice(&part), &parts->texts[parts->count]);
        parts->count += is_done;
    }
    parts->is_used = parts->is_used && parts->count == 1 && is_done_once(whole);
    is_done = is_done && !text.has_failed && !part.has_failed;
    buffer_release(&text);
    buffer_release(&part);
    return is_done || flow_out_of_memory(builder);
}

static bool known_parts(struct flow_builder *builder,
                        const struct site *site,
                        uint32_t read,
                        struct flow_parts *parts)
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
    *parts = builder->parts[known];
    return true;
}

/* ---- subscripts that are computed ---- */

/* Whether visits were left out of a site of the module that writes the name: what it holds is not
 * known then. */
static bool is_left_out(const struct flow_builder *builder, struct slice name)
{
    uint32_t number = builder->calls[builder->visit.call].module;
    const struct log_module *module = builder->modules[number].module;
    size_t count = log_reader_left_out_count(builder->reader);

    for (size_t i = 0; i < count; i++) {
        uint32_t site =
            log_reader_left_out(builder->reader, i)->site - module->first_site;
        const struct site *known = &module->table.sites[site];

        for (uint32_t k = 0; site < module->table.site_count && k < known->write_count;
             k++) {
            if (slice_equal(known->writes[k].name, name)) {
                return true;
            }
        }
    }
    return log_reader_header(builder->reader)->last != 0;
}

/* Adds the path that the name leads to as a subscript; nothing where its value is not known. */
static void add_value_of(const struct flow_builder *builder,
                         const struct site *site,
                         struct slice name,
                         struct buffer *path)
{
    uint32_t found = FLOW_NONE;
    const struct flow_binding *binding;

    for (uint32_t i = 0; i < site->read_count && found == FLOW_NONE; i++) {
        struct flow_place place;

        if (slice_equal(site->reads[i].name, name)) {
            flow_find_place(builder, builder->visit.call, site->reads[i].scope, name,
                            &place);
            found = flow_find_at(builder, &place);
        }
    }
    if (found == FLOW_NONE || is_left_out(builder, name)) {
        return;
    }
    binding = &builder->bindings[found];
    if (binding->subscript == FLOW_SUBSCRIPT_TEXT) {
        buffer_add(path, SLICE("['"));
        buffer_add(path, builder->texts.texts[binding->number]);
        buffer_add(path, SLICE("']"));
    } else if (binding->subscript == FLOW_SUBSCRIPT_NUMBER) {
        buffer_add_byte(path, '[');
        buffer_add_number(path, binding->number);
        buffer_add_byte(path, ']');
    }
}

/* `[-1]` of a container of that length; false where it has no such item. */
static bool add_from_end(struct slice subscript, uint32_t length, struct buffer *path)
{
    uint64_t back = 0;

    for (size_t i = 2; i + 1 < subscript.size && back < UINT32_MAX; i++) {
        back = back * 10 + (uint64_t)(subscript.bytes[i] - '0');
    }
    if (length == FLOW_NONE || back == 0 || back > length) {
        return false;
    }
    buffer_add_byte(path, '[');
    buffer_add_number(path, length - back);
    buffer_add_byte(path, ']');
    return true;
}

static size_t find_end(struct slice part)
{
    size_t end = slice_find(part, SLICE("]"), 0);

    return part.size > 1 && part.bytes[1] == '\'' ? slice_find(part, SLICE("']"), 2) + 2
                                                  : end + 1;
}

/* The part as far as its subscripts are known. */
static void add_resolved(const struct flow_builder *builder,
                         const struct site *site,
                         uint32_t content,
                         struct slice part,
                         struct buffer *path)
{
    while (part.size > 0) {
        size_t end = find_end(part);
        struct slice subscript = slice_part(part, 0, end < part.size ? end : part.size);
        size_t before = path->size;

        if (slice_starts(subscript, SLICE("[$"))) {
            add_value_of(builder, site, slice_part(subscript, 2, subscript.size - 1),
                         path);
        } else if (!slice_starts(subscript, SLICE("[-"))) {
            buffer_add(path, subscript);
        } else if (before > 0 ||
                   !add_from_end(subscript, builder->contents[content].length, path)) {
            return;
        }
        if (path->size == before) {
            return;
        }
        part = slice_part(part, subscript.size, part.size);
    }
}

/* What of the container the visit's statement reads. */
bool flow_parts_of(struct flow_builder *builder,
                   const struct site *site,
                   uint32_t read,
                   uint32_t content,
                   struct flow_parts *parts)
{
    struct buffer path = BUFFER_INIT;
    bool is_done;

    if (!known_parts(builder, site, read, parts)) {
        return false;
    }
    is_done = true;
    for (uint32_t i = 0; i < parts->count && is_done; i++) {
        path.size = 0;
        add_resolved(builder, site, content, builder->texts.texts[parts->texts[i]],
                     &path);
        is_done = !path.has_failed &&
                  flow_text(builder, buffer_slice(&path), &parts->texts[i]);
    }
    buffer_release(&path);
    return is_done || flow_out_of_memory(builder);
}

/* ---- names that are subscripts ---- */

bool flow_note_subscript(struct flow_builder *builder,
                         uint32_t index,
                         const struct log_event_view *event)
{
    uint32_t number = 0;

    if (event->path.size > 0) {
        return true;
    }
    if (event->kind == VALUE_TEXT && event->text.size == (uint64_t)event->integer) {
        if (!flow_text(builder, event->text, &number)) {
            return false;
        }
        builder->bindings[index].subscript = FLOW_SUBSCRIPT_TEXT;
        builder->bindings[index].number = number;
    } else if (event->kind == VALUE_INT && event->integer >= 0 &&
               event->integer <= UINT32_MAX) {
        builder->bindings[index].subscript = FLOW_SUBSCRIPT_NUMBER;
        builder->bindings[index].number = (uint32_t)event->integer;
    }
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
