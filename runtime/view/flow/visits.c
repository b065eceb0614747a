/* The visits of sites, one behind the other: each binds names, when what it reads is known. */
#include "runtime/view/flow/build.h"

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
    if (visit->serial != 0 && visit->removed != FLOW_NONE &&
        visit->removed_raw == FLOW_NONE &&
        !flow_content_remove(builder, visit->removed, visit->removed_path)) {
        return false;
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
        .removed = FLOW_NONE,
        .removed_raw = FLOW_NONE,
        .is_entered = event->site->kind == SITE_ENTER,
        .edges_left =
            builder->edge_count < FLOW_PLENTY ? FLOW_SOURCES_MAX : FLOW_EDGES_FEW,
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
    return flow_resolve(builder, event->site) &&
           flow_edges_of_calls(builder, event->site);
}
