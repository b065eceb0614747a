/* Page file: the page of one trace, as several commands write it. */
#ifndef MONITORCH_COMMAND_SHARED_PAGE_FILE_H
#define MONITORCH_COMMAND_SHARED_PAGE_FILE_H

#include "runtime/base/error.h"
#include "runtime/view/page/trace.h"

#include <stdbool.h>

/* Whether the name has a suffix of a page: `.html`, `.htm`. */
bool page_file_is_page(const char *path);

/* Writes the page. `options.ask.strip` and `.memory_limit` are set here. `output`: "-" is
 * standard output. `name` is the command's; the page shows the command line that makes it again.
 * Returns false if page_trace_add fails or the file cannot be written; `error` says why, except
 * if standard output could not be written. */
bool page_file_write(const struct page_trace_options *options,
                     const char *name,
                     const char *output,
                     struct page_trace_result *result,
                     struct error *error);

/* Reports that the page does not have all single values of the trace. */
void page_file_report(const char *trace, const struct page_trace_result *result);

#endif
