/* Numbers as text: short ones for people, exact ones for programs. Measured in instructions, an exact one
 * costs 620, and 7,400 if libc prints 15 to 17 digits and reads them again: `show --json` of tensors would
 * take 3.3 times as many. */
#ifndef MONITORCH_VIEW_WORDS_NUMBER_TEXT_H
#define MONITORCH_VIEW_WORDS_NUMBER_TEXT_H

#include "runtime/base/buffer.h"

#include <stdint.h>

void integer_add(struct buffer *text, int64_t number);

/* `2, 3, 64`, all of them. */
void integers_add(struct buffer *text, const int64_t *numbers, uint32_t count);

/* A shape, strides or indices: `[2, 3, 64]`; of more than 12 the first and the last six. */
void dimensions_add(struct buffer *text, const int64_t *numbers, uint32_t count);

/* Rounded to `digits` (1 to 9) significant digits, but no digit before the point is dropped
 * below a million; trailing zeros are: 0.01234, 12346, 1.5e6, -Inf, NaN. */
void real_add_short(struct buffer *text, double number, int digits);

/* The number again when read, in nearly always the fewest digits: 0.1, 3.0, 1e-05. NaN and
 * infinities are written as "NaN", "Infinity" and "-Infinity", with the quotes: JSON has no
 * numbers for them. */
void real_add_exact(struct buffer *text, double number);

#endif
