/* The first divergence in words: its place, its values, its inputs. */
#include "runtime/view/diff/report/words.h"

#include "runtime/array/uninitialised.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <string.h>

/* ---- inputs of a statement ---- */

#define INPUTS_MOST     8
#define READ_NAME_LIMIT 60

struct wanted {
    struct slice name; /* borrowed from the site table */
    bool is_found;
    bool is_uninitialised; /* the memory had not been written when it was recorded */
    struct buffer value;   /* owned */
};

struct reads_search {
    struct wanted names[INPUTS_MOST];
    uint32_t count;
};

static bool is_attribute(struct slice name)
{
    return slice_starts(name, SLICE("self."));
}

static bool is_known(const struct reads_search *reads_search, struct slice name)
{
    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (slice_equal(reads_search->names[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool says_something(const struct log_event_view *event)
{
    return event->kind != VALUE_NOTHING && event->kind != VALUE_MISSING &&
           event->kind != VALUE_OBJECT;
}

static void read_value(struct wanted *wanted,
                       struct log_reader *reader,
                       uint64_t event,
                       bool has_color)
{
    struct log_item item;

    log_reader_go_to_event(reader, event);
    wanted->is_found = log_reader_next(reader, &item) && item.kind == LOG_EVENT &&
                       item.event.number == event && says_something(&item.event);
    if (wanted->is_found) {
        value_text_add(&wanted->value, &item.event, has_color);
        wanted->is_uninitialised = item.event.kind == VALUE_TENSOR &&
                                   uninitialised_is_noted(item.event.shape->note);
    }
}

/* Finds the values of all names that the event's statement read. */
static void read_values(struct diff_work *work,
                        unsigned side,
                        const struct log_event_view *event,
                        struct log_reader *reader,
                        struct reads_search *reads_search)
{
    struct diff_facts *facts = &work->facts[side];
    const struct diff_fact *fact = diff_facts_find(facts, event->number);

    for (uint32_t i = 0; i < event->site->read_count; i++) {
        const struct site_read *read = &event->site->reads[i];
        const struct diff_fact *found;
        struct wanted *wanted;

        if (reads_search->count == INPUTS_MOST || is_known(reads_search, read->name)) {
            continue;
        }
        wanted = &reads_search->names[reads_search->count++];
        *wanted = (struct wanted){.name = read->name, .value = BUFFER_INIT};
        found = fact == NULL ? NULL : diff_facts_find_read(facts, fact, read, true);
        if (found != NULL) {
            read_value(wanted, reader, facts->first_event + found->event,
                       work->options->has_color);
        }
    }
}

/* Adds the names of uninitialised memory, whose contents differ between runs. */
static void add_uninitialised(const struct reads_search *reads_search,
                              struct buffer *text)
{
    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (reads_search->names[i].is_found &&
            reads_search->names[i].is_uninitialised) {
            buffer_add(text, SLICE("  "));
            text_add_shortened(text, reads_search->names[i].name, READ_NAME_LIMIT);
            buffer_add(text,
                       SLICE(" was uninitialised memory, which may hold anything, "
                             "and no recorded line wrote to it\n"));
        }
    }
}

/* Adds the attributes that the statement reads and whose values no event has: most often an
 * nn.Module's parameters. */
static void add_unreported(const struct reads_search *reads_search, struct buffer *text)
{
    bool is_first = true;

    for (uint32_t i = 0; i < reads_search->count; i++) {
        if (reads_search->names[i].is_found ||
            !(is_attribute(reads_search->names[i].name) ||
              slice_equal(reads_search->names[i].name, SLICE("self")))) {
            continue;
        }
        buffer_add(text,
                   is_first ? SLICE("  not recorded: values read from ") : SLICE(", "));
        text_add_shortened(text, reads_search->names[i].name, READ_NAME_LIMIT);
        is_first = false;
    }
    if (!is_first) {
        buffer_add_byte(text, '\n');
    }
}

/* Whether memory ran out, which a reader reports as damage. */
static bool is_memory_out(const struct log_reader *reader)
{
    for (size_t i = 0; i < log_reader_damage_count(reader); i++) {
        if (strstr(log_reader_damage(reader, i), "out of memory") != NULL) {
            return true;
        }
    }
    return false;
}

static void add_found(struct diff_work *work,
                      struct reads_search *reads_search,
                      struct slice heading)
{
    bool has_heading = false;

    for (uint32_t i = 0; i < reads_search->count; i++) {
        heading =
            reads_search->names[i].is_uninitialised ? SLICE("  inputs:\n") : heading;
    }
    for (uint32_t i = 0; i < reads_search->count; i++) {
        struct wanted *wanted = &reads_search->names[i];

        if (wanted->is_found) {
            buffer_add(&work->text, has_heading ? SLICE("") : heading);
            has_heading = true;
            buffer_add(&work->text, SLICE("      "));
            text_add_shortened(&work->text, wanted->name, READ_NAME_LIMIT);
            buffer_add(&work->text, SLICE(" = "));
            buffer_add(&work->text, buffer_slice(&wanted->value));
            buffer_add_byte(&work->text, '\n');
        }
        work->text.has_failed = work->text.has_failed || wanted->value.has_failed;
        buffer_release(&wanted->value);
    }
}

/* Adds the inputs of the event's statement to work->text, one per line, with their last recorded
 * values; `heading` precedes the first. */
static void diff_reads_add(struct diff_work *work,
                           unsigned side,
                           const struct log_event_view *event,
                           struct slice heading)
{
    struct reads_search reads_search = {.count = 0};
    struct error error = ERROR_INIT;
    struct log_reader *reader;

    if (event->site->read_count == 0) {
        return;
    }
    reader = log_reader_new(work->paths[side], &error);
    if (reader == NULL) {
        work->text.has_failed = work->text.has_failed || error.kind == ERROR_MEMORY;
        return;
    }
    read_values(work, side, event, reader, &reads_search);
    work->text.has_failed = work->text.has_failed || is_memory_out(reader);
    log_reader_free(reader);
    add_found(work, &reads_search, heading);
    add_uninitialised(&reads_search, &work->text);
    add_unreported(&reads_search, &work->text);
}

/* ---- places of two programs, in words ---- */

#define PATH_LIMIT 100
#define NAME_LIMIT 100
/* If the stack is deeper, only the outermost and the innermost calls are reported. */
#define CALLS_MOST  16
#define OUTER_CALLS 4
/* At most this many loops around one line are reported. */
#define LOOPS_MOST 4

struct diff_place diff_place_of(const struct log_item *item,
                                const struct open_call *call)
{
    switch (item->kind) {
    case LOG_EVENT:
        return (struct diff_place){item->event.module_number, item->event.site->line};
    case LOG_CALL:
        return (struct diff_place){item->call.module_number, item->call.function->line};
    default:
        return (struct diff_place){call == NULL ? 0 : call->module_number, 0};
    }
}

struct diff_place
diff_site_place(const struct diff_work *work, unsigned side, uint32_t number)
{
    const struct log_module *module;
    const struct site *site;
    uint32_t count = log_reader_module_count(work->readers[side]);

    if (number == DIFF_SITE_NONE) {
        return (struct diff_place){0, 0};
    }
    site = find_site(work->readers[side], number, &module);
    for (uint32_t i = 0; site != NULL && i < count; i++) {
        if (log_reader_module(work->readers[side], i) == module) {
            return (struct diff_place){i, site->line};
        }
    }
    return (struct diff_place){0, 0};
}

struct diff_place diff_other_place(const struct diff_work *work,
                                   unsigned side,
                                   const struct log_event_view *event)
{
    return diff_site_place(work, 1 - side,
                           diff_align_site(work->align, side, event->site_number));
}

void diff_place_add(const struct diff_work *work,
                    unsigned side,
                    struct diff_place place,
                    struct buffer *text)
{
    const struct log_module *module =
        log_reader_module(work->readers[side], place.module);

    if (module != NULL) {
        buffer_add_printable(text, module->table.path);
    }
    buffer_add_byte(text, ':');
    buffer_add_number(text, place.line);
}

struct slice
diff_place_source(struct diff_work *work, unsigned side, struct diff_place place)
{
    if (place.line == 0) {
        return SLICE("");
    }
    return source_lines_get(&work->sources[side], place.module, place.line);
}

void diff_name_add(const struct log_event_view *event, struct buffer *text)
{
    if (event->name.size == 0 && event->path.size == 0) {
        buffer_add(text, slice_of(site_kind_text(event->site->kind)));
        return;
    }
    if (event->name.size == 0 && event->site->kind == SITE_RETURN) {
        buffer_add(text, SLICE("return"));
    }
    text_add_shortened(text, event->name, NAME_LIMIT);
    text_add_shortened(text, event->path, NAME_LIMIT);
}

/* ---- the stack of calls ---- */

/* Returns the last site of the function at or before the line. SITE_NONE: there is none. */
static uint32_t
find_line(const struct site_table *table, uint32_t function, uint32_t line)
{
    uint32_t found = SITE_NONE;

    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].function == function && table->sites[i].line <= line &&
            (found == SITE_NONE || table->sites[i].line >= table->sites[found].line)) {
            found = i;
        }
    }
    return found;
}

