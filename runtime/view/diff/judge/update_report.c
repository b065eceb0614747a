/* Updates: the verdict on a pair, and its report, which names the backward or step that caused
 * the difference. */
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/value_text.h"

#include <assert.h>
#include <string.h>

#define NONE DIFF_UPDATE_NONE
/* At most this many lines that may have made a gradient are named. */
#define LINES_MAX 3
/* At most this many values are visited in the search for a value's uses or inputs. */
#define WALK_MAX   4096
#define NAME_LIMIT 80

/* ---- differing pairs ---- */

static bool is_wanted(const struct diff_work *work)
{
    return diff_align_has_updates(work->align, 0) &&
           diff_align_has_updates(work->align, 1) && !work->grafts.is_there;
}

/* Sets the event from which on parameters may differ without an event that shows it. */
static void set_changed_from(struct diff_work *work)
{
    const struct diff_updates *updates = &work->updates;
    struct diff_facts *b = &work->facts[1];

    for (size_t i = 0; i < updates->pair_count; i++) {
        const struct diff_update_pair *pair = &updates->pairs[i];
        unsigned side = pair->items[1] != NONE ? 1 : 0;
        uint64_t due = diff_update_due(updates, pair);

        if (updates->sides[side].items[pair->items[side]].what !=
            DIFF_UPDATE_GRADIENT) {
            b->changed_from = due > b->first_event ? due - b->first_event : 0;
            return;
        }
    }
}

bool diff_updates_judge(struct diff_work *work)
{
    struct diff_updates *updates = &work->updates;

    if (!is_wanted(work)) {
        return true;
    }
    work->has_updates = true;
    if (!diff_updates_init(updates)) {
        return error_set_memory(work->error);
    }
    if (!diff_updates_read(updates, work->paths, work->error) ||
        !diff_updates_compare(updates, work->facts, &work->options->tolerance,
                              work->error)) {
        return false;
    }
    set_changed_from(work);
    return true;
}

/* ---- the graph of B ---- */

/* Finds the uses of values: the edges of B's graph, grouped by source. */
static bool find_uses(struct diff_work *work)
{
    const struct diff_facts *facts = &work->facts[1];
    uint32_t edge_count = facts->nodes[facts->node_count].first_edge;
    uint32_t *first;

    if (work->uses.first != NULL) {
        return true;
    }
    first = memory_allocate_zeroed((size_t)facts->node_count + 2, sizeof *first);
    work->uses.first = first;
    work->uses.targets = memory_allocate((size_t)edge_count + 1, sizeof *first);
    work->uses.edges = memory_allocate((size_t)edge_count + 1, sizeof *first);
    if (first == NULL || work->uses.targets == NULL || work->uses.edges == NULL) {
        work->has_failed = true;
        return false;
    }
    for (uint32_t i = 0; i < edge_count; i++) {
        first[facts->edges[i].source + 2]++;
    }
    for (uint32_t i = 2; i < facts->node_count + 2; i++) {
        first[i] += first[i - 1];
    }
    for (uint32_t node = 0; node < facts->node_count; node++) {
        for (uint32_t i = facts->nodes[node].first_edge;
             i < facts->nodes[node + 1].first_edge; i++) {
            uint32_t place = first[facts->edges[i].source + 1]++;

            work->uses.targets[place] = node;
            work->uses.edges[place] = i;
        }
    }
    return true;
}

/* Nodes still to be visited: the same object under several names. */
struct walk {
    uint32_t nodes[WALK_MAX];
    size_t count;
};

static void walk_add(struct walk *walk, uint32_t node)
{
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->nodes[i] == node) {
            return;
        }
    }
    if (walk->count < WALK_MAX) {
        walk->nodes[walk->count++] = node;
    }
}

