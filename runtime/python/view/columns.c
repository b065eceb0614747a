/* Columns of events in memory, filled row by row without Python. */
#include "runtime/python/view/columns.h"

#include <math.h>

static enum loaded_form loaded_form_of(enum event_column column)
{
    if (event_columns[column].form == COLUMN_FORM_HASH) {
        return LOADED_HASHES;
    }
    switch (column_form_type(event_columns[column].form)) {
    case COLUMN_INTEGER:
        return LOADED_INTEGERS;
    case COLUMN_REAL:
        return LOADED_REALS;
    default:
        return LOADED_CODES;
    }
}

size_t loaded_form_size(enum loaded_form form)
{
    return form == LOADED_CODES ? sizeof(int32_t) : sizeof(int64_t);
}

void loaded_column_init(struct loaded_column *loaded, enum event_column column)
{
    *loaded = (struct loaded_column){.column = column, .form = loaded_form_of(column)};
    text_codes_init(&loaded->texts);
}

void loaded_column_release(struct loaded_column *loaded)
{
    text_codes_release(&loaded->texts);
}

/* A number beyond 2^63 comes as a real one. */
static int64_t integer_of(const struct column_value *value)
{
    if (value->is_empty) {
        return -1;
    }
    return value->type == COLUMN_REAL ? INT64_MAX : value->integer;
}

static double real_of(const struct column_value *value)
{
    if (value->is_empty || value->type == COLUMN_TEXT) {
        return NAN;
    }
    return value->type == COLUMN_INTEGER ? (double)value->integer : value->real;
}

static bool
set_code(struct loaded_column *loaded, int32_t *code, const struct column_value *value)
{
    if (value->is_empty || value->type != COLUMN_TEXT) {
        *code = -1;
        return true;
    }
    return text_codes_find(&loaded->texts, value->text, code);
}

bool loaded_column_set(struct loaded_column *loaded,
                       size_t row,
                       const struct log_event_view *event,
                       const struct open_call *call,
                       struct slice trace,
                       struct buffer *scratch)
{
    struct column_value value;

    if (loaded->form == LOADED_HASHES) {
        ((uint64_t *)loaded->items)[row] = event->has_hash ? event->hash : 0;
        return true;
    }
    event_column_get(loaded->column, event, call, trace, scratch, &value);
    switch (loaded->form) {
    case LOADED_INTEGERS:
        ((int64_t *)loaded->items)[row] = integer_of(&value);
        break;
    case LOADED_REALS:
        ((double *)loaded->items)[row] = real_of(&value);
        break;
    default:
        return set_code(loaded, (int32_t *)loaded->items + row, &value) &&
               !scratch->has_failed;
    }
    return loaded->codes == NULL ||
           (set_code(loaded, loaded->codes + row, &value) && !scratch->has_failed);
}