/* Finds the loops around a site, innermost first, and returns their number. A statement before
 * the site that is indented less has it in its block. */
static uint32_t
find_loops(const struct site_table *table, uint32_t site, uint32_t loops[LOOPS_MOST])
{
    assert(site < table->site_count);

    uint32_t column = table->sites[site].column;
    uint32_t function = table->sites[site].function;
    uint32_t count = 0;

    if (table->sites[site].kind == SITE_LOOP) {
        loops[count++] = site;
    }
    for (uint32_t i = site; i-- > 0 && count < LOOPS_MOST;) {
        const struct site *before = &table->sites[i];

        if (before->function != function || before->column >= column) {
            continue;
        }
        column = before->column;
        if (before->kind == SITE_LOOP) {
            loops[count++] = i;
        }
    }
    return count;
}

static void add_turns(const struct diff_work *work,
                      unsigned side,
                      const struct open_call *call,
                      uint32_t line,
                      struct buffer *text)
{
    const struct log_module *module =
        log_reader_module(work->readers[side], call->module_number);
    uint32_t loops[LOOPS_MOST];
    uint32_t site;

    if (line == 0 || module == NULL) {
        return;
    }
    site = find_line(&module->table, call->function, line);
    if (site == SITE_NONE) {
        return;
    }
    for (uint32_t i = find_loops(&module->table, site, loops); i-- > 0;) {
        uint32_t turn = diff_align_turn(work->align, side, call, loops[i]);

        if (turn > 0) {
            buffer_add(text, SLICE(" (turn "));
            buffer_add_number(text, turn);
            buffer_add(text, SLICE(" of line "));
            buffer_add_number(text, module->table.sites[loops[i]].line);
            buffer_add_byte(text, ')');
        }
    }
}

