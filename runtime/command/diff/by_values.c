/* Report of `monitorch diff --by-values`. */
#include "runtime/command/diff/by_values.h"

#include "instrument/output/strip.h"
#include "runtime/base/file/output.h"
#include "runtime/command/diff/map_file.h"
#include "runtime/command/diff/text.h"
#include "runtime/command/shared/trace_remarks.h"
#include "runtime/command/subcommand.h"
#include "runtime/view/diff/match/match.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/number_text.h"
#include "runtime/view/words/paint.h"

/* Most characters of a line of code, and most other suspects, that are shown. */
#define CODE_LIMIT    90
#define SUSPECT_LIMIT 4

/* ---- parts ---- */

static void add_place(const struct match_run *run,
                      uint32_t module,
                      uint32_t line,
                      struct buffer *text)
{
    buffer_add_printable(text, log_reader_module(run->reader, module)->table.path);
    buffer_add_byte(text, ':');
    buffer_add_number(text, line);
}

static void
add_code(struct match_run *run, uint32_t module, uint32_t line, struct buffer *text)
{
    text_add_shortened(text, source_lines_get(&run->sources, module, line), CODE_LIMIT);
}

/* Adds `q`, `out[0]`; for a weight only its key. */
static void add_name(const struct match_value *value, struct buffer *text)
{
    if (value->is_weight) {
        buffer_add_printable(text, slice_part(value->path, 2, value->path.size - 2));
    } else if (value->name.size == 0) {
        buffer_add(text, SLICE("return"));
    } else {
        buffer_add_printable(text, value->name);
        buffer_add_printable(text, value->path);
    }
}

static void add_figures(const struct match_value *value, struct buffer *text)
{
    const struct log_shape *shape = value->shape;

    if (shape == NULL) {
        real_add_short(text, value->number, 6);
        return;
    }
    buffer_add_printable(text, shape->dtype_text);
    buffer_add_byte(text, ' ');
    dimensions_add(text, shape->shape, shape->dimension_count);
    if (value->statistics->count == 1) {
        buffer_add(text, SLICE(" "));
        real_add_short(text, value->statistics->mean, 6);
        return;
    }
    buffer_add(text, SLICE(" min "));
    real_add_short(text, statistics_bound_real(shape->dtype, value->statistics->min),
                   4);
    buffer_add(text, SLICE(" max "));
    real_add_short(text, statistics_bound_real(shape->dtype, value->statistics->max),
                   4);
    buffer_add(text, SLICE(" mean "));
    real_add_short(text, value->statistics->mean, 4);
    buffer_add(text, SLICE(" std "));
    real_add_short(text, value->statistics->std, 4);
}

/* ---- a suspect ---- */

static void add_weight_words(const struct match *match,
                             const struct match_suspect *suspect,
                             struct buffer *text)
{
    const struct match_value *other =
        suspect->other == MATCH_NONE ? NULL : &match->runs[0].values[suspect->other];

    if ((suspect->reasons & MATCH_REASON_TWICE) != 0) {
        buffer_add(text, SLICE("it holds what another weight of B holds too"));
    } else if ((suspect->reasons & MATCH_REASON_UNKNOWN) != 0) {
        buffer_add(text, SLICE("A has no weight with these values"));
    } else {
        buffer_add(text, SLICE("the values of A's "));
        add_name(other, text);
        buffer_add(text, SLICE(" in another order"));
        return;
    }
    if (other != NULL) {
        buffer_add(text, SLICE("; A's "));
        add_name(other, text);
        buffer_add(text, SLICE(" is no weight of B"));
    }
}

