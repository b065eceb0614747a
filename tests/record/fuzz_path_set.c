/* Any bytes as paths, a line each, and as the segments that are held against them: refused, or
 * matched. A name that is written as a path's segment matches itself and nothing else. */
#include "runtime/record/path_set.h"
#include "tests/fuzz/claim.h"

#define PATH_MAX_COUNT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t split(struct slice text, struct slice *paths)
{
    uint32_t count = 0;

    for (size_t start = 0; start <= text.size && count < PATH_MAX_COUNT;) {
        size_t end = slice_find(text, SLICE("\n"), start);
        paths[count++] = slice_part(text, start, end);
        start = end + 1;
    }
    return count;
}

/* Steps by what stands between the dots, whatever it is. */
static void walk(struct path_set *set, struct slice text)
{
    struct error error = ERROR_INIT;
    uint32_t state = PATH_STATE_START;

    for (size_t start = 0; start < text.size && state != PATH_STATE_DEAD;) {
        size_t end = slice_find(text, SLICE("."), start);
        uint32_t at = 0, again;
        struct slice segment = slice_part(text, start, end);

        claim(path_set_step(set, state, segment, &again, &error));
        claim(path_set_step(set, state, segment, &state, &error) && state == again);
        while (path_set_next(set, state, &at) != NULL) {
            claim(at <= set->segment_count);
        }
        claim((state == PATH_STATE_DEAD) ==
              (at = 0, path_set_next(set, state, &at) == NULL));
        start = end + 1;
    }
}

static void check_written(struct slice name)
{
    struct buffer path = BUFFER_INIT;
    struct slice text;
    struct path_set set;
    struct error error = ERROR_INIT;
    uint32_t state;
    bool is_named;

    path_add_segment(&path, name);
    text = buffer_slice(&path);
    if (name.size == 0) {
        claim(!path_set_init(&set, &text, 1, &error));
    } else {
        claim(path_set_init(&set, &text, 1, &error));
        claim(path_set_step(&set, PATH_STATE_START, name, &state, &error));
        claim(path_set_is_end(&set, state, &is_named) && is_named);
        claim(path_set_step(&set, PATH_STATE_START, slice_part(name, 1, name.size),
                            &state, &error));
        claim(state == PATH_STATE_DEAD);
        path_set_release(&set);
    }
    buffer_release(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {(const char *)data, size};
    struct slice paths[PATH_MAX_COUNT];
    uint32_t count = split(text, paths);
    struct error error = ERROR_INIT;
    struct path_set set;

    if (path_set_init(&set, paths, count, &error)) {
        for (uint32_t i = 0; i < count; i++) {
            walk(&set, paths[i]);
        }
        path_set_release(&set);
    } else {
        claim(error.kind == ERROR_USAGE);
    }
    check_written(text);
    return 0;
}
