/* Path sets. A state is a set of segments, one bit each; equal states have one number. */
#include "runtime/record/path_set.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/selection/selection.h"

#define WORD_BITS 64

/* The size of the item at `i`: an escaped character, or one byte. */
static size_t item_size(struct slice text, size_t i)
{
    return text.bytes[i] == '\\' && i + 1 < text.size ? 2 : 1;
}

static size_t find_dot(struct slice path, size_t start)
{
    while (start < path.size && path.bytes[start] != '.') {
        start += item_size(path, start);
    }
    return start;
}

static bool has_star(struct slice text)
{
    for (size_t i = 0; i < text.size; i += item_size(text, i)) {
        if (text.bytes[i] == '*') {
            return true;
        }
    }
    return false;
}

static struct slice unescape(struct arena *arena, struct slice text)
{
    char *bytes = arena_allocate(arena, text.size + 1, 1);
    size_t size = 0;

    for (size_t i = 0; bytes != NULL && i < text.size; i += item_size(text, i)) {
        bytes[size++] = text.bytes[i + item_size(text, i) - 1];
    }
    return (struct slice){bytes, size};
}

static bool check_path(struct slice path, uint32_t *count, struct error *error)
{
    size_t start = 0;
    uint32_t number = 0;

    for (;;) {
        size_t end = find_dot(path, start);
        number++;
        if (end == start) {
            error_set(error, ERROR_USAGE,
                      "path '%.*s': segment %u is empty, expected a name or *",
                      (int)path.size, path.bytes, number);
            return false;
        }
        if (end >= path.size) {
            break;
        }
        start = end + 1;
    }
    *count = number;
    return true;
}

/* Whether the path ends with a `\` that escapes nothing. */
static bool ends_open(struct slice path)
{
    size_t i = 0, last = 0;

    while (i < path.size) {
        last = i;
        i += item_size(path, i);
    }
    return path.size > 0 && path.bytes[last] == '\\' && i - last == 1;
}

static bool
count_segments(struct path_set *set, const struct slice *paths, struct error *error)
{
    uint32_t total = 0, count;

    for (uint32_t i = 0; i < set->path_count; i++) {
        if (!check_path(paths[i], &count, error)) {
            return false;
        }
        if (ends_open(paths[i])) {
            error_set(error, ERROR_USAGE, "path '%.*s': its last \\ escapes nothing",
                      (int)paths[i].size, paths[i].bytes);
            return false;
        }
        if (__builtin_add_overflow(total, count + 1, &total)) {
            return error_set_memory(error);
        }
    }
    set->segment_count = total;
    set->word_count = (total + WORD_BITS - 1) / WORD_BITS;
    set->word_count += set->word_count == 0;
    return true;
}

static void read_path(struct path_set *set, uint32_t number, struct slice path)
{
    struct path_segment *segment;
    uint32_t depth = 0;
    size_t start = 0;

    for (size_t end = 0; end < path.size; start = end + 1) {
        end = find_dot(path, start);
        segment = &set->segments[set->segment_count++];
        *segment = (struct path_segment){.path = number, .depth = depth++};
        segment->text = arena_copy(&set->arena, slice_part(path, start, end));
        if (segment->text.bytes != NULL) {
            segment->has_star = has_star(segment->text);
            segment->name = unescape(&set->arena, segment->text);
        }
    }
    set->segments[set->segment_count++] =
        (struct path_segment){.path = number, .depth = depth, .is_end = true};
}

/* Finds the number of the state, which is added if it is new. Returns false if memory runs out. */
static bool find_state(struct path_set *set, const uint64_t *words, uint32_t *number)
{
    size_t size = set->word_count * sizeof(*words);
    uint64_t hash = hash_64((struct slice){(const char *)words, size});
    void *states = set->states, *hashes = set->hashes;

    for (size_t i = 0; i < set->state_count; i++) {
        if (set->hashes[i] == hash &&
            memcmp(set->states + i * set->word_count, words, size) == 0) {
            *number = (uint32_t)i;
            return true;
        }
    }
    if (set->state_count >= UINT32_MAX ||
        !memory_grow(&states, &set->state_room, set->state_count + 1, size)) {
        return false;
    }
    set->states = states;
    if (!memory_grow(&hashes, &set->hash_room, set->state_count + 1, sizeof(hash))) {
        return false;
    }
    set->hashes = hashes;
    memcpy(set->states + set->state_count * set->word_count, words, size);
    set->hashes[set->state_count] = hash;
    *number = (uint32_t)set->state_count++;
    return true;
}

