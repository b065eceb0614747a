/* Visits that are not recorded: of sites that have never held a tensor, after many.
 *
 * A loop over numbers would fill the trace and slow the program down. So of a site that never held a
 * tensor the first LEFT_OUT_AFTER visits of a recording are recorded, and then those alone whose
 * number is a power of two: the same ones in every run of the same program. What holds a tensor or a
 * number that is not finite is recorded in any case, and from a tensor on, so is every visit.
 *
 * Calls, loops and branches are left out only where nothing in them has held a tensor: a function
 * whose sites, or whose calls, never did; a loop with none in its body. So the calls and turns that
 * tensors are in stay complete.
 *
 * The trace holds for each such site from which event on (struct log_left_out): what is missing
 * there was not recorded, which is no difference between two runs. */
#ifndef MONITORCH_RECORD_LEFT_OUT_H
#define MONITORCH_RECORD_LEFT_OUT_H

#include "runtime/record/recorder.h"

#include <assert.h>

#define LEFT_OUT_AFTER 10000

/* Whether the rule leaves the next visit out: then left_out_skip counts it and nothing else is to be
 * done, unless its values must not be left out, which the caller finds out before. */
static inline bool left_out_skips(const struct recorded_site *site)
{
    return site->is_left_out && ((site->visit_count + 1) & site->visit_count) != 0;
}

/* The same of sites of which nothing but the count has to be kept: not of the first one. */
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

/* Not inlined: once for a site. */
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

/* How often the running call has skipped the site since it was recorded last, as far as it is known:
 * where the function was entered again since, 0. */
static inline uint32_t left_out_pop_skipped(struct recorded_site *site,
                                            const struct call_function *function)
{
    uint64_t count = site->skipped_count;

    site->skipped_count = 0;
    return site->skipped_entry != function->entry_count ? 0
           : count > UINT32_MAX                         ? UINT32_MAX
                                                        : (uint32_t)count;
}

/* After a visit was counted: from the next one on it may be left out. */
void left_out_consider(struct recorder *recorder,
                       struct recorded_module *module,
                       uint32_t site);

/* The site holds a tensor, in that call: it is recorded from now on, with the loops and the calls
 * around it. */
void left_out_note_tensor(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call);

/* A call has begun whose function holds tensors: so do those that it was made from. */
void left_out_note_call(struct recorder *recorder, const struct call *call);

/* Another file is begun: none was left out of it. */
void left_out_forget(struct recorded_module *module);

/* Writes how many were left out, of each site. */
void left_out_close(struct recorder *recorder);

/* How many visits were left out, and the places with the most: `on_site` is called for up to `limit`
 * of them, the most first. */
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
