/* Lines that read differently in both programs. */
#include "runtime/base/memory.h"
#include "runtime/view/diff/work.h"

static uint32_t find_module(const struct log_reader *reader, uint32_t site)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        const struct log_module *module = log_reader_module(reader, i);

        if (site >= module->first_site &&
            site - module->first_site < module->table.site_count) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void
report_changed_line(struct diff_work *work, uint32_t sites[2], uint32_t last[2])
{
    uint32_t modules[2], lines[2];
    struct slice sources[2];

    for (unsigned side = 0; side < 2; side++) {
        const struct log_module *module;

        modules[side] = find_module(work->readers[side], sites[side]);
        if (modules[side] == UINT32_MAX) {
            return;
        }
        module = log_reader_module(work->readers[side], modules[side]);
        lines[side] = module->table.sites[sites[side] - module->first_site].line;
        sources[side] =
            source_lines_get(&work->sources[side], modules[side], lines[side]);
    }
    if (sources[0].size > 0 && sources[1].size > 0 &&
        !slice_equal(sources[0], sources[1]) &&
        (lines[0] != last[0] || lines[1] != last[1])) {
        work->options->changed(work->options->context, modules, lines, sources);
        last[0] = lines[0];
        last[1] = lines[1];
    }
}

void diff_report_changed_sites(struct diff_work *work)
{
    uint32_t last[2] = {0, 0};

    for (uint32_t i = 0; i < log_reader_module_count(work->readers[0]); i++) {
        const struct log_module *module = log_reader_module(work->readers[0], i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            uint32_t sites[2] = {module->first_site + k, 0};

            sites[1] = diff_align_site(work->align, 0, sites[0]);
            if (sites[1] != DIFF_SITE_NONE) {
                report_changed_line(work, sites, last);
            }
        }
    }
}
