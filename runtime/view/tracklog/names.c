/* What the names of a call were when they were told last. */
#include "runtime/view/tracklog/names.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#define COUNT_MAX 4096

void track_names_release(struct track_names *names)
{
    memory_free(names->items);
    number_map_release(&names->places);
    *names = (struct track_names){0};
}

static uint64_t key_of(const struct log_event_view *event)
{
    uint64_t key = hash_64(event->name);

    if (event->path.size > 0) {
        key = (key ^ hash_64(event->path)) * 0x9e3779b97f4a7c15u;
    }
    return key;
}

static void remember(struct track_name *known, const struct log_event_view *event)
{
    known->kind = event->kind;
    known->length = event->integer;
    known->text = event->kind == VALUE_TEXT ? hash_64(event->text) : 0;
    known->is_numpy = false;
    known->dtype_size = 0;
    if (event->kind == VALUE_TENSOR) {
        struct slice dtype = event->shape->dtype_text;
        size_t size = dtype.size < TRACK_DTYPE_SIZE ? dtype.size : TRACK_DTYPE_SIZE;

        known->is_numpy = (event->shape->flags & LOG_FORM_NUMPY) != 0;
        known->dtype_size = (uint8_t)size;
        if (size > 0) {
            memcpy(known->dtype, dtype.bytes, size);
        }
    }
}

/* NULL where the name is one too many, or memory ran out. */
static struct track_name *add(struct track_names *names, uint64_t key)
{
    void *items = names->items;

    if (names->count >= COUNT_MAX ||
        !memory_grow(&items, &names->capacity, names->count + 1,
                     sizeof *names->items)) {
        return NULL;
    }
    names->items = items;
    if (!number_map_put(&names->places, key, (uint32_t)names->count)) {
        return NULL;
    }
    return &names->items[names->count++];
}

bool track_names_add(struct track_names *names,
                     const struct log_event_view *event,
                     struct track_name *before)
{
    uint64_t key = key_of(event);
    uint32_t place = number_map_get(&names->places, key);
    struct track_name *known;

    if (place == NUMBER_MAP_NONE) {
        known = add(names, key);
        if (known != NULL) {
            remember(known, event);
        }
        return false;
    }
    known = &names->items[place];
    *before = *known;
    remember(known, event);
    return true;
}
