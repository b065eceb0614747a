/* Paths of items: their steps. */
#include "runtime/view/flow/paths.h"

#include <stdio.h>
#include <string.h>

static void set_parts(struct flow_path *path, const struct slice *parts, size_t count)
{
    char bytes[FLOW_PATH_SIZE];
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > sizeof bytes - size) {
            path->size = 0;
            return;
        }
        if (parts[i].size > 0) {
            memcpy(bytes + size, parts[i].bytes, parts[i].size);
        }
        size += parts[i].size;
    }
    memcpy(path->bytes, bytes, size);
    path->size = (uint32_t)size;
}

void flow_path_set(struct flow_path *path, struct slice first, struct slice then)
{
    struct slice parts[] = {first, then};

    set_parts(path, parts, 2);
}

void flow_path_set_item(struct flow_path *path, uint32_t number, struct slice then)
{
    char text[16];

    snprintf(text, sizeof text, "[%u]", number);
    flow_path_set(path, slice_of(text), then);
}

void flow_path_set_last(struct flow_path *path, uint32_t number, struct slice then)
{
    char text[16];

    snprintf(text, sizeof text, "[-%u]", number);
    flow_path_set(path, slice_of(text), then);
}

void flow_path_set_key(struct flow_path *path, struct slice key, struct slice then)
{
    struct slice parts[] = {SLICE("['"), key, SLICE("']"), then};

    set_parts(path, parts, 4);
}

void flow_path_set_attribute(struct flow_path *path,
                             struct slice name,
                             struct slice then)
{
    struct slice parts[] = {SLICE("."), name, then};

    set_parts(path, parts, 3);
}

size_t flow_path_step(struct slice path)
{
    size_t end = 1;

    if (path.size == 0) {
        return 0;
    }
    if (slice_starts(path, SLICE("['"))) {
        end = slice_find(path, SLICE("']"), 2);
        return end < path.size ? end + 2 : path.size;
    }
    if (path.bytes[0] == '[') {
        end = slice_find(path, SLICE("]"), 1);
        return end < path.size ? end + 1 : path.size;
    }
    while (end < path.size && path.bytes[end] != '.' && path.bytes[end] != '[') {
        end++;
    }
    return end;
}

struct slice flow_path_behind(struct slice path)
{
    return slice_part(path, flow_path_step(path), path.size);
}

bool flow_path_number(struct slice path, uint32_t *number)
{
    uint64_t value = 0;
    size_t at = 1;

    if (path.size < 3 || path.bytes[0] != '[') {
        return false;
    }
    while (at < path.size && path.bytes[at] >= '0' && path.bytes[at] <= '9' &&
           value < UINT32_MAX) {
        value = value * 10 + (uint64_t)(path.bytes[at++] - '0');
    }
    *number = (uint32_t)value;
    return at > 1 && at < path.size && path.bytes[at] == ']' && value < UINT32_MAX;
}

/* The name in `.name` or `['name']`; the step as it is where it is neither. */
static struct slice name_of(struct slice step)
{
    if (slice_starts(step, SLICE("['")) && step.size >= 4) {
        return slice_part(step, 2, step.size - 2);
    }
    return step.size > 0 && step.bytes[0] == '.' ? slice_part(step, 1, step.size)
                                                 : step;
}

bool flow_path_has_key(struct slice path, struct slice key)
{
    return path.size > 0 &&
           slice_equal(name_of(slice_part(path, 0, flow_path_step(path))), key);
}

static bool steps_fit(struct slice step, struct slice wanted)
{
    return slice_equal(wanted, SLICE("[*]")) || slice_equal(step, SLICE("[*]")) ||
           slice_equal(name_of(step), name_of(wanted));
}

bool flow_path_fits(struct slice path, struct slice wanted, struct slice *rest)
{
    while (path.size > 0 && wanted.size > 0) {
        size_t end = flow_path_step(path);
        size_t wanted_end = flow_path_step(wanted);

        if (!steps_fit(slice_part(path, 0, end), slice_part(wanted, 0, wanted_end))) {
            return false;
        }
        path = slice_part(path, end, path.size);
        wanted = slice_part(wanted, wanted_end, wanted.size);
    }
    *rest = path;
    return true;
}

void flow_path_resolve_last(struct flow_path *path, uint32_t length)
{
    struct slice text = flow_path_slice(path);
    uint64_t back = 0;

    if (!slice_starts(text, SLICE("[-"))) {
        return;
    }
    for (size_t i = 2; i < text.size && text.bytes[i] != ']' && back < UINT32_MAX;
         i++) {
        back = back * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    if (length == UINT32_MAX || back == 0 || back > length) {
        flow_path_set(path, SLICE("[*]"), flow_path_behind(text));
    } else {
        flow_path_set_item(path, length - (uint32_t)back, flow_path_behind(text));
    }
}
