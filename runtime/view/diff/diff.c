/* Comparison of two traces: the passes over both, and their verdict on each step. */
#include "runtime/view/diff/diff.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/work.h"

#include <string.h>

#define PROGRESS_STEPS 65536
/* Two traces are of different programs if less than one in this many of the smaller program's
 * sites are in the other. */
#define LIKENESS_PART 4

static void visit(struct diff_work *work, const struct diff_step *step)
{
    const struct log_item *item =
        step->items[0] != NULL ? step->items[0] : step->items[1];

    if (item->kind == LOG_DATA) {
        for (unsigned side = 0; side < 2; side++) {
            if (step->items[side] != NULL) {
                /* An element that is stored once in one file may be stored repeatedly in the
                 * other. */
                work->values.is_broken |= step->items[side]->data.is_once;
                diff_values_add(&work->values, side, step->items[side]->data.offset,
                                step->items[side]->data.bytes);
            }
        }
        return;
    }
    diff_settle_pending(work);
    if (step->odd == DIFF_ODD_BEFORE) {
        diff_match_before(work, step);
        return;
    }
    if (step->items[0] == NULL || step->items[1] == NULL) {
        diff_match_odd(work, step);
        return;
    }
    if (work->pass == DIFF_PASS_REPORT) {
        diff_gap_close(work, step);
    }
    work->parts[0] = 0;
    work->parts[1] = 0;
    if (item->kind == LOG_EVENT) {
        diff_match_events(work, step);
    }
}

static bool has_failed(const struct diff_work *work)
{
    return work->has_failed || work->values.has_failed || work->sources[0].has_failed ||
           work->sources[1].has_failed;
}

/* A value that was cut between its parts: the parts that are missing do not count as different. */
static void leave_parts(struct diff_work *work)
{
    for (unsigned side = 0; side < 2; side++) {
        if (diff_is_cut(work, 1 - side)) {
            work->result->only[side] -= work->parts[side];
            work->result->beyond[side] += work->parts[side];
        }
    }
}

static void go_through(struct diff_work *work)
{
    const struct diff_options *options = work->options;
    struct diff_step step;
    uint64_t count = 0;

    while (!work->is_stopped && !has_failed(work) &&
           !(work->pass == DIFF_PASS_SCAN && work->has_odd) &&
           diff_align_next(work->align, &step)) {
        if (work->pass == DIFF_PASS_REPORT && step.items[1] != NULL &&
            step.items[1]->kind == LOG_EVENT) {
            diff_settle_pending(work);
            diff_updates_report(work, step.items[1]->event.number);
        }
        visit(work, &step);
        if (++count % PROGRESS_STEPS == 0 && options->progress != NULL &&
            !options->progress(options->progress_context,
                               work->result->event_counts[1])) {
            error_set(work->error, ERROR_SYSTEM, "stopped");
            work->is_stopped = true;
        }
    }
    if (!work->is_stopped && !has_failed(work)) {
        diff_settle_pending(work);
    }
    if (work->pass == DIFF_PASS_REPORT && !work->is_stopped && !has_failed(work)) {
        diff_gap_close(work, NULL);
        leave_parts(work);
        diff_updates_report(work, UINT64_MAX);
    }
    if (has_failed(work) || diff_align_has_failed(work->align)) {
        error_set_memory(work->error);
        work->is_stopped = true;
    }
}

/* Whether nearly nothing of the smaller program is in the other. */
static bool is_other_program(const struct diff_likeness *likeness)
{
    uint64_t least = likeness->site_counts[0] < likeness->site_counts[1]
                         ? likeness->site_counts[0]
                         : likeness->site_counts[1];

    return likeness->sites_in_both * LIKENESS_PART < least;
}

/* Whether sites were matched but nearly none of the events that ran was. */
static bool has_found_nothing(const struct diff_result *result)
{
    uint64_t least = result->event_counts[0] < result->event_counts[1]
                         ? result->event_counts[0]
                         : result->event_counts[1];

    return result->code[0] > 0 && result->code[1] > 0 && result->flow == 0 &&
           (result->equal + result->own + result->inherited) * LIKENESS_PART < least;
}

/* Whether most events of both traces are of lines that the other program lacks. A common file,
 * such as one that makes the inputs, does not make them one program. */
static bool is_mostly_other(const struct diff_result *result)
{
    uint64_t common = result->equal + result->own + result->inherited;

    return result->code[0] > common && result->code[1] > common;
}

