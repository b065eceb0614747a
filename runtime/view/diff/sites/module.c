/* What diff knows of a module by itself: keys of its functions, sites and names, and which loop
 * is around what. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/sites/sites.h"

/* Of files whose sources are not known. */
#define LINES_MAX 65536

static void
find_keys(struct diff_module *module, struct diff_sites *sites, unsigned side)
{
    const struct site_table *table = &module->module->table;
    uint32_t name = 0;

    for (uint32_t i = 0; i < table->function_count; i++) {
        module->functions[i] = (struct diff_function){
            .key = diff_names_hash(&sites->names, side, table->functions[i].name),
            .partner_module = DIFF_NONE,
            .partner = DIFF_NONE,
        };
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];

        if (module->functions[site->function].site_count++ == 0) {
            module->functions[site->function].first_site = i;
        }
        module->functions[site->function].end_site = i + 1;
        module->sites[i] = (struct diff_site){
            .partner = DIFF_NONE,
            .loop = DIFF_NONE,
            .around = DIFF_NONE,
            .first_name = name,
        };
        if (site->kind == SITE_LOOP) {
            module->sites[i].slot = module->functions[site->function].loop_count++;
        }
        for (uint32_t k = 0; k < site->write_count; k++) {
            module->name_keys[name++] =
                diff_names_hash(&sites->names, side, site->writes[k].name);
        }
        for (uint32_t k = 0; k < site->read_count; k++) {
            module->name_keys[name++] =
                diff_names_hash(&sites->names, side, site->reads[k].name);
        }
    }
}

/* A loop's body ends where a statement of the function stands no further to the right. */
static void find_loops(struct diff_module *module, uint32_t *innermost)
{
    const struct site_table *table = &module->module->table;

    for (uint32_t i = 0; i < table->function_count; i++) {
        innermost[i] = DIFF_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        uint32_t loop = innermost[site->function];

        while (loop != DIFF_NONE && (site->column <= table->sites[loop].column ||
                                     site->line < table->sites[loop].line)) {
            loop = module->sites[loop].around;
        }
        innermost[site->function] = loop;
        /* What stands in a loop's header belongs to no turn of it. */
        while (loop != DIFF_NONE && site->line == table->sites[loop].line) {
            loop = module->sites[loop].around;
        }
        module->sites[i].around = loop;
        if (site->kind == SITE_LOOP) {
            innermost[site->function] = i;
        }
    }
}

static uint32_t count_lines(const struct site_table *table, struct slice source)
{
    uint32_t count = 0;
    uint32_t feeds = 1;

    for (uint32_t i = 0; i < table->site_count; i++) {
        count = table->sites[i].line > count ? table->sites[i].line : count;
    }
    for (size_t at = 0; at < source.size; at++) {
        feeds += source.bytes[at] == '\n';
    }
    /* A line number may be any in a damaged trace. */
    if (count > feeds && count > LINES_MAX) {
        count = feeds;
    }
    return (count > feeds ? count : feeds) + 1;
}

/* Calls are made from lines that may have no site: those between a loop's head and the last
 * site in its body are in it. Loops stand in the order of their lines, so inner ones come
 * later. */
static void find_line_loops(struct diff_module *module)
{
    const struct site_table *table = &module->module->table;

    for (uint32_t i = 0; i < module->line_count; i++) {
        module->line_loops[i] = DIFF_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        uint32_t line = table->sites[i].line;
        uint32_t loop = module->sites[i].around;

        while (loop != DIFF_NONE && line < module->line_count) {
            uint32_t at = line;

            while (
                at > table->sites[loop].line &&
                (module->line_loops[at] == DIFF_NONE ||
                 table->sites[module->line_loops[at]].line < table->sites[loop].line)) {
                module->line_loops[at--] = loop;
            }
            loop = module->sites[loop].around;
        }
    }
}

bool diff_module_init(struct diff_module *module,
                      const struct log_module *log_module,
                      struct diff_sites *sites,
                      unsigned side)
{
    const struct site_table *table = &log_module->table;
    size_t name_count = 0;
    uint32_t *innermost = memory_allocate(table->function_count, sizeof *innermost);

    for (uint32_t i = 0; i < table->site_count; i++) {
        name_count += (size_t)table->sites[i].write_count + table->sites[i].read_count;
    }
    *module = (struct diff_module){
        .module = log_module,
        .partner = DIFF_NONE,
        .functions = memory_allocate(table->function_count, sizeof *module->functions),
        .sites = memory_allocate(table->site_count, sizeof *module->sites),
        .name_keys = memory_allocate(name_count, sizeof *module->name_keys),
        .line_count = count_lines(table, log_module->source),
    };
    module->lines = memory_allocate_zeroed(module->line_count, sizeof *module->lines);
    module->line_loops =
        memory_allocate(module->line_count, sizeof *module->line_loops);
    if (innermost == NULL || module->functions == NULL || module->sites == NULL ||
        module->name_keys == NULL || module->lines == NULL ||
        module->line_loops == NULL) {
        memory_free(innermost);
        diff_module_release(module);
        return false;
    }
    find_keys(module, sites, side);
    find_loops(module, innermost);
    find_line_loops(module);
    memory_free(innermost);
    if (sites->names.text.has_failed) {
        diff_module_release(module);
        return false;
    }
    return true;
}

void diff_module_release(struct diff_module *module)
{
    memory_free(module->functions);
    memory_free(module->sites);
    memory_free(module->name_keys);
    memory_free(module->lines);
    memory_free(module->line_loops);
    *module = (struct diff_module){.partner = DIFF_NONE};
}
