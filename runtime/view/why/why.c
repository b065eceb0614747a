/* The stages of `why`, which finds the source of a NaN, an infinity or any other value: the
 * choice of the event, and the search back over the graph. */
#include "runtime/view/why/why.h"

#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/base/nearest_name.h"
#include "runtime/base/selection/selection.h"
#include "runtime/view/words/paint.h"

#include <math.h>
#include <stdlib.h>

/* The choice of the event that the question is about. */

/* The parsed form of `FILE:LINE:NAME`, or an event's number. */
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

/* Searches `:LINE` at the end of the text, or before a `:NAME` there. */
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

/* Whether the site of the trace is on that line of the file. */
static bool site_fits(const struct why *why,
                      const struct wanted *wanted,
                      bool is_loose,
                      uint32_t site)
{
    const struct site_table *table = NULL;

    for (uint32_t i = 0; table == NULL && i < log_reader_module_count(why->reader);
         i++) {
        const struct log_module *module = log_reader_module(why->reader, i);

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            table = &module->table;
            site -= module->first_site;
        }
    }
    return table != NULL &&
           (wanted->line == 0 || table->sites[site].line == wanted->line) &&
           (wanted->file.size == 0 || file_select(table->path, wanted->file) ||
            (is_loose && file_select(table->path, slice_last_part(wanted->file, '/'))));
}

/* The result of comparing the question with the sites and names of the trace, computed once for
 * each. A name without an index also matches its items (`out` matches `out['b']`). A loose
 * match, tried if nothing else fits, also accepts values of attributes (`box` matches
 * `box.item`) and files in another folder. */
struct fitting {
    bool is_loose;
    struct number_map sites; /* owned: site -> whether it matches */
    struct number_map names; /* owned: name and path -> whether they match */
};

static bool fits_place(struct why *why,
                       const struct wanted *wanted,
                       struct fitting *fitting,
                       const struct graph_node *node)
{
    uint64_t name = number_map_key(node->name, node->path);
    uint32_t known = number_map_get(&fitting->sites, node->site);

    if (known == NUMBER_MAP_NONE) {
        known = site_fits(why, wanted, fitting->is_loose, node->site);
        why->arena.has_failed |= !number_map_put(&fitting->sites, node->site, known);
    }
    if (known == 0 || wanted->name.size == 0) {
        return known != 0;
    }
    known = number_map_get(&fitting->names, name);
    if (known == NUMBER_MAP_NONE) {
        known = name_select(graph_text(&why->graph, node->name),
                            graph_text(&why->graph, node->path), wanted->name) >=
                (fitting->is_loose ? NAME_OF_ATTRIBUTE : NAME_OF_ITEM);
        why->arena.has_failed |= !number_map_put(&fitting->names, name, known);
    }
    return known != 0;
}

static bool fits(struct why *why,
                 const struct wanted *wanted,
                 struct fitting *fitting,
                 uint32_t index)
{
    const struct graph_node *node = &why->graph.nodes[index];

    if (wanted->is_number) {
        return node->event == wanted->number;
    }
    return fits_place(why, wanted, fitting, node) &&
           (why->ask.call == 0 ||
            why->graph.calls[node->call].number == why->ask.call) &&
           (!why->ask.has_iteration ||
            why_value(why, index)->visit == why->ask.iteration);
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
    if (why->event_count == 0) {
        error_set(error, ERROR_USAGE, "has no events");
        return false;
    }
    error_set(error, ERROR_USAGE,
              "there is no event #%llu: the trace has #%llu to #%llu; the values of a "
              "line are "
              "asked for as FILE:%llu",
              (unsigned long long)number, (unsigned long long)why->first_event,
              (unsigned long long)(why->first_event + why->event_count - 1),
              (unsigned long long)number);
    return false;
}

/* Whether `node` replaces `last`: of the values of a line, those that it assigned are preferred
 * to those that it read. */
static bool is_better(const struct why *why, uint32_t last, uint32_t node)
{
    return last == FLOW_NONE || !why->facts[node].is_read || why->facts[last].is_read;
}

