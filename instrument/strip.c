/* Recognising insertions. */
#include "instrument/strip.h"

#include "instrument/forms.h"
#include "instrument/lexer.h"
#include "runtime/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum open_kind {
    OPEN_PLAIN,    /* the original's, or inserted: its partner tells */
    OPEN_INSERTED, /* goes, and its partner too */
    OPEN_VALUE,    /* the same, and what follows a returned value */
};

struct open_bracket {
    size_t offset;
    enum open_kind kind;
};

struct range {
    size_t start;
    size_t end;
};

struct strip {
    struct slice text;
    struct forms forms;
    bool has_hook; /* otherwise only spy_save calls are looked for */
    struct range *ranges; /* owned */
    size_t range_count;
    size_t range_capacity;
    struct open_bracket *open; /* owned; a stack */
    size_t open_count;
    size_t open_capacity;
    bool has_failed;
};

static bool take(const struct strip *strip, size_t *at, struct slice expected)
{
    if (*at <= strip->text.size &&
        slice_starts(slice_part(strip->text, *at, strip->text.size), expected)) {
        *at += expected.size;
        return true;
    }
    return false;
}

static bool take_word(const struct strip *strip, size_t *at)
{
    size_t end = lexer_word_end(strip->text, *at);
    bool is_word = end > *at;

    *at = end;
    return is_word;
}

