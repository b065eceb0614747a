/* Writes hook calls. */
#include "instrument/output/forms.h"

bool forms_name(struct forms *forms, struct slice hook, struct arena *arena)
{
    struct buffer text = BUFFER_INIT;
    struct slice all;

    buffer_add(&text, hook);
    buffer_add(&text, SLICE("_v"));
    buffer_add(&text, hook);
    buffer_add(&text, SLICE("_t"));
    all = text.has_failed ? (struct slice){NULL, 0}
                          : arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    if (all.bytes == NULL) {
        return false;
    }
    forms->value = slice_part(all, 0, hook.size + 2);
    forms->temporary = slice_part(all, hook.size + 2, all.size);
    forms->hook = slice_part(all, 0, hook.size);
    return true;
}

bool forms_is_prefix(struct slice prefix)
{
    size_t at = 3;

    if (!slice_starts(prefix, SLICE("_mt"))) {
        return false;
    }
    while (at < prefix.size && prefix.bytes[at] >= '0' && prefix.bytes[at] <= '9') {
        at++;
    }
    return prefix.size == 3 ||
           (at > 3 && at + 1 == prefix.size && prefix.bytes[at] == 'x');
}

bool forms_choose(struct forms *forms, struct slice text, struct arena *arena)
{
    struct buffer hook = BUFFER_INIT;
    bool is_done;

    buffer_add(&hook, SLICE("_mt"));
    for (uint32_t i = 0;
         !hook.has_failed && slice_find(text, buffer_slice(&hook), 0) < text.size;
         i++) {
        hook.size = 0;
        buffer_add(&hook, SLICE("_mt"));
        buffer_add_number(&hook, i);
        buffer_add_byte(&hook, 'x');
    }
    is_done = !hook.has_failed && forms_name(forms, buffer_slice(&hook), arena);
    buffer_release(&hook);
    return is_done;
}

void forms_record(const struct forms *forms,
                  const struct record *record,
                  struct buffer *text)
{
    buffer_add(text, forms->hook);
    buffer_add(text, SLICE(" and "));
    buffer_add(text, forms->hook);
    buffer_add_byte(text, '(');
    buffer_add_number(text, record->site);
    for (uint32_t i = 0; i < record->argument_count; i++) {
        buffer_add(text, SLICE(", "));
        buffer_add(text, record->arguments[i]);
    }
    buffer_add_byte(text, ')');
}

void forms_quiet(const struct forms *forms,
                 const struct record *record,
                 struct buffer *text)
{
    buffer_add(text, SLICE("not ("));
    forms_record(forms, record, text);
    buffer_add_byte(text, ')');
}
