/* Traces as SQL's tables need them. */
#include "runtime/view/sql/tables/traces.h"

#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"

/* Places are kept for each so many events, and for so many in all. */
#define PLACE_STEP 32
#define PLACE_MAX  4096
/* From a place that is known so many events are walked at most. */
#define WALK_MAX 2048
/* Of a trace that was not finished; and the most that is guessed, so that sums stay small. */
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

struct sql_reader *sql_reader_take(struct sql_traces *traces, struct sql_trace *trace)
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

/* Or just there. */
static bool is_place_before(const void *places, size_t place, uint64_t number)
{
    return ((const struct log_place *)places)[place].next_event <= number;
}

/* The last place that is known at or before the event; NULL where none is near. */
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

/* Without memory fewer places are known, and it takes longer. */
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

/* Walks on from where the reader is, up to the event or out of the chunk. */
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

/* Goes to an event before all places that are known in its chunk: they are found anew, from the
 * chunk's start on. */
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

/* ---- what is found by one pass ---- */

bool sql_trace_need_calls(struct sql_traces *traces, struct sql_trace *trace)
{
    struct sql_reader *reader;
    bool is_known = trace->calls.is_known;

    if (!is_known) {
        reader = sql_reader_take(traces, trace);
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
        reader = sql_reader_take(traces, trace);
        is_known = reader != NULL &&
                   sql_edges_read(&trace->edges, reader->reader, &trace->sources,
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

/* Whether it is in the list of what was told; it is from now on. */
static bool is_told(struct sql_trace *trace, const char *message)
{
    struct slice line = slice_of(message);
    struct slice told = buffer_slice(&trace->told);

    for (size_t at = 0; at < told.size;) {
        size_t end = slice_find(told, SLICE("\n"), at);

        if (slice_equal(slice_part(told, at, end), line)) {
            return true;
        }
        at = end + 1;
    }
    buffer_add(&trace->told, line);
    buffer_add_byte(&trace->told, '\n');
    return false;
}

const char *sql_trace_next_damage(struct sql_trace *trace)
{
    if (trace->told.has_failed) {
        return NULL;
    }
    for (struct sql_reader *reader = trace->readers; reader != NULL;
         reader = reader->next) {
        size_t count = log_reader_damage_count(reader->reader);

        for (size_t i = 0; i < count; i++) {
            const char *message = log_reader_damage(reader->reader, i);

            if (!is_told(trace, message)) {
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
    sql_edges_release(&trace->edges);
    source_lines_release(&trace->sources);
    buffer_release(&trace->told);
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
