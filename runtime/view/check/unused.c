/* Values that nothing reads: found in the text of the functions that ran. */
#include "runtime/view/check/check.h"

#include "runtime/site/statement_text.h"

#define BODY_LINES_MAX 20000

/* ---- the text of a function ---- */

/* Where a function's text is: lines `body` to `end`, without `end`. */
struct body {
    uint32_t module;
    uint32_t def;
    uint32_t body;
    uint32_t end;
};

static const char *line_start(struct slice text, const char *source)
{
    const char *start = text.bytes;

    while (start > source && start[-1] != '\n' && start[-1] != '\r') {
        start--;
    }
    return start;
}

/* How far a line is indented; the text is trimmed, so it is looked for in front of it. */
static size_t indentation(struct check *check, uint32_t module, struct slice line)
{
    const struct log_module *known = log_reader_module(check->reader, module);
    const struct source_module *source = &check->sources->modules[module];
    struct slice text = known->source_tag == LOG_SOURCE_ORIGINAL
                            ? known->source
                            : buffer_slice(&source->original);

    return (size_t)(line.bytes - line_start(line, text.bytes));
}

static uint32_t line_count(const struct check *check, uint32_t module)
{
    return module < check->sources->capacity
               ? (uint32_t)check->sources->modules[module].line_count
               : 0;
}

/* false where the text is not in the trace. */
static bool
find_body(struct check *check, uint32_t module, uint32_t def, struct body *body)
{
    struct slice line = source_lines_get(check->sources, module, def);
    uint32_t lines = line_count(check, module);
    size_t indent;
    int depth = 0;

    if (line.size == 0 || (!slice_starts(line, SLICE("def ")) &&
                           !slice_starts(line, SLICE("async def ")))) {
        return false;
    }
    indent = indentation(check, module, line);
    *body = (struct body){module, def, def, lines + 1};
    for (;; body->body++) {
        line = source_lines_get(check->sources, module, body->body);
        depth += statement_depth(line);
        if (depth <= 0 || body->body >= lines || body->body > def + 200) {
            break;
        }
    }
    body->body++;
    for (uint32_t i = body->body; i <= lines && i < def + BODY_LINES_MAX; i++) {
        line = source_lines_get(check->sources, module, i);
        if (line.size > 0 && line.bytes[0] != '#' && line.bytes[0] != ')' &&
            indentation(check, module, line) <= indent) {
            body->end = i;
            break;
        }
    }
    return true;
}

/* How often the lines use the name other than to give it a value. */
static bool is_used(struct check *check,
                    const struct body *body,
                    uint32_t first,
                    uint32_t end,
                    struct slice name)
{
    for (uint32_t i = first; i < end; i++) {
        struct slice line = source_lines_get(check->sources, body->module, i);

        if (statement_find_use(line, name, 0) < line.size) {
            return true;
        }
    }
    return false;
}

/* Names can be read by other means: then nothing is known. */
static bool is_opaque(struct check *check, const struct body *body)
{
    static const char *const words[] = {"locals", "vars", "eval", "exec", "globals"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_used(check, body, body->def, body->end, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* ---- unused ---- */

static bool is_plain(struct slice name)
{
    return name.size > 0 && name.bytes[0] != '_' &&
           memchr(name.bytes, '.', name.size) == NULL &&
           memchr(name.bytes, '[', name.size) == NULL &&
           !slice_equal(name, SLICE("self")) && !slice_equal(name, SLICE("cls"));
}

/* `*args` and `**kwargs` take what comes. */
static bool is_starred(struct check *check, const struct body *body, struct slice name)
{
    for (uint32_t i = body->def; i < body->body; i++) {
        struct slice line = source_lines_get(check->sources, body->module, i);

        for (size_t at = slice_find(line, name, 0); at < line.size;
             at = slice_find(line, name, at + 1)) {
            if (at > 0 && line.bytes[at - 1] == '*') {
                return true;
            }
        }
    }
    return false;
}

/* Whether the body does something that is recorded: an abstract method's parameters are not
 * there to be read. */
static bool has_work(const struct site_table *table, uint32_t function)
{
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].function == function &&
            table->sites[i].kind != SITE_ENTER) {
            return true;
        }
    }
    return false;
}

/* Whether the site's statement reads the name, or an attribute of it. */
static bool site_reads(const struct site *site, struct slice name)
{
    for (uint32_t i = 0; i < site->read_count; i++) {
        struct slice read = site->reads[i].name;

        if (slice_starts(read, name) &&
            (read.size == name.size || read.bytes[name.size] == '.')) {
            return true;
        }
    }
    return false;
}

/* The line of the next site of the function that gives the name another value in the same block,
 * with nothing between that leaves the block or reads the name. 0: there is none. */
