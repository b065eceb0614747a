/* A call as the tree log knows it. */
#include "runtime/view/tracklog/call.h"

#include "runtime/base/memory.h"

struct track_call *track_call_add(struct open_call *call)
{
    struct track_call *tracked = memory_allocate_zeroed(1, sizeof *tracked);

    if (tracked != NULL) {
        tracked->line_site = SITE_NONE;
        call->extra = tracked;
    }
    return tracked;
}

bool track_call_want(struct track_call *tracked,
                     struct slice wish,
                     const struct track_labels *labels)
{
    char *copy = memory_allocate(wish.size, 1);

    if (copy == NULL) {
        return false;
    }
    if (wish.size > 0) {
        memcpy(copy, wish.bytes, wish.size);
    }
    memory_free(tracked->wish_text);
    tracked->wish_text = copy;
    tracked->wish = track_wish_read((struct slice){copy, wish.size});
    tracked->is_conditional = tracked->wish.when != TRACK_ALWAYS;
    if (tracked->wish.depth > tracked->depth) {
        tracked->depth = tracked->wish.depth;
    }
    tracked->labels = *labels;
    track_labels_change(&tracked->labels, tracked->wish.labels);
    return true;
}

struct open_call *track_call_above(const struct open_call *call, bool with_waiting)
{
    for (struct open_call *above = call->parent; above != NULL; above = above->parent) {
        const struct track_call *tracked = track_call_of(above);

        if (tracked != NULL && (tracked->state == TRACK_SHOWN ||
                                (with_waiting && tracked->state == TRACK_WAITING))) {
            return above;
        }
    }
    return NULL;
}

void track_call_forget(struct open_call *call)
{
    struct track_call *tracked = track_call_of(call);

    if (tracked == NULL) {
        return;
    }
    track_names_release(&tracked->names);
    buffer_release(&tracked->waiting);
    memory_free(tracked->wish_text);
    tracked->wish_text = NULL;
    tracked->wish = (struct track_wish){.names = SLICE("")};
    if (tracked->state == TRACK_WAITING || tracked->state == TRACK_DUE) {
        tracked->state = TRACK_IGNORED;
    }
}
