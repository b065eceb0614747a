/* Annotated sources, written into a folder or to standard output. */
#ifndef MONITORCH_COMMAND_EXPORT_ANNOTATE_H
#define MONITORCH_COMMAND_EXPORT_ANNOTATE_H

#include "runtime/base/error.h"
#include "runtime/view/list/annotation.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes each file that something was seen of; `folder` is "-" for standard output. `count` is how
 * many were written, `missing` how many have no source in the traces. An error without a kind has
 * been told already. */
bool export_annotated(const struct annotation *annotation,
                      const char *folder,
                      size_t *count,
                      size_t *missing,
                      struct error *error);

#endif
