/* What the two files behind tree_log.h share: tree_log.c has the calls, tree_event.c the events. */
#ifndef MONITORCH_VIEW_LIST_TREE_LOG_PARTS_H
#define MONITORCH_VIEW_LIST_TREE_LOG_PARTS_H

#include "runtime/view/list/tree_log.h"

#define TREE_LINE_WIDTH 4   /* of the number in front */
#define TREE_NAME_LIMIT 100 /* bytes that are shown */

/* Blanks in front of what stands in a call of that depth. */
void tree_indent_add(struct buffer *text, uint32_t depth);

#endif