/* Returns B's gradient of the node's value in that backward. NONE: it has none. */
static uint32_t
find_gradient(const struct diff_work *work, uint32_t node, uint32_t step)
{
    const struct diff_facts *facts = &work->facts[1];
    const struct diff_update_side *b = &work->updates.sides[1];
    uint32_t fact = facts->nodes[node].fact;
    uint64_t event;
    struct number_map_search search;

    if (fact == DIFF_FACT_NONE) {
        return NONE;
    }
    event = facts->items[fact].event + facts->first_event;
    search = number_map_search(&b->gradients, event);
    while (number_map_next(&search)) {
        const struct diff_update *update = &b->items[search.number];

        if (update->what == DIFF_UPDATE_GRADIENT && update->event == event &&
            update->step == step) {
            return search.number;
        }
    }
    return NONE;
}

/* Whether only A has a gradient of the node's value in that backward. */
static bool is_lost_in_b(const struct diff_work *work, uint32_t node, uint32_t step)
{
    const struct diff_facts *facts = work->facts;
    const struct diff_update_side *a = &work->updates.sides[0];
    uint32_t fact = facts[1].nodes[node].fact;
    uint32_t other = fact == DIFF_FACT_NONE ? fact : facts[1].items[fact].partner;
    struct number_map_search search;

    if (other == DIFF_FACT_NONE) {
        return false;
    }
    search = number_map_search(&a->gradients,
                               facts[0].items[other].event + facts[0].first_event);
    while (number_map_next(&search)) {
        const struct diff_update *update = &a->items[search.number];

        if (update->state == DIFF_UPDATE_ALONE && update->step != NONE &&
            a->steps[update->step].partner == step) {
            return true;
        }
    }
    return false;
}

/* ---- one pair ---- */

struct judging {
    struct diff_work *work;
    const struct diff_update_pair *pair;
    const struct diff_update *update; /* B's; A's if B has none */
    uint32_t node;                    /* of B's value; GRAPH_NONE */
    /* Nodes with gradients that were made from the value, in the order of their gradients, one
     * for each line. */
    uint32_t uses[LINES_MAX];
    size_t use_count;
    bool is_inherited;
};

static bool has_differed(uint8_t state)
{
    return state == DIFF_UPDATE_DIFFERS || state == DIFF_UPDATE_ALONE;
}

static const struct site *
site_of(const struct judging *judging, uint32_t node, struct diff_place *place)
{
    const struct diff_facts *facts = &judging->work->facts[1];
    struct diff_fact_site site =
        diff_fact_site_of(facts, &facts->items[facts->nodes[node].fact]);

    *place = (struct diff_place){site.module, site.site->line};
    return site.site;
}

static void add_use(struct judging *judging, uint32_t node)
{
    struct diff_place place, other;

    site_of(judging, node, &place);
    for (size_t i = 0; i < judging->use_count; i++) {
        site_of(judging, judging->uses[i], &other);
        if (other.module == place.module && other.line == place.line) {
            return;
        }
    }
    if (judging->use_count < LINES_MAX) {
        judging->uses[judging->use_count++] = node;
    }
}

/* Finds the values with gradients that were made from this one. */
static void find_consumers(struct judging *judging)
{
    struct diff_work *work = judging->work;
    const struct diff_facts *facts = &work->facts[1];
    struct walk walk = {.count = 0};

    if (judging->node == GRAPH_NONE || !find_uses(work)) {
        return;
    }
    walk_add(&walk, judging->node);
    for (size_t i = 0; i < walk.count; i++) {
        uint32_t node = walk.nodes[i];

        for (uint32_t k = work->uses.first[node]; k < work->uses.first[node + 1]; k++) {
            const struct graph_edge *edge = &facts->edges[work->uses.edges[k]];
            uint32_t target = work->uses.targets[k];
            uint32_t gradient;

            if (edge->kind == GRAPH_SHAPE) {
                continue;
            }
            if (edge->kind == GRAPH_SAME) {
                walk_add(&walk, target);
                continue;
            }
            gradient = find_gradient(work, target, judging->pair->step);
            if (gradient != NONE) {
                judging->is_inherited |=
                    has_differed(work->updates.sides[1].items[gradient].state);
                add_use(judging, target);
            }
        }
    }
}

/* Checks the gradients of parameters that arrived after this gradient of a value and before the
 * next one of a value: they are of the same line. */
