/* Places of two programs, in words. */
#include "runtime/view/diff/work.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"

#define PATH_LIMIT 100
#define NAME_LIMIT 100
/* Of a deeper way the outermost calls and the innermost are told. */
#define CALLS_MOST  16
#define OUTER_CALLS 4
/* So many loops around one line are told. */
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

/* ---- the way to a call ---- */

/* The last site of the function at or before the line; SITE_NONE. */
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

/* The loops around a site: each statement further to the left that stands before it has it
 * in its block. Gives how many. */
static uint32_t
find_loops(const struct site_table *table, uint32_t site, uint32_t loops[LOOPS_MOST])
{
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
    const struct diff_frame *frame = diff_scope_find(&work->scope, side, call->call);
    const struct log_module *module =
        log_reader_module(work->readers[side], call->module_number);
    uint32_t loops[LOOPS_MOST];
    uint32_t site;

    if (frame == NULL || line == 0 || module == NULL) {
        return;
    }
    site = find_line(&module->table, call->function, line);
    if (site == SITE_NONE) {
        return;
    }
    for (uint32_t i = find_loops(&module->table, site, loops); i-- > 0;) {
        uint32_t number = module->first_site + loops[i];
        uint32_t turn;

        if (side == 0) {
            number = diff_align_site(work->align, 0, number);
        }
        turn = number == DIFF_SITE_NONE ? 0 : diff_frame_turn_of(frame, number);
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

/* The call that stands `steps` above, and the line that it is at. */
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