static void add_line_words(const struct match_suspect *suspect, struct buffer *text)
{
    static const struct {
        enum match_reason reason;
        struct slice words;
    } parts[] = {
        {MATCH_REASON_ORDER,
         {"the elements lie in another order than A's from here on", 55}},
        {MATCH_REASON_OPERATION, {"A's lines have no such operation", 32}},
        {MATCH_REASON_MISSING, {"A's line has an operation more", 30}},
        {MATCH_REASON_INPUT, {"it reads a value that A's line does not read", 44}},
        {MATCH_REASON_INPUT_MISSING, {"A's line reads a value more", 27}},
        {MATCH_REASON_FORM, {"A computes this from the same inputs nowhere", 44}},
        {MATCH_REASON_FORM_MISSING, {"A has a step more behind it", 27}},
        {MATCH_REASON_LAYOUT,
         {"it computes what A does, and its elements lie otherwise", 55}},
        {MATCH_REASON_RESULT, {"A's result from the same values differs", 39}},
    };

    if ((suspect->reasons & MATCH_REASON_NUMBER) != 0) {
        buffer_add(text, SLICE("A's lines have no "));
        real_add_short(text, suspect->number, 6);
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((suspect->reasons & parts[i].reason) != 0) {
            buffer_add(text, parts[i].words);
            return;
        }
    }
    buffer_add(text, SLICE("its inputs are in A, its value is not"));
}

static void add_suspect(struct match *match,
                        const struct match_suspect *suspect,
                        bool is_first,
                        struct buffer *text)
{
    struct match_run *run = &match->runs[1];
    const struct match_value *value = &run->values[suspect->value];

    add_place(run, suspect->module, suspect->line, text);
    buffer_add(text, is_first ? SLICE(": first divergence: ") : SLICE(": "));
    if (suspect->is_weight) {
        buffer_add(text, SLICE("weight "));
    }
    add_name(value, text);
    buffer_add(text, SLICE(": "));
    if (suspect->is_weight) {
        add_weight_words(match, suspect, text);
    } else {
        add_line_words(suspect, text);
    }
    buffer_add_byte(text, '\n');
    if (!is_first || suspect->line == 0) {
        return;
    }
    buffer_add(text, SLICE("    "));
    add_code(run, suspect->module, suspect->line, text);
    buffer_add_byte(text, '\n');
}

/* ---- the report ---- */

static void add_counterpart(struct match *match, struct buffer *text)
{
    const struct match_leave *leave = &match->leave;
    struct match_run *a = &match->runs[0];

    buffer_add(text, SLICE("  B "));
    add_figures(&match->runs[1].values[leave->values[1]], text);
    buffer_add_byte(text, '\n');
    if (leave->values[0] == MATCH_NONE) {
        return;
    }
    buffer_add(text, SLICE("  A "));
    add_figures(&a->values[leave->values[0]], text);
    buffer_add(text, SLICE("  "));
    add_place(a, leave->a_module, leave->a_line, text);
    buffer_add(text, SLICE(": "));
    add_code(a, leave->a_module, leave->a_line, text);
    buffer_add_byte(text, '\n');
}

static void add_inputs(const struct match *match, struct buffer *text)
{
    const struct match_leave *leave = &match->leave;

    for (size_t i = 0; i < leave->input_count; i++) {
        const struct match_content *content =
            &match->contents[1].items[leave->inputs[i]];
        const struct match_value *b = &match->runs[1].values[content->last];
        const struct match_value *a =
            &match->runs[0].values[match->contents[0].items[content->partner].last];

        buffer_add(text,
                   i == 0 ? SLICE("  equal inputs: ") : SLICE("                "));
        add_name(b, text);
        buffer_add(text, SLICE(" (line "));
        buffer_add_number(text, b->line);
        buffer_add(text, SLICE(") = A's "));
        add_name(a, text);
        buffer_add(text, SLICE(" (line "));
        buffer_add_number(text, a->line);
        buffer_add(text, SLICE(")\n"));
    }
}

static void add_others(struct match *match, struct buffer *text)
{
    const struct match_leave *leave = &match->leave;

    if (leave->is_certain) {
        return;
    }
    if (leave->suspect_count < 2) {
        buffer_add(
            text,
            SLICE("  not certain: a line behind it may be it as well. To be sure, give "
                  "each "
                  "step of both\n  programs a line of its own, and record again\n"));
        return;
    }
    buffer_add(text,
               SLICE("  not certain: these lines and weights may be it as well:\n"));
    for (size_t i = 1; i < leave->suspect_count && i <= SUSPECT_LIMIT; i++) {
        buffer_add(text, SLICE("    "));
        add_suspect(match, &leave->suspects[i], false, text);
    }
}

