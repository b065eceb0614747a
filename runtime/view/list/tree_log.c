/* A trace as a tree for people. */
#include "runtime/view/list/tree_log.h"

#include "runtime/base/memory.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#define TREE_LINE_WIDTH 4   /* of the line number */
#define TREE_NAME_LIMIT 100 /* in bytes */

#define INDENT      2
#define DEPTH_LIMIT 20 /* deeper calls have this indentation and show their depth */
#define PATH_LIMIT  60
#define NOTE_LIMIT  1000

void tree_log_init(struct tree_log *log,
                   const struct log_reader *reader,
                   struct source_lines *sources)
{
    *log = (struct tree_log){.reader = reader, .sources = sources};
}

void tree_log_release(struct tree_log *log)
{
    memory_free(log->above);
    log->above = NULL;
}

/* Appends the indentation of the lines of a call of that depth. */
static void tree_indent_add(struct buffer *text, uint32_t depth)
{
    text_add_blanks(text, (depth < DEPTH_LIMIT ? depth : DEPTH_LIMIT) * (size_t)INDENT);
}

/* ---- calls ---- */

static bool tree_log_stands_above(const struct tree_log *log,
                                  const struct open_call *call)
{
    return call->depth >= log->above_start && call->depth < log->above_count &&
           log->above[call->depth] == call->call;
}

/* Notes that the call's line has been printed. Lines of deeper calls no longer apply to the
 * lines that follow. */
static void put_above(struct tree_log *log, const struct open_call *call)
{
    void *items = log->above;
    size_t count = (size_t)call->depth + 1;

    if (call->parent == NULL || !tree_log_stands_above(log, call->parent)) {
        log->above_start = call->depth;
    }
    if (!memory_grow(&items, &log->above_capacity, count, sizeof *log->above)) {
        log->above_count = 0;
        log->has_failed = true;
        return;
    }
    log->above = items;
    log->above[call->depth] = call->call;
    log->above_count = count;
}

static void add_thread(const struct tree_log *log, uint16_t thread, struct buffer *text)
{
    struct slice name = log_reader_thread_name(log->reader, thread);

    buffer_add(text, SLICE("  ["));
    if (name.size > 0) {
        text_add_shortened(text, name, TREE_NAME_LIMIT);
    } else {
        buffer_add(text, SLICE("thread "));
        buffer_add_number(text, thread);
    }
    buffer_add_byte(text, ']');
}

/* Whether the class defines the method, according to their full names. */
static bool is_method_of(struct slice function, struct slice class_name)
{
    size_t end = function.size;
    struct slice owner;

    while (end > 0 && function.bytes[end - 1] != '.') {
        end--;
    }
    if (end == 0) {
        return false;
    }
    owner = slice_part(function, 0, end - 1);
    return slice_ends(class_name, owner) &&
           (class_name.size == owner.size ||
            class_name.bytes[class_name.size - owner.size - 1] == '.');
}

/* Appends the module's path, such as `(encoder.layers.0.attn)`, and its class if the method is
 * inherited. */
static void add_module(const struct tree_log *log,
                       const struct open_call *call,
                       struct slice function,
                       struct buffer *text)
{
    struct slice class_name = call->class_name;
    bool has_class = class_name.size > 0 && !is_method_of(function, class_name);

    if (call->path.size == 0 && !has_class) {
        return;
    }
    buffer_add(text, SLICE("  "));
    paint_start(text, log->has_color, PAINT_MODULE);
    buffer_add_byte(text, '(');
    text_add_shortened(text, call->path, TREE_NAME_LIMIT);
    if (has_class) {
        buffer_add(text, call->path.size > 0 ? SLICE(": ") : SLICE(""));
        text_add_shortened(text, type_without_main(class_name), TREE_NAME_LIMIT);
    }
    buffer_add_byte(text, ')');
    paint_end(text, log->has_color);
}

static void add_circumstances(const struct tree_log *log,
                              const struct open_call *call,
                              struct buffer *text)
{
    if (call->line != 0) {
        buffer_add(text, SLICE("  from line "));
        buffer_add_number(text, call->line);
    }
    if (call->is_generator) {
        buffer_add(text, SLICE("  resumable"));
    }
    if (call->is_joined) {
        buffer_add(text, SLICE("  recorded from its middle"));
    } else if (!call->is_begun) {
        buffer_add(text, SLICE("  its beginning is not in the trace"));
    }
    if (call->parent == NULL && call->parent_number != 0) {
        buffer_add(text, SLICE("  from call "));
        if (!log->is_canonical) {
            buffer_add_byte(text, '#');
            buffer_add_number(text, call->parent_number);
            buffer_add(text, SLICE(", "));
        }
        buffer_add(text, SLICE("which is not in this trace"));
    }
}

static void add_call_line(const struct tree_log *log,
                          const struct open_call *call,
                          struct buffer *text)
{
    const struct log_module *module =
        log_reader_module(log->reader, call->module_number);
    const struct site_function *function = open_call_function(call, log->reader);

