/* The data of a page as one JSON object: docs/reference/schemas/page.json has the fields.
 *
 * A trace may have more events than a page can hold. A single pass collects the facts of all visits
 * of each line (series.h), and writes as many single events as there is room for. */
#include "runtime/view/page/data.h"

#include "runtime/base/memory.h"
#include "runtime/view/graph/graph.h"
#include "runtime/view/page/series.h"
#include "runtime/view/page/tables.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>

#define DIGITS 4

/* Bits of an event in the column `flags`. CHANGE and MARK are factors. */
enum {
    EVENT_FIGURES = 1,   /* four numbers in `figures` */
    EVENT_NONFINITE = 2, /* three numbers in `nonfinite` */
    EVENT_READ = 4,
    EVENT_REMARK = 8,  /* a text in `remarks` */
    EVENT_CHANGE = 16, /* times enum change: 3 bits */
    EVENT_MARK = 128,  /* times enum flow_mark */
};

enum column {
    COLUMN_SEQ,
    COLUMN_SERIES,
    COLUMN_CALL,
    COLUMN_TURN,
    COLUMN_FORM,
    COLUMN_FLAGS,
    COLUMN_FIGURES,
    COLUMN_NONFINITE,
    COLUMN_REMARKS,
    COLUMN_NUMBER,
    COLUMN_PARENT,
    COLUMN_MODULE,
    COLUMN_LINE,
    COLUMN_THREAD,
    COLUMN_COUNT
};

struct data {
    const struct page *page; /* borrowed */
    struct series_set set;   /* owned */
    struct open_calls open_calls;
    struct number_map call_index; /* call number -> index in the columns */
    uint32_t call_count;
    uint64_t *kept; /* owned: numbers of the written events, ascending */
    size_t kept_capacity;
    uint32_t kept_count;
    uint64_t total;                      /* number of events with a value */
    uint64_t limit;                      /* the most events to write */
    uint64_t last;                       /* the event written last */
    struct tables tables;                /* owned */
    struct buffer columns[COLUMN_COUNT]; /* owned: numbers, each followed by a comma */
    struct error *error;
};

static bool out_of_memory(struct data *data)
{
    return error_set_memory(data->error);
}

static void add_number(struct data *data, enum column column, uint64_t number)
{
    char digit[] = {(char)('0' + number % 10), ','};

    if (number >= 10) {
        buffer_add_number(&data->columns[column], number / 10);
    }
    buffer_add_bytes(&data->columns[column], digit, sizeof digit);
}

/* ---- selection of events ---- */

/* Whether the event is written: it is one of the first or last ones, near the focus, or the
 * first of its series, or the first of its series with a NaN or an infinity. */
static bool is_kept(const struct data *data,
                    const struct series *series,
                    const struct log_event_view *event)
{
    uint64_t total = data->total;
    uint64_t place = data->set.value_count - 1;
    uint64_t focus = data->page->focus;
    bool has_focus = focus != PAGE_EVENT_NONE;
    uint64_t ends = has_focus ? data->limit / 4 : data->limit / 2;

    if (total <= data->limit || place < ends || place >= total - ends) {
        return true;
    }
    if (has_focus && event->number <= focus + data->limit / 8 &&
        event->number + data->limit * 3 / 8 >= focus) {
        return true;
    }
    return event->number == series->first || event->number == series->first_nonfinite;
}

/* ---- calls ---- */

static bool write_call(struct data *data, const struct open_call *call)
{
    uint32_t parent = call->parent == NULL
                          ? NUMBER_MAP_NONE
                          : number_map_get(&data->call_index, call->parent->call);
    uint32_t module = number_map_get(&data->set.module_of_call, call->call);

    if (!number_map_put(&data->call_index, call->call, data->call_count)) {
        return out_of_memory(data);
    }
    data->call_count++;
    add_number(data, COLUMN_NUMBER, call->call);
    /* 0: no parent, else 1 + its index */
    add_number(data, COLUMN_PARENT, parent == NUMBER_MAP_NONE ? 0 : parent + 1);
    add_number(data, COLUMN_MODULE, module == NUMBER_MAP_NONE ? 0 : module + 1);
    add_number(data, COLUMN_LINE, call->line);
    add_number(data, COLUMN_THREAD, call->thread);
    return true;
}

