/* Which event is asked about. */
#include "runtime/view/why/why.h"

#include "runtime/base/nearest_name.h"

/* What stands in `FILE:LINE:NAME`, or an event's number. */
struct wanted {
    bool is_number;
    uint64_t number;
    uint32_t line;     /* 0: any */
    struct slice file; /* a glob; "": any */
    struct slice name; /* a glob; "": any */
};

static bool read_number(struct slice text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            *number > (UINT64_MAX - 9) / 10) {
            return false;
        }
        *number = *number * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    return text.size > 0;
}

bool why_read_start(struct slice event, uint64_t *first)
{
    return event.size > 2 && slice_starts(event, SLICE("#")) &&
           event.bytes[event.size - 1] == '+' &&
           read_number(slice_part(event, 1, event.size - 1), first);
}

/* Looks for `:LINE` at the text's end, or before a `:NAME` there. */
static bool read_place(struct slice text, struct wanted *wanted)
{
    for (size_t colon = 1; colon < text.size; colon++) {
        size_t end;
        uint64_t line;

        if (text.bytes[colon] != ':') {
            continue;
        }
        end = slice_find(text, SLICE(":"), colon + 1);
        if (read_number(slice_part(text, colon + 1, end), &line) && line > 0 &&
            line <= UINT32_MAX) {
            wanted->file = slice_part(text, 0, colon);
            wanted->line = (uint32_t)line;
            wanted->name =
                end < text.size ? slice_part(text, end + 1, text.size) : SLICE("");
            return true;
        }
    }
    return false;
}

static struct wanted read_wanted(struct slice text)
{
    struct wanted wanted = {.file = SLICE(""), .name = SLICE("")};
    struct slice digits = slice_starts(text, SLICE("#")) && text.size > 1
                              ? slice_part(text, 1, text.size)
                              : text;

    if (read_number(digits, &wanted.number)) {
        wanted.is_number = true;
    } else if (!read_place(text, &wanted)) {
        wanted.name = text;
    }
    return wanted;
}

/* `b` for `out['b']` too: the name alone, where no path was asked for. */
static bool name_fits(struct slice name, struct slice glob)
{
    size_t end = slice_find(name, SLICE("["), 0);

    return slice_match(name, glob) ||
           (end < name.size && slice_match(slice_part(name, 0, end), glob));
}

static bool fits(const struct why *why, const struct wanted *wanted, uint32_t index)
{
    const struct flow_node *node = &why->graph.nodes[index];
    const struct why_fact *fact = &why->facts[index];

    if (wanted->is_number) {
        return node->event == wanted->number;
    }
    return (wanted->line == 0 || node->line == wanted->line) &&
           (wanted->file.size == 0 || slice_match(node->file, wanted->file) ||
            slice_match(slice_last_part(node->file, '/'),
                        slice_last_part(wanted->file, '/'))) &&
           (wanted->name.size == 0 || name_fits(node->name, wanted->name)) &&
           (why->ask.call == 0 || fact->call == why->ask.call) &&
           (!why->ask.has_iteration || fact->visit == why->ask.iteration);
}

static int shown_size(struct slice text)
{
    return (int)(text.size < 300 ? text.size : 300);
}

static bool refuse_number(struct why *why, uint64_t number, struct error *error)
{
    struct log_item item;

    log_reader_go_to_event(why->reader, number);
    while (log_reader_next(why->reader, &item)) {
        if (item.kind != LOG_EVENT) {
            continue;
        }
        if (item.event.number == number) {
            error_set(error, ERROR_USAGE,
                      "event #%llu is no value that something is made from, but %s at "
                      "%.*s:%lu",
                      (unsigned long long)number,
                      item.event.kind == VALUE_NOTHING
                          ? site_kind_text(item.event.site->kind)
                          : value_kind_text(item.event.kind),
                      shown_size(item.event.module->table.path),
                      item.event.module->table.path.bytes,
                      (unsigned long)item.event.site->line);
            return false;
        }
        break;
    }
    error_set(error, ERROR_USAGE,
              "there is no event #%llu: the trace has %llu, from #%llu on",
              (unsigned long long)number, (unsigned long long)why->event_count,
              (unsigned long long)why->first_event);
    return false;
}

/* Of a line, what it made and not what it read, as long as there is such a value. */
static bool is_better(const struct why *why, uint32_t last, uint32_t node)
{
    return last == FLOW_NONE || !why->facts[node].is_read || why->facts[last].is_read;
}

static bool has_file(const struct why *why, struct slice glob)
{
    for (uint32_t i = 0; i < log_reader_module_count(why->reader); i++) {
        struct slice path = log_reader_module(why->reader, i)->table.path;

        if (slice_match(path, glob) ||
            slice_match(slice_last_part(path, '/'), slice_last_part(glob, '/'))) {
            return true;
        }
    }
    return false;
}

static void add_nearest_name(struct nearest *nearest, const struct site_table *table)
{
    for (uint32_t i = 0; i < table->site_count; i++) {
        for (uint32_t k = 0; k < table->sites[i].write_count; k++) {
            nearest_add(nearest, table->sites[i].writes[k].name);
        }
    }
}

