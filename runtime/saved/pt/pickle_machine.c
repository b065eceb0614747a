/* What a pickle works on: its bytes, a stack of values and a memo. */
#include "runtime/saved/pt/pickle_machine.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

/* ---- failures ---- */

static bool fail(struct pickle_machine *machine, const char *what)
{
    error_set(machine->error, ERROR_INPUT, "a damaged pickle: %s at byte %zu", what,
              machine->offset);
    return false;
}

static bool fail_memory(struct pickle_machine *machine)
{
    return error_set_memory(machine->error);
}

/* ---- bytes ---- */

bool pickle_machine_take(struct pickle_machine *machine,
                         size_t size,
                         const unsigned char **bytes)
{
    if (machine->bytes.size - machine->offset < size) {
        return fail(machine, "it is cut off");
    }
    *bytes = (const unsigned char *)machine->bytes.bytes + machine->offset;
    machine->offset += size;
    return true;
}

/* Little-endian, of at most 8 bytes. */
bool pickle_machine_take_number(struct pickle_machine *machine,
                                size_t size,
                                uint64_t *number)
{
    const unsigned char *bytes;

    if (!pickle_machine_take(machine, size, &bytes)) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        *number |= (uint64_t)bytes[i] << (8 * i);
    }
    return true;
}

/* Bytes whose count stands in front of them, in `size` bytes. */
bool pickle_machine_take_counted(struct pickle_machine *machine,
                                 size_t size,
                                 struct slice *text)
{
    const unsigned char *bytes;
    uint64_t count;

    if (!pickle_machine_take_number(machine, size, &count)) {
        return false;
    }
    if (count > SIZE_MAX || !pickle_machine_take(machine, (size_t)count, &bytes)) {
        return fail(machine, "it is cut off");
    }
    *text = (struct slice){(const char *)bytes, (size_t)count};
    return true;
}

static bool take_line(struct pickle_machine *machine, struct slice *line)
{
    size_t end = slice_find(machine->bytes, SLICE("\n"), machine->offset);

    if (end == machine->bytes.size) {
        return fail(machine, "it is cut off");
    }
    *line = slice_part(machine->bytes, machine->offset, end);
    machine->offset = end + 1;
    return true;
}

/* ---- stack and memo ---- */

static bool values_reserve(struct pickle_machine *machine,
                           struct pickle_values *values,
                           size_t count)
{
    void *items = values->items;
    bool is_done = memory_grow(&items, &values->capacity, count, sizeof *values->items);

    values->items = items;
    return is_done || fail_memory(machine);
}

bool pickle_machine_push(struct pickle_machine *machine,
                         const struct pickle_value *value)
{
    if (!values_reserve(machine, &machine->stack, machine->stack.count + 1)) {
        return false;
    }
    machine->stack.items[machine->stack.count++] = value;
    return true;
}

bool pickle_machine_push_new(struct pickle_machine *machine, struct pickle_value value)
{
    struct pickle_value *copy = arena_allocate(machine->arena, 1, sizeof *copy);

    if (copy == NULL) {
        return fail_memory(machine);
    }
    *copy = value;
    return pickle_machine_push(machine, copy);
}

bool pickle_machine_push_kind(struct pickle_machine *machine, enum pickle_kind kind)
{
    return pickle_machine_push_new(machine, (struct pickle_value){.kind = kind});
}

/* The value on top; a mark is none. */
bool pickle_machine_pop(struct pickle_machine *machine,
                        const struct pickle_value **value)
{
    if (machine->stack.count == 0 ||
        machine->stack.items[machine->stack.count - 1] == NULL) {
        return fail(machine, "a value is missing");
    }
    *value = machine->stack.items[--machine->stack.count];
    return true;
}

/* The place of the last mark in the stack. */
static bool find_mark(struct pickle_machine *machine, size_t *mark)
{
    for (size_t i = machine->stack.count; i > 0; i--) {
        if (machine->stack.items[i - 1] == NULL) {
            *mark = i - 1;
            return true;
        }
    }
    return fail(machine, "a mark is missing");
}

bool pickle_machine_memo_put(struct pickle_machine *machine, uint64_t place)
{
    struct pickle_values *memo = &machine->memo;
    const struct pickle_value *value;

    /* Python numbers them one by one, and each takes a byte of the pickle at least. */
    if (place > machine->bytes.size) {
        return fail(machine, "a memo far away");
    }
    if (!pickle_machine_pop(machine, &value) || !pickle_machine_push(machine, value) ||
        !values_reserve(machine, memo, (size_t)place + 1)) {
        return false;
    }
    while (memo->count <= place) {
        memo->items[memo->count++] = NULL;
    }
    memo->items[place] = value;
    return true;
}

bool pickle_machine_memo_get(struct pickle_machine *machine, uint64_t place)
{
    if (place >= machine->memo.count || machine->memo.items[place] == NULL) {
        return fail(machine, "nothing was kept in the memo");
    }
    return pickle_machine_push(machine, machine->memo.items[place]);
}