/* Writes the call and its callers if they are not written yet, parents first. */
static bool write_calls(struct data *data, struct open_call *call)
{
    struct open_call *top = call;

    call->shown_next = NULL;
    while (!top->is_shown && top->parent != NULL && !top->parent->is_shown) {
        top->parent->shown_next = top;
        top = top->parent;
    }
    for (; top != NULL && !top->is_shown; top = top->shown_next) {
        if (!write_call(data, top)) {
            return false;
        }
        top->is_shown = true;
    }
    return true;
}

/* ---- events ---- */

static bool write_figures(struct data *data, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;
    struct buffer *figures = &data->columns[COLUMN_FIGURES];
    enum dtype dtype;
    double numbers[4];

    if (event->kind != VALUE_TENSOR || !event->has_statistics ||
        statistics_finite_count(statistics) == 0) {
        return false;
    }
    dtype = event->shape->dtype;
    numbers[0] = statistics_bound_real(dtype, statistics->min);
    numbers[1] = statistics_bound_real(dtype, statistics->max);
    numbers[2] = statistics->mean;
    numbers[3] = statistics->std;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (isfinite(numbers[i])) {
            real_add_short(figures, numbers[i], DIGITS);
            buffer_add_byte(figures, ',');
        } else {
            buffer_add(figures, SLICE("null,"));
        }
    }
    return true;
}

static unsigned write_nonfinite(struct data *data, const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;
    bool is_tensor = event->kind == VALUE_TENSOR && event->has_statistics;

    if (!value_has_nonfinite(event)) {
        return 0;
    }
    add_number(data, COLUMN_NONFINITE,
               is_tensor ? statistics->nan_count : (uint64_t)isnan(event->real));
    add_number(data, COLUMN_NONFINITE,
               is_tensor ? statistics->posinf_count
                         : (uint64_t)(isinf(event->real) && event->real > 0));
    add_number(data, COLUMN_NONFINITE,
               is_tensor ? statistics->neginf_count
                         : (uint64_t)(isinf(event->real) && event->real < 0));
    return EVENT_NONFINITE;
}

static bool
write_mark(struct data *data, const struct log_event_view *event, unsigned *flags)
{
    const struct page *page = data->page;
    enum flow_mark mark = FLOW_MARK_NONE;
    struct slice remark = SLICE("");
    uint32_t text;

    if (page->mark != NULL) {
        mark = page->mark(page->mark_context, event->number);
    }
    *flags |= EVENT_MARK * (unsigned)mark;
    if (mark > FLOW_MARK_EQUAL && page->remark != NULL) {
        remark = page->remark(page->mark_context, event->number);
    }
    if (remark.size == 0) {
        return true;
    }
    if (!text_table_add(&data->set.texts, remark, &text)) {
        return out_of_memory(data);
    }
    add_number(data, COLUMN_REMARKS, text);
    *flags |= EVENT_REMARK;
    return true;
}

static bool note_kept(struct data *data, uint64_t event)
{
    void *items = data->kept;

    if (!memory_grow(&items, &data->kept_capacity, (size_t)data->kept_count + 1,
                     sizeof *data->kept)) {
        return out_of_memory(data);
    }
    data->kept = items;
    data->kept[data->kept_count++] = event;
    return true;
}

static bool write_event(struct data *data,
                        const struct log_event_view *event,
                        struct open_call *call,
                        uint32_t series,
                        uint32_t form)
{
    unsigned flags = EVENT_CHANGE * (unsigned)event->change;

    if (!write_calls(data, call) || !note_kept(data, event->number)) {
        return false;
    }
    flags |= write_figures(data, event) ? EVENT_FIGURES : 0;
    flags |= write_nonfinite(data, event);
    flags |= (event->flags & LOG_EVENT_READ) != 0 ? EVENT_READ : 0;
    if (!write_mark(data, event, &flags)) {
        return false;
    }
    add_number(data, COLUMN_SEQ, event->number - data->last);
    data->last = event->number;
    add_number(data, COLUMN_SERIES, series);
    add_number(data, COLUMN_CALL, number_map_get(&data->call_index, call->call));
    add_number(data, COLUMN_TURN, event->visit);
    add_number(data, COLUMN_FORM, form);
    add_number(data, COLUMN_FLAGS, flags);
    return true;
}

