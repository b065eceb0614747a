/* Visits of sites: which are told, and what is known of the names that they read. */
#include "runtime/record/left_out.h"
#include "runtime/record/state.h"

#include <string.h>

/* What is known of a site in a while header, in struct call. */
enum {
    REPEAT_IS_TOLD = 1,   /* for the present stay in the loop */
    REPEAT_HAS_TURNED = 2 /* the loop has begun a turn since */
};

bool recorder_is_entered(const struct recorded_module *module,
                         const struct call *call,
                         uint32_t site)
{
    uint32_t repeat = module->sites[site].repeat;
    uint8_t seen = REPEAT_IS_TOLD | REPEAT_HAS_TURNED;

    return repeat != SITE_NONE && !call->has_returned &&
           (call->repeats[repeat] & seen) == seen;
}

/* A record in a while header runs on every turn of that loop. It is told once for each time
 * the loop is reached: again only after a site that stands before it was visited, or where no
 * turn was made since. */
static bool
is_repetition(const struct recorded_module *module, struct call *call, uint32_t site)
{
    const struct call_function *function = call->function;
    const struct repeating_site *repeating =
        &module->repeating[module->first_repeating[function->index]];
    bool is_again = false;

    for (uint32_t i = 0; i < function->repeat_count; i++) {
        uint8_t *state = &call->repeats[i];
        if (site == repeating[i].loop) {
            *state |= REPEAT_HAS_TURNED;
        } else if (site < repeating[i].site) {
            *state = 0;
        } else if (site == repeating[i].site) {
            is_again = *state == (REPEAT_IS_TOLD | REPEAT_HAS_TURNED);
            *state = REPEAT_IS_TOLD;
        }
    }
    return is_again;
}

bool recorder_begin_visit(struct recorder *recorder,
                          struct recorded_module *module,
                          uint32_t site,
                          struct call *call,
                          struct visit *visit)
{
    struct recorded_site *recorded = &module->sites[site];
    uint32_t *count = &call->visits[recorded->local];

    if (call->function->repeat_count > 0 && is_repetition(module, call, site)) {
        return false;
    }
    visit->module = module;
    visit->site = &module->table.sites[site];
    visit->index = site;
    visit->call = call;
    visit->time = recorder_time(recorder);
    *count += left_out_take_skipped(recorded, call->function);
    visit->number = *count;
    visit->is_look = false;
    visit->is_measured = recorder->options.every <= 1 ||
                         recorded->visit_count % recorder->options.every == 0;
    *count += *count < UINT32_MAX;
    recorded->visit_count++;
    left_out_consider(recorder, module, site);
    if (visit->site->kind == SITE_RETURN) {
        call->has_returned = true;
    }
    return true;
}

bool recorder_is_read_new(const struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t read)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);

    return recorder->options.has_sources && read <= UINT8_MAX && name != SITE_NONE &&
           visit->call->names[name].object == 0;
}

struct visit recorder_look_ahead(const struct recorder *recorder,
                                 struct recorded_module *module,
                                 uint32_t site,
                                 struct call *call)
{
    return (struct visit){
        .module = module,
        .site = &module->table.sites[site],
        .index = site,
        .call = call,
        .time = recorder_time(recorder),
        .number = call->visits[module->sites[site].local],
        .is_measured = true,
    };
}

bool recorder_read_may_differ(const struct visit *visit,
                              uint32_t read,
                              uint64_t object,
                              bool has_version,
                              uint32_t version)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);
    const struct name_state *state;

    if (name == SITE_NONE || read > UINT8_MAX) {
        return false;
    }
    state = &visit->call->names[name];
    if (state->object == 0 || state->object == NAME_PASSED) {
        return false;
    }
    return state->object != object || !has_version || state->version != version;
}

void recorder_pass_read(const struct visit *visit, uint32_t read)
{
    uint32_t name = recorded_module_read(visit->module, visit->index, read);

    visit->call->names[name].object = NAME_PASSED;
}

bool recorder_keeps(const struct recorder *recorder, struct slice name)
{
    for (size_t i = 0; i < recorder->options.name_count; i++) {
        if (slice_match(name, slice_of(recorder->options.names[i]))) {
            return true;
        }
    }
    return false;
}

void recorder_note(struct recorder *recorder,
                   enum log_note_tag tag,
                   uint32_t site,
                   struct slice text)
{
    size_t limit = LOG_RECORD_MAX - sizeof(struct log_note);
    size_t size = text.size < limit ? text.size : limit;
    struct log_note *note;

    if (recorder->log == NULL) {
        return;
    }
    note = log_writer_begin_beside(recorder->log, sizeof(*note) + size);
    if (note == NULL) {
        return;
    }
    note->time = recorder_time(recorder);
    note->site = site;
    memcpy(note + 1, text.bytes, size);
    log_writer_commit(recorder->log,
                      (struct log_record){.size = (uint32_t)(sizeof(*note) + size),
                                          .kind = LOG_NOTE,
                                          .tag = (uint8_t)tag});
}
