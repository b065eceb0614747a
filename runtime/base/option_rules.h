/* A command's options out of its table: `enum option_id` and `rules`, for arguments.h. To be included
 * once, by what reads the command line:
 *
 *     #define TABLE_OF_OPTIONS "runtime/command/show_options.def"
 *     #include "runtime/base/option_rules.h"
 *
 * A row is OPTION(NAME, letter, text, argument), as in struct argument_rule. */
#include "runtime/base/arguments.h"

enum option_id {
#define OPTION(name, letter, text, argument) OPTION_##name,
#include TABLE_OF_OPTIONS
#undef OPTION
    OPTION_COUNT
};

static const struct argument_rule rules[OPTION_COUNT] = {
#define OPTION(name, letter, text, argument) {letter, text, argument},
#include TABLE_OF_OPTIONS
#undef OPTION
};
