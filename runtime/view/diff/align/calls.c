/* What the calls and events of a trace are called in terms of both: their functions, nn.Modules,
 * lines and the turns of the loops that they are in. */
#include "runtime/view/diff/align/side.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

/* What numbers are made of that mean different things. */
#define LOCAL_CALL 0x72u
#define CHAIN_ROOT 0x73u
/* In a turn that began before what the trace holds. */
#define LOCAL_VISIT 0x74u

/* The module of that number of the trace; NULL: there is none, or memory ran out. */
static struct diff_module *module_of(struct diff_side *side, uint32_t number)
{
    if (number >= side->sites->programs[side->number].count &&
        !diff_sites_update(side->sites)) {
        side->has_failed = true;
    }
    return number < side->sites->programs[side->number].count
               ? &side->sites->programs[side->number].modules[number]
               : NULL;
}

/* The nearest nn.Module that the call is within; NULL: none. */
static const struct open_call *module_call(const struct open_call *call)
{
    while (call != NULL && call->class_name.size == 0) {
        call = call->parent;
    }
    return call;
}

/* The nn.Module's path as seen from the one that called it, so that a model may be a part of
 * a larger one. Functions that one program alone has do not count: neither what a method was
 * split into, nor `train(model)`, which is of the model as a method is. */
static uint64_t path_hash(struct diff_side *side, const struct open_call *call)
{
    const struct open_call *outer = module_call(call->parent);
    bool is_within_new = false;
    size_t start = 0;

    if (call->class_name.size == 0) {
        return 0;
    }
    while (outer != NULL && !diff_call_of(outer)->has_counterpart) {
        is_within_new = true;
        outer = module_call(outer->parent);
    }
    if (outer == NULL && (is_within_new || call->path.size == 0)) {
        return 1;
    }
    if (outer != NULL && slice_starts(call->path, outer->path)) {
        if (call->path.size == outer->path.size) {
            return 1;
        }
        start = outer->path.size;
        if (start > 0 && call->path.bytes[start] != '.') {
            start = 0;
        }
        start += start > 0;
    }
    return diff_names_hash(&side->sites->names, side->number,
                           slice_part(call->path, start, call->path.size));
}

/* Where events were lost, nobody knows in which turns a call is. */
void diff_call_note_gap(const struct diff_side *side, struct diff_call *call)
{
    if (call->gap == side->gap) {
        return;
    }
    call->gap = side->gap;
    call->is_cut = true;
    for (uint32_t i = 0; i < call->turn_count; i++) {
        call->turns[i] = (struct diff_turn){0};
    }
}

/* Where in its caller a call was made: the line, and the turns of the loops around it. */
static uint64_t place_of(struct diff_side *side, const struct open_call *call)
{
    const struct open_call *parent = call->parent;
    const struct diff_module *module;
    const struct diff_function *function;
    uint64_t turn = 0;
    uint32_t loop;

    if (parent == NULL || call->line == 0) {
        return 0;
    }
    module = module_of(side, parent->module_number);
    if (module == NULL || call->line >= module->line_count) {
        return 0;
    }
    function = &module->functions[parent->function];
    if (function->partner_module != module->partner) {
        return 0;
    }
    diff_call_note_gap(side, diff_call_of(parent));
    loop = module->line_loops[call->line];
    while (loop != DIFF_NONE &&
           (module->module->table.sites[loop].function != parent->function ||
            module->sites[loop].partner == DIFF_NONE)) {
        loop = module->sites[loop].around;
    }
    if (loop != DIFF_NONE) {
        turn = diff_call_of(parent)->turns[module->sites[loop].slot].hash;
    }
    /* Begun before what one trace holds, in a turn that nothing is known of there. */
    if (loop != DIFF_NONE &&
        (side->is_before || (turn == 0 && diff_call_of(parent)->is_cut))) {
        turn = call->call;
    }
    return diff_mix(module->lines[call->line], turn);
}

/* Whether the other program has the line that made the call. */
static bool has_line(struct diff_side *side, const struct open_call *call)
{
    const struct diff_module *module = module_of(side, call->parent->module_number);

    return module != NULL && module->lines[call->line] != 0;
}

void diff_call_settle(struct open_call *call)
{
    struct diff_call *extra = call->extra;
    const struct diff_call *outer = call->parent == NULL ? NULL : call->parent->extra;

    if (extra->is_paired) {
        return;
    }
    if (outer == NULL) {
        extra->around = CHAIN_ROOT;
    } else if (outer->has_counterpart) {
        extra->around = diff_mix(outer->chain, extra->place);
    } else {
        extra->around = outer->around;
    }
    extra->chain = extra->has_counterpart ? diff_mix(extra->around, extra->local) : 0;
}

