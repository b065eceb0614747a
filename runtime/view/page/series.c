/* Series: the facts of each name at each site over all its visits. */
#include "runtime/view/page/series.h"

#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/tensor_text.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <math.h>

/* Longer texts of values are shortened. */
#define VALUE_LIMIT 80

bool series_set_init(struct series_set *set, const struct log_reader *reader)
{
    *set = (struct series_set){.reader = reader};
    number_map_init(&set->index);
    number_map_init(&set->known);
    number_map_init(&set->forms);
    number_map_init(&set->module_index);
    number_map_init(&set->module_of_call);
    return text_table_init(&set->texts);
}

void series_set_release(struct series_set *set)
{
    text_table_release(&set->texts);
    number_map_release(&set->index);
    number_map_release(&set->known);
    number_map_release(&set->forms);
    number_map_release(&set->module_index);
    memory_free(set->gradients);
    memory_free(set->series);
    memory_free(set->modules);
    number_map_release(&set->module_of_call);
    memory_free(set->site_counts);
    buffer_release(&set->scratch);
}

/* ---- texts ---- */

/* Adds the text of `scratch` to the set's texts, and empties `scratch`. */
static bool keep(struct series_set *set, uint32_t *text)
{
    bool is_done = !set->scratch.has_failed &&
                   text_table_add(&set->texts, buffer_slice(&set->scratch), text);

    set->scratch.size = 0;
    return is_done;
}

static bool
name_of(struct series_set *set, const struct log_event_view *event, uint32_t *name)
{
    if (event->path.size == 0) {
        return text_table_add(&set->texts, event->name, name);
    }
    buffer_add(&set->scratch, event->name);
    buffer_add(&set->scratch, event->path);
    return keep(set, name);
}

/* Finds the text of a shape. A reader has one object per shape, so its address is the key. */
static bool
shape_form(struct series_set *set, const struct log_shape *shape, uint32_t *form)
{
    uint64_t key = (uint64_t)(uintptr_t)shape;

    *form = number_map_get(&set->forms, key);
    if (*form != NUMBER_MAP_NONE) {
        return true;
    }
    tensor_form_add(&set->scratch, shape);
    return keep(set, form) && number_map_put(&set->forms, key, *form);
}

static bool
form_of(struct series_set *set, const struct log_event_view *event, uint32_t *form)
{
    struct buffer value = BUFFER_INIT;

    if (event->kind == VALUE_TENSOR) {
        return shape_form(set, event->shape, form);
    }
    value_text_add(&value, event, false);
    text_add_shortened(&set->scratch, buffer_slice(&value), VALUE_LIMIT);
    set->scratch.has_failed |= value.has_failed;
    buffer_release(&value);
    return keep(set, form);
}

/* ---- series ---- */

/* Gradients of parameters belong to no line. */
static uint32_t site_of(const struct log_event_view *event)
{
    return (event->flags & LOG_EVENT_PARAMETER) != 0 ? SITE_NONE : event->site_number;
}

static bool find(struct series_set *set,
                 const struct log_event_view *event,
                 uint32_t name,
                 uint32_t *index)
{
    uint64_t key = number_map_key(site_of(event), name);
    void *items = set->series;

    *index = number_map_get(&set->index, key);
    if (*index != NUMBER_MAP_NONE) {
        return true;
    }
    if (!memory_grow(&items, &set->capacity, (size_t)set->count + 1,
                     sizeof *set->series)) {
        return false;
    }
    set->series = items;
    *index = set->count;
    if (!number_map_put(&set->index, key, *index)) {
        return false;
    }
    set->series[set->count++] = (struct series){
        .site = site_of(event),
        .name = name,
        .first = event->number,
        .first_nonfinite = UINT64_MAX,
        .values.bin_width = 1,
    };
    return true;
}

/* Finds the event's series by its site and the address of its name in the site table, which
 * saves hashing the name. */
