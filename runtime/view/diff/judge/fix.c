/* The line to fix: the edit that caused the first difference, if another line shows it. The same
 * program gives the same values; so if a value differs and all its inputs are equal, an edit
 * that ran before it is the cause. */
#include "runtime/base/memory.h"
#include "runtime/site/statement_text.h"
#include "runtime/site/term.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* At most this many equally likely lines are named. If there are more, none is. */
#define EDITS_MAX 3

/* Flags of a site of either trace. */
enum { VISITED = 1, ODD = 2 };

void diff_fix_visit(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event)
{
    const struct diff_fact *fact = diff_facts_find(&work->facts[side], event->number);
    bool is_odd = fact == NULL || fact->node == GRAPH_NONE || fact->is_odd;

    if (work->visits[side] != NULL &&
        event->site_number < work->edits.site_counts[side]) {
        work->visits[side][event->site_number] |= is_odd ? VISITED | ODD : VISITED;
    }
}

/* ---- edits that ran ---- */

/* Likelihood of an edit, likeliest first: its value is read by the differing line or it is
 * around that line; its values are odd or not known; its values are equal. */
enum tier { TIER_READ, TIER_ODD, TIER_EQUAL };

struct edit {
    unsigned side;
    struct diff_place place;
    uint32_t tier;
};

struct search {
    struct diff_work *work;
    const struct diff_finding *finding;
    bool has_others;                  /* leave out the finding's own line */
    struct edit edits[EDITS_MAX + 1]; /* edits of the likeliest tier */
    size_t count;
};

static const struct site_table *
table_of(const struct diff_work *work, unsigned side, uint32_t module)
{
    return &log_reader_module(work->readers[side], module)->table;
}

/* Returns the site whose statement contains the line, or else precedes it. SITE_NONE: none. */
static uint32_t site_before(const struct site_table *table, uint32_t line)
{
    uint32_t found = SITE_NONE;

    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].line <= line &&
            (found == SITE_NONE || table->sites[i].line > table->sites[found].line)) {
            found = i;
        }
    }
    return found;
}

/* Returns the column at which the line's text starts, from 1. */
static uint32_t
column_of(struct diff_work *work, unsigned side, struct diff_place place)
{
    struct slice text = source_lines_text(&work->sources[side], place.module);
    struct slice line = diff_place_source(work, side, place);
    const char *at = line.bytes;

    while (line.size > 0 && at > text.bytes && at[-1] != '\n') {
        at--;
    }
    return (uint32_t)(line.bytes - at) + 1;
}

/* Returns the last site that precedes the line and runs before it. A site that is indented more
 * is of another function. An argument of a `def` counts only if the `def` is indented less than
 * the line. SITE_NONE: there is none. */
static uint32_t
site_run_before(struct diff_work *work, unsigned side, struct diff_place place)
{
    const struct site_table *table = table_of(work, side, place.module);
    uint32_t column = column_of(work, side, place);
    uint32_t found = SITE_NONE;

    for (uint32_t i = table->site_count; i-- > 0;) {
        const struct site *site = &table->sites[i];
        struct diff_place head = {place.module, site->line};
        uint32_t limit = site->kind == SITE_ENTER ? column - 1 : column;

        if (site->line <= place.line &&
            (found == SITE_NONE || site->line > table->sites[found].line) &&
            column_of(work, side, head) <= limit) {
            found = i;
        }
    }
    return found;
}

/* Whether the statement, which has no site, contains the line in its block: all lines between
 * are indented more. */
static bool
is_around(struct diff_work *work, struct diff_place head, struct diff_place place)
{
    uint32_t column = column_of(work, 1, head);

    if (head.module != place.module || head.line >= place.line) {
        return false;
    }
    for (uint32_t line = head.line + 1; line <= place.line; line++) {
        struct diff_place between = {head.module, line};

        if (diff_place_source(work, 1, between).size > 0 &&
            column_of(work, 1, between) <= column) {
            return false;
        }
    }
    return true;
}

static bool is_around_any(struct search *search, struct diff_place head)
{
    const struct log_item *item = search->finding->items[1];
    struct diff_place place = {search->finding->modules[1], search->finding->lines[1]};

    if (is_around(search->work, head, place)) {
        return true;
    }
    for (const struct open_call *call = search->finding->calls[1];
         item != NULL && call != NULL && call->parent != NULL; call = call->parent) {
        place = (struct diff_place){call->parent->module_number, call->line};
        if (is_around(search->work, head, place) ||
            (head.module == place.module && head.line == place.line)) {
            return true;
        }
    }
    return false;
}

