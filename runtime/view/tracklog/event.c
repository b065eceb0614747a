/* The tree log's lines of one event: an input, an output, a variable, a source line. */
#include "runtime/view/tracklog/change.h"
#include "runtime/view/tracklog/state.h"
#include "runtime/view/tracklog/value.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#define NAME_LIMIT   100
#define SOURCE_LIMIT 120

/* ---- source lines ---- */

/* Several sites of one line are told with it; a site that is visited again has run it again. */
static bool
is_told(const struct track_call *tracked, uint32_t line, uint32_t site, uint32_t visit)
{
    bool is_again = tracked->line_site != SITE_NONE && tracked->line_site == site &&
                    tracked->line_visit != visit;

    return tracked->line == line && !is_again;
}

void track_log_add_source(struct track_log *log,
                          struct open_call *call,
                          uint32_t line,
                          uint32_t site,
                          uint32_t visit,
                          struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    const struct log_module *module = &log->modules[call->module_number];
    struct slice source;

    if (!tracked->wish.has_lines) {
        return;
    }
    if (is_told(tracked, line, site, visit)) {
        if (tracked->line_site == SITE_NONE) {
            tracked->line_site = site;
            tracked->line_visit = visit;
        }
        return;
    }
    tracked->line = line;
    tracked->line_site = site;
    tracked->line_visit = visit;
    source = source_lines_get_from(&log->sources, module, call->module_number, line);
    struct track_line told = track_log_begin_line(log, call, text);
    track_log_add_bars(told.text, tracked->level + 1);
    buffer_add(told.text, SLICE("├─ "));
    paint_start(told.text, log->options.has_color, PAINT_FAINT);
    buffer_add_number(told.text, line);
    buffer_add(told.text, source.size > 0 ? SLICE("| ") : SLICE("|"));
    text_add_shortened(told.text, source, SOURCE_LIMIT);
    paint_end(told.text, log->options.has_color);
    track_log_end_line(call, told);
}

/* ---- values ---- */

static void add_name(struct buffer *text, const struct log_event_view *event)
{
    text_add_shortened(text, event->name, NAME_LIMIT);
    text_add_shortened(text, event->path, NAME_LIMIT);
}

/* `[Tensor] x@12 → shape=…`, `[Var] n@12 value: 5`; inputs have the line 0. */
static void add_named(const struct track_log *log,
                      const struct log_event_view *event,
                      uint32_t line,
                      struct buffer *text)
{
    buffer_add_byte(text, '[');
    buffer_add(text, track_value_tag(event));
    buffer_add(text, SLICE("] "));
    add_name(text, event);
    paint_start(text, log->options.has_color, PAINT_PLACE);
    buffer_add_byte(text, '@');
    buffer_add_number(text, line);
    paint_end(text, log->options.has_color);
    buffer_add(text, event->kind == VALUE_TENSOR ? SLICE(" → ") : SLICE(" "));
    track_value_add(text, event, log->options.has_color);
}

static void add_input(struct track_log *log,
                      const struct log_event_view *event,
                      struct open_call *call,
                      struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, tracked->level);
    buffer_add(line.text, SLICE("├─ "));
    track_labels_add(&tracked->labels, TRACK_LABEL_INPUT, line.text);
    buffer_add_byte(line.text, ' ');
    add_named(log, event, 0, line.text);
    track_log_end_line(call, line);
}

static void add_output(struct track_log *log,
                       const struct log_event_view *event,
                       struct open_call *call,
                       struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, tracked->level + 1);
    buffer_add(line.text, SLICE("└─ "));
    track_labels_add(&tracked->labels, TRACK_LABEL_OUTPUT, line.text);
    text_add_shortened(line.text, event->path, NAME_LIMIT);
    buffer_add_byte(line.text, ' ');
    track_value_add(line.text, event, log->options.has_color);
    track_log_end_line(call, line);
}

/* The site of that number, as far as its module was met; NULL where it was not. */
static const struct site *find_alias(const struct track_log *log, uint32_t number)
{
    for (size_t i = 0; i < log->module_capacity; i++) {
        const struct log_module *module = &log->modules[i];

        if (number >= module->first_site &&
            number - module->first_site < module->table.site_count) {
            return &module->table.sites[number - module->first_site];
        }
    }
    return NULL;
}

static void add_change(const struct track_log *log,
                       const struct track_call *tracked,
                       const struct log_event_view *event,
                       const struct track_name *before,
                       struct buffer *text)
{
    const struct site *site = event->change == CHANGE_ALIASED
                                  ? find_alias(log, event->tensor.alias_site)
                                  : NULL;

    buffer_add(text, SLICE(" | "));
    paint_start(text, log->options.has_color, PAINT_CHANGE);
    track_labels_add(&tracked->labels, TRACK_LABEL_CHANGED, text);
    buffer_add(text, SLICE(": "));
    track_change_add(text, event, before, site);
    paint_end(text, log->options.has_color);
}

