/* A raw node of the first reading: what is known of a value as soon as it is met. */
#include "runtime/base/memory.h"
#include "runtime/view/flow/build.h"

#define LIMIT_OF_NODES (UINT32_MAX / 2)

/* ---- nodes ---- */

bool flow_is_scalar(enum value_kind kind)
{
    switch (kind) {
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_BIG_INT:
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
    case VALUE_TEXT:
    case VALUE_BYTES:
        return true;
    default:
        return false;
    }
}

static unsigned flags_of(const struct log_event_view *event)
{
    unsigned flags = 0;

    if ((event->flags & LOG_EVENT_READ) != 0) {
        flags |= FLOW_NODE_SOURCE;
    } else if (event->site->kind == SITE_ENTER) {
        flags |= FLOW_NODE_ARGUMENT;
    } else if (event->site->kind == SITE_RETURN) {
        flags |= FLOW_NODE_RESULT;
    }
    if (event->kind == VALUE_TENSOR &&
        (event->shape->flags & LOG_FORM_PARAMETER) != 0) {
        flags |= FLOW_NODE_PARAMETER;
    }
    if (event->change == CHANGE_MUTATED) {
        flags |= FLOW_NODE_IN_PLACE;
    } else if (event->change == CHANGE_ALIASED) {
        flags |= FLOW_NODE_ALIAS;
    }
    return flags;
}

/* Where the memory begins that the value lies in. */
static uint64_t storage_of(const struct log_event_view *event)
{
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return 0;
    }
    return event->tensor.data -
           (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

/* How many bytes the value lies in, where its elements lie side by side in their order. */
static uint64_t extent_of(const struct log_event_view *event)
{
    const struct log_shape *shape = event->shape;
    struct array array;
    uint64_t count = 1;

    if (event->kind != VALUE_TENSOR || event->tensor.data == 0 ||
        shape->strides == NULL) {
        return 0;
    }
    array = (struct array){.dtype = shape->dtype,
                           .dimension_count = shape->dimension_count,
                           .shape = shape->shape};
    if (array_count(&array) >= UINT32_MAX) {
        return 0;
    }
    for (uint32_t i = shape->dimension_count; i-- > 0;) {
        uint64_t stride =
            count * (shape->strides_are_bytes ? dtype_size(shape->dtype) : 1);

        if (shape->shape[i] != 1 && shape->strides[i] != (int64_t)stride) {
            return 0;
        }
        count *= (uint64_t)shape->shape[i];
    }
    return count * dtype_size(shape->dtype);
}

static enum flow_mark mark_of(const struct flow_builder *builder, uint64_t event)
{
    const struct flow_options *options = builder->options;

    return options->mark == NULL ? FLOW_MARK_NONE
                                 : options->mark(options->mark_context, event);
}

bool flow_raw_add(struct flow_builder *builder,
                  const struct log_event_view *event,
                  uint32_t name,
                  bool is_hidden)
{
    void *items = builder->raws;
    struct flow_raw node = {
        .event = event->number,
        .storage = storage_of(event),
        .data = event->kind == VALUE_TENSOR ? event->tensor.data : 0,
        .extent = extent_of(event),
        .address = event->tensor.object,
        .hash = event->hash,
        .has_hash = event->has_hash,
        .version = event->tensor.version,
        .same_as = FLOW_NONE,
        .object = builder->raw_count,
        .holder = builder->raw_count,
        .older = FLOW_NONE,
        .maybe = FLOW_NONE,
        .base = FLOW_NONE,
        .module = event->module_number,
        .site = event->site_number,
        .line = event->site->line,
        .call = builder->visit.call,
        .unit = builder->calls[builder->visit.call].open_unit,
        .name = name,
        .content = FLOW_NONE,
        .serial = builder->visit.serial,
        .written = FLOW_NONE,
        .alias_site =
            event->kind == VALUE_TENSOR ? event->tensor.alias_site : UINT32_MAX,
        .cluster = FLOW_NONE,
        .flags = (uint16_t)flags_of(event),
        .kind = (uint8_t)event->kind,
        .dtype = event->shape == NULL ? 0 : (uint8_t)event->shape->dtype,
        .change = (uint8_t)event->change,
        .difference = (uint8_t)event->difference,
        .mark = (uint8_t)mark_of(builder, event->number),
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
        .is_hidden = is_hidden,
        .has_nan = event->has_statistics && event->statistics.nan_count > 0,
        .inside = FLOW_NONE,
        .closed_call = FLOW_NONE,
    };

    if (builder->raw_count >= LIMIT_OF_NODES) {
        error_set(builder->error, ERROR_INPUT,
                  "a graph of more than %u values cannot be made: choose functions, "
                  "lines or names",
                  LIMIT_OF_NODES);
        return false;
    }
    if (!flow_text(builder, event->path, &node.path) ||
        !flow_grow(builder, &items, &builder->raw_capacity, builder->raw_count,
                   sizeof *builder->raws)) {
        return false;
    }
    builder->raws = items;
    builder->raws[builder->raw_count++] = node;
    return true;
}

/* Whether the site has written to the value's memory, not bound a name to it alone. */
static bool is_writing(const struct flow_builder *builder, const struct flow_raw *node)
{
    const struct log_module *module = builder->modules[node->module].module;
    const struct site *site = &module->table.sites[node->site - module->first_site];

    return node->change == CHANGE_MUTATED || (node->flags & FLOW_NODE_IN_PLACE) != 0 ||
           (site->kind == SITE_MUTATE && site->write_count == 1 && node->path == 0 &&
            node->same_as == FLOW_NONE && !node->is_read);
}

bool flow_raw_note_storage(struct flow_builder *builder, uint32_t raw)
{
    struct flow_raw *node = &builder->raws[raw];

    if (node->storage != 0 && !number_map_put(&builder->storages, node->storage, raw)) {
        return flow_out_of_memory(builder);
    }
    if (node->storage != 0 && is_writing(builder, node)) {
        node->written = number_map_get(&builder->writings, node->storage);
        if (!number_map_put(&builder->writings, node->storage, raw)) {
            return flow_out_of_memory(builder);
        }
    }
    return number_map_put(&builder->written_sites, node->site, raw) ||
           flow_out_of_memory(builder);
}

/* ---- arguments, results ---- */

/* Arguments and results of one call stand one behind the other, as a visit's events do. */
static void extend(uint32_t *first, uint32_t *count, uint32_t raw)
{
    if (*count == 0) {
        *first = raw;
    }
    if (*first + *count == raw) {
        ++*count;
    }
}

void flow_raw_note_in_call(struct flow_builder *builder, uint32_t raw)
{
    const struct flow_raw *node = &builder->raws[raw];
    struct flow_call *call = &builder->calls[node->call];

    if ((node->flags & FLOW_NODE_ARGUMENT) != 0) {
        extend(&call->first_argument, &call->argument_count, raw);
        flow_use_guess(builder, raw);
    } else if ((node->flags & FLOW_NODE_RESULT) != 0) {
        /* A generator may be at the same return twice: the newest value counts. */
        if (call->result_count > 0 &&
            builder->raws[call->first_result].serial != node->serial) {
            call->result_count = 0;
        }
        extend(&call->first_result, &call->result_count, raw);
    }
}
