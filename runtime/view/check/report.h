/* Findings of checks in the forms that CI systems read, for all traces of a command in one document:
 *
 *     struct check_report report = {.format = format, .version = version};
 *
 *     check_report_begin(&report, &text);
 *     … check_report_add(&report, &check, trace, &text) for each trace …
 *     check_report_end(&report, &text);
 */
#ifndef MONITORCH_VIEW_CHECK_REPORT_H
#define MONITORCH_VIEW_CHECK_REPORT_H

#include "runtime/view/check/check.h"

enum check_format {
    CHECK_FORMAT_TEXT,   /* check_text_add */
    CHECK_FORMAT_JSON,   /* check_json_add */
    CHECK_FORMAT_GITHUB, /* annotations of GitHub Actions: a line a finding */
    CHECK_FORMAT_JUNIT,  /* XML: a suite a trace, a case a check */
    CHECK_FORMAT_SARIF,  /* SARIF 2.1.0: a result a finding */
};

/* Whether the format is one document over all traces. */
bool check_format_is_document(enum check_format format);

struct check_report {
    enum check_format format;
    const char *version; /* of this program; borrowed */
    size_t result_count; /* written so far */
};

void check_report_begin(const struct check_report *report, struct buffer *text);
/* Paths below the current folder are written relative to it, as the systems want them. */
void check_report_add(struct check_report *report,
                      const struct check *check,
                      struct slice trace,
                      struct buffer *text);
void check_report_end(const struct check_report *report, struct buffer *text);

#endif
