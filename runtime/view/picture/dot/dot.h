/* A graph as DOT text, for people who have graphviz: boxes within boxes, labels of HTML's kind. */
#ifndef MONITORCH_VIEW_PICTURE_DOT_DOT_H
#define MONITORCH_VIEW_PICTURE_DOT_DOT_H

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/slice.h"
#include "runtime/view/flow/flow.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

/* The inside of a text between quotes, at most so many bytes of it. A backslash of ours begins an escape,
 * one in `word` is one. */
void dot_quoted_add(struct buffer *text, struct slice word, size_t limit);
/* A name or a value: with quotes where DOT needs them. */
void dot_word_add(struct buffer *text, struct slice word);

/* Appends a whole `digraph`. Of the options the title and the verdict count. Equal graphs give
 * equal texts. Fails where memory runs out. */
bool dot_text_add(const struct flow_graph *graph,
                  const struct picture_options *options,
                  struct buffer *text,
                  struct error *error);

#endif
