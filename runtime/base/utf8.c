#include "runtime/base/utf8.h"

static inline bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t utf8_read(struct slice text, size_t offset, uint32_t *code)
{
    const unsigned char *bytes;
    size_t left;

    if (offset >= text.size) {
        return 0;
    }
    bytes = (const unsigned char *)text.bytes + offset;
    left = text.size - offset;
    if (bytes[0] < 0x80) {
        *code = bytes[0];
        return 1;
    }
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || left < 2 || !is_continuation(bytes[1])) {
        return 0;
    }
    if (bytes[0] < 0xE0) {
        *code = (uint32_t)(bytes[0] & 0x1F) << 6 | (uint32_t)(bytes[1] & 0x3F);
        return 2;
    }
    if (left < 3 || !is_continuation(bytes[2])) {
        return 0;
    }
    if (bytes[0] < 0xF0) {
        uint32_t value = (uint32_t)(bytes[0] & 0x0F) << 12 |
                         (uint32_t)(bytes[1] & 0x3F) << 6 | (uint32_t)(bytes[2] & 0x3F);

        if (value < 0x800 || (value >= 0xD800 && value <= 0xDFFF)) {
            return 0;
        }
        *code = value;
        return 3;
    }
    if (left < 4 || !is_continuation(bytes[3])) {
        return 0;
    }
    uint32_t value = (uint32_t)(bytes[0] & 0x07) << 18 |
                     (uint32_t)(bytes[1] & 0x3F) << 12 |
                     (uint32_t)(bytes[2] & 0x3F) << 6 | (uint32_t)(bytes[3] & 0x3F);

    if (value < 0x10000 || value > 0x10FFFF) {
        return 0;
    }
    *code = value;
    return 4;
}

size_t utf8_find_invalid(struct slice text)
{
    size_t offset = 0;

    while (offset < text.size) {
        uint64_t eight;
        uint32_t code;
        size_t size;

        while (text.size - offset >= sizeof eight) {
            memcpy(&eight, text.bytes + offset, sizeof eight);
            if (eight & UINT64_C(0x8080808080808080)) {
                break;
            }
            offset += sizeof eight;
        }
        while (offset < text.size && (unsigned char)text.bytes[offset] < 0x80) {
            offset++;
        }
        while (offset < text.size && (unsigned char)text.bytes[offset] >= 0x80) {
            size = utf8_read(text, offset, &code);
            if (size == 0) {
                return offset;
            }
            offset += size;
        }
    }
    return text.size;
}

size_t utf8_count(struct slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        count += !is_continuation((unsigned char)text.bytes[i]);
    }
    return count;
}

bool utf8_is_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) {
        return false;
    }
    return code != 0x061C && code != 0x200E && code != 0x200F &&
           !(code >= 0x2028 && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);
}

size_t utf8_cut(struct slice text, size_t limit)
{
    if (text.size <= limit) {
        return text.size;
    }
    while (limit > 0 && is_continuation((unsigned char)text.bytes[limit])) {
        limit--;
    }
    return limit;
}