/* ---- values made of others ---- */

/* The topmost `count` values, none of which is a mark, become one. */
bool pickle_machine_fold(struct pickle_machine *machine,
                         enum pickle_kind kind,
                         size_t count)
{
    const struct pickle_value **items =
        arena_allocate(machine->arena, count, sizeof *items);

    if (items == NULL) {
        return fail_memory(machine);
    }
    for (size_t i = count; i > 0; i--) {
        if (!pickle_machine_pop(machine, &items[i - 1])) {
            return false;
        }
    }
    return pickle_machine_push_new(
        machine,
        (struct pickle_value){.kind = kind, .items = items, .item_count = count});
}

bool pickle_machine_fold_marked(struct pickle_machine *machine, enum pickle_kind kind)
{
    size_t mark;

    if (!find_mark(machine, &mark) ||
        !pickle_machine_fold(machine, kind, machine->stack.count - mark - 1)) {
        return false;
    }
    /* The new value takes the mark's place. */
    machine->stack.items[mark] = machine->stack.items[mark + 1];
    machine->stack.count = mark + 1;
    return true;
}

/* Forgets what stands above the last mark, and the mark. */
bool pickle_machine_drop_marked(struct pickle_machine *machine)
{
    return find_mark(machine, &machine->stack.count);
}

bool pickle_machine_drop(struct pickle_machine *machine)
{
    const struct pickle_value *value;

    return pickle_machine_pop(machine, &value);
}

bool pickle_machine_push_text(struct pickle_machine *machine, struct slice text)
{
    if (utf8_find_invalid(text) != text.size) {
        /* Python writes lone surrogates too: no text of ours. */
        return pickle_machine_push_kind(machine, PICKLE_OTHER);
    }
    return pickle_machine_push_new(
        machine, (struct pickle_value){.kind = PICKLE_TEXT, .text = text});
}

static bool
push_global(struct pickle_machine *machine, struct slice module, struct slice name)
{
    struct buffer text = BUFFER_INIT;
    struct slice copy = {NULL, 0};

    buffer_add(&text, module);
    buffer_add_byte(&text, ' ');
    buffer_add(&text, name);
    if (!text.has_failed) {
        copy = arena_copy(machine->arena, buffer_slice(&text));
    }
    buffer_release(&text);
    return copy.bytes == NULL
               ? fail_memory(machine)
               : pickle_machine_push_new(
                     machine,
                     (struct pickle_value){.kind = PICKLE_GLOBAL, .text = copy});
}

bool pickle_machine_global(struct pickle_machine *machine)
{
    struct slice module, name;

    return take_line(machine, &module) && take_line(machine, &name) &&
           push_global(machine, module, name);
}

bool pickle_machine_stack_global(struct pickle_machine *machine)
{
    const struct pickle_value *name, *module;

    if (!pickle_machine_pop(machine, &name) || !pickle_machine_pop(machine, &module)) {
        return false;
    }
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT) {
        return fail(machine, "a global without a name");
    }
    return push_global(machine, module->text, name->text);
}

static bool add_pair(struct pickle_machine *machine,
                     const struct pickle_value *dictionary,
                     const struct pickle_value *key,
                     const struct pickle_value *value)
{
    struct pickle_value *changed =
        (struct pickle_value *)dictionary; /* from push_new */
    struct pickle_pair *pair;

    if (dictionary->kind != PICKLE_DICT && dictionary->kind != PICKLE_CALL) {
        return fail(machine, "an item of what is no dictionary");
    }
    pair = arena_allocate(machine->arena, 1, sizeof *pair);
    if (pair == NULL) {
        return fail_memory(machine);
    }
    *pair = (struct pickle_pair){key, value, dictionary->pairs};
    changed->pairs = pair;
    return true;
}

bool pickle_machine_set_item(struct pickle_machine *machine)
{
    const struct pickle_value *dictionary, *key, *value;

    return pickle_machine_pop(machine, &value) && pickle_machine_pop(machine, &key) &&
           pickle_machine_pop(machine, &dictionary) &&
           add_pair(machine, dictionary, key, value) &&
           pickle_machine_push(machine, dictionary);
}

bool pickle_machine_set_items(struct pickle_machine *machine)
{
    size_t mark;
    const struct pickle_value **items;

    if (!find_mark(machine, &mark)) {
        return false;
    }
    items = machine->stack.items;
    if (mark == 0 || items[mark - 1] == NULL ||
        (machine->stack.count - mark) % 2 == 0) {
        return fail(machine, "items without a dictionary");
    }
    for (size_t i = mark + 1; i < machine->stack.count; i += 2) {
        if (!add_pair(machine, items[mark - 1], items[i], items[i + 1])) {
            return false;
        }
    }
    machine->stack.count = mark;
    return true;
}

void pickle_machine_release(struct pickle_machine *machine)
{
    memory_free(machine->stack.items);
    memory_free(machine->memo.items);
}
