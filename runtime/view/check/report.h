/* Reports of findings in the formats of CI systems, one document for all traces of a command:
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
    CHECK_FORMAT_TEXT,   /* written by check_text_add */
    CHECK_FORMAT_JSON,   /* written by check_json_add */
    CHECK_FORMAT_GITHUB, /* annotations of GitHub Actions: one line per finding */
    CHECK_FORMAT_JUNIT,  /* XML: one suite per trace, one case per check */
    CHECK_FORMAT_SARIF,  /* SARIF 2.1.0: one result per finding */
};

/* Whether the format is one document for all traces. */
bool check_format_is_document(enum check_format format);

struct check_report {
    enum check_format format;
    const char *version; /* of this program; borrowed */
    size_t result_count; /* results written so far */
};

void check_report_begin(const struct check_report *report, struct buffer *text);
/* Paths inside the current folder are written relative to it, as CI systems expect. */
void check_report_add(struct check_report *report,
                      const struct check *check,
                      struct slice trace,
                      struct buffer *text);
void check_report_end(const struct check_report *report, struct buffer *text);

#endif
