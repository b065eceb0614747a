/* Figures by line and turn, and those that left their range. */
#include "runtime/view/spike/spike.h"

#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/base/selection/selection.h"
#include "runtime/base/text_table.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/verdict_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define WINDOW     32  /* turns before that are compared */
#define LEAST      4   /* turns */
#define SPREADS    8   /* so many spreads from the median are a jump */
#define SHARE      0.2 /* of the logarithm of the value's own jump */
#define SHOWN      10
#define NAME_LIMIT 100
#define DIGITS     4
#define GRADIENT   0x80000000u /* of a kind: no value, but its gradient */

/* The n-th value of a name at a site in a turn. */
struct line {
    uint32_t module;
    uint32_t line;
    uint32_t name; /* text */
    bool is_gradient;
    uint64_t event;
    uint64_t turn;  /* of the newest figure */
    uint64_t order; /* in that turn */
    double newest;
    double window[WINDOW]; /* of turns before; wrapping around */
    uint32_t count;        /* of figures before the newest */
    double median, spread, least, most;
};

struct spikes {
    struct log_reader *reader;
    struct text_table texts;
    struct number_map index; /* by site, name, kind and number in the turn */
    struct number_map seen;  /* how often in which turn, by site, name and kind */
    struct line *lines;      /* owned */
    size_t capacity;
    uint32_t count;
    uint64_t turn;
    uint64_t order;
    uint32_t site; /* of the value that was asked for, with its name … */
    struct slice name;
    uint64_t event; /* … and its number */
    bool is_found;
};

/* ---- figures ---- */

/* The root of the mean square, or a number's magnitude; infinite where it is not finite; below 0: there
 * is none. */
static double find_figure(const struct log_event_view *event)
{
    const struct statistics *statistics = &event->statistics;

    switch (event->kind) {
    case VALUE_FLOAT:
        return isfinite(event->real) ? fabs(event->real) : (double)INFINITY;
    case VALUE_TENSOR:
        if (!event->has_statistics || statistics->count == 0 ||
            dtype_class(event->shape->dtype) != DTYPE_CLASS_FLOATING) {
            return -1;
        }
        if (statistics_finite_count(statistics) < statistics->count) {
            return (double)INFINITY;
        }
        return sqrt(statistics->mean * statistics->mean +
                    (statistics->count > 1 ? statistics->std * statistics->std : 0));
    default:
        return -1;
    }
}

static bool fail(struct error *error)
{
    return error_set_memory(error);
}

static struct line *find_line(struct spikes *spikes,
                              const struct log_event_view *event,
                              uint64_t key,
                              uint32_t name)
{
    uint32_t index = number_map_get(&spikes->index, key);
    void *lines = spikes->lines;

    if (index != NUMBER_MAP_NONE) {
        assert(index < spikes->count);
        return &spikes->lines[index];
    }
    if (!memory_grow(&lines, &spikes->capacity, (size_t)spikes->count + 1,
                     sizeof *spikes->lines)) {
        return NULL;
    }
    spikes->lines = lines;
    if (!number_map_put(&spikes->index, key, spikes->count)) {
        return NULL;
    }
    spikes->lines[spikes->count] = (struct line){
        .module = event->module_number,
        .line = event->site->line,
        .name = name,
        .turn = UINT64_MAX,
        .is_gradient = event->gradient != 0,
    };
    return &spikes->lines[spikes->count++];
}

static bool
add_name(struct spikes *spikes, const struct log_event_view *event, uint32_t *number)
{
    struct buffer name = BUFFER_INIT;
    bool is_done;

    buffer_add(&name, event->name.size == 0 ? SLICE("return") : event->name);
    buffer_add(&name, event->path);
    is_done =
        !name.has_failed && text_table_add(&spikes->texts, buffer_slice(&name), number);
    buffer_release(&name);
    return is_done;
}

/* How often this name at this site was there in the turn that goes on. */
static bool count_visit(struct spikes *spikes, uint64_t key, uint32_t *number)
{
    uint64_t in_turn = hash_mix(key, spikes->turn);
    uint32_t before = number_map_get(&spikes->seen, in_turn);

    *number = before == NUMBER_MAP_NONE ? 0 : before;
    return number_map_put(&spikes->seen, in_turn, *number + 1);
}