    tree_indent_add(text, call->depth);
    if (call->depth > DEPTH_LIMIT) {
        buffer_add(text, SLICE("(depth "));
        buffer_add_number(text, call->depth);
        buffer_add(text, SLICE(") "));
    }
    paint_start(text, log->has_color, PAINT_CALL);
    text_add_shortened(text, function->name, TREE_NAME_LIMIT);
    paint_end(text, log->has_color);
    if (call->is_shown) {
        buffer_add(text, SLICE(" \xE2\x80\xA6"
                               "continues"));
    }
    add_module(log, call, function->name, text);
    paint_start(text, log->has_color, PAINT_PLACE);
    if (!call->is_shown) {
        buffer_add(text, SLICE("  "));
        text_add_path(text, module->table.path, PATH_LIMIT);
        buffer_add_byte(text, ':');
        buffer_add_number(text, function->line);
    }
    buffer_add(text, SLICE("  #"));
    buffer_add_number(text, call->shown_number);
    if (!call->is_shown) {
        add_circumstances(log, call, text);
    }
    if (!log->is_canonical &&
        (call->thread != 0 || (call->is_shown && log->has_threads))) {
        add_thread(log, call->thread, text);
    }
    paint_end(text, log->has_color);
    buffer_add_byte(text, '\n');
}

static void show_call(struct tree_log *log, struct open_call *call, struct buffer *text)
{
    log->has_threads = log->has_threads || call->thread != 0;
    add_call_line(log, call, text);
    call->is_shown = true;
    put_above(log, call);
}

void tree_log_add_call(struct tree_log *log,
                       struct open_call *call,
                       struct buffer *text)
{
    struct open_call *top = call;

    if (tree_log_stands_above(log, call)) {
        return;
    }
    call->shown_next = NULL;
    while (!top->is_shown && top->parent != NULL &&
           !tree_log_stands_above(log, top->parent)) {
        top->parent->shown_next = top;
        top = top->parent;
    }
    for (; top != NULL; top = top->shown_next) {
        show_call(log, top, text);
    }
}

/* ---- the rest ---- */

void tree_log_add_end(struct tree_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text)
{
    struct slice error = item->end.error;

    /* A function without return statements always ends without a return. */
    if (item->end.how != LOG_END_LEFT || !call->is_shown ||
        (error.size == 0 &&
         !source_lines_has_return(log->sources, call->module_number, call->function))) {
        return;
    }
    tree_indent_add(text, call->depth + 1);
    paint_start(text, log->has_color, PAINT_CHANGE);
    text_add_blanks(text, TREE_LINE_WIDTH + 2);
    if (!tree_log_stands_above(log, call)) {
        text_add_shortened(text, open_call_function(call, log->reader)->name,
                           TREE_NAME_LIMIT);
        buffer_add(text, SLICE(" #"));
        buffer_add_number(text, call->shown_number);
        buffer_add_byte(text, ' ');
    }
    if (error.size > 0) {
        buffer_add(text, SLICE("left by "));
        text_add_shortened(text, error, TREE_NAME_LIMIT);
    } else {
        buffer_add(text,
                   SLICE("left without a return: by an exception, or at its end"));
    }
    paint_end(text, log->has_color);
    buffer_add_byte(text, '\n');
}

void tree_log_add_note(struct tree_log *log,
                       const struct log_item *item,
                       struct buffer *text)
{
    bool is_warning = item->note.tag == LOG_NOTE_WARNING;
    struct buffer guess = BUFFER_INIT;
    struct slice said = item->note.text;

    if (item->note.tag == LOG_NOTE_GUESS) {
        guess_text_add(&guess, said);
        log->has_failed = log->has_failed || guess.has_failed;
        said = buffer_slice(&guess);
    }
    paint_start(text, log->has_color, is_warning ? PAINT_ALARM : PAINT_FAINT);
    if (item->note.module != NULL && item->note.site != NULL) {
        text_add_path(text, item->note.module->table.path, PATH_LIMIT);
        buffer_add_byte(text, ':');
        buffer_add_number(text, item->note.site->line);
        buffer_add(text, SLICE(": "));
    }
    buffer_add(text, is_warning ? SLICE("warning: ") : SLICE("remark: "));
    text_add_shortened(text, said, NOTE_LIMIT);
    paint_end(text, log->has_color);
    buffer_add_byte(text, '\n');
    buffer_release(&guess);
}

/* ---- lines of events ---- */

#define SOURCE_LIMIT 120

/* Prints the text of the event's line, unless it was the last one. Returns whether the line is
 * above the event, so that its number need not be repeated. */
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

/* The site of the condition for an arm without one: the statement's first arm, or a loop. NULL
 * if it is not recorded. */
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

/* Appends the line of the arm, which shows the decision: `if mask is not None:`. For an `else:`,
 * the line of its statement follows. */
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

/* Appends the statement that ran, unless its line is above the event. */
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

/* Appends the kind of the event if its name and value do not show it. */
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