static void add_counts(const struct match *match, struct buffer *text)
{
    diff_text_add_grouped(text, match->common);
    buffer_add(text, SLICE(" of B's "));
    diff_text_add_count(text, match->common + match->own + match->lost, "value");
    buffer_add(text, SLICE(" are in A; "));
    diff_text_add_grouped(text, match->own);
    buffer_add(text, SLICE(" are steps between such values; "));
    diff_text_add_grouped(text, match->lost);
    buffer_add(text, SLICE(" are not in A\n"));
}

/* Adds the results that only that run has. */
static void add_open(const struct match *match, unsigned side, struct buffer *text)
{
    const struct match_open *open = &match->open[side];

    for (size_t i = 0; i < open->count && i < SUSPECT_LIMIT; i++) {
        const struct match_value *value = &match->runs[side].values[open->values[i]];

        buffer_add(text, i > 0       ? SLICE(", ")
                         : side == 1 ? SLICE("  not in A: ")
                                     : SLICE("  not in B: "));
        add_name(value, text);
        buffer_add(text, SLICE(" (line "));
        buffer_add_number(text, value->line);
        buffer_add_byte(text, ')');
    }
    if (open->count > 0) {
        buffer_add(text, open->count > SUSPECT_LIMIT ? SLICE(", …\n") : SLICE("\n"));
    }
}

static void add_equal(const struct match *match, bool is_quiet, struct buffer *text)
{
    if (match->open[0].count + match->open[1].count == 0) {
        buffer_add(text, SLICE("equal by values: "));
        add_counts(match, text);
        return;
    }
    buffer_add(text, SLICE("equal by values as far as both have results: "));
    add_counts(match, text);
    if (!is_quiet) {
        add_open(match, 1, text);
        add_open(match, 0, text);
    }
}

static void add_nothing(const struct match *match, struct buffer *text)
{
    for (unsigned side = 0; side < 2; side++) {
        if (match->contents[side].count == 0) {
            buffer_add(text, side == 0
                                 ? SLICE("nothing to compare: A has no tensors\n")
                                 : SLICE("nothing to compare: B has no tensors\n"));
            return;
        }
    }
    buffer_add(
        text,
        SLICE("nothing in common: no value of B is in A. Give both programs the same "
              "inputs and\n  weights, and record the lines that use them\n"));
}

static void add_verdict(struct match *match, bool is_quiet, struct buffer *text)
{
    const struct match_leave *leave = &match->leave;

    if (match->verdict == MATCH_NOTHING || match->verdict == MATCH_EMPTY) {
        add_nothing(match, text);
    } else if (match->verdict == MATCH_EQUAL) {
        add_equal(match, is_quiet, text);
    } else if (leave->suspect_count == 0) {
        buffer_add(
            text,
            SLICE("different, not certain where: the last value of B is not in A\n"));
    } else {
        add_suspect(match, &leave->suspects[0], true, text);
        if (!is_quiet) {
            add_counterpart(match, text);
            add_inputs(match, text);
            add_others(match, text);
            buffer_add(text, SLICE("\n  "));
            add_counts(match, text);
        }
    }
}

/* ---- JSON ---- */

static void json_add_place(const struct match_run *run,
                           uint32_t module,
                           uint32_t line,
                           bool is_b,
                           struct buffer *text)
{
    if (line != 0) {
        json_text_add(text, is_b ? SLICE("file") : SLICE("file_a"),
                      log_reader_module(run->reader, module)->table.path);
        json_number_add(text, is_b ? SLICE("line") : SLICE("line_a"), line);
    }
}

static void
json_add_name(struct slice key, const struct match_value *value, struct buffer *text)
{
    struct buffer name = BUFFER_INIT;

    add_name(value, &name);
    json_text_add(text, key, buffer_slice(&name));
    text->has_failed = text->has_failed || name.has_failed;
    buffer_release(&name);
}

