/* A constraint of a query on a column of `events`, tried before SQLite sees the row. */
#include "runtime/view/sql/tables/test.h"

#include <math.h>

/* Integers below are exact as real numbers. */
#define EXACT_LIMIT (INT64_C(1) << 53)

bool sql_test_is_possible(unsigned char operator_)
{
    switch (operator_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_NE:
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
        return true;
    default:
        return false;
    }
}

void sql_test_init(struct sql_test *test,
                   enum event_column column,
                   unsigned char operator_,
                   sqlite3_value *value,
                   struct buffer *texts)
{
    *test = (struct sql_test){.column = column, .operator_ = operator_};
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        test->type = COLUMN_INTEGER;
        test->integer = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        test->type = COLUMN_REAL;
        test->real = sqlite3_value_double(value);
        if (fabs(test->real) < (double)EXACT_LIMIT && floor(test->real) == test->real) {
            test->type = COLUMN_INTEGER;
            test->integer = (int64_t)test->real;
        }
        break;
    case SQLITE_TEXT:
        test->type = COLUMN_TEXT;
        test->text_start = texts->size;
        buffer_add(texts, slice_of((const char *)sqlite3_value_text(value)));
        test->text_size = texts->size - test->text_start;
        /* One with a NUL in it, or that memory did not do for. */
        test->is_idle =
            texts->has_failed || (size_t)sqlite3_value_bytes(value) != test->text_size;
        break;
    default:
        /* What is compared with NULL is never true. */
        test->is_never = sqlite3_value_type(value) == SQLITE_NULL &&
                         operator_ != SQLITE_INDEX_CONSTRAINT_ISNULL &&
                         operator_ != SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
        test->is_idle = !test->is_never;
    }
}

static bool order_fails(unsigned char operator_, int order)
{
    switch (operator_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return order != 0;
    case SQLITE_INDEX_CONSTRAINT_NE:
        return order == 0;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return order <= 0;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return order < 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return order >= 0;
    default:
        return order > 0;
    }
}

static bool is_exact(enum column_type type, int64_t integer)
{
    return type == COLUMN_REAL || (integer > -EXACT_LIMIT && integer < EXACT_LIMIT);
}

static bool number_fails(const struct sql_test *test, const struct column_value *value)
{
    double left;
    double right;

    if (value->type == COLUMN_INTEGER && test->type == COLUMN_INTEGER) {
        return order_fails(test->operator_, value->integer < test->integer
                                                ? -1
                                                : value->integer > test->integer);
    }
    if (!is_exact(value->type, value->integer) ||
        !is_exact(test->type, test->integer)) {
        return false;
    }
    left = value->type == COLUMN_REAL ? value->real : (double)value->integer;
    right = test->type == COLUMN_REAL ? test->real : (double)test->integer;
    return order_fails(test->operator_, left < right ? -1 : left > right);
}

bool sql_test_fails(const struct sql_test *test,
                    const struct column_value *value,
                    const struct buffer *texts)
{
    bool is_null =
        value->is_empty || (value->type == COLUMN_REAL && isnan(value->real));

    if (test->operator_ == SQLITE_INDEX_CONSTRAINT_ISNULL) {
        return !is_null;
    }
    if (test->is_never) {
        return true;
    }
    if (is_null || test->operator_ == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) {
        return is_null;
    }
    if (test->is_idle || (value->type == COLUMN_TEXT) != (test->type == COLUMN_TEXT)) {
        return false;
    }
    if (value->type != COLUMN_TEXT) {
        return number_fails(test, value);
    }
    return test->operator_ == SQLITE_INDEX_CONSTRAINT_EQ &&
           !slice_equal(value->text, slice_part(buffer_slice(texts), test->text_start,
                                                test->text_start + test->text_size));
}
