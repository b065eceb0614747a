/* Left-out visits: visits of sites that never held a tensor are no longer recorded after the
 * first many.
 *
 * A loop over numbers would fill the trace and slow the program down. A site that never held a
 * tensor is recorded for the first LEFT_OUT_AFTER visits of a recording, and then only at visits
 * whose number is a power of two. These are the same visits in each run of the same program. A
 * visit that holds a tensor or a number that is not finite is recorded in any case, and once a
 * site holds a tensor, all its later visits are recorded.
 *
 * Calls, loops and branches are left out only if nothing in them has held a tensor: neither the
 * sites nor the calls of the function, and nothing in the body of the loop. So the calls and
 * iterations that use tensors stay complete.
 *
 * The trace holds for each such site the event from which on it was left out (struct
 * log_left_out). Visits missing after it were not recorded, and are no difference between two
 * runs. */
#ifndef MONITORCH_RECORD_LEFT_OUT_H
#define MONITORCH_RECORD_LEFT_OUT_H

#include "runtime/record/recorder.h"

#include <assert.h>

#define LEFT_OUT_AFTER 10000

/* Whether the rule leaves the next visit out. The caller first checks that the visit's values
 * may be left out; then it calls left_out_skip and nothing else. */
static inline bool left_out_skips(const struct recorded_site *site)
{
    return site->is_left_out && ((site->visit_count + 1) & site->visit_count) != 0;
}

/* The same for sites where only the count has to be updated. Never true for the first left-out
 * visit. */
static inline bool left_out_skips_simply(const struct recorded_site *site)
{
    return site->is_simple && site->left_out_count > 0 && left_out_skips(site);
}

static inline void left_out_count_skipped(struct recorded_site *site)
{
    uint64_t entry = site->function->entry_count;

    site->left_out_count++;
    site->visit_count++;
    if (site->skipped_entry != entry) {
        site->skipped_entry = entry;
        site->skipped_count = 0;
    }
    site->skipped_count++;
}

/* Writes the record of a site at its first left-out visit. Not inlined: runs once for a site. */
void left_out_begin(struct recorder *recorder,
                    struct recorded_module *module,
                    uint32_t site);

static inline void
left_out_skip(struct recorder *recorder, struct recorded_module *module, uint32_t index)
{
    assert(index < module->table.site_count);

    struct recorded_site *site = &module->sites[index];

    if (site->left_out_count == 0) {
        left_out_begin(recorder, module, index);
    }
    site->function->entry_count += site->is_enter;
    left_out_count_skipped(site);
}

/* Returns and resets the number of visits of the site that the running call skipped since its
 * last recorded one. 0 if the function was entered again since. */
static inline uint32_t left_out_pop_skipped(struct recorded_site *site,
                                            const struct call_function *function)
{
    uint64_t count = site->skipped_count;

    site->skipped_count = 0;
    return site->skipped_entry != function->entry_count ? 0
           : count > UINT32_MAX                         ? UINT32_MAX
                                                        : (uint32_t)count;
}

/* Decides, after a visit was counted, whether later visits of the site may be left out. */
void left_out_consider(struct recorder *recorder,
                       struct recorded_module *module,
                       uint32_t site);

/* Notes that the site holds a tensor in that call. From now on it is recorded, and so are the
 * loops and calls around it. */
void left_out_note_tensor(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call);

/* Marks the callers of a call as holding tensors. Called when a call of a function that holds
 * tensors starts. */
void left_out_note_call(struct recorder *recorder, const struct call *call);

/* Resets the counts, for the start of another file. */
void left_out_forget(struct recorded_module *module);

/* Writes the number of left-out visits of each site. */
void left_out_close(struct recorder *recorder);

/* Returns how many visits were left out. Fills in up to `limit` places with the most left-out
 * visits, in descending order, and their number `count`. */
struct left_out_place {
    struct slice path; /* of the source file */
    uint32_t line;
    uint64_t count;
};
uint64_t left_out_sum(const struct recorder *recorder,
                      struct left_out_place *places,
                      size_t limit,
                      size_t *count);

#endif