static uint32_t find_overwrite(struct check *check,
                               const struct site_table *table,
                               uint32_t index,
                               const struct body *body,
                               struct slice name)
{
    const struct site *site = &table->sites[index];

    for (uint32_t i = index + 1; i < table->site_count; i++) {
        const struct site *next = &table->sites[i];

        if (next->function != site->function) {
            continue;
        }
        if (next->column < site->column) {
            return 0;
        }
        if (next->kind != SITE_ASSIGN || next->column != site->column ||
            next->write_count != 1 || !slice_equal(next->writes[0].name, name)) {
            continue;
        }
        for (uint32_t line = site->line; line <= next->line; line++) {
            struct slice text = source_lines_get(check->sources, body->module, line);

            if (text.size > 0 && text.bytes[0] != '#' &&
                (slice_starts(text, SLICE("return")) ||
                 slice_starts(text, SLICE("yield")) ||
                 indentation(check, body->module, text) + 1 < site->column)) {
                return 0;
            }
        }
        /* The overwriting statement may read the name too, on a later line of its own. */
        return site_reads(next, name) ||
                       is_used(check, body, site->line, next->line + 1, name)
                   ? 0
                   : next->line;
    }
    return 0;
}

/* Whether a function within this one, or a lambda, uses the name: when it runs is not known. */
static bool
has_nested_use(struct check *check, const struct body *body, struct slice name)
{
    for (uint32_t i = body->body; i < body->end; i++) {
        struct slice line = source_lines_get(check->sources, body->module, i);
        struct body nested;

        if (slice_find(line, SLICE("lambda"), 0) < line.size &&
            is_used(check, body, i, i + 1, name)) {
            return true;
        }
        if (find_body(check, body->module, i, &nested) &&
            is_used(check, &nested, nested.def, nested.end, name)) {
            return true;
        }
    }
    return false;
}

/* Appends what is wrong with the name that the site writes, or nothing. */
static void judge_name(struct check *check,
                       const struct site_table *table,
                       uint32_t index,
                       const struct body *body,
                       struct slice name,
                       struct buffer *words)
{
    const struct site *site = &table->sites[index];
    uint32_t overwrite;

    if (!is_used(check, body, body->body, body->end, name)) {
        if (site->kind == SITE_ENTER) {
            if (!is_starred(check, body, name) && has_work(table, site->function)) {
                buffer_add(words,
                           SLICE("is a parameter that the function never reads"));
            }
        } else {
            buffer_add(words, SLICE("is assigned a value that no line reads"));
        }
        return;
    }
    if (site->kind != SITE_ASSIGN || has_nested_use(check, body, name)) {
        return;
    }
    overwrite = find_overwrite(check, table, index, body, name);
    if (overwrite > site->line) {
        buffer_add(words, SLICE("is assigned a value that no line reads before line "));
        buffer_add_number(words, overwrite);
        buffer_add(words, SLICE(" assigns another"));
    }
}

static bool judge_site(struct check *check, uint32_t number, uint32_t index)
{
    const struct log_module *module = log_reader_module(check->reader, number);
    const struct site *site = &module->table.sites[index];
    const struct check_site *known = check_known_site(check, module, index);
    const struct site_function *function = &module->table.functions[site->function];
    struct buffer words = BUFFER_INIT;
    struct body body;
    bool is_done = true;

    if (!known->is_wanted || site->function == 0 ||
        (site->kind == SITE_ASSIGN ? site->write_count != 1
                                   : site->kind != SITE_ENTER) ||
        !find_body(check, number, function->line, &body)) {
        return true;
    }
    check->checked[CHECK_UNUSED] += site->write_count;
    if (is_opaque(check, &body)) {
        return true;
    }
    for (uint32_t i = 0; i < site->write_count && is_done; i++) {
        struct slice name = site->writes[i].name;
        struct check_group group = {
            .kind = CHECK_UNUSED,
            .module = number,
            .line = site->line,
            .last_line = site->line,
            .name = name,
            .function = function->name,
            .count = 1,
            .has_event = true,
            .event = known->event,
            .call = known->call,
            .visit = known->visit,
        };

        if (!is_plain(name)) {
            continue;
        }
        judge_name(check, &module->table, index, &body, name, &words);
        if (words.size > 0) {
            check->offender_count++;
            is_done = check_found(check, &group, &words);
        }
    }
    buffer_release(&words);
    return is_done;
}

bool check_find_unused(struct check *check)
{
    for (uint32_t i = 0;
         i < log_reader_module_count(check->reader) && !check_is_ring(check); i++) {
        const struct log_module *module = log_reader_module(check->reader, i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            if (!judge_site(check, i, k)) {
                return false;
            }
        }
    }
    return true;
}