static void
check_parameters(const struct judging *judging, bool *has_equal, bool *has_odd)
{
    const struct diff_update_side *b = &judging->work->updates.sides[1];
    size_t i = judging->pair->items[1];

    for (i = i == NONE ? b->count : i + 1; i < b->count; i++) {
        const struct diff_update *update = &b->items[i];

        if (update->step != judging->pair->step ||
            update->what != DIFF_UPDATE_PARAMETER) {
            return;
        }
        *has_equal |=
            update->state == DIFF_UPDATE_EQUAL || update->state == DIFF_UPDATE_CLOSE;
        *has_odd |= has_differed(update->state);
    }
}

/* Whether the gradients of all inputs of the value are equal. */
static bool comes_back(const struct judging *judging)
{
    const struct diff_work *work = judging->work;
    const struct diff_facts *facts = &work->facts[1];
    struct walk walk = {.count = 0};
    bool has_equal = false, has_odd = false;

    if (judging->node == GRAPH_NONE) {
        return false;
    }
    check_parameters(judging, &has_equal, &has_odd);
    walk_add(&walk, judging->node);
    for (size_t i = 0; i < walk.count; i++) {
        uint32_t node = walk.nodes[i];

        for (uint32_t k = facts->nodes[node].first_edge;
             k < facts->nodes[node + 1].first_edge; k++) {
            uint32_t source = facts->edges[k].source;
            uint32_t gradient = find_gradient(work, source, judging->pair->step);

            if (facts->edges[k].kind == GRAPH_SHAPE) {
                continue;
            }
            if (gradient == NONE && facts->edges[k].kind == GRAPH_SAME) {
                walk_add(&walk, source);
            } else if (gradient == NONE) {
                has_odd |= is_lost_in_b(work, source, judging->pair->step);
            } else {
                has_odd |= has_differed(work->updates.sides[1].items[gradient].state);
                has_equal |=
                    !has_differed(work->updates.sides[1].items[gradient].state);
            }
        }
    }
    return has_equal && !has_odd;
}

/* Returns the last gradient of a value that arrived before this gradient of a parameter. NONE:
 * there is none. */
static uint32_t value_before(const struct judging *judging)
{
    const struct diff_updates *updates = &judging->work->updates;
    uint32_t i = diff_update_rank(updates, judging->pair);

    for (i = judging->pair->items[1] == NONE ? i + 1 : i; i-- > 0;) {
        const struct diff_update *update = &updates->sides[1].items[i];

        if (update->step == judging->pair->step &&
            update->what == DIFF_UPDATE_GRADIENT) {
            return i;
        }
        if (update->step != judging->pair->step &&
            update->what <= DIFF_UPDATE_PARAMETER) {
            return NONE;
        }
    }
    return NONE;
}

static uint32_t node_of_event(struct diff_work *work, uint64_t event)
{
    const struct diff_fact *fact = diff_facts_find(&work->facts[1], event);

    return fact == NULL ? GRAPH_NONE : fact->node;
}

static uint32_t node_of_update(struct diff_work *work,
                               const struct diff_update_pair *pair)
{
    struct diff_updates *updates = &work->updates;
    const struct diff_fact *fact;

    if (pair->items[1] != NONE) {
        return node_of_event(work, updates->sides[1].items[pair->items[1]].event);
    }
    fact =
        diff_facts_find(&work->facts[0], updates->sides[0].items[pair->items[0]].event);
    return fact == NULL || fact->partner == DIFF_FACT_NONE
               ? GRAPH_NONE
               : work->facts[1].items[fact->partner].node;
}

/* Whether there is a difference before the pair. */
static bool has_differed_before(const struct judging *judging)
{
    const struct diff_work *work = judging->work;

    return work->result->own + work->result->inherited + work->result->flow > 0 ||
           (work->updates_differ && work->updates_step != judging->pair->step);
}

static enum diff_class class_of_gradient(struct judging *judging)
{
    struct diff_work *work = judging->work;
    uint32_t before;

