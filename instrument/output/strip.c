/* Removes the insertions that the matcher recognises, and the partners of inserted brackets. */
#include "instrument/output/strip.h"

#include "instrument/output/forms.h"
#include "instrument/text/lexer.h"
#include "runtime/base/memory.h"
#include "runtime/site/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct matcher {
    struct slice text; /* borrowed */
    struct forms forms;
    bool has_hook;  /* the text has calls of the hook */
    bool skips_spy; /* visible spy_save calls and their import were inserted */
};

/* ---- recognising insertions, form by form ---- */

/* Skips the literal text. */
static bool
matcher_skip(const struct matcher *matcher, size_t *at, struct slice expected)
{
    if (*at <= matcher->text.size &&
        slice_starts(slice_part(matcher->text, *at, matcher->text.size), expected)) {
        *at += expected.size;
        return true;
    }
    return false;
}

/* Skips an identifier or a number. */
static bool matcher_skip_word(const struct matcher *matcher, size_t *at)
{
    size_t end = lexer_word_end(matcher->text, *at);
    bool is_word = end > *at;

    *at = end;
    return is_word;
}

/* Whether the byte belongs to a number with a point or an exponent's sign, or to `...`. */
static bool is_number_byte(struct slice text, size_t at)
{
    char before = at > 0 ? (char)(text.bytes[at - 1] | 0x20) : ' ';

    return text.bytes[at] == '.' ||
           ((text.bytes[at] == '-' || text.bytes[at] == '+') && before == 'e');
}

/* Skips a name or a constant: a number, or a string on one line. */
static bool matcher_skip_argument(const struct matcher *matcher, size_t *at)
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
static bool matcher_skip_record(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher->has_hook || !matcher_skip(matcher, &here, matcher->forms.hook) ||
        !matcher_skip(matcher, &here, SLICE(" and ")) ||
        !matcher_skip(matcher, &here, matcher->forms.hook) ||
        !matcher_skip(matcher, &here, SLICE("(")) ||
        !matcher_skip_word(matcher, &here)) {
        return false;
    }
    while (matcher_skip(matcher, &here, SLICE(", "))) {
        if (!matcher_skip_argument(matcher, &here)) {
            return false;
        }
    }
    if (!matcher_skip(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* Skips `not (…)`, with a text that `skip` accepts inside. */
static bool matcher_skip_not(const struct matcher *matcher,
                             size_t *at,
                             bool (*skip)(const struct matcher *matcher, size_t *at))
{
    size_t here = *at;

    if (matcher_skip(matcher, &here, SLICE("not (")) && skip(matcher, &here) &&
        matcher_skip(matcher, &here, SLICE(")"))) {
        *at = here;
        return true;
    }
    return false;
}

/* `not (_mt and _mt(3, a, b))` */
static bool matcher_skip_quiet(const struct matcher *matcher, size_t *at)
{
    return matcher_skip_not(matcher, at, matcher_skip_record);
}

static bool matcher_skip_until_quote(const struct matcher *matcher, size_t *at)
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
static bool matcher_skip_table(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher_skip(matcher, &here, SLICE(FORM_TABLE)) &&
        matcher_skip_until_quote(matcher, &here) &&
        matcher_skip(matcher, &here, SLICE(FORM_TABLE_END))) {
        *at = here;
        return true;
    }
    return false;
}

/* `__import__('monitorch' or '…')._instrumented`, with or without a table. */
static bool matcher_skip_import(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher_skip(matcher, &here, SLICE(FORM_IMPORT)) &&
        matcher_skip_until_quote(matcher, &here) &&
        matcher_skip(matcher, &here, SLICE(FORM_IMPORT_END))) {
        matcher_skip_table(matcher, &here);
        *at = here;
        return true;
    }
    return false;
}