static void report_ends(struct diff_work *work)
{
    struct diff_result *result = work->result;

    result->has_updates = work->has_updates;
    result->is_update_alone = diff_align_has_updates(work->align, 0) !=
                              diff_align_has_updates(work->align, 1);
    result->updates = work->update_counts;
    result->updates.equal = work->updates.equal;
    result->updates.close = work->updates.close;
    for (unsigned side = 0; side < 2; side++) {
        const struct log_header *header = log_reader_header(work->readers[side]);

        result->is_unfinished[side] = header->is_closed == 0;
        result->lost_counts[side] = header->is_closed != 0 ? header->lost_count : 0;
        result->damage_counts[side] = log_reader_damage_count(work->readers[side]);
        if (result->damage_counts[side] > 0) {
            strncpy(result->damage[side], log_reader_damage(work->readers[side], 0),
                    ERROR_TEXT_SIZE - 1);
        }
        if (header->last != 0 && header->is_closed != 0 &&
            header->event_count > result->event_counts[side]) {
            result->dropped[side] = header->event_count - result->event_counts[side];
        }
    }
}

static void init(struct diff_work *work, const struct diff_options *options)
{
    work->options = options;
    diff_values_init(&work->values);
    diff_facts_init(&work->facts[0]);
    diff_facts_init(&work->facts[1]);
}

/* Starts a pass over both traces from their beginnings. */
static bool begin_pass(struct diff_work *work, enum diff_pass pass)
{
    const struct diff_options *options = work->options;
    struct diff_align_options align = {
        .readers = {work->readers[0], work->readers[1]},
        .sources = {&work->sources[0], &work->sources[1]},
        .renames = options->tolerance.renames,
        .rename_count = options->tolerance.rename_count,
    };

    diff_align_free(work->align);
    work->align = NULL;
    for (unsigned side = 0; side < 2; side++) {
        log_reader_rewind(work->readers[side]);
    }
    work->pass = pass;
    work->pending.is_there = false;
    *work->result = (struct diff_result){.own = 0};
    work->align = diff_align_new(&align, work->error);
    diff_compare_init(&work->compare, options->tolerance);
    work->compare.tolerance.align = work->align;
    work->compare.tolerance.floor = &work->floor;
    if (work->align != NULL) {
        diff_align_likeness(work->align, &work->result->likeness);
    }
    return work->align != NULL;
}

static bool begin(struct diff_work *work)
{
    const struct diff_options *options = work->options;

    for (unsigned side = 0; side < 2; side++) {
        work->readers[side] = log_reader_new(work->paths[side], work->error);
        if (work->readers[side] == NULL) {
            return false;
        }
        source_lines_init(&work->sources[side], work->readers[side], options->strip);
        work->all_sources[side] = &work->sources[side];
    }
    if (options->noise_path != NULL &&
        !diff_floor_measure(&work->floor, work->paths[0], options->noise_path,
                            options->is_noise_given, work->error)) {
        return false;
    }
    if (!graft_runs_read(&work->grafts, work->paths[0], work->paths[1], work->error) ||
        !begin_pass(work, DIFF_PASS_SCAN)) {
        return false;
    }
    if (options->begun != NULL) {
        options->begun(options->context, work->readers, work->all_sources);
    }
    return true;
}

static void finish(struct diff_work *work)
{
    diff_align_free(work->align);
    for (unsigned side = 0; side < 2; side++) {
        if (work->readers[side] != NULL) {
            source_lines_release(&work->sources[side]);
        }
        log_reader_free(work->readers[side]);
    }
    diff_gap_release(&work->gap);
    diff_facts_release(&work->facts[0]);
    diff_facts_release(&work->facts[1]);
    diff_edits_release(&work->edits);
    memory_free(work->visits[0]);
    memory_free(work->visits[1]);
    diff_values_release(&work->values);
    diff_floor_release(&work->floor);
    graft_runs_release(&work->grafts);
    diff_writes_free(work->writes);
    if (work->has_updates) {
        diff_updates_release(&work->updates);
    }
    memory_free(work->uses.first);
    memory_free(work->uses.targets);
    memory_free(work->uses.edges);
    buffer_release(&work->update_detail);
    buffer_release(&work->name);
    buffer_release(&work->words);
    buffer_release(&work->text);
    buffer_release(&work->path);
}

bool diff_result_is_empty(const struct diff_result *result)
{
    return result->equal + result->own + result->inherited + result->flow +
               result->only[0] + result->only[1] + result->clocks + result->steps ==
           0;
}

bool diff_result_is_equal(const struct diff_result *result)
{
    return result->own + result->inherited + result->flow + result->only[0] +
                   result->only[1] + result->updates.own + result->updates.inherited ==
               0 &&
           !diff_result_is_empty(result);
}

