/* Pairs of modules and functions of two programs. */
#include "runtime/view/diff/sites/sites.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/base/sorted.h"
#include "runtime/view/diff/sites/sequence.h"

#include <assert.h>
#include <stdlib.h>

/* ---- names of A in terms of B ---- */

void diff_names_init(struct diff_names *names,
                     const struct diff_rename *renames,
                     size_t count)
{
    *names = (struct diff_names){renames, count, BUFFER_INIT};
}

void diff_names_release(struct diff_names *names)
{
    buffer_release(&names->text);
}

/* Whether `name` has `part` at `start`, as whole dotted parts. */
static bool stands_at(struct slice name, size_t start, struct slice part)
{
    size_t end = start + part.size;

    return part.size > 0 && end <= name.size &&
           (start == 0 || name.bytes[start - 1] == '.') &&
           (end == name.size || name.bytes[end] == '.') &&
           slice_equal(slice_part(name, start, end), part);
}

static const struct diff_rename *
find_rename(const struct diff_names *names, struct slice name, size_t start)
{
    for (size_t i = 0; i < names->count; i++) {
        if (stands_at(name, start, names->renames[i].old_name)) {
            return &names->renames[i];
        }
    }
    return NULL;
}

/* Translates a name of A into terms of B: renamed dotted parts are replaced at any position
 * (`self.scale` by `scale=factor`). Valid until the next call. */
static struct slice translate(struct diff_names *names, struct slice name)
{
    size_t start = 0;

    if (names->count == 0) {
        return name;
    }
    names->text.size = 0;
    while (start < name.size) {
        const struct diff_rename *rename = find_rename(names, name, start);

        if (rename != NULL) {
            buffer_add(&names->text, rename->new_name);
            start += rename->old_name.size;
        }
        while (start < name.size && name.bytes[start] != '.') {
            buffer_add_byte(&names->text, name.bytes[start++]);
        }
        if (start < name.size) {
            buffer_add_byte(&names->text, name.bytes[start++]);
        }
    }
    return buffer_slice(&names->text);
}

uint64_t diff_names_hash(struct diff_names *names, unsigned side, struct slice name)
{
    return hash_64(side == 0 ? translate(names, name) : name);
}

static bool ends_with_path(struct slice path, struct slice end)
{
    return end.size > 0 && slice_ends(path, end) &&
           (path.size == end.size || path.bytes[path.size - end.size - 1] == '/');
}

/* Whether a rename maps file `a` of A to file `b` of B, by whole paths or last parts. */
static bool
diff_names_map_file(const struct diff_names *names, struct slice a, struct slice b)
{
    for (size_t i = 0; i < names->count; i++) {
        if (ends_with_path(a, names->renames[i].old_name) &&
            ends_with_path(b, names->renames[i].new_name)) {
            return true;
        }
    }
    return false;
}

static void diff_module_release(struct diff_module *module);

/* ---- one module: keys of its functions, sites and names, and its loops ---- */

/* Most lines of a file whose source is not known. */
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

/* Finds the innermost loop around each site. A loop's body ends at the first statement of the
 * function that is indented no more than its head. */
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
        /* A site in a loop's header is outside of its turns. */
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
    /* In a damaged trace line numbers may be arbitrary. */
    if (count > feeds && count > LINES_MAX) {
        count = feeds;
    }
    return (count > feeds ? count : feeds) + 1;
}

/* Finds the innermost loop around each line, since calls are made from lines that may have no
 * site: the lines between a loop's head and the last site in its body. Loops are in the order of
 * their lines, so inner ones follow outer ones. */
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

