/* What checks found, in words and as JSON. */
#include "runtime/view/check/check.h"

#include "runtime/view/words/json_fields.h"
#include "runtime/view/words/paint.h"
#include "runtime/view/words/verdict_text.h"

#include <stdio.h>

#define NAME_LIMIT     100
#define PATH_LIMIT     4096
#define ROW_PATH_LIMIT 40
#define ROWS_MAX       50

/* The group that is reported first: the first in the trace, before those that are found at its end.
 * NULL: nothing was found. */
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

/* What was kept of the first offender: its value in the first line, then its calls. */
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

/* ---- what could not be checked ---- */

static const char *why_nothing(enum check_kind kind)
{
    switch (kind) {
    case CHECK_DTYPE:
        return "no float tensor";
    case CHECK_SHAPE:
        return "no array has that name";
    case CHECK_ZEROS:
        return "no measured array of floats";
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
