/* Pickle reader. It knows the opcodes that Python's pickle writes with protocols 2 to 5, but not
 * the older text opcodes. */
#include "runtime/saved/pt/pickle_read.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

#include <assert.h>

struct pickle_values {
    const struct pickle_value **items; /* owned */
    size_t count;
    size_t capacity;
};

struct pickle_machine {
    struct slice bytes;         /* borrowed: the whole pickle */
    size_t offset;              /* of the next byte */
    struct arena *arena;        /* borrowed: holds the values */
    struct error *error;        /* borrowed */
    struct pickle_values stack; /* NULL items are marks */
    struct pickle_values memo;  /* NULL: an unused place */
};

/* ---- the state of the machine: the bytes, a stack of values and a memo ---- */

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

static bool pickle_machine_detach(struct pickle_machine *machine,
                                  size_t size,
                                  const unsigned char **bytes)
{
    assert(machine->offset <= machine->bytes.size);
    if (machine->bytes.size - machine->offset < size) {
        return fail(machine, "it is cut off");
    }
    *bytes = (const unsigned char *)machine->bytes.bytes + machine->offset;
    machine->offset += size;
    return true;
}

/* Reads a little-endian number of at most 8 bytes. */
static bool
pickle_machine_pop_number(struct pickle_machine *machine, size_t size, uint64_t *number)
{
    const unsigned char *bytes;

    assert(size <= sizeof *number);
    if (!pickle_machine_detach(machine, size, &bytes)) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        *number |= (uint64_t)bytes[i] << (8 * i);
    }
    return true;
}

/* Reads a count of `size` bytes, and as many bytes. */
static bool pickle_machine_pop_counted(struct pickle_machine *machine,
                                       size_t size,
                                       struct slice *text)
{
    const unsigned char *bytes;
    uint64_t count;

    if (!pickle_machine_pop_number(machine, size, &count)) {
        return false;
    }
    if (count > SIZE_MAX || !pickle_machine_detach(machine, (size_t)count, &bytes)) {
        return fail(machine, "it is cut off");
    }
    *text = (struct slice){(const char *)bytes, (size_t)count};
    return true;
}

static bool next_line(struct pickle_machine *machine, struct slice *line)
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

/* Pushes a value. NULL pushes a mark. */
static bool pickle_machine_push(struct pickle_machine *machine,
                                const struct pickle_value *value)
{
    if (!values_reserve(machine, &machine->stack, machine->stack.count + 1)) {
        return false;
    }
    machine->stack.items[machine->stack.count++] = value;
    return true;
}

static bool pickle_machine_push_new(struct pickle_machine *machine,
                                    struct pickle_value value)
{
    struct pickle_value *copy = arena_allocate(machine->arena, 1, sizeof *copy);

    if (copy == NULL) {
        return fail_memory(machine);
    }
    *copy = value;
    return pickle_machine_push(machine, copy);
}

static bool pickle_machine_push_kind(struct pickle_machine *machine,
                                     enum pickle_kind kind)
{
    return pickle_machine_push_new(machine, (struct pickle_value){.kind = kind});
}

/* Pops the topmost value, which must not be a mark. */
static bool pickle_machine_pop(struct pickle_machine *machine,
                               const struct pickle_value **value)
{
    if (machine->stack.count == 0 ||
        machine->stack.items[machine->stack.count - 1] == NULL) {
        return fail(machine, "a value is missing");
    }
    *value = machine->stack.items[--machine->stack.count];
    return true;
}

/* The index of the last mark in the stack. */
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

static bool pickle_machine_memo_put(struct pickle_machine *machine, uint64_t place)
{
    struct pickle_values *memo = &machine->memo;
    const struct pickle_value *value;

    /* Python numbers the places one by one, and each needs at least one byte of the pickle. */
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
    assert(place < memo->count && memo->count <= memo->capacity);
    memo->items[place] = value;
    return true;
}

