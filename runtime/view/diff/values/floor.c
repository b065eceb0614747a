/* The noise floor of a trace, from a second run with noise. */
#include "runtime/view/diff/values/floor.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/values/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first value that differs may differ by at most this many units of the noise. If it differs
 * by more, the runs have other random numbers. */
#define FIRST_UNITS 64
/* A value that noise changes by a larger part of its size has no floor, since it would hide
 * every error. */
#define LARGEST_PART 0.1

/* State of the measurement: two traces side by side. */
struct measuring {
    struct diff_floor *floor;
    struct log_reader *readers[2]; /* owned: A, with noise */
    struct source_lines sources[2];
    double unit; /* unit of the noise; 0: an ulp of the value's dtype */
    bool has_differed;
};

/* ---- does the noise belong to this recording ---- */

static double unit_of_name(struct slice name)
{
    static const enum dtype dtypes[] = {DTYPE_FLOAT64, DTYPE_FLOAT32, DTYPE_FLOAT16,
                                        DTYPE_BFLOAT16};

    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (slice_equal(name, slice_of(dtype_text(dtypes[i])))) {
            return diff_unit_of(dtypes[i]);
        }
    }
    return 0;
}

/* Sets the state by the settings of the trace with noise. */
static void read_settings(struct measuring *measuring, bool is_given)
{
    const struct log_setting *noise =
        log_reader_find_setting(measuring->readers[1], SLICE("noise"));
    const struct log_setting *of =
        log_reader_find_setting(measuring->readers[1], SLICE("noise.of"));
    struct diff_floor *floor = measuring->floor;
    char identity[LOG_IDENTITY_SIZE];

    if (noise == NULL) {
        floor->state = DIFF_FLOOR_PLAIN;
        return;
    }
    log_reader_identity(measuring->readers[0], identity);
    if (!is_given && (of == NULL || !slice_equal(of->value, slice_of(identity)))) {
        floor->state = DIFF_FLOOR_OTHER;
        return;
    }
    floor->state = DIFF_FLOOR_MEASURED;
    floor->noise = (struct slice){floor->text, noise->value.size};
    if (floor->noise.size > sizeof floor->text) {
        floor->noise.size = sizeof floor->text;
    }
    memcpy(floor->text, noise->value.bytes, floor->noise.size);
    measuring->unit = unit_of_name(floor->noise);
}

/* ---- the distance of two events ---- */

static bool is_measured(const struct log_event_view *a, const struct log_event_view *b)
{
    return a->kind == VALUE_TENSOR && b->kind == VALUE_TENSOR &&
           diff_is_inexact(a->shape->dtype) && a->shape->dtype == b->shape->dtype &&
           a->has_statistics && b->has_statistics &&
           a->statistics.count == b->statistics.count;
}

static double figures_apart(const struct log_event_view *a,
                            const struct log_event_view *b)
{
    const struct statistics *x = &a->statistics, *y = &b->statistics;
    enum dtype dtype = a->shape->dtype;
    double min = fabs(statistics_bound_real(dtype, x->min) -
                      statistics_bound_real(dtype, y->min));
    double max = fabs(statistics_bound_real(dtype, x->max) -
                      statistics_bound_real(dtype, y->max));

    return fmax(fmax(min, max), fmax(fabs(x->mean - y->mean), fabs(x->std - y->std)));
}

static double sample_apart(const struct log_event_view *a,
                           const struct log_event_view *b)
{
    size_t size = dtype_size(a->shape->dtype);
    double split = diff_split_of(a), worst = 0, size_of_y;

    if (a->sample == NULL || b->sample == NULL || a->grid.count != b->grid.count) {
        return 0;
    }
    for (uint64_t i = 0; i < a->grid.count; i++) {
        struct dtype_value x =
            dtype_read(a->shape->dtype, (const char *)a->sample + i * size);
        struct dtype_value y =
            dtype_read(b->shape->dtype, (const char *)b->sample + i * size);

        double apart = diff_elements_apart(&x, &y, &size_of_y);

        if (split == 0 || fabs(dtype_value_real(&x)) <= split) {
            worst = fmax(worst, apart);
        }
    }
    return worst;
}

/* Returns the distance of two values of the runs; if they have numbers of two sizes, that of the
 * smaller ones. INFINITY: noise cannot explain the difference. */
static double events_apart(const struct log_event_view *a,
                           const struct log_event_view *b)
{
    double apart;

    if (a->statistics.nan_count != b->statistics.nan_count ||
        a->statistics.posinf_count != b->statistics.posinf_count ||
        a->statistics.neginf_count != b->statistics.neginf_count) {
        return INFINITY;
    }
    apart = diff_split_of(a) > 0 ? 0 : figures_apart(a, b);
    return fmax(isfinite(apart) ? apart : 0, sample_apart(a, b));
}