/* Whether the statement reads an attribute, or calls a function or method, of that name. */
static bool asks_for(struct diff_work *work, const struct site *site, struct slice name)
{
    struct term term;
    struct arena arena;
    bool is_found = false;

    arena_init(&arena);
    if (!term_read(&term, site->term, site->read_count, &arena)) {
        work->has_failed = true;
        term.node_count = 0;
    }
    for (uint32_t i = 0; i < term.node_count; i++) {
        const struct term_node *node = &term.nodes[i];

        is_found |= (node->kind == TERM_ATTRIBUTE || node->kind == TERM_METHOD ||
                     node->kind == TERM_CALL) &&
                    slice_equal(slice_last_part(node->key, '.'), name);
    }
    arena_release(&arena);
    return is_found;
}

static bool reads(struct diff_work *work, const struct site *reader, struct slice name)
{
    struct slice last = slice_last_part(name, '.');
    struct slice root = slice_part(name, 0, slice_find(name, SLICE("."), 0));

    for (uint32_t i = 0; i < reader->read_count; i++) {
        if (slice_equal(reader->reads[i].name, name) ||
            (root.size < name.size && slice_equal(reader->reads[i].name, root) &&
             asks_for(work, reader, last))) {
            return true;
        }
    }
    return false;
}

/* Whether the statement that shows the difference reads a name that the site wrote. */
static bool is_read_by_finding(struct search *search, const struct site *site)
{
    const struct log_item *item = search->finding->items[1];

    for (uint32_t i = 0; i < site->write_count; i++) {
        if (item != NULL && item->kind == LOG_EVENT &&
            reads(search->work, item->event.site, site->writes[i].name)) {
            return true;
        }
    }
    return false;
}

