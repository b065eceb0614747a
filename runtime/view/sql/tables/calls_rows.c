/* The table `calls`: each call of a recorded function. */
#include "runtime/view/sql/tables/row_tables.h"

#include <assert.h>

enum column {
    COLUMN_TRACE,
    COLUMN_CALL,
    COLUMN_PARENT,
    COLUMN_DEPTH,
    COLUMN_THREAD,
    COLUMN_THREAD_NAME,
    COLUMN_FILE,
    COLUMN_LINE,
    COLUMN_FUNCTION,
    COLUMN_MODULE,
    COLUMN_CLASS,
    COLUMN_PARENT_LINE,
    COLUMN_GENERATOR,
    COLUMN_JOINED,
    COLUMN_BEGUN,
    COLUMN_TIME,
    COLUMN_END_TIME,
    COLUMN_HOW,
    COLUMN_EVENTS,
    COLUMN_FIRST_SEQ,
    COLUMN_LAST_SEQ,
    COLUMN_COUNT
};

static const struct column_rule columns[COLUMN_COUNT] = {
    {"trace", COLUMN_FORM_TEXT, "the trace's file name"},
    {"call", COLUMN_FORM_INTEGER, "number of the call, from 1"},
    {"parent", COLUMN_FORM_INTEGER,
     "the call that made it; NULL: none that was recorded"},
    {"depth", COLUMN_FORM_INTEGER, "how many recorded calls it is within"},
    {"thread", COLUMN_FORM_INTEGER, "number of the thread"},
    {"thread_name", COLUMN_FORM_TEXT, "its name"},
    {"file", COLUMN_FORM_TEXT, "source file"},
    {"line", COLUMN_FORM_INTEGER, "line of the `def`"},
    {"function", COLUMN_FORM_TEXT, "qualified name of the function"},
    {"module", COLUMN_FORM_TEXT, "path of the nn.Module whose method it is"},
    {"class", COLUMN_FORM_TEXT, "class of that module"},
    {"parent_line", COLUMN_FORM_INTEGER, "line that it was made from"},
    {"generator", COLUMN_FORM_FLAG, "1: a generator or coroutine"},
    {"joined", COLUMN_FORM_FLAG, "1: recording began while it ran"},
    {"begun", COLUMN_FORM_FLAG, "1: its beginning is in the trace"},
    {"time", COLUMN_FORM_TIME, "when it began, nanoseconds since the start"},
    {"end_time", COLUMN_FORM_TIME, "when its end was noticed"},
    {"how", COLUMN_FORM_TEXT, "returned, or left: without reaching a return statement"},
    {"events", COLUMN_FORM_INTEGER, "how many events are its own"},
    {"first_seq", COLUMN_FORM_INTEGER, "seq of the first one"},
    {"last_seq", COLUMN_FORM_INTEGER, "seq of the last one"},
};

static uint64_t guess(const struct sql_trace *trace)
{
    return trace->calls.is_known ? trace->calls.count
                                 : sql_trace_guess_events(trace) / 8 + 1;
}

static size_t count(const struct sql_trace *trace)
{
    return trace->calls.count;
}

static void
find(const struct sql_trace *trace, uint64_t number, size_t *first, size_t *end)
{
    const struct sql_call *call =
        number > UINT32_MAX ? NULL : sql_calls_find(&trace->calls, (uint32_t)number);

    *first = call == NULL ? 0 : (size_t)(call - trace->calls.calls);
    *end = *first + (call != NULL);
}

static void find_children(const struct sql_trace *trace,
                          uint64_t number,
                          size_t *first,
                          size_t *end)
{
    *first = *end = 0;
    if (number > 0 && number <= UINT32_MAX) {
        sql_calls_find_children(&trace->calls, (uint32_t)number, first, end);
    }
}

static size_t child(const struct sql_trace *trace, size_t position)
{
    return trace->calls.by_parent[position];
}

static void set_unless_none(struct column_value *value, uint64_t number, bool is_there)
{
    if (is_there) {
        sql_value_set_number(value, number);
    }
}

static void get_how(const struct sql_call *call, struct column_value *value)
{
    if (call->how != 0) {
        sql_value_set_text(value, call->how == LOG_END_RETURNED ? SLICE("returned")
                                                                : SLICE("left"));
    }
}

/* Gets a column that describes the call's place or its function. */
static void get_place(const struct sql_trace *trace,
                      const struct sql_call *call,
                      int column,
                      struct column_value *value)
{
    const struct log_reader *reader = trace->readers->reader;
    const struct log_module *module = log_reader_module(reader, call->module_number);

    /* If the trace is still being written, one reader may know more modules than another. */
    if (module == NULL || call->function >= module->table.function_count) {
        return;
    }
    switch (column) {
    case COLUMN_FILE:
        sql_value_set_text(value, module->table.path);
        break;
    case COLUMN_LINE:
        sql_value_set_number(value, module->table.functions[call->function].line);
        break;
    default:
        sql_value_set_text(value, module->table.functions[call->function].name);
    }
}

static void get(struct sql_trace *trace,
                size_t row,
                int column,
                struct buffer *scratch,
                struct column_value *value)
{
    assert(row < trace->calls.count);

    const struct sql_call *call = &trace->calls.calls[row];

    assert(row < trace->calls.count);
    (void)scratch;
    switch (column) {
    case COLUMN_CALL:
        sql_value_set_number(value, call->call);
        break;
    case COLUMN_PARENT:
        set_unless_none(value, call->parent, call->parent != 0);
        break;
    case COLUMN_DEPTH:
        sql_value_set_number(value, call->depth);
        break;
    case COLUMN_THREAD:
        sql_value_set_number(value, call->thread);
        break;
    case COLUMN_THREAD_NAME:
        sql_value_set_text(
            value, log_reader_thread_name(trace->readers->reader, call->thread));
        break;
    case COLUMN_MODULE:
        sql_value_set_text(value, call->path);
        break;
    case COLUMN_CLASS:
        sql_value_set_text(value, call->class_name);
        break;
    case COLUMN_PARENT_LINE:
        set_unless_none(value, call->line, call->line != 0);
        break;
    case COLUMN_GENERATOR:
        sql_value_set_number(value, (call->flags & LOG_CALL_GENERATOR) != 0);
        break;
    case COLUMN_JOINED:
        sql_value_set_number(value, (call->flags & LOG_CALL_JOINED) != 0);
        break;
    case COLUMN_BEGUN:
        sql_value_set_number(value, call->is_begun);
        break;
    case COLUMN_TIME:
        sql_value_set_number(value, call->time);
        break;
    case COLUMN_END_TIME:
        set_unless_none(value, call->end_time, call->how != 0);
        break;
    case COLUMN_HOW:
        get_how(call, value);
        break;
    case COLUMN_EVENTS:
        sql_value_set_number(value, call->event_count);
        break;
    case COLUMN_FIRST_SEQ:
        set_unless_none(value, call->first_event, call->event_count > 0);
        break;
    case COLUMN_LAST_SEQ:
        set_unless_none(value, call->last_event, call->event_count > 0);
        break;
    default:
        get_place(trace, call, column, value);
    }
}

const struct sql_rows sql_calls_rows = {
    .table = {"calls", "calls of recorded functions", columns, COLUMN_COUNT},
    .keys = {{.column = COLUMN_CALL, .is_unique = true, .find = find},
             {.column = COLUMN_PARENT, .find = find_children, .row = child}},
    .key_count = 2,
    .guess = guess,
    .prepare = sql_trace_need_calls,
    .count = count,
    .get = get,
};
