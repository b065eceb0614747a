/* The fields that a table of options fills by itself, to be included inside the struct that holds what
 * a command line asks for, behind a definition of TABLE_OF_OPTIONS (option_rules.h). */
#define OPTION(name, letter, text, argument, help)
#define GROUP(name, heading)
#define SWITCH(name, letter, text, field, help)         bool field;
#define WORD(name, letter, text, argument, field, help) const char *field;
#include TABLE_OF_OPTIONS
#undef OPTION
#undef GROUP
#undef SWITCH
#undef WORD
