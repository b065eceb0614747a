/* Names whose memory was not written yet. */
#include "runtime/view/walk/uninitialised_names.h"

#include "runtime/array/uninitialised.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/hash/mix.h"

/* Flag in a line number: the memory was written in part. */
#define LINE_PART (UINT32_C(1) << 31)

void uninitialised_names_init(struct uninitialised_names *names)
{
    number_map_init(&names->lines);
}

void uninitialised_names_release(struct uninitialised_names *names)
{
    number_map_release(&names->lines);
}

static uint64_t key_of(uint32_t call, struct slice name)
{
    return hash_mix(hash_64(name), call);
}

static uint32_t line_of(const struct log_event_view *event)
{
    bool is_part = slice_equal(event->shape->note, SLICE(UNINITIALISED_PART_NOTE));

    return (event->site->line & ~LINE_PART) | (is_part ? LINE_PART : 0);
}

bool uninitialised_names_follow(struct uninitialised_names *names,
                                const struct log_event_view *event)
{
    bool is_noted = event->kind == VALUE_TENSOR && event->path.size == 0 &&
                    uninitialised_is_noted(event->shape->note);
    uint64_t key;

    if (!is_noted && (names->lines.count == 0 || event->path.size > 0)) {
        return true;
    }
    key = key_of(event->call, event->name);
    if (!is_noted && number_map_get(&names->lines, key) == NUMBER_MAP_NONE) {
        return true;
    }
    return number_map_put(&names->lines, key, is_noted ? line_of(event) : 0);
}

uint32_t uninitialised_names_find(const struct uninitialised_names *names,
                                  const struct log_event_view *event,
                                  struct slice *name,
                                  bool *is_part)
{
    for (uint32_t i = 0; names->lines.count > 0 && i < event->site->read_count; i++) {
        struct slice read = event->site->reads[i].name;
        uint32_t line = number_map_get(&names->lines, key_of(event->call, read));

        if (line != NUMBER_MAP_NONE && line != 0 && !site_writes(event->site, read)) {
            *name = read;
            *is_part = (line & LINE_PART) != 0;
            return line & ~LINE_PART;
        }
    }
    return 0;
}