/* Fills the module's own keys and loops, without a partner. Returns false if memory ran out. */
static bool diff_module_init(struct diff_module *module,
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
    module->texts = memory_allocate_zeroed(module->line_count, sizeof *module->texts);
    module->line_loops =
        memory_allocate(module->line_count, sizeof *module->line_loops);
    if (innermost == NULL || module->functions == NULL || module->sites == NULL ||
        module->name_keys == NULL || module->lines == NULL || module->texts == NULL ||
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

static void diff_module_release(struct diff_module *module)
{
    memory_free(module->functions);
    memory_free(module->sites);
    memory_free(module->name_keys);
    memory_free(module->lines);
    memory_free(module->texts);
    memory_free(module->line_loops);
    *module = (struct diff_module){.partner = DIFF_NONE};
}

/* ---- pairs of lines and of loops of a module that both programs have ---- */

struct texts {
    struct diff_module *const *modules;
    uint64_t *const *keys; /* keys of the lines; 0: not known */
};

/* Scores two lines with equal texts. If two lines changed places, the one whose sites are paired
 * scores higher: it did not move. */
static uint32_t score_equal(const void *context, uint32_t a, uint32_t b)
{
    const struct texts *texts = context;

    if (texts->keys[0][a] != texts->keys[1][b] || texts->keys[0][a] == 0) {
        return 0;
    }
    return texts->modules[0]->lines[a] == a && a > 0 && texts->modules[1]->lines[b] == a
               ? 3
               : 2;
}

/* Returns the line without a comment at its end. */
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

/* Returns a key for each line; 0: the line is not known. Owned by the caller; NULL: out of
 * memory. */
static uint64_t *line_keys(const struct diff_program *program, uint32_t number)
{
    const struct diff_module *module = &program->modules[number];
    uint64_t *keys = memory_allocate_zeroed(module->line_count, sizeof *keys);

    for (uint32_t i = 1; keys != NULL && i < module->line_count; i++) {
        keys[i] = program->sources == NULL || module->module->source.size == 0
                      ? 0
                      : hash_64(without_comment(
                            source_lines_get(program->sources, number, i)));
    }
    return keys;
}

static bool pair_texts(struct diff_module *const modules[2],
                       uint64_t *const keys[2],
                       uint32_t *partners)
{
    struct texts texts = {modules, keys};
    struct diff_sequence sequence = {
        .context = &texts,
        .score = score_equal,
        .keys = {keys[0], keys[1]},
        .counts = {modules[0]->line_count, modules[1]->line_count},
    };

    if (!diff_sequence_align(&sequence, partners)) {
        return false;
    }
    for (uint32_t i = 1; i < modules[0]->line_count; i++) {
        uint32_t other = partners[i];

        if (keys[0][i] == 0 || other == DIFF_SEQUENCE_NONE) {
            continue;
        }
        modules[0]->texts[i] = other;
        modules[1]->texts[other] = i;
        if (modules[0]->lines[i] == 0 && modules[1]->lines[other] == 0) {
            modules[0]->lines[i] = i;
            modules[1]->lines[other] = i;
        }
    }
    return true;
}

/* Pairs the lines of paired sites. If a line has several sites, the first one decides. */
static void pair_site_lines(struct diff_module *const modules[2])
{
    const struct site_table *a = &modules[0]->module->table;
    const struct site_table *b = &modules[1]->module->table;

    for (uint32_t i = 0; i < a->site_count; i++) {
        uint32_t line = a->sites[i].line;
        uint32_t partner = modules[0]->sites[i].partner;
        uint32_t other = partner < b->site_count ? b->sites[partner].line : UINT32_MAX;

        if (line < modules[0]->line_count && other < modules[1]->line_count &&
            modules[0]->lines[line] == 0 && modules[1]->lines[other] == 0) {
            modules[0]->lines[line] = line;
            modules[1]->lines[other] = line;
        }
    }
}

static bool diff_lines_pair(struct diff_sites *sites, const uint32_t modules[2])
{
    struct diff_module *const pair[2] = {
        &sites->programs[0].modules[modules[0]],
        &sites->programs[1].modules[modules[1]],
    };
    uint64_t *keys[2] = {
        line_keys(&sites->programs[0], modules[0]),
        line_keys(&sites->programs[1], modules[1]),
    };
    uint32_t *partners = memory_allocate(pair[0]->line_count, sizeof *partners);
    bool is_done = keys[0] != NULL && keys[1] != NULL && partners != NULL;

    if (is_done) {
        pair_site_lines(pair);
        is_done = pair_texts(pair, keys, partners);
    }
    memory_free(keys[0]);
    memory_free(keys[1]);
    memory_free(partners);
    return is_done;
}

static bool is_around(const struct diff_module *module, uint32_t site, uint32_t loop)
{
    assert(site < module->module->table.site_count);

    uint32_t at = module->sites[site].around;

    while (at != DIFF_NONE && at != loop) {
        at = module->sites[at].around;
    }
    return at == loop;
}

/* Finds the innermost loop around each site that both programs have, for a pair of modules whose
 * functions are paired. */
static void diff_loops_pair(struct diff_sites *sites, uint32_t number)
{
    struct diff_module *module = &sites->programs[0].modules[number];
    const struct site_table *table = &module->module->table;

    for (uint32_t i = 0; i < table->site_count; i++) {
        struct diff_site *site = &module->sites[i];
        const struct diff_function *function =
            &module->functions[table->sites[i].function];
        uint32_t loop = site->around;
        struct diff_module *other;

        if (site->partner == DIFF_NONE) {
            continue;
        }
        other = &sites->programs[1].modules[function->partner_module];
        while (loop != DIFF_NONE &&
               (module->sites[loop].partner == DIFF_NONE ||
                !is_around(other, site->partner, module->sites[loop].partner))) {
            loop = module->sites[loop].around;
        }
        site->loop = loop;
        other->sites[site->partner].loop =
            loop == DIFF_NONE ? DIFF_NONE : module->sites[loop].partner;
    }
}

/* ---- pairs of functions: by name, else by their lines ---- */

/* Functions without a partner by name are compared if there are at most this many pairs. */
#define LIKE_MAX 2500
/* Functions with this likeness are paired. A name with an equal last part adds to it. */
#define LIKE_PERCENT      60
#define SAME_NAME_PERCENT 20

/* A function by its name. Functions of one name are paired in order. */
struct named {
    uint64_t key;
    uint32_t module;
    uint32_t function;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->module != b->module) {
        return a->module < b->module ? -1 : 1;
    }
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Functions of both programs without a partner, sorted by name. */
struct named_lists {
    struct named *items[2]; /* owned */
    size_t counts[2];
};

static void named_lists_release(struct named_lists *lists)
{
    memory_free(lists->items[0]);
    memory_free(lists->items[1]);
}

/* Lists the functions of the modules `firsts` up to, without, `ends`. Functions without sites
 * are listed too, since calls refer to them; with `is_left` only those with sites, and no
 * module's own code. Returns false if memory ran out. To be released in either case. */
static bool named_lists_init(struct named_lists *lists,
                             const struct diff_sites *sites,
                             const uint32_t firsts[2],
                             const uint32_t ends[2],
                             bool is_left)
{
    *lists = (struct named_lists){.counts = {0, 0}};
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_module *modules = sites->programs[side].modules;
        size_t capacity = 0;

        for (uint32_t i = firsts[side]; i < ends[side]; i++) {
            capacity += modules[i].module->table.function_count;
        }
        lists->items[side] = memory_allocate(capacity, sizeof **lists->items);
        if (lists->items[side] == NULL) {
            return false;
        }
        for (uint32_t i = firsts[side]; i < ends[side]; i++) {
            for (uint32_t k = is_left; k < modules[i].module->table.function_count;
                 k++) {
                const struct diff_function *function = &modules[i].functions[k];

                if (function->partner_module == DIFF_NONE &&
                    !(is_left && function->site_count == 0)) {
                    lists->items[side][lists->counts[side]++] =
                        (struct named){function->key, i, k};
                }
            }
        }
        qsort(lists->items[side], lists->counts[side], sizeof **lists->items,
              compare_named);
    }
    return true;
}

static bool
pair_named(struct diff_sites *sites, const struct named *a, const struct named *b)
{
    const uint32_t modules[2] = {a->module, b->module};
    const uint32_t functions[2] = {a->function, b->function};

    return diff_function_pair(sites, modules, functions);
}

/* Whether the name of the side's i-th function occurs once in its list. */
static bool is_single(const struct named_lists *lists, unsigned side, size_t i)
{
    const struct named *list = lists->items[side];

    return (i == 0 || list[i - 1].key != list[i].key) &&
           (i + 1 == lists->counts[side] || list[i + 1].key != list[i].key);
}

/* Pairs functions of equal names; with `is_left`, only names that occur once on each side.
 * Returns false if memory ran out. */
static bool
pair_lists(struct diff_sites *sites, const struct named_lists *lists, bool is_left)
{
    size_t k = 0;

    for (size_t i = 0; i < lists->counts[0]; i++) {
        uint64_t key = lists->items[0][i].key;

        while (k < lists->counts[1] && lists->items[1][k].key < key) {
            k++;
        }
        if (k < lists->counts[1] && lists->items[1][k].key == key &&
            (!is_left || (is_single(lists, 0, i) && is_single(lists, 1, k))) &&
            !pair_named(sites, &lists->items[0][i], &lists->items[1][k++])) {
            return false;
        }
    }
    return true;
}

/* Finds the function of B that is most similar to a function of A. `found` becomes the count if
 * there is none. Returns false if memory ran out. */
static bool find_like(struct diff_sites *sites,
                      const struct named *a,
                      const struct named *others,
                      size_t count,
                      size_t *found)
{
    const struct diff_module *left = &sites->programs[0].modules[a->module];
    struct slice name =
        slice_last_part(left->module->table.functions[a->function].name, '.');
    uint32_t best = LIKE_PERCENT - 1;

    *found = count;
    for (size_t i = 0; i < count; i++) {
        const struct diff_module *right = &sites->programs[1].modules[others[i].module];
        struct slice other = slice_last_part(
            right->module->table.functions[others[i].function].name, '.');
        const uint32_t modules[2] = {a->module, others[i].module};
        const uint32_t functions[2] = {a->function, others[i].function};
        bool has_same_name = slice_equal(name, other);
        uint32_t percent;

        if (right->functions[others[i].function].partner_module != DIFF_NONE ||
            right->functions[others[i].function].site_count == 0) {
            continue;
        }
        if (!diff_function_likeness(sites, modules, functions, has_same_name,
                                    &percent)) {
            return false;
        }
        percent += has_same_name ? SAME_NAME_PERCENT : 0;
        if (percent > best) {
            best = percent;
            *found = i;
        }
    }
    return true;
}

/* Pairs functions whose names differ, such as the methods of a renamed class. Returns false if
 * memory ran out. */
static bool pair_like(struct diff_sites *sites, const struct named_lists *lists)
{
    if (lists->counts[0] * lists->counts[1] > LIKE_MAX) {
        return true;
    }
    for (size_t i = 0; i < lists->counts[0]; i++) {
        const struct named *a = &lists->items[0][i];
        size_t found = lists->counts[1];

        if (sites->programs[0].modules[a->module].functions[a->function].site_count ==
            0) {
            continue;
        }
        if (!find_like(sites, a, lists->items[1], lists->counts[1], &found) ||
            (found < lists->counts[1] &&
             !pair_named(sites, a, &lists->items[1][found]))) {
            return false;
        }
    }
    return true;
}

/* Pairs the functions of a pair of modules: by name, then the others by their lines. Returns
 * false if memory ran out. */
static bool diff_functions_pair(struct diff_sites *sites, const uint32_t modules[2])
{
    const uint32_t ends[2] = {modules[0] + 1, modules[1] + 1};
    bool is_done = true;

    for (unsigned step = 0; is_done && step < 2; step++) {
        struct named_lists lists;

        is_done =
            named_lists_init(&lists, sites, modules, ends, false) &&
            (step == 0 ? pair_lists(sites, &lists, false) : pair_like(sites, &lists));
        named_lists_release(&lists);
    }
    return is_done;
}

/* Pairs functions that were moved to another file. Returns false if memory ran out. */
static bool diff_functions_pair_left(struct diff_sites *sites)
{
    const uint32_t ends[2] = {sites->programs[0].count, sites->programs[1].count};
    struct named_lists lists;
    bool is_done =
        named_lists_init(&lists, sites, (const uint32_t[2]){0, 0}, ends, true) &&
        pair_lists(sites, &lists, true);

    named_lists_release(&lists);
    return is_done;
}

/* Modules without a likely partner are compared by their functions: at most this many pairs. */
#define COMPARED_MAX 20000

void diff_sites_init(struct diff_sites *sites, const struct diff_align_options *options)
{
    *sites = (struct diff_sites){0};
    diff_names_init(&sites->names, options->renames, options->rename_count);
    for (unsigned side = 0; side < 2; side++) {
        sites->programs[side].reader = options->readers[side];
        sites->programs[side].sources = options->sources[side];
    }
}

void diff_sites_release(struct diff_sites *sites)
{
    for (unsigned side = 0; side < 2; side++) {
        struct diff_program *program = &sites->programs[side];

        for (uint32_t i = 0; i < program->count; i++) {
            diff_module_release(&program->modules[i]);
        }
        memory_free(program->modules);
    }
    diff_names_release(&sites->names);
    *sites = (struct diff_sites){0};
}

/* ---- modules ---- */

static bool pair_modules(struct diff_sites *sites, uint32_t a, uint32_t b)
{
    const uint32_t modules[2] = {a, b};

    sites->programs[0].modules[a].partner = b;
    sites->programs[1].modules[b].partner = a;
    return diff_functions_pair(sites, modules) && diff_lines_pair(sites, modules);
}

static uint32_t named_like(const struct diff_module *a, const struct diff_module *b)
{
    const struct site_table *left = &a->module->table;
    const struct site_table *right = &b->module->table;
    uint32_t count = 0;

    for (uint32_t i = 1; i < left->function_count; i++) {
        for (uint32_t k = 1; k < right->function_count; k++) {
            if (a->functions[i].key == b->functions[k].key) {
                count++;
                break;
            }
        }
    }
    return count;
}

/* Reasons why two modules may be the same, the best one first. */
enum reason {
    REASON_RENAMED,
    REASON_PATH,
    REASON_NAME_AND_LAST_PART,
    REASON_LAST_PART,
    REASON_NAME,
    REASON_FUNCTIONS,
    REASON_COUNT
};

static bool has_reason(const struct diff_sites *sites,
                       const struct diff_module *a,
                       const struct diff_module *b,
                       enum reason reason)
{
    struct slice left = a->module->table.path;
    struct slice right = b->module->table.path;
    bool is_same_part =
        slice_equal(slice_last_part(left, '/'), slice_last_part(right, '/'));
    bool is_same_name =
        a->module->name.size > 0 && slice_equal(a->module->name, b->module->name);
    uint32_t fewest = a->module->table.function_count;

    switch (reason) {
    case REASON_RENAMED:
        return diff_names_map_file(&sites->names, left, right);
    case REASON_PATH:
        return slice_equal(left, right);
    case REASON_NAME_AND_LAST_PART:
        return is_same_part && is_same_name;
    case REASON_LAST_PART:
        return is_same_part;
    case REASON_NAME:
        return is_same_name;
    default:
        fewest = b->module->table.function_count < fewest
                     ? b->module->table.function_count
                     : fewest;
        /* Function 0 is the module itself, which every module has. */
        return fewest > 1 && named_like(a, b) * 2 >= fewest - 1;
    }
}

static bool pair_by(struct diff_sites *sites, enum reason reason)
{
    struct diff_program *a = &sites->programs[0];
    struct diff_program *b = &sites->programs[1];
    uint64_t compared = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count && a->modules[i].partner == DIFF_NONE; k++) {
            if (b->modules[k].partner != DIFF_NONE) {
                continue;
            }
            if (reason == REASON_FUNCTIONS && compared++ > COMPARED_MAX) {
                return true;
            }
            if (has_reason(sites, &a->modules[i], &b->modules[k], reason) &&
                !pair_modules(sites, i, k)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_sites(struct diff_sites *sites, unsigned side)
{
    struct diff_program *program = &sites->programs[side];
    uint32_t count = log_reader_module_count(program->reader);
    void *items = program->modules;

    if (!memory_grow(&items, &program->capacity, count, sizeof *program->modules)) {
        return false;
    }
    program->modules = items;
    while (program->count < count) {
        if (!diff_module_init(&program->modules[program->count],
                              log_reader_module(program->reader, program->count), sites,
                              side)) {
            return false;
        }
        program->count++;
    }
    return true;
}

bool diff_sites_update(struct diff_sites *sites)
{
    if (!add_sites(sites, 0) || !add_sites(sites, 1)) {
        return false;
    }
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        if (!pair_by(sites, (enum reason)reason)) {
            return false;
        }
    }
    if (!diff_functions_pair_left(sites)) {
        return false;
    }
    for (uint32_t i = 0; i < sites->programs[0].count; i++) {
        diff_loops_pair(sites, i);
    }
    return !sites->names.text.has_failed;
}

/* ---- queries ---- */

void diff_sites_likeness(const struct diff_sites *sites, struct diff_likeness *likeness)
{
    *likeness = (struct diff_likeness){0};
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_program *program = &sites->programs[side];

        likeness->file_counts[side] = program->count;
        for (uint32_t i = 0; i < program->count; i++) {
            const struct diff_module *module = &program->modules[i];

            likeness->files_in_both += side == 0 && module->partner != DIFF_NONE;
            likeness->site_counts[side] += module->module->table.site_count;
            for (uint32_t k = 0; k < module->module->table.function_count; k++) {
                const struct diff_function *function = &module->functions[k];

                likeness->function_counts[side] += function->site_count > 0;
                likeness->functions_in_both += side == 0 && function->site_count > 0 &&
                                               function->partner_module != DIFF_NONE;
            }
            for (uint32_t k = 0; k < module->module->table.site_count; k++) {
                likeness->sites_in_both +=
                    side == 0 && module->sites[k].partner != DIFF_NONE;
            }
        }
    }
}

static bool ends_before(const void *modules, size_t place, uint64_t site)
{
    const struct log_module *module =
        ((const struct diff_module *)modules)[place].module;

    return module->first_site + module->table.site_count <= site;
}

const struct diff_module *
diff_sites_module(const struct diff_sites *sites, unsigned side, uint32_t site)
{
    const struct diff_program *program = &sites->programs[side];
    size_t place = sorted_place(program->modules, program->count, ends_before, site);

    return place < program->count && site >= program->modules[place].module->first_site
               ? &program->modules[place]
               : NULL;
}

/* Whether a function is a method of the class: `Net.forward` of `Net`. */
static bool is_method_of(struct slice function, struct slice class_name)
{
    size_t end = function.size;

    while (end > 0 && function.bytes[end - 1] != '.') {
        end--;
    }
    function.size = end > 0 ? end - 1 : 0;
    return class_name.size > 0 && slice_ends(function, class_name) &&
           (function.size == class_name.size ||
            function.bytes[function.size - class_name.size - 1] == '.');
}

bool diff_sites_is_class(const struct diff_sites *sites, struct slice a, struct slice b)
{
    for (uint32_t i = 0; i < sites->programs[0].count; i++) {
        const struct diff_module *module = &sites->programs[0].modules[i];

        for (uint32_t k = 0; k < module->module->table.function_count; k++) {
            const struct diff_function *function = &module->functions[k];
            const struct diff_module *other;

            if (function->partner_module == DIFF_NONE ||
                !is_method_of(module->module->table.functions[k].name, a)) {
                continue;
            }
            other = &sites->programs[1].modules[function->partner_module];
            if (is_method_of(other->module->table.functions[function->partner].name,
                             b)) {
                return true;
            }
        }
    }
    return false;
}

uint32_t diff_sites_partner(const struct diff_sites *sites,
                            unsigned side,
                            uint32_t module,
                            uint32_t site)
{
    const struct diff_program *own = &sites->programs[side];
    const struct diff_program *other = &sites->programs[1 - side];
    const struct diff_module *from;
    uint32_t function, partner;

    if (module >= own->count) {
        return DIFF_NONE;
    }
    from = &own->modules[module];
    assert(site < from->module->table.site_count);
    site -= from->module->first_site;
    partner = from->sites[site].partner;
    function = from->module->table.sites[site].function;
    module = from->functions[function].partner_module;
    return partner == DIFF_NONE || module >= other->count
               ? DIFF_NONE
               : other->modules[module].module->first_site + partner;
}

bool diff_sites_leave_out(const struct diff_sites *sites,
                          unsigned side,
                          uint32_t module,
                          uint32_t site)
{
    const struct diff_program *programs = sites->programs;
    uint32_t partner;

    if (log_reader_left_out_count(programs[0].reader) == 0 &&
        log_reader_left_out_count(programs[1].reader) == 0) {
        return false;
    }
    site += programs[side].modules[module].module->first_site;
    if (log_reader_find_left_out(programs[side].reader, site) != NULL) {
        return true;
    }
    partner = diff_sites_partner(sites, side, module, site);
    return partner != DIFF_NONE &&
           log_reader_find_left_out(programs[1 - side].reader, partner) != NULL;
}
