/* The map of two runs: the rows of matched weights and lines. */
#include "runtime/view/diff/match/match.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"

#include <assert.h>

/* The maximum number of values of A's content that are compared with one of B's. */
#define TRIED_MAX 32

static bool add_row(struct match_map *map, const struct match_map_row *row)
{
    void *items = map->rows;

    if (!memory_grow(&items, &map->capacity, map->count + 1, sizeof *map->rows)) {
        return false;
    }
    map->rows = items;
    map->rows[map->count++] = *row;
    return true;
}

/* The value of the partner that is most like B's value: a weight for a weight, in the same
 * order, of the same shape. */
static struct match_map_row find_row(const struct match *match, uint32_t b)
{
    assert(b < match->runs[1].value_count);

    const struct match_value *value = &match->runs[1].values[b];
    const struct match_contents *a = &match->contents[0];
    uint32_t partner = match->contents[1].items[value->content].partner;
    struct match_map_row row = {
        .a = a->items[partner].first, .b = b, .is_weight = value->is_weight};
    int best = -1;
    unsigned tried = 0;

    for (uint32_t i = row.a; i != MATCH_NONE && tried < TRIED_MAX;
         i = a->next[i], tried++) {
        const struct match_value *other = &a->run->values[i];
        enum match_order order =
            match_order_of(a->run, other, &match->runs[1], value, match->tolerance);
        int score = 8 * (other->is_weight == value->is_weight) +
                    4 * (order == MATCH_ORDER_SAME) +
                    2 * (order == MATCH_ORDER_TRANSPOSED) + !other->is_argument;

        if (score > best || (score == best && other->is_weight)) {
            best = score;
            row.a = i;
            row.order = order;
        }
    }
    return row;
}

static bool has_partner(const struct match *match, uint32_t b)
{
    assert(b < match->runs[1].value_count);

    const struct match_value *value = &match->runs[1].values[b];

    return value->content != MATCH_NONE &&
           match->contents[1].items[value->content].partner != MATCH_NONE;
}

/* The newest weight of the content. */
static uint32_t find_key(const struct match_contents *contents, uint32_t content)
{
    uint32_t found = contents->items[content].first;

    for (uint32_t i = found; i != MATCH_NONE; i = contents->next[i]) {
        found = contents->run->values[i].is_weight ? i : found;
    }
    return found;
}

/* Adds rows for the packs of which B's weight is the whole or a piece. */
static bool add_packed(struct match_map *map, const struct match *match, uint32_t value)
{
    uint32_t content = match->runs[1].values[value].content;
    bool is_done = true;

    for (size_t i = 0; i < match->packs.count; i++) {
        const struct match_pack *pack = &match->packs.items[i];

        for (uint32_t k = 0; is_done && k < pack->count; k++) {
            uint32_t of_b = pack->side == 1 ? pack->whole : pack->pieces[k],
                     of_a = pack->side == 1 ? pack->pieces[k] : pack->whole;

            if (of_b == content) {
                is_done = add_row(map, &(struct match_map_row){
                                           .a = find_key(&match->contents[0], of_a),
                                           .b = value,
                                           .order = pack->order,
                                           .is_weight = true,
                                           .pack = pack,
                                           .part = k});
            }
        }
    }
    return is_done;
}

static bool add_weights(struct match_map *map, const struct match *match)
{
    const struct match_run *run = &match->runs[1];
    uint32_t newest = match_newest_dict(run);
    bool is_done = true;

    for (uint32_t i = 0; newest != MATCH_NONE && is_done && i < run->value_count; i++) {
        if (!match_is_beside(&run->values[i], &run->values[newest])) {
            continue;
        }
        if (has_partner(match, i)) {
            struct match_map_row row = find_row(match, i);

            is_done = add_row(map, &row);
        } else {
            is_done = add_packed(map, match, i);
        }
    }
    return is_done;
}

/* Adds rows for lines: the first value of each site and name. */
static bool add_lines(struct match_map *map, const struct match *match)
{
    const struct match_run *run = &match->runs[1];
    struct number_map known;
    bool is_done = true;

    number_map_init(&known);
    for (uint32_t i = 0; is_done && i < run->value_count; i++) {
        const struct match_value *value = &run->values[i];
        uint64_t key = hash_64(value->name) * 31 + hash_64(value->path) + value->site;

        if (value->is_weight || !has_partner(match, i) ||
            number_map_get(&known, key) != NUMBER_MAP_NONE) {
            continue;
        }
        is_done = number_map_put(&known, key, i);
        if (is_done) {
            struct match_map_row row = find_row(match, i);

            is_done = add_row(map, &row);
        }
    }
    number_map_release(&known);
    return is_done;
}

bool match_map_make(struct match_map *map, const struct match *match)
{
    *map = (struct match_map){.count = 0};
    return add_weights(map, match) && add_lines(map, match);
}

void match_map_release(struct match_map *map)
{
    memory_free(map->rows);
}
