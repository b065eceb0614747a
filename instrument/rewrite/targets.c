/* Names that headers bind: targets of `for` and `with`, captures of patterns, aliases. */
#include "instrument/rewrite/compound.h"
#include "instrument/rewrite/rewrite.h"

/* Adds one written name to the draft, and its argument. */
static uint32_t draft_name(struct rewriter *rewriter,
                           struct slice *arguments,
                           uint32_t count,
                           uint32_t identifier)
{
    struct slice name = text_of(rewriter, identifier);

    if (rewriter->names.of_node[identifier] != NAME_NONE &&
        !slice_equal(name, SLICE("_")) &&
        draft_write(&rewriter->draft, name, SITE_SOURCE_VALUE)) {
        arguments[count++] = name;
    }
    return count;
}

uint32_t draft_targets(struct rewriter *rewriter,
                       struct slice *arguments,
                       uint32_t count,
                       uint32_t first,
                       uint32_t end)
{
    for (uint32_t i = first; i < end;) {
        enum kind kind = (enum kind)node_at(rewriter, i)->kind;
        uint32_t base = i;

        if (kind != KIND_ATTRIBUTE && kind != KIND_SUBSCRIPT) {
            count = kind == KIND_IDENTIFIER ? draft_name(rewriter, arguments, count, i)
                                            : count;
            i++;
            continue;
        }
        while (node_at(rewriter, base)->kind == KIND_SUBSCRIPT) {
            base++;
        }
        if (reads_is_dotted(&rewriter->syntax, base)) {
            if (draft_write(&rewriter->draft, text_of(rewriter, base),
                            SITE_SOURCE_PEEK)) {
                arguments[count++] =
                    text_of(rewriter, reads_root(&rewriter->syntax, base));
            }
        } else if (node_at(rewriter, base)->kind == KIND_IDENTIFIER) {
            count = draft_name(rewriter, arguments, count, base);
        }
        i = node_at(rewriter, i)->next;
    }
    return count;
}

uint32_t draft_captures(struct rewriter *rewriter,
                        struct slice *arguments,
                        uint32_t count,
                        uint32_t first,
                        uint32_t end)
{
    for (uint32_t i = scope_next_capture(&rewriter->syntax, first, end); i < end;
         i = scope_next_capture(&rewriter->syntax, i + 1, end)) {
        count = draft_name(rewriter, arguments, count, i);
    }
    return count;
}

void bind_range(struct rewriter *rewriter, uint32_t first, uint32_t end, uint32_t site)
{
    struct scope *scope = &rewriter->place->scope;

    for (uint32_t i = first; i < end; i++) {
        if (rewriter->names.is_binding[i]) {
            scope_bind(scope, rewriter->names.of_node[i], site);
        }
    }
}

void bind_aliases(struct rewriter *rewriter,
                  uint32_t first,
                  uint32_t end,
                  uint32_t site)
{
    for (uint32_t i = first; i < end; i++) {
        if (node_at(rewriter, i)->kind == KIND_AS_PATTERN_TARGET) {
            bind_range(rewriter, i, node_at(rewriter, i)->next, site);
        }
    }
}