/* Whether the line only defines or imports a name, and computes nothing. */
static bool names_something(struct diff_work *work, const struct edit *edit)
{
    static const char *const words[] = {"import ", "from ", "def ", "class ",
                                        "async def "};
    struct slice line = diff_place_source(work, edit->side, edit->place);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_starts(line, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Returns the name by which a function is called; a constructor is called by its class's name. */
static struct slice called_name(struct slice function)
{
    struct slice last = slice_last_part(function, '.');

    if (slice_equal(last, SLICE("__init__")) && last.size < function.size) {
        last = slice_last_part(slice_part(function, 0, function.size - last.size - 1),
                               '.');
    }
    return last;
}

/* Whether the site's statement makes the call whose argument differs. Only for calls without a
 * recorded caller, whose line is not known. */
static bool is_call_of_finding(struct search *search, const struct site *site)
{
    unsigned side = search->finding->items[1] != NULL ? 1 : 0;
    const struct open_call *call = search->finding->calls[side];
    const struct log_item *item = search->finding->items[side];

    return call != NULL && call->parent == NULL && item != NULL &&
           item->kind == LOG_EVENT && item->event.site->kind == SITE_ENTER &&
           asks_for(search->work, site,
                    called_name(
                        open_call_function(call, search->work->readers[side])->name));
}

static uint32_t tier_of(struct search *search, const struct edit *edit)
{
    struct diff_work *work = search->work;
    const struct site_table *table = table_of(work, edit->side, edit->place.module);
    uint32_t first =
        log_reader_module(work->readers[edit->side], edit->place.module)->first_site;
    uint32_t tier = UINT32_MAX;
    bool has_site = false;

    for (uint32_t i = 0; i < table->site_count; i++) {
        uint8_t visits = work->visits[edit->side][first + i];

        if (table->sites[i].line != edit->place.line) {
            continue;
        }
        has_site = true;
        if (edit->side == 1 && is_call_of_finding(search, &table->sites[i])) {
            tier = TIER_READ;
        }
        if ((visits & VISITED) != 0) {
            bool is_read = edit->side == 1 && (visits & ODD) != 0 &&
                           is_read_by_finding(search, &table->sites[i]);
            uint32_t own = is_read               ? TIER_READ
                           : (visits & ODD) != 0 ? TIER_ODD
                                                 : TIER_EQUAL;

            tier = own < tier ? own : tier;
        }
    }
    if (!has_site) {
        uint32_t before = site_run_before(work, edit->side, edit->place);
        bool has_run = before == SITE_NONE ||
                       (work->visits[edit->side][first + before] & VISITED) != 0;
        bool is_near = edit->side == 1 && is_around_any(search, edit->place);

        tier = is_near                       ? TIER_READ
               : !has_run                    ? UINT32_MAX
               : names_something(work, edit) ? TIER_EQUAL
                                             : TIER_ODD;
    }
    return tier;
}

/* Returns the first line of the statement that contains the line. */
static uint32_t begin_of(struct diff_work *work, unsigned side, struct diff_place place)
{
    const struct site_table *table = table_of(work, side, place.module);
    uint32_t before = site_before(table, place.line);
    int depth = 0;

    if (before == SITE_NONE ||
        place.line - table->sites[before].line >= STATEMENT_LINES_MAX) {
        return place.line;
    }
    for (uint32_t line = table->sites[before].line; line < place.line; line++) {
        depth += statement_depth(
            diff_place_source(work, side, (struct diff_place){place.module, line}));
        if (depth <= 0) {
            return place.line;
        }
    }
    return table->sites[before].line;
}

/* Whether two edits are of the same line. A file has several tables if the recorder added one
 * for a line without a site. */
static bool
is_same_line(const struct diff_work *work, const struct edit *a, const struct edit *b)
{
    return a->side == b->side && a->place.line == b->place.line &&
           (a->place.module == b->place.module ||
            slice_equal(table_of(work, a->side, a->place.module)->path,
                        table_of(work, b->side, b->place.module)->path));
}

static void add_edit(struct search *search, struct edit edit)
{
    edit.place.line = begin_of(search->work, edit.side, edit.place);
    if (search->has_others &&
        edit.place.module == search->finding->modules[edit.side] &&
        edit.place.line == search->finding->lines[edit.side]) {
        return;
    }
    edit.tier = tier_of(search, &edit);
    if (edit.tier == UINT32_MAX) {
        return;
    }
    if (search->count > 0 && edit.tier < search->edits[0].tier) {
        search->count = 0;
    }
    if (search->count > 0 && edit.tier > search->edits[0].tier) {
        return;
    }
    for (size_t i = 0; i < search->count; i++) {
        if (is_same_line(search->work, &search->edits[i], &edit)) {
            return;
        }
    }
    if (search->count <= EDITS_MAX) {
        search->edits[search->count++] = edit;
    }
}

/* Returns the first edited line of B at the place of the line of A: the two are one edit. 0:
 * there is none. */
static uint32_t
find_replaced(const struct diff_work *work, uint32_t module, uint32_t line)
{
    const struct diff_edited_module *a = &work->edits.modules[0][module];
    uint32_t before = 0;

    for (uint32_t i = line - 1; i-- > 0 && before == 0;) {
        before = a->counterparts[i];
    }
    return diff_edits_has_line(&work->edits, 1, a->partner, before + 1) ? before + 1
                                                                        : 0;
}

static void find_edits(struct search *search)
{
    const struct diff_edits *edits = &search->work->edits;

    for (unsigned side = 2; side-- > 0;) {
        for (uint32_t i = 0; i < edits->module_counts[side]; i++) {
            for (uint32_t line = 1; line <= edits->modules[side][i].line_count;
                 line++) {
                struct edit edit = {.side = side, .place = {i, line}};

                if (diff_edits_has_line(edits, side, i, line) &&
                    (side == 1 || find_replaced(search->work, i, line) == 0)) {
                    add_edit(search, edit);
                }
            }
        }
    }
}

/* Returns the line of B that follows the place of a line that only A has; if that line ended its
 * block, the line that precedes the place. 0: there is none. */
static uint32_t beside_line(struct diff_work *work, struct diff_place place)
{
    const struct diff_edited_module *a = &work->edits.modules[0][place.module];
    uint32_t column = column_of(work, 0, place);
    uint32_t next = place.line;

    while (next < a->line_count && (a->counterparts[next] == 0 || !a->is_code[next])) {
        next++;
    }
    if (next < a->line_count &&
        column_of(work, 0, (struct diff_place){place.module, next + 1}) >= column) {
        return a->counterparts[next];
    }
    for (uint32_t i = place.line - 1; i-- > 0;) {
        if (a->counterparts[i] != 0 && a->is_code[i]) {
            return a->counterparts[i];
        }
    }
    return next < a->line_count ? a->counterparts[next] : 0;
}

/* ---- words ---- */

static void add_place_words(struct diff_work *work, const struct edit *edit)
{
    if (edit->side == 1) {
        buffer_add(&work->path, SLICE("line "));
        buffer_add_number(&work->path, edit->place.line);
        return;
    }
    buffer_add(&work->path, SLICE("A's line "));
    buffer_add_number(&work->path, edit->place.line);
    buffer_add(&work->path, SLICE(", "));
    text_add_shortened(&work->path, diff_place_source(work, 0, edit->place), 60);
}

static void
set_place(struct diff_work *work, const struct edit *edit, struct diff_finding *finding)
{
    const struct diff_edited_module *edited =
        &work->edits.modules[edit->side][edit->place.module];

    finding->modules[edit->side] = edit->place.module;
    finding->lines[edit->side] = edit->place.line;
    finding->modules[1 - edit->side] = edited->partner;
    finding->lines[1 - edit->side] = edit->side == 0
                                         ? beside_line(work, edit->place)
                                         : diff_fix_other_line(work, edit->place);
}

uint32_t diff_fix_other_line(const struct diff_work *work, struct diff_place place)
{
    const struct log_module *module = log_reader_module(work->readers[1], place.module);

    for (uint32_t i = 0; i < module->table.site_count; i++) {
        if (module->table.sites[i].line == place.line) {
            return diff_site_place(
                       work, 0, diff_align_site(work->align, 1, module->first_site + i))
                .line;
        }
    }
    return 0;
}

static void write_words(struct search *search, struct diff_finding *finding)
{
    struct diff_work *work = search->work;

    work->path.size = 0;
    if (search->edits[0].side == 0) {
        buffer_add(&work->path, SLICE("only A has "));
        add_place_words(work, &search->edits[0]);
    } else {
        buffer_add(&work->path, SLICE("this line reads differently"));
    }
    for (size_t i = 1; i < search->count; i++) {
        buffer_add(&work->path, SLICE(", or "));
        add_place_words(work, &search->edits[i]);
    }
    buffer_add(&work->path, SLICE("; first seen at "));
    if (finding->modules[1] != search->edits[0].place.module ||
        search->edits[0].side == 0) {
        diff_place_add(work, 1,
                       (struct diff_place){finding->modules[1], finding->lines[1]},
                       &work->path);
    } else {
        buffer_add(&work->path, SLICE("line "));
        buffer_add_number(&work->path, finding->lines[1]);
    }
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    set_place(work, &search->edits[0], finding);
}

/* ---- code of one program alone ---- */

static struct diff_place fact_place(const struct diff_facts *facts,
                                    const struct diff_fact *fact)
{
    struct diff_fact_site site = diff_fact_site_of(facts, fact);

    return (struct diff_place){site.module, site.site->line};
}

static void
add_code(struct diff_work *work, unsigned side, const struct diff_fact *code)
{
    const struct diff_facts *facts = &work->facts[side];
    struct diff_place place = fact_place(facts, code);
    struct slice source = diff_place_source(work, side, place);

    buffer_add(&work->words,
               side == 0 ? SLICE("; only A wrote ") : SLICE("; only B wrote "));
    text_add_shortened(&work->words, diff_fact_name(facts, code), 80);
    buffer_add(&work->words, SLICE(" at "));
    diff_place_add(work, side, place, &work->words);
    if (source.size > 0) {
        buffer_add(&work->words, SLICE(": "));
        text_add_shortened(&work->words, source, 100);
    }
}

/* Returns the line of code that one run alone has; if an edited line made the call around it,
 * that line. `is_call` becomes whether it did. */
static struct diff_place code_place(struct diff_work *work,
                                    unsigned side,
                                    const struct diff_fact *code,
                                    bool *is_call)
{
    const struct diff_details *details = diff_fact_details(&work->facts[side], code);
    struct diff_place place = fact_place(&work->facts[side], code);

    *is_call = details != NULL && details->edit_line != 0;
    if (*is_call) {
        place = (struct diff_place){details->edit_module, details->edit_line};
        place.line = begin_of(work, side, place);
    }
    return place;
}

/* Reports a call that only A makes, if it wrote the missing value: at the line that made the
 * call, or at its replacement in B. Returns false if there is no such call. */
static bool write_lost_call(struct diff_work *work,
                            const struct diff_fact *code,
                            struct diff_finding *finding)
{
    struct search search = {.work = work, .finding = finding, .count = 1};
    bool is_call;
    struct diff_place place = code_place(work, 0, code, &is_call);
    uint32_t line = is_call ? find_replaced(work, place.module, place.line) : 0;

    if (!is_call || (line != 0 && line == finding->lines[1])) {
        return false;
    }
    search.edits[0] = (struct edit){.side = 0, .place = place};
    if (line != 0) {
        search.edits[0].side = 1;
        search.edits[0].place =
            (struct diff_place){work->edits.modules[0][place.module].partner, line};
    }
    write_words(&search, finding);
    return true;
}

bool diff_fix_code(struct diff_work *work,
                   const struct diff_fact *facts[2],
                   struct diff_finding *finding)
{
    const struct diff_fact *code[2];
    struct diff_place place;
    bool is_call;

    for (unsigned side = 0; side < 2; side++) {
        code[side] = diff_verdicts_find_code(&work->facts[side], facts[side],
                                             &work->facts[1 - side], facts[1 - side]);
    }
    if (code[1] == NULL && code[0] != NULL && write_lost_call(work, code[0], finding)) {
        return true;
    }
    if (code[1] == NULL ||
        diff_edits_has_site(&work->edits, 1, finding->items[1]->event.site_number)) {
        if (code[1] != NULL || code[0] != NULL) {
            add_code(work, code[1] != NULL, code[code[1] != NULL]);
        }
        return code[0] != NULL || code[1] != NULL;
    }
    work->path.size = 0;
    buffer_add(&work->path, SLICE("A has no such line; after it, at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(", "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, diff_fact_name(&work->facts[1], code[1]), 80);
    place = code_place(work, 1, code[1], &is_call);
    finding->modules[1] = place.module;
    finding->lines[1] = place.line;
    return true;
}

/* Moves the report of an argument to the caller's line if that line is edited. Returns false if
 * it is not. */
static bool move_to_caller(struct diff_work *work, struct diff_finding *finding)
{
    const struct open_call *call = finding->calls[1];
    const struct open_call *other = finding->calls[0];
    struct diff_place place;

    if (finding->items[1]->event.site->kind != SITE_ENTER || call == NULL ||
        call->parent == NULL ||
        !diff_edits_has(&work->edits, &work->sources[1], 1, call->parent->module_number,
                        call->line)) {
        return false;
    }
    place = (struct diff_place){call->parent->module_number, call->line};
    place.line = begin_of(work, 1, place);
    buffer_add(&work->words, SLICE("; passed to "));
    text_add_shortened(&work->words, open_call_function(call, work->readers[1])->name,
                       80);
    buffer_add(&work->words, SLICE(" (line "));
    buffer_add_number(&work->words, finding->lines[1]);
    buffer_add(&work->words, SLICE(")"));
    finding->modules[1] = place.module;
    finding->lines[1] = place.line;
    if (other != NULL && other->parent != NULL && other->line != 0) {
        finding->modules[0] = other->parent->module_number;
        finding->lines[0] = other->line;
    }
    return true;
}

void diff_fix_find(struct diff_work *work, struct diff_finding *finding)
{
    struct search search = {.work = work, .finding = finding};
    bool has_event = finding->items[1] != NULL && finding->items[1]->kind == LOG_EVENT;

    if (has_event && finding->items[0] != NULL && move_to_caller(work, finding)) {
        return;
    }
    if (work->has_first || work->edits.count == 0 ||
        diff_edits_has(&work->edits, &work->sources[1], 1, finding->modules[1],
                       finding->lines[1]) ||
        diff_edits_has(&work->edits, &work->sources[0], 0, finding->modules[0],
                       finding->lines[0])) {
        return;
    }
    find_edits(&search);
    if (search.count > 0 && search.count <= EDITS_MAX) {
        write_words(&search, finding);
    }
}

/* Returns the next edited line of B with an own difference from which a value was made. Line 0:
 * none. */
static struct edit find_next_own(const struct diff_work *work,
                                 const struct diff_finding *finding)
{
    const struct diff_facts *facts = &work->facts[1];
    uint64_t first = finding->items[1]->event.number - facts->first_event;

    for (size_t i = 0; i < facts->count; i++) {
        const struct diff_fact *fact = &facts->items[i];

        if (fact->event > first && fact->verdict == DIFF_VERDICT_OWN &&
            fact->is_edited && !(fact->is_number && !fact->is_used)) {
            return (struct edit){.side = 1, .place = fact_place(facts, fact)};
        }
    }
    return (struct edit){.side = 1};
}

void diff_fix_add_others(struct diff_work *work, const struct diff_finding *finding)
{
    struct search search = {.work = work, .finding = finding, .has_others = true};

    find_edits(&search);
    if (search.count > EDITS_MAX || search.edits[0].tier > TIER_ODD) {
        search.count = 0;
    }
    if (search.count == 0) {
        search.edits[0] = find_next_own(work, finding);
        search.count = search.edits[0].place.line != 0;
    }
    for (size_t i = 0; i < search.count; i++) {
        work->path.size = 0;
        add_place_words(work, &search.edits[i]);
        buffer_add(&work->words,
                   i == 0 ? SLICE("; nothing recorded was made from it, it may be ")
                          : SLICE(", or "));
        buffer_add(&work->words, buffer_slice(&work->path));
    }
}