static bool
find_series(struct series_set *set, const struct log_event_view *event, uint32_t *index)
{
    uint32_t site = site_of(event);
    uint64_t key = hash_mix((uintptr_t)event->name.bytes, site);
    uint32_t name;

    if (event->path.size == 0) {
        *index = number_map_get(&set->known, key);
        if (*index != NUMBER_MAP_NONE && set->series[*index].site == site &&
            slice_equal(set->texts.texts[set->series[*index].name], event->name)) {
            return true;
        }
    }
    return name_of(set, event, &name) && find(set, event, name, index) &&
           (event->path.size > 0 || number_map_put(&set->known, key, *index));
}

static void add_form(struct series *series, uint32_t form)
{
    for (uint32_t i = 0; i < series->form_count; i++) {
        if (series->forms[i] == form) {
            series->form_counts[i]++;
            return;
        }
    }
    if (series->form_count < SERIES_FORM_MAX) {
        series->forms[series->form_count] = form;
        series->form_counts[series->form_count++] = 1;
    }
}

/* Finds the least and the greatest finite element. Returns false if there is none. */
static bool range_of(const struct log_event_view *event, double *low, double *high)
{
    switch (event->kind) {
    case VALUE_TENSOR:
        if (!event->has_statistics ||
            statistics_finite_count(&event->statistics) == 0) {
            return false;
        }
        *low = statistics_bound_real(event->shape->dtype, event->statistics.min);
        *high = statistics_bound_real(event->shape->dtype, event->statistics.max);
        return true;
    case VALUE_FLOAT:
        *low = *high = event->real;
        return isfinite(event->real);
    case VALUE_INT:
        *low = *high = (double)event->integer;
        return true;
    default:
        return false;
    }
}

static void halve_bins(struct series_strip *strip)
{
    for (uint32_t i = 0; i < SERIES_BIN_MAX / 2; i++) {
        const struct series_bin *a = &strip->bins[2 * i];
        const struct series_bin *b = &strip->bins[2 * i + 1];

        strip->bins[i] = (struct series_bin){
            fminf(a->low, b->low), fmaxf(a->high, b->high),
            a->has_nonfinite || b->has_nonfinite, a->has_nan || b->has_nan};
    }
    strip->bin_count = SERIES_BIN_MAX / 2;
    strip->bin_width *= 2;
}

/* Adds the next visit to the strip. */
static void add_bin(struct series_strip *strip,
                    const struct log_event_view *event,
                    bool is_bad,
                    bool is_nan)
{
    uint64_t place = strip->count++ / strip->bin_width;
    double low = INFINITY;
    double high = -INFINITY;
    struct series_bin *bin;

    if (!range_of(event, &low, &high) && !is_bad) {
        return;
    }
    while (place >= SERIES_BIN_MAX) {
        halve_bins(strip);
        place = (strip->count - 1) / strip->bin_width;
    }
    for (; strip->bin_count <= place; strip->bin_count++) {
        strip->bins[strip->bin_count] =
            (struct series_bin){INFINITY, -INFINITY, false, false};
    }
    bin = &strip->bins[place];
    bin->low = fminf(bin->low, (float)low);
    bin->high = fmaxf(bin->high, (float)high);
    bin->has_nonfinite |= is_bad;
    bin->has_nan |= is_nan;
}

/* ---- modules ---- */

static bool add_module(struct series_set *set,
                       const struct log_call_view *call,
                       uint32_t function,
                       uint32_t *index)
{
    uint32_t path, class_name;
    void *items = set->modules;
    uint64_t key;

    if (!text_table_add(&set->texts, call->path, &path) ||
        !text_table_add(&set->texts, call->class_name, &class_name)) {
        return false;
    }
    key = hash_mix(number_map_key(call->module_number, function),
                   number_map_key(path, class_name));
    *index = number_map_get(&set->module_index, key);
    if (*index == NUMBER_MAP_NONE) {
        if (!memory_grow(&items, &set->module_capacity, (size_t)set->module_count + 1,
                         sizeof *set->modules)) {
            return false;
        }
        set->modules = items;
        *index = set->module_count;
        set->modules[set->module_count++] = (struct module_row){
            .path = path,
            .class_name = class_name,
            .module = call->module_number,
            .function = function,
            .call = call->call,
        };
        if (!number_map_put(&set->module_index, key, *index)) {
            return false;
        }
    }
    set->modules[*index].count++;
    return true;
}

