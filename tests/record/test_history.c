/* What is known of objects and storages must not depend on where a program's memory lies. */
#include "runtime/record/history.h"
#include "tests/unit/check.h"

#define OBJECT_COUNT 500

static struct sighting
see(uint64_t address, uint64_t event, uint32_t version, bool is_write)
{
    return (struct sighting){
        .state = {.object = address,
                  .data = address + 64,
                  .event = event,
                  .version = version},
        .storage = address + 64,
        .site = (uint32_t)event,
        .is_write = is_write,
    };
}

/* Addresses as of a heap that has been in use for long: different ones, in no order. */
static uint64_t address_of(uint64_t start, uint64_t i)
{
    uint64_t place = i & 0xffffff;

    for (int turn = 0; turn < 3; turn++) { /* each step is one to one in 24 bits */
        place = (place * 0x9e3779b1u + 0x7f4a7c15u) & 0xffffff;
        place ^= place >> 11;
    }
    return start + place * 16;
}

static void check_objects(struct history *history, uint64_t start)
{
    const struct name_state nothing = {0};
    size_t wrong = 0;

    for (uint64_t i = 0; i < OBJECT_COUNT; i++) {
        struct sighting sighting = see(address_of(start, i), i, 0, false);

        wrong += history_judge(history, &nothing, &sighting).origin != 0;
    }
    for (uint64_t i = 0; i < OBJECT_COUNT; i++) {
        struct sighting sighting =
            see(address_of(start, i), OBJECT_COUNT + i, 0, false);

        wrong += history_judge(history, &nothing, &sighting).origin != i + 1;
    }
    CHECK(wrong == 0);
}

static void check_writings(struct history *history, uint64_t start)
{
    size_t wrong = 0;

    for (uint64_t i = 0; i < OBJECT_COUNT; i++) {
        struct sighting before = see(address_of(start, i), i, 0, false);
        struct sighting writes = see(address_of(start, i), 1000 + i, 1, true);

        history_judge(history, &before.state, &writes);
    }
    for (uint64_t i = 0; i < OBJECT_COUNT; i++) {
        struct sighting before = see(address_of(start, i), i, 0, false);
        struct sighting now = see(address_of(start, i), 2000 + i, 1, false);
        struct verdict verdict = history_judge(history, &before.state, &now);

        wrong += verdict.change != CHANGE_ALIASED || verdict.alias_site != 1000 + i;
    }
    CHECK(wrong == 0);
}

/* What is forgotten is what was seen first, and never taken for something else. */
static void check_full(struct history *history)
{
    const struct name_state nothing = {0};
    const uint64_t count = 100000;
    size_t wrong = 0, known = 0;

    for (uint64_t i = 0; i < count; i++) {
        struct sighting sighting = see(address_of(4096, i), i, 0, false);

        wrong += history_judge(history, &nothing, &sighting).origin != 0;
    }
    for (uint64_t i = count - 5000; i < count; i++) {
        struct sighting sighting = see(address_of(4096, i), count + i, 0, false);
        uint64_t origin = history_judge(history, &nothing, &sighting).origin;

        wrong += origin != 0 && origin != i + 1;
        known += origin != 0;
    }
    CHECK(wrong == 0);
    CHECK(known > 4900);
}

int main(void)
{
    struct history *history = history_new();

    if (CHECK(history != NULL)) {
        for (uint64_t seed = 1; seed <= 50; seed++) {
            history_clear(history);
            check_objects(history, 0x7f0000000000 + seed * 0x3fad7000);
            history_clear(history);
            check_writings(history, 0x550000000000 + seed * 0x1c61f000);
        }
        history_clear(history);
        check_full(history);
        history_free(history);
    }
    return check_finish();
}
