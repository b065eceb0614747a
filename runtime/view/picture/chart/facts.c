/* What the lines of a chart hold: their range, and what cannot be drawn. */
#include "runtime/view/picture/chart/parts.h"

#include <math.h>

/* What is so many times smaller than the largest value lies on the axis. */
#define FAR_APART 50.0
/* Of all values, one in so many may. */
#define FEW 10

bool chart_is_drawn(const struct chart_facts *facts, double value)
{
    return isfinite(value) && (!facts->is_log || value > 0);
}

static void find_range(struct chart_facts *facts,
                       const struct chart_line *lines,
                       size_t count,
                       bool is_above_zero)
{
    facts->low = INFINITY;
    facts->high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < lines[i].count; j++) {
            double value = lines[i].values[j];

            if (isfinite(value) && (value > 0 || !is_above_zero)) {
                facts->low = fmin(facts->low, value);
                facts->high = fmax(facts->high, value);
            }
        }
    }
}

/* Whether logarithms tell more: else a line would lie on the axis, or much of all. */
static bool is_far_apart(const struct chart_facts *facts,
                         const struct chart_line *lines,
                         size_t count)
{
    size_t all = 0;
    size_t all_low = 0;

    if (!(facts->low > 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t low = 0;

        for (size_t j = 0; j < lines[i].count; j++) {
            low += lines[i].values[j] < facts->high / FAR_APART;
        }
        if (low * 2 > lines[i].count) {
            return true;
        }
        all += lines[i].count;
        all_low += low;
    }
    return all_low * FEW > all;
}

static void
find_gaps(struct chart_facts *facts, const struct chart_line *line, size_t i)
{
    for (size_t j = 0; j < line->count; j++) {
        if (isfinite(line->values[j])) {
            facts->lost_count += facts->is_log && !(line->values[j] > 0);
            continue;
        }
        if (facts->gap_count == 0 || line->steps[j] < facts->gap_step) {
            facts->gap_line = i;
            facts->gap_step = line->steps[j];
        }
        facts->gap_count++;
    }
}

struct chart_facts
chart_find_facts(const struct chart_line *lines, size_t count, enum chart_scale scale)
{
    struct chart_facts facts = {.first_step = INFINITY, .last_step = -INFINITY};

    find_range(&facts, lines, count, scale == CHART_LOG);
    facts.is_log =
        scale == CHART_LOG || (scale == CHART_AUTO && facts.low <= facts.high &&
                               is_far_apart(&facts, lines, count));
    for (size_t i = 0; i < count; i++) {
        if (lines[i].count > 0) {
            facts.first_step = fmin(facts.first_step, lines[i].steps[0]);
            facts.last_step = fmax(facts.last_step, lines[i].steps[lines[i].count - 1]);
        }
        find_gaps(&facts, &lines[i], i);
    }
    if (facts.first_step > facts.last_step) {
        facts.first_step = facts.last_step = 0;
    }
    return facts;
}