static void add_call(struct diff_work *work,
                     unsigned side,
                     const struct open_call *call,
                     uint32_t line,
                     struct buffer *text)
{
    const struct site_function *function =
        open_call_function(call, work->readers[side]);
    const struct log_module *module =
        log_reader_module(work->readers[side], call->module_number);

    if (call->path.size > 0) {
        text_add_shortened(text, call->path, NAME_LIMIT);
        buffer_add_byte(text, ' ');
    }
    if (call->function == 0) {
        text_add_path(text, module->table.path, PATH_LIMIT);
    } else {
        text_add_shortened(text, function->name, NAME_LIMIT);
    }
    add_turns(work, side, call, line, text);
}

/* Returns the call that is `steps` levels up, and sets the line at which it is. */
static const struct open_call *
find_above(const struct open_call *call, uint32_t steps, uint32_t *line)
{
    while (steps > 0 && call->parent != NULL) {
        *line = call->line;
        call = call->parent;
        steps--;
    }
    return call;
}

void diff_path_add(struct diff_work *work,
                   unsigned side,
                   const struct open_call *call,
                   uint32_t line,
                   struct buffer *text)
{
    uint32_t depth = call == NULL ? 0 : call->depth;

    if (call == NULL) {
        return;
    }
    for (uint32_t i = 0; i <= depth; i++) {
        uint32_t at = line;
        const struct open_call *above;

        if (depth >= CALLS_MOST && i == OUTER_CALLS) {
            buffer_add(text, SLICE(" > \xE2\x80\xA6"));
            i = depth - (CALLS_MOST - OUTER_CALLS);
            continue;
        }
        above = find_above(call, depth - i, &at);
        buffer_add(text, i > 0 ? SLICE(" > ") : SLICE(""));
        add_call(work, side, above, at, text);
    }
}

#define SOURCE_LIMIT 160
#define LINE_WIDTH   6

static void add_source(struct diff_work *work, struct slice source)
{
    text_add_shortened(&work->text, source, SOURCE_LIMIT);
    buffer_add_byte(&work->text, '\n');
}

