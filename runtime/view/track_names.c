/* What the names of a call were when they were told last. */
#include "runtime/view/track_names.h"

#include "runtime/base/hash.h"
#include "runtime/base/memory.h"

#define FIRST_CAPACITY 8
#define COUNT_MAX      4096

void track_names_release(struct track_names *names)
{
    memory_free(names->items);
    *names = (struct track_names){0};
}

/* The name's place, or the free one where it belongs. */
static struct track_name *find(struct track_name *items, size_t capacity, uint64_t key)
{
    size_t i = (size_t)key & (capacity - 1);

    while (items[i].key != 0 && items[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &items[i];
}

static bool grow(struct track_names *names)
{
    size_t capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2;
    struct track_name *items = memory_allocate_zeroed(capacity, sizeof *items);

    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->items[i].key != 0) {
            *find(items, capacity, names->items[i].key) = names->items[i];
        }
    }
    memory_free(names->items);
    names->items = items;
    names->capacity = capacity;
    return true;
}

static uint64_t key_of(const struct log_event_view *event)
{
    uint64_t key = hash_64(event->name);

    if (event->path.size > 0) {
        key = (key ^ hash_64(event->path)) * 0x9e3779b97f4a7c15u;
    }
    return key == 0 ? 1 : key;
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

bool track_names_meet(struct track_names *names,
                      const struct log_event_view *event,
                      struct track_name *before)
{
    uint64_t key = key_of(event);
    struct track_name *known;
    bool is_known;

    if (names->count * 4 >= names->capacity * 3 &&
        (names->count >= COUNT_MAX || !grow(names))) {
        if (names->capacity == 0) {
            return false;
        }
        known = find(names->items, names->capacity, key);
        if (known->key == 0) {
            return false;
        }
    } else {
        known = find(names->items, names->capacity, key);
    }
    is_known = known->key != 0;
    if (is_known) {
        *before = *known;
    } else {
        known->key = key;
        names->count++;
    }
    remember(known, event);
    return is_known;
}
