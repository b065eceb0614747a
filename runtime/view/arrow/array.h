/* A table's rows as an Arrow array, and its columns as a schema: structs that own what they point to. */
#ifndef MONITORCH_VIEW_ARROW_ARRAY_H
#define MONITORCH_VIEW_ARROW_ARRAY_H

#include "runtime/view/arrow/column.h"
#include "runtime/view/arrow/interface.h"

/* Gives the rows away, and empties the table. On failure, where memory ran out, the array is empty and
 * the rows are gone. */
bool arrow_array_move(struct ArrowArray *array, struct arrow_table *table);

bool arrow_schema_make(struct ArrowSchema *schema, const struct arrow_table *table);

#endif