/* Adds the line of B, and A's if its place or text differs. */
static void add_sources(struct diff_work *work, const struct diff_finding *finding)
{
    struct diff_place places[2] = {{finding->modules[0], finding->lines[0]},
                                   {finding->modules[1], finding->lines[1]}};
    struct slice sources[2] = {diff_place_source(work, 0, places[0]),
                               diff_place_source(work, 1, places[1])};
    struct buffer names[2] = {BUFFER_INIT, BUFFER_INIT};
    bool is_elsewhere;

    if (sources[1].size > 0) {
        text_add_number_right(&work->text, places[1].line, LINE_WIDTH);
        buffer_add(&work->text, SLICE("| "));
        add_source(work, sources[1]);
    }
    for (unsigned side = 0; side < 2; side++) {
        diff_place_add(work, side, places[side], &names[side]);
    }
    is_elsewhere = places[0].line != 0 &&
                   (places[1].line == 0 || !slice_equal(sources[0], sources[1]) ||
                    !slice_equal(buffer_slice(&names[0]), buffer_slice(&names[1])));
    if (is_elsewhere) {
        buffer_add(&work->text, SLICE("  in A, "));
        buffer_add(&work->text, buffer_slice(&names[0]));
        if (slice_equal(sources[0], sources[1])) {
            buffer_add_byte(&work->text, '\n');
        } else {
            buffer_add(&work->text, SLICE(": "));
            add_source(work, sources[0]);
        }
    }
    work->text.has_failed =
        work->text.has_failed || names[0].has_failed || names[1].has_failed;
    buffer_release(&names[0]);
    buffer_release(&names[1]);
}

static void add_path(struct diff_work *work, struct slice path, uint32_t visit)
{
    buffer_add(&work->text, SLICE("  in "));
    buffer_add(&work->text, path);
    if (visit > 0) {
        buffer_add(&work->text, SLICE(", visit "));
        buffer_add_number(&work->text, (uint64_t)visit + 1);
        buffer_add(&work->text, SLICE(" of the line"));
    }
    buffer_add_byte(&work->text, '\n');
}

