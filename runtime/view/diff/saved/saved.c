/* What differs between two folders of saved tensors. */
#include "runtime/view/diff/saved/saved.h"

#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/saved/match.h"
#include "runtime/view/diff/saved/saved_event.h"
#include "runtime/view/diff/saved/values.h"

struct work {
    struct saved_folder *const *folders; /* borrowed */
    const struct diff_saved_options *options;
    struct diff_saved_result *result;
    struct diff_saved_match match;
    struct diff_saved_values values;
    struct buffer text;               /* owned: words, and a full name */
    const struct saved_entry *before; /* the last one of B that was equal */
    unsigned leader;                  /* the side whose order is followed */
    bool has_stopped;                 /* `error` tells why */
    struct error *error;
};

bool diff_saved_is_equal(const struct diff_saved_result *result)
{
    return result->different == 0 && result->unread == 0 && result->only[0] == 0 &&
           result->only[1] == 0;
}

/* ---- telling ---- */

static void stop(struct work *work)
{
    work->has_stopped = true;
    if (work->error->kind == ERROR_NONE) {
        error_set_memory(work->error);
    }
}

static void report(struct work *work, struct diff_saved_finding *finding)
{
    const struct diff_saved_options *options = work->options;

    finding->is_first = !work->result->has_first && finding->cause != DIFF_CAUSE_CODE &&
                        finding->cause != DIFF_CAUSE_NONE;
    if (finding->is_first) {
        work->result->has_first = true;
        finding->equal_before = work->result->equal;
        finding->before = work->before;
    }
    finding->words = buffer_slice(&work->text);
    if (work->text.has_failed ||
        (options->found != NULL && !options->found(options->context, finding))) {
        stop(work);
    }
}

static bool is_ignored(struct work *work, const struct saved_key *key)
{
    const struct diff_saved_options *options = work->options;

    work->text.size = 0;
    saved_key_add_full_name(key, &work->text);
    for (size_t i = 0; i < options->ignored_count; i++) {
        if (slice_match(key->name, options->ignored[i]) ||
            slice_match(buffer_slice(&work->text), options->ignored[i])) {
            return true;
        }
    }
    return false;
}

/* ---- one tensor ---- */

static void add_unmatched(struct work *work, unsigned side, size_t index)
{
    const struct diff_saved_mate *mate = &work->match.mates[side][index];
    const struct saved_entry *entry = saved_folder_entry(work->folders[side], index);
    struct diff_saved_finding finding = {
        .cause = mate->name_counts[1 - side] > 0 ? DIFF_CAUSE_FLOW : DIFF_CAUSE_CODE,
    };

    if (is_ignored(work, &entry->tensor.key)) {
        work->result->ignored++;
        return;
    }
    work->result->only[side]++;
    finding.entries[side] = entry;
    work->text.size = 0;
    if (finding.cause == DIFF_CAUSE_FLOW) {
        buffer_add_format(&work->text, "only in %s: B has %zu of that name, A %zu",
                          side == 0 ? "A" : "B", mate->name_counts[1],
                          mate->name_counts[0]);
    }
    report(work, &finding);
}

static void report_different(struct work *work,
                             struct diff_saved_finding *finding,
                             const struct array *const arrays[2],
                             const struct diff_comparison *comparison)
{
    struct saved_event events[2];

    for (unsigned side = 0; side < 2; side++) {
        saved_event_make(&events[side], arrays[side]);
        saved_event_measure(&events[side], arrays[side]);
        finding->events[side] = &events[side].event;
    }
    work->result->different++;
    finding->cause = comparison->cause;
    finding->distance = comparison->has_distance ? &comparison->distance : NULL;
    work->text.size = 0;
    diff_words_add(&work->text, comparison, finding->events[0], finding->events[1]);
    report(work, finding);
}

