/* A pickle read as data. The opcodes are those that Python's pickle writes with the protocols 2
 * to 5; those of the older ones, which are text, are not known. */
#include "runtime/saved/pt/pickle_machine.h"

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

    if (!pickle_machine_take_number(machine, size, &number)) {
        return false;
    }
    return push_integer(machine,
                        is_signed ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* A number of any size in two's complement. */
static bool read_long(struct pickle_machine *machine)
{
    struct slice digits;
    uint64_t number = 0;

    if (!pickle_machine_take_counted(machine, 1, &digits)) {
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

    return pickle_machine_take_counted(machine, count_size, &text) &&
           (is_text ? pickle_machine_push_text(machine, text)
                    : pickle_machine_push_kind(machine, PICKLE_OTHER));
}

static bool skip(struct pickle_machine *machine, size_t size)
{
    const unsigned char *bytes;

    return pickle_machine_take(machine, size, &bytes);
}

static bool read_memo(struct pickle_machine *machine, size_t size, bool is_get)
{
    uint64_t place;

    return pickle_machine_take_number(machine, size, &place) &&
           (is_get ? pickle_machine_memo_get(machine, place)
                   : pickle_machine_memo_put(machine, place));
}

static bool run_bool(struct pickle_machine *machine, bool value)
{
    return pickle_machine_push_new(
        machine, (struct pickle_value){.kind = PICKLE_BOOL, .integer = value});
}

/* Opcodes that put a new value on the stack, or keep or fetch one. */
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

/* Opcodes that make a value of those on the stack. */
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
        if (!pickle_machine_take(machine, 1, &opcode)) {
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