static bool pickle_machine_memo_get(struct pickle_machine *machine, uint64_t place)
{
    if (place >= machine->memo.count || machine->memo.items[place] == NULL) {
        return fail(machine, "nothing was kept in the memo");
    }
    return pickle_machine_push(machine, machine->memo.items[place]);
}

/* ---- values composed of others ---- */

/* Replaces the topmost `count` values, none of which may be a mark, with one value that holds
 * them. */
static bool
pickle_machine_fold(struct pickle_machine *machine, enum pickle_kind kind, size_t count)
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

/* The same for the values above the last mark, and removes the mark. */
static bool pickle_machine_fold_marked(struct pickle_machine *machine,
                                       enum pickle_kind kind)
{
    size_t mark;

    if (!find_mark(machine, &mark) ||
        !pickle_machine_fold(machine, kind, machine->stack.count - mark - 1)) {
        return false;
    }
    /* The new value replaces the mark. */
    assert(machine->stack.count == mark + 2);
    machine->stack.items[mark] = machine->stack.items[mark + 1];
    machine->stack.count = mark + 1;
    return true;
}

/* Removes the last mark and the values above it. */
static bool pickle_machine_drop_marked(struct pickle_machine *machine)
{
    return find_mark(machine, &machine->stack.count);
}

static bool pickle_machine_drop(struct pickle_machine *machine)
{
    const struct pickle_value *value;

    return pickle_machine_pop(machine, &value);
}

