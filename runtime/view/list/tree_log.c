/* A trace as a tree for people. */
#include "runtime/view/list/tree_log.h"

#include "runtime/base/memory.h"
#include "runtime/view/list/tree_log_parts.h"
#include "runtime/view/words/change_text.h"
#include "runtime/view/words/guess_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#define INDENT      2
#define DEPTH_LIMIT 20 /* deeper calls are not indented further: their depth is told */
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

void tree_indent_add(struct buffer *text, uint32_t depth)
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

/* The call's line has been printed: deeper ones no longer stand above what follows. */
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

/* Whether the method was defined in that class, as their full names tell. */
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

/* `(encoder.layers.0.attn)`; the class too where the method was inherited. */
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

/* ---- events ---- */

/* ---- the rest ---- */

void tree_log_add_end(struct tree_log *log,
                      const struct log_item *item,
                      const struct open_call *call,
                      struct buffer *text)
{
    struct slice error = item->end.error;

    /* A function without return statements always ends at its end. */
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
