/* Recognising what was inserted, form by form. */
#include "instrument/output/matcher.h"

#include "instrument/text/lexer.h"

#include <string.h>

bool matcher_take(const struct matcher *matcher, size_t *at, struct slice expected)
{
    if (*at <= matcher->text.size &&
        slice_starts(slice_part(matcher->text, *at, matcher->text.size), expected)) {
        *at += expected.size;
        return true;
    }
    return false;
}

/* An identifier or a number. */
static bool matcher_take_word(const struct matcher *matcher, size_t *at)
{
    size_t end = lexer_word_end(matcher->text, *at);
    bool is_word = end > *at;

    *at = end;
    return is_word;
}

/* A number with a point or an exponent's sign, or `...`. */
static bool is_number_byte(struct slice text, size_t at)
{
    char before = at > 0 ? (char)(text.bytes[at - 1] | 0x20) : ' ';

    return text.bytes[at] == '.' ||
           ((text.bytes[at] == '-' || text.bytes[at] == '+') && before == 'e');
}

/* A name, or a constant: a number, a string of one line. */
static bool matcher_take_argument(const struct matcher *matcher, size_t *at)
{
    struct slice text = matcher->text;
    size_t word = lexer_word_end(text, *at);
    size_t end = word;

    if (word < text.size && (text.bytes[word] == '"' || text.bytes[word] == '\'')) {
        end = word == *at ? lexer_string_end(text, word, false, false)
                          : lexer_prefixed_string_end(text, *at, word);
    } else if (end < text.size &&
               (end == *at || (text.bytes[*at] >= '0' && text.bytes[*at] <= '9'))) {
        while (end < text.size &&
               (lexer_is_word_byte(text.bytes[end]) || is_number_byte(text, end))) {
            end++;
        }
    }
    if (end == *at) {
        return false;
    }
    *at = end;
    return true;
}

/* `_mt and _mt(3, a, b)` */
bool matcher_take_record(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher->has_hook || !matcher_take(matcher, &here, matcher->forms.hook) ||
        !matcher_take(matcher, &here, SLICE(" and ")) ||
        !matcher_take(matcher, &here, matcher->forms.hook) ||
        !matcher_take(matcher, &here, SLICE("(")) ||
        !matcher_take_word(matcher, &here)) {
        return false;
    }
    while (matcher_take(matcher, &here, SLICE(", "))) {
        if (!matcher_take_argument(matcher, &here)) {
            return false;
        }
    }
    if (!matcher_take(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* `not (…)`, with what `take` takes in between. */
static bool matcher_take_not(const struct matcher *matcher,
                             size_t *at,
                             bool (*take)(const struct matcher *matcher, size_t *at))
{
    size_t here = *at;

    if (matcher_take(matcher, &here, SLICE("not (")) && take(matcher, &here) &&
        matcher_take(matcher, &here, SLICE(")"))) {
        *at = here;
        return true;
    }
    return false;
}

/* `not (_mt and _mt(3, a, b))` */
bool matcher_take_quiet(const struct matcher *matcher, size_t *at)
{
    return matcher_take_not(matcher, at, matcher_take_record);
}

static bool matcher_take_until_quote(const struct matcher *matcher, size_t *at)
{
    const char *from = matcher->text.bytes + *at;
    const char *quote =
        *at < matcher->text.size ? memchr(from, '\'', matcher->text.size - *at) : NULL;

    if (quote == NULL) {
        return false;
    }
    *at += (size_t)(quote - from);
    return true;
}

/* `(globals(), 'table')` */
static bool matcher_take_table(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher_take(matcher, &here, SLICE(FORM_TABLE)) &&
        matcher_take_until_quote(matcher, &here) &&
        matcher_take(matcher, &here, SLICE(FORM_TABLE_END))) {
        *at = here;
        return true;
    }
    return false;
}

/* `__import__('monitorch' or '…')._instrumented`, with or without a table. */
static bool matcher_take_import(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher_take(matcher, &here, SLICE(FORM_IMPORT)) &&
        matcher_take_until_quote(matcher, &here) &&
        matcher_take(matcher, &here, SLICE(FORM_IMPORT_END))) {
        matcher_take_table(matcher, &here);
        *at = here;
        return true;
    }
    return false;
}

/* `_mt_t = None` or `del _mt_t` */
bool matcher_take_cleaning(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher->has_hook) {
        return false;
    }
    if (matcher_take(matcher, &here, SLICE("del "))) {
        if (matcher_take(matcher, &here, matcher->forms.temporary)) {
            *at = here;
            return true;
        }
        return false;
    }
    if (matcher_take(matcher, &here, matcher->forms.temporary) &&
        matcher_take(matcher, &here, SLICE(" = None"))) {
        *at = here;
        return true;
    }
    return false;
}

