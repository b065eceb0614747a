/* The file of a page of one trace, as several commands write it. */
#ifndef MONITORCH_COMMAND_SHARED_PAGE_FILE_H
#define MONITORCH_COMMAND_SHARED_PAGE_FILE_H

#include "runtime/base/error.h"
#include "runtime/view/page/trace.h"

#include <stdbool.h>

/* Whether the name is that of a page: `.html`, `.htm`. */
bool page_file_is_page(const char *path);

/* Writes it; `options.ask.strip` and `.memory_limit` are set here. `output`: "-" is standard output.
 * `name` is the command's, for the line in the page that makes it again. Fails as page_trace_add does,
 * or if the file cannot be written; without a message if standard output could not be. */
bool page_file_write(const struct page_trace_options *options,
                     const char *name,
                     const char *output,
                     struct page_trace_result *result,
                     struct error *error);

/* Says that the page has fewer values one by one than the trace. */
void page_file_report(const char *trace, const struct page_trace_result *result);

#endif