/* `_mt_t = None` or `del _mt_t` */
static bool matcher_skip_cleaning(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher->has_hook) {
        return false;
    }
    if (matcher_skip(matcher, &here, SLICE("del "))) {
        if (matcher_skip(matcher, &here, matcher->forms.temporary)) {
            *at = here;
            return true;
        }
        return false;
    }
    if (matcher_skip(matcher, &here, matcher->forms.temporary) &&
        matcher_skip(matcher, &here, SLICE(" = None"))) {
        *at = here;
        return true;
    }
    return false;
}

/* Skips `spy_save("q", q, self)` if both names are equal. */
static bool matcher_skip_spy(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    size_t first;
    size_t second;
    struct slice name;

    if (!matcher->skips_spy || !matcher_skip(matcher, &here, SLICE("spy_save(\""))) {
        return false;
    }
    first = here;
    if (!matcher_skip_word(matcher, &here)) {
        return false;
    }
    name = slice_part(matcher->text, first, here);
    if (!matcher_skip(matcher, &here, SLICE("\", "))) {
        return false;
    }
    second = here;
    if (!matcher_skip_word(matcher, &here) ||
        !slice_equal(name, slice_part(matcher->text, second, here)) ||
        !matcher_skip(matcher, &here, SLICE(", ")) ||
        !matcher_skip_word(matcher, &here) ||
        !matcher_skip(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* Skips the statements that import the hook or spy_save, joined by `; `. */
static bool matcher_skip_boot_statements(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    bool is_used = false;

    if (matcher->has_hook &&
        (matcher_skip(matcher, &here, matcher->forms.temporary) ||
         matcher_skip(matcher, &here, matcher->forms.hook)) &&
        matcher_skip(matcher, &here, SLICE(" = "))) {
        if (matcher_skip(matcher, &here, matcher->forms.temporary)
                ? matcher_skip_table(matcher, &here)
                : matcher_skip_import(matcher, &here)) {
            *at = here;
            is_used = true;
            if (matcher_skip(matcher, &here, SLICE("; ")) &&
                matcher_skip_cleaning(matcher, &here)) {
                *at = here;
            }
        }
    }
    here = *at;
    if ((!is_used || matcher_skip(matcher, &here, SLICE("; "))) && matcher->skips_spy &&
        matcher_skip(matcher, &here, SLICE(FORM_SPY_IMPORT))) {
        *at = here;
        is_used = true;
    }
    return is_used;
}

/* `'_mt' in globals() or globals().__setitem__('_mt', …)` */
static bool matcher_skip_lazy(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    struct slice name = matcher->has_hook ? matcher->forms.hook : SLICE("spy_save");

    if (!matcher_skip(matcher, &here, SLICE("'")) ||
        !matcher_skip(matcher, &here, name) ||
        !matcher_skip(matcher, &here,
                      SLICE("' in globals() or globals().__setitem__('")) ||
        !matcher_skip(matcher, &here, name) ||
        !matcher_skip(matcher, &here, SLICE("', "))) {
        return false;
    }
    if (!matcher_skip_import(matcher, &here) &&
        !matcher_skip(matcher, &here, SLICE(FORM_SPY_VALUE))) {
        return false;
    }
    if (!matcher_skip(matcher, &here, SLICE(")"))) {
        return false;
    }
    *at = here;
    return true;
}

/* Skips the same as a statement: `not (…)`. */
static bool matcher_skip_quiet_lazy(const struct matcher *matcher, size_t *at)
{
    return matcher_skip_not(matcher, at, matcher_skip_lazy);
}

/* Skips one of the false expressions, in parentheses, with the ` or ` after it. */
static bool matcher_skip_false_expression(const struct matcher *matcher, size_t *at)
{
    size_t here = *at + 1;
    bool has_unit = true;

    if (*at >= matcher->text.size || matcher->text.bytes[*at] != '(') {
        return false;
    }
    if (matcher_skip_record(matcher, &here)) {
        has_unit = false;
    } else if (!matcher_skip_lazy(matcher, &here)) {
        if (matcher->has_hook &&
            matcher_skip(matcher, &here, matcher->forms.temporary)) {
            has_unit = false;
            if (!matcher_skip(matcher, &here, SLICE(" := None"))) {
                return false;
            }
        } else if (matcher->has_hook &&
                   matcher_skip(matcher, &here, matcher->forms.hook)) {
            if (!matcher_skip(matcher, &here, SLICE(" := ")) ||
                !matcher_skip_import(matcher, &here)) {
                return false;
            }
        } else if (!matcher_skip(matcher, &here,
                                 SLICE("spy_save := " FORM_SPY_VALUE))) {
            return false;
        }
    }
    if (!matcher_skip(matcher, &here,
                      has_unit ? SLICE(") and () or ") : SLICE(") or "))) {
        return false;
    }
    *at = here;
    return true;
}

/* Skips expressions that are always false, each in parentheses with ` or ` after it. */
static bool matcher_skip_false_expressions(const struct matcher *matcher, size_t *at)
{
    bool is_used = false;

    while (matcher_skip_false_expression(matcher, at)) {
        is_used = true;
    }
    return is_used;
}

/* Skips `*(false expressions ())` among a class's bases, and `, ` if more bases follow. */
static bool matcher_skip_class_base(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (!matcher_skip(matcher, &here, SLICE("*(")) ||
        !matcher_skip_false_expressions(matcher, &here) ||
        !matcher_skip(matcher, &here, SLICE("())"))) {
        return false;
    }
    *at = here;
    return true;
}

/* ` is not _mt and _mt and _mt(i, n) or n` */
static bool matcher_skip_value_tail(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;

    if (matcher->has_hook && matcher_skip(matcher, &here, SLICE(" is not ")) &&
        matcher_skip(matcher, &here, matcher->forms.hook) &&
        matcher_skip(matcher, &here, SLICE(" and ")) &&
        matcher_skip_record(matcher, &here) &&
        matcher_skip(matcher, &here, SLICE(" or ")) &&
        matcher_skip_word(matcher, &here)) {
        *at = here;
        return true;
    }
    return false;
}

/* ` and not (_mt and _mt(1))`, ` or _mt and _mt(2)`, or both */
static bool matcher_skip_turn_tail(const struct matcher *matcher, size_t *at)
{
    size_t here = *at;
    bool is_used = false;

    if (matcher_skip(matcher, &here, SLICE(" and ")) &&
        matcher_skip_quiet(matcher, &here)) {
        *at = here;
        is_used = true;
    }
    here = *at;
    if (matcher_skip(matcher, &here, SLICE(" or ")) &&
        matcher_skip_record(matcher, &here)) {
        *at = here;
        is_used = true;
    }
    return is_used;
}

enum open_kind {
    OPEN_PLAIN,    /* original or inserted: depends on its partner */
    OPEN_INSERTED, /* inserted, as is its partner */
    OPEN_VALUE, /* inserted, as are its partner and the text after a returned value */
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
    struct matcher matcher;
    struct range *ranges; /* owned */
    size_t range_count;
    size_t range_capacity;
    struct open_bracket *open; /* owned; a stack */
    size_t open_count;
    size_t open_capacity;
    bool has_failed;
};

static void remove_range(struct strip *strip, size_t start, size_t end)
{
    void *ranges = strip->ranges;

    if (!memory_grow(&ranges, &strip->range_capacity, strip->range_count + 1,
                     sizeof *strip->ranges)) {
        strip->has_failed = true;
        return;
    }
    strip->ranges = ranges;
    strip->ranges[strip->range_count++] = (struct range){start, end};
}

static void push(struct strip *strip, size_t offset, enum open_kind kind)
{
    void *brackets = strip->open;

    if (!memory_grow(&brackets, &strip->open_capacity, strip->open_count + 1,
                     sizeof *strip->open)) {
        strip->has_failed = true;
        return;
    }
    strip->open = brackets;
    strip->open[strip->open_count++] = (struct open_bracket){offset, kind};
}

/* Strips insertions after `;`. Returns the offset at which to continue. */
static size_t strip_after(struct strip *strip, size_t at)
{
    size_t here = at;

    if (matcher_skip(&strip->matcher, &here, SLICE("; ")) &&
        (matcher_skip_record(&strip->matcher, &here) ||
         matcher_skip_quiet(&strip->matcher, &here) ||
         matcher_skip_cleaning(&strip->matcher, &here) ||
         matcher_skip_spy(&strip->matcher, &here) ||
         matcher_skip_quiet_lazy(&strip->matcher, &here) ||
         matcher_skip_boot_statements(&strip->matcher, &here))) {
        remove_range(strip, at, here);
        return here;
    }
    return at + 1;
}

/* Skips the separator after inserted statements that precede others. */
static size_t skip_separator(const struct strip *strip, size_t at)
{
    if (matcher_skip(&strip->matcher, &at, SLICE(";  #"))) {
        return at - 1;
    }
    if (!matcher_skip(&strip->matcher, &at, SLICE("; "))) {
        matcher_skip(&strip->matcher, &at, SLICE(";"));
    }
    return at;
}

/* Strips insertions at a word or a quote where a statement may begin. Returns the offset at
 * which to continue. */
static size_t strip_before(struct strip *strip, size_t at)
{
    size_t here = at;

    if (matcher_skip_quiet(&strip->matcher, &here) &&
        matcher_skip(&strip->matcher, &here, SLICE("; "))) {
        remove_range(strip, at, here);
        return here;
    }
    here = at;
    if (matcher_skip_quiet_lazy(&strip->matcher, &here) &&
        matcher_skip(&strip->matcher, &here, SLICE("; "))) {
        remove_range(strip, at, here);
        return here;
    }
    here = at;
    if (matcher_skip_boot_statements(&strip->matcher, &here)) {
        size_t end = skip_separator(strip, here);

        if (end > here) { /* otherwise a line of its own, which a person wrote */
            if (strip->matcher.has_hook) {
                size_t next = end;

                if (matcher_skip_cleaning(&strip->matcher, &next) &&
                    matcher_skip(&strip->matcher, &next, SLICE("; "))) {
                    end = next;
                }
            }
            remove_range(strip, at, end);
            return end;
        }
    }
    here = at;
    if (strip->matcher.has_hook &&
        matcher_skip(&strip->matcher, &here, strip->matcher.forms.temporary) &&
        matcher_skip(&strip->matcher, &here, SLICE(" = "))) {
        remove_range(strip, at, here);
        return here;
    }
    return at;
}

static size_t strip_open(struct strip *strip, size_t at)
{
    size_t here = at;

    if (matcher_skip_false_expressions(&strip->matcher, &here) &&
        matcher_skip(&strip->matcher, &here, SLICE("("))) {
        remove_range(strip, at, here);
        push(strip, at, OPEN_INSERTED);
        return here;
    }
    here = at + 1;
    if (strip->matcher.has_hook &&
        matcher_skip(&strip->matcher, &here, strip->matcher.forms.temporary) &&
        matcher_skip(&strip->matcher, &here, SLICE(" := "))) {
        push(strip, at, OPEN_INSERTED);
        remove_range(strip, at, here);
        return here;
    }
    here = at + 1;
    if (matcher_skip_class_base(&strip->matcher, &here) &&
        matcher_skip(&strip->matcher, &here, SLICE(")"))) {
        remove_range(strip, at, here);
        return here;
    }
    push(strip, at, OPEN_PLAIN);
    return at + 1;
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
        if (matcher_skip_value_tail(&strip->matcher, &here) &&
            matcher_skip(&strip->matcher, &here, SLICE(")")) && strip->open_count > 0 &&
            strip->open[strip->open_count - 1].offset + 1 == open.offset) {
            strip->open_count--;
            remove_range(strip, open.offset - 1, open.offset + 1);
            remove_range(strip, at, here);
            return here;
        }
        here = at + 1;
        if (matcher_skip_turn_tail(&strip->matcher, &here)) {
            remove_range(strip, open.offset, open.offset + 1);
            remove_range(strip, at, here);
            return here;
        }
        return at + 1;
    }
    if (open.kind == OPEN_VALUE) {
        matcher_skip_value_tail(&strip->matcher, &here);
    }
    remove_range(strip, at, here);
    return here;
}

/* Strips or skips a word: a string's prefix, `return`, or the start of an insertion. Returns the
 * offset at which to continue. */
static size_t strip_word(struct strip *strip, size_t at)
{
    size_t end = lexer_word_end(strip->matcher.text, at);
    struct slice word = slice_part(strip->matcher.text, at, end);
    size_t here = strip_before(strip, at);

    if (here != at) {
        return here;
    }
    here = lexer_prefixed_string_end(strip->matcher.text, at, end);
    if (here > end) {
        return here;
    }
    here = end;
    if (strip->matcher.has_hook && slice_equal(word, SLICE("return")) &&
        matcher_skip(&strip->matcher, &here, SLICE(" (")) &&
        matcher_skip(&strip->matcher, &here, strip->matcher.forms.value) &&
        matcher_skip(&strip->matcher, &here, SLICE(" := ("))) {
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

    if (!matcher_skip_class_base(&strip->matcher, &here)) {
        return at + 1;
    }
    matcher_skip(&strip->matcher, &here, SLICE(", "));
    remove_range(strip, at, here);
    return here;
}

static size_t strip_token(struct strip *strip, size_t at)
{
    char byte = strip->matcher.text.bytes[at];

    if (lexer_is_word_byte(byte)) {
        return strip_word(strip, at);
    }
    switch (byte) {
    case '\'':
    case '"':
        return lexer_string_end(strip->matcher.text, at, false, false);
    case '#':
        while (at < strip->matcher.text.size && strip->matcher.text.bytes[at] != '\n' &&
               strip->matcher.text.bytes[at] != '\r') {
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
            buffer_add_bytes(output, strip->matcher.text.bytes + done,
                             strip->ranges[i].start - done);
            done = strip->ranges[i].end;
        }
    }
    buffer_add_bytes(output, strip->matcher.text.bytes + done,
                     strip->matcher.text.size - done);
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
        end -= 2; /* `_mt_t = …` precedes `_mt = _mt_t(…)` */
    }
    return slice_part(text, start, end);
}

bool strip_find_table(struct slice text, struct slice *table)
{
    struct slice hook = strip_find_hook(text);
    struct slice opening = SLICE(FORM_TABLE);
    size_t start;
    size_t end;

    *table = (struct slice){NULL, 0};
    if (hook.size == 0) {
        return false;
    }
    start = slice_find(text, opening, (size_t)(hook.bytes - text.bytes));
    if (start == text.size) {
        return false;
    }
    start += opening.size;
    end = slice_find(text, SLICE("'"), start);
    if (end == text.size) {
        return false;
    }
    *table = slice_part(text, start, end);
    return true;
}

/* Whether the spy_save calls in the text were inserted. The options in the text's table show it;
 * a text without a table has no other insertions. */
static bool has_inserted_spy(struct slice text, struct arena *arena)
{
    struct error ignored = ERROR_INIT;
    struct site_table table;
    struct slice table_text;

    if (slice_find(text, SLICE("spy_save"), 0) == text.size) {
        return false;
    }
    return !strip_find_table(text, &table_text) ||
           !site_table_read(&table, table_text, arena, &ignored) ||
           slice_find(table.options, SLICE("--spy"), 0) < table.options.size;
}

bool strip_text(struct slice text, struct arena *arena, struct buffer *output)
{
    struct strip strip = {.matcher = {.text = text}};
    struct slice hook = strip_find_hook(text);
    bool is_done;

    strip.matcher.has_hook = hook.size > 0;
    strip.matcher.skips_spy = has_inserted_spy(text, arena);
    if (strip.matcher.has_hook && !forms_name(&strip.matcher.forms, hook, arena)) {
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

bool strip_source(struct slice text, struct buffer *original)
{
    struct arena arena;
    bool is_done;

    arena_init(&arena);
    is_done = strip_text(text, &arena, original) && !original->has_failed;
    arena_release(&arena);
    return is_done;
}