/* Number of values with a table before the one that the verdict is about. */
#define TABLES_NEAR 100

/* Whether the value has a table. In a trace with many values these are: the first of each
 * series, its first with a NaN or an infinity, those with a mark, and those near the focus. */
static bool has_table(const struct data *data,
                      const struct series *series,
                      const struct log_event_view *event)
{
    const struct page *page = data->page;
    uint64_t focus = page->focus;

    if (data->tables.count >= TABLES_MAX) {
        return false;
    }
    return data->total <= TABLES_MAX || event->number == series->first ||
           event->number == series->first_nonfinite ||
           (focus != PAGE_EVENT_NONE && event->number <= focus &&
            event->number + TABLES_NEAR >= focus) ||
           (page->mark != NULL &&
            page->mark(page->mark_context, event->number) > FLOW_MARK_EQUAL);
}

static bool write_table(struct data *data, const struct log_event_view *event)
{
    const struct page *page = data->page;
    uint64_t other = page->other == NULL
                         ? PAGE_EVENT_NONE
                         : page->other(page->mark_context, event->number);

    return tables_add(&data->tables, data->kept_count - 1, event, other) ||
           out_of_memory(data);
}

static bool visit_event(struct data *data, const struct log_event_view *event)
{
    bool is_new;
    uint32_t series, form;
    struct open_call *call = open_calls_of_event(&data->open_calls, event, &is_new);

    if (call == NULL || !series_set_add(&data->set, event, &series, &form)) {
        return out_of_memory(data);
    }
    if (series == NUMBER_MAP_NONE || !is_kept(data, &data->set.series[series], event)) {
        return true;
    }
    return write_event(data, event, call, series, form) &&
           (!has_table(data, &data->set.series[series], event) ||
            write_table(data, event));
}

static bool visit_call(struct data *data, const struct log_call_view *call)
{
    bool is_new;

    return (open_calls_begin(&data->open_calls, call, &is_new) != NULL &&
            series_set_add_call(&data->set, call)) ||
           out_of_memory(data);
}

static bool visit_item(struct data *data, const struct log_item *item)
{
    switch (item->kind) {
    case LOG_CALL:
        return visit_call(data, &item->call);
    case LOG_END:
        open_calls_end(&data->open_calls,
                       open_calls_find(&data->open_calls, item->end.call));
        return true;
    case LOG_EVENT:
        return visit_event(data, &item->event);
    case LOG_GRADIENT:
        return series_set_add_gradient(&data->set, &item->event) || out_of_memory(data);
    case LOG_DATA:
        tables_add_data(&data->tables, item);
        return true;
    default:
        return true;
    }
}

/* Counts the events with a value, because is_kept needs the distance from the end. */
static void count_events(struct data *data)
{
    struct log_item item;

    log_reader_rewind(data->page->reader);
    while (log_reader_next(data->page->reader, &item)) {
        data->total += item.kind == LOG_EVENT && item.event.kind != VALUE_NOTHING &&
                       item.event.kind != VALUE_MISSING;
    }
}

static bool write_events(struct data *data)
{
    struct log_reader *reader = data->page->reader;
    struct log_item item;
    bool is_done = true;

    data->total = data->page->value_count;
    if (data->total == 0) {
        count_events(data);
    }
    log_reader_rewind(reader);
    open_calls_init(&data->open_calls);
    while (is_done && log_reader_next(reader, &item)) {
        is_done = visit_item(data, &item);
    }
    open_calls_release(&data->open_calls);
    return is_done &&
           (data->page->other_reader == NULL ||
            tables_read_others(&data->tables, data->page->other_reader, data->error));
}

/* ---- the parts of the object ---- */

