/* Arguments of the options for a picture's style. */
#include "runtime/command/shared/style_arguments.h"

#include "runtime/view/picture/render.h"

#include <stddef.h>

bool argument_read_theme(const struct argument_rule *rule,
                         const char *argument,
                         enum picture_theme *theme,
                         struct error *error)
{
    static const char *const names[] = {"light", "dark", NULL};
    int index;

    if (!argument_read_choice(rule, argument, names, "light or dark", &index, error)) {
        return false;
    }
    *theme = index == 0 ? PICTURE_LIGHT : PICTURE_DARK;
    return true;
}

_Static_assert(RENDER_DPI_LEAST == 10 && RENDER_DPI_MOST == 2400,
               "the message names the limits");

bool argument_read_dpi(const struct argument_rule *rule,
                       const char *argument,
                       double *dpi,
                       struct error *error)
{
    return argument_read_number(rule, argument, RENDER_DPI_LEAST, RENDER_DPI_MOST,
                                "dots for each inch, 10 to 2400", dpi, error);
}