    if (judging->update->what == DIFF_UPDATE_GRADIENT) {
        judging->node = node_of_update(work, judging->pair);
        if (comes_back(judging)) {
            return DIFF_STEP;
        }
        find_consumers(judging);
    } else {
        before = value_before(judging);
        if (before != NONE) {
            const struct diff_update *update = &work->updates.sides[1].items[before];

            judging->is_inherited = has_differed(update->state);
            judging->node = node_of_event(work, update->event);
            if (judging->node != GRAPH_NONE) {
                add_use(judging, judging->node);
            }
        }
    }
    return judging->is_inherited || has_differed_before(judging) ? DIFF_INHERITED
                                                                 : DIFF_OWN;
}

static enum diff_class class_of_step(const struct judging *judging)
{
    if (judging->update->what == DIFF_UPDATE_SETTING) {
        return DIFF_OWN;
    }
    if (has_differed_before(judging) || judging->work->updates_differ) {
        return judging->pair->is_clean ? DIFF_OWN : DIFF_INHERITED;
    }
    /* An optimizer such as Adam makes full steps even of gradients that are only rounding
     * errors. */
    return judging->pair->is_clean ? DIFF_OWN : DIFF_STEP;
}

/* ---- places ---- */

/* Returns the module of the file that has a source. The recorder makes separate tables, without
 * a source, for lines without a site. */
static uint32_t module_of_file(const struct log_reader *reader, struct slice file)
{
    uint32_t count = log_reader_module_count(reader);
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if ((slice_equal(module->file, file) ||
             slice_equal(module->table.path, file)) &&
            (found == UINT32_MAX || module->source.size > 0)) {
            found = i;
        }
    }
    return found;
}

/* Sets the finding's place to the line that called the step. */
static void set_step_place(const struct judging *judging, struct diff_finding *finding)
{
    const struct diff_work *work = judging->work;
    const struct diff_updates *updates = &work->updates;
    uint32_t steps[2] = {NONE, judging->pair->step};

    steps[0] = steps[1] == NONE ? NONE : updates->sides[1].steps[steps[1]].partner;
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_update_step *step =
            steps[side] == NONE ? NULL : &updates->sides[side].steps[steps[side]];
        uint32_t module =
            step == NULL ? UINT32_MAX : module_of_file(work->readers[side], step->file);

        finding->modules[side] = module == UINT32_MAX ? 0 : module;
        finding->lines[side] = module == UINT32_MAX ? 0 : step->line;
    }
}

static void set_item_places(const struct log_item *const items[2],
                            struct diff_finding *finding)
{
    for (unsigned side = 0; side < 2; side++) {
        struct diff_place place =
            items[side] == NULL ? (struct diff_place){0, 0}
                                : (struct diff_place){items[side]->event.module_number,
                                                      items[side]->event.site->line};

        finding->modules[side] = place.module;
        finding->lines[side] = place.line;
    }
}

static void set_node_places(const struct judging *judging,
                            uint32_t node,
                            struct diff_finding *finding)
{
    const struct diff_work *work = judging->work;
    const struct diff_facts *facts = work->facts;
    const struct diff_fact *fact = &facts[1].items[facts[1].nodes[node].fact];
    struct diff_place place;

    site_of(judging, node, &place);
    finding->modules[1] = place.module;
    finding->lines[1] = place.line;
    if (fact->partner != DIFF_FACT_NONE) {
        struct diff_fact_site site =
            diff_fact_site_of(&facts[0], &facts[0].items[fact->partner]);

        finding->modules[0] = site.module;
        finding->lines[0] = site.site->line;
    }
}

/* Returns the node of an edited line among the lines that used the value; else that of the line
 * whose gradient arrived first. */
static uint32_t choose_use(const struct judging *judging)
{
    struct diff_work *work = judging->work;

    for (size_t i = 0; i < judging->use_count; i++) {
        struct diff_place place;

        site_of(judging, judging->uses[i], &place);
        if (diff_edits_has(&work->edits, &work->sources[1], 1, place.module,
                           place.line)) {
            return judging->uses[i];
        }
    }
    return judging->use_count > 0 ? judging->uses[0] : GRAPH_NONE;
}

/* ---- words ---- */

static void add_value_words(struct buffer *text, const struct log_item *item)
{
    value_text_add(text, &item->event, false);
}