/* `_mt and _mt(3, a, b)` */
static bool take_record(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (!strip->has_hook || !take(strip, &here, strip->forms.hook) ||
        !take(strip, &here, SLICE(" and ")) || !take(strip, &here, strip->forms.hook) ||
        !take(strip, &here, SLICE("(")) || !take_word(strip, &here)) {
        return false;
    }
    while (take(strip, &here, SLICE(", "))) {
        if (!take_word(strip, &here)) {
            return false;
        }
    }
    if (!take(strip, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* `not (_mt and _mt(3, a, b))` */
static bool take_quiet(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (take(strip, &here, SLICE("not (")) && take_record(strip, &here) &&
        take(strip, &here, SLICE(")"))) {
        *at = here;
        return true;
    }
    return false;
}

static bool take_until_quote(const struct strip *strip, size_t *at)
{
    const char *from = strip->text.bytes + *at;
    const char *quote = *at < strip->text.size
                            ? memchr(from, '\'', strip->text.size - *at)
                            : NULL;

    if (quote == NULL) {
        return false;
    }
    *at += (size_t)(quote - from);
    return true;
}

/* `(globals(), 'table')` */
static bool take_table(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (take(strip, &here, SLICE(FORM_TABLE)) && take_until_quote(strip, &here) &&
        take(strip, &here, SLICE(FORM_TABLE_END))) {
        *at = here;
        return true;
    }
    return false;
}

/* `__import__('monitorch' or '…')._instrumented`, with or without a table. */
static bool take_import(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (take(strip, &here, SLICE(FORM_IMPORT)) && take_until_quote(strip, &here) &&
        take(strip, &here, SLICE(FORM_IMPORT_END))) {
        take_table(strip, &here);
        *at = here;
        return true;
    }
    return false;
}

/* `_mt_t = None` or `del _mt_t` */
static bool take_cleaning(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (!strip->has_hook) {
        return false;
    }
    if (take(strip, &here, SLICE("del "))) {
        if (take(strip, &here, strip->forms.temporary)) {
            *at = here;
            return true;
        }
        return false;
    }
    if (take(strip, &here, strip->forms.temporary) && take(strip, &here, SLICE(" = None"))) {
        *at = here;
        return true;
    }
    return false;
}

/* `spy_save("q", q, self)` where both names are one. */
static bool take_spy(const struct strip *strip, size_t *at)
{
    size_t here = *at;
    size_t first;
    size_t second;
    struct slice name;

    if (!take(strip, &here, SLICE("spy_save(\""))) {
        return false;
    }
    first = here;
    if (!take_word(strip, &here)) {
        return false;
    }
    name = slice_part(strip->text, first, here);
    if (!take(strip, &here, SLICE("\", "))) {
        return false;
    }
    second = here;
    if (!take_word(strip, &here) ||
        !slice_equal(name, slice_part(strip->text, second, here)) ||
        !take(strip, &here, SLICE(", ")) || !take_word(strip, &here) ||
        !take(strip, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* The statements that bring the hook or spy_save in, joined by `; `. */
static bool take_boot_statements(const struct strip *strip, size_t *at)
{
    size_t here = *at;
    bool is_taken = false;

    if (strip->has_hook &&
        (take(strip, &here, strip->forms.temporary) ||
         take(strip, &here, strip->forms.hook)) &&
        take(strip, &here, SLICE(" = "))) {
        if (take(strip, &here, strip->forms.temporary) ? take_table(strip, &here)
                                                       : take_import(strip, &here)) {
            *at = here;
            is_taken = true;
            if (take(strip, &here, SLICE("; ")) && take_cleaning(strip, &here)) {
                *at = here;
            }
        }
    }
    here = *at;
    if ((!is_taken || take(strip, &here, SLICE("; "))) &&
        take(strip, &here, SLICE(FORM_SPY_IMPORT))) {
        *at = here;
        is_taken = true;
    }
    return is_taken;
}

/* `'_mt' in globals() or globals().__setitem__('_mt', …)` */
static bool take_lazy(const struct strip *strip, size_t *at)
{
    size_t here = *at;
    struct slice name = strip->has_hook ? strip->forms.hook : SLICE("spy_save");

    if (!take(strip, &here, SLICE("'")) || !take(strip, &here, name) ||
        !take(strip, &here, SLICE("' in globals() or globals().__setitem__('")) ||
        !take(strip, &here, name) || !take(strip, &here, SLICE("', "))) {
        return false;
    }
    if (!take_import(strip, &here) && !take(strip, &here, SLICE(FORM_SPY_VALUE))) {
        return false;
    }
    if (!take(strip, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* The same as a statement: `not (…)` */
static bool take_quiet_lazy(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (take(strip, &here, SLICE("not (")) && take_lazy(strip, &here) &&
        take(strip, &here, SLICE(")"))) {
        *at = here;
        return true;
    }
    return false;
}

/* One of the false expressions, in parentheses and with the ` or ` behind it. */
static bool take_false_expression(const struct strip *strip, size_t *at)
{
    size_t here = *at + 1;
    bool has_unit = true;

    if (*at >= strip->text.size || strip->text.bytes[*at] != '(') {
        return false;
    }
    if (take_record(strip, &here)) {
        has_unit = false;
    } else if (!take_lazy(strip, &here)) {
        if (strip->has_hook && take(strip, &here, strip->forms.temporary)) {
            has_unit = false;
            if (!take(strip, &here, SLICE(" := None"))) {
                return false;
            }
        } else if (strip->has_hook && take(strip, &here, strip->forms.hook)) {
            if (!take(strip, &here, SLICE(" := ")) || !take_import(strip, &here)) {
                return false;
            }
        } else if (!take(strip, &here, SLICE("spy_save := " FORM_SPY_VALUE))) {
            return false;
        }
    }
    if (!take(strip, &here, has_unit ? SLICE(") and () or ") : SLICE(") or "))) {
        return false;
    }
    *at = here;
    return true;
}

static bool take_false_expressions(const struct strip *strip, size_t *at)
{
    bool is_taken = false;

    while (take_false_expression(strip, at)) {
        is_taken = true;
    }
    return is_taken;
}

static void remove_range(struct strip *strip, size_t start, size_t end)
{
    if (!memory_grow((void **)&strip->ranges, &strip->range_capacity,
                     strip->range_count + 1, sizeof *strip->ranges)) {
        strip->has_failed = true;
        return;
    }
    strip->ranges[strip->range_count++] = (struct range){start, end};
}

static void push(struct strip *strip, size_t offset, enum open_kind kind)
{
    if (!memory_grow((void **)&strip->open, &strip->open_capacity, strip->open_count + 1,
                     sizeof *strip->open)) {
        strip->has_failed = true;
        return;
    }
    strip->open[strip->open_count++] = (struct open_bracket){offset, kind};
}

/* After `;`. Returns the offset to go on from. */
static size_t strip_after(struct strip *strip, size_t at)
{
    size_t here = at;

    if (take(strip, &here, SLICE("; ")) &&
        (take_record(strip, &here) || take_quiet(strip, &here) ||
         take_cleaning(strip, &here) || take_spy(strip, &here) ||
         take_quiet_lazy(strip, &here) || take_boot_statements(strip, &here))) {
        remove_range(strip, at, here);
        return here;
    }
    return at + 1;
}

/* The separator behind inserted statements that stand before others. */
static size_t take_separator(const struct strip *strip, size_t at)
{
    if (take(strip, &at, SLICE(";  #"))) {
        return at - 1;
    }
    if (!take(strip, &at, SLICE("; "))) {
        take(strip, &at, SLICE(";"));
    }
    return at;
}

/* At a word or a quote where a statement may begin. */
static size_t strip_before(struct strip *strip, size_t at)
{
    size_t here = at;

    if (take_quiet(strip, &here) && take(strip, &here, SLICE("; "))) {
        remove_range(strip, at, here);
        return here;
    }
    here = at;
    if (take_quiet_lazy(strip, &here) && take(strip, &here, SLICE("; "))) {
        remove_range(strip, at, here);
        return here;
    }
    here = at;
    if (take_boot_statements(strip, &here)) {
        size_t end = take_separator(strip, here);

        if (end > here) { /* a line of its own is a person's */
            if (strip->has_hook) {
                size_t next = end;

                if (take_cleaning(strip, &next) && take(strip, &next, SLICE("; "))) {
                    end = next;
                }
            }
            remove_range(strip, at, end);
            return end;
        }
    }
    here = at;
    if (strip->has_hook && take(strip, &here, strip->forms.temporary) &&
        take(strip, &here, SLICE(" = "))) {
        remove_range(strip, at, here);
        return here;
    }
    return at;
}

/* `*(false expressions ())` among a class's bases; `, ` behind it where there are more. */
static bool take_class_base(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (!take(strip, &here, SLICE("*(")) || !take_false_expressions(strip, &here) ||
        !take(strip, &here, SLICE("())"))) {
        return false;
    }
    *at = here;
    return true;
}

static size_t strip_open(struct strip *strip, size_t at)
{
    size_t here = at;

    if (take_false_expressions(strip, &here) && take(strip, &here, SLICE("("))) {
        remove_range(strip, at, here);
        push(strip, at, OPEN_INSERTED);
        return here;
    }
    here = at + 1;
    if (strip->has_hook && take(strip, &here, strip->forms.temporary) &&
        take(strip, &here, SLICE(" := "))) {
        push(strip, at, OPEN_INSERTED);
        if (take(strip, &here, SLICE("("))) {
            push(strip, at, OPEN_INSERTED);
        }
        remove_range(strip, at, here);
        return here;
    }
    here = at + 1;
    if (take_class_base(strip, &here) && take(strip, &here, SLICE(")"))) {
        remove_range(strip, at, here);
        return here;
    }
    push(strip, at, OPEN_PLAIN);
    return at + 1;
}

/* ` is not _mt and _mt and _mt(i, n) or n` */
static bool take_value_tail(const struct strip *strip, size_t *at)
{
    size_t here = *at;

    if (strip->has_hook && take(strip, &here, SLICE(" is not ")) &&
        take(strip, &here, strip->forms.hook) && take(strip, &here, SLICE(" and ")) &&
        take_record(strip, &here) && take(strip, &here, SLICE(" or ")) &&
        take_word(strip, &here)) {
        *at = here;
        return true;
    }
    return false;
}

/* ` and not (_mt and _mt(1))`, ` or _mt and _mt(2)`, or both */
static bool take_turn_tail(const struct strip *strip, size_t *at)
{
    size_t here = *at;
    bool is_taken = false;

    if (take(strip, &here, SLICE(" and ")) && take_quiet(strip, &here)) {
        *at = here;
        is_taken = true;
    }
    here = *at;
    if (take(strip, &here, SLICE(" or ")) && take_record(strip, &here)) {
        *at = here;
        is_taken = true;
    }
    return is_taken;
}

static size_t strip_close(struct strip *strip, size_t at)
{
    struct open_bracket open = {0, OPEN_PLAIN};
    size_t here = at + 1;

    if (strip->open_count == 0) {
        return at + 1;
    }
    open = strip->open[--strip->open_count];
    if (open.kind == OPEN_PLAIN) {
        if (take_value_tail(strip, &here) && take(strip, &here, SLICE(")")) &&
            strip->open_count > 0 &&
            strip->open[strip->open_count - 1].offset + 1 == open.offset) {
            strip->open_count--;
            remove_range(strip, open.offset - 1, open.offset + 1);
            remove_range(strip, at, here);
            return here;
        }
        here = at + 1;
        if (take_turn_tail(strip, &here)) {
            remove_range(strip, open.offset, open.offset + 1);
            remove_range(strip, at, here);
            return here;
        }
        return at + 1;
    }
    if (open.kind == OPEN_VALUE) {
        take_value_tail(strip, &here);
    }
    remove_range(strip, at, here);
    return here;
}

/* A word: a string's prefix, `return`, or the start of an insertion. */
static size_t strip_word(struct strip *strip, size_t at)
{
    size_t end = lexer_word_end(strip->text, at);
    struct slice word = slice_part(strip->text, at, end);
    size_t here = strip_before(strip, at);

    if (here != at) {
        return here;
    }
    if (end < strip->text.size &&
        (strip->text.bytes[end] == '"' || strip->text.bytes[end] == '\'') &&
        lexer_is_string_prefix(word)) {
        bool is_format = false;
        bool is_raw = false;

        for (size_t i = 0; i < word.size; i++) {
            char letter = word.bytes[i] | 0x20;

            is_format |= letter == 'f' || letter == 't';
            is_raw |= letter == 'r';
        }
        return lexer_string_end(strip->text, end, is_format, is_raw);
    }
    here = end;
    if (strip->has_hook && slice_equal(word, SLICE("return")) &&
        take(strip, &here, SLICE(" (")) && take(strip, &here, strip->forms.value) &&
        take(strip, &here, SLICE(" := ("))) {
        remove_range(strip, end, here);
        push(strip, end, OPEN_VALUE);
        push(strip, end, OPEN_INSERTED);
        return here;
    }
    return end;
}

static size_t strip_star(struct strip *strip, size_t at)
{
    size_t here = at;

    if (!take_class_base(strip, &here)) {
        return at + 1;
    }
    take(strip, &here, SLICE(", "));
    remove_range(strip, at, here);
    return here;
}

static size_t strip_token(struct strip *strip, size_t at)
{
    char byte = strip->text.bytes[at];

    if (lexer_is_word_byte(byte)) {
        return strip_word(strip, at);
    }
    switch (byte) {
    case '\'':
    case '"':
        return lexer_string_end(strip->text, at, false, false);
    case '#':
        while (at < strip->text.size && strip->text.bytes[at] != '\n' &&
               strip->text.bytes[at] != '\r') {
            at++;
        }
        return at;
    case ';':
        return strip_after(strip, at);
    case '*':
        return strip_star(strip, at);
    case '(':
        return strip_open(strip, at);
    case '[':
    case '{':
        push(strip, at, OPEN_PLAIN);
        return at + 1;
    case ')':
        return strip_close(strip, at);
    case ']':
    case '}':
        strip->open_count -= strip->open_count > 0;
        return at + 1;
    default:
        return at + 1;
    }
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a;
    const struct range *right = b;

    return (left->start > right->start) - (left->start < right->start);
}

static bool copy_rest(const struct strip *strip, struct buffer *output)
{
    size_t done = 0;

    if (strip->range_count > 1) {
        qsort(strip->ranges, strip->range_count, sizeof *strip->ranges, compare_ranges);
    }
    for (size_t i = 0; i < strip->range_count; i++) {
        if (strip->ranges[i].start >= done) {
            buffer_add_bytes(output, strip->text.bytes + done,
                             strip->ranges[i].start - done);
            done = strip->ranges[i].end;
        }
    }
    buffer_add_bytes(output, strip->text.bytes + done, strip->text.size - done);
    return !output->has_failed;
}

/* The offset of the inserted import, or the text's size. */
static size_t find_import(struct slice text)
{
    size_t at = 0;

    for (;;) {
        at = slice_find(text, SLICE(FORM_IMPORT), at);
        if (at == text.size) {
            return at;
        }
        if (at >= 3 && (slice_equal(slice_part(text, at - 3, at), SLICE(" = ")) ||
                        slice_equal(slice_part(text, at - 3, at), SLICE(":= ")) ||
                        slice_equal(slice_part(text, at - 3, at), SLICE("', ")))) {
            return at;
        }
        at++;
    }
}

struct slice strip_find_hook(struct slice text)
{
    size_t end = find_import(text);
    size_t start;

    if (end == text.size) {
        return (struct slice){NULL, 0};
    }
    end -= 3;
    end -= text.bytes[end] == ':';
    while (end > 0 && text.bytes[end - 1] == ' ') {
        end--;
    }
    start = end;
    while (start > 0 && lexer_is_word_byte(text.bytes[start - 1])) {
        start--;
    }
    if (slice_ends(slice_part(text, start, end), SLICE("_t"))) {
        end -= 2; /* `_mt_t = …` comes before `_mt = _mt_t(…)` */
    }
    return slice_part(text, start, end);
}

bool strip_text(struct slice text, struct arena *arena, struct buffer *output)
{
    struct strip strip = {.text = text};
    struct slice hook = strip_find_hook(text);
    bool is_done;

    strip.has_hook = hook.size > 0;
    if (strip.has_hook && !forms_name(&strip.forms, hook, arena)) {
        return false;
    }
    for (size_t at = 0; at < text.size && !strip.has_failed;) {
        at = strip_token(&strip, at);
    }
    is_done = !strip.has_failed && copy_rest(&strip, output);
    memory_free(strip.ranges);
    memory_free(strip.open);
    return is_done;
}
