/* Traces as the tables of SQL use them. */
#include "runtime/view/sql/tables/traces.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

#include <assert.h>
#include <stdlib.h>

/* ---- edges of the graph of values ---- */

static void sql_edges_release(struct sql_edges *edges)
{
    graph_release(&edges->graph);
    memory_free(edges->targets);
    memory_free(edges->by_source);
    *edges = (struct sql_edges){.targets = NULL};
}

const char *sql_edge_kind_text(enum graph_kind kind)
{
    static const char *const texts[] = {
        [GRAPH_VALUE] = "value", [GRAPH_SAME] = "same",   [GRAPH_WRITE] = "write",
        [GRAPH_ALIAS] = "alias", [GRAPH_SHAPE] = "shape",
    };

    return texts[kind];
}

struct sql_edge sql_edges_get(const struct sql_edges *edges, size_t place)
{
    const struct graph *graph = &edges->graph;
    const struct graph_edge *edge = &graph->edges[place];

    assert(place < graph->edge_count);
    return (struct sql_edge){
        .source = graph->nodes[edge->source].event,
        .target = graph->nodes[edges->targets[place]].event,
        .kind = (enum graph_kind)edge->kind,
        .is_certain = !edge->is_unsure,
    };
}

/* ---- order ---- */

/* Sorts the edges by source; edges of one source stay in the order of their targets. A counting
 * sort: `ends` is zeroed, and has an item for each node and one more. */
static void order_by_source(struct sql_edges *edges, uint32_t *ends)
{
    const struct graph *graph = &edges->graph;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        ends[graph->edges[i].source + 1]++;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        ends[i + 1] += ends[i];
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        edges->by_source[ends[graph->edges[i].source]++] = i;
    }
}

/* Whether both orders of the edges are sorted, as lookups expect. For asserts. */
static __attribute__((unused)) bool are_in_order(const struct sql_edges *edges)
{
    const struct graph *graph = &edges->graph;

    for (uint32_t i = 1; i < graph->edge_count; i++) {
        uint32_t before = edges->by_source[i - 1];
        uint32_t here = edges->by_source[i];

        if (edges->targets[i - 1] > edges->targets[i] ||
            graph->edges[before].source > graph->edges[here].source) {
            return false;
        }
    }
    return true;
}

static bool order_edges(struct sql_edges *edges)
{
    const struct graph *graph = &edges->graph;
    uint32_t *ends =
        memory_allocate_zeroed((size_t)graph->node_count + 1, sizeof *ends);

    edges->targets = memory_allocate(graph->edge_count, sizeof *edges->targets);
    edges->by_source = memory_allocate(graph->edge_count, sizeof *edges->by_source);
    if (ends == NULL || edges->targets == NULL || edges->by_source == NULL) {
        memory_free(ends);
        return false;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        for (uint32_t k = graph->nodes[i].first_edge;
             k < graph->nodes[i + 1].first_edge; k++) {
            edges->targets[k] = i;
        }
    }
    order_by_source(edges, ends);
    memory_free(ends);
    assert(are_in_order(edges));
    return true;
}

/* ---- building the edges ---- */

static bool go_on(void *context, uint64_t events)
{
    const atomic_bool *is_interrupted = context;

    (void)events;
    return !atomic_load(is_interrupted);
}

/* Builds the graph from the whole stream. Fails as sql_calls_read does. */
static bool sql_edges_read(struct sql_edges *edges,
                           struct log_reader *reader,
                           atomic_bool *is_interrupted,
                           struct error *error)
{
    struct graph_build_options options = {
        .progress = go_on,
        .progress_context = is_interrupted,
    };
    bool is_built = graph_build(&edges->graph, reader, &options, error);

    if (is_built && !order_edges(edges)) {
        is_built = error_set_memory(error);
    } else if (!is_built && atomic_load(is_interrupted)) {
        *error = ERROR_INIT;
    }
    if (!is_built) {
        sql_edges_release(edges);
    }
    edges->is_known = is_built;
    return is_built;
}

/* ---- lookups ---- */

