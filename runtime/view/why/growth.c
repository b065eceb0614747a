/* Growth of parameters over the steps before an infinity. If steps were too large, they are the
 * cause, and the line that overflows only shows it. */
#include "runtime/view/why/why.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* The growth that is reported: the largest magnitude is this many times that of the parameter's
 * first record. Normal training changes it by a small factor. */
#define GROWTH_LEAST 1000.0
/* The number of values that are printed. */
#define SHOWN_MAX 6

static const struct training_record *record_at(const struct why *why, uint32_t index)
{
    assert(index < why->backwards.training.record_count);
    return &why->backwards.training.records[index];
}

static bool is_value(const struct training_record *record)
{
    return record->has_figures &&
           (record->what == TRAINING_READ || record->what == TRAINING_WRITTEN);
}

/* Finds the parameter that grew most before that event. Returns false if memory runs out. */
static bool find_growth(struct why *why, uint64_t event, struct why_growth *growth)
{
    const struct training *training = &why->backwards.training;
    uint32_t *firsts =
        memory_allocate((size_t)training->name_count + 1, sizeof *firsts);
    double most = GROWTH_LEAST;

    if (firsts == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < training->name_count; i++) {
        firsts[i] = TRAINING_NONE;
    }
    for (uint32_t i = 0; i < training->record_count; i++) {
        const struct training_record *record = record_at(why, i);
        uint32_t *first = &firsts[record->parameter];

        if (record->event >= event || !is_value(record) || training_is_bad(record) ||
            record->largest == 0) {
            continue;
        }
        *first = *first == TRAINING_NONE ? i : *first;
        if (record->what == TRAINING_WRITTEN &&
            record->largest / record_at(why, *first)->largest >= most) {
            most = record->largest / record_at(why, *first)->largest;
            *growth = (struct why_growth){true, *first, i};
        }
    }
    memory_free(firsts);
    return true;
}

static void
add_place(const struct why *why, uint32_t module, uint32_t site, struct buffer *text)
{
    const struct log_module *found = log_reader_module(why->reader, module);

    if (found != NULL && site < found->table.site_count) {
        buffer_add(text, slice_last_part(found->table.path, '/'));
        buffer_add_byte(text, ':');
        buffer_add_number(text, found->table.sites[site].line);
    }
}

void why_rate_add(const struct why *why,
                  const struct training_record *record,
                  struct buffer *text)
{
    if (record->rate == record->rate) {
        buffer_add_format(text, "lr is %.4g, %s at ", record->rate,
                          record->is_rate_read ? "read" : "set");
        add_place(why, record->rate_module, record->rate_site, text);
    }
}

static uint32_t count_steps(const struct why *why, const struct why_growth *growth)
{
    uint32_t count = 0;

    for (uint32_t at = growth->last; at != growth->first && at != TRAINING_NONE;
         at = record_at(why, at)->before) {
        count += record_at(why, at)->what == TRAINING_WRITTEN;
    }
    return count;
}

/* Appends the summary: "`weight` grew from 0.17 to 5.4e+23 in 3 steps, lr is 30, set at
 * train.py:16". */
static void add_summary(const struct why *why, struct buffer *text)
{
    const struct training_record *last = record_at(why, why->growth.last);
    uint32_t count = count_steps(why, &why->growth);

    buffer_add_byte(text, '`');
    buffer_add(text, why->backwards.training.names[last->parameter]);
    buffer_add_format(text, "` grew from %.4g to %.4g in ",
                      record_at(why, why->growth.first)->largest, last->largest);
    buffer_add_number(text, count);
    buffer_add(text, count == 1 ? SLICE(" step") : SLICE(" steps"));
    if (last->rate == last->rate) {
        buffer_add(text, SLICE(", "));
        why_rate_add(why, last, text);
    }
}

/* Appends the values after each step, one line each. */
static void add_lines(const struct why *why, struct buffer *text)
{
    const struct training *training = &why->backwards.training;
    uint32_t shown[SHOWN_MAX];
    uint32_t count = 0;

    for (uint32_t at = why->growth.last; at != TRAINING_NONE && count < SHOWN_MAX;
         at = record_at(why, at)->before) {
        if (is_value(record_at(why, at))) {
            shown[count++] = at;
        }
    }
    while (count > 0) {
        const struct training_record *record = record_at(why, shown[--count]);
        const struct training_step *step =
            record->what == TRAINING_WRITTEN ? training_step_of(training, record->step)
                                             : NULL;

        add_place(why, record->module, record->site, text);
        buffer_add(text, SLICE("  "));
        if (step != NULL) {
            buffer_add(text, step->name);
            buffer_add_format(text, " %lu left `", (unsigned long)step->number);
        } else {
            buffer_add(text, SLICE("read `"));
        }
        buffer_add(text, training->names[record->parameter]);
        buffer_add_format(text, "` with the largest magnitude %.4g%s", record->largest,
                          count > 0 ? "\n" : "");
    }
}

static struct slice keep(struct why *why, struct buffer *text)
{
    struct slice kept = arena_copy(&why->arena, buffer_slice(text));

    why->arena.has_failed |= text->has_failed;
    buffer_release(text);
    return kept;
}

/* Whether an input is so large that its square overflows float32, in which variances and norms
 * are computed. */
static bool has_overflowed(struct why *why, struct why_producer *producer)
{
    struct why_input inputs[WHY_INPUTS_MAX];

    why_fill_inputs(why, producer, inputs);
    for (uint32_t i = 0; i < producer->input_count; i++) {
        const struct statistics *statistics = &inputs[i].statistics;
        double most;

        if (!inputs[i].has_statistics || inputs[i].dtype == DTYPE_FLOAT64 ||
            dtype_class(inputs[i].dtype) != DTYPE_CLASS_FLOATING ||
            statistics_finite_count(statistics) == 0) {
            continue;
        }
        most = fmax(fabs(statistics_bound_real(inputs[i].dtype, statistics->min)),
                    fabs(statistics_bound_real(inputs[i].dtype, statistics->max)));
        if (most * most > FLT_MAX) {
            return true;
        }
    }
    return false;
}

void why_explain_growth(struct why *why)
{
    struct why_producer *main = &why->producers[why->main];
    struct buffer text = BUFFER_INIT;
    struct buffer lines = BUFFER_INIT;

    if (why->producer_count == 0 || main->node >= why->graph.node_count ||
        main->is_soft || (main->how != WHY_MADE && main->how != WHY_BACKWARD) ||
        ((main->made & WHY_INF) == 0 && !has_overflowed(why, main))) {
        return;
    }
    why->arena.has_failed |=
        !find_growth(why, why->graph.nodes[main->node].event, &why->growth);
    if (!why->growth.is_known) {
        return;
    }
    buffer_add(&text, main->reason);
    buffer_add(&text, SLICE("; steps too large: "));
    add_summary(why, &text);
    main->reason = keep(why, &text);
    add_lines(why, &lines);
    why->grown = keep(why, &lines);
}
