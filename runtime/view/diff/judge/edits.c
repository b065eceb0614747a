/* Edits: the lines of two programs that read differently. */
#include "runtime/view/diff/judge/edits.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/site/statement_text.h"

#include <string.h>

#define NONE UINT32_MAX
/* So many pairs of lines are compared at most between what both files begin and end with. Of longer
 * ones a line that the other file has anywhere is not edited. */
#define CELLS_MAX (1u << 26)

/* ---- lines ---- */

static uint32_t count_lines(struct slice text)
{
    uint32_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        count += text.bytes[i] == '\n';
    }
    return count + (text.size > 0 && text.bytes[text.size - 1] != '\n');
}

/* How many triple quotes the line has. */
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

/* The line without a comment behind it. */
static struct slice without_comment(struct slice line)
{
    char quote = 0;

    for (size_t i = 0; i < line.size; i++) {
        char byte = line.bytes[i];

        if (quote != 0) {
            i += byte == '\\';
            quote = byte == quote ? 0 : quote;
        } else if (byte == '"' || byte == '\'') {
            quote = byte;
        } else if (byte == '#') {
            return slice_trim(slice_part(line, 0, i));
        }
    }
    return line;
}

/* Hashes of the lines, and which of them are code. */
static void read_lines(struct source_lines *sources,
                       uint32_t module,
                       struct diff_edited_module *edited,
                       uint64_t *hashes)
{
    bool is_text = false;

    for (uint32_t i = 0; i < edited->line_count; i++) {
        struct slice line = source_lines_get(sources, module, i + 1);
        uint32_t quotes = count_quotes(line);
        bool begins_text =
            slice_starts(line, SLICE("\"\"\"")) || slice_starts(line, SLICE("'''"));

        hashes[i] = hash_64(without_comment(line));
        edited->is_code[i] =
            line.size > 0 && line.bytes[0] != '#' && !is_text && !begins_text;
        is_text = is_text != (quotes % 2 == 1);
    }
}

/* ---- which line is which ---- */

struct sequences {
    const uint64_t *hashes[2];
    uint32_t first, ends[2]; /* between what both begin and end with */
    uint32_t *counterparts[2];
};

static void join(struct sequences *both, uint32_t a, uint32_t b)
{
    both->counterparts[0][a] = b + 1;
    both->counterparts[1][b] = a + 1;
}

static void join_ends(struct sequences *both)
{
    while (both->first < both->ends[0] && both->first < both->ends[1] &&
           both->hashes[0][both->first] == both->hashes[1][both->first]) {
        join(both, both->first, both->first);
        both->first++;
    }
    while (both->ends[0] > both->first && both->ends[1] > both->first &&
           both->hashes[0][both->ends[0] - 1] == both->hashes[1][both->ends[1] - 1]) {
        join(both, --both->ends[0], --both->ends[1]);
    }
}

static bool join_anywhere(struct sequences *both)
{
    struct number_map places;
    bool is_done = true;

    number_map_init(&places);
    for (uint32_t i = both->first; is_done && i < both->ends[0]; i++) {
        is_done = number_map_put(&places, both->hashes[0][i], i);
    }
    for (uint32_t i = both->first; is_done && i < both->ends[1]; i++) {
        uint32_t place = number_map_get(&places, both->hashes[1][i]);

        if (place != NUMBER_MAP_NONE) {
            join(both, place, i);
        }
    }
    number_map_release(&places);
    return is_done;
}