/* `spy_save("q", q, self)` where both names are one. */
bool matcher_take_spy(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    size_t first;
    size_t second;
    struct slice name;

    if (!matcher->takes_spy || !matcher_take(matcher, &here, SLICE("spy_save(\""))) {
        return false;
    }
    first = here;
    if (!matcher_take_word(matcher, &here)) {
        return false;
    }
    name = slice_part(matcher->text, first, here);
    if (!matcher_take(matcher, &here, SLICE("\", "))) {
        return false;
    }
    second = here;
    if (!matcher_take_word(matcher, &here) ||
        !slice_equal(name, slice_part(matcher->text, second, here)) ||
        !matcher_take(matcher, &here, SLICE(", ")) ||
        !matcher_take_word(matcher, &here) ||
        !matcher_take(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* The statements that bring the hook or spy_save in, joined by `; `. */
bool matcher_take_boot_statements(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    bool is_taken = false;

    if (matcher->has_hook &&
        (matcher_take(matcher, &here, matcher->forms.temporary) ||
         matcher_take(matcher, &here, matcher->forms.hook)) &&
        matcher_take(matcher, &here, SLICE(" = "))) {
        if (matcher_take(matcher, &here, matcher->forms.temporary)
                ? matcher_take_table(matcher, &here)
                : matcher_take_import(matcher, &here)) {
            *at = here;
            is_taken = true;
            if (matcher_take(matcher, &here, SLICE("; ")) &&
                matcher_take_cleaning(matcher, &here)) {
                *at = here;
            }
        }
    }
    here = *at;
    if ((!is_taken || matcher_take(matcher, &here, SLICE("; "))) &&
        matcher->takes_spy && matcher_take(matcher, &here, SLICE(FORM_SPY_IMPORT))) {
        *at = here;
        is_taken = true;
    }
    return is_taken;
}

/* `'_mt' in globals() or globals().__setitem__('_mt', …)` */
static bool matcher_take_lazy(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    struct slice name = matcher->has_hook ? matcher->forms.hook : SLICE("spy_save");

    if (!matcher_take(matcher, &here, SLICE("'")) ||
        !matcher_take(matcher, &here, name) ||
        !matcher_take(matcher, &here,
                      SLICE("' in globals() or globals().__setitem__('")) ||
        !matcher_take(matcher, &here, name) ||
        !matcher_take(matcher, &here, SLICE("', "))) {
        return false;
    }
    if (!matcher_take_import(matcher, &here) &&
        !matcher_take(matcher, &here, SLICE(FORM_SPY_VALUE))) {
        return false;
    }
    if (!matcher_take(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* The same as a statement: `not (…)` */
bool matcher_take_quiet_lazy(const struct matcher *matcher, size_t *at)
{
    return matcher_take_not(matcher, at, matcher_take_lazy);
}

/* One of the false expressions, in parentheses and with the ` or ` behind it. */
static bool matcher_take_false_expression(const struct matcher *matcher, size_t *at)
{
    size_t here = *at + 1;
    bool has_unit = true;

    if (*at >= matcher->text.size || matcher->text.bytes[*at] != '(') {
        return false;
    }
    if (matcher_take_record(matcher, &here)) {
        has_unit = false;
    } else if (!matcher_take_lazy(matcher, &here)) {
        if (matcher->has_hook &&
            matcher_take(matcher, &here, matcher->forms.temporary)) {
            has_unit = false;
            if (!matcher_take(matcher, &here, SLICE(" := None"))) {
                return false;
            }
        } else if (matcher->has_hook &&
                   matcher_take(matcher, &here, matcher->forms.hook)) {
            if (!matcher_take(matcher, &here, SLICE(" := ")) ||
                !matcher_take_import(matcher, &here)) {
                return false;
            }
        } else if (!matcher_take(matcher, &here,
                                 SLICE("spy_save := " FORM_SPY_VALUE))) {
            return false;
        }
    }
    if (!matcher_take(matcher, &here,
                      has_unit ? SLICE(") and () or ") : SLICE(") or "))) {
        return false;
    }
    *at = here;
    return true;
}

bool matcher_take_false_expressions(const struct matcher *matcher, size_t *at)
{
    bool is_taken = false;

    while (matcher_take_false_expression(matcher, at)) {
        is_taken = true;
    }
    return is_taken;
}

/* `*(false expressions ())` among a class's bases; `, ` behind it where there are more. */
bool matcher_take_class_base(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher_take(matcher, &here, SLICE("*(")) ||
        !matcher_take_false_expressions(matcher, &here) ||
        !matcher_take(matcher, &here, SLICE("())"))) {
        return false;
    }
    *at = here;
    return true;
}

/* ` is not _mt and _mt and _mt(i, n) or n` */
bool matcher_take_value_tail(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher->has_hook && matcher_take(matcher, &here, SLICE(" is not ")) &&
        matcher_take(matcher, &here, matcher->forms.hook) &&
        matcher_take(matcher, &here, SLICE(" and ")) &&
        matcher_take_record(matcher, &here) &&
        matcher_take(matcher, &here, SLICE(" or ")) &&
        matcher_take_word(matcher, &here)) {
        *at = here;
        return true;
    }
    return false;
}

/* ` and not (_mt and _mt(1))`, ` or _mt and _mt(2)`, or both */
bool matcher_take_turn_tail(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    bool is_taken = false;

    if (matcher_take(matcher, &here, SLICE(" and ")) &&
        matcher_take_quiet(matcher, &here)) {
        *at = here;
        is_taken = true;
    }
    here = *at;
    if (matcher_take(matcher, &here, SLICE(" or ")) &&
        matcher_take_record(matcher, &here)) {
        *at = here;
        is_taken = true;
    }
    return is_taken;
}