/* A change that is easily overlooked and often a mistake. */
static void add_warning(struct track_log *log,
                        const struct log_event_view *event,
                        const struct track_name *before,
                        struct open_call *call,
                        struct buffer *text)
{
    struct track_line line = track_log_begin_line(log, call, text);

    track_log_add_bars(line.text, track_call_of(call)->level + 1);
    buffer_add(line.text, SLICE("├─ "));
    paint_start(line.text, log->options.has_color, PAINT_ALARM);
    buffer_add(line.text, SLICE("⚠ "));
    add_name(line.text, event);
    buffer_add_byte(line.text, '@');
    buffer_add_number(line.text, event->site->line);
    buffer_add(line.text, SLICE(" dtype "));
    track_dtype_add(line.text, (struct slice){before->dtype, before->dtype_size},
                    before->is_numpy);
    buffer_add(line.text, SLICE(" → "));
    track_dtype_add(line.text, event->shape->dtype_text,
                    (event->shape->flags & LOG_FORM_NUMPY) != 0);
    paint_end(line.text, log->options.has_color);
    track_log_end_line(call, line);
}

static void add_variable(const struct track_log *log,
                         const struct track_call *tracked,
                         const struct log_event_view *event,
                         const struct track_name *before,
                         enum track_change change,
                         struct buffer *text)
{
    track_log_add_bars(text, tracked->level + 1);
    buffer_add(text, SLICE("├─ "));
    add_named(log, event, event->site->line, text);
    if (change != TRACK_NEW) {
        add_change(log, tracked, event, before, text);
    }
}

/* ---- events ---- */

static bool is_met(const struct track_call *tracked,
                   const struct log_event_view *event,
                   bool is_change)
{
    return tracked->wish.when == TRACK_NAN ? value_has_nonfinite(event) : is_change;
}

static bool is_told_at_all(const struct track_call *tracked, enum track_change change)
{
    return change == TRACK_OTHER ||
           (change != TRACK_SAME && tracked->wish.when != TRACK_CHANGED);
}

static void tell_variable(struct track_log *log,
                          const struct log_event_view *event,
                          struct open_call *call,
                          struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct track_name known;
    const struct track_name *before =
        track_names_meet(&tracked->names, event, &known) ? &known : NULL;
    enum track_change change = track_change_of(event, before);

    if (!track_wish_names(&tracked->wish, event->name, event->path)) {
        return;
    }
    if (is_met(tracked, event, change == TRACK_OTHER)) {
        track_log_want_call(log, call, text);
    }
    if (tracked->wish.is_bare || !is_told_at_all(tracked, change)) {
        return;
    }
    struct track_line line = track_log_begin_line(log, call, text);
    add_variable(log, tracked, event, before, change, line.text);
    track_log_end_line(call, line);
    if (change == TRACK_OTHER && track_change_is_dtype(event, before)) {
        add_warning(log, event, before, call, text);
    }
}

/* The value of a name that a line only reads: told where it has become another one, such as by a
 * function that was called with it. */
static void tell_read(struct track_log *log,
                      const struct log_event_view *event,
                      struct open_call *call,
                      struct buffer *text)
{
    if (event->change == CHANGE_REBOUND || event->change == CHANGE_MUTATED ||
        event->change == CHANGE_ALIASED) {
        tell_variable(log, event, call, text);
    } else {
        track_names_meet(&track_call_of(call)->names, event, &(struct track_name){0});
    }
}

static void tell_input(struct track_log *log,
                       const struct log_event_view *event,
                       struct open_call *call,
                       struct buffer *text)
{
    struct track_call *tracked = track_call_of(call);
    struct track_name unused;

    track_names_meet(&tracked->names, event, &unused);
    if (is_met(tracked, event, false)) {
        track_log_want_call(log, call, text);
    }
    if (!tracked->wish.is_bare) {
        add_input(log, event, call, text);
    }
}

static void tell_output(struct track_log *log,
                        const struct log_event_view *event,
                        struct open_call *call,
                        struct buffer *text)
{
    const struct track_call *tracked = track_call_of(call);

    if (is_met(tracked, event, false)) {
        track_log_want_call(log, call, text);
    }
    if (!tracked->wish.is_bare) {
        add_output(log, event, call, text);
    }
}

void track_log_add_event(struct track_log *log,
                         const struct log_event_view *event,
                         struct open_call *call,
                         struct buffer *text)
{
    if ((event->flags & LOG_EVENT_READ) != 0) {
        tell_read(log, event, call, text);
        return;
    }
    if (log->options.is_selective) {
        track_log_want_call(log, call, text);
    }
    if (event->site->kind != SITE_ENTER) {
        track_log_add_source(log, call, event->site->line, event->site_number,
                             event->visit, text);
    }
    if (event->kind == VALUE_NOTHING || event->kind == VALUE_MISSING) {
        return;
    }
    if (event->site->kind == SITE_ENTER) {
        tell_input(log, event, call, text);
    } else if (event->site->kind == SITE_RETURN) {
        tell_output(log, event, call, text);
    } else {
        tell_variable(log, event, call, text);
    }
}
