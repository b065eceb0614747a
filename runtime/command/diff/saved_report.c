/* What `monitorch diff` says of two folders of saved tensors. */
#include "runtime/command/diff/saved_report.h"

#include "runtime/base/file/output.h"
#include "runtime/base/memory.h"
#include "runtime/command/diff/text.h"
#include "runtime/view/words/paint.h"

void diff_saved_report_init(struct diff_saved_report *report,
                            const struct diff_command_options *options)
{
    *report = (struct diff_saved_report){.options = options};
}

void diff_saved_report_release(struct diff_saved_report *report)
{
    memory_free(report->rows);
    buffer_release(&report->texts);
    buffer_release(&report->first);
    buffer_release(&report->json);
    buffer_release(&report->unread);
}

void diff_saved_add_name(struct buffer *text, const struct saved_entry *entry)
{
    struct buffer name = BUFFER_INIT;

    saved_key_add_full_name(&entry->tensor.key, &name);
    buffer_add_printable(text, buffer_slice(&name));
    text->has_failed = text->has_failed || name.has_failed;
    buffer_release(&name);
    buffer_add(text, SLICE(".call"));
    buffer_add_number(text, entry->tensor.key.call);
}

/* ---- what diff_saved tells ---- */

static bool add_row(struct diff_saved_report *report,
                    const struct diff_saved_finding *finding)
{
    unsigned side = finding->entries[1] != NULL ? 1 : 0;
    const struct saved_entry *entry = finding->entries[side];
    struct diff_saved_row row = {.start = report->texts.size};
    void *items = report->rows;

    row.list = finding->entries[1 - side] != NULL ? DIFF_SAVED_DIFFERENT
               : side == 0                        ? DIFF_SAVED_A_ALONE
                                                  : DIFF_SAVED_B_ALONE;
    if (!memory_grow(&items, &report->row_capacity, report->row_count + 1,
                     sizeof *report->rows)) {
        return false;
    }
    report->rows = items;
    if (entry->tensor.file.size > 0 && entry->tensor.line > 0) {
        buffer_add_printable(&report->texts, entry->tensor.file);
        buffer_add_byte(&report->texts, ':');
        buffer_add_number(&report->texts, entry->tensor.line);
    }
    row.place_size = report->texts.size - row.start;
    diff_saved_add_name(&report->texts, entry);
    row.name_size = report->texts.size - row.start - row.place_size;
    if (row.list == DIFF_SAVED_DIFFERENT) {
        buffer_add_printable(&report->texts, finding->words);
        row.words_size = finding->words.size;
    }
    report->rows[report->row_count++] = row;
    report->list_counts[row.list]++;
    return !report->texts.has_failed;
}

static void note_unread(struct diff_saved_report *report,
                        const struct diff_saved_finding *finding)
{
    buffer_add_printable(&report->unread, finding->words);
    buffer_add(&report->unread, SLICE(" ("));
    diff_saved_add_name(&report->unread, finding->entries[1]);
    buffer_add(&report->unread, SLICE(")\n"));
}

bool diff_saved_report_found(void *context, const struct diff_saved_finding *finding)
{
    struct diff_saved_report *report = context;
    bool is_json = report->options->is_json;

    if (finding->is_first) {
        diff_saved_first_add(&report->first, finding, report->has_color && !is_json);
    }
    if (finding->cause == DIFF_CAUSE_NONE) {
        note_unread(report, finding);
    }
    if (is_json) {
        diff_saved_json_add(&report->json, finding, buffer_slice(&report->first));
        report->has_failed = report->has_failed || report->json.has_failed ||
                             !output_flush(&report->json, OUTPUT_PIECE);
    } else if (finding->cause != DIFF_CAUSE_NONE && !add_row(report, finding)) {
        report->has_failed = true;
    }
    report->has_failed = report->has_failed || report->first.has_failed ||
                         report->json.has_failed || report->unread.has_failed;
    return !report->has_failed;
}

/* ---- lists ---- */

static void add_row_text(const struct diff_saved_report *report,
                         const struct diff_saved_row *row,
                         const size_t widths[2],
                         struct buffer *text)
{
    struct slice texts = buffer_slice(&report->texts);
    size_t name = row->start + row->place_size;
    size_t words = name + row->name_size;

