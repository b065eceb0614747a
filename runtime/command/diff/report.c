/* Report of `monitorch diff` on two traces. */
#include "runtime/command/diff/report.h"

#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/diff/text.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

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
    report_rows_release(&report->rows);
    buffer_release(&report->first);
    buffer_release(&report->json);
    buffer_release(&report->settings);
    buffer_release(&report->changed);
    buffer_release(&report->unknown);
}

/* ---- rows ---- */

/* Returns the list of a finding. The number of a list is the class; events of one trace alone
 * have a list for each cause and side. */
static uint32_t list_of(enum diff_class class_, enum diff_cause cause, unsigned side)
{
    return class_ == DIFF_ONLY ? DIFF_STEP + 1 + (uint32_t)cause * 2 + side
                               : (uint32_t)class_;
}

/* Adds place, name and words of a new row. */
static void add_texts(struct diff_report *report,
                      const struct diff_finding *finding,
                      unsigned side,
                      struct report_row *row)
{
    const struct log_module *module =
        log_reader_module(report->readers[side], row->key.module);
    struct buffer *texts = &report->rows.texts;

    if (module != NULL) {
        buffer_add_printable(texts, module->table.path);
    }
    buffer_add_byte(texts, ':');
    buffer_add_number(texts, row->key.line);
    row->place_size = texts->size - row->start;
    buffer_add(texts, finding->name);
    row->name_size = finding->name.size;
    if (finding->class_ != DIFF_ONLY) {
        size_t start = texts->size;

        buffer_add_printable(texts, finding->words);
        row->words_size = texts->size - start;
    }
}

/* Returns the row of the finding, added if it is new. NULL: out of memory. */
static struct report_row *find_row(struct diff_report *report,
                                   const struct diff_finding *finding)
{
    unsigned side = finding->lines[1] != 0 &&
                            (finding->class_ != DIFF_ONLY || finding->items[1] != NULL)
                        ? 1
                        : 0;
    struct report_row_key key = {
        .list = list_of(finding->class_, finding->cause, side),
        .kind = (uint32_t)finding->cause * 2 + side,
        .module = finding->modules[side],
        .line = finding->lines[side],
    };
    struct report_row *row = report_rows_find(&report->rows, &key, finding->name);

    if (row == NULL) {
        row = report_rows_add(&report->rows, &key, finding->name);
        if (row != NULL) {
            add_texts(report, finding, side, row);
        }
    }
    return report->rows.texts.has_failed ? NULL : row;
}

/* ---- names of --map that match nothing ---- */

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
    /* The paths of nn.Modules are not names in the source, so they cannot be checked. */
    if (has_part(name, SLICE(".")) || is_known(report->readers[side], name)) {
        return;
    }
    buffer_add(&report->unknown, SLICE("remark: --map: no name matches "));
    buffer_add_printable(&report->unknown, name);
    buffer_add(&report->unknown, side == 0 ? SLICE(" in A\n") : SLICE(" in B\n"));
}

/* ---- callbacks of diff ---- */

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
    struct report_row *row;

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

/* Whether only diff itself uses the setting. */
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

        /* A trace without any settings is not compared. */
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

/* ---- the report in words ---- */

/* Adds the rows of a kind under a heading, or nothing if there are none. */
static void add_list(struct diff_report *report,
                     const char *heading,
                     enum diff_class class_,
                     enum diff_cause cause,
                     unsigned side,
                     struct buffer *text)
{
    report_rows_print(&report->rows, list_of(class_, cause, side), heading, "line",
                      report->options->is_all ? SIZE_MAX : DIFF_LIST_LIMIT, text);
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

/* Adds the numbers of values that differ but are no difference. */
static void add_allowed(const struct diff_result *result, struct buffer *text)
{
    diff_text_add_part(text, result->layout, SLICE("equal except for strides"));
    diff_text_add_part(text, result->steps,
                       SLICE("differ on the way to equal values (--all)"));
    diff_text_add_part(text, result->clocks,
                       SLICE("skipped (read from a clock, or ignored)"));
}

/* Adds the numbers of events that the other trace could not have. */
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

/* Adds the numbers of gradients, parameters and settings. */
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
    for (unsigned side = 0; side < 2; side++) {
        if (result->code[side] > 0) {
            buffer_add(text, SLICE("; "));
            diff_text_add_count(text, result->code[side], "event");
            buffer_add(text, side == 0 ? SLICE(" in lines that only A has (--all)")
                                       : SLICE(" in lines that only B has (--all)"));
        }
    }
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

/* Adds the lists of values that are no difference by themselves. */
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
    size_t inherited = report_rows_count(&report->rows, DIFF_INHERITED);

    add_list(report, "own differences", DIFF_OWN, 0, 0, text);
    if (options->is_all || options->has_inherited) {
        add_list(report, "inherited", DIFF_INHERITED, 0, 0, text);
    } else if (inherited > 0) {
        buffer_add(text, SLICE("  inherited: "));
        diff_text_add_count(text, inherited, "line");
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

/* Adds the estimate of rounding, if no floor was measured. */
static void add_rounding(const struct diff_rounding *rounding, struct buffer *text)
{
    if (!rounding->is_there) {
        return;
    }
    buffer_add(
        text,
        SLICE(
            "  noise floor: not measured (run --repeat-noise); the first value that is "
            "not equal to the bit:\n    "));
    buffer_add_printable(text, slice_of(rounding->place));
    buffer_add(text, SLICE(": "));
    real_add_short(text, rounding->units, 2);
    buffer_add(text, SLICE(" units of "));
    buffer_add(text, slice_of(dtype_text(rounding->dtype)));
    buffer_add(text, SLICE(" apart; rounding in sums of "));
    diff_text_add_count(text, rounding->length, "number");
    buffer_add(text, SLICE(" gives about "));
    real_add_short(text, rounding->expected, 2);
    if (rounding->units > DIFF_ROUNDING_MULTIPLE * rounding->expected) {
        buffer_add(text, SLICE(": less, unless large numbers cancel"));
    }
    buffer_add_byte(text, '\n');
}

/* Adds the noise floor if it was measured, else the estimate. */
static void add_floor(const struct diff_result *result, struct buffer *text)
{
    const struct diff_floor *floor = &result->floor;

    if (floor->known_count == 0) {
        add_rounding(&result->rounding, text);
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