/* The longest sequence that both have. Of several, lines of B are joined as early as possible. */
static bool join_middle(struct sequences *both)
{
    size_t width = (size_t)(both->ends[1] - both->first) + 1;
    size_t height = (size_t)(both->ends[0] - both->first) + 1;
    uint32_t *lengths; /* of what is left from there on */
    uint32_t a = 0, b = 0;

    if (width == 1 || height == 1) {
        return true;
    }
    if (width * height > CELLS_MAX) {
        return join_anywhere(both);
    }
    lengths = memory_allocate_zeroed(width * height, sizeof *lengths);
    if (lengths == NULL) {
        return false;
    }
    for (size_t i = height - 1; i-- > 0;) {
        for (size_t k = width - 1; k-- > 0;) {
            uint32_t down = lengths[(i + 1) * width + k];
            uint32_t right = lengths[i * width + k + 1];

            lengths[i * width + k] =
                both->hashes[0][both->first + i] == both->hashes[1][both->first + k]
                    ? lengths[(i + 1) * width + k + 1] + 1
                : down > right ? down
                               : right;
        }
    }
    while (a + 1 < height && b + 1 < width) {
        if (both->hashes[0][both->first + a] == both->hashes[1][both->first + b]) {
            join(both, both->first + a++, both->first + b++);
        } else if (lengths[(a + 1) * width + b] >= lengths[a * width + b + 1]) {
            a++;
        } else {
            b++;
        }
    }
    memory_free(lengths);
    return true;
}

static bool join_modules(struct diff_edits *edits,
                         struct source_lines *const sources[2],
                         const uint32_t modules[2])
{
    uint64_t *hashes[2] = {NULL, NULL};
    struct sequences both = {.first = 0};
    bool is_done = true;

    for (unsigned side = 0; side < 2; side++) {
        struct diff_edited_module *edited = &edits->modules[side][modules[side]];

        edited->line_count =
            count_lines(source_lines_text(sources[side], modules[side]));
        hashes[side] = memory_allocate((size_t)edited->line_count + 1, sizeof **hashes);
        edited->counterparts = memory_allocate_zeroed((size_t)edited->line_count + 1,
                                                      sizeof *edited->counterparts);
        edited->is_code = memory_allocate_zeroed((size_t)edited->line_count + 1, 1);
        is_done = is_done && hashes[side] != NULL && edited->counterparts != NULL &&
                  edited->is_code != NULL;
        if (is_done) {
            read_lines(sources[side], modules[side], edited, hashes[side]);
            both.hashes[side] = hashes[side];
            both.ends[side] = edited->line_count;
            both.counterparts[side] = edited->counterparts;
        }
    }
    if (is_done) {
        join_ends(&both);
        is_done = join_middle(&both);
    }
    for (unsigned side = 0; is_done && side < 2; side++) {
        const struct diff_edited_module *edited = &edits->modules[side][modules[side]];

        for (uint32_t i = 0; i < edited->line_count; i++) {
            edits->count += edited->is_code[i] && edited->counterparts[i] == 0;
        }
    }
    memory_free(hashes[0]);
    memory_free(hashes[1]);
    return is_done;
}

/* ---- modules ---- */

/* The module of B that a site of A's module was found in; NONE. */
static uint32_t find_partner(struct log_reader *const readers[2],
                             const struct diff_align *align,
                             const struct log_module *module)
{
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        uint32_t site = diff_align_site(align, 0, module->first_site + i);

        for (uint32_t k = 0;
             site != DIFF_SITE_NONE && k < log_reader_module_count(readers[1]); k++) {
            const struct log_module *other = log_reader_module(readers[1], k);

            if (site >= other->first_site &&
                site - other->first_site < other->table.site_count) {
                return k;
            }
        }
    }
    return NONE;
}

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
            edits->modules[side][i].partner = NONE;
        }
    }
    for (uint32_t i = 0; i < edits->module_counts[0]; i++) {
        uint32_t modules[2] = {
            i, find_partner(readers, align, log_reader_module(readers[0], i))};

        if (modules[1] >= edits->module_counts[1] ||
            edits->modules[1][modules[1]].partner != NONE) {
            continue;
        }
        edits->modules[0][i].partner = modules[1];
        edits->modules[1][modules[1]].partner = i;
        if (!join_modules(edits, sources, modules)) {
            return false;
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