static void
add_column(struct buffer *text, struct slice key, const struct buffer *column)
{
    struct slice numbers = buffer_slice(column);

    json_key_add(text, key);
    buffer_add_byte(text, '[');
    buffer_add(text, slice_part(numbers, 0, numbers.size > 0 ? numbers.size - 1 : 0));
    buffer_add_byte(text, ']');
    text->has_failed |= column->has_failed;
}

static void add_columns(const struct data *data, struct buffer *text)
{
    const struct buffer *columns = data->columns;

    buffer_add(text, SLICE(",\"calls\":{\"count\":"));
    buffer_add_number(text, data->call_count);
    add_column(text, SLICE("number"), &columns[COLUMN_NUMBER]);
    add_column(text, SLICE("parent"), &columns[COLUMN_PARENT]);
    add_column(text, SLICE("module"), &columns[COLUMN_MODULE]);
    add_column(text, SLICE("line"), &columns[COLUMN_LINE]);
    add_column(text, SLICE("thread"), &columns[COLUMN_THREAD]);
    buffer_add(text, SLICE("},\"events\":{\"count\":"));
    buffer_add_number(text, data->kept_count);
    add_column(text, SLICE("seq"), &columns[COLUMN_SEQ]);
    add_column(text, SLICE("series"), &columns[COLUMN_SERIES]);
    add_column(text, SLICE("call"), &columns[COLUMN_CALL]);
    add_column(text, SLICE("turn"), &columns[COLUMN_TURN]);
    add_column(text, SLICE("form"), &columns[COLUMN_FORM]);
    add_column(text, SLICE("flags"), &columns[COLUMN_FLAGS]);
    add_column(text, SLICE("figures"), &columns[COLUMN_FIGURES]);
    add_column(text, SLICE("nonfinite"), &columns[COLUMN_NONFINITE]);
    add_column(text, SLICE("remarks"), &columns[COLUMN_REMARKS]);
    buffer_add_byte(text, '}');
}

/* Finds the index of each node's event among the written ones. NUMBER_MAP_NONE: it is not
 * written. */
static void find_places(const struct data *data, uint32_t *places)
{
    const struct graph *graph = data->page->graph;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        while (kept < data->kept_count && data->kept[kept] < graph->nodes[i].event) {
            kept++;
        }
        places[i] = kept < data->kept_count && data->kept[kept] == graph->nodes[i].event
                        ? kept
                        : NUMBER_MAP_NONE;
    }
}

#define EDGE_UNSURE 8

static void add_edge(struct buffer *column,
                     uint32_t ahead,
                     uint32_t back,
                     const struct graph_edge *edge)
{
    buffer_add_number(column, ahead);
    buffer_add_byte(column, ',');
    buffer_add_number(column, back);
    buffer_add_byte(column, ',');
    buffer_add_number(column, edge->kind + (edge->is_unsure ? EDGE_UNSURE : 0u));
    buffer_add_byte(column, ',');
}

/* Adds three numbers per edge: the distance of its target from the previous target, the distance
 * from its source to its target, and its kind, with EDGE_UNSURE if it is unsure. Edges are
 * sorted by target. */
static bool add_edges(struct data *data, struct buffer *text)
{
    const struct graph *graph = data->page->graph;
    struct buffer column = BUFFER_INIT;
    uint32_t *places;
    uint32_t last = 0;

    if (graph == NULL || graph->node_count == 0) {
        buffer_add(text, SLICE(",\"edges\":[]"));
        return true;
    }
    places = memory_allocate(graph->node_count, sizeof *places);
    if (places == NULL) {
        return out_of_memory(data);
    }
    find_places(data, places);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        for (uint32_t k = graph->nodes[i].first_edge;
             k < graph->nodes[i + 1].first_edge && places[i] != NUMBER_MAP_NONE; k++) {
            const struct graph_edge *edge = &graph->edges[k];
            uint32_t source = places[edge->source];

            if (source != NUMBER_MAP_NONE && source < places[i]) {
                assert(places[i] >= last);
                add_edge(&column, places[i] - last, places[i] - source, edge);
                last = places[i];
            }
        }
    }
    add_column(text, SLICE("edges"), &column);
    buffer_release(&column);
    memory_free(places);
    return true;
}