static void
json_add_suspect(const struct match *match, size_t rank, struct buffer *text)
{
    const struct match_leave *leave = &match->leave;
    const struct match_suspect *suspect = &leave->suspects[rank];
    struct buffer words = BUFFER_INIT;

    if (suspect->is_weight) {
        add_weight_words(match, suspect, &words);
    } else {
        add_line_words(suspect, &words);
    }
    buffer_add(text, SLICE("{\"record\":\"suspect\""));
    json_number_add(text, SLICE("rank"), rank + 1);
    json_boolean_add(text, SLICE("certain"), rank == 0 && leave->is_certain);
    json_text_add(text, SLICE("kind"),
                  suspect->is_weight ? SLICE("weight") : SLICE("line"));
    json_add_name(SLICE("name"), &match->runs[1].values[suspect->value], text);
    json_add_place(&match->runs[1], suspect->module, suspect->line, true, text);
    json_text_add(text, SLICE("words"), buffer_slice(&words));
    if (rank == 0 && leave->values[0] != MATCH_NONE) {
        json_add_place(&match->runs[0], leave->a_module, leave->a_line, false, text);
    }
    buffer_add(text, SLICE("}\n"));
    text->has_failed = text->has_failed || words.has_failed;
    buffer_release(&words);
}

static void json_add(const struct match *match, struct buffer *text)
{
    static const char *const verdicts[] = {
        [MATCH_EQUAL] = "equal",  [MATCH_LEAVES] = "different",
        [MATCH_OPEN] = "unknown", [MATCH_NOTHING] = "nothing",
        [MATCH_EMPTY] = "empty",
    };

    for (size_t i = 0; i < match->leave.suspect_count; i++) {
        json_add_suspect(match, i, text);
    }
    buffer_add(text, SLICE("{\"record\":\"values_verdict\""));
    json_boolean_add(text, SLICE("equal"), match->verdict == MATCH_EQUAL);
    json_text_add(text, SLICE("verdict"), slice_of(verdicts[match->verdict]));
    json_number_add(text, SLICE("values"), match->common + match->own + match->lost);
    json_number_add(text, SLICE("in_both"), match->common);
    json_number_add(text, SLICE("own_steps"), match->own);
    json_number_add(text, SLICE("not_in_a"), match->lost);
    json_number_add(text, SLICE("results_not_in_a"), match->open[1].count);
    json_number_add(text, SLICE("results_not_in_b"), match->open[0].count);
    buffer_add(text, SLICE("}\n"));
}

/* ---- the map ---- */

static struct slice order_text(enum match_order order)
{
    switch (order) {
    case MATCH_ORDER_SAME:
        return SLICE("same");
    case MATCH_ORDER_TRANSPOSED:
        return SLICE("transposed");
    case MATCH_ORDER_OTHER:
        return SLICE("permuted");
    default:
        return SLICE("unknown");
    }
}

static void add_map_side(const struct match_value *value, struct buffer *text)
{
    add_name(value, text);
    if (!value->is_weight) {
        buffer_add(text, SLICE(" (line "));
        buffer_add_number(text, value->line);
        buffer_add_byte(text, ')');
    }
}

/* Adds `+ k + v` after `= q` for a packed weight of B, whose pieces are rows in order; `, part 2
 * of 3` for a piece of a packed weight of A. */
static void add_pack(const struct match *match,
                     const struct match_map_row *row,
                     struct buffer *text)
{
    for (uint32_t i = 1; row->pack->side == 1 && i < row->pack->count; i++) {
        buffer_add(text, SLICE(" + "));
        add_map_side(&match->runs[0].values[row[i].a], text);
    }
    if (row->pack->side == 0 && row->pack->is_ordered) {
        buffer_add(text, SLICE(", part "));
        buffer_add_number(text, row->part + 1);
        buffer_add(text, SLICE(" of "));
        buffer_add_number(text, row->pack->count);
    }
    if (!row->pack->is_ordered) {
        buffer_add(text, SLICE(", in an order that is not known"));
    }
}

