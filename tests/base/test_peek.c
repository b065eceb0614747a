/* Memory that may not be there is read as far as it is. */
#include "runtime/base/peek.h"
#include "tests/unit/check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void test_end_of_memory(const struct peek *peek)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t end = (uint64_t)(uintptr_t)memory + page;
    char bytes[384];

    CHECK(memory != MAP_FAILED);
    memset(memory, 'a', page);
    CHECK(peek_read(peek, end - 200, bytes, sizeof bytes) == sizeof bytes);
    CHECK(bytes[199] == 'a' && bytes[200] == 0);
    munmap(memory + page, page);
    memset(bytes, 0, sizeof bytes);
    CHECK(peek_read(peek, end - 200, bytes, sizeof bytes) == 200);
    CHECK(bytes[0] == 'a' && bytes[199] == 'a' && bytes[200] == 0);
    CHECK(peek_read(peek, end, bytes, sizeof bytes) == 0);
    munmap(memory, page);
    CHECK(peek_read(peek, end - 200, bytes, sizeof bytes) == 0);
}

static void test_no_address(const struct peek *peek)
{
    char bytes[8];

    CHECK(peek_read(peek, 0, bytes, sizeof bytes) == 0);
    CHECK(peek_read(peek, UINT64_MAX - 3, bytes, sizeof bytes) == 0);
    CHECK(peek_read(peek, (uint64_t)(uintptr_t) "text", bytes, 5) == 5);
    CHECK(strcmp(bytes, "text") == 0);
}

int main(void)
{
    struct peek peek;

    CHECK(peek_init(&peek));
    test_end_of_memory(&peek);
    test_no_address(&peek);
    peek_release(&peek);
    return check_finish();
}
