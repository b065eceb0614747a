/* Any bytes as a site table: refused, or read, and what is written of it reads the same. */
#include "runtime/site/site.h"
#include "runtime/site/term.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The nodes of a term stand in each other. */
static void check_terms(const struct site_table *table, struct arena *arena)
{
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        struct term term;

        if (!term_read(&term, site->term, site->read_count, arena)) {
            abort();
        }
        for (uint32_t k = 0; k < term.node_count; k++) {
            if (term.nodes[k].next <= k || term.nodes[k].next > term.node_count) {
                abort();
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {(const char *)data, size};
    struct buffer once = BUFFER_INIT;
    struct buffer twice = BUFFER_INIT;
    struct error error = ERROR_INIT;
    struct site_table table;
    struct arena arena;

    arena_init(&arena);
    if (site_table_read(&table, text, &arena, &error)) {
        check_terms(&table, &arena);
        site_table_write(&table, &once);
        if (!site_table_read(&table, buffer_slice(&once), &arena, &error)) {
            abort();
        }
        site_table_write(&table, &twice);
        if (!slice_equal(buffer_slice(&once), buffer_slice(&twice))) {
            abort();
        }
    } else if (error.kind != ERROR_INPUT) {
        abort();
    }
    buffer_release(&once);
    buffer_release(&twice);
    arena_release(&arena);
    return 0;
}
