/* Places that the parser could not read, or that are nested too deep: what stands around them is left
 * as it is. */
#include "instrument/rewrite/rewrite.h"

uint32_t find_damage(const struct rewriter *rewriter, uint32_t node)
{
    uint32_t end = node_at(rewriter, node)->next;

    for (uint32_t i = node + 1; i < end;) {
        if (node_at(rewriter, i)->kind == KIND_ERROR) {
            return i;
        }
        if (!node_at(rewriter, i)->has_error ||
            node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION) {
            i = node_at(rewriter, i)->next;
        } else {
            i++;
        }
    }
    return 0;
}

size_t count_functions(const struct rewriter *rewriter, uint32_t node)
{
    size_t count = 0;

    for (uint32_t i = node; i < node_at(rewriter, node)->next; i++) {
        count += node_at(rewriter, i)->kind == KIND_FUNCTION_DEFINITION;
    }
    return count;
}

void skip_deep(struct rewriter *rewriter,
               uint32_t node,
               uint32_t deep,
               struct slice name)
{
    size_t count = count_functions(rewriter, node);

    rewriter->result->function_count += count;
    rewriter->result->skipped_count += count;
    note_add(rewriter, NOTE_WARNING, deep,
             "%s%.*s%s stays as it is: CPython could not compile its nesting with "
             "inserted calls",
             name.size > 0 ? "function '" : "the statement", (int)name.size, name.bytes,
             name.size > 0 ? "'" : "");
}

void skip_damaged(struct rewriter *rewriter,
                  uint32_t node,
                  uint32_t damage,
                  struct slice name)
{
    size_t count = count_functions(rewriter, node);

    rewriter->result->function_count += count;
    rewriter->result->skipped_count += count;
    if (name.size > 0) {
        note_add(rewriter, NOTE_WARNING, damage,
                 "function '%.*s' stays as it is: the parser cannot read this place",
                 (int)name.size, name.bytes);
    } else {
        note_add(rewriter, NOTE_WARNING, damage,
                 "the parser cannot read this place: it stays as it is");
    }
}
