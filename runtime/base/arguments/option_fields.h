/* Fields for the switches and words in a table of options. Include it inside the struct of a
 * command's options, after a definition of TABLE_OF_OPTIONS (option_rules.h). */
#define OPTION(name, letter, text, argument, help)
#define GROUP(name, heading)
#define SWITCH(name, letter, text, field, help)         bool field;
#define WORD(name, letter, text, argument, field, help) const char *field;
#include TABLE_OF_OPTIONS
#undef OPTION
#undef GROUP
#undef SWITCH
#undef WORD
