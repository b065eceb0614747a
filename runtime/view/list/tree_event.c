/* The line of an event in a trace as a tree. */
#include "runtime/base/memory.h"
#include "runtime/view/list/tree_log.h"
#include "runtime/view/list/tree_log_parts.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#define SOURCE_LIMIT 120

/* Gives whether the line stands above the event now: its number need not be said again. */
static bool add_source(struct tree_log *log,
                       const struct log_event_view *event,
                       const struct open_call *call,
                       struct buffer *text)
{
    uint32_t line = event->site->line;
    struct slice source;

    if (log->last_source_call == call->call && log->last_source_line == line) {
        return true;
    }
    source = source_lines_get(log->sources, event->module_number, line);
    if (source.size == 0) {
        return false;
    }
    log->last_source_call = call->call;
    log->last_source_line = line;
    tree_indent_add(text, call->depth + 1);
    paint_start(text, log->has_color, PAINT_FAINT);
    text_add_number_right(text, line, TREE_LINE_WIDTH);
    buffer_add(text, SLICE("| "));
    text_add_shortened(text, source, SOURCE_LIMIT);
    paint_end(text, log->has_color);
    buffer_add_byte(text, '\n');
    return true;
}

/* The site that an arm without a condition is the other side of: the statement's first arm, or
 * a loop. NULL where it is not recorded. */
static const struct site *find_statement(const struct site_table *table,
                                         const struct site *arm)
{
    const struct site *found = NULL;

    for (const struct site *site = arm; site > table->sites;) {
        site--;
        if (site->function != arm->function || site->column != arm->column) {
            continue;
        }
        if (site->kind == SITE_LOOP) {
            return found == NULL ? site : found;
        }
        if (site->kind != SITE_BRANCH || site->arm >= arm->arm) {
            return found;
        }
        found = site;
        if (site->arm == 0) {
            return found;
        }
    }
    return found;
}

/* The arm's own line says what was decided: `if mask is not None:`; behind an `else:` goes the
 * line of what it belongs to. */
static void add_branch(struct tree_log *log,
                       const struct log_event_view *event,
                       struct buffer *text)
{
    const struct site *site = event->site;
    const struct site *statement = NULL;
    struct slice source =
        source_lines_get(log->sources, event->module_number, site->line);

    if (log->has_source && source.size > 0) {
        buffer_add(text, SLICE("taken"));
    } else if (source.size > 0) {
        buffer_add(text, SLICE("branch "));
        text_add_shortened(text, source, SOURCE_LIMIT);
    } else {
        buffer_add(text, SLICE("branch arm "));
        buffer_add_number(text, site->arm);
    }
    if (site->arm > 0 && slice_starts(source, SLICE("else"))) {
        statement = find_statement(&event->module->table, site);
    }
    if (statement != NULL) {
        buffer_add(text, SLICE("  (line "));
        buffer_add_number(text, statement->line);
        buffer_add(text, SLICE(": "));
        source = source_lines_get(log->sources, event->module_number, statement->line);
        text_add_shortened(text, source, SOURCE_LIMIT);
        buffer_add_byte(text, ')');
    }
}

/* The statement that was run, unless its line stands above already. */
static void
add_line(struct tree_log *log, const struct log_event_view *event, struct buffer *text)
{
    struct slice source =
        source_lines_get(log->sources, event->module_number, event->site->line);

    if (log->has_source && source.size > 0) {
        buffer_add(text, SLICE("ran"));
    } else {
        buffer_add(text, source.size > 0 ? SLICE("line ") : SLICE("line"));
        text_add_shortened(text, source, SOURCE_LIMIT);
    }
}

static void add_name(struct buffer *text, const struct log_event_view *event)
{
    if (event->name.size == 0 && event->site->kind == SITE_RETURN) {
        buffer_add(text, SLICE("return"));
    }
    text_add_shortened(text, event->name, TREE_NAME_LIMIT);
    text_add_shortened(text, event->path, TREE_NAME_LIMIT);
}