static void add_forms(struct buffer *text, const struct series *series)
{
    json_key_add(text, SLICE("forms"));
    buffer_add_byte(text, '[');
    for (uint32_t i = 0; i < series->form_count; i++) {
        buffer_add_format(text, i > 0 ? ",[%lu,%llu]" : "[%lu,%llu]",
                          (unsigned long)series->forms[i],
                          (unsigned long long)series->form_counts[i]);
    }
    buffer_add_byte(text, ']');
}

static void add_bound(struct buffer *text, float bound)
{
    real_add_short(text, (double)bound, 3);
    buffer_add_byte(text, ',');
}

/* Adds three numbers per bin: minimum, maximum and flags. Flags: 1 a value is not finite, 2 no
 * value is finite (minimum and maximum are 0), 4 a value is NaN or +Inf. */
static void
add_strip(struct buffer *text, struct slice key, const struct series_strip *strip)
{
    struct buffer column = BUFFER_INIT;

    for (uint32_t i = 0; i < strip->bin_count; i++) {
        const struct series_bin *bin = &strip->bins[i];
        bool is_empty = bin->low > bin->high;

        add_bound(&column, is_empty || !isfinite(bin->low) ? 0 : bin->low);
        add_bound(&column, is_empty || !isfinite(bin->high) ? 0 : bin->high);
        buffer_add_number(&column, (uint64_t)bin->has_nonfinite + (is_empty ? 2 : 0) +
                                       (bin->has_nan ? 4 : 0));
        buffer_add_byte(&column, ',');
    }
    add_column(text, key, &column);
    buffer_release(&column);
}

