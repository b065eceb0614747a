/* Places of numbers in sorted lists. */
#include "runtime/base/sorted.h"
#include "tests/unit/check.h"

static bool is_before(const void *list, size_t place, uint64_t number)
{
    return ((const uint64_t *)list)[place] < number;
}

static bool is_before_or_there(const void *list, size_t place, uint64_t number)
{
    return ((const uint64_t *)list)[place] <= number;
}

int main(void)
{
    static const uint64_t list[] = {2, 3, 3, 3, 7, UINT64_MAX};

    CHECK(sorted_place(NULL, 0, is_before, 5) == 0);
    for (size_t count = 0; count <= sizeof list / sizeof *list; count++) {
        for (uint64_t number = 0; number < 10; number++) {
            size_t before = 0, there = 0;

            for (size_t i = 0; i < count; i++) {
                before += list[i] < number;
                there += list[i] <= number;
            }
            CHECK(sorted_place(list, count, is_before, number) == before);
            CHECK(sorted_place(list, count, is_before_or_there, number) == there);
        }
    }
    CHECK(sorted_place(list, 6, is_before, UINT64_MAX) == 5);
    CHECK(sorted_place(list, 6, is_before_or_there, UINT64_MAX) == 6);
    return check_finish();
}
