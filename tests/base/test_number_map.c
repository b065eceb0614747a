/* Numbers by keys, and numbers for texts, also where memory runs out. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"
#include "tests/unit/check.h"

#include <string.h>

#define MANY 5000

static void test_keys(void)
{
    struct number_map map;

    number_map_init(&map);
    CHECK(number_map_get(&map, 0) == NUMBER_MAP_NONE);
    for (uint32_t i = 0; i < MANY; i++) {
        /* Keys whose low halves are all the same, 0 among them. */
        CHECK(number_map_put(&map, number_map_key(i, 0), i));
        CHECK(number_map_get(&map, number_map_key(i + 1, 0)) == NUMBER_MAP_NONE);
    }
    CHECK(map.count == MANY);
    for (uint32_t i = 0; i < MANY; i += 3) {
        CHECK(number_map_put(&map, number_map_key(i, 0), MANY + i));
    }
    CHECK(map.count == MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t number = i % 3 == 0 ? MANY + i : i;

        CHECK(number_map_get(&map, number_map_key(i, 0)) == number);
    }
    number_map_release(&map);
    CHECK(number_map_get(&map, 0) == NUMBER_MAP_NONE);
}

static void test_several_of_a_key(void)
{
    struct number_map map;
    struct number_map_search search;
    bool is_seen[64] = {false};
    unsigned seen_count = 0;

    number_map_init(&map);
    search = number_map_search(&map, 7);
    CHECK(!number_map_next(&search));
    for (uint32_t i = 0; i < 64; i++) {
        CHECK(number_map_add(&map, i % 2 == 0 ? 7 : 1000 + i, i));
    }
    for (search = number_map_search(&map, 7); number_map_next(&search);) {
        CHECK(search.number < 64 && search.number % 2 == 0);
        CHECK(!is_seen[search.number]);
        is_seen[search.number] = true;
        seen_count++;
    }
    CHECK(seen_count == 32);
    CHECK(!number_map_next(&search));
    search = number_map_search(&map, 8);
    CHECK(!number_map_next(&search));
    number_map_release(&map);
}

static void test_texts(void)
{
    struct text_table table;
    uint32_t number;
    char text[16];

    CHECK(text_table_init(&table));
    CHECK(text_table_find(&table, SLICE("")) == 0);
    CHECK(text_table_find(&table, SLICE("0")) == NUMBER_MAP_NONE);
    CHECK(text_table_add(&table, SLICE(""), &number) && number == 0);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%u", i);
        CHECK(text_table_add(&table, slice_of(text), &number) && number == i + 1);
    }
    memset(text, 'x', sizeof text); /* what was given may go */
    CHECK(table.count == MANY + 1);
    CHECK(text_table_add(&table, SLICE("41"), &number) && number == 42);
    CHECK(text_table_find(&table, SLICE("4999")) == MANY);
    CHECK(text_table_find(&table, SLICE("5000")) == NUMBER_MAP_NONE);
    CHECK_TEXT(table.texts[0], "");
    CHECK_TEXT(table.texts[42], "41");
    CHECK(table.count == MANY + 1);
    text_table_release(&table);
}

/* Where any allocation fails, all that was there before stays, and the same goes well later. */
static void test_no_memory(void)
{
    struct number_map map;
    struct text_table table;
    char text[16];
    uint32_t number;

    number_map_init(&map);
    memory_fail_after(1, true);
    CHECK(!text_table_init(&table));
    memory_fail_after(0, false);
    CHECK(text_table_init(&table));
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%u", i);
        memory_fail_after(1, true);
        if (!number_map_put(&map, i, i)) {
            CHECK(number_map_get(&map, i) == NUMBER_MAP_NONE && map.count == i);
            memory_fail_after(0, false);
            CHECK(number_map_put(&map, i, i));
        }
        for (size_t countdown = 1;; countdown++) {
            memory_fail_after(countdown, false);
            if (text_table_add(&table, slice_of(text), &number)) {
                break;
            }
            CHECK(text_table_find(&table, slice_of(text)) == NUMBER_MAP_NONE);
            CHECK(table.count == i + 1);
        }
        CHECK(number == i + 1);
    }
    memory_fail_after(0, false);
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK(number_map_get(&map, i) == i);
    }
    CHECK(text_table_find(&table, SLICE("4321")) == 4322);
    number_map_release(&map);
    text_table_release(&table);
}

int main(void)
{
    test_keys();
    test_several_of_a_key();
    test_texts();
    test_no_memory();
    return check_finish();
}
