/* Functions that queries may use beside SQLite's own. */
#include "runtime/view/sql/functions.h"

#include "runtime/base/memory.h"

#include <math.h>
#include <regex.h>
#include <stddef.h>

#define PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

static void regex_free(void *pattern)
{
    regfree(pattern);
    memory_free(pattern);
}

static regex_t *regex_new(sqlite3_context *context, const char *text)
{
    regex_t *pattern = memory_allocate(1, sizeof *pattern);
    char message[200] = "regexp: ";
    int code;

    if (pattern == NULL) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    code = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, pattern, message + 8, sizeof message - 8);
        sqlite3_result_error(context, message, -1);
        memory_free(pattern);
        return NULL;
    }
    return pattern;
}

/* `text regexp pattern` is regexp(pattern, text). A pattern is compiled once for a query. */
static void regexp(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const char *pattern_text = (const char *)sqlite3_value_text(arguments[0]);
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    regex_t *pattern = sqlite3_get_auxdata(context, 0);
    int is_match;

    (void)count;
    if (pattern_text == NULL || text == NULL) {
        return;
    }
    if (pattern != NULL) {
        sqlite3_result_int(context, regexec(pattern, text, 0, NULL, 0) == 0);
        return;
    }
    pattern = regex_new(context, pattern_text);
    if (pattern != NULL) {
        is_match = regexec(pattern, text, 0, NULL, 0) == 0;
        sqlite3_result_int(context, is_match);
        sqlite3_set_auxdata(context, 0, pattern, regex_free);
    }
}

static double log_10(double x)
{
    return log10(x);
}

struct math_function {
    const char *name;
    double (*compute)(double);
};

/* NULL where there is no number, and where the result is none: as SQLite's own do. */
static void math(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const struct math_function *function = sqlite3_user_data(context);
    int type = sqlite3_value_numeric_type(arguments[0]);

    (void)count;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        sqlite3_result_double(context,
                              function->compute(sqlite3_value_double(arguments[0])));
    }
}

static void power(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    if (sqlite3_value_numeric_type(arguments[0]) != SQLITE_NULL &&
        sqlite3_value_numeric_type(arguments[1]) != SQLITE_NULL) {
        sqlite3_result_double(context, pow(sqlite3_value_double(arguments[0]),
                                           sqlite3_value_double(arguments[1])));
    }
}

static int register_math(sqlite3 *database)
{
    /* Not constant: SQLite takes a plain pointer, which only math() reads. */
    static struct math_function functions[] = {
        {"sqrt", sqrt},    {"exp", exp},   {"ln", log},      {"log", log_10},
        {"log10", log_10}, {"log2", log2}, {"floor", floor}, {"ceil", ceil},
    };
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions;
         i++) {
        code = sqlite3_create_function(database, functions[i].name, 1, PURE,
                                       &functions[i], math, NULL, NULL);
    }
    code = code == SQLITE_OK ? sqlite3_create_function(database, "pow", 2, PURE, NULL,
                                                       power, NULL, NULL)
                             : code;
    return code;
}

int sql_functions_register(sqlite3 *database)
{
    int code =
        sqlite3_create_function(database, "regexp", 2, PURE, NULL, regexp, NULL, NULL);

    if (code == SQLITE_OK && !sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS")) {
        code = register_math(database);
    }
    return code;
}