/* What kind of line it is, where its name and value do not tell. */
static void add_kind(struct tree_log *log,
                     const struct log_event_view *event,
                     bool is_new_visit,
                     struct buffer *text)
{
    if ((event->flags & LOG_EVENT_READ) != 0) {
        buffer_add(text, SLICE("reads "));
        return;
    }
    switch (event->site->kind) {
    case SITE_ENTER:
        buffer_add(text, event->name.size > 0 ? SLICE("enter ") : SLICE("enter"));
        break;
    case SITE_SPY:
        buffer_add(text, SLICE("spy "));
        break;
    case SITE_LOOP:
        if (is_new_visit) {
            buffer_add(text, SLICE("turn "));
            buffer_add_number(text, (uint64_t)event->visit + 1);
        }
        break;
    case SITE_BRANCH:
        if (is_new_visit) {
            add_branch(log, event, text);
        }
        break;
    case SITE_LINE:
        add_line(log, event, text);
        break;
    default:
        break;
    }
}

void tree_log_add_event(struct tree_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text)
{
    bool is_new_visit = log->last_call != event->call ||
                        log->last_site != event->site_number ||
                        log->last_visit != event->visit;
    bool is_read = (event->flags & LOG_EVENT_READ) != 0;
    bool is_counted =
        is_new_visit && !is_read &&
        (event->site->kind == SITE_LOOP || event->site->kind == SITE_BRANCH);
    bool has_name =
        event->name.size > 0 || event->path.size > 0 || event->kind != VALUE_NOTHING;

    tree_log_add_call(log, call, text);
    log->above_count = (size_t)call->depth + 1;
    if (!is_read) {
        log->last_call = event->call;
        log->last_site = event->site_number;
        log->last_visit = event->visit;
    }
    if (log->has_source && add_source(log, event, call, text)) {
        tree_indent_add(text, call->depth + 1);
        text_add_blanks(text, TREE_LINE_WIDTH);
    } else {
        tree_indent_add(text, call->depth + 1);
        paint_start(text, log->has_color, PAINT_PLACE);
        text_add_number_right(text, event->site->line, TREE_LINE_WIDTH);
        paint_end(text, log->has_color);
    }
    buffer_add(text, SLICE("  "));
    add_kind(log, event, is_new_visit, text);
    if (has_name) {
        buffer_add(text, is_counted ? SLICE("  ") : SLICE(""));
        add_name(text, event);
        buffer_add(text, SLICE(" = "));
        value_text_add(text, event, log->has_color);
        change_text_add(text, event, log->reader, log->has_color);
    }
    buffer_add_byte(text, '\n');
}

/* ---- gradients ---- */

void tree_log_add_step(struct tree_log *log,
                       const struct log_step_view *step,
                       struct buffer *text)
{
    log->above_count = 0;
    buffer_add(text, step->name.size > 0 ? SLICE("") : SLICE("backward "));
    if (step->name.size > 0) {
        text_add_shortened(text, step->name, TREE_NAME_LIMIT);
        buffer_add_byte(text, ' ');
    }
    if (!log->is_canonical) {
        buffer_add_number(text, step->number);
    }
    if (step->line != 0) {
        buffer_add(text, SLICE("  from "));
        text_add_path(text, step->file, TREE_NAME_LIMIT);
        buffer_add_byte(text, ':');
        buffer_add_number(text, step->line);
    }
    buffer_add_byte(text, '\n');
}

void tree_log_add_gradient(struct tree_log *log,
                           const struct log_event_view *gradient,
                           struct buffer *text)
{
    const struct site_table *table = &gradient->module->table;

    log->above_count = 0;
    tree_indent_add(text, 1);
    paint_start(text, log->has_color, PAINT_PLACE);
    text_add_number_right(text, gradient->site->line, TREE_LINE_WIDTH);
    paint_end(text, log->has_color);
    buffer_add(text, SLICE("  gradient of "));
    add_name(text, gradient);
    buffer_add(text, SLICE(" = "));
    value_text_add(text, gradient, log->has_color);
    paint_start(text, log->has_color, PAINT_CHANGE);
    buffer_add(text, SLICE("   in "));
    text_add_shortened(text, table->functions[gradient->site->function].name,
                       TREE_NAME_LIMIT);
    if (!log->is_canonical) {
        buffer_add(text, SLICE("  of #"));
        buffer_add_number(text, gradient->number);
    }
    paint_end(text, log->has_color);
    buffer_add_byte(text, '\n');
}
