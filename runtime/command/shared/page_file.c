/* Page file: the page of one trace. */
#include "runtime/command/shared/page_file.h"

#include "instrument/output/strip.h"
#include "runtime/base/file/file.h"
#include "runtime/base/file/output.h"
#include "runtime/command/subcommand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool page_file_is_page(const char *path)
{
    struct slice name = slice_of(path);

    return slice_ends(name, SLICE(".html")) || slice_ends(name, SLICE(".htm")) ||
           slice_ends(name, SLICE(".HTML"));
}

/* Returns half of the machine's memory. 0: not known, no limit. */
static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);

    return pages <= 0 || size <= 0 ? 0 : (uint64_t)pages * (uint64_t)size / 2;
}

static bool write_bytes(const char *output, struct slice bytes, struct error *error)
{
    if (strcmp(output, "-") != 0) {
        return file_write(output, bytes, FILE_MODE_DEFAULT, error);
    }
    if (output_print(bytes)) {
        return true;
    }
    *error = ERROR_INIT; /* already reported */
    return false;
}

bool page_file_write(const struct page_trace_options *options,
                     const char *name,
                     const char *output,
                     struct page_trace_result *result,
                     struct error *error)
{
    struct page_trace_options page = *options;
    struct buffer command = BUFFER_INIT;
    struct buffer bytes = BUFFER_INIT;
    bool is_done;

    buffer_add_format(&command, "monitorch %s %s -o %s", name, options->path, output);
    buffer_add_byte(&command, '\0');
    page.command = command.has_failed ? NULL : command.bytes;
    page.ask.strip = strip_source;
    if (page.ask.memory_limit == 0) {
        page.ask.memory_limit = half_of_memory();
    }
    is_done = page_trace_add(&page, &bytes, result, error) &&
              write_bytes(output, buffer_slice(&bytes), error);
    buffer_release(&bytes);
    buffer_release(&command);
    return is_done;
}

void page_file_report(const char *trace, const struct page_trace_result *result)
{
    char line[240];

    if (result->page.kept_count >= result->page.event_count) {
        return;
    }
    snprintf(
        line, sizeof line,
        "%llu of %llu values are in the page one by one, all of them in its strips "
        "and counts; a larger --max-size has more",
        (unsigned long long)result->page.kept_count,
        (unsigned long long)result->page.event_count);
    print_message(trace, line);
}
