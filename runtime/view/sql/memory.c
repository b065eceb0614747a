/* SQLite's memory, from where all memory comes: so tests make its allocations fail too. */
#include "runtime/view/sql/memory.h"

#include "runtime/base/memory.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

/* SQLite asks how large a block is: that stands in front of it, in room that keeps it aligned. */
#define HEAD_SIZE 16

static void *block_of(void *bytes)
{
    return bytes == NULL ? NULL : (char *)bytes - HEAD_SIZE;
}

static void *bytes_of(void *block, int size)
{
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    return (char *)block + HEAD_SIZE;
}

static void *sql_allocate(int size)
{
    return bytes_of(memory_allocate((size_t)size + HEAD_SIZE, 1), size);
}

static void *sql_resize(void *bytes, int size)
{
    return bytes_of(memory_resize(block_of(bytes), (size_t)size + HEAD_SIZE, 1), size);
}

static void sql_free(void *bytes)
{
    memory_free(block_of(bytes));
}

static int sql_size(void *bytes)
{
    int size = 0;

    if (bytes != NULL) {
        memcpy(&size, block_of(bytes), sizeof size);
    }
    return size;
}

static int sql_round_up(int size)
{
    return (size + 7) & ~7;
}

static int sql_start(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void sql_stop(void *context)
{
    (void)context;
}

void sql_memory_use(void)
{
    static const struct sqlite3_mem_methods methods = {
        .xMalloc = sql_allocate,
        .xFree = sql_free,
        .xRealloc = sql_resize,
        .xSize = sql_size,
        .xRoundup = sql_round_up,
        .xInit = sql_start,
        .xShutdown = sql_stop,
    };

    /* They refuse where SQLite was used before; it goes on with its own then. */
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
