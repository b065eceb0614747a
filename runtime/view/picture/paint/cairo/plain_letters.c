/* Text in ASCII's letters alone. */
#include "runtime/view/picture/paint/cairo/plain_letters.h"

#include "runtime/base/utf8.h"

#include <stdint.h>
#include <string.h>

/* What is nearest to a letter that is none of ASCII's. */
static const char *plain_letter(uint32_t code)
{
    switch (code) {
    case 0xA0:
        return " ";
    case 0xD7: /* × */
        return "x";
    case 0xB7: /* · */
    case 0x2022:
        return ".";
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2212: /* − */
        return "-";
    case 0x2018:
    case 0x2019:
        return "'";
    case 0x201C:
    case 0x201D:
        return "\"";
    case 0x2026:
        return "...";
    case 0x2190:
        return "<-";
    case 0x2192:
        return "->";
    case 0x221E:
        return "inf";
    case 0xB1:
        return "+-";
    case 0xB5:
    case 0x3BC:
        return "u";
    case 0x3C3:
        return "std";
    default:
        return "?";
    }
}

void plain_letters_write(char plain[PLAIN_LETTERS_SIZE], struct slice shown)
{
    size_t size = 0;

    for (size_t i = 0; i < shown.size;) {
        uint32_t code = 0;
        size_t step = utf8_read(shown, i, &code);
        char ascii[2] = {(char)code, '\0'};
        const char *letter = code < 0x80 ? ascii : plain_letter(code);
        size_t letter_size = strlen(letter);

        if (step == 0 || size + letter_size >= PLAIN_LETTERS_SIZE) {
            break;
        }
        memcpy(plain + size, letter, letter_size);
        size += letter_size;
        i += step;
    }
    plain[size] = '\0';
}