static void compare_pair(struct work *work, const size_t indices[2])
{
    struct diff_saved_finding finding = {.cause = DIFF_CAUSE_NONE};
    struct diff_comparison comparison;
    struct array arrays[2];
    struct error error = ERROR_INIT;

    for (unsigned side = 0; side < 2; side++) {
        finding.entries[side] = saved_folder_entry(work->folders[side], indices[side]);
    }
    if (is_ignored(work, &finding.entries[1]->tensor.key)) {
        work->result->ignored++;
        return;
    }
    for (unsigned side = 0; side < 2; side++) {
        if (!saved_folder_read(work->folders[side], indices[side], &arrays[side],
                               &error)) {
            work->result->unread++;
            work->text.size = 0;
            buffer_add(&work->text, slice_of(error.text));
            report(work, &finding);
            return;
        }
    }
    if (!diff_saved_values_compare(
            &work->values, (const struct array *const[]){&arrays[0], &arrays[1]},
            &comparison)) {
        stop(work);
    } else if (comparison.cause == DIFF_CAUSE_NONE) {
        work->result->equal++;
        work->result->close += comparison.is_close;
        work->before = finding.entries[1];
    } else {
        report_different(work, &finding,
                         (const struct array *const[]){&arrays[0], &arrays[1]},
                         &comparison);
    }
}

/* ---- all ---- */

/* Two files of a tensor each were named to be compared, whatever is called how. */
static void pair_single(struct diff_saved_match *match)
{
    if (match->counts[0] == 1 && match->counts[1] == 1) {
        match->mates[0][0].index = 0;
        match->mates[1][0].index = 0;
    }
}

/* The first tensor tells for all: files know their order, or the folder was made by others. */
static bool is_ordered(const struct saved_folder *folder)
{
    return saved_folder_count(folder) > 0 &&
           saved_folder_entry(folder, 0)->tensor.order != SAVED_ORDER_UNKNOWN;
}

/* Those that the other side has alone, before its tensor `end`. */
static void add_others(struct work *work, size_t *next, size_t end)
{
    unsigned other = 1 - work->leader;

    for (; *next < end && !work->has_stopped; (*next)++) {
        if (work->match.mates[other][*next].index == DIFF_SAVED_ALONE) {
            add_unmatched(work, other, *next);
        }
    }
}

static void compare_all(struct work *work)
{
    unsigned leader = work->leader;
    size_t next_other = 0;

    for (size_t i = 0; i < work->match.counts[leader] && !work->has_stopped; i++) {
        size_t mate = work->match.mates[leader][i].index;
        size_t indices[2];

        if (work->options->progress != NULL &&
            !work->options->progress(work->options->progress_context, i)) {
            stop(work);
            return;
        }
        if (mate == DIFF_SAVED_ALONE) {
            add_unmatched(work, leader, i);
            continue;
        }
        add_others(work, &next_other, mate);
        indices[leader] = i;
        indices[1 - leader] = mate;
        compare_pair(work, indices);
    }
    add_others(work, &next_other, work->match.counts[1 - leader]);
}

bool diff_saved(struct saved_folder *const folders[2],
                const struct diff_saved_options *options,
                struct diff_saved_result *result,
                struct error *error)
{
    struct work work = {
        .folders = folders,
        .options = options,
        .result = result,
        .leader = is_ordered(folders[1]) || !is_ordered(folders[0]) ? 1 : 0,
        .error = error,
    };

    *result = (struct diff_saved_result){
        .counts = {saved_folder_count(folders[0]), saved_folder_count(folders[1])},
        .is_ordered = is_ordered(folders[work.leader]),
    };
    diff_saved_values_init(&work.values, options->tolerance);
    if (diff_saved_match_init(
            &work.match, (const struct saved_folder *const[]){folders[0], folders[1]},
            options->tolerance.renames, options->tolerance.rename_count)) {
        if (options->are_files) {
            pair_single(&work.match);
        }
        compare_all(&work);
    } else {
        stop(&work);
    }
    diff_saved_match_release(&work.match);
    diff_saved_values_release(&work.values);
    buffer_release(&work.text);
    return !work.has_stopped;
}
