/* Reports of findings: as text, JSON, annotations of GitHub Actions, JUnit XML and SARIF. */
#include "runtime/view/check/report.h"

#include "runtime/view/check/check.h"
#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/markup_text.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/verdict_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- text and JSON ---- */

#define NAME_LIMIT     100
#define PATH_LIMIT     4096
#define ROW_PATH_LIMIT 40
#define ROWS_MAX       50

/* The group that is reported first: the earliest in the trace; findings made at its end are
 * later. NULL: there are no findings. */
static const struct check_group *first_group(const struct check *check)
{
    return check->group_count > 0 ? &check->groups[0] : NULL;
}

static struct slice path_of(const struct check *check, const struct check_group *group)
{
    return log_reader_module(check->reader, group->module)->table.path;
}

static void add_head(const struct check *check,
                     const struct check_group *group,
                     struct slice path,
                     size_t limit,
                     struct buffer *text)
{
    text_add_path(text, path, limit);
    buffer_add_byte(text, ':');
    buffer_add_number(text, group->line);
    buffer_add(text, SLICE(": "));
    text_add_shortened(text, group->name, NAME_LIMIT);
    buffer_add(text, SLICE(": "));
    paint_start(text, check->has_color, PAINT_ALARM);
    buffer_add_printable(text, group->words);
    paint_end(text, check->has_color);
}

/* Adds the kept text of the first offender: its value, which is the first line, then its calls. */
static void add_kept(const struct check *check, struct buffer *text)
{
    struct slice kept = buffer_slice(&check->first);
    size_t end = slice_find(kept, SLICE("\n"), 0);
    struct slice calls = slice_part(kept, end < kept.size ? end + 1 : end, kept.size);

    verdict_lines_add(text, "is", slice_part(kept, 0, end), check->has_color);
    verdict_lines_add(text, "in", calls, check->has_color);
}

static void add_first(const struct check *check,
                      const struct check_group *group,
                      struct buffer *text)
{
    add_head(check, group, path_of(check, group), PATH_LIMIT, text);
    buffer_add(text, SLICE("\n\n"));
    verdict_source_add(text, group->line,
                       source_lines_get(check->sources, group->module, group->line),
                       check->has_color);
    if (group->kind < CHECK_ZEROS) {
        add_kept(check, text);
    }
    verdict_label_add(text, "event", check->has_color);
    buffer_add_format(text, "#%llu in call #%lu", (unsigned long long)group->event,
                      (unsigned long)group->call);
    if (group->visit > 0) {
        buffer_add_format(text, ", iteration %lu (from 0)",
                          (unsigned long)group->visit);
    }
    buffer_add_byte(text, '\n');
    if (group->kind >= CHECK_ZEROS) {
        verdict_label_add(text, "in", check->has_color);
        text_add_shortened(text, group->function, NAME_LIMIT);
        buffer_add_byte(text, '\n');
    }
}

static void add_rows(const struct check *check, struct buffer *text)
{
    uint32_t shown = check->group_count < ROWS_MAX ? check->group_count : ROWS_MAX;

    if (check->group_count < 2 && check->offender_count < 2) {
        return;
    }
    buffer_add(text, SLICE("\n"
                           "in all:\n"));
    for (uint32_t i = 0; i < shown; i++) {
        const struct check_group *group = &check->groups[i];

        buffer_add(text, SLICE("  "));
        add_head(check, group, slice_last_part(path_of(check, group), '/'),
                 ROW_PATH_LIMIT, text);
        if (group->count > 1) {
            buffer_add_format(text, "  (%llu times)", (unsigned long long)group->count);
        }
        buffer_add_byte(text, '\n');
    }
    if (shown < check->group_count) {
        buffer_add_format(text, "  and %lu more places (--json lists all)\n",
                          (unsigned long)(check->group_count - shown));
    }
}

