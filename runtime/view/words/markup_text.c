/* Text for markup. */
#include "runtime/view/words/markup_text.h"

#include "runtime/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether XML 1.0 allows the character. */
static bool is_xml_character(uint32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' ||
           (code >= 0x20 && code <= 0xD7FF) || (code >= 0xE000 && code <= 0xFFFD) ||
           code >= 0x10000;
}

void markup_text_add(struct buffer *text, struct slice added)
{
    size_t step;

    for (size_t i = 0; i < added.size; i += step) {
        uint32_t code = 0;

        step = utf8_read(added, i, &code);
        if (step == 0 || !is_xml_character(code)) {
            step = step == 0 ? 1 : step;
            buffer_add(text, SLICE("\xEF\xBF\xBD"));
        } else if (code == '&') {
            buffer_add(text, SLICE("&amp;"));
        } else if (code == '<') {
            buffer_add(text, SLICE("&lt;"));
        } else if (code == '>') {
            buffer_add(text, SLICE("&gt;"));
        } else if (code == '"') {
            buffer_add(text, SLICE("&quot;"));
        } else if (code == '\r') {
            buffer_add(text, SLICE("&#13;"));
        } else {
            buffer_add(text, slice_part(added, i, i + step));
        }
    }
}