static void add_map_row(const struct match *match,
                        const struct match_map_row *row,
                        struct buffer *text)
{
    struct buffer left = BUFFER_INIT;

    if (row->pack != NULL && row->pack->side == 1 && row->part > 0) {
        return; /* printed with the first piece */
    }
    add_map_side(&match->runs[1].values[row->b], &left);
    buffer_add(text, SLICE("  "));
    diff_text_add_column(text, buffer_slice(&left), DIFF_COLUMN_MOST);
    buffer_add(text, SLICE("= "));
    add_map_side(&match->runs[0].values[row->a], text);
    if (row->pack != NULL) {
        add_pack(match, row, text);
    }
    if (row->order == MATCH_ORDER_TRANSPOSED || row->order == MATCH_ORDER_OTHER) {
        buffer_add(text, SLICE(", "));
        buffer_add(text, order_text(row->order));
    }
    buffer_add_byte(text, '\n');
    text->has_failed = text->has_failed || left.has_failed;
    buffer_release(&left);
}

static void json_add_map_row(const struct match *match,
                             const struct match_map_row *row,
                             struct buffer *text)
{
    const struct match_value *a = &match->runs[0].values[row->a];
    const struct match_value *b = &match->runs[1].values[row->b];

    buffer_add(text, SLICE("{\"record\":\"map\""));
    json_text_add(text, SLICE("kind"),
                  row->is_weight ? SLICE("weight") : SLICE("value"));
    json_add_name(SLICE("name"), b, text);
    json_add_place(&match->runs[1], b->module, b->line, true, text);
    json_add_name(SLICE("name_a"), a, text);
    json_add_place(&match->runs[0], a->module, a->line, false, text);
    json_text_add(text, SLICE("order"), order_text(row->order));
    if (row->pack != NULL) {
        json_text_add(text, SLICE("packed"),
                      row->pack->side == 1 ? SLICE("b") : SLICE("a"));
        json_number_add(text, SLICE("part"), row->part + 1);
        json_number_add(text, SLICE("parts"), row->pack->count);
    }
    buffer_add(text, SLICE("}\n"));
}

static void add_map(const struct match *match, bool is_json, struct buffer *text)
{
    struct match_map map;
    bool is_made = match_map_make(&map, match);

    for (size_t i = 0; is_made && i < map.count; i++) {
        if (is_json) {
            json_add_map_row(match, &map.rows[i], text);
        } else {
            if (i == 0 || map.rows[i].is_weight != map.rows[i - 1].is_weight) {
                buffer_add(text, map.rows[i].is_weight ? SLICE("weights, B = A:\n")
                                                       : SLICE("values, B = A:\n"));
            }
            add_map_row(match, &map.rows[i], text);
        }
    }
    text->has_failed = text->has_failed || !is_made;
    match_map_release(&map);
}

/* Reports the lines of the map file that no longer apply. */
static void print_pins(const struct map_file *file)
{
    struct buffer line = BUFFER_INIT;

    for (size_t i = 0; i < file->count; i++) {
        const struct match_pin *pin = &file->pins[i];

        if (!pin->is_found || pin->differs) {
            buffer_add(&line, SLICE("remark: --map-file: "));
            buffer_add_printable(&line, pin->names[1]);
            buffer_add(&line, SLICE(" = "));
            buffer_add_printable(&line, pin->names[0]);
            buffer_add(&line, pin->is_found ? SLICE(": their values differ\n")
                                            : SLICE(": no such value was recorded\n"));
        }
    }
    output_print_error(buffer_slice(&line));
    buffer_release(&line);
}

/* ---- all together ---- */

/* Whether the comparison by names is reported, since the one by values adds nothing: no value is
 * in common, or all values are equal by both. */