static void add_ok(const struct check *check, struct buffer *text)
{
    bool is_first = true;

    buffer_add(text, log_reader_damage_count(check->reader) > 0
                         ? SLICE("ok up to the damage: ")
                         : SLICE("ok: "));
    buffer_add_number(text, check->matched_count);
    buffer_add(text, check->matched_count == 1 ? SLICE(" event") : SLICE(" events"));
    if (check->matched_count < check->event_count) {
        buffer_add_format(text, " of %llu", (unsigned long long)check->event_count);
    }
    for (int i = 0; i < CHECK_KIND_COUNT; i++) {
        if (check->rules->is_wanted[i]) {
            buffer_add(text, is_first ? SLICE(": ") : SLICE(", "));
            buffer_add(text, slice_of(check_summaries[i]));
            is_first = false;
        }
    }
    if (check->meant_count > 0) {
        buffer_add_format(text,
                          " except those that lines write by name (%llu event%s; "
                          "--no-inf lists them)",
                          (unsigned long long)check->meant_count,
                          check->meant_count == 1 ? "" : "s");
    }
    buffer_add_byte(text, '\n');
}

void check_text_add(const struct check *check, struct buffer *text)
{
    const struct check_group *first = first_group(check);

    if (first == NULL) {
        add_ok(check, text);
        return;
    }
    add_first(check, first, text);
    add_rows(check, text);
}

/* ---- checks that had nothing to check ---- */

static const char *why_nothing(enum check_kind kind)
{
    switch (kind) {
    case CHECK_DTYPE:
        return "no float tensor";
    case CHECK_SHAPE:
        return "no array has that name";
    case CHECK_ZEROS:
        return "no measured array of floats";
    case CHECK_GRAD_NORM:
    case CHECK_DEAD_GRADIENTS:
    case CHECK_UNUSED_PARAMETERS:
        return "no gradients were recorded; record with --backward";
    default:
        return "no measured number or array";
    }
}

static void add_unchecked(struct buffer *text,
                          const char *option,
                          struct slice argument,
                          const char *reason)
{
    buffer_add(text, SLICE("nothing to check: --"));
    buffer_add(text, slice_of(option));
    if (argument.size > 0) {
        buffer_add_byte(text, ' ');
        buffer_add_printable(text, argument);
    }
    buffer_add(text, SLICE(": "));
    buffer_add(text, slice_of(reason));
    buffer_add_byte(text, '\n');
}

uint32_t check_add_unchecked(const struct check *check, struct buffer *text)
{
    uint32_t count = 0;

    if (check->matched_count == 0) {
        buffer_add(text, check->event_count == 0
                             ? SLICE("nothing to check: the trace has no events\n")
                             : SLICE("nothing to check: no event matches\n"));
        return 1;
    }
    for (int i = 0; i < CHECK_KIND_COUNT; i++) {
        if (i != CHECK_SHAPE && check->rules->is_wanted[i] && check->checked[i] == 0) {
            add_unchecked(text, check_options[i], SLICE(""),
                          why_nothing((enum check_kind)i));
            count++;
        }
    }
    for (uint32_t i = 0; i < check->rules->shape_count; i++) {
        if (check->shape_counts[i] == 0) {
            add_unchecked(text, check_options[CHECK_SHAPE],
                          check->rules->shapes[i].name, why_nothing(CHECK_SHAPE));
            count++;
        }
    }
    return count;
}

/* ---- JSON ---- */

static void add_finding(const struct check *check,
                        const struct check_group *group,
                        struct slice trace,
                        struct buffer *text)
{
    buffer_add(text, SLICE("{\"record\":\"finding\""));
    json_text_add(text, SLICE("trace"), trace);
    json_text_add(text, SLICE("check"), slice_of(check_options[group->kind]));
    json_text_add(text, SLICE("file"), path_of(check, group));
    json_number_add(text, SLICE("line"), group->line);
    json_text_add(text, SLICE("name"), group->name);
    json_text_add(text, SLICE("function"), group->function);
    json_text_add(text, SLICE("words"), group->words);
    json_number_add(text, SLICE("count"), group->count);
    json_number_add(text, SLICE("seq"), group->event);
    json_number_add(text, SLICE("call"), group->call);
    json_number_add(text, SLICE("iteration"), group->visit);
    buffer_add(text, SLICE("}\n"));
}