static bool is_target_before(const void *edges, size_t place, uint64_t target)
{
    return sql_edges_get(edges, place).target < target;
}

static bool is_source_before(const void *list, size_t place, uint64_t source)
{
    const struct sql_edges *edges = list;

    return sql_edges_get(edges, edges->by_source[place]).source < source;
}

static void find_range(const struct sql_edges *edges,
                       sorted_is_before is_before,
                       uint64_t key,
                       size_t *first,
                       size_t *end)
{
    size_t count = edges->graph.edge_count;

    *first = sorted_place(edges, count, is_before, key);
    *end = key == UINT64_MAX ? count : sorted_place(edges, count, is_before, key + 1);
}

void sql_edges_find_target(const struct sql_edges *edges,
                           uint64_t target,
                           size_t *first,
                           size_t *end)
{
    find_range(edges, is_target_before, target, first, end);
}

void sql_edges_find_source(const struct sql_edges *edges,
                           uint64_t source,
                           size_t *first,
                           size_t *end)
{
    find_range(edges, is_source_before, source, first, end);
}

/* ---- all calls of a trace, by number ---- */

/* The number of items between two tests of is_interrupted. */
#define STEP 4096

static void sql_calls_init(struct sql_calls *calls)
{
    *calls = (struct sql_calls){.calls = NULL};
    arena_init(&calls->arena);
}

static void sql_calls_release(struct sql_calls *calls)
{
    memory_free(calls->calls);
    number_map_release(&calls->places);
    memory_free(calls->by_parent);
    arena_release(&calls->arena);
}

/* ---- lookups by number ---- */

static struct sql_call *find(const struct sql_calls *calls, uint32_t call)
{
    uint32_t place = number_map_get(&calls->places, call);

    assert(place == NUMBER_MAP_NONE || place < calls->count);
    return place == NUMBER_MAP_NONE ? NULL : &calls->calls[place];
}

const struct sql_call *sql_calls_find(const struct sql_calls *calls, uint32_t call)
{
    return find(calls, call);
}

static struct sql_call *add(struct sql_calls *calls, const struct sql_call *call)
{
    void *items = calls->calls;

    if (calls->count >= NUMBER_MAP_NONE ||
        !memory_grow(&items, &calls->capacity, calls->count + 1,
                     sizeof *calls->calls)) {
        return NULL;
    }
    calls->calls = items;
    if (!number_map_put(&calls->places, call->call, (uint32_t)calls->count)) {
        return NULL;
    }
    calls->calls[calls->count] = *call;
    return &calls->calls[calls->count++];
}

/* ---- reading ---- */

static bool copy(struct sql_calls *calls, struct slice from, struct slice *to)
{
    *to = from.size == 0 ? SLICE("") : arena_copy(&calls->arena, from);
    return to->bytes != NULL;
}

static bool note_call(struct sql_calls *calls, const struct log_call_view *view)
{
    const struct sql_call *parent = find(calls, view->parent);
    struct sql_call call = {
        .call = view->call,
        .parent = view->parent,
        .depth = parent == NULL ? 0 : parent->depth + 1,
        .module_number = view->module_number,
        .function = (uint32_t)(view->function - view->module->table.functions),
        .line = view->line,
        .thread = view->thread,
        .flags = (uint8_t)view->flags,
        .is_begun = (view->flags & LOG_CALL_AGAIN) == 0,
        .time = view->time,
    };

    if (find(calls, view->call) != NULL) {
        return true;
    }
    return copy(calls, view->path, &call.path) &&
           copy(calls, view->class_name, &call.class_name) && add(calls, &call) != NULL;
}

/* Notes an event of a call. If a ring dropped the start of the call, the call is made from the
 * event's data. */
static bool note_event(struct sql_calls *calls, const struct log_event_view *event)
{
    struct sql_call *call = find(calls, event->call);
    struct sql_call made = {
        .call = event->call,
        .module_number = event->module_number,
        .function = event->site->function,
        .thread = event->thread,
        .time = event->time,
        .path = SLICE(""),
        .class_name = SLICE(""),
    };

    call = call == NULL ? add(calls, &made) : call;
    if (call == NULL) {
        return false;
    }
    call->first_event = call->event_count == 0 ? event->number : call->first_event;
    call->last_event = event->number;
    call->event_count++;
    return true;
}