/* The files or names of the trace that are nearest to what no value fits. */
static void
add_nearest(const struct why *why, const struct wanted *wanted, struct buffer *text)
{
    bool is_file = wanted->file.size > 0 && !has_file(why, wanted->file);
    struct nearest nearest;

    nearest_init(&nearest, is_file ? slice_last_part(wanted->file, '/') : wanted->name);
    for (uint32_t i = 0; i < log_reader_module_count(why->reader); i++) {
        const struct site_table *table = &log_reader_module(why->reader, i)->table;

        if (is_file) {
            nearest_add(&nearest, slice_last_part(table->path, '/'));
        } else if (wanted->name.size > 0) {
            add_nearest_name(&nearest, table);
        }
    }
    nearest_write(&nearest, text);
}

static bool
refuse_words(const struct why *why, const struct wanted *wanted, struct error *error)
{
    struct slice event = why->ask.event;
    struct buffer hint = BUFFER_INIT;

    if (why->ask.call == 0 && !why->ask.has_iteration) {
        add_nearest(why, wanted, &hint);
    }
    if (hint.size == 0) {
        buffer_add(&hint,
                   SLICE("; to list the values: monitorch show; EVENT is '#NUMBER', "
                         "FILE:LINE, FILE:LINE:NAME or a NAME such as 'self.*'"));
    }
    error_set(
        error, ERROR_USAGE, "no value fits %.*s%s%.*s", shown_size(event), event.bytes,
        why->ask.call != 0 || why->ask.has_iteration ? " in that call and iteration"
                                                     : "",
        (int)hint.size, hint.bytes == NULL ? "" : hint.bytes);
    buffer_release(&hint);
    return false;
}

static bool choose_asked(struct why *why, struct error *error)
{
    struct wanted wanted = read_wanted(why->ask.event);
    uint32_t last = FLOW_NONE;

    why->target = FLOW_NONE;
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        if (!fits(why, &wanted, i)) {
            continue;
        }
        why->match_count++;
        last = is_better(why, last, i) ? i : last;
        if (why->facts[i].holds != 0 &&
            (why->target == FLOW_NONE ||
             (why->facts[why->target].is_read && !why->facts[i].is_read))) {
            why->target = i;
        }
    }
    if (why->target == FLOW_NONE) {
        why->target = last;
    }
    if (why->target == FLOW_NONE && wanted.is_number) {
        return refuse_number(why, wanted.number, error);
    }
    if (why->target == FLOW_NONE) {
        return refuse_words(why, &wanted, error);
    }
    return true;
}

/* Whether the infinity stands in the statement by its name: asked once for each site. */
static bool
is_meant(struct why *why, uint32_t node, struct error *error, bool *has_failed)
{
    const struct why_fact *fact = &why->facts[node];
    uint64_t key = number_map_key(fact->module, fact->site);
    uint32_t known = number_map_get(&why->written, key);
    struct why_producer producer;

    if (known == NUMBER_MAP_NONE) {
        why_judge(why, node, fact->made, &producer);
        known = producer.is_soft;
        if (!number_map_put(&why->written, key, known)) {
            *has_failed = true;
            return why_out_of_memory(error);
        }
    }
    return known != 0;
}

/* Asked once for each site. */
enum why_absorbed why_absorbs(struct why *why, uint32_t node)
{
    struct why_fact *fact = &why->facts[node];
    uint64_t key = number_map_key(fact->module, fact->site);
    uint32_t known = number_map_get(&why->absorbing, key);
    struct why_producer producer;

    if (why->graph.nodes[node].kind != VALUE_TENSOR || fact->made != 0 ||
        (fact->holds & WHY_INF) == 0 || fact->is_read ||
        (why->graph.nodes[node].flags & FLOW_NODE_ARGUMENT) != 0) {
        return WHY_ABSORBS_NOT;
    }
    if (known == NUMBER_MAP_NONE) {
        fact->is_absorbed = true;
        why_judge(why, node, fact->holds & WHY_INF, &producer);
        known = producer.how != WHY_MADE || !producer.has_reason ? WHY_ABSORBS_NOT
                : producer.is_certain                            ? WHY_ABSORBS_MAKES
                                                                 : WHY_ABSORBS_PASSES;
        fact->is_absorbed = false;
        why->arena.has_failed |= !number_map_put(&why->absorbing, key, known);
    }
    return (enum why_absorbed)known;
}

/* From event `start` on, the first that made something new which nobody meant; else the
 * first that holds NaN or an infinity. */
static bool choose_first(struct why *why, uint64_t start, struct error *error)
{
    uint32_t first = FLOW_NONE;
    bool has_failed = false;

    why->target = FLOW_NONE;
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        const struct why_fact *fact = &why->facts[i];

        if (fact->holds == 0 || why->graph.nodes[i].event < start) {
            continue;
        }
        first = first == FLOW_NONE ? i : first;
        if (fact->made == 0 ? why_absorbs(why, i) != WHY_ABSORBS_NOT
                            : (fact->made & WHY_NAN) != 0 ||
                                  !is_meant(why, i, error, &has_failed)) {
            if (has_failed) {
                return false;
            }
            why->target = i;
            return true;
        }
    }
    why->target = first;
    why->is_soft = first != FLOW_NONE;
    return true;
}

bool why_choose(struct why *why, struct error *error)
{
    uint64_t start = 0;

    if (why->ask.event.size == 0 || why_read_start(why->ask.event, &start)) {
        return choose_first(why, start, error);
    }
    return choose_asked(why, error);
}