void check_json_add(const struct check *check, struct slice trace, struct buffer *text)
{
    struct buffer unchecked = BUFFER_INIT;
    uint32_t nothing = check_add_unchecked(check, &unchecked);

    for (uint32_t i = 0; i < check->group_count; i++) {
        add_finding(check, &check->groups[i], trace, text);
    }
    buffer_add(text, SLICE("{\"record\":\"check\""));
    json_text_add(text, SLICE("trace"), trace);
    json_text_add(text, SLICE("verdict"),
                  check->group_count > 0 ? SLICE("failed")
                  : nothing > 0          ? SLICE("nothing to check")
                                         : SLICE("ok"));
    json_number_add(text, SLICE("events"), check->event_count);
    json_number_add(text, SLICE("matched"), check->matched_count);
    json_number_add(text, SLICE("failed"), check->offender_count);
    json_number_add(text, SLICE("unchecked"), nothing);
    buffer_add(text, SLICE("}\n"));
    text->has_failed |= unchecked.has_failed;
    buffer_release(&unchecked);
}

#define PATH_SIZE 4096

bool check_format_is_document(enum check_format format)
{
    return format != CHECK_FORMAT_TEXT && format != CHECK_FORMAT_JSON;
}

/* The path of the finding's file, relative to the current folder if it is inside it. */
static struct slice find_path(const struct check *check,
                              const struct check_group *group,
                              char folder[PATH_SIZE])
{
    struct slice path = log_reader_module(check->reader, group->module)->table.path;
    size_t size;

    if (getcwd(folder, PATH_SIZE) == NULL) {
        return path;
    }
    size = strlen(folder);
    if (size > 1 && path.size > size + 1 && memcmp(path.bytes, folder, size) == 0 &&
        path.bytes[size] == '/') {
        return slice_part(path, size + 1, path.size);
    }
    return path;
}

/* Adds `weights: holds 3 NaN of 12 (4 times)`, unescaped. */
static void add_message(const struct check_group *group, struct buffer *text)
{
    if (group->name.size > 0) {
        buffer_add(text, group->name);
        buffer_add(text, SLICE(": "));
    }
    buffer_add(text, group->words);
    if (group->count > 1) {
        buffer_add_format(text, " (%llu times)", (unsigned long long)group->count);
    }
}

/* Adds the finding's message with the escaping of `write`. */
static void add_message_with(void (*write)(struct buffer *text, struct slice message),
                             const struct check_group *group,
                             struct buffer *text)
{
    struct buffer message = BUFFER_INIT;

    add_message(group, &message);
    write(text, buffer_slice(&message));
    text->has_failed |= message.has_failed;
    buffer_release(&message);
}

/* ---- annotations of GitHub Actions ---- */

static void add_encoded(struct buffer *text, struct slice added, const char *special)
{
    for (size_t i = 0; i < added.size; i++) {
        unsigned char byte = (unsigned char)added.bytes[i];

        if (byte < 0x20 || byte == 0x7f || strchr(special, byte) != NULL) {
            buffer_add_format(text, "%%%02X", byte);
        } else {
            buffer_add_byte(text, (char)byte);
        }
    }
}

static void add_command_message(struct buffer *text, struct slice message)
{
    add_encoded(text, message, "%");
}

static void add_annotation(const struct check *check,
                           const struct check_group *group,
                           struct buffer *text)
{
    char folder[PATH_SIZE];

    buffer_add(text, SLICE("::error file="));
    add_encoded(text, find_path(check, group, folder), "%:,");
    buffer_add_format(text, ",line=%lu", (unsigned long)group->line);
    buffer_add_format(text,
                      ",title=monitorch check --%s::", check_options[group->kind]);
    add_message_with(add_command_message, group, text);
    buffer_add_byte(text, '\n');
}