/* Adds the difference of the pair in words. Settings may be numbers of two types. */
static void add_difference(const struct judging *judging,
                           const struct log_item *const items[2],
                           const struct diff_comparison *comparison)
{
    struct buffer *words = &judging->work->words;

    if (judging->update->what != DIFF_UPDATE_SETTING) {
        diff_words_add(words, comparison, &items[0]->event, &items[1]->event);
        return;
    }
    value_text_add(words, &items[1]->event, false);
    buffer_add(words, SLICE(", A has "));
    value_text_add(words, &items[0]->event, false);
}

static void add_words(const struct judging *judging,
                      const struct log_item *const items[2],
                      const struct diff_comparison *comparison)
{
    struct diff_work *work = judging->work;
    struct buffer *words = &work->words;
    uint32_t step = judging->pair->step;

    work->name.size = 0;
    words->size = 0;
    if (judging->update->what <= DIFF_UPDATE_PARAMETER) {
        buffer_add(&work->name, SLICE("gradient of "));
    }
    diff_name_add(&(items[1] != NULL ? items[1] : items[0])->event, &work->name);
    if (judging->update->what == DIFF_UPDATE_TENSOR && step != NONE) {
        struct slice name =
            diff_update_name(&work->updates, work->updates.sides[1].steps[step].name);

        if (judging->pair->is_before) {
            buffer_add(words, SLICE("no recorded call wrote it; before "));
            text_add_shortened(words, name, NAME_LIMIT);
            buffer_add(words, SLICE(": "));
        } else {
            buffer_add(words, SLICE("after "));
            text_add_shortened(words, name, NAME_LIMIT);
            buffer_add(words, SLICE(": "));
        }
    }
    if (items[0] == NULL) {
        buffer_add(words, SLICE("there is one, "));
        add_value_words(words, items[1]);
        buffer_add(words, SLICE("; A has none"));
    } else if (items[1] == NULL) {
        buffer_add(words, SLICE("there is none; A has "));
        add_value_words(words, items[0]);
    } else {
        add_difference(judging, items, comparison);
    }
}

/* Adds the line whose backward made the gradient, and that all values before are equal. */
static void add_origin(struct judging *judging, uint32_t use)
{
    struct diff_work *work = judging->work;
    struct buffer *detail = &work->update_detail;
    struct diff_place place, other;

    detail->size = 0;
    if (judging->update->what > DIFF_UPDATE_PARAMETER) {
        if (judging->update->what == DIFF_UPDATE_TENSOR && judging->pair->is_clean) {
            buffer_add(detail, SLICE("  equal in both: the gradients and the settings "
                                     "that were recorded before\n"));
        }
        return;
    }
    if (use == GRAPH_NONE) {
        return;
    }
    site_of(judging, use, &place);
    buffer_add(detail,
               SLICE("  equal in both: the gradients that arrived before it, of "));
    text_add_shortened(
        detail,
        diff_fact_name(&work->facts[1],
                       &work->facts[1].items[work->facts[1].nodes[use].fact]),
        NAME_LIMIT);
    buffer_add(detail, SLICE(" of line "));
    buffer_add_number(detail, place.line);
    for (size_t i = 0; i < judging->use_count; i++) {
        site_of(judging, judging->uses[i], &other);
        if (judging->uses[i] != use) {
            buffer_add(detail, SLICE(", of line "));
            buffer_add_number(detail, other.line);
        }
    }
    buffer_add_byte(detail, '\n');
}

/* ---- the report ---- */

/* Whether the backward starts with this gradient. */
static bool is_start(const struct judging *judging)
{
    const struct diff_update_side *b = &judging->work->updates.sides[1];
    uint32_t i = judging->pair->items[1];

    if (i == NONE || judging->update->what != DIFF_UPDATE_GRADIENT) {
        return false;
    }
    while (i-- > 0) {
        if (b->items[i].what <= DIFF_UPDATE_PARAMETER) {
            return b->items[i].step != judging->pair->step;
        }
    }
    return true;
}

/* Sets the finding's places, and the line to fix. */
static void find_places(struct judging *judging,
                        const struct log_item *const items[2],
                        struct diff_finding *finding)
{
    struct diff_work *work = judging->work;
    uint32_t use = choose_use(judging);

