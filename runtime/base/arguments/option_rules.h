/* Options of a command, generated from its table: `enum option_id` and `rules`, for arguments.h and
 * help.h. The file that reads the command line includes this once:
 *
 *     #define TABLE_OF_OPTIONS "runtime/command/show/options.def"
 *     #include "runtime/base/arguments/option_rules.h"
 *
 * A row is one of: OPTION(NAME, letter, text, argument, help), as in struct argument_rule;
 * SWITCH(NAME, letter, text, field, help), an option that sets a bool;
 * WORD(NAME, letter, text, argument, field, help), one whose argument is stored unchanged;
 * GROUP(NAME, heading), the heading of the following rows in --help.
 *
 * The fields of switches and words are declared by option_fields.h and set by option_cases.h. */
#include "runtime/base/arguments/arguments.h"
#include "runtime/base/arguments/help.h"

enum option_id {
#define OPTION(name, letter, text, argument, help)      OPTION_##name,
#define GROUP(name, heading)                            OPTION_GROUP_##name,
#define SWITCH(name, letter, text, field, help)         OPTION_##name,
#define WORD(name, letter, text, argument, field, help) OPTION_##name,
#include TABLE_OF_OPTIONS
#undef OPTION
#undef GROUP
#undef SWITCH
#undef WORD
    OPTION_COUNT
};

static const struct argument_rule rules[OPTION_COUNT] = {
#define OPTION(name, letter, text, argument, help)      {letter, text, argument, help},
#define GROUP(name, heading)                            {0, heading, NULL, NULL},
#define SWITCH(name, letter, text, field, help)         {letter, text, NULL, help},
#define WORD(name, letter, text, argument, field, help) {letter, text, argument, help},
#include TABLE_OF_OPTIONS
#undef OPTION
#undef GROUP
#undef SWITCH
#undef WORD
};