static bool
add_figure(struct spikes *spikes, const struct log_event_view *event, double figure)
{
    uint32_t name, number;
    struct line *line;
    uint64_t key;

    if (!add_name(spikes, event, &name)) {
        return false;
    }
    key = hash_mix(number_map_key(event->site_number, name),
                   event->gradient != 0 ? GRADIENT | (unsigned)event->gradient
                                        : event->flags & LOG_EVENT_READ);
    if (!count_visit(spikes, key, &number)) {
        return false;
    }
    line = find_line(spikes, event, hash_mix(key, number), name);
    if (line == NULL) {
        return false;
    }
    if (line->turn != UINT64_MAX) {
        line->window[line->count++ % WINDOW] = line->newest;
    }
    line->newest = figure;
    line->turn = spikes->turn;
    line->event = event->number;
    line->order = spikes->order++;
    return true;
}

/* ---- the range ---- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double find_median(double *numbers, uint32_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return count % 2 == 1 ? numbers[count / 2]
                          : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* Median, spread (1.48 times the median distance from it) and bounds of the turns before. */
static void set_range(struct line *line)
{
    uint32_t count = line->count < WINDOW ? line->count : WINDOW;
    double sorted[WINDOW], distances[WINDOW];

    memcpy(sorted, line->window, count * sizeof *sorted);
    line->median = find_median(sorted, count);
    line->least = sorted[0];
    line->most = sorted[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        distances[i] = fabs(sorted[i] - line->median);
    }
    line->spread = 1.4826 * find_median(distances, count);
}

/* Above the range, by many spreads and by at least half. */
static bool has_left(const struct line *line)
{
    return line->newest > line->most &&
           line->newest > line->median + SPREADS * line->spread &&
           line->newest > 1.5 * line->median;
}

static double find_jump(const struct line *line)
{
    return isinf(line->newest) || line->median <= 0 ? 700
                                                    : log(line->newest / line->median);
}

/* ---- the answer ---- */

static void add_figures(const struct line *line, struct buffer *text)
{
    real_add_short(text, line->newest, DIGITS);
    if (line->median > 0 && isfinite(line->newest)) {
        buffer_add(text, SLICE(", "));
        real_add_short(text, line->newest / line->median, 3);
        buffer_add(text, SLICE(" times the median"));
    }
    buffer_add_format(text, " of %lu turns before (",
                      (unsigned long)(line->count < WINDOW ? line->count : WINDOW));
    real_add_short(text, line->least, DIGITS);
    buffer_add(text, SLICE(" to "));
    real_add_short(text, line->most, DIGITS);
    buffer_add_byte(text, ')');
}

static void add_line(const struct spikes *spikes,
                     const struct line *line,
                     const char *what,
                     struct buffer *text)
{
    struct slice path = log_reader_module(spikes->reader, line->module)->table.path;

    buffer_add_printable(text, path);
    buffer_add_format(text, ":%lu: %s", (unsigned long)line->line, what);
    buffer_add(text, line->is_gradient ? SLICE("gradient of ") : SLICE(""));
    text_add_shortened(text, spikes->texts.texts[line->name], NAME_LIMIT);
    buffer_add(text, SLICE(": magnitude "));
    add_figures(line, text);
    buffer_add_format(text, "   #%llu\n", (unsigned long long)line->event);
}

static int compare_order(const void *left, const void *right)
{
    const struct line *a = *(const struct line *const *)left;
    const struct line *b = *(const struct line *const *)right;

    return (a->order > b->order) - (a->order < b->order);
}

/* Those of the turn that left their range by a share of the value's own jump, the first one first. */
static uint32_t list_left(const struct spikes *spikes,
                          const struct line *target,
                          const struct line **found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < spikes->count; i++) {
        struct line *line = &spikes->lines[i];

        if (line == target || line->turn != spikes->turn || line->count < LEAST) {
            continue;
        }
        set_range(line);
        if (has_left(line) && find_jump(line) >= SHARE * find_jump(target)) {
            found[count++] = line;
        }
    }
    qsort(found, count, sizeof(const struct line *), compare_order);
    return count;
}

static void add_answer(const struct spikes *spikes,
                       struct source_lines *sources,
                       const struct line *target,
                       const struct line **found,
                       uint32_t count,
                       bool has_color,
                       struct buffer *text)
{
    const struct line *first = count > 0 ? found[0] : target;

