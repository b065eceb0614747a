/* Listings of the sites of a file, for people and as JSON. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_LISTING_H
#define MONITORCH_INSTRUMENT_COMMAND_LISTING_H

#include "instrument/instrument.h"
#include "runtime/base/buffer.h"
#include "runtime/site/site.h"

#include <stdbool.h>

/* Adds one line for each site, with aligned columns: `file:line:column kind function writes <-
 * reads key`. */
void listing_add_text(const struct site_table *table,
                      const char *path,
                      bool has_color,
                      struct buffer *text);

/* Adds one JSON object on one line: the table, and the notes as "notes". */
void listing_add_json(const struct site_table *table,
                      const char *path,
                      const struct note *notes,
                      size_t note_count,
                      struct buffer *text);

#endif
