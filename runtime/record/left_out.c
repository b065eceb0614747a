/* Visits that are left out of the recording. */
#include "runtime/record/left_out.h"

#include "runtime/record/state.h"

#include <assert.h>

static void write_record(struct recorder *recorder,
                         const struct recorded_module *module,
                         uint32_t site)
{
    assert(site < module->table.site_count);

    const struct recorded_site *recorded = &module->sites[site];
    struct log_left_out record = {
        .record = {.kind = LOG_LEFT_OUT},
        .site = module->first_site + site,
        .event = recorded->left_out_from,
        .until = recorded->left_out_until,
        .count = recorded->left_out_count,
    };

    if (recorder->log != NULL) {
        log_writer_define(recorder->log, &record, sizeof record, SLICE(""));
    }
}

/* Whether the site, or the function or loop that it marks, has never held a tensor. */
static bool is_free_of_tensors(const struct recorded_module *module, uint32_t site)
{
    assert(site < module->table.site_count);

    const struct recorded_site *recorded = &module->sites[site];
    const struct call_function *function =
        &module->functions[module->table.sites[site].function];

    if (recorded->holds_tensor) {
        return false;
    }
    switch (module->table.sites[site].kind) {
    case SITE_ASSIGN:
    case SITE_MUTATE:
        return true;
    case SITE_LOOP:
        return function->repeat_count == 0;
    case SITE_BRANCH:
    case SITE_LINE:
        return recorded->loop != SITE_NONE ? !module->sites[recorded->loop].holds_tensor
                                           : !function->holds_tensor;
    case SITE_ENTER:
    case SITE_RETURN:
        return !function->holds_tensor && function->repeat_count == 0;
    default:
        return false;
    }
}

void left_out_consider(struct recorder *recorder,
                       struct recorded_module *module,
                       uint32_t site)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];

    if (!recorder->options.leaves_out || recorded->is_left_out ||
        recorded->visit_count < LEFT_OUT_AFTER ||
        module->sites[site].repeat != SITE_NONE || !is_free_of_tensors(module, site)) {
        return;
    }
    recorded->is_left_out = true;
    recorded->is_enter = module->table.sites[site].kind == SITE_ENTER;
    recorded->function = &module->functions[module->table.sites[site].function];
    recorded->has_peeks = false;
    for (uint32_t i = 0; i < module->table.sites[site].write_count; i++) {
        recorded->has_peeks |=
            module->table.sites[site].writes[i].source == SITE_SOURCE_PEEK;
    }
    recorded->is_simple = !recorded->is_enter && !recorded->has_peeks;
    module->left_out_count++;
}

void left_out_begin(struct recorder *recorder,
                    struct recorded_module *module,
                    uint32_t site)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];

    recorded->left_out_from =
        recorder->log == NULL ? 0 : log_writer_event_count(recorder->log);
    recorded->left_out_until = UINT64_MAX;
    write_record(recorder, module, site);
}

static void
record_again(struct recorder *recorder, struct recorded_module *module, uint32_t site)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];

    if (!recorded->is_left_out) {
        return;
    }
    recorded->is_left_out = false;
    module->left_out_count--;
    if (recorded->left_out_count > 0) {
        recorded->left_out_until =
            recorder->log == NULL ? 0 : log_writer_event_count(recorder->log);
        write_record(recorder, module, site);
    }
}

/* Records all sites again that are no longer free of tensors. Called after a function or a loop
 * held its first one. */
static void record_structure_again(struct recorder *recorder,
                                   struct recorded_module *module)
{
    for (uint32_t i = 0; i < module->table.site_count && module->left_out_count > 0;
         i++) {
        if (module->sites[i].is_left_out && !is_free_of_tensors(module, i)) {
            record_again(recorder, module, i);
        }
    }
}

/* Marks the loop and the loops around it as holding a tensor. Returns whether one of them was
 * not marked before. */
static bool note_loops(struct recorded_module *module, uint32_t loop)
{
    bool is_new = false;

    while (loop != SITE_NONE && !module->sites[loop].holds_tensor) {
        module->sites[loop].holds_tensor = true;
        is_new = true;
        loop = module->sites[loop].loop;
    }
    return is_new;
}

/* Marks the function's loops around a line as holding a tensor. Returns whether one of them was
 * not marked before. */
static bool note_loops_at(struct recorded_module *module,
                          const struct call_function *function,
                          uint32_t line)
{
    const struct site *sites = module->table.sites;
    bool is_new = false;

    for (uint32_t i = function->first_loop; i != SITE_NONE;
         i = module->sites[i].next_loop) {
        struct recorded_site *loop = &module->sites[i];

        if (!loop->holds_tensor && sites[i].line <= line && line <= loop->last_line) {
            loop->holds_tensor = true;
            is_new = true;
        }
    }
    return is_new;
}

void left_out_note_call(struct recorder *recorder, const struct call *call)
{
    const struct call *parent = call->below;

    while (parent != NULL && parent->number == call->parent) {
        struct recorded_module *module = recorder->modules[parent->function->table];
        bool is_new = note_loops_at(module, parent->function, call->line);

        if (parent->function->holds_tensor && !is_new) {
            return;
        }
        parent->function->holds_tensor = true;
        record_structure_again(recorder, module);
        call = parent;
        parent = call->below;
    }
}

void left_out_note_tensor(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call)
{
    assert(site < module->table.site_count);

    struct recorded_site *recorded = &module->sites[site];
    bool is_new = !call->function->holds_tensor;

    if (recorded->holds_tensor) {
        return;
    }
    recorded->holds_tensor = true;
    record_again(recorder, module, site);
    call->function->holds_tensor = true;
    if (note_loops(module, recorded->loop) || is_new) {
        record_structure_again(recorder, module);
    }
    if (is_new) {
        left_out_note_call(recorder, call);
    }
}

void left_out_forget(struct recorded_module *module)
{
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        module->sites[i].left_out_count = 0;
    }
}

void left_out_close(struct recorder *recorder)
{
    for (size_t m = 0; m < recorder->module_count; m++) {
        const struct recorded_module *module = recorder->modules[m];

        for (uint32_t i = 0; i < module->table.site_count; i++) {
            if (module->sites[i].left_out_count > 0) {
                write_record(recorder, module, i);
            }
        }
    }
}

/* Inserts a place into the list, which is sorted by descending count. */
static void insert_place(struct left_out_place *places,
                         size_t limit,
                         size_t *count,
                         struct left_out_place place)
{
    size_t at = *count;

    while (at > 0 && places[at - 1].count < place.count) {
        at--;
    }
    if (at >= limit) {
        return;
    }
    *count += *count < limit;
    for (size_t i = *count - 1; i > at; i--) {
        places[i] = places[i - 1];
    }
    places[at] = place;
}

uint64_t left_out_sum(const struct recorder *recorder,
                      struct left_out_place *places,
                      size_t limit,
                      size_t *count)
{
    uint64_t sum = 0;

    *count = 0;
    for (size_t m = 0; m < recorder->module_count; m++) {
        const struct recorded_module *module = recorder->modules[m];

        for (uint32_t i = 0; i < module->table.site_count; i++) {
            uint64_t left_out = module->sites[i].left_out_count;

            sum += left_out;
            if (left_out > 0) {
                insert_place(places, limit, count,
                             (struct left_out_place){module->table.path,
                                                     module->table.sites[i].line,
                                                     left_out});
            }
        }
    }
    return sum;
}