static bool is_said_by_names(const struct match *match,
                             const struct diff_otherwise *otherwise)
{
    return match->common == 0 ||
           (otherwise->exit_code == EXIT_CODE_DONE && match->verdict == MATCH_EQUAL &&
            match->open[0].count + match->open[1].count == 0);
}

static enum exit_code add_otherwise(const struct match *match,
                                    const struct diff_otherwise *otherwise,
                                    bool is_json,
                                    struct buffer *text)
{
    buffer_add(text, otherwise->report);
    if (otherwise->has_nothing && !is_json) {
        add_nothing(match, text);
    }
    return otherwise->exit_code;
}

static enum exit_code report(const struct diff_command_options *options,
                             struct match *match,
                             const struct diff_otherwise *otherwise)
{
    struct buffer text = BUFFER_INIT;
    enum exit_code exit_code =
        match->verdict == MATCH_EQUAL ? EXIT_CODE_DONE : EXIT_CODE_CHECK_FAILED;

    if (otherwise != NULL && is_said_by_names(match, otherwise)) {
        exit_code = add_otherwise(match, otherwise, options->is_json, &text);
    } else if (options->is_map && match->common > 0) {
        add_map(match, options->is_json, &text);
        exit_code = EXIT_CODE_DONE;
    } else if (options->is_json) {
        json_add(match, &text);
    } else {
        add_verdict(match, options->is_quiet, &text);
    }
    if (text.has_failed) {
        print_message("", "out of memory");
        exit_code = EXIT_CODE_INPUT_FAILED;
    } else if (!output_print(buffer_slice(&text))) {
        exit_code = EXIT_CODE_INPUT_FAILED;
    }
    if (otherwise != NULL && otherwise->exit_code == EXIT_CODE_INPUT_FAILED) {
        exit_code = EXIT_CODE_INPUT_FAILED; /* a trace was only partly readable */
    }
    buffer_release(&text);
    return exit_code;
}

/* Reports the damage of both traces. */
static enum exit_code
report_sides(const struct match *match, const struct diff_pair *pair, bool is_quiet)
{
    enum exit_code exit_code = EXIT_CODE_DONE;

    for (unsigned side = 0; side < 2; side++) {
        const char *path = pair->paths[side];
        const struct log_reader *reader = match->runs[side].reader;
        const struct log_header *header = log_reader_header(reader);
        size_t count = log_reader_damage_count(reader);
        enum exit_code of_side = trace_report_first_damage(
            path, count > 0 ? log_reader_damage(reader, 0) : "", count);

        exit_code = exit_code_worse(exit_code, of_side);
        if (is_quiet) {
            continue;
        }
        if (header->is_closed == 0 && of_side == EXIT_CODE_DONE) {
            trace_report_unfinished(path, "compared");
        }
        trace_report_lost(path, header->is_closed != 0 ? header->lost_count : 0);
    }
    return exit_code;
}

enum exit_code diff_by_values(const struct diff_command_options *options,
                              const struct diff_pair *pair,
                              const struct diff_otherwise *otherwise)
{
    struct error error = ERROR_INIT;
    struct map_file file = {.count = 0};
    struct match_pins pins = {.count = 0};
    struct match_options match_options = {
        .tolerance = &options->tolerance, .strip = strip_source, .pins = &pins};
    struct match match = {.verdict = MATCH_EMPTY};
    const char *const paths[2] = {pair->paths[0], pair->paths[1]};
    enum exit_code exit_code = EXIT_CODE_INPUT_FAILED;
    bool is_read =
        options->map_file == NULL || map_file_read(&file, options->map_file, &error);

    pins = (struct match_pins){.items = file.pins, .count = file.count};
    if (is_read && match_runs(&match, paths, &match_options, &error)) {
        if (!options->is_quiet) {
            print_pins(&file);
        }
        exit_code = report(options, &match, otherwise);
        if (otherwise == NULL) {
            exit_code = exit_code_worse(exit_code,
                                        report_sides(&match, pair, options->is_quiet));
        }
    } else {
        print_message("", error.text);
    }
    match_release(&match);
    map_file_release(&file);
    return exit_code;
}