    add_line(spikes, first, "jumped here: ", text);
    buffer_add_byte(text, '\n');
    verdict_source_add(text, first->line,
                       source_lines_get(sources, first->module, first->line),
                       has_color);
    if (count > 1) {
        buffer_add(text, SLICE("\nand then:\n"));
    }
    for (uint32_t i = 1; i < count && i < SHOWN; i++) {
        buffer_add(text, SLICE("  "));
        add_line(spikes, found[i], "", text);
    }
    if (count > SHOWN) {
        buffer_add_format(text, "  and %lu more\n", (unsigned long)(count - SHOWN));
    }
    if (count > 0) {
        buffer_add(text, SLICE("\nasked for:\n  "));
        add_line(spikes, target, "", text);
    }
}

/* ---- the stream ---- */

static bool is_value(const struct log_item *item)
{
    return item->kind == LOG_EVENT && find_figure(&item->event) >= 0;
}

/* The last value that a line of the step gave to that name. */
static void find_target(struct spikes *spikes, struct slice name, uint64_t step)
{
    struct log_item item;

    while (log_reader_next(spikes->reader, &item)) {
        if (is_value(&item) && item.event.training_step == step &&
            item.event.change != CHANGE_SAME &&
            (item.event.flags & (LOG_EVENT_READ | LOG_EVENT_PARAMETER)) == 0 &&
            name_select(item.event.name, item.event.path, name) == NAME_ITSELF) {
            spikes->is_found = true;
            spikes->site = item.event.site_number;
            spikes->event = item.event.number;
        }
    }
    log_reader_rewind(spikes->reader);
}

/* Reads up to the value; the line that has it, or NULL. */
static struct line *
read_turns(struct spikes *spikes, struct slice name, struct error *error)
{
    struct log_item item;

    while (log_reader_next(spikes->reader, &item)) {
        bool is_gradient = item.kind == LOG_GRADIENT;
        double figure =
            is_gradient || item.kind == LOG_EVENT ? find_figure(&item.event) : -1;
        bool is_target =
            item.kind == LOG_EVENT && figure >= 0 &&
            item.event.site_number == spikes->site &&
            name_select(item.event.name, item.event.path, name) == NAME_ITSELF;

        if (figure >= 0 && !add_figure(spikes, &item.event, figure)) {
            fail(error);
            return NULL;
        }
        if (is_target && item.event.number == spikes->event) {
            for (uint32_t i = 0; i < spikes->count; i++) {
                if (spikes->lines[i].event == spikes->event &&
                    !spikes->lines[i].is_gradient) {
                    return &spikes->lines[i];
                }
            }
        }
        if (is_target) {
            spikes->turn++;
            spikes->order = 0;
            number_map_release(&spikes->seen);
            number_map_init(&spikes->seen);
        }
    }
    return NULL;
}

static bool judge(struct spikes *spikes,
                  struct source_lines *sources,
                  struct line *target,
                  bool has_color,
                  struct buffer *text,
                  enum spike_verdict *verdict,
                  struct error *error)
{
    const struct line **found;

    if (target->count < LEAST) {
        *verdict = SPIKE_FEW;
        return true;
    }
    set_range(target);
    if (!has_left(target)) {
        *verdict = SPIKE_WITHIN;
        buffer_add(text, SLICE("ok: "));
        add_line(spikes, target, "within its range: ", text);
        return true;
    }
    found = memory_allocate((size_t)spikes->count + 1, sizeof *found);
    if (found == NULL) {
        return fail(error);
    }
    *verdict = SPIKE_JUMPED;
    add_answer(spikes, sources, target, found, list_left(spikes, target, found),
               has_color, text);
    memory_free(found);
    return true;
}

bool spike_find(struct log_reader *reader,
                struct source_lines *sources,
                struct slice name,
                uint64_t training_step,
                bool has_color,
                struct buffer *text,
                enum spike_verdict *verdict,
                struct error *error)
{
    struct spikes spikes = {.reader = reader};
    struct line *target = NULL;
    bool is_done = true;

    if (!text_table_init(&spikes.texts)) {
        return fail(error);
    }
    number_map_init(&spikes.index);
    number_map_init(&spikes.seen);
    *verdict = SPIKE_NONE;
    log_reader_show_parameters(reader, true);
    find_target(&spikes, name, training_step);
    if (spikes.is_found) {
        target = read_turns(&spikes, name, error);
        is_done = target != NULL &&
                  judge(&spikes, sources, target, has_color, text, verdict, error);
    }
    number_map_release(&spikes.index);
    number_map_release(&spikes.seen);
    text_table_release(&spikes.texts);
    memory_free(spikes.lines);
    return is_done && (!text->has_failed || fail(error));
}
