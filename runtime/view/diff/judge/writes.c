/* Who wrote in place to which memory last, on either side. A write by one run alone, into memory that a
 * value of later lies in, is why that differs. */
#include "runtime/view/diff/work.h"

#include "runtime/base/memory.h"

#include <string.h>

/* So many storages are known; one with the same place takes the older one's. */
#define STORAGE_COUNT 4096
#define NAME_SIZE     80

struct diff_write {
    uint64_t storage; /* the address; 0: none */
    uint64_t data;    /* where the value begins */
    uint64_t count;   /* of its elements */
    uint64_t hash;
    uint32_t
        version;   /* behind the write: no other one came since where it is the same */
    uint32_t site; /* of the trace */
    uint32_t name_size;
    struct diff_place place;
    bool has_hash;
    char name[NAME_SIZE];
};

struct diff_writes {
    struct diff_write sides[2][STORAGE_COUNT];
};

struct diff_writes *diff_writes_new(void)
{
    return memory_allocate_zeroed(1, sizeof(struct diff_writes));
}

void diff_writes_free(struct diff_writes *writes)
{
    memory_free(writes);
}

static struct diff_write *
write_of(struct diff_writes *writes, unsigned side, uint64_t storage)
{
    return &writes->sides[side][(storage * 0x9e3779b97f4a7c15u) >> 52];
}

_Static_assert(STORAGE_COUNT == 1 << (64 - 52), "write_of gives an index of the table");

static uint64_t storage_of(const struct log_event_view *event)
{
    return event->tensor.data == 0
               ? 0
               : event->tensor.data -
                     (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

static uint64_t count_of(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        count *= (uint64_t)shape->shape[i];
    }
    return count;
}

/* Whether the event has the very elements that were written, and they are others by now. */
static bool is_other_value(const struct diff_write *write,
                           const struct log_event_view *event)
{
    return write->data == event->tensor.data &&
           write->count == count_of(event->shape) && write->has_hash &&
           event->has_hash && write->hash != event->hash;
}

void diff_writes_note(struct diff_work *work,
                      unsigned side,
                      const struct log_event_view *event)
{
    bool is_write = event->change == CHANGE_MUTATED ||
                    (event->change == CHANGE_NEW && event->site->kind == SITE_MUTATE);
    struct diff_write *write;

    if (!is_write || event->kind != VALUE_TENSOR || event->tensor.version == 0 ||
        storage_of(event) == 0) {
        return;
    }
    write = write_of(work->writes, side, storage_of(event));
    *write = (struct diff_write){
        .storage = storage_of(event),
        .data = event->tensor.data,
        .count = count_of(event->shape),
        .hash = event->hash,
        .has_hash = event->has_hash,
        .version = event->tensor.version,
        .site = event->site_number,
        .place = {event->module_number, event->site->line},
        .name_size = event->name.size < NAME_SIZE ? (uint32_t)event->name.size : 0,
    };
    memcpy(write->name, event->name.bytes, write->name_size);
}

/* The last write to the memory of the event's value, which is as it was then; NULL: not known. */
static const struct diff_write *
find_write(struct diff_work *work, unsigned side, const struct log_event_view *event)
{
    const struct diff_write *write = write_of(work->writes, side, storage_of(event));

    if (storage_of(event) == 0 || write->storage != storage_of(event) ||
        write->version != event->tensor.version) {
        return NULL;
    }
    return write;
}

bool diff_writes_blame(struct diff_work *work,
                       const struct log_item *const items[2],
                       struct diff_blame *blame)
{
    const struct diff_write *writes[2] = {find_write(work, 0, &items[0]->event),
                                          find_write(work, 1, &items[1]->event)};
    unsigned side = writes[1] != NULL ? 1 : 0;
    const struct diff_write *write = writes[side];
    const struct log_event_view *event = &items[side]->event;
    uint32_t partner;

    if (write == NULL || write->site == event->site_number ||
        is_other_value(write, event)) {
        return false;
    }
    partner = diff_align_site(work->align, side, write->site);
    if (writes[0] != NULL && writes[1] != NULL && partner == writes[0]->site) {
        return false;
    }
    *blame = (struct diff_blame){
        .side = side,
        .name = {write->name, write->name_size},
    };
    blame->places[side] = write->place;
    blame->places[1 - side] = diff_site_place(work, 1 - side, partner);
    return true;
}
