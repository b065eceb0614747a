/* A Python source, read so far that comments can be put behind its lines. */
#ifndef MONITORCH_COMMAND_EXPORT_SOURCE_H
#define MONITORCH_COMMAND_EXPORT_SOURCE_H

#include "instrument/text/encoding.h"
#include "runtime/base/arena.h"
#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/view/list/annotation.h"

#include <stdbool.h>

struct export_source {
    struct arena arena;
    struct decoded decoded;
    bool is_decoded; /* else the text is the source's bytes */
    struct source_places places;
};

/* To be released in any case. The source has to live as long. Fails where memory runs out. */
bool export_source_read(struct export_source *source,
                        struct slice bytes,
                        struct error *error);
void export_source_release(struct export_source *source);

/* Appends a text that was made from the source's as it would stand in the source's encoding. */
bool export_source_encode(const struct export_source *source,
                          struct slice text,
                          struct buffer *bytes,
                          struct error *error);

#endif