static bool note_item(struct sql_calls *calls, const struct log_item *item)
{
    struct sql_call *call;

    switch (item->kind) {
    case LOG_CALL:
        return note_call(calls, &item->call);
    case LOG_EVENT:
        return note_event(calls, &item->event);
    case LOG_END:
        call = find(calls, item->end.call);
        if (call != NULL) {
            call->how = (uint8_t)item->end.how;
            call->end_time = item->end.time;
        }
        return true;
    default:
        return true;
    }
}

static int compare_by_parent(const void *left, const void *right, void *context)
{
    const struct sql_call *calls = context;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    if (calls[a].parent != calls[b].parent) {
        return calls[a].parent < calls[b].parent ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static bool order_by_parent(struct sql_calls *calls)
{
    calls->by_parent = memory_allocate(calls->count, sizeof *calls->by_parent);
    if (calls->by_parent == NULL) {
        return false;
    }
    for (size_t i = 0; i < calls->count; i++) {
        calls->by_parent[i] = (uint32_t)i;
    }
    if (calls->count > 1) {
        qsort_r(calls->by_parent, calls->count, sizeof *calls->by_parent,
                compare_by_parent, calls->calls);
    }
    return true;
}

/* Reads the calls of the whole stream. Fails if memory runs out, or if `is_interrupted` becomes
 * true, with an error of kind ERROR_NONE. No calls are known after a failure. */
static bool sql_calls_read(struct sql_calls *calls,
                           struct log_reader *reader,
                           const atomic_bool *is_interrupted,
                           struct error *error)
{
    struct log_item item;
    bool is_read = true;
    bool is_stopped = false;

    for (uint64_t i = 0; is_read && !is_stopped && log_reader_next(reader, &item);
         i++) {
        is_read = note_item(calls, &item);
        is_stopped = i % STEP == 0 && atomic_load(is_interrupted);
    }
    if (is_read && !is_stopped && order_by_parent(calls)) {
        calls->is_known = true;
        return true;
    }
    sql_calls_release(calls);
    sql_calls_init(calls);
    if (is_stopped) {
        *error = ERROR_INIT;
    } else {
        error_set_memory(error);
    }
    return false;
}

static bool is_parent_before(const void *list, size_t place, uint64_t parent)
{
    const struct sql_calls *calls = list;

    return calls->calls[calls->by_parent[place]].parent < parent;
}

void sql_calls_find_children(const struct sql_calls *calls,
                             uint32_t parent,
                             size_t *first,
                             size_t *end)
{
    *first = sorted_place(calls, calls->count, is_parent_before, parent);
    *end = sorted_place(calls, calls->count, is_parent_before, (uint64_t)parent + 1);
}

/* The number of events between two stored places, and the maximal number of places. */
#define PLACE_STEP 32
#define PLACE_MAX  4096
/* The maximal number of events that are read from a stored place on. */
#define WALK_MAX 2048
/* The estimate for a trace that was not finished, and the greatest estimate, which keeps sums
 * small. */
#define GUESSED_EVENTS (1024 * 1024)
#define MOST_EVENTS    (UINT64_C(1) << 40)

/* ---- readers ---- */

static struct sql_reader *reader_new(struct sql_trace *trace, struct error *error)
{
    struct sql_reader *reader = memory_allocate_zeroed(1, sizeof *reader);

    if (reader == NULL) {
        error_set_memory(error);
        return NULL;
    }
    reader->reader = log_reader_new(trace->path, error);
    if (reader->reader == NULL) {
        memory_free(reader);
        return NULL;
    }
    return reader;
}

struct sql_reader *sql_reader_acquire(struct sql_traces *traces,
                                      struct sql_trace *trace)
{
    struct sql_reader *reader = trace->readers;

    while (reader->is_busy && reader->next != NULL) {
        reader = reader->next;
    }
    if (reader->is_busy) {
        reader->next = reader_new(trace, &traces->error);
        reader = reader->next;
        if (reader == NULL) {
            return NULL;
        }
    }
    reader->is_busy = true;
    log_reader_rewind(reader->reader);
    return reader;
}

void sql_reader_give(struct sql_reader *reader)
{
    if (reader != NULL) {
        reader->is_busy = false;
    }
}

/* ---- seeking ---- */

/* Whether the place is at or before the event. */
static bool is_place_before(const void *places, size_t place, uint64_t number)
{
    return ((const struct log_place *)places)[place].next_event <= number;
}

/* The last stored place at or before the event; NULL if none is near. */
static const struct log_place *find_place(const struct sql_reader *reader,
                                          uint64_t number)
{
    size_t next =
        sorted_place(reader->places, reader->place_count, is_place_before, number);

    if (next == 0 || number - reader->places[next - 1].next_event > WALK_MAX) {
        return NULL;
    }
    return &reader->places[next - 1];
}

bool sql_reader_is_near(const struct sql_reader *reader, uint64_t number)
{
    return find_place(reader, number) != NULL;
}

/* Stores a place. If memory runs out, the place is left out and lookups are slower. */
static void note_place(struct sql_reader *reader, struct log_place place)
{
    void *places = reader->places;

    if (reader->place_count > 0 &&
        place.next_event <
            reader->places[reader->place_count - 1].next_event + PLACE_STEP) {
        return;
    }
    if (reader->place_count < PLACE_MAX &&
        memory_grow(&places, &reader->place_capacity, reader->place_count + 1,
                    sizeof *reader->places)) {
        reader->places = places;
        reader->places[reader->place_count++] = place;
    }
}

static void forget_places(struct sql_reader *reader)
{
    reader->place_count = 0;
    reader->knows_start = false;
}

/* Reads on from the current place, up to the event or the end of the chunk. */
static void walk(struct sql_reader *reader, uint64_t number)
{
    struct log_place place = log_reader_place(reader->reader);
    struct log_place before = place;
    struct log_item item;

    while (place.chunk == before.chunk && place.next_event < number) {
        note_place(reader, place);
        before = place;
        if (!log_reader_next(reader->reader, &item)) {
            return;
        }
        place = log_reader_place(reader->reader);
        if (item.kind == LOG_EVENT && item.event.number >= number) {
            break;
        }
    }
    if (place.chunk != before.chunk) {
        forget_places(reader);
        log_reader_go_to_event(reader->reader, number);
    } else if (place.next_event > number) {
        log_reader_go(reader->reader, before);
    }
}

/* Seeks an event before all stored places of its chunk. The places are collected again, from the
 * start of the chunk. */
static void seek_from_start(struct sql_reader *reader, size_t chunk, uint64_t number)
{
    struct log_item item;

    forget_places(reader);
    log_reader_go(reader->reader, (struct log_place){.chunk = chunk});
    if (log_reader_next(reader->reader, &item) &&
        log_reader_place(reader->reader).chunk == chunk) {
        note_place(reader, log_reader_place(reader->reader));
        reader->knows_start = true;
    }
    if (log_reader_place(reader->reader).next_event <= number) {
        walk(reader, number);
    } else {
        log_reader_go_to_event(reader->reader, number);
    }
}

void sql_reader_seek(struct sql_reader *reader, uint64_t number)
{
    const struct log_place *known = find_place(reader, number);
    struct log_place place;

    if (known != NULL) {
        log_reader_go(reader->reader, *known);
        walk(reader, number);
        return;
    }
    log_reader_go_to_event(reader->reader, number);
    place = log_reader_place(reader->reader);
    if (reader->place_count == 0 || reader->places[0].chunk != place.chunk) {
        forget_places(reader);
        note_place(reader, place);
    } else if (number >= reader->places[0].next_event) {
        note_place(reader, place);
    } else if (!reader->knows_start) {
        seek_from_start(reader, place.chunk, number);
    }
}

/* ---- data that one pass over the trace collects ---- */

bool sql_trace_need_calls(struct sql_traces *traces, struct sql_trace *trace)
{
    struct sql_reader *reader;
    bool is_known = trace->calls.is_known;

    if (!is_known) {
        reader = sql_reader_acquire(traces, trace);
        is_known =
            reader != NULL && sql_calls_read(&trace->calls, reader->reader,
                                             &traces->is_interrupted, &traces->error);
        sql_reader_give(reader);
    }
    return is_known;
}

bool sql_trace_need_edges(struct sql_traces *traces, struct sql_trace *trace)
{
    struct sql_reader *reader;
    bool is_known = trace->edges.is_known;

    if (!is_known) {
        reader = sql_reader_acquire(traces, trace);
        is_known =
            reader != NULL && sql_edges_read(&trace->edges, reader->reader,
                                             &traces->is_interrupted, &traces->error);
        sql_reader_give(reader);
    }
    return is_known;
}

uint64_t sql_trace_guess_events(const struct sql_trace *trace)
{
    const struct log_header *header = log_reader_header(trace->readers->reader);
    uint64_t count = header->is_closed == 1 ? header->event_count : GUESSED_EVENTS;

    count = header->last > 0 && header->last < count ? header->last : count;
    return count > MOST_EVENTS ? MOST_EVENTS : count + 1;
}

/* ---- damage ---- */

/* Whether the message was reported before. Adds it to the list if not. */
static bool is_reported(struct sql_trace *trace, const char *message)
{
    struct slice line = slice_of(message);
    struct slice reported = buffer_slice(&trace->reported);

    for (size_t at = 0; at < reported.size;) {
        size_t end = slice_find(reported, SLICE("\n"), at);

        if (slice_equal(slice_part(reported, at, end), line)) {
            return true;
        }
        at = end + 1;
    }
    buffer_add(&trace->reported, line);
    buffer_add_byte(&trace->reported, '\n');
    return false;
}

const char *sql_trace_next_damage(struct sql_trace *trace)
{
    if (trace->reported.has_failed) {
        return NULL;
    }
    for (struct sql_reader *reader = trace->readers; reader != NULL;
         reader = reader->next) {
        size_t count = log_reader_damage_count(reader->reader);

        for (size_t i = 0; i < count; i++) {
            const char *message = log_reader_damage(reader->reader, i);

            if (!is_reported(trace, message)) {
                return message;
            }
        }
    }
    return NULL;
}

/* ---- lifetime ---- */

static bool trace_init(struct sql_trace *trace,
                       const char *path,
                       source_strip strip,
                       struct error *error)
{
    *trace = (struct sql_trace){.path = path, .name = slice_of(path)};
    sql_calls_init(&trace->calls);
    trace->readers = reader_new(trace, error);
    if (trace->readers == NULL) {
        return false;
    }
    source_lines_init(&trace->sources, trace->readers->reader, strip);
    return true;
}

static void trace_release(struct sql_trace *trace)
{
    struct sql_reader *next;

    sql_calls_release(&trace->calls);
    sql_training_release(&trace->training);
    sql_edges_release(&trace->edges);
    source_lines_release(&trace->sources);
    buffer_release(&trace->reported);
    for (struct sql_reader *reader = trace->readers; reader != NULL; reader = next) {
        next = reader->next;
        log_reader_free(reader->reader);
        memory_free(reader->places);
        memory_free(reader);
    }
}

bool sql_traces_init(struct sql_traces *traces,
                     const char *const *paths,
                     size_t count,
                     source_strip strip,
                     struct error *error)
{
    *traces = (struct sql_traces){.count = 0};
    traces->traces = memory_allocate(count, sizeof *traces->traces);
    if (traces->traces == NULL) {
        return error_set_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        if (!trace_init(&traces->traces[i], paths[i], strip, error)) {
            sql_traces_release(traces);
            return false;
        }
        traces->count++;
    }
    return true;
}

void sql_traces_release(struct sql_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        trace_release(&traces->traces[i]);
    }
    memory_free(traces->traces);
    *traces = (struct sql_traces){.count = 0};
}
