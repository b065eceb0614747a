/* The kinds of values and of changes in traces. */
#ifndef MONITORCH_TRACE_KINDS_H
#define MONITORCH_TRACE_KINDS_H

enum value_kind {
#define VALUE_KIND(name, text) VALUE_##name,
#include "runtime/trace/value_kinds.def"
#undef VALUE_KIND
    VALUE_KIND_COUNT
};
enum change {
#define CHANGE(name, text) CHANGE_##name,
#include "runtime/trace/changes.def"
#undef CHANGE
    CHANGE_COUNT
};

const char *value_kind_text(enum value_kind kind);
const char *change_text(enum change change);

#endif
