/* The texts of the kinds of values and of changes. */
#include "runtime/trace/kinds.h"

#include <assert.h>

const char *value_kind_text(enum value_kind kind)
{
    static const char *const texts[] = {
#define VALUE_KIND(name, text) text,
#include "runtime/trace/value_kinds.def"
#undef VALUE_KIND
    };

    assert(kind < VALUE_KIND_COUNT);
    return texts[kind];
}

const char *change_text(enum change change)
{
    static const char *const texts[] = {
#define CHANGE(name, text) text,
#include "runtime/trace/changes.def"
#undef CHANGE
    };

    assert(change < CHANGE_COUNT);
    return texts[change];
}
