/* A graph as DOT text for graphviz: groups are clusters, labels are HTML-like. */
#ifndef MONITORCH_VIEW_PICTURE_DOT_DOT_H
#define MONITORCH_VIEW_PICTURE_DOT_DOT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

/* Adds the inside of a quoted text, at most `limit` bytes. Backslashes of `word` are escaped. */
void dot_quoted_add(struct buffer *text, struct slice word, size_t limit);
/* Adds a name or a value, quoted if DOT requires it. */
void dot_word_add(struct buffer *text, struct slice word);

/* Appends a whole `digraph`. Only the title and the verdict of the options are used. Equal
 * graphs give equal texts. Returns false if memory runs out. */
bool dot_text_add(const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct buffer *text,
                  struct error *error);

#endif
