/* Statements with arms, side by side: which arm is taken, and what stands in it. */
#include "runtime/view/diff/work.h"

const struct site *diff_arm_head(const struct log_event_view *event)
{
    const struct site *arm = event->site;
    const struct site *found = arm;

    if (arm->arm == 0) {
        return arm;
    }
    for (const struct site *site = arm; site > event->module->table.sites;) {
        site--;
        if (site->function != arm->function || site->column > arm->column) {
            continue;
        }
        if (site->column < arm->column ||
            (site->kind != SITE_BRANCH && site->kind != SITE_LOOP) ||
            (site->kind == SITE_BRANCH && site->arm >= found->arm)) {
            return found;
        }
        found = site;
        if (site->kind == SITE_LOOP || site->arm == 0) {
            return found;
        }
    }
    return found;
}

/* A statement with arms, in one of the programs. */
struct statement {
    const struct log_module *module; /* borrowed; NULL: it is not known */
    const struct site *head;         /* borrowed */
    struct slice source;
};

static struct statement statement_of(struct diff_work *work, unsigned side)
{
    const struct log_event_view *event = &work->gap.points[side].item.event;
    const struct site *head = diff_arm_head(event);

    return (struct statement){
        .module = event->module,
        .head = head,
        .source = diff_place_source(
            work, side, (struct diff_place){event->module_number, head->line}),
    };
}

static uint32_t number_of(const struct statement *statement, const struct site *site)
{
    return statement->module->first_site +
           (uint32_t)(site - statement->module->table.sites);
}

/* The same statement in the other program. */
static struct statement
other_statement(struct diff_work *work, unsigned side, const struct statement *known)
{
    struct log_event_view event = work->gap.points[side].item.event;
    uint32_t number = diff_align_site(work->align, side, number_of(known, known->head));
    struct statement other = {.module = NULL};
    struct diff_place place;

    event.site = known->head;
    event.site_number = number_of(known, known->head);
    place = diff_other_place(work, side, &event);
    if (number != DIFF_SITE_NONE && place.line != 0) {
        other.module = log_reader_module(work->readers[1 - side], place.module);
        other.head = &other.module->table.sites[number - other.module->first_site];
        other.source = diff_place_source(work, 1 - side, place);
    }
    return other;
}

/* The arm of the statement that a site is in; UINT32_MAX: it is in none. */
static uint32_t find_arm(const struct statement *statement, uint32_t number)
{
    const struct site_table *table = &statement->module->table;
    uint32_t first = number_of(statement, statement->head);

    if (number < first || number - statement->module->first_site >= table->site_count) {
        return UINT32_MAX;
    }
    for (const struct site *site =
             &table->sites[number - statement->module->first_site];
         site >= statement->head; site--) {
        if (site->column <= statement->head->column) {
            return site->kind == SITE_BRANCH &&
                           site->column == statement->head->column &&
                           (site == statement->head || site->arm > 0)
                       ? site->arm
                       : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

/* Whether a line in an arm of A's statement is in another one of B's. */
static bool has_moved_line(const struct diff_work *work, const struct statement both[2])
{
    const struct site_table *table = &both[0].module->table;
    const struct site *end = table->sites + table->site_count;

    for (const struct site *site = both[0].head + 1;
         site < end && site->function == both[0].head->function; site++) {
        uint32_t number = number_of(&both[0], site);
        uint32_t other = diff_align_site(work->align, 0, number);
        uint32_t arm = find_arm(&both[0], number);
        uint32_t other_arm;

        if (arm == UINT32_MAX) {
            return false;
        }
        other_arm = other == DIFF_SITE_NONE || site->kind == SITE_BRANCH
                        ? UINT32_MAX
                        : find_arm(&both[1], other);
        if (other_arm != UINT32_MAX && other_arm != arm) {
            return true;
        }
    }
    return false;
}

bool diff_gap_is_reordered(struct diff_work *work)
{
    const struct diff_gap *gap = &work->gap;
    struct statement both[2] = {{.module = NULL}, {.module = NULL}};

    for (unsigned side = 0; side < 2; side++) {
        const struct diff_point *point = &gap->points[side];

        if (!point->is_there) {
            continue;
        }
        if (point->count != 1 || point->item.kind != LOG_EVENT ||
            point->item.event.site->kind != SITE_BRANCH) {
            return false;
        }
        both[side] = statement_of(work, side);
        if (!gap->points[1 - side].is_there) {
            both[1 - side] = other_statement(work, side, &both[side]);
        }
    }
    return !gap->is_inherited && both[0].module != NULL && both[1].module != NULL &&
           both[0].source.size > 0 && both[1].source.size > 0 &&
           !slice_equal(both[0].source, both[1].source) && has_moved_line(work, both);
}