/* Adds a line for each check that had nothing to check. */
static void
add_unchecked_lines(const struct check *check, struct slice trace, struct buffer *text)
{
    struct buffer lines = BUFFER_INIT;
    struct slice rest;

    check_add_unchecked(check, &lines);
    rest = buffer_slice(&lines);
    while (rest.size > 0) {
        size_t end = slice_find(rest, SLICE("\n"), 0);

        buffer_add(text, SLICE("::error title=monitorch check::"));
        add_encoded(text, trace, "%");
        buffer_add(text, SLICE(": "));
        add_encoded(text, slice_part(rest, 0, end), "%");
        buffer_add_byte(text, '\n');
        rest = slice_part(rest, end < rest.size ? end + 1 : end, rest.size);
    }
    text->has_failed |= lines.has_failed;
    buffer_release(&lines);
}

static void
add_annotations(const struct check *check, struct slice trace, struct buffer *text)
{
    for (uint32_t i = 0; i < check->group_count; i++) {
        add_annotation(check, &check->groups[i], text);
    }
    add_unchecked_lines(check, trace, text);
}

/* ---- JUnit ---- */

static void add_failure_line(const struct check *check,
                             const struct check_group *group,
                             struct buffer *text)
{
    char folder[PATH_SIZE];

    markup_text_add(text, find_path(check, group, folder));
    buffer_add_format(text, ":%lu: ", (unsigned long)group->line);
    add_message_with(markup_text_add, group, text);
    buffer_add_byte(text, '\n');
}

static const struct check_group *
find_first(const struct check *check, enum check_kind kind, uint32_t *count)
{
    const struct check_group *first = NULL;

    *count = 0;
    for (uint32_t i = 0; i < check->group_count; i++) {
        if (check->groups[i].kind == kind) {
            first = first == NULL ? &check->groups[i] : first;
            (*count)++;
        }
    }
    return first;
}

static void add_case(const struct check *check,
                     enum check_kind kind,
                     struct slice trace,
                     struct buffer *text)
{
    uint32_t count;
    const struct check_group *first = find_first(check, kind, &count);

    buffer_add(text, SLICE("    <testcase classname=\""));
    markup_text_add(text, trace);
    buffer_add_format(text, "\" name=\"--%s\"", check_options[kind]);
    if (first == NULL) {
        buffer_add(text, SLICE("/>\n"));
        return;
    }
    buffer_add(text, SLICE(">\n      <failure message=\""));
    add_message_with(markup_text_add, first, text);
    buffer_add(text, SLICE("\">"));
    for (uint32_t i = 0; i < check->group_count; i++) {
        if (check->groups[i].kind == kind) {
            add_failure_line(check, &check->groups[i], text);
        }
    }
    buffer_add(text, SLICE("</failure>\n    </testcase>\n"));
}

/* Adds a separate test case for the checks that had nothing to check. */
static void
add_unchecked_case(struct slice trace, struct slice lines, struct buffer *text)
{
    buffer_add(text, SLICE("    <testcase classname=\""));
    markup_text_add(text, trace);
    buffer_add(text,
               SLICE("\" name=\"something to check\">\n      <failure message=\""));
    markup_text_add(text, slice_part(lines, 0, slice_find(lines, SLICE("\n"), 0)));
    buffer_add(text, SLICE("\">"));
    markup_text_add(text, lines);
    buffer_add(text, SLICE("</failure>\n    </testcase>\n"));
}

static void
add_suite(const struct check *check, struct slice trace, struct buffer *text)
{
    struct buffer lines = BUFFER_INIT;
    uint32_t unchecked = check_add_unchecked(check, &lines);
    unsigned tests = unchecked > 0;
    unsigned failures = unchecked > 0;
    uint32_t count;

    for (int kind = 0; kind < CHECK_KIND_COUNT; kind++) {
        tests += check->rules->is_wanted[kind];
        failures += find_first(check, (enum check_kind)kind, &count) != NULL;
    }
    buffer_add(text, SLICE("  <testsuite name=\""));
    markup_text_add(text, trace);
    buffer_add_format(text,
                      "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\">\n",
                      tests, failures);
    for (int kind = 0; kind < CHECK_KIND_COUNT; kind++) {
        if (check->rules->is_wanted[kind]) {
            add_case(check, (enum check_kind)kind, trace, text);
        }
    }
    if (unchecked > 0) {
        add_unchecked_case(trace, buffer_slice(&lines), text);
    }
    buffer_add(text, SLICE("  </testsuite>\n"));
    text->has_failed |= lines.has_failed;
    buffer_release(&lines);
}