static void add_values(struct diff_work *work, const struct diff_finding *finding)
{
    for (unsigned side = 0; side < 2; side++) {
        buffer_add(&work->text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
        value_text_add(&work->text, &finding->items[side]->event,
                       work->options->has_color);
        buffer_add_byte(&work->text, '\n');
    }
    if (finding->distance != NULL) {
        const struct log_event_view *event = &finding->items[1]->event;

        buffer_add(&work->text, SLICE("  distance: "));
        diff_distance_add(&work->text, finding->distance,
                          event->kind == VALUE_TENSOR ? event->shape : NULL);
        buffer_add_byte(&work->text, '\n');
    }
}

/* Adds the caller's line, for an argument. */
static void add_caller(struct diff_work *work, const struct open_call *call)
{
    struct diff_place place;

    if (call == NULL || call->parent == NULL || call->line == 0) {
        return;
    }
    place = (struct diff_place){call->parent->module_number, call->line};
    buffer_add(&work->text, SLICE("  called from "));
    diff_place_add(work, 1, place, &work->text);
    buffer_add(&work->text, SLICE(": "));
    add_source(work, diff_place_source(work, 1, place));
}

/* Adds the place that showed the difference, if it is not the line to fix. */
static void add_seen(struct diff_work *work, const struct diff_finding *finding)
{
    const struct log_event_view *event = &finding->items[1]->event;
    struct diff_place place = {event->module_number, event->site->line};

    if (finding->modules[1] == place.module && finding->lines[1] == place.line) {
        return;
    }
    buffer_add(&work->text, SLICE("  first seen at "));
    diff_place_add(work, 1, place, &work->text);
    buffer_add(&work->text, SLICE(": "));
    add_source(work, diff_place_source(work, 1, place));
}

static void add_event(struct diff_work *work, const struct diff_finding *finding)
{
    const struct log_event_view *event = &finding->items[1]->event;

    add_seen(work, finding);
    work->path.size = 0;
    diff_path_add(work, 1, finding->calls[1], event->site->line, &work->path);
    add_path(work, buffer_slice(&work->path), event->visit);
    if (event->site->kind == SITE_ENTER && finding->lines[1] == event->site->line) {
        add_caller(work, finding->calls[1]);
    }
    add_values(work, finding);
    if (event->site->kind != SITE_ENTER && (event->flags & LOG_EVENT_READ) == 0) {
        diff_reads_add(work, 1, event,
                       finding->has_equal_inputs ? SLICE("  inputs, equal in both:\n")
                                                 : SLICE("  inputs:\n"));
    }
}

/* Adds the inputs of a condition: B's, or A's if only A reached it. */
static void add_flow(struct diff_work *work, const struct diff_finding *finding)
{
    unsigned side = work->gap.points[1].path.size > 0 ? 1 : 0;

    add_path(work, buffer_slice(&work->gap.points[side].path), 0);
    for (unsigned i = 2; i-- > 0;) {
        const struct log_item *item = finding->items[i];

        if (item != NULL && item->kind == LOG_EVENT &&
            (item->event.site->kind == SITE_BRANCH ||
             item->event.site->kind == SITE_LOOP)) {
            diff_reads_add(work, i, &item->event,
                           work->gap.is_inherited || work->gap.is_ignored
                               ? SLICE("  the condition reads:\n")
                               : SLICE("  the condition reads, equal in both:\n"));
            return;
        }
    }
}

/* Adds an item that only one run has. */
static void add_item(struct diff_work *work, const struct diff_finding *finding)
{
    unsigned side = finding->items[1] != NULL ? 1 : 0;
    const struct log_event_view *event = &finding->items[side]->event;

    work->path.size = 0;
    diff_path_add(work, side, finding->calls[side], event->site->line, &work->path);
    add_path(work, buffer_slice(&work->path), event->visit);
    buffer_add(&work->text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
    value_text_add(&work->text, event, work->options->has_color);
    buffer_add_byte(&work->text, '\n');
}

/* Adds a gradient, or a value that a step wrote. */
static void add_update(struct diff_work *work, const struct diff_finding *finding)
{
    unsigned side = finding->items[1] != NULL ? 1 : 0;
    const struct log_event_view *event = &finding->items[side]->event;
    struct diff_place place = {event->module_number, event->site->line};

    if (finding->cause == DIFF_CAUSE_GRADIENT &&
        (event->flags & LOG_EVENT_PARAMETER) == 0 &&
        place.line != finding->lines[side]) {
        buffer_add(&work->text, SLICE("  the value: "));
        diff_place_add(work, side, place, &work->text);
        buffer_add(&work->text, SLICE(": "));
        add_source(work, diff_place_source(work, side, place));
    }
    for (side = 0; side < 2; side++) {
        buffer_add(&work->text, side == 0 ? SLICE("  A:  ") : SLICE("  B:  "));
        if (finding->items[side] == NULL) {
            buffer_add(&work->text, SLICE("none"));
        } else {
            value_text_add(&work->text, &finding->items[side]->event,
                           work->options->has_color);
        }
        buffer_add_byte(&work->text, '\n');
    }
    if (finding->distance != NULL) {
        buffer_add(&work->text, SLICE("  distance: "));
        diff_distance_add(&work->text, finding->distance, event->shape);
        buffer_add_byte(&work->text, '\n');
    }
    buffer_add(&work->text, finding->detail);
}

void diff_first_make(struct diff_work *work, const struct diff_finding *finding)
{
    struct diff_place place = {finding->modules[1], finding->lines[1]};
    unsigned side = place.line == 0 ? 0 : 1;

    work->text.size = 0;
    if (place.line == 0) {
        place = (struct diff_place){finding->modules[0], finding->lines[0]};
    }
    paint_start(&work->text, work->options->has_color, PAINT_CALL);
    diff_place_add(work, side, place, &work->text);
    paint_end(&work->text, work->options->has_color);
    buffer_add(&work->text, SLICE(": "));
    paint_start(&work->text, work->options->has_color, PAINT_ALARM);
    buffer_add(&work->text, SLICE("first divergence"));
    paint_end(&work->text, work->options->has_color);
    buffer_add(&work->text, SLICE(": "));
    buffer_add(&work->text, finding->name);
    buffer_add(&work->text, SLICE(": "));
    buffer_add(&work->text, finding->words);
    buffer_add_byte(&work->text, '\n');
    add_sources(work, finding);
    if (finding->is_update) {
        add_update(work, finding);
    } else if (finding->is_item) {
        add_item(work, finding);
    } else if (finding->cause == DIFF_CAUSE_FLOW) {
        add_flow(work, finding);
    } else if (finding->items[0] != NULL && finding->items[1] != NULL &&
               finding->items[1]->kind == LOG_EVENT) {
        add_event(work, finding);
    }
}

void diff_add_finding(struct diff_work *work, struct diff_finding *finding)
{
    const struct diff_options *options = work->options;

    finding->is_first =
        !work->has_first && (finding->class_ != DIFF_ONLY || finding->is_item) &&
        finding->class_ != DIFF_STEP && finding->cause != DIFF_CAUSE_CODE &&
        !(finding->is_absorbed && work->facts[1].has_cause);
    if (finding->is_first) {
        work->has_first = true;
        if (finding->text.size == 0) {
            diff_first_make(work, finding);
            finding->text = buffer_slice(&work->text);
        }
    } else {
        finding->text = SLICE("");
    }
    if (work->name.has_failed || work->words.has_failed || work->text.has_failed ||
        work->path.has_failed) {
        error_set_memory(work->error);
        work->is_stopped = true;
        return;
    }
    if (options->found != NULL && !options->found(options->context, finding)) {
        if (work->error->kind == ERROR_NONE) {
            error_set(work->error, ERROR_SYSTEM, "stopped");
        }
        work->is_stopped = true;
    }
}