static bool build_graph(struct diff_work *work, unsigned side)
{
    const struct diff_options *options = work->options;
    struct graph_build_options graph_options = {
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    struct log_reader *reader = log_reader_new(work->paths[side], work->error);
    struct graph graph;
    bool is_done;

    if (reader == NULL) {
        return false;
    }
    graph_init(&graph);
    is_done = graph_build(&graph, reader, &graph_options, work->error);
    if (is_done && !diff_facts_set_graph(&work->facts[side], &graph,
                                         log_reader_first_event(reader))) {
        is_done = error_set_memory(work->error);
    }
    log_reader_free(reader);
    return is_done;
}

/* Finds the verdicts on all events. Returns false if memory ran out, a trace could not be read
 * or the work was stopped; the error is set. */
static bool judge(struct diff_work *work)
{
    if (!diff_edits_find(&work->edits, work->readers, work->all_sources, work->align)) {
        return error_set_memory(work->error);
    }
    for (unsigned side = 0; side < 2; side++) {
        work->visits[side] =
            memory_allocate_zeroed((size_t)work->edits.site_counts[side] + 1, 1);
        if (work->visits[side] == NULL) {
            return error_set_memory(work->error);
        }
    }
    /* Builds the graphs first: a graph needs the most memory while it is built. */
    if (!build_graph(work, 0) || !build_graph(work, 1) ||
        !begin_pass(work, DIFF_PASS_COLLECT)) {
        return false;
    }
    go_through(work);
    if (work->is_stopped) {
        return false;
    }
    if (!diff_updates_judge(work)) {
        return false;
    }
    return diff_verdicts_find(work->facts, work->edits.count > 0) ||
           error_set_memory(work->error);
}

/* Compares gradients and steps of runs whose values are all equal. Keeps the result of the scan
 * if no gradient or step differs. */
static bool judge_updates(struct diff_work *work)
{
    struct diff_result result = *work->result;

    if (work->is_stopped || work->has_odd || work->grafts.is_there ||
        !diff_align_has_updates(work->align, 0) ||
        !diff_align_has_updates(work->align, 1)) {
        return true;
    }
    if (!judge(work)) {
        return false;
    }
    work->has_odd = work->updates.pair_count > 0;
    work->is_judged = true;
    if (!work->has_odd) {
        *work->result = result;
        diff_facts_release(&work->facts[0]);
        diff_facts_release(&work->facts[1]);
    }
    return true;
}

/* Reads equal runs without gradients once, and runs that differ only in lines without effect
 * twice. */
static bool compare(struct diff_work *work)
{
    go_through(work);
    if (!judge_updates(work)) {
        return false;
    }
    if (!work->is_stopped && (work->has_odd || work->has_alone)) {
        if ((work->has_odd && !work->is_judged && !judge(work)) ||
            !begin_pass(work, DIFF_PASS_REPORT)) {
            return false;
        }
        go_through(work);
    }
    return !work->is_stopped;
}

bool diff_traces(const char *path_a,
                 const char *path_b,
                 const struct diff_options *options,
                 struct diff_result *result,
                 struct error *error)
{
    struct diff_work *work = memory_allocate_zeroed(1, sizeof *work);
    bool is_done;

    if (work == NULL) {
        return error_set_memory(error);
    }
    *result = (struct diff_result){.own = 0};
    work->result = result;
    work->error = error;
    work->paths[0] = path_a;
    work->paths[1] = path_b;
    init(work, options);
    work->writes = diff_writes_new();
    is_done = work->writes != NULL ? begin(work) : error_set_memory(error);
    if (is_done) {
        result->is_other_program = is_other_program(&result->likeness);
    }
    if (is_done && !result->is_other_program) {
        is_done = compare(work);
    }
    if (is_done) {
        report_ends(work);
        result->floor = work->floor;
        result->rounding = work->rounding;
        result->is_grafted = work->grafts.is_there;
        result->is_graft_of_other = work->grafts.is_others;
        result->floor.apart = NULL;
        result->floor.noise.bytes = result->floor.text;
        result->is_other_program =
            result->is_other_program || has_found_nothing(result);
        result->is_mostly_other = is_mostly_other(result);
    }
    if (is_done && options->changed != NULL) {
        diff_report_changed_sites(work);
    }
    if (is_done && options->ended != NULL) {
        options->ended(options->context, work->readers);
    }
    finish(work);
    memory_free(work);
    return is_done;
}