/* ---- SARIF ---- */

/* Adds a URI of a file: bytes that URIs do not allow are percent-encoded. */
static void add_uri(struct buffer *text, struct slice path)
{
    if (path.size > 0 && path.bytes[0] == '/') {
        buffer_add(text, SLICE("file://"));
    }
    for (size_t i = 0; i < path.size; i++) {
        unsigned char byte = (unsigned char)path.bytes[i];
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') ||
                        (byte != 0 && strchr("/._-~", byte) != NULL);

        if (is_plain) {
            buffer_add_byte(text, (char)byte);
        } else {
            buffer_add_format(text, "%%%02X", byte);
        }
    }
}

static void add_result(const struct check *check,
                       const struct check_group *group,
                       struct slice trace,
                       struct buffer *text)
{
    char folder[PATH_SIZE];

    buffer_add_format(text, "{\"ruleId\":\"%s\",\"ruleIndex\":%d,\"level\":\"error\",",
                      check_options[group->kind], (int)group->kind);
    buffer_add(text, SLICE("\"message\":{\"text\":\""));
    add_message_with(buffer_add_json, group, text);
    buffer_add(text,
               SLICE("\"},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":"
                     "{\"uri\":\""));
    add_uri(text, find_path(check, group, folder));
    buffer_add_format(text, "\"},\"region\":{\"startLine\":%lu,\"endLine\":%lu}}}],",
                      (unsigned long)group->line, (unsigned long)group->line);
    buffer_add(text, SLICE("\"properties\":{\"count\":"));
    buffer_add_number(text, group->count);
    json_text_add(text, SLICE("trace"), trace);
    json_text_add(text, SLICE("function"), group->function);
    buffer_add(text, SLICE("}}"));
}

static void add_results(struct check_report *report,
                        const struct check *check,
                        struct slice trace,
                        struct buffer *text)
{
    for (uint32_t i = 0; i < check->group_count; i++) {
        buffer_add(text, report->result_count++ == 0 ? SLICE("\n") : SLICE(",\n"));
        add_result(check, &check->groups[i], trace, text);
    }
}

static void begin_sarif(const char *version, struct buffer *text)
{
    buffer_add_format(text,
                      "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
                      "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":"
                      "\"monitorch\",\"version\":\"%s\",\"rules\":[",
                      version);
    for (int kind = 0; kind < CHECK_KIND_COUNT; kind++) {
        buffer_add_format(
            text, "%s{\"id\":\"%s\",\"shortDescription\":{\"text\":\"%s\"}}",
            kind == 0 ? "" : ",", check_options[kind], check_summaries[kind]);
    }
    buffer_add(text, SLICE("]}},\"results\":["));
}

/* ---- all formats ---- */

void check_report_begin(const struct check_report *report, struct buffer *text)
{
    assert(check_format_is_document(report->format));
    if (report->format == CHECK_FORMAT_JUNIT) {
        buffer_add(text, SLICE("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<testsuites name=\"monitorch check\">\n"));
    } else if (report->format == CHECK_FORMAT_SARIF) {
        begin_sarif(report->version, text);
    }
}

void check_report_add(struct check_report *report,
                      const struct check *check,
                      struct slice trace,
                      struct buffer *text)
{
    switch (report->format) {
    case CHECK_FORMAT_GITHUB:
        add_annotations(check, trace, text);
        break;
    case CHECK_FORMAT_JUNIT:
        add_suite(check, trace, text);
        break;
    default:
        assert(report->format == CHECK_FORMAT_SARIF);
        add_results(report, check, trace, text);
    }
}

void check_report_end(const struct check_report *report, struct buffer *text)
{
    if (report->format == CHECK_FORMAT_JUNIT) {
        buffer_add(text, SLICE("</testsuites>\n"));
    } else if (report->format == CHECK_FORMAT_SARIF) {
        buffer_add(text, SLICE("\n]}]}\n"));
    }
}
