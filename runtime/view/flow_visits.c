/* The visits of sites, one behind the other: each binds names, when what it reads is known. */
#include "runtime/view/flow_build.h"

/* The thread's visits follow each other: gives the one before this. */
static bool follow_thread(struct flow_builder *builder,
                          uint16_t thread,
                          uint32_t serial,
                          uint32_t *before)
{
    void *items = builder->threads;

    if (thread >= builder->thread_count) {
        if (!flow_grow(builder, &items, &builder->thread_capacity, thread,
                       sizeof *builder->threads)) {
            return false;
        }
        builder->threads = items;
        while (builder->thread_count <= thread) {
            builder->threads[builder->thread_count++] = (struct flow_thread){0};
        }
    }
    *before = builder->threads[thread].now;
    builder->threads[thread].now = serial;
    return true;
}

/* The numbers of visits begin with 1: nothing that is zeroed takes part in one. */
bool flow_follow_visit(struct flow_builder *builder,
                       const struct log_event_view *event,
                       uint32_t call)
{
    struct flow_visit *visit = &builder->visit;
    uint32_t serial = visit->serial + 1;
    uint32_t before;

    if (visit->serial != 0 && visit->call == call &&
        visit->site == event->site_number && visit->number == event->visit) {
        return true;
    }
    if (!follow_thread(builder, event->thread, serial, &before)) {
        return false;
    }
    *visit = (struct flow_visit){
        .call = call,
        .site = event->site_number,
        .number = event->visit,
        .serial = serial,
        .before = before,
        .edges_left = FLOW_EDGES_MAX,
    };
    return flow_turns_follow(builder, event, call);
}

/* What the statement read, when everything that it read has been told. */
bool flow_resolve_visit(struct flow_builder *builder,
                        const struct log_event_view *event)
{
    struct flow_visit *visit = &builder->visit;

    if (visit->is_resolved) {
        return true;
    }
    visit->is_resolved = true;
    if (event->site->kind == SITE_ENTER ||
        (event->site->write_count == 0 &&
         builder->calls[visit->call].first_pending == FLOW_NONE)) {
        return true;
    }
    return flow_resolve(builder, event->site, visit->call) &&
           flow_edges_of_calls(builder, event);
}

/* The binding stands for this visit's values from now on. */
void flow_begin_binding(struct flow_builder *builder, uint32_t index)
{
    struct flow_binding *binding = &builder->bindings[index];

    if (binding->serial == builder->visit.serial) {
        return;
    }
    binding->before = binding->first;
    binding->before_count = binding->count;
    binding->before_serial = binding->serial;
    binding->first = FLOW_NONE;
    binding->count = 0;
    binding->carried_count = 0;
    binding->object = FLOW_NONE;
    binding->serial = builder->visit.serial;
    binding->writer = builder->visit.call;
}

void flow_append_leaf(struct flow_builder *builder, uint32_t index, uint32_t raw)
{
    struct flow_binding *binding = &builder->bindings[index];

    flow_begin_binding(builder, index);
    /* A node that another name stands for too stays the end of its own list. */
    if (binding->count > 0 && builder->raws[binding->last].binding != index) {
        binding->count = 0;
    }
    if (binding->count == 0) {
        binding->first = raw;
    } else {
        builder->raws[binding->last].next_leaf = raw;
    }
    binding->last = raw;
    binding->count++;
}