static bool has_file(const struct why *why, struct slice glob)
{
    for (uint32_t i = 0; i < log_reader_module_count(why->reader); i++) {
        struct slice path = log_reader_module(why->reader, i)->table.path;

        if (file_select(path, slice_last_part(glob, '/'))) {
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

/* Appends the files or names of the trace that are nearest to a question without a match. */
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

/* Chooses the first matching value that holds NaN or an infinity, or the last match if none
 * does. */
static void choose_fitting(struct why *why, const struct wanted *wanted, bool is_loose)
{
    struct fitting fitting = {.is_loose = is_loose};
    uint32_t last = FLOW_NONE;

    why->target = FLOW_NONE;
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        if (!fits(why, wanted, &fitting, i)) {
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
    number_map_release(&fitting.sites);
    number_map_release(&fitting.names);
}

static bool choose_asked(struct why *why, struct error *error)
{
    struct wanted wanted = read_wanted(why->ask.event);

    choose_fitting(why, &wanted, false);
    if (why->target == FLOW_NONE && !wanted.is_number) {
        choose_fitting(why, &wanted, true);
    }
    if (why->arena.has_failed) {
        return why_out_of_memory(error);
    }
    if (why->target == FLOW_NONE && wanted.is_number) {
        return refuse_number(why, wanted.number, error);
    }
    if (why->target == FLOW_NONE) {
        return refuse_words(why, &wanted, error);
    }
    return true;
}

/* Whether the statement names the infinity in its text. Computed once for each site. */
static bool
is_meant(struct why *why, uint32_t node, struct error *error, bool *has_failed)
{
    const struct why_fact *fact = &why->facts[node];
    uint64_t key = why->graph.nodes[node].site;
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

/* Judges whether the node absorbs infinities. Computed once for each site. */
static enum why_absorbed why_absorbs(struct why *why, uint32_t node)
{
    struct why_fact *fact = &why->facts[node];
    uint64_t key = why->graph.nodes[node].site;
    uint32_t known = number_map_get(&why->absorbing, key);
    struct why_producer producer;

    if (why->graph.nodes[node].kind != VALUE_TENSOR || fact->made != 0 ||
        (fact->holds & WHY_INF) == 0 || fact->is_read ||
        (why->graph.nodes[node].flags & GRAPH_ARGUMENT) != 0) {
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

/* Chooses the first value from event `start` on whose line made a NaN or an unintended infinity,
 * or the first that holds one if no line did. */
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

/* Sets the target. */
static bool why_choose(struct why *why, struct error *error)
{
    uint64_t start = 0;

    if (why->ask.event.size == 0 || why_read_start(why->ask.event, &start)) {
        return choose_first(why, start, error);
    }
    return choose_asked(why, error);
}

/* The text of a statement, joined over all of its lines. */

#define LINES_MAX 40
#define TEXT_MAX  8000

/* The state at the end of a line. */
struct reading {
    int depth;
    char quote;
    bool is_one;   /* stop at the `;` before the next statement */
    bool is_ended; /* that `;` was reached */
};

/* Appends a line up to its comment, or up to the end of the statement if only one is wanted. */
static void add_line(struct buffer *text, struct slice line, struct reading *reading)
{
    for (size_t i = 0; i < line.size; i++) {
        char byte = line.bytes[i];

        if (reading->quote != '\0') {
            if (byte == '\\' && i + 1 < line.size) {
                buffer_add_byte(text, byte);
                byte = line.bytes[++i];
            } else if (byte == reading->quote) {
                reading->quote = '\0';
            }
        } else if (byte == '#') {
            break;
        } else if (byte == ';' && reading->is_one && reading->depth == 0) {
            reading->is_ended = true;
            break;
        } else if (byte == '"' || byte == '\'') {
            reading->quote = byte;
        } else if (byte == '(' || byte == '[' || byte == '{') {
            reading->depth++;
        } else if (byte == ')' || byte == ']' || byte == '}') {
            reading->depth--;
        }
        buffer_add_byte(text, byte);
    }
}

/* Appends a further line of the statement, after a blank unless a bracket or a dot is there. */
static void add_next(struct buffer *text, struct slice line, struct reading *reading)
{
    char before = text->size > 0 ? text->bytes[text->size - 1] : ' ';

    if (line.size > 0 && memchr(" ([{", before, 4) == NULL &&
        memchr(".)]},", line.bytes[0], 5) == NULL) {
        buffer_add_byte(text, ' ');
    }
    add_line(text, line, reading);
}

static struct slice read_statement(
    struct why *why, uint32_t module, uint32_t line, struct slice first, bool is_one)
{
    struct buffer text = BUFFER_INIT;
    struct reading reading = {.is_one = is_one};
    struct slice kept;

    add_line(&text, first, &reading);
    for (int i = 1; i < LINES_MAX && text.size < TEXT_MAX; i++) {
        bool is_continued = reading.depth > 0;

        text_trim(&text);
        if (text.size > 0 && text.bytes[text.size - 1] == '\\') {
            text.size--;
            is_continued = true;
        }
        if (!is_continued || reading.is_ended) {
            break;
        }
        reading.quote = '\0';
        text_trim(&text);
        add_next(&text, source_lines_get(&why->sources, module, line + (uint32_t)i),
                 &reading);
    }
    why->arena.has_failed |= text.has_failed;
    kept = arena_copy(&why->arena, buffer_slice(&text));
    buffer_release(&text);
    return kept.bytes == NULL ? (struct slice){"", 0} : kept;
}

struct slice why_statement(struct why *why, uint32_t module, uint32_t line)
{
    return read_statement(why, module, line,
                          source_lines_get(&why->sources, module, line), false);
}

struct slice why_statement_of(struct why *why, uint32_t node)
{
    const struct why_value *shown = why_value(why, node);
    const struct site_table *table =
        &log_reader_module(why->reader, shown->module)->table;
    bool is_made_here =
        (shown->flags & GRAPH_ARGUMENT) == 0 && !why->facts[node].is_read;
    struct slice first =
        is_made_here
            ? source_lines_get_statement(&why->sources, shown->module, shown->line,
                                         table->sites[shown->site].column)
            : shown->code;

    return read_statement(why, shown->module, shown->line, first, is_made_here);
}

/* The search back over the graph for the lines that made a value NaN, and for all values that it
 * was computed from. */

/* The number of rows of the slice that are printed without --all. */
#define ROWS_MAX 40

/* A queue of nodes. A node is added each time that it got something new to pass on. */
struct queue {
    uint32_t *nodes;  /* owned */
    uint32_t *depths; /* owned */
    size_t node_capacity;
    size_t depth_capacity;
    size_t count;
};

static bool put(struct queue *queue, uint32_t node, uint32_t depth)
{
    void *nodes = queue->nodes;
    void *depths = queue->depths;
    bool has_room = memory_grow(&nodes, &queue->node_capacity, queue->count + 1,
                                sizeof *queue->nodes);

    queue->nodes = nodes;
    if (!has_room || !memory_grow(&depths, &queue->depth_capacity, queue->count + 1,
                                  sizeof *queue->depths)) {
        return false;
    }
    queue->depths = depths;
    queue->nodes[queue->count] = node;
    queue->depths[queue->count++] = depth;
    return true;
}

static void release(struct queue *queue)
{
    memory_free(queue->nodes);
    memory_free(queue->depths);
    *queue = (struct queue){0};
}

/* The part of `wanted` that `held` can explain. An infinity explains one of the other sign too,
 * since a minus may be between them. */
static unsigned both(unsigned wanted, unsigned held)
{
    return (wanted & held & WHY_NAN) | ((wanted & WHY_INF) != 0 ? held & WHY_INF : 0);
}

/* The kinds of values to search in the node's inputs. A NaN that the node made may come from an
 * infinity. */
static unsigned next_wanted(const struct why_fact *fact)
{
    unsigned wanted = fact->passes;

    return (fact->made & fact->passes & WHY_NAN) != 0 ? wanted | WHY_INF : wanted;
}

/* The part of `wanted` that the edge's source holds; nothing if only the shape was read. */
static unsigned
brings(const struct why *why, const struct graph_edge *edge, unsigned wanted)
{
    return edge->kind == GRAPH_SHAPE ? 0 : both(wanted, why->facts[edge->source].holds);
}

/* Whether the certain inputs explain `wanted`. The uncertain ones are skipped then. */
static bool has_certain(const struct why *why, uint32_t node, unsigned wanted)
{
    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        if (!why->graph.edges[i].is_unsure &&
            brings(why, &why->graph.edges[i], wanted) != 0) {
            return true;
        }
    }
    return false;
}

static bool follow_edges(struct why *why, struct queue *queue, uint32_t node)
{
    unsigned wanted = next_wanted(&why->facts[node]);
    bool is_explained = has_certain(why, node, wanted);
    uint32_t unsure_count = 0;

    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        const struct graph_edge *edge = &why->graph.edges[i];
        uint32_t source = edge->source;
        struct why_fact *fact = &why->facts[source];
        unsigned brought = brings(why, edge, wanted);
        unsigned passes = fact->passes | brought;

        if (is_explained && edge->is_unsure) {
            continue;
        }
        unsure_count += edge->is_unsure && brought != 0;
        if (passes != fact->passes) {
            fact->passes = (uint8_t)passes;
            if (!put(queue, source, 0)) {
                return false;
            }
        }
    }
    why->has_alternatives |= unsure_count > 1;
    return true;
}

/* Whether the node passes infinities on: its line may have added more of them. */
static bool may_have_more(const struct why_fact *fact)
{
    return both(fact->passes, fact->made) == 0 && (fact->passes & WHY_INF) != 0;
}

/* Marks the nodes that why_has_more compares, and reads their figures. */
static bool count_infinities(struct why *why, struct error *error)
{
    bool is_wanted = false;

    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        if (!may_have_more(&why->facts[i])) {
            continue;
        }
        is_wanted = true;
        why->facts[i].is_counted = true;
        for (uint32_t k = why_first_edge(why, i); k < why_end_edge(why, i); k++) {
            why->facts[why->graph.edges[k].source].is_counted = true;
        }
    }
    return !is_wanted || why_read_figures(why, error);
}

static void keep_producer(struct why *why, const struct why_producer *producer)
{
    if (why->producer_count < WHY_PRODUCERS_MAX) {
        why->producers[why->producer_count++] = *producer;
    }
    why->producer_total++;
}

/* Collects the producers in the order of the trace, up to a limit. A line that names an infinity
 * and added it to a value with other infinities is a producer too, since its infinity may be the
 * wrong one. */
static void collect_producers(struct why *why)
{
    struct why_producer producer;

    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        const struct why_fact *fact = &why->facts[i];
        unsigned made = both(fact->passes, fact->made);

        if (made != 0) {
            why_judge(why, i, fact->made, &producer);
            keep_producer(why, &producer);
        } else if (may_have_more(fact) && why_has_more(why, i)) {
            why_judge(why, i, fact->holds & WHY_INF, &producer);
            producer.is_more = true;
            if (producer.is_soft) {
                keep_producer(why, &producer);
            }
        }
    }
    why->main = 0;
    while (why->main + 1 < why->producer_count && why->producers[why->main].is_soft) {
        why->main++;
    }
    if (why->producer_count > 0 && why->producers[why->main].is_soft) {
        why->main = 0;
    }
}

/* Marks the first node that turned intended infinities into a wrong value: an infinity that a
 * line names is intended until it is absorbed. Returns whether there is one. */
static bool mark_absorbed(struct why *why)
{
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        struct why_fact *fact = &why->facts[i];

        if ((fact->passes & WHY_INF) != 0 && why_absorbs(why, i) == WHY_ABSORBS_MAKES) {
            fact->is_absorbed = true;
            fact->made = fact->holds & WHY_INF;
            return true;
        }
    }
    return false;
}

static bool find_producers(struct why *why, struct error *error)
{
    struct queue queue = {0};
    bool is_done;

    why->facts[why->target].passes = why->facts[why->target].holds;
    is_done = put(&queue, why->target, 0);
    for (size_t i = 0; is_done && i < queue.count; i++) {
        is_done = follow_edges(why, &queue, queue.nodes[i]);
    }
    release(&queue);
    if (!is_done) {
        return why_out_of_memory(error);
    }
    if (!count_infinities(why, error)) {
        return false;
    }
    collect_producers(why);
    if (why->producer_count > 0 && why->producers[why->main].is_soft &&
        mark_absorbed(why)) {
        why->producer_count = 0;
        why->producer_total = 0;
        collect_producers(why);
    }
    return true;
}

/* ---- the slice ---- */

static bool add_row(struct why *why, uint32_t node, uint32_t depth)
{
    void *rows = why->rows;

    if (!memory_grow(&rows, &why->row_capacity, (size_t)why->row_count + 1,
                     sizeof *why->rows)) {
        return false;
    }
    why->rows = rows;
    why->rows[why->row_count++] = (struct why_row){node, depth, 1};
    return true;
}

/* Adds a node to its row. One row is one site and name: iterations of a loop and calls of a
 * function are counted. */
static bool
read(struct why *why, struct number_map *seen, uint32_t node, uint32_t depth)
{
    const struct graph_node *at = &why->graph.nodes[node];
    uint64_t key = hash_mix(number_map_key(at->name, at->path), at->site);
    uint32_t row = number_map_get(seen, key);

    why->slice_count++;
    if (row != NUMBER_MAP_NONE) {
        why->rows[row].count++;
        return true;
    }
    return number_map_put(seen, key, why->row_count) && add_row(why, node, depth);
}

static bool find_slice(struct why *why)
{
    struct queue queue = {0};
    struct number_map seen;
    bool is_bad = why->facts[why->target].holds != 0;
    bool is_done = why->target == why->graph.node_count || put(&queue, why->target, 0);

    number_map_init(&seen);
    why->facts[why->target].is_in_slice = true;
    for (size_t i = 0; is_done && i < queue.count; i++) {
        uint32_t node = queue.nodes[i];
        uint32_t depth = queue.depths[i];

        is_done = read(why, &seen, node, depth);
        for (uint32_t k = why_first_edge(why, node);
             is_done && k < why_end_edge(why, node); k++) {
            uint32_t source = why->graph.edges[k].source;

            /* A source of which only the shape was read cannot have brought a NaN. */
            if (!why->facts[source].is_in_slice &&
                (!is_bad || why->graph.edges[k].kind != GRAPH_SHAPE)) {
                why->facts[source].is_in_slice = true;
                is_done = put(&queue, source, depth + 1);
            }
        }
    }
    number_map_release(&seen);
    release(&queue);
    return is_done;
}

/* Marks the nodes of the slice from which the value was certainly computed. */
static bool find_certain(struct why *why)
{
    struct queue queue = {0};
    bool is_done = why->target == why->graph.node_count || put(&queue, why->target, 0);

    why->facts[why->target].is_certain = true;
    for (size_t i = 0; is_done && i < queue.count; i++) {
        uint32_t node = queue.nodes[i];

        for (uint32_t k = why_first_edge(why, node);
             is_done && k < why_end_edge(why, node); k++) {
            const struct graph_edge *edge = &why->graph.edges[k];
            struct why_fact *fact = &why->facts[edge->source];

            if (!edge->is_unsure && fact->is_in_slice && !fact->is_certain) {
                fact->is_certain = true;
                is_done = put(&queue, edge->source, 0);
            }
        }
    }
    release(&queue);
    return is_done;
}

/* Orders rows by distance, and rows of the same distance from new to old. */
static int row_compare(const void *a, const void *b)
{
    const struct why_row *left = a;
    const struct why_row *right = b;

    if (left->depth != right->depth) {
        return left->depth < right->depth ? -1 : 1;
    }
    return left->node > right->node ? -1 : left->node < right->node;
}

static void limit_rows(struct why *why)
{
    uint32_t limit = why->ask.has_all_rows ? UINT32_MAX : ROWS_MAX;
    uint32_t kept = 0;

    qsort(why->rows, why->row_count, sizeof *why->rows, row_compare);
    while (kept < why->row_count && kept < limit &&
           why->rows[kept].depth <= why->ask.depth) {
        kept++;
    }
    why->hidden_rows = why->row_count - kept;
    why->row_count = kept;
}

static void mark_reported(struct why *why)
{
    why->facts[why->target].is_reported = true;
    for (uint32_t i = 0; i < why->row_count; i++) {
        why->facts[why->rows[i].node].is_reported = true;
    }
    for (uint32_t i = 0; i < why->producer_count; i++) {
        why->facts[why->producers[i].node].is_reported = true;
        for (uint32_t k = 0; k < why->producers[i].input_count; k++) {
            why->facts[why->producers[i].inputs[k]].is_reported = true;
        }
    }
}

/* Sets the producers and the rows. */
static bool why_walk(struct why *why, struct error *error)
{
    bool is_node = why->target < why->graph.node_count;

    if (why->backward == BACKWARD_NONE && is_node && !find_producers(why, error)) {
        return false;
    }
    if (!why_follow_backward(why, error)) {
        return false;
    }
    if (!find_slice(why) || !find_certain(why)) {
        return why_out_of_memory(error);
    }
    limit_rows(why);
    mark_reported(why);
    why->target_statement = is_node ? why_statement_of(why, why->target) : SLICE("");
    return true;
}

void why_init(struct why *why)
{
    *why = (struct why){.target = FLOW_NONE, .backward = BACKWARD_NONE};
    backwards_init(&why->backwards);
    graph_init(&why->graph);
    arena_init(&why->arena);
    number_map_init(&why->value_places);
    number_map_init(&why->written);
    number_map_init(&why->owners);
    number_map_init(&why->absorbing);
    number_map_init(&why->object_names);
}

void why_release(struct why *why)
{
    source_lines_release(&why->sources);
    log_reader_free(why->reader);
    graph_release(&why->graph);
    log_reader_free(why->lookup);
    memory_free(why->facts);
    memory_free(why->values);
    memory_free(why->figures);
    number_map_release(&why->value_places);
    arena_release(&why->arena);
    number_map_release(&why->written);
    number_map_release(&why->owners);
    number_map_release(&why->absorbing);
    number_map_release(&why->object_names);
    memory_free(why->owner_addresses);
    memory_free(why->objects);
    memory_free(why->rows);
    memory_free(why->steps);
    backwards_release(&why->backwards);
    why_init(why);
}

/* Finds what each value holds that none of its sources holds, separately for NaN and infinities. */
static void find_made(struct why *why)
{
    for (uint32_t i = 0; i < why->graph.node_count; i++) {
        unsigned held = 0;

        for (uint32_t k = why_first_edge(why, i); k < why_end_edge(why, i); k++) {
            const struct graph_edge *edge = &why->graph.edges[k];

            held |= edge->kind == GRAPH_SHAPE ? 0 : why->facts[edge->source].holds;
        }
        held |= (held & WHY_INF) != 0 ? WHY_INF : 0;
        why->facts[i].made = why->facts[i].holds & (uint8_t)~held;
    }
}

static bool build(struct why *why, struct error *error)
{
    struct graph_build_options options = {
        .progress = why->ask.progress,
        .progress_context = why->ask.progress_context,
    };

    if (!graph_build(&why->graph, why->reader, &options, error) ||
        !why_read_facts(why, error)) {
        return false;
    }
    find_made(why);
    return true;
}

/* The memory for each value of the trace: its node, its edges and what `why` adds, in bytes. A
 * measured mean; values with many edges need more. */
#define BYTES_OF_VALUE 180
/* The needed memory from which on it is announced. */
#define ANNOUNCED_BYTES ((uint64_t)1 << 30)

static bool check_memory(const struct why *why, const char *path, struct error *error)
{
    const struct why_ask *ask = &why->ask;
    uint64_t bytes = why->value_count * BYTES_OF_VALUE;

    if (ask->memory_limit > 0 && bytes > ask->memory_limit) {
        error_set(error, ERROR_INPUT,
                  "%.300s: %llu values: to explain one needs about %.3g GB of memory, "
                  "above the "
                  "limit of %.3g GB. Allow it with --memory %.0fG, or record less: "
                  "fewer functions, or the newest events alone (last=1000000)",
                  path, (unsigned long long)why->value_count, (double)bytes / 1e9,
                  (double)ask->memory_limit / 1e9, ceil((double)bytes / 1e9));
        return false;
    }
    if (ask->announce != NULL && bytes >= ANNOUNCED_BYTES) {
        ask->announce(ask->progress_context, why->value_count, bytes);
    }
    return true;
}

bool why_find(struct why *why,
              const char *path,
              const struct why_ask *ask,
              struct error *error)
{
    uint64_t start;

    why->ask = *ask;
    why->path = path;
    why->reader = log_reader_new(path, error);
    if (why->reader == NULL) {
        return false;
    }
    source_lines_init(&why->sources, why->reader, ask->strip);
    why_count(why);
    if (!why_has_bad(why) &&
        (ask->event.size == 0 || why_read_start(ask->event, &start))) {
        return true; /* nothing to search, so no graph is needed */
    }
    if (!check_memory(why, path, error) || !build(why, error) ||
        !why_choose(why, error)) {
        return false;
    }
    why_choose_backward(why);
    if (why->target != FLOW_NONE &&
        (!why_walk(why, error) || (ask->wants_texts && !why_read_texts(why, error)))) {
        return false;
    }
    return (!why->arena.has_failed && !why->sources.has_failed) ||
           why_out_of_memory(error);
}

bool why_is_bad(const struct why *why)
{
    return why->backward != BACKWARD_NONE || why->has_cause ||
           (why->target != FLOW_NONE && why->facts[why->target].holds != 0 &&
            !why->is_soft);
}