    buffer_add(text, SLICE("    "));
    if (widths[0] > 0) {
        diff_text_add_column(text, slice_part(texts, row->start, name), widths[0]);
    }
    diff_text_add_column(text, slice_part(texts, name, words), widths[1]);
    text_add_shortened(text, slice_part(texts, words, words + row->words_size),
                       DIFF_WORDS_LIMIT);
    text_end_line(text);
}

static void add_list(const struct diff_saved_report *report,
                     enum diff_saved_list list,
                     const char *heading,
                     struct buffer *text)
{
    size_t limit = report->options->is_all ? SIZE_MAX : DIFF_LIST_LIMIT;
    size_t widths[2] = {0, 0};
    size_t count = report->list_counts[list];
    size_t shown = count < limit ? count : limit;

    if (count == 0) {
        return;
    }
    for (size_t i = 0, seen = 0; seen < shown; i++) {
        const struct diff_saved_row *row = &report->rows[i];

        if (row->list == list) {
            widths[0] = row->place_size > widths[0] ? row->place_size : widths[0];
            widths[1] = row->name_size > widths[1] ? row->name_size : widths[1];
            seen++;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        widths[i] = widths[i] < DIFF_COLUMN_MOST ? widths[i] : DIFF_COLUMN_MOST;
    }
    buffer_add(text, slice_of(heading));
    for (size_t i = 0, seen = 0; seen < shown; i++) {
        if (report->rows[i].list == list) {
            add_row_text(report, &report->rows[i], widths, text);
            seen++;
        }
    }
    if (shown < count) {
        diff_text_add_more(text, count - shown, "tensor");
    }
}

/* ---- the verdict ---- */

static void add_alone(struct buffer *text, const struct diff_saved_result *result)
{
    diff_text_add_alone(text, result->only);
    diff_text_add_part(text, result->unread, SLICE("could not be read"));
    diff_text_add_part(text, result->ignored, SLICE("ignored"));
}

static void add_verdict(const struct diff_saved_report *report,
                        const struct diff_saved_result *result,
                        struct buffer *text)
{
    uint64_t both = result->equal + result->different + result->unread;

    if (both + result->ignored == 0 && result->only[0] > 0 && result->only[1] > 0) {
        buffer_add(text, SLICE("different: no saved tensor has the same name in both "
                               "(--map OLD=NEW matches renamed ones)"));
    } else if (both == 0 && diff_saved_is_equal(result)) {
        buffer_add(text, SLICE("nothing to compare"));
    } else if (diff_saved_is_equal(result)) {
        diff_text_add_equal(text, result->equal, "tensor", result->close,
                            report->options->tolerance.is_exact);
    } else {
        buffer_add(text, result->only[0] + result->only[1] > 0
                             ? SLICE("different: ")
                             : SLICE("some files could not be read: "));
        diff_text_add_count(text, result->equal, "tensor");
        buffer_add(text, result->equal == 1 ? SLICE(" is equal") : SLICE(" are equal"));
    }
    add_alone(text, result);
    buffer_add_byte(text, '\n');
}

static void add_counts(const struct diff_saved_result *result, struct buffer *text)
{
    buffer_add(text, SLICE("\n"
                           "  "));
    diff_text_add_both(text, result->equal + result->different + result->unread,
                       "tensor", result->equal, result->close);
    buffer_add(text, SLICE(", "));
    diff_text_add_grouped(text, result->different);
    buffer_add(text, SLICE(" different"));
    add_alone(text, result);
    buffer_add_byte(text, '\n');
}

void diff_saved_report_add(const struct diff_saved_report *report,
                           const struct diff_saved_result *result,
                           struct buffer *text)
{
    struct slice first = buffer_slice(&report->first);

    if (first.size == 0) {
        add_verdict(report, result, text);
    } else if (report->options->is_quiet) {
        buffer_add(text, slice_part(first, 0, slice_find(first, SLICE("\n"), 0) + 1));
    } else {
        buffer_add(text, first);
        add_counts(result, text);
    }
    if (report->options->is_quiet) {
        return;
    }
    add_list(
        report, DIFF_SAVED_DIFFERENT,
        result->is_ordered
            ? "  different, in the order in which they were saved:\n"
            : "  different, by name (the files do not hold the order of saving):\n",
        text);
    add_list(report, DIFF_SAVED_A_ALONE, "  only in A:\n", text);
    add_list(report, DIFF_SAVED_B_ALONE, "  only in B:\n", text);
}