static void add_series(const struct data *data, struct buffer *text)
{
    buffer_add(text, SLICE(",\"series\":["));
    for (uint32_t i = 0; i < data->set.count; i++) {
        const struct series *series = &data->set.series[i];

        buffer_add(text, i > 0 ? SLICE(",{\"site\":") : SLICE("{\"site\":"));
        if (series->site == SITE_NONE) {
            buffer_add(text, SLICE("null"));
        } else {
            buffer_add_number(text, series->site);
        }
        json_number_add(text, SLICE("name"), series->name);
        json_number_add(text, SLICE("count"), series->values.count);
        if (series->nonfinite_count > 0) {
            json_number_add(text, SLICE("nonfinite"), series->nonfinite_count);
            json_number_add(text, SLICE("nan"), series->nan_count);
        }
        add_forms(text, series);
        if (series->values.bin_count > 1) {
            json_number_add(text, SLICE("width"), series->values.bin_width);
            add_strip(text, SLICE("strip"), &series->values);
        }
        if (series->gradients > 0) {
            const struct series_strip *strip =
                &data->set.gradients[series->gradients - 1];

            json_number_add(text, SLICE("gradients"), strip->count);
            json_number_add(text, SLICE("bad_gradients"), series->bad_gradient_count);
            add_strip(text, SLICE("gradient_strip"), strip);
        }
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

static void add_modules(const struct data *data, struct buffer *text)
{
    buffer_add(text, SLICE(",\"modules\":["));
    for (uint32_t i = 0; i < data->set.module_count; i++) {
        const struct module_row *row = &data->set.modules[i];

        buffer_add_format(text, i > 0 ? ",{\"path\":%lu" : "{\"path\":%lu",
                          (unsigned long)row->path);
        json_number_add(text, SLICE("class"), row->class_name);
        json_number_add(text, SLICE("file"), row->module);
        json_number_add(text, SLICE("function"), row->function);
        json_number_add(text, SLICE("call"), row->call);
        json_number_add(text, SLICE("count"), row->count);
        json_number_add(text, SLICE("nan"), row->nan_count);
        json_number_add(text, SLICE("in"), row->in);
        json_number_add(text, SLICE("out"), row->out);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

/* ---- files: source, functions, sites ---- */

static void add_functions(const struct site_table *table, struct buffer *text)
{
    buffer_add(text, SLICE(",\"functions\":["));
    for (uint32_t i = 0; i < table->function_count; i++) {
        buffer_add(text, i > 0 ? SLICE(",{\"line\":") : SLICE("{\"line\":"));
        buffer_add_number(text, table->functions[i].line);
        json_text_add(text, SLICE("name"), table->functions[i].name);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

/* Adds line, function, kind, arm and number of events of each site. */
static void
add_sites(const struct data *data, const struct log_module *module, struct buffer *text)
{
    buffer_add(text, SLICE(",\"sites\":["));
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];
        size_t number = (size_t)module->first_site + i;
        uint64_t count =
            number < data->set.site_capacity ? data->set.site_counts[number] : 0;

        buffer_add_format(
            text, i > 0 ? ",[%lu,%lu,\"%s\",%lu,%llu]" : "[%lu,%lu,\"%s\",%lu,%llu]",
            (unsigned long)site->line, (unsigned long)site->function,
            site_kind_text(site->kind), (unsigned long)site->arm,
            (unsigned long long)count);
    }
    buffer_add_byte(text, ']');
}

static void add_files(struct data *data, struct buffer *text)
{
    const struct log_reader *reader = data->page->reader;

    buffer_add(text, SLICE(",\"files\":["));
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        buffer_add(text,
                   i > 0 ? SLICE(",{\"first_site\":") : SLICE("{\"first_site\":"));
        buffer_add_number(text, module->first_site);
        json_text_add(text, SLICE("path"), module->table.path);
        json_text_add(text, SLICE("source"), source_lines_text(data->page->sources, i));
        add_functions(&module->table, text);
        add_sites(data, module, text);
        buffer_add_byte(text, '}');
    }
    buffer_add_byte(text, ']');
}

/* ---- the verdict and the run ---- */

static void add_row(const struct page_row *row, struct buffer *text)
{
    buffer_add(text, SLICE("{\"line\":"));
    buffer_add_number(text, row->line);
    json_text_add(text, SLICE("file"), row->file);
    if (row->event != PAGE_EVENT_NONE) {
        json_number_add(text, SLICE("event"), row->event);
    }
    json_text_add(text, SLICE("name"), row->name);
    json_text_add(text, SLICE("words"), row->words);
    json_text_add(text, SLICE("code"), row->code);
    json_text_add(text, SLICE("in"), row->call);
    json_number_add(text, SLICE("count"), row->count);
    buffer_add_byte(text, '}');
}

static void add_lists(const struct page *page, struct buffer *text)
{
    static const char *const kinds[] = {
        [PAGE_CHAIN] = "chain",         [PAGE_OWN] = "own",
        [PAGE_INHERITED] = "inherited", [PAGE_ONLY_A] = "only_a",
        [PAGE_ONLY_B] = "only_b",       [PAGE_CHECKS] = "checks",
    };

    buffer_add(text, SLICE(",\"lists\":["));
    for (size_t i = 0; i < page->list_count; i++) {
        const struct page_list *list = &page->lists[i];

        buffer_add(text, i > 0 ? SLICE(",{\"kind\":\"") : SLICE("{\"kind\":\""));
        buffer_add(text, slice_of(kinds[list->kind]));
        buffer_add_byte(text, '"');
        json_number_add(text, SLICE("total"), list->total);
        json_key_add(text, SLICE("rows"));
        buffer_add_byte(text, '[');
        for (size_t k = 0; k < list->count; k++) {
            buffer_add(text, k > 0 ? SLICE(",") : SLICE(""));
            add_row(&list->rows[k], text);
        }
        buffer_add(text, SLICE("]}"));
    }
    buffer_add_byte(text, ']');
}

static void add_run(const struct data *data, struct buffer *text)
{
    const struct page *page = data->page;
    const struct log_reader *reader = page->reader;

    buffer_add(text, SLICE(",\"traces\":["));
    for (int i = 0; i < 2 && page->paths[i] != NULL; i++) {
        buffer_add(text, i > 0 ? SLICE(",\"") : SLICE("\""));
        text_add_json(text, slice_of(page->paths[i]));
        buffer_add_byte(text, '"');
    }
    buffer_add_byte(text, ']');
    json_text_add(text, SLICE("command"),
                  page->command == NULL ? SLICE("") : slice_of(page->command));
    json_number_add(text, SLICE("values"), data->set.value_count);
    json_boolean_add(text, SLICE("unfinished"),
                     log_reader_header(reader)->is_closed == 0);
    json_number_add(text, SLICE("damaged"), log_reader_damage_count(reader));
    buffer_add(text, SLICE(",\"settings\":["));
    for (size_t i = 0; i < log_reader_setting_count(reader); i++) {
        const struct log_setting *setting = log_reader_setting(reader, i);

        buffer_add(text, i > 0 ? SLICE(",[\"") : SLICE("[\""));
        text_add_json(text, setting->name);
        buffer_add(text, SLICE("\",\""));
        text_add_json(text, setting->value);
        buffer_add(text, SLICE("\"]"));
    }
    buffer_add_byte(text, ']');
}

static void add_texts(const struct data *data, struct buffer *text)
{
    buffer_add(text, SLICE(",\"texts\":["));
    for (uint32_t i = 0; i < data->set.texts.count; i++) {
        buffer_add(text, i > 0 ? SLICE(",\"") : SLICE("\""));
        text_add_json(text, data->set.texts.texts[i]);
        buffer_add_byte(text, '"');
    }
    buffer_add_byte(text, ']');
}

static bool add_object(struct data *data, struct buffer *text)
{
    static const char *const states[] = {
        [PAGE_FINE] = "fine", [PAGE_BAD] = "bad", [PAGE_PLAIN] = "plain"};
    const struct page *page = data->page;

    buffer_add(text, SLICE("{\"record\":\"page\",\"version\":1"));
    json_text_add(text, SLICE("state"), slice_of(states[page->state]));
    json_text_add(text, SLICE("title"), page->title);
    json_text_add(text, SLICE("text"), page->text);
    add_lists(page, text);
    add_run(data, text);
    add_modules(data, text);
    add_series(data, text);
    add_columns(data, text);
    if (!add_edges(data, text)) {
        return false;
    }
    tables_write(&data->tables, text);
    add_files(data, text);
    add_texts(data, text);
    buffer_add(text, SLICE("}\n"));
    return !text->has_failed || out_of_memory(data);
}

/* ---- the whole object, up to its size limit ---- */

static void data_release(struct data *data)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        buffer_release(&data->columns[i]);
    }
    series_set_release(&data->set);
    tables_release(&data->tables);
    number_map_release(&data->call_index);
    memory_free(data->kept);
}

/* Writes the object with at most `limit` events, plus those that each series keeps. */
static bool write_data(const struct page *page,
                       uint64_t limit,
                       struct buffer *text,
                       struct page_result *result,
                       struct error *error)
{
    struct data data = {.page = page, .limit = limit, .error = error};
    bool is_done;

    number_map_init(&data.call_index);
    tables_init(&data.tables);
    is_done = series_set_init(&data.set, page->reader) || out_of_memory(&data);
    is_done = is_done && write_events(&data) && add_object(&data, text);
    *result = (struct page_result){data.set.value_count, data.kept_count};
    data_release(&data);
    return is_done;
}

/* Mean size of an event in bytes, measured. */
#define BYTES_OF_EVENT 80

bool page_data_add(const struct page *page,
                   uint64_t room,
                   struct buffer *text,
                   struct page_result *result,
                   struct error *error)
{
    uint64_t limit = room / BYTES_OF_EVENT;
    size_t start = text->size;

    for (;;) {
        if (!write_data(page, limit, text, result, error)) {
            text->size = start;
            return false;
        }
        if (text->size - start <= room || (limit == 0 && !page->is_strict)) {
            return true;
        }
        if (limit == 0) {
            error_set(error, ERROR_USAGE,
                      "--max-size: the page needs %llu bytes more for its sources "
                      "and lines alone",
                      (unsigned long long)(text->size - start - room));
            text->size = start;
            return false;
        }
        limit = limit > result->kept_count ? result->kept_count / 2 : limit / 2;
        limit = limit < 100 ? 0 : limit;
        text->size = start;
    }
}

bool page_json_add(const struct page *page,
                   struct buffer *bytes,
                   struct page_result *result,
                   struct error *error)
{
    return page_data_add(page, page->max_size > 0 ? page->max_size : PAGE_SIZE_DEFAULT,
                         bytes, result, error);
}