bool series_set_add_call(struct series_set *set, const struct log_call_view *call)
{
    uint32_t function = (uint32_t)(call->function - call->module->table.functions);
    uint32_t index;

    return number_map_get(&set->module_of_call, call->call) != NUMBER_MAP_NONE ||
           (add_module(set, call, function, &index) &&
            number_map_put(&set->module_of_call, call->call, index));
}

static void add_to_module(struct series_set *set,
                          const struct log_event_view *event,
                          uint32_t form,
                          bool is_nan)
{
    uint32_t index = number_map_get(&set->module_of_call, event->call);
    struct module_row *row;

    if (index == NUMBER_MAP_NONE) {
        return;
    }
    row = &set->modules[index];
    row->nan_count += is_nan;
    if (event->kind != VALUE_TENSOR) {
        return;
    }
    if (event->site->kind == SITE_ENTER && row->in == 0) {
        row->in = form;
    } else if (event->site->kind == SITE_RETURN && row->out == 0) {
        row->out = form;
    }
}

/* Whether a non-finite value has a NaN or +Inf. Masks have only -Inf. */
static bool has_nan(const struct log_event_view *event)
{
    if (event->kind == VALUE_TENSOR) {
        return event->has_statistics &&
               (event->statistics.nan_count > 0 || event->statistics.posinf_count > 0);
    }
    return isnan(event->real) || event->real > 0;
}

/* ---- events ---- */

static bool count_visit(struct series_set *set, const struct log_event_view *event)
{
    void *items = set->site_counts;

    if (!memory_grow_zeroed(&items, &set->site_capacity, (size_t)event->site_number + 1,
                            sizeof *set->site_counts)) {
        return false;
    }
    set->site_counts = items;
    set->site_counts[event->site_number]++;
    return true;
}

bool series_set_add(struct series_set *set,
                    const struct log_event_view *event,
                    uint32_t *index,
                    uint32_t *form)
{
    bool is_bad = value_has_nonfinite(event);
    bool is_nan = is_bad && has_nan(event);
    struct series *series;

    *index = NUMBER_MAP_NONE;
    if (!count_visit(set, event)) {
        return false;
    }
    if (event->kind == VALUE_NOTHING || event->kind == VALUE_MISSING) {
        return true;
    }
    set->value_count++;
    if (!find_series(set, event, index) || !form_of(set, event, form)) {
        return false;
    }
    series = &set->series[*index];
    add_form(series, *form);
    add_bin(&series->values, event, is_bad, is_nan);
    if (is_bad) {
        series->nonfinite_count++;
        series->nan_count += is_nan;
        series->first_nonfinite = event->number < series->first_nonfinite
                                      ? event->number
                                      : series->first_nonfinite;
    }
    add_to_module(set, event, *form, is_nan);
    return true;
}

bool series_set_add_gradient(struct series_set *set,
                             const struct log_event_view *gradient)
{
    bool is_bad = value_has_nonfinite(gradient);
    void *items = set->gradients;
    struct series *series;
    uint32_t index;

    if (!find_series(set, gradient, &index)) {
        return false;
    }
    series = &set->series[index];
    if (series->gradients == 0) {
        if (!memory_grow(&items, &set->gradient_capacity,
                         (size_t)set->gradient_count + 1, sizeof *set->gradients)) {
            return false;
        }
        set->gradients = items;
        set->gradients[set->gradient_count++] = (struct series_strip){.bin_width = 1};
        series->gradients = set->gradient_count;
    }
    series->bad_gradient_count += is_bad;
    add_bin(&set->gradients[series->gradients - 1], gradient, is_bad,
            is_bad && has_nan(gradient));
    return true;
}
