/* Findings of checks as annotations of GitHub Actions, as JUnit's XML and as SARIF. */
#include "runtime/view/check/report.h"

#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/markup_text.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

bool check_format_is_document(enum check_format format)
{
    return format != CHECK_FORMAT_TEXT && format != CHECK_FORMAT_JSON;
}

/* The path of the finding's file, relative to the current folder where it lies below it. */
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

/* `weights: holds 3 NaN of 12 (4 times)`, unescaped. */
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

/* Adds what `write` makes of the finding's message. */
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

/* A line for each check that had nothing to look at. */
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

/* A case of its own for the checks that had nothing to look at. */
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

/* A reference to a file: bytes that URIs do not allow are percent-encoded. */
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

/* ---- all of them ---- */

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