/* Gives a new call what is kept with it. */
bool diff_call_prepare(struct diff_side *side, struct open_call *call)
{
    const struct diff_module *module = module_of(side, call->module_number);
    const struct diff_function *function;
    struct diff_call *extra;

    if (module == NULL) {
        side->has_failed = true;
        return false;
    }
    function = &module->functions[call->function];
    extra = memory_allocate_zeroed(1, sizeof *extra +
                                          function->loop_count * sizeof *extra->turns);
    if (extra == NULL) {
        side->has_failed = true;
        return false;
    }
    call->extra = extra;
    extra->turn_count = function->loop_count;
    extra->gap = side->gap;
    extra->is_cut = !call->is_begun;
    extra->has_counterpart = function->partner_module != DIFF_NONE;
    extra->place = place_of(side, call);
    extra->has_place = extra->place != 0 && has_line(side, call);
    extra->local = diff_mix(function->key, path_hash(side, call)) ^ LOCAL_CALL;
    diff_call_settle(call);
    return true;
}

/* ---- events ---- */

static uint32_t name_index(const struct log_event_view *event)
{
    const struct site *site = event->site;
    uint32_t i = 0;

    if ((event->flags & LOG_EVENT_READ) != 0) {
        while (i < site->read_count && site->reads[i].name.bytes != event->name.bytes) {
            i++;
        }
        return site->write_count + (i < site->read_count ? i : 0);
    }
    while (i + 1 < site->write_count &&
           site->writes[i].name.bytes != event->name.bytes) {
        i++;
    }
    return i;
}

/* The turn of a loop; `site` is the loop's. */
static uint64_t
turn_hash(const struct diff_module *module, const struct diff_call *call, uint32_t site)
{
    return site != DIFF_NONE && module->sites[site].slot < call->turn_count
               ? call->turns[module->sites[site].slot].hash
               : 0;
}

/* A loop goes into its next turn. Turns are counted from where it was begun; where that was
 * before the trace's beginning, from the call's. */
static uint64_t next_turn(const struct diff_module *module,
                          struct diff_call *call,
                          uint32_t number,
                          uint32_t visit)
{
    const struct diff_site *site = &module->sites[number];
    uint64_t outer = turn_hash(module, call, site->loop);
    struct diff_turn *turn;

    if (site->slot >= call->turn_count) {
        return outer;
    }
    turn = &call->turns[site->slot];
    if (turn->hash != 0 && turn->outer != outer) {
        turn->base = visit;
    }
    turn->outer = outer;
    turn->hash = diff_mix(diff_mix(outer, site->key), visit - turn->base) | 1;
    return turn->hash;
}

/* Whether the site's partner writes the name too: it may write fewer, an argument less. */
static bool is_written_too(const struct diff_side *side,
                           const struct diff_module *module,
                           uint32_t number,
                           uint64_t name)
{
    const struct site *site = &module->module->table.sites[number];
    const struct diff_function *function = &module->functions[site->function];
    const struct diff_module *other;
    const struct site *partner;
    uint32_t first;

    if (function->partner_module == DIFF_NONE) {
        return true;
    }
    other = &side->sites->programs[1 - side->number].modules[function->partner_module];
    partner = &other->module->table.sites[module->sites[number].partner];
    if (partner->write_count >= site->write_count) {
        return true;
    }
    first = other->sites[module->sites[number].partner].first_name;
    for (uint32_t i = 0; i < partner->write_count; i++) {
        if (other->name_keys[first + i] == name) {
            return true;
        }
    }
    return false;
}

void diff_entry_fill(struct diff_side *side, struct diff_entry *entry)
{
    const struct log_event_view *event = &side->item.event;
    const struct diff_module *module = module_of(side, event->module_number);
    uint32_t number = event->site_number - event->module->first_site;
    struct diff_call *call = entry->call->extra;
    const struct diff_site *site;
    uint64_t turn;

    if (module == NULL) {
        side->has_failed = true;
        return;
    }
    site = &module->sites[number];
    entry->visit = event->visit;
    entry->has_counterpart = site->partner != DIFF_NONE;
    turn = event->site->kind == SITE_LOOP
               ? next_turn(module, call, number, event->visit)
               : turn_hash(module, call, site->loop);
    if ((turn == 0 && site->loop != DIFF_NONE && call->is_cut) ||
        (site->loop != DIFF_NONE &&
         diff_sites_leave_out(side->sites, side->number, event->module_number,
                              site->loop))) {
        turn = diff_mix(event->visit, LOCAL_VISIT);
    }
    if (event->site->kind == SITE_LOOP) {
        entry->loop = (uint32_t)diff_mix(site->key, call->local) | 1;
    }
    entry->local = diff_mix(site->key, turn);
    if (event->site->write_count > 0 || (event->flags & LOG_EVENT_READ) != 0) {
        uint64_t name = module->name_keys[site->first_name + name_index(event)];

        entry->local = diff_mix(entry->local, name ^ (event->flags & LOG_EVENT_READ));
        if (entry->has_counterpart && (event->flags & LOG_EVENT_READ) == 0) {
            entry->has_counterpart = is_written_too(side, module, number, name);
        }
    }
    if (event->path.size > 0) {
        entry->local = diff_mix(entry->local, hash_64(event->path));
    }
}
