/* What `monitorch diff` says of two traces. */
#include "runtime/command/diff/report.h"

#include "runtime/base/file/output.h"
#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/command/diff/text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

#include <math.h>
#include <string.h>

#define SETTING_LIMIT 60
#define WORDS_LIMIT   110

void diff_report_init(struct diff_report *report,
                      const struct diff_command_options *options)
{
    *report = (struct diff_report){.options = options, .first_event = UINT64_MAX};
}

void diff_report_release(struct diff_report *report)
{
    memory_free(report->rows);
    number_map_release(&report->row_numbers);
    buffer_release(&report->texts);
    buffer_release(&report->first);
    buffer_release(&report->json);
    buffer_release(&report->settings);
    buffer_release(&report->changed);
    buffer_release(&report->unknown);
}

/* ---- rows ---- */

/* A part of `texts`. */
static struct slice
diff_report_text(const struct diff_report *report, size_t place, size_t size)
{
    return slice_part(buffer_slice(&report->texts), place, place + size);
}

static bool is_row(const struct diff_report *report,
                   const struct diff_report_row *row,
                   const struct diff_report_row *wanted,
                   struct slice name)
{
    return row->hash == wanted->hash && row->class_ == wanted->class_ &&
           row->cause == wanted->cause && row->side == wanted->side &&
           row->module == wanted->module && row->line == wanted->line &&
           slice_equal(diff_report_text(report, row->name, row->name_size), name);
}

static void add_place(struct diff_report *report, const struct diff_report_row *row)
{
    const struct log_module *module =
        log_reader_module(report->readers[row->side], row->module);

    if (module != NULL) {
        buffer_add_printable(&report->texts, module->table.path);
    }
    buffer_add_byte(&report->texts, ':');
    buffer_add_number(&report->texts, row->line);
}

static struct diff_report_row *add_row(struct diff_report *report,
                                       struct diff_report_row row,
                                       const struct diff_finding *finding)
{
    void *items = report->rows;

    if (!memory_grow(&items, &report->row_capacity, report->row_count + 1,
                     sizeof *report->rows)) {
        return NULL;
    }
    report->rows = items;
    row.place = report->texts.size;
    add_place(report, &row);
    row.place_size = report->texts.size - row.place;
    row.name = report->texts.size;
    row.name_size = finding->name.size;
    buffer_add(&report->texts, finding->name);
    row.words = report->texts.size;
    buffer_add_printable(&report->texts, finding->words);
    row.words_size = finding->class_ == DIFF_ONLY ? 0 : report->texts.size - row.words;
    if (report->texts.has_failed ||
        !number_map_add(&report->row_numbers, row.hash, (uint32_t)report->row_count)) {
        return NULL;
    }
    report->rows[report->row_count] = row;
    return &report->rows[report->row_count++];
}

/* The row of the finding; NULL where memory ran out. */
static struct diff_report_row *find_row(struct diff_report *report,
                                        const struct diff_finding *finding)
{
    unsigned side = finding->lines[1] != 0 &&
                            (finding->class_ != DIFF_ONLY || finding->items[1] != NULL)
                        ? 1
                        : 0;
    struct diff_report_row row = {
        .class_ = finding->class_,
        .cause = finding->cause,
        .side = side,
        .module = finding->modules[side],
        .line = finding->lines[side],
        .max_abs = -1,
    };
    struct number_map_search search;

    row.hash = hash_64(finding->name) ^
               ((uint64_t)row.line * 0x9E3779B97F4A7C15u + row.module * 31u +
                (unsigned)row.cause * 7u + (unsigned)row.class_ * 3u + side);
    search = number_map_search(&report->row_numbers, row.hash);
    while (number_map_next(&search)) {
        struct diff_report_row *found = &report->rows[search.number];

        if (is_row(report, found, &row, finding->name)) {
            return found;
        }
    }
    return add_row(report, row, finding);
}

/* ---- names that --map tells ---- */

static bool has_part(struct slice text, struct slice part)
{
    return slice_find(text, part, 0) < text.size;
}