static bool pickle_machine_push_text(struct pickle_machine *machine, struct slice text)
{
    if (utf8_find_invalid(text) != text.size) {
        /* Python also writes lone surrogates, which are not kept as text. */
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

/* Reads a global: its module and name are the next two lines of the pickle, or two texts on the
 * stack. */
static bool pickle_machine_global(struct pickle_machine *machine)
{
    struct slice module, name;

    return next_line(machine, &module) && next_line(machine, &name) &&
           push_global(machine, module, name);
}

static bool pickle_machine_stack_global(struct pickle_machine *machine)
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
    struct pickle_value *changed = (struct pickle_value *)
        dictionary; /* made by push_new, so it is not really const */
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

/* Puts a key and a value, or all pairs above the last mark, into a dictionary. */
static bool pickle_machine_set_item(struct pickle_machine *machine)
{
    const struct pickle_value *dictionary, *key, *value;

    return pickle_machine_pop(machine, &value) && pickle_machine_pop(machine, &key) &&
           pickle_machine_pop(machine, &dictionary) &&
           add_pair(machine, dictionary, key, value) &&
           pickle_machine_push(machine, dictionary);
}

static bool pickle_machine_set_items(struct pickle_machine *machine)
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

static void pickle_machine_release(struct pickle_machine *machine)
{
    memory_free(machine->stack.items);
    memory_free(machine->memo.items);
}

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_POP = '0',
    OP_POP_MARK = '1',
    OP_NONE = 'N',
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_LONG1 = 0x8a,
    OP_BINFLOAT = 'G',
    OP_BINUNICODE = 'X',
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_BINBYTES8 = 0x8e,
    OP_BYTEARRAY8 = 0x96,
    OP_BINSTRING = 'T',
    OP_SHORT_BINSTRING = 'U',
    OP_EMPTY_TUPLE = ')',
    OP_TUPLE = 't',
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_EMPTY_LIST = ']',
    OP_APPEND = 'a',
    OP_APPENDS = 'e',
    OP_EMPTY_DICT = '}',
    OP_SETITEM = 's',
    OP_SETITEMS = 'u',
    OP_EMPTY_SET = 0x8f,
    OP_ADDITEMS = 0x90,
    OP_FROZENSET = 0x91,
    OP_GLOBAL = 'c',
    OP_STACK_GLOBAL = 0x93,
    OP_REDUCE = 'R',
    OP_NEWOBJ = 0x81,
    OP_NEWOBJ_EX = 0x92,
    OP_BUILD = 'b',
    OP_BINPERSID = 'Q',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_MEMOIZE = 0x94,
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_PROTO = 0x80,
    OP_FRAME = 0x95,
};

static const struct pickle_value none = {.kind = PICKLE_NONE};

static bool push_integer(struct pickle_machine *machine, int64_t integer)
{
    return pickle_machine_push_new(
        machine, (struct pickle_value){.kind = PICKLE_INTEGER, .integer = integer});
}

static bool read_integer(struct pickle_machine *machine, size_t size, bool is_signed)
{
    uint64_t number;

    if (!pickle_machine_pop_number(machine, size, &number)) {
        return false;
    }
    return push_integer(machine,
                        is_signed ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* Reads a number of any size in two's complement. */
static bool read_long(struct pickle_machine *machine)
{
    struct slice digits;
    uint64_t number = 0;

    if (!pickle_machine_pop_counted(machine, 1, &digits)) {
        return false;
    }
    if (digits.size > 8) {
        return pickle_machine_push_kind(machine, PICKLE_OTHER);
    }
    if (digits.size > 0 && (digits.bytes[digits.size - 1] & 0x80) != 0) {
        number = UINT64_MAX;
    }
    for (size_t i = digits.size; i > 0; i--) {
        number = number << 8 | (unsigned char)digits.bytes[i - 1];
    }
    return push_integer(machine, (int64_t)number);
}

static bool read_text(struct pickle_machine *machine, size_t count_size, bool is_text)
{
    struct slice text;

    return pickle_machine_pop_counted(machine, count_size, &text) &&
           (is_text ? pickle_machine_push_text(machine, text)
                    : pickle_machine_push_kind(machine, PICKLE_OTHER));
}

static bool skip(struct pickle_machine *machine, size_t size)
{
    const unsigned char *bytes;

    return pickle_machine_detach(machine, size, &bytes);
}

static bool read_memo(struct pickle_machine *machine, size_t size, bool is_get)
{
    uint64_t place;

    return pickle_machine_pop_number(machine, size, &place) &&
           (is_get ? pickle_machine_memo_get(machine, place)
                   : pickle_machine_memo_put(machine, place));
}

static bool run_bool(struct pickle_machine *machine, bool value)
{
    return pickle_machine_push_new(
        machine, (struct pickle_value){.kind = PICKLE_BOOL, .integer = value});
}

/* Runs opcodes that push a new value, or store or fetch one in the memo. */
static bool
run_simple(struct pickle_machine *machine, unsigned char opcode, bool *is_known)
{
    *is_known = true;
    switch (opcode) {
    case OP_PROTO:
        return skip(machine, 1);
    case OP_FRAME:
        return skip(machine, 8);
    case OP_MARK:
        return pickle_machine_push(machine, NULL);
    case OP_NONE:
        return pickle_machine_push(machine, &none);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return run_bool(machine, opcode == OP_NEWTRUE);
    case OP_BININT:
        return read_integer(machine, 4, true);
    case OP_BININT1:
        return read_integer(machine, 1, false);
    case OP_BININT2:
        return read_integer(machine, 2, false);
    case OP_LONG1:
        return read_long(machine);
    case OP_BINFLOAT:
        return skip(machine, 8) && pickle_machine_push_kind(machine, PICKLE_OTHER);
    case OP_SHORT_BINUNICODE:
        return read_text(machine, 1, true);
    case OP_BINUNICODE:
        return read_text(machine, 4, true);
    case OP_BINUNICODE8:
        return read_text(machine, 8, true);
    case OP_SHORT_BINBYTES:
    case OP_SHORT_BINSTRING:
        return read_text(machine, 1, false);
    case OP_BINBYTES:
    case OP_BINSTRING:
        return read_text(machine, 4, false);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8:
        return read_text(machine, 8, false);
    case OP_GLOBAL:
        return pickle_machine_global(machine);
    case OP_BINPUT:
        return read_memo(machine, 1, false);
    case OP_LONG_BINPUT:
        return read_memo(machine, 4, false);
    case OP_BINGET:
        return read_memo(machine, 1, true);
    case OP_LONG_BINGET:
        return read_memo(machine, 4, true);
    case OP_MEMOIZE:
        return pickle_machine_memo_put(machine, machine->memo.count);
    default:
        *is_known = false;
        return true;
    }
}

/* Runs opcodes that compose a value of those on the stack. */
static bool run_fold(struct pickle_machine *machine, unsigned char opcode)
{
    switch (opcode) {
    case OP_POP:
        return pickle_machine_drop(machine);
    case OP_POP_MARK:
    case OP_APPENDS:
    case OP_ADDITEMS:
        return pickle_machine_drop_marked(machine);
    case OP_APPEND:
    case OP_BUILD:
        return pickle_machine_drop(machine);
    case OP_EMPTY_TUPLE:
        return pickle_machine_fold(machine, PICKLE_TUPLE, 0);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return pickle_machine_fold(machine, PICKLE_TUPLE,
                                   (size_t)(opcode - OP_TUPLE1) + 1);
    case OP_TUPLE:
        return pickle_machine_fold_marked(machine, PICKLE_TUPLE);
    case OP_FROZENSET:
        return pickle_machine_fold_marked(machine, PICKLE_OTHER);
    case OP_EMPTY_LIST:
        return pickle_machine_push_kind(machine, PICKLE_LIST);
    case OP_EMPTY_DICT:
        return pickle_machine_push_kind(machine, PICKLE_DICT);
    case OP_EMPTY_SET:
        return pickle_machine_push_kind(machine, PICKLE_OTHER);
    case OP_SETITEM:
        return pickle_machine_set_item(machine);
    case OP_SETITEMS:
        return pickle_machine_set_items(machine);
    case OP_STACK_GLOBAL:
        return pickle_machine_stack_global(machine);
    case OP_REDUCE:
    case OP_NEWOBJ:
        return pickle_machine_fold(machine, PICKLE_CALL, 2);
    case OP_NEWOBJ_EX:
        return pickle_machine_fold(machine, PICKLE_OTHER, 3);
    case OP_BINPERSID:
        return pickle_machine_fold(machine, PICKLE_PERSISTENT, 1);
    default:
        error_set(machine->error, ERROR_INPUT,
                  "a pickle with an opcode that is not known here: 0x%02x at byte %zu",
                  opcode, machine->offset - 1);
        return false;
    }
}

static bool run(struct pickle_machine *machine, const struct pickle_value **result)
{
    const unsigned char *opcode;
    bool is_known;

    for (;;) {
        if (!pickle_machine_detach(machine, 1, &opcode)) {
            return false;
        }
        if (*opcode == OP_STOP) {
            return pickle_machine_pop(machine, result);
        }
        if (!run_simple(machine, *opcode, &is_known) ||
            (!is_known && !run_fold(machine, *opcode))) {
            return false;
        }
    }
}

const struct pickle_value *
pickle_read(struct slice bytes, struct arena *arena, struct error *error)
{
    struct pickle_machine machine = {.bytes = bytes, .arena = arena, .error = error};
    const struct pickle_value *result;

    if (!run(&machine, &result)) {
        result = NULL;
    }
    pickle_machine_release(&machine);
    return result;
}

const struct pickle_value *pickle_value_find(const struct pickle_value *dictionary,
                                             struct slice key)
{
    for (const struct pickle_pair *pair = dictionary->pairs; pair != NULL;
         pair = pair->older) {
        if (pair->key->kind == PICKLE_TEXT && slice_equal(pair->key->text, key)) {
            return pair->value;
        }
    }
    return NULL;
}
