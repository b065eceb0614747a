/* Items that wait for their counterparts, which stand elsewhere in the other trace. */
#include "runtime/view/diff/align/side.h"

#include "runtime/base/memory.h"

static struct diff_waiting **bucket_of(struct diff_side *side, uint32_t moved)
{
    return &side->waiting[moved % DIFF_WAITING_BUCKETS];
}

bool diff_side_wait(struct diff_side *side)
{
    const struct log_item *item = &side->item;
    size_t sample_size = 0;
    size_t text_size = 0;
    struct diff_waiting *waiting;
    char *bytes;

    if (item->kind == LOG_EVENT) {
        text_size = item->event.text.size;
        sample_size =
            item->event.sample == NULL
                ? 0
                : (size_t)item->event.grid.count * dtype_size(item->event.shape->dtype);
    }
    waiting = memory_allocate(1, sizeof *waiting + sample_size + text_size);
    if (waiting == NULL) {
        side->has_failed = true;
        return false;
    }
    *waiting = (struct diff_waiting){
        .next = *bucket_of(side, side->head.moved),
        .item = *item,
        .call = side->head.call,
        .moved = side->head.moved,
    };
    bytes = (char *)(waiting + 1);
    if (sample_size > 0) {
        memcpy(bytes, item->event.sample, sample_size);
        waiting->item.event.sample = bytes;
    }
    if (text_size > 0) {
        memcpy(bytes + sample_size, item->event.text.bytes, text_size);
        waiting->item.event.text.bytes = bytes + sample_size;
    }
    *bucket_of(side, waiting->moved) = waiting;
    waiting->call->child_count++;
    return true;
}

struct diff_waiting *diff_side_take_waiting(struct diff_side *side, uint32_t moved)
{
    struct diff_waiting **place = bucket_of(side, moved);
    struct diff_waiting *found;

    while (*place != NULL && (*place)->moved != moved) {
        place = &(*place)->next;
    }
    found = *place;
    if (found != NULL) {
        *place = found->next;
    }
    return found;
}

void diff_side_free_waiting(struct diff_side *side, struct diff_waiting *waiting)
{
    if (waiting != NULL) {
        diff_side_let_go(side, waiting->call);
        memory_free(waiting);
    }
}

void diff_side_drop_waiting(struct diff_side *side)
{
    for (uint32_t i = 0; i < DIFF_WAITING_BUCKETS; i++) {
        while (side->waiting[i] != NULL) {
            struct diff_waiting *waiting = side->waiting[i];

            side->waiting[i] = waiting->next;
            memory_free(waiting);
        }
    }
}
