/* Numbers as text: short ones for people, exact ones for programs. An exact text costs 620
 * instructions (measured). With libc, which must print 15 to 17 digits and read them back, it
 * costs 7,400, and `show --json` of tensors would need 3.3 times as many instructions. */
#ifndef MONITORCH_VIEW_WORDS_NUMBER_TEXT_H
#define MONITORCH_VIEW_WORDS_NUMBER_TEXT_H

#include "runtime/base/buffer.h"

#include <stdint.h>

void integer_add(struct buffer *text, int64_t number);

/* Adds all numbers: `2, 3, 64`. */
void integers_add(struct buffer *text, const int64_t *numbers, uint32_t count);

/* Adds a shape, strides or indices: `[2, 3, 64]`. Of more than 12 numbers, only the first six
 * and the last six are shown. */
void dimensions_add(struct buffer *text, const int64_t *numbers, uint32_t count);

/* Adds the number rounded to `digits` (1 to 9) significant digits. Below a million, all digits
 * before the point are kept. Trailing zeros are dropped: 0.01234, 12346, 1.5e6, -Inf, NaN. */
void real_add_short(struct buffer *text, double number, int digits);

/* Adds a text that reads back as the same number, nearly always with the fewest digits: 0.1,
 * 3.0, 1e-05. NaN and infinities are written as "NaN", "Infinity" and "-Infinity" with quotes,
 * because JSON has no numbers for them. */
void real_add_exact(struct buffer *text, double number);

#endif
