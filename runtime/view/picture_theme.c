/* The colours of the two themes. */
#include "runtime/view/picture_sheet.h"

static const struct picture_palette light = {
    .background = 0xFFFFFFFF,
    .card = 0xFFFFFFFF,
    .border = 0xC4CBD4FF,
    .text = 0x1B2430FF,
    .faint = 0x66717FFF,
    .code = 0x2F3B4AFF,
    .code_fill = 0xF1F4F7FF,
    .group_tint = 0x4A617EFF,
    .group_border = 0xB4BECAFF,
    .cell_border = 0xDCE1E7FF,
    .positive = 0xF0A04BFF,
    .negative = 0x6FA8DCFF,
    .alarm = 0xA8071AFF,
    .on_alarm = 0xFFFFFFFF,
    .value = 0x8D99A8FF,
    .source = 0x5B6B7EFF,
    .argument = 0x0B72A8FF,
    .result = 0x00785AFF,
    .in_place = 0xC4500AFF,
    .alias = 0x9B3D86FF,
    .guess = 0xB07A00FF,
    .guess_card = 0xFFF8E1FF,
    .on_guess = 0xFFFFFFFF,
    .edge = 0x55616FFF,
    .edge_same = 0x8B97A5FF,
    .edge_carried = 0x00856AFF,
};

static const struct picture_palette dark = {
    .background = 0x14181DFF,
    .card = 0x1E242BFF,
    .border = 0x434D59FF,
    .text = 0xE8ECF1FF,
    .faint = 0x98A4B2FF,
    .code = 0xD3DBE4FF,
    .code_fill = 0x2A323BFF,
    .group_tint = 0xA9C1E0FF,
    .group_border = 0x4B5764FF,
    .cell_border = 0x39424DFF,
    .positive = 0xA65E14FF,
    .negative = 0x2A659CFF,
    .alarm = 0xFF7A85FF,
    .on_alarm = 0x2A0004FF,
    .value = 0x6F7C8BFF,
    .source = 0x9AA9BAFF,
    .argument = 0x56B4E9FF,
    .result = 0x35C79DFF,
    .in_place = 0xFF9A4DFF,
    .alias = 0xE08BCBFF,
    .guess = 0xF0C040FF,
    .guess_card = 0x2C2814FF,
    .on_guess = 0x241C00FF,
    .edge = 0xA9B5C2FF,
    .edge_same = 0x7B8896FF,
    .edge_carried = 0x35C79DFF,
};

const struct picture_palette *picture_palette(enum picture_theme theme)
{
    return theme == PICTURE_DARK ? &dark : &light;
}