static void set_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] |= (uint64_t)1 << i % WORD_BITS;
}

/* Adds the dead state and the start state. */
static bool make_first_states(struct path_set *set)
{
    uint64_t *words = memory_allocate_zeroed(set->word_count, sizeof(*words));
    uint32_t number;
    bool is_good = words != NULL && find_state(set, words, &number);

    for (uint32_t i = 0; is_good && i < set->segment_count; i++) {
        if (set->segments[i].depth == 0) {
            set_bit(words, i);
        }
    }
    if (is_good && set->path_count > 0) {
        is_good = find_state(set, words, &number);
    }
    memory_free(words);
    return is_good;
}

bool path_set_init(struct path_set *set,
                   const struct slice *paths,
                   uint32_t path_count,
                   struct error *error)
{
    uint32_t segment_count;

    *set = (struct path_set){.path_count = path_count};
    if (!count_segments(set, paths, error)) {
        return false;
    }
    segment_count = set->segment_count;
    arena_init(&set->arena);
    set->segments =
        arena_allocate(&set->arena, (size_t)segment_count + 1, sizeof(*set->segments));
    set->segment_count = 0;
    for (uint32_t i = 0; set->segments != NULL && i < path_count; i++) {
        read_path(set, i, paths[i]);
    }
    if (set->arena.has_failed || !make_first_states(set)) {
        path_set_release(set);
        return error_set_memory(error);
    }
    return true;
}

void path_set_release(struct path_set *set)
{
    arena_release(&set->arena);
    memory_free(set->states);
    memory_free(set->hashes);
}

static bool is_match(const struct path_segment *segment, struct slice text)
{
    if (segment->is_end) {
        return false;
    }
    return segment->has_star ? glob_match_segment(text, segment->text)
                             : slice_equal(segment->name, text);
}

#define FEW_WORDS 4

bool path_set_step(struct path_set *set,
                   uint32_t state,
                   struct slice segment,
                   uint32_t *next,
                   struct error *error)
{
    uint64_t few[FEW_WORDS] = {0};
    uint64_t *words = few;
    const struct path_segment *wanted;
    uint32_t at = 0;
    bool is_good;

    if (set->word_count > FEW_WORDS) {
        words = memory_allocate_zeroed(set->word_count, sizeof(*words));
    }
    while (words != NULL && (wanted = path_set_next(set, state, &at)) != NULL) {
        if (is_match(wanted, segment)) {
            set_bit(words, (uint32_t)(wanted - set->segments) + 1);
        }
    }
    is_good = words != NULL && find_state(set, words, next);
    if (words != few) {
        memory_free(words);
    }
    if (!is_good) {
        error_set_memory(error);
    }
    return is_good;
}

const struct path_segment *
path_set_next(const struct path_set *set, uint32_t state, uint32_t *at)
{
    const uint64_t *words;

    if (state >= set->state_count) {
        return NULL;
    }
    words = set->states + (size_t)state * set->word_count;
    while (*at < set->segment_count) {
        uint32_t i = *at;
        uint64_t left = words[i / WORD_BITS] >> i % WORD_BITS;

        if (left == 0) {
            *at = (i / WORD_BITS + 1) * WORD_BITS;
            continue;
        }
        i += (uint32_t)__builtin_ctzll(left);
        *at = i + 1;
        return &set->segments[i];
    }
    return NULL;
}

bool path_set_is_end(const struct path_set *set, uint32_t state, bool *is_named)
{
    const struct path_segment *segment;
    uint32_t at = 0;
    bool is_end = false, has_name = false;

    while ((segment = path_set_next(set, state, &at)) != NULL) {
        if (segment->is_end) {
            is_end = true;
            has_name = has_name || !segment[-1].has_star;
        }
    }
    if (is_named != NULL) {
        *is_named = has_name;
    }
    return is_end;
}

void path_add_segment(struct buffer *path, struct slice name)
{
    if (path->size > 0) {
        buffer_add_byte(path, '.');
    }
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];

        if (byte == '.' || byte == '*' || byte == '\\') {
            buffer_add_byte(path, '\\');
        }
        buffer_add_byte(path, byte);
    }
}