/* ---- all events ---- */

static void end_at(struct measuring *measuring, const struct log_event_view *event)
{
    struct diff_floor *floor = measuring->floor;
    struct slice path = slice_last_part(event->module->table.path, '/');

    floor->state = DIFF_FLOOR_UNSTABLE;
    snprintf(floor->place, sizeof floor->place, "%.*s:%u: %.*s", (int)path.size,
             path.bytes, event->site->line,
             (int)(event->name.size < 80 ? event->name.size : 80), event->name.bytes);
}

static bool set_floor(struct diff_floor *floor, uint64_t event, double apart)
{
    void *grown = floor->apart;
    size_t capacity = floor->count;

    if (event >= floor->count) {
        if (!memory_grow(&grown, &capacity, (size_t)event + 1, sizeof *floor->apart)) {
            return false;
        }
        floor->apart = grown;
        memset(floor->apart + floor->count, 0,
               (capacity - floor->count) * sizeof *floor->apart);
        floor->count = capacity;
    }
    floor->apart[event] = (float)apart;
    return true;
}

/* Measures a pair of events. Returns false if memory ran out. */
static bool measure_pair(struct measuring *measuring,
                         const struct log_event_view *a,
                         const struct log_event_view *b)
{
    double size, apart, unit;

    if (!is_measured(a, b)) {
        return true;
    }
    measuring->floor->value_count++;
    if (a->has_hash && b->has_hash && a->hash == b->hash) {
        return true;
    }
    size = diff_usual_size(&a->statistics);
    apart = events_apart(a, b);
    unit = fmax(measuring->unit, diff_unit_of(a->shape->dtype));
    if ((!measuring->has_differed && apart > FIRST_UNITS * unit * size) ||
        apart > fmax(LARGEST_PART, FIRST_UNITS * unit) * size) {
        end_at(measuring, a);
        return true;
    }
    measuring->has_differed = true;
    measuring->floor->known_count++;
    return set_floor(measuring->floor, a->number, apart);
}

static bool measure(struct measuring *measuring, struct error *error)
{
    struct diff_align_options options = {
        .readers = {measuring->readers[0], measuring->readers[1]},
        .sources = {&measuring->sources[0], &measuring->sources[1]},
    };
    struct diff_align *align = diff_align_new(&options, error);
    struct diff_step step;
    bool is_done = true;

    if (align == NULL) {
        return false;
    }
    while (is_done && measuring->floor->state == DIFF_FLOOR_MEASURED &&
           diff_align_next(align, &step)) {
        if (step.items[0] != NULL && step.items[1] != NULL &&
            step.items[0]->kind == LOG_EVENT) {
            is_done =
                measure_pair(measuring, &step.items[0]->event, &step.items[1]->event);
        }
    }
    is_done = is_done && !diff_align_has_failed(align);
    diff_align_free(align);
    return is_done || error_set_memory(error);
}

bool diff_floor_measure(struct diff_floor *floor,
                        const char *path,
                        const char *noise_path,
                        bool is_given,
                        struct error *error)
{
    const char *paths[2] = {path, noise_path};
    struct measuring measuring = {.floor = floor};
    bool is_done = true;

    *floor = (struct diff_floor){.state = DIFF_FLOOR_NONE};
    for (unsigned side = 0; is_done && side < 2; side++) {
        measuring.readers[side] = log_reader_new(paths[side], error);
        is_done = measuring.readers[side] != NULL;
        if (is_done) {
            source_lines_init(&measuring.sources[side], measuring.readers[side], NULL);
        }
    }
    if (is_done) {
        read_settings(&measuring, is_given);
        is_done = floor->state != DIFF_FLOOR_MEASURED || measure(&measuring, error);
    }
    for (unsigned side = 0; side < 2; side++) {
        if (measuring.readers[side] != NULL) {
            source_lines_release(&measuring.sources[side]);
            log_reader_free(measuring.readers[side]);
        }
    }
    return is_done;
}

void diff_floor_release(struct diff_floor *floor)
{
    memory_free(floor->apart);
    *floor = (struct diff_floor){.state = DIFF_FLOOR_NONE};
}

double diff_floor_of(const struct diff_floor *floor,
                     const struct log_event_view *a,
                     const struct log_event_view *b)
{
    double apart =
        floor != NULL && a->number < floor->count ? (double)floor->apart[a->number] : 0;
    double unit = diff_unit_of(b->shape->dtype);

    if (apart == 0 || unit <= diff_unit_of(a->shape->dtype)) {
        return apart;
    }
    return fmax(apart, unit * diff_usual_size(&a->statistics));
}
