/* What has changed of a name since it was told last. */
#include "runtime/array/sample.h"
#include "runtime/base/hash/hash.h"
#include "runtime/record/state.h"
#include "runtime/trace/late.h"

static unsigned find_differences(const struct name_state *before,
                                 const struct name_state *now)
{
    unsigned differences = 0;

    if (before->kind != now->kind) {
        return LOG_DIFFERS_TYPE;
    }
    if (before->type == now->type) {
        return 0;
    }
    if (now->kind != VALUE_TENSOR) {
        return LOG_DIFFERS_TYPE;
    }
    if (before->mark.shape != now->mark.shape) {
        differences |= LOG_DIFFERS_SHAPE;
    }
    if (before->mark.strides != now->mark.strides) {
        differences |= LOG_DIFFERS_STRIDES;
    }
    if (before->mark.device != now->mark.device) {
        differences |= LOG_DIFFERS_DEVICE;
    }
    if (before->mark.dtype != now->mark.dtype) {
        differences |= LOG_DIFFERS_DTYPE;
    }
    if (before->mark.layout != now->mark.layout) {
        differences |= LOG_DIFFERS_TYPE;
    }
    if (((before->mark.flags ^ now->mark.flags) & LOG_FORM_REQUIRES_GRAD) != 0) {
        differences |= LOG_DIFFERS_REQUIRES_GRAD;
    }
    return differences;
}

/* What was last seen of the name, or of a leaf in it. NULL: out of memory. */
static struct name_state *
find_state(const struct visit *visit, uint32_t place, uint32_t path)
{
    const struct recorded_site *site = &visit->module->sites[visit->index];
    uint32_t name = visit->module->names[site->names + place];

    return path == 0 ? &visit->call->names[name]
                     : leaf_states_get(&visit->call->leaves, name, path);
}

/* 0: not known. */
static uint64_t storage_of(const struct recorded_array *given)
{
    if (given->data == 0) {
        return 0;
    }
    return given->data - (uint64_t)given->offset * dtype_size(given->array->dtype);
}

/* Scalars have no version: their value decides. */
uint64_t recorder_value_hash(const struct value *value)
{
    double parts[] = {value->real, value->imaginary};

    switch (value->kind) {
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        return hash_64((struct slice){(const char *)parts, sizeof(parts)});
    case VALUE_BIG_INT:
        return hash_64(value->text);
    default:
        return (uint64_t)value->integer;
    }
}

/* Whether a line that may have written to the value leaves no mark that would tell. */
static bool is_written_unseen(const struct visit *visit, const struct value *value)
{
    return visit->site->kind == SITE_MUTATE &&
           (value->kind == VALUE_CONTAINER || value->kind == VALUE_OBJECT ||
            value->kind == VALUE_BYTES);
}

/* Whether a look at the name has found what was there before. */
static bool is_as_before(const struct name_state *before, const struct name_state *now)
{
    return before->object == now->object && before->kind == now->kind &&
           before->type == now->type && before->version == now->version &&
           before->hash == now->hash;
}

static struct verdict judge(struct recorder *recorder,
                            const struct visit *visit,
                            const struct name_state *before,
                            const struct value *value,
                            const struct name_state *now)
{
    struct verdict verdict = {CHANGE_NONE, UINT32_MAX, 0, false};

    if (value->kind == VALUE_TENSOR) {
        struct sighting sighting = {
            .state = *now,
            .storage = storage_of(value->array),
            .site = visit->module->first_site + visit->index,
            .is_write = visit->site->kind == SITE_MUTATE,
        };
        return history_judge(recorder->history, before, &sighting);
    }
    if (value->kind == VALUE_NOTHING || value->kind == VALUE_MISSING) {
        return verdict;
    }
    if (before->object == 0) {
        verdict.change = CHANGE_NEW;
    } else if (before->object != now->object || before->kind != now->kind) {
        verdict.change = CHANGE_REBOUND;
    } else if (before->hash != now->hash) {
        verdict.change = CHANGE_MUTATED;
    } else if (!is_written_unseen(visit, value)) {
        verdict.change = CHANGE_SAME;
    }
    verdict.differs_in_values = before->object != 0 && before->hash != now->hash;
    return verdict;
}

struct told_container *
recorder_told_container(const struct visit *visit, uint32_t write, bool *is_known)
{
    const struct recorded_site *site = &visit->module->sites[visit->index];
    struct told_container *told;

    if (write >= visit->site->write_count || write > UINT8_MAX) {
        return NULL;
    }
    told = told_containers_get(&visit->call->told,
                               visit->module->names[site->names + write]);
    *is_known = told != NULL && told->object != 0;
    return told;
}

bool recorder_reads_own_name(const struct visit *visit, uint32_t write)
{
    const struct site *site = visit->site;

    for (uint32_t i = 0; i < site->read_count; i++) {
        if (slice_equal(site->reads[i].name, site->writes[write].name)) {
            return true;
        }
    }
    return false;
}

bool recorder_is_same_since(const struct recorder *recorder,
                            uint64_t object,
                            uint64_t event)
{
    uint64_t first = history_first_event(recorder->history, object);

    return first != 0 && first <= event;
}

/* Whether the call keeps what was last seen of the name: of names that are read that is so where
 * sources are recorded, or the call writes them too. */
static bool is_numbered(const struct visit *visit, uint32_t place)
{
    return place < visit->site->write_count ||
           recorded_module_read(visit->module, visit->index,
                                place - visit->site->write_count) != SITE_NONE;
}

bool recorder_follow_name(struct recorder *recorder,
                          const struct visit *visit,
                          uint32_t place,
                          const struct value *value,
                          const struct name_state *now,
                          struct log_event *head,
                          struct verdict *verdict)
{
    struct name_state unknown = {.object = 0};
    struct name_state *state =
        is_numbered(visit, place) ? find_state(visit, place, head->path) : &unknown;

    if (state != NULL && state->object == NAME_PASSED) {
        state->object = 0;
    }
    if (visit->is_look &&
        (state == NULL || state == &unknown || is_as_before(state, now))) {
        return false;
    }
    if (state == NULL) {
        return true;
    }
    *verdict = judge(recorder, visit, state, value, now);
    if (verdict->change > CHANGE_NEW) {
        head->difference = (uint8_t)find_differences(state, now);
        head->difference |= verdict->differs_in_values ? LOG_DIFFERS_VALUES : 0;
    }
    *state = *now;
    return true;
}