static bool is_in_module(const struct log_module *module, struct slice name)
{
    const struct site_table *table = &module->table;

    if (has_part(table->path, name) || has_part(module->name, name)) {
        return true;
    }
    for (uint32_t i = 0; i < table->function_count; i++) {
        if (has_part(table->functions[i].name, name)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];

        for (uint32_t k = 0; k < site->write_count; k++) {
            if (has_part(site->writes[k].name, name)) {
                return true;
            }
        }
        for (uint32_t k = 0; k < site->read_count; k++) {
            if (has_part(site->reads[k].name, name)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_known(const struct log_reader *reader, struct slice name)
{
    for (uint32_t i = 0; i < log_reader_module_count(reader); i++) {
        if (is_in_module(log_reader_module(reader, i), name)) {
            return true;
        }
    }
    return false;
}

static void note_unknown(struct diff_report *report, unsigned side, struct slice name)
{
    /* A path of an nn.Module is no name of the program. */
    if (has_part(name, SLICE(".")) || is_known(report->readers[side], name)) {
        return;
    }
    buffer_add(&report->unknown, SLICE("remark: --map: no name matches "));
    buffer_add_printable(&report->unknown, name);
    buffer_add(&report->unknown, side == 0 ? SLICE(" in A\n") : SLICE(" in B\n"));
}

/* ---- what diff tells ---- */

void diff_report_begun(void *context,
                       struct log_reader *const *readers,
                       struct source_lines *const *sources)
{
    struct diff_report *report = context;

    (void)sources;
    report->readers = readers;
    for (size_t i = 0; i < report->options->tolerance.rename_count; i++) {
        note_unknown(report, 0, report->options->renames[i].old_name);
        note_unknown(report, 1, report->options->renames[i].new_name);
    }
}

bool diff_report_found(void *context, const struct diff_finding *finding)
{
    struct diff_report *report = context;
    struct diff_report_row *row;

    if (finding->is_first) {
        buffer_add(&report->first, finding->text);
        if (finding->items[1] != NULL && finding->items[1]->kind == LOG_EVENT) {
            report->first_event = finding->items[1]->event.number;
        } else if (finding->items[0] != NULL && finding->items[0]->kind == LOG_EVENT) {
            report->first_event = finding->items[0]->event.number;
        }
    }
    if (report->options->is_json) {
        diff_json_add_finding(report, finding, &report->json);
        report->has_failed = report->has_failed || report->json.has_failed ||
                             !output_flush(&report->json, OUTPUT_PIECE);
        return !report->has_failed;
    }
    row = find_row(report, finding);
    if (row == NULL || report->first.has_failed) {
        report->has_failed = true;
        return false;
    }
    row->count++;
    if (finding->distance != NULL && finding->distance->max_abs > row->max_abs) {
        row->max_abs = finding->distance->max_abs;
    }
    return true;
}

/* ---- the programs ---- */

static void add_line(const struct diff_report *report,
                     unsigned side,
                     uint32_t module,
                     uint32_t line,
                     struct slice source,
                     struct buffer *text)
{
    buffer_add_printable(text,
                         log_reader_module(report->readers[side], module)->table.path);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
    buffer_add(text, SLICE(": "));
    text_add_shortened(text, source, WORDS_LIMIT);
    buffer_add_byte(text, '\n');
}

void diff_report_changed(void *context,
                         const uint32_t modules[2],
                         const uint32_t lines[2],
                         const struct slice sources[2])
{
    struct diff_report *report = context;
    struct buffer *text = &report->changed;

    if (report->changed_count++ >= CHANGED_LIMIT && !report->options->is_all) {
        return;
    }
    buffer_add(text, SLICE("    "));
    add_line(report, 1, modules[1], lines[1], sources[1], text);
    buffer_add(text, SLICE("      in A, "));
    add_line(report, 0, modules[0], lines[0], sources[0], text);
}

/* ---- settings ---- */

static void add_setting(struct buffer *text,
                        struct slice name,
                        const struct log_setting *a,
                        const struct log_setting *b)
{
    const struct log_setting *settings[2] = {a, b};

    buffer_add(text, SLICE("    "));
    text_add_shortened(text, name, SETTING_LIMIT);
    buffer_add(text, SLICE(": "));
    for (unsigned side = 0; side < 2; side++) {
        buffer_add(text, side == 0 ? SLICE("A ") : SLICE(", B "));
        if (settings[side] == NULL) {
            buffer_add(text, SLICE("not recorded"));
        } else {
            text_add_shortened(text, settings[side]->value, SETTING_LIMIT);
        }
    }
    buffer_add_byte(text, '\n');
}

/* Settings that diff itself reads. */
static bool is_of_diff(struct slice name)
{
    return slice_starts(name, SLICE("graft.")) || slice_starts(name, SLICE("noise"));
}

void diff_report_ended(void *context, struct log_reader *const *readers)
{
    struct diff_report *report = context;

    for (size_t i = 0; i < log_reader_setting_count(readers[0]); i++) {
        const struct log_setting *a = log_reader_setting(readers[0], i);
        const struct log_setting *b = log_reader_find_setting(readers[1], a->name);

        /* Of a trace without settings nothing can be said. */
        if (log_reader_setting_count(readers[1]) > 0 && !is_of_diff(a->name) &&
            (b == NULL || !slice_equal(a->value, b->value))) {
            add_setting(&report->settings, a->name, a, b);
        }
    }
    for (size_t i = 0; i < log_reader_setting_count(readers[1]); i++) {
        const struct log_setting *b = log_reader_setting(readers[1], i);

        if (log_reader_setting_count(readers[0]) > 0 && !is_of_diff(b->name) &&
            log_reader_find_setting(readers[0], b->name) == NULL) {
            add_setting(&report->settings, b->name, NULL, b);
        }
    }
}

/* What `monitorch diff` says of two traces, in words. */

static bool is_wanted_row(const struct diff_report_row *row,
                          enum diff_class class_,
                          enum diff_cause cause,
                          unsigned side)
{
    if (row->class_ != class_) {
        return false;
    }
    return class_ != DIFF_ONLY || (row->side == side && row->cause == cause);
}

/* How wide a column gets. */
static size_t width_of(const struct diff_report *report,
                       const struct diff_report_row *rows[],
                       size_t count,
                       bool is_name)
{
    size_t widest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t width = is_name ? rows[i]->name_size : rows[i]->place_size;

        widest = width > widest && width <= DIFF_COLUMN_MOST ? width : widest;
    }
    (void)report;
    return widest;
}

static void add_row_text(const struct diff_report *report,
                         const struct diff_report_row *row,
                         size_t place_width,
                         size_t name_width,
                         struct buffer *text)
{
    buffer_add(text, SLICE("    "));
    diff_text_add_column(text, diff_report_text(report, row->place, row->place_size),
                         place_width);
    diff_text_add_column(text, diff_report_text(report, row->name, row->name_size),
                         name_width);
    text_add_shortened(text, diff_report_text(report, row->words, row->words_size),
                       DIFF_WORDS_LIMIT);
    if (row->count > 1) {
        buffer_add(text, row->words_size > 0 ? SLICE("  (") : SLICE("("));
        buffer_add_number(text, row->count);
        buffer_add(text, SLICE(" times"));
        if (row->max_abs >= 0 && isfinite(row->max_abs)) {
            buffer_add(text, SLICE(", up to "));
            real_add_short(text, row->max_abs, 4);
        }
        buffer_add_byte(text, ')');
    }
    text_end_line(text);
}

/* The rows of a kind, under a heading; nothing where there are none. */
static void add_list(struct diff_report *report,
                     const char *heading,
                     enum diff_class class_,
                     enum diff_cause cause,
                     unsigned side,
                     struct buffer *text)
{
    size_t limit = report->options->is_all ? SIZE_MAX : DIFF_LIST_LIMIT;
    const struct diff_report_row **rows =
        memory_allocate(report->row_count, sizeof(const struct diff_report_row *));
    size_t count = 0, shown;

    if (rows == NULL) {
        text->has_failed = true;
        return;
    }
    for (size_t i = 0; i < report->row_count; i++) {
        if (is_wanted_row(&report->rows[i], class_, cause, side)) {
            rows[count++] = &report->rows[i];
        }
    }
    shown = count < limit ? count : limit;
    if (count > 0) {
        size_t place_width = width_of(report, rows, shown, false);
        size_t name_width = width_of(report, rows, shown, true);

        buffer_add(text, SLICE("  "));
        buffer_add(text, slice_of(heading));
        buffer_add(text, SLICE(":\n"));
        for (size_t i = 0; i < shown; i++) {
            add_row_text(report, rows[i], place_width, name_width, text);
        }
        if (shown < count) {
            diff_text_add_more(text, count - shown, "line");
        }
    }
    memory_free(rows);
}

static size_t count_rows(const struct diff_report *report, enum diff_class class_)
{
    size_t count = 0;

    for (size_t i = 0; i < report->row_count; i++) {
        count += report->rows[i].class_ == class_;
    }
    return count;
}

static void add_likeness(const struct diff_result *result, struct buffer *text)
{
    const struct diff_likeness *likeness = &result->likeness;
    const struct {
        const char *noun;
        uint64_t both, counts[2];
    } parts[] = {
        {"file",
         likeness->files_in_both,
         {likeness->file_counts[0], likeness->file_counts[1]}},
        {"function",
         likeness->functions_in_both,
         {likeness->function_counts[0], likeness->function_counts[1]}},
        {"place",
         likeness->sites_in_both,
         {likeness->site_counts[0], likeness->site_counts[1]}},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buffer_add(text, i > 0 ? SLICE(", ") : SLICE(""));
        diff_text_add_grouped(text, parts[i].both);
        buffer_add(text, SLICE(" of A's "));
        diff_text_add_count(text, parts[i].counts[0], parts[i].noun);
        buffer_add(text, SLICE(" (B has "));
        diff_text_add_grouped(text, parts[i].counts[1]);
        buffer_add_byte(text, ')');
    }
    buffer_add(text, SLICE(" are in both"));
}

/* What differs and is no difference. */
static void add_allowed(const struct diff_result *result, struct buffer *text)
{
    diff_text_add_part(text, result->layout, SLICE("equal except for strides"));
    diff_text_add_part(text, result->steps,
                       SLICE("differ on the way to equal values (--all)"));
    diff_text_add_part(text, result->clocks,
                       SLICE("skipped (read from a clock, or ignored)"));
}

/* What had nothing beside it. */
static void add_outside(const struct diff_result *result, struct buffer *text)
{
    for (unsigned side = 0; side < 2; side++) {
        diff_text_add_part(text, result->left_out[side],
                           side == 0
                               ? SLICE("of A not recorded in both (scalars=all)")
                               : SLICE("of B not recorded in both (scalars=all)"));
        diff_text_add_part(text, result->before[side],
                           side == 0 ? SLICE("of A precede B's first")
                                     : SLICE("of B precede A's first"));
        if (result->beyond[side] > 0) {
            buffer_add(text, side == 0 ? SLICE("; B ends there, A continues for ")
                                       : SLICE("; A ends there, B continues for "));
            diff_text_add_grouped(text, result->beyond[side]);
        }
    }
}

static void add_empty_line(const struct diff_result *result, struct buffer *text)
{
    buffer_add(text, SLICE("nothing to compare"));
    add_outside(result, text);
    if (result->before[0] + result->before[1] + result->beyond[0] + result->beyond[1] ==
        0) {
        buffer_add(text, SLICE(": A has "));
        diff_text_add_count(text, result->event_counts[0], "event");
        buffer_add(text, SLICE(", B has "));
        diff_text_add_grouped(text, result->event_counts[1]);
        buffer_add(text, SLICE(", and no event is in both"));
    }
    buffer_add_byte(text, '\n');
}

/* Of gradients, parameters and settings. */
static void add_updates(const struct diff_update_counts *updates, struct buffer *text)
{
    diff_text_add_part(text, updates->equal + updates->own + updates->inherited,
                       updates->equal + updates->own + updates->inherited == 1
                           ? SLICE("gradient or parameter")
                           : SLICE("gradients and parameters"));
    if (updates->own + updates->inherited > 0) {
        buffer_add(text, SLICE(": "));
        diff_text_add_grouped(text, updates->equal);
        buffer_add(text, SLICE(" equal"));
    }
    if (updates->close > 0) {
        buffer_add(text, SLICE(" ("));
        diff_text_add_grouped(text, updates->close);
        buffer_add(text, SLICE(" within tolerance)"));
    }
    if (updates->own + updates->inherited > 0) {
        buffer_add(text, SLICE(", "));
        diff_text_add_count(text, updates->own, "own difference");
        buffer_add(text, SLICE(", "));
        diff_text_add_grouped(text, updates->inherited);
        buffer_add(text, SLICE(" inherited"));
    }
}

static void add_equal_line(const struct diff_report *report,
                           const struct diff_result *result,
                           struct buffer *text)
{
    diff_text_add_equal(text, result->equal, "event", result->close,
                        report->options->tolerance.is_exact);
    add_updates(&result->updates, text);
    add_allowed(result, text);
    if (report->changed_count > 0) {
        buffer_add(text, SLICE("; "));
        diff_text_add_count(text, report->changed_count, "line");
        buffer_add(text, report->changed_count == 1 ? SLICE(" of code differs (--all)")
                                                    : SLICE(" of code differ (--all)"));
    }
    diff_text_add_part(text, result->code[0],
                       SLICE("of lines that only A has (--all)"));
    diff_text_add_part(text, result->code[1],
                       SLICE("of lines that only B has (--all)"));
    add_outside(result, text);
    buffer_add_byte(text, '\n');
}

static void add_graft(const struct diff_result *result, struct buffer *text)
{
    if (result->is_graft_of_other) {
        buffer_add(
            text,
            SLICE("  B is a graft of another reference than A: its differences may "
                  "be that reference's\n"));
    } else if (result->is_grafted) {
        buffer_add(
            text,
            SLICE("  B is a graft: once recorded, its values were replaced by A's, so "
                  "that an own difference is one of its line\n"));
    }
}

void diff_report_add_counts(const struct diff_result *result, struct buffer *text)
{
    diff_text_add_both(text, result->equal + result->own + result->inherited, "event",
                       result->equal, result->close);
    buffer_add(text, SLICE(", "));
    diff_text_add_count(text, result->own + result->own_flow, "own difference");
    buffer_add(text, SLICE(", "));
    diff_text_add_grouped(text, result->inherited);
    buffer_add(text, SLICE(" inherited"));
    if (result->unsure > 0) {
        buffer_add(text, SLICE(", "));
        diff_text_add_grouped(text, result->unsure);
        buffer_add(text, SLICE(" of them perhaps own"));
    }
    if (result->flow > 0) {
        buffer_add(text, SLICE("; the paths differ "));
        diff_text_add_count(text, result->flow, "time");
    }
    add_updates(&result->updates, text);
    add_allowed(result, text);
    diff_text_add_alone(text, result->only);
    buffer_add_byte(text, '\n');
}

/* What differs and is no difference by itself. */
static void add_harmless(struct diff_report *report, struct buffer *text)
{
    if (report->options->is_all) {
        add_list(report, "differ on the way to equal values", DIFF_STEP, 0, 0, text);
    }
    add_list(report, "lines that only A has", DIFF_ONLY, DIFF_CAUSE_CODE, 0, text);
    add_list(report, "lines that only B has", DIFF_ONLY, DIFF_CAUSE_CODE, 1, text);
}

static void add_lists(struct diff_report *report, struct buffer *text)
{
    const struct diff_command_options *options = report->options;

    add_list(report, "own differences", DIFF_OWN, 0, 0, text);
    if (count_rows(report, DIFF_INHERITED) > 0 &&
        (options->is_all || options->has_inherited)) {
        add_list(report, "inherited", DIFF_INHERITED, 0, 0, text);
    } else if (count_rows(report, DIFF_INHERITED) > 0) {
        buffer_add(text, SLICE("  inherited: "));
        diff_text_add_count(text, count_rows(report, DIFF_INHERITED), "line");
        buffer_add(text, SLICE(" (--inherited lists them)\n"));
    }
    add_list(report, "reached only by A", DIFF_ONLY, DIFF_CAUSE_FLOW, 0, text);
    add_list(report, "reached only by B", DIFF_ONLY, DIFF_CAUSE_FLOW, 1, text);
}

void diff_report_add_line(struct diff_report *report,
                          const struct diff_result *result,
                          struct buffer *text)
{
    struct slice first = buffer_slice(&report->first);

    if (result->is_other_program) {
        buffer_add(text, SLICE("different programs: "));
        add_likeness(result, text);
        buffer_add_byte(text, '\n');
    } else if (first.size > 0) {
        size_t end = slice_find(first, SLICE("\n"), 0);

        buffer_add(text, slice_part(first, 0, end));
        buffer_add_byte(text, '\n');
    } else if (diff_result_is_empty(result)) {
        add_empty_line(result, text);
    } else if (!diff_result_is_equal(result)) {
        buffer_add(text,
                   SLICE("different: some values have parts in only one trace\n"));
    } else {
        add_equal_line(report, result, text);
    }
}

static void add_changed(const struct diff_report *report, struct buffer *text)
{
    buffer_add(text, SLICE("  lines of code that differ:\n"));
    buffer_add(text, buffer_slice(&report->changed));
    if (report->changed_count > CHANGED_LIMIT && !report->options->is_all) {
        diff_text_add_more(text, report->changed_count - CHANGED_LIMIT, "line");
    }
}

/* How far apart values may be, where it was measured. */
static void add_floor(const struct diff_result *result, struct buffer *text)
{
    const struct diff_floor *floor = &result->floor;

    if (floor->known_count == 0) {
        return;
    }
    buffer_add(text, SLICE("  noise floor ("));
    buffer_add_printable(text, floor->noise);
    buffer_add(text, SLICE("): measured at "));
    diff_text_add_grouped(text, floor->known_count);
    buffer_add(text, SLICE(" of A's "));
    diff_text_add_count(text, floor->value_count, "floating value");
    buffer_add(text, SLICE("; equal are values within "));
    buffer_add_number(text, DIFF_FLOOR_MULTIPLE);
    buffer_add(text, SLICE(" times of it\n"));
}

void diff_report_add(struct diff_report *report,
                     const struct diff_result *result,
                     struct buffer *text)
{
    if (report->options->is_quiet || result->is_other_program ||
        report->first.size == 0) {
        diff_report_add_line(report, result, text);
        if (result->is_other_program && !report->options->is_quiet) {
            buffer_add(text, SLICE("  The events were not compared. If files, "
                                   "functions or variables were renamed,\n"
                                   "  name them with --map OLD=NEW.\n"));
        }
        if (report->options->is_quiet || result->is_other_program) {
            return;
        }
    } else {
        buffer_add(text, buffer_slice(&report->first));
    }
    if (!diff_result_is_equal(result) && !diff_result_is_empty(result)) {
        buffer_add(text, SLICE("\n"
                               "  "));
        diff_report_add_counts(result, text);
        add_lists(report, text);
    }
    if (diff_result_is_empty(result) && !report->options->is_all) {
        buffer_add(text, SLICE("  Record the same code in both runs (run --include "
                               "MODULE); --all lists the lines of each.\n"));
    } else if (!diff_result_is_equal(result) || report->options->is_all) {
        add_harmless(report, text);
    }
    if (report->changed.size > 0 &&
        (!diff_result_is_equal(result) || report->options->is_all)) {
        add_changed(report, text);
    }
    add_graft(result, text);
    add_floor(result, text);
    text->has_failed =
        text->has_failed || report->settings.has_failed || report->changed.has_failed;
    if (report->settings.size > 0) {
        buffer_add(text, SLICE("  settings of the runs that differ:\n"));
        buffer_add(text, buffer_slice(&report->settings));
    }
}
