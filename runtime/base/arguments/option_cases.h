/* Cases for the switches and words in a table of options. Include it inside the switch over an
 * option's number; `options` points to the struct, `argument` is the option's argument. */
#define OPTION(name, letter, text, argument, help)
#define GROUP(name, heading)
#define SWITCH(name, letter, text, field, help)                                        \
    case OPTION_##name:                                                                \
        options->field = true;                                                         \
        return true;
#define WORD(name, letter, text, hint, field, help)                                    \
    case OPTION_##name:                                                                \
        options->field = argument;                                                     \
        return true;
#include TABLE_OF_OPTIONS
#undef OPTION
#undef GROUP
#undef SWITCH
#undef WORD