    if (judging->update->what == DIFF_UPDATE_TENSOR && !judging->pair->is_before) {
        set_step_place(judging, finding);
    } else if (judging->update->what > DIFF_UPDATE_PARAMETER) {
        set_item_places(items, finding);
    } else if (use != GRAPH_NONE) {
        set_node_places(judging, use, finding);
    } else if (is_start(judging)) {
        set_step_place(judging, finding);
    }
    if (finding->lines[1] == 0) {
        set_item_places(items, finding);
    }
    if (finding->class_ != DIFF_OWN) {
        return;
    }
    add_origin(judging, use);
    finding->items[0] = finding->items[1] = NULL;
    diff_fix_find(work, finding);
}

static bool is_ignored(const struct diff_work *work, const struct log_event_view *event)
{
    for (size_t i = 0; i < work->options->ignored_count; i++) {
        if (name_select(event->name, event->path, work->options->ignored[i]) !=
            NAME_OTHER) {
            return true;
        }
    }
    return false;
}

static void
report(struct judging *judging, struct log_item items[2], struct diff_finding *finding)
{
    struct diff_work *work = judging->work;
    const struct log_item *there[2] = {
        judging->pair->items[0] == NONE ? NULL : &items[0],
        judging->pair->items[1] == NONE ? NULL : &items[1],
    };
    struct diff_comparison comparison = {.cause = DIFF_CAUSE_NONE};

    if (is_ignored(work, &(there[1] != NULL ? there[1] : there[0])->event)) {
        return;
    }
    if (there[0] != NULL && there[1] != NULL) {
        diff_update_compare(&work->updates, judging->update, judging->pair->step, items,
                            &comparison);
        finding->distance = comparison.has_distance ? &comparison.distance : NULL;
    }
    add_words(judging, there, &comparison);
    work->update_detail.size = 0;
    find_places(judging, there, finding);
    for (unsigned side = 0; side < 2; side++) {
        items[side].kind = LOG_GRADIENT;
        finding->items[side] = there[side];
    }
    finding->name = buffer_slice(&work->name);
    finding->words = buffer_slice(&work->words);
    finding->detail = buffer_slice(&work->update_detail);
    diff_add_finding(work, finding);
}

static void judge_pair(struct diff_work *work, const struct diff_update_pair *pair)
{
    struct diff_updates *updates = &work->updates;
    struct judging judging = {
        .work = work,
        .pair = pair,
        .update = pair->items[1] != NONE ? &updates->sides[1].items[pair->items[1]]
                                         : &updates->sides[0].items[pair->items[0]],
        .node = GRAPH_NONE,
    };
    bool is_gradient = judging.update->what <= DIFF_UPDATE_PARAMETER;
    struct diff_finding finding = {
        .class_ = is_gradient ? class_of_gradient(&judging) : class_of_step(&judging),
        .cause = is_gradient ? DIFF_CAUSE_GRADIENT : DIFF_CAUSE_STEP,
        .is_update = true,
        .has_equal_inputs = true,
    };
    struct log_item items[2];

    for (unsigned side = 0; side < 2; side++) {
        if (pair->items[side] != NONE &&
            !diff_update_load(updates, side, pair->items[side], &items[side])) {
            return;
        }
    }
    work->update_counts.steps += finding.class_ == DIFF_STEP;
    work->update_counts.own += finding.class_ == DIFF_OWN;
    work->update_counts.inherited += finding.class_ == DIFF_INHERITED;
    report(&judging, items, &finding);
    if (finding.class_ != DIFF_STEP) {
        work->updates_differ = true;
        work->updates_step = pair->step;
    }
}

void diff_updates_report(struct diff_work *work, uint64_t event)
{
    struct diff_updates *updates = &work->updates;

    while (work->has_updates && work->next_update < updates->pair_count &&
           !work->is_stopped &&
           diff_update_due(updates, &updates->pairs[work->next_update]) <= event) {
        judge_pair(work, &updates->pairs[work->next_update++]);
    }
}
