/* How a scan of `events` is planned: which constraints are tried by it, and what it costs. */
#include "runtime/view/sql/tables/plan.h"

#include "runtime/view/sql/tables/test.h"

/* What a seek costs, in rows that are read. */
#define SEEK_COST 30.0

/* What is told of the constraints that are handed over, in their order: a letter for the column,
 * one for the operator. People see it in `explain query plan`. */
struct plan_text {
    char bytes[2 * SQL_PLAN_TEST_MAX + 1];
    int count;
};

#define FIRST_LETTER '0'

static const struct {
    unsigned char operator_;
    char letter;
} operators[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '='},     {SQLITE_INDEX_CONSTRAINT_GT, '>'},
    {SQLITE_INDEX_CONSTRAINT_LT, '<'},     {SQLITE_INDEX_CONSTRAINT_GE, ')'},
    {SQLITE_INDEX_CONSTRAINT_LE, '('},     {SQLITE_INDEX_CONSTRAINT_NE, '!'},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, '0'}, {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, '1'},
};

static void plan_add(struct plan_text *text, int column, unsigned char operator_)
{
    size_t i = 0;

    while (operators[i].operator_ != operator_) {
        i++;
    }
    text->bytes[2 * text->count] = (char)(FIRST_LETTER + column);
    text->bytes[2 * text->count + 1] = operators[i].letter;
    text->count++;
}

void sql_plan_read(const char *text, int index, int *column, unsigned char *operator_)
{
    size_t i = 0;

    while (operators[i].letter != text[2 * index + 1]) {
        i++;
    }
    *column = text[2 * index] - FIRST_LETTER;
    *operator_ = operators[i].operator_;
}

static double guess_events(const struct sql_traces *traces)
{
    double count = 0;

    for (size_t i = 0; i < traces->count; i++) {
        count += (double)sql_trace_guess_events(&traces->traces[i]);
    }
    return count;
}

/* What the constraints that are handed over make of a scan. */
struct estimate {
    double cost;
    double rows;
    bool has_seq;   /* = */
    bool has_trace; /* = */
};

static void estimate_add(struct estimate *estimate,
                         int column,
                         unsigned char operator_,
                         size_t traces)
{
    bool is_equality = operator_ == SQLITE_INDEX_CONSTRAINT_EQ;
    bool is_range = operator_ == SQLITE_INDEX_CONSTRAINT_GT ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_GE ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_LT ||
                    operator_ == SQLITE_INDEX_CONSTRAINT_LE;

    if (column == EVENT_COLUMN_seq && is_equality) {
        estimate->has_seq = true;
    } else if (column == EVENT_COLUMN_seq && is_range) {
        estimate->cost /= 2;
        estimate->rows /= 2;
    } else if (column == EVENT_COLUMN_trace && is_equality) {
        estimate->has_trace = true;
        estimate->cost /= (double)traces;
        estimate->rows /= (double)traces;
    } else if (column == EVENT_COLUMN_call && is_equality) {
        estimate->cost /= 20;
        estimate->rows /= 50;
    } else {
        estimate->rows /= is_equality ? 8 : 2;
    }
}

/* Of a list, each value is a scan of its own: that pays for seq alone. */
static bool is_wanted(sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

    if (constraint->usable == 0 || constraint->iColumn < 0 ||
        !sql_test_is_possible(constraint->op)) {
        return false;
    }
    return constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
           constraint->iColumn == EVENT_COLUMN_seq || sql_is_equality(info, i);
}

static bool is_module_used(const sqlite3_index_info *info)
{
    return (info->colUsed & (UINT64_C(1) << EVENT_COLUMN_module)) != 0;
}

static bool is_natural_order(const sqlite3_index_info *info, size_t trace_count)
{
    return trace_count == 1 && info->nOrderBy == 1 &&
           info->aOrderBy[0].iColumn == EVENT_COLUMN_seq && info->aOrderBy[0].desc == 0;
}

int sql_plan_events(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct sql_virtual_table *table = (struct sql_virtual_table *)base;
    size_t trace_count = table->traces->count;
    struct plan_text text = {.count = 0};
    struct estimate estimate;

    estimate.rows = guess_events(table->traces);
    estimate.cost = estimate.rows;
    estimate.has_seq = estimate.has_trace = false;
    for (int i = 0; i < info->nConstraint && text.count < SQL_PLAN_TEST_MAX; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

        if (is_wanted(info, i)) {
            plan_add(&text, constraint->iColumn, constraint->op);
            info->aConstraintUsage[i].argvIndex = text.count;
            estimate_add(&estimate, constraint->iColumn, constraint->op, trace_count);
        }
    }
    if (estimate.has_seq) {
        estimate.rows = 1;
        estimate.cost = SEEK_COST;
        if (trace_count == 1 || estimate.has_trace) {
            info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        }
    }
    info->idxStr = sqlite3_mprintf("%s", text.bytes);
    info->needToFreeIdxStr = 1;
    info->idxNum = (is_module_used(info) ? SQL_PLAN_MODULE : 0) |
                   (estimate.has_seq ? SQL_PLAN_ONE_ROW : 0);
    info->orderByConsumed = is_natural_order(info, trace_count);
    info->estimatedCost = estimate.cost < 1 ? 1 : estimate.cost;
    info->estimatedRows = estimate.rows < 1 ? 1 : (sqlite3_int64)estimate.rows;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
