/* Arguments of the options for a picture's style, whichever command draws it. */
#ifndef MONITORCH_COMMAND_SHARED_STYLE_ARGUMENTS_H
#define MONITORCH_COMMAND_SHARED_STYLE_ARGUMENTS_H

#include "runtime/base/arguments/arguments.h"
#include "runtime/base/error.h"
#include "runtime/view/picture/picture.h"

#include <stdbool.h>

/* They return false with the message for the user in `error`. */

/* Reads `light` or `dark`. */
bool argument_read_theme(const struct argument_rule *rule,
                         const char *argument,
                         enum picture_theme *theme,
                         struct error *error);

/* Reads dots per inch. */
bool argument_read_dpi(const struct argument_rule *rule,
                       const char *argument,
                       double *dpi,
                       struct error *error);

#endif
