/* Edits: the lines whose texts differ between two programs. */
#include "runtime/view/diff/judge/edits.h"

#include "runtime/base/memory.h"
#include "runtime/site/statement_text.h"

#include <string.h>

/* ---- lines ---- */

static uint32_t count_lines(struct slice text)
{
    uint32_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        count += text.bytes[i] == '\n';
    }
    return count + (text.size > 0 && text.bytes[text.size - 1] != '\n');
}

/* Returns the number of triple quotes in the line. */
static uint32_t count_quotes(struct slice line)
{
    uint32_t count = 0;

    for (size_t i = 0; i + 2 < line.size; i++) {
        if ((line.bytes[i] == '"' || line.bytes[i] == '\'') &&
            line.bytes[i + 1] == line.bytes[i] && line.bytes[i + 2] == line.bytes[i]) {
            count++;
            i += 2;
        }
    }
    return count;
}

/* Finds the module's lines that are code, and the counterpart of each line. */
static bool read_lines(struct diff_edits *edits,
                       struct source_lines *const sources[2],
                       const struct diff_align *align,
                       unsigned side,
                       uint32_t module)
{
    struct diff_edited_module *edited = &edits->modules[side][module];
    bool is_text = false;

    edited->line_count = count_lines(source_lines_text(sources[side], module));
    edited->counterparts =
        memory_allocate((size_t)edited->line_count + 1, sizeof *edited->counterparts);
    edited->is_code = memory_allocate((size_t)edited->line_count + 1, 1);
    if (edited->counterparts == NULL || edited->is_code == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < edited->line_count; i++) {
        struct slice line = source_lines_get(sources[side], module, i + 1);
        uint32_t quotes = count_quotes(line);
        bool begins_text =
            slice_starts(line, SLICE("\"\"\"")) || slice_starts(line, SLICE("'''"));

        edited->counterparts[i] = diff_align_line(align, side, module, i + 1);
        edited->is_code[i] =
            line.size > 0 && line.bytes[0] != '#' && !is_text && !begins_text;
        is_text = is_text != (quotes % 2 == 1);
        edits->count += edited->is_code[i] && edited->counterparts[i] == 0;
    }
    return true;
}

/* ---- modules ---- */

static bool mark_sites(struct diff_edits *edits,
                       struct log_reader *const readers[2],
                       struct source_lines *const sources[2],
                       unsigned side)
{
    for (uint32_t i = 0; i < edits->module_counts[side]; i++) {
        const struct log_module *module = log_reader_module(readers[side], i);
        uint32_t end = module->first_site + module->table.site_count;

        if (end > edits->site_counts[side]) {
            edits->site_counts[side] = end;
        }
    }
    edits->sites[side] =
        memory_allocate_zeroed((size_t)edits->site_counts[side] + 1, 1);
    if (edits->sites[side] == NULL) {
        edits->site_counts[side] = 0;
        return false;
    }
    for (uint32_t i = 0; i < edits->module_counts[side]; i++) {
        const struct log_module *module = log_reader_module(readers[side], i);

        for (uint32_t k = 0; k < module->table.site_count; k++) {
            edits->sites[side][module->first_site + k] = diff_edits_has(
                edits, sources[side], side, i, module->table.sites[k].line);
        }
    }
    return true;
}

bool diff_edits_find(struct diff_edits *edits,
                     struct log_reader *const readers[2],
                     struct source_lines *const sources[2],
                     const struct diff_align *align)
{
    *edits = (struct diff_edits){.count = 0};
    for (unsigned side = 0; side < 2; side++) {
        edits->module_counts[side] = log_reader_module_count(readers[side]);
        edits->modules[side] = memory_allocate_zeroed(
            (size_t)edits->module_counts[side] + 1, sizeof **edits->modules);
        if (edits->modules[side] == NULL) {
            edits->module_counts[side] = 0;
            return false;
        }
        for (uint32_t i = 0; i < edits->module_counts[side]; i++) {
            edits->modules[side][i].partner = diff_align_module(align, side, i);
            if (edits->modules[side][i].partner != DIFF_SITE_NONE &&
                !read_lines(edits, sources, align, side, i)) {
                return false;
            }
        }
    }
    return mark_sites(edits, readers, sources, 0) &&
           mark_sites(edits, readers, sources, 1);
}

void diff_edits_release(struct diff_edits *edits)
{
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < edits->module_counts[side]; i++) {
            memory_free(edits->modules[side][i].counterparts);
            memory_free(edits->modules[side][i].is_code);
        }
        memory_free(edits->modules[side]);
        memory_free(edits->sites[side]);
    }
    *edits = (struct diff_edits){.count = 0};
}

bool diff_edits_has_line(const struct diff_edits *edits,
                         unsigned side,
                         uint32_t module,
                         uint32_t line)
{
    const struct diff_edited_module *edited;

    if (module >= edits->module_counts[side]) {
        return false;
    }
    edited = &edits->modules[side][module];
    return line > 0 && line <= edited->line_count && edited->is_code[line - 1] != 0 &&
           edited->counterparts[line - 1] == 0;
}

bool diff_edits_has(const struct diff_edits *edits,
                    struct source_lines *sources,
                    unsigned side,
                    uint32_t module,
                    uint32_t line)
{
    int depth = 0;

    for (uint32_t i = 0; line > 0 && i < STATEMENT_LINES_MAX; i++) {
        if (diff_edits_has_line(edits, side, module, line + i)) {
            return true;
        }
        depth += statement_depth(source_lines_get(sources, module, line + i));
        if (depth <= 0) {
            return false;
        }
    }
    return false;
}

bool diff_edits_has_site(const struct diff_edits *edits, unsigned side, uint32_t site)
{
    return site < edits->site_counts[side] && edits->sites[side][site] != 0;
}
