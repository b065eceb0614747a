/* A pickle read as data. The opcodes are those that Python's pickle writes with the protocols 2
 * to 5; those of the older ones, which are text, are not known. */
#include "runtime/trace/pickle_read.h"

#include "runtime/base/buffer.h"
#include "runtime/base/memory.h"
#include "runtime/base/utf8.h"

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

typedef const struct pickle_value *value_pointer;

struct values {
    value_pointer *items; /* owned */
    size_t count;
    size_t capacity;
};

struct reader {
    struct slice bytes;
    size_t offset;
    struct arena *arena;
    struct error *error;
    struct values stack; /* NULL: a mark */
    struct values memo;  /* NULL: nothing was put there */
};

static const struct pickle_value none = {.kind = PICKLE_NONE};

/* ---- failures ---- */

static bool fail(struct reader *reader, const char *what)
{
    error_set(reader->error, ERROR_INPUT, "a damaged pickle: %s at byte %zu", what,
              reader->offset);
    return false;
}

static bool fail_memory(struct reader *reader)
{
    error_set_memory(reader->error);
    return false;
}

/* ---- bytes ---- */

static bool take(struct reader *reader, size_t size, const unsigned char **bytes)
{
    if (reader->bytes.size - reader->offset < size) {
        return fail(reader, "it is cut off");
    }
    *bytes = (const unsigned char *)reader->bytes.bytes + reader->offset;
    reader->offset += size;
    return true;
}

/* Little-endian, of at most 8 bytes. */
static bool take_number(struct reader *reader, size_t size, uint64_t *number)
{
    const unsigned char *bytes;

    if (!take(reader, size, &bytes)) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        *number |= (uint64_t)bytes[i] << (8 * i);
    }
    return true;
}

/* Bytes whose count stands in front of them, in `size` bytes. */
static bool take_counted(struct reader *reader, size_t size, struct slice *text)
{
    const unsigned char *bytes;
    uint64_t count;

    if (!take_number(reader, size, &count)) {
        return false;
    }
    if (count > SIZE_MAX || !take(reader, (size_t)count, &bytes)) {
        return fail(reader, "it is cut off");
    }
    *text = (struct slice){(const char *)bytes, (size_t)count};
    return true;
}

static bool take_line(struct reader *reader, struct slice *line)
{
    size_t end = slice_find(reader->bytes, SLICE("\n"), reader->offset);

    if (end == reader->bytes.size) {
        return fail(reader, "it is cut off");
    }
    *line = slice_part(reader->bytes, reader->offset, end);
    reader->offset = end + 1;
    return true;
}

/* ---- stack and memo ---- */

static bool values_reserve(struct reader *reader, struct values *values, size_t count)
{
    void *items = values->items;
    bool is_done = memory_grow(&items, &values->capacity, count, sizeof *values->items);

    values->items = items;
    return is_done || fail_memory(reader);
}

static bool push(struct reader *reader, value_pointer value)
{
    if (!values_reserve(reader, &reader->stack, reader->stack.count + 1)) {
        return false;
    }
    reader->stack.items[reader->stack.count++] = value;
    return true;
}

static bool push_new(struct reader *reader, struct pickle_value value)
{
    struct pickle_value *copy = arena_allocate(reader->arena, 1, sizeof *copy);

    if (copy == NULL) {
        return fail_memory(reader);
    }
    *copy = value;
    return push(reader, copy);
}

static bool push_kind(struct reader *reader, enum pickle_kind kind)
{
    return push_new(reader, (struct pickle_value){.kind = kind});
}

/* The value on top; a mark is none. */
static bool pop(struct reader *reader, value_pointer *value)
{
    if (reader->stack.count == 0 ||
        reader->stack.items[reader->stack.count - 1] == NULL) {
        return fail(reader, "a value is missing");
    }
    *value = reader->stack.items[--reader->stack.count];
    return true;
}

/* The place of the last mark in the stack. */
static bool find_mark(struct reader *reader, size_t *mark)
{
    for (size_t i = reader->stack.count; i > 0; i--) {
        if (reader->stack.items[i - 1] == NULL) {
            *mark = i - 1;
            return true;
        }
    }
    return fail(reader, "a mark is missing");
}

static bool memo_put(struct reader *reader, uint64_t place)
{
    struct values *memo = &reader->memo;
    value_pointer value;

    /* Python numbers them one by one, and each takes a byte of the pickle at least. */
    if (place > reader->bytes.size) {
        return fail(reader, "a memo far away");
    }
    if (!pop(reader, &value) || !push(reader, value) ||
        !values_reserve(reader, memo, (size_t)place + 1)) {
        return false;
    }
    while (memo->count <= place) {
        memo->items[memo->count++] = NULL;
    }
    memo->items[place] = value;
    return true;
}

static bool memo_get(struct reader *reader, uint64_t place)
{
    if (place >= reader->memo.count || reader->memo.items[place] == NULL) {
        return fail(reader, "nothing was kept in the memo");
    }
    return push(reader, reader->memo.items[place]);
}

/* ---- values made of others ---- */

/* The topmost `count` values, none of which is a mark, become one. */
static bool fold(struct reader *reader, enum pickle_kind kind, size_t count)
{
    value_pointer *items = arena_allocate(reader->arena, count, sizeof *items);

    if (items == NULL) {
        return fail_memory(reader);
    }
    for (size_t i = count; i > 0; i--) {
        if (!pop(reader, &items[i - 1])) {
            return false;
        }
    }
    return push_new(reader, (struct pickle_value){
                                .kind = kind, .items = items, .item_count = count});
}

static bool fold_marked(struct reader *reader, enum pickle_kind kind)
{
    size_t mark;

    if (!find_mark(reader, &mark) ||
        !fold(reader, kind, reader->stack.count - mark - 1)) {
        return false;
    }
    /* The new value takes the mark's place. */
    reader->stack.items[mark] = reader->stack.items[mark + 1];
    reader->stack.count = mark + 1;
    return true;
}

/* Forgets what stands above the last mark, and the mark. */
static bool drop_marked(struct reader *reader)
{
    return find_mark(reader, &reader->stack.count);
}

static bool drop(struct reader *reader)
{
    value_pointer value;

    return pop(reader, &value);
}

static bool push_text(struct reader *reader, struct slice text)
{
    if (utf8_find_invalid(text) != text.size) {
        /* Python writes lone surrogates too: no text of ours. */
        return push_kind(reader, PICKLE_OTHER);
    }
    return push_new(reader, (struct pickle_value){.kind = PICKLE_TEXT, .text = text});
}

static bool push_global(struct reader *reader, struct slice module, struct slice name)
{
    struct buffer text = BUFFER_INIT;
    struct slice copy = {NULL, 0};

    buffer_add(&text, module);
    buffer_add_byte(&text, ' ');
    buffer_add(&text, name);
    if (!text.has_failed) {
        copy = arena_copy(reader->arena, buffer_slice(&text));
    }
    buffer_release(&text);
    return copy.bytes == NULL
               ? fail_memory(reader)
               : push_new(reader,
                          (struct pickle_value){.kind = PICKLE_GLOBAL, .text = copy});
}

static bool read_global(struct reader *reader)
{
    struct slice module, name;

    return take_line(reader, &module) && take_line(reader, &name) &&
           push_global(reader, module, name);
}

static bool read_stack_global(struct reader *reader)
{
    value_pointer name, module;

    if (!pop(reader, &name) || !pop(reader, &module)) {
        return false;
    }
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT) {
        return fail(reader, "a global without a name");
    }
    return push_global(reader, module->text, name->text);
}

static bool add_pair(struct reader *reader,
                     value_pointer dictionary,
                     value_pointer key,
                     value_pointer value)
{
    struct pickle_value *changed =
        (struct pickle_value *)dictionary; /* from push_new */
    struct pickle_pair *pair;

    if (dictionary->kind != PICKLE_DICT && dictionary->kind != PICKLE_CALL) {
        return fail(reader, "an item of what is no dictionary");
    }
    pair = arena_allocate(reader->arena, 1, sizeof *pair);
    if (pair == NULL) {
        return fail_memory(reader);
    }
    *pair = (struct pickle_pair){key, value, dictionary->pairs};
    changed->pairs = pair;
    return true;
}

static bool set_item(struct reader *reader)
{
    value_pointer dictionary, key, value;

    return pop(reader, &value) && pop(reader, &key) && pop(reader, &dictionary) &&
           add_pair(reader, dictionary, key, value) && push(reader, dictionary);
}

static bool set_items(struct reader *reader)
{
    size_t mark;
    value_pointer *items;

    if (!find_mark(reader, &mark)) {
        return false;
    }
    items = reader->stack.items;
    if (mark == 0 || items[mark - 1] == NULL || (reader->stack.count - mark) % 2 == 0) {
        return fail(reader, "items without a dictionary");
    }
    for (size_t i = mark + 1; i < reader->stack.count; i += 2) {
        if (!add_pair(reader, items[mark - 1], items[i], items[i + 1])) {
            return false;
        }
    }
    reader->stack.count = mark;
    return true;
}

/* ---- opcodes ---- */

static bool push_integer(struct reader *reader, int64_t integer)
{
    return push_new(reader,
                    (struct pickle_value){.kind = PICKLE_INTEGER, .integer = integer});
}

static bool read_integer(struct reader *reader, size_t size, bool is_signed)
{
    uint64_t number;

    if (!take_number(reader, size, &number)) {
        return false;
    }
    return push_integer(reader,
                        is_signed ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* A number of any size in two's complement. */
static bool read_long(struct reader *reader)
{
    struct slice digits;
    uint64_t number = 0;

    if (!take_counted(reader, 1, &digits)) {
        return false;
    }
    if (digits.size > 8) {
        return push_kind(reader, PICKLE_OTHER);
    }
    if (digits.size > 0 && (digits.bytes[digits.size - 1] & 0x80) != 0) {
        number = UINT64_MAX;
    }
    for (size_t i = digits.size; i > 0; i--) {
        number = number << 8 | (unsigned char)digits.bytes[i - 1];
    }
    return push_integer(reader, (int64_t)number);
}

static bool read_text(struct reader *reader, size_t count_size, bool is_text)
{
    struct slice text;

    return take_counted(reader, count_size, &text) &&
           (is_text ? push_text(reader, text) : push_kind(reader, PICKLE_OTHER));
}

static bool skip(struct reader *reader, size_t size)
{
    const unsigned char *bytes;

    return take(reader, size, &bytes);
}

static bool read_memo(struct reader *reader, size_t size, bool is_get)
{
    uint64_t place;

    return take_number(reader, size, &place) &&
           (is_get ? memo_get(reader, place) : memo_put(reader, place));
}

static bool run_bool(struct reader *reader, bool value)
{
    return push_new(reader,
                    (struct pickle_value){.kind = PICKLE_BOOL, .integer = value});
}

/* Opcodes that put a new value on the stack, or keep or fetch one. */
static bool run_simple(struct reader *reader, unsigned char opcode, bool *is_known)
{
    *is_known = true;
    switch (opcode) {
    case OP_PROTO:
        return skip(reader, 1);
    case OP_FRAME:
        return skip(reader, 8);
    case OP_MARK:
        return push(reader, NULL);
    case OP_NONE:
        return push(reader, &none);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return run_bool(reader, opcode == OP_NEWTRUE);
    case OP_BININT:
        return read_integer(reader, 4, true);
    case OP_BININT1:
        return read_integer(reader, 1, false);
    case OP_BININT2:
        return read_integer(reader, 2, false);
    case OP_LONG1:
        return read_long(reader);
    case OP_BINFLOAT:
        return skip(reader, 8) && push_kind(reader, PICKLE_OTHER);
    case OP_SHORT_BINUNICODE:
        return read_text(reader, 1, true);
    case OP_BINUNICODE:
        return read_text(reader, 4, true);
    case OP_BINUNICODE8:
        return read_text(reader, 8, true);
    case OP_SHORT_BINBYTES:
    case OP_SHORT_BINSTRING:
        return read_text(reader, 1, false);
    case OP_BINBYTES:
    case OP_BINSTRING:
        return read_text(reader, 4, false);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8:
        return read_text(reader, 8, false);
    case OP_GLOBAL:
        return read_global(reader);
    case OP_BINPUT:
        return read_memo(reader, 1, false);
    case OP_LONG_BINPUT:
        return read_memo(reader, 4, false);
    case OP_BINGET:
        return read_memo(reader, 1, true);
    case OP_LONG_BINGET:
        return read_memo(reader, 4, true);
    case OP_MEMOIZE:
        return memo_put(reader, reader->memo.count);
    default:
        *is_known = false;
        return true;
    }
}

/* Opcodes that make a value of those on the stack. */
static bool run_fold(struct reader *reader, unsigned char opcode)
{
    switch (opcode) {
    case OP_POP:
        return drop(reader);
    case OP_POP_MARK:
    case OP_APPENDS:
    case OP_ADDITEMS:
        return drop_marked(reader);
    case OP_APPEND:
    case OP_BUILD:
        return drop(reader);
    case OP_EMPTY_TUPLE:
        return fold(reader, PICKLE_TUPLE, 0);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return fold(reader, PICKLE_TUPLE, (size_t)(opcode - OP_TUPLE1) + 1);
    case OP_TUPLE:
        return fold_marked(reader, PICKLE_TUPLE);
    case OP_FROZENSET:
        return fold_marked(reader, PICKLE_OTHER);
    case OP_EMPTY_LIST:
        return push_kind(reader, PICKLE_LIST);
    case OP_EMPTY_DICT:
        return push_kind(reader, PICKLE_DICT);
    case OP_EMPTY_SET:
        return push_kind(reader, PICKLE_OTHER);
    case OP_SETITEM:
        return set_item(reader);
    case OP_SETITEMS:
        return set_items(reader);
    case OP_STACK_GLOBAL:
        return read_stack_global(reader);
    case OP_REDUCE:
    case OP_NEWOBJ:
        return fold(reader, PICKLE_CALL, 2);
    case OP_NEWOBJ_EX:
        return fold(reader, PICKLE_OTHER, 3);
    case OP_BINPERSID:
        return fold(reader, PICKLE_PERSISTENT, 1);
    default:
        error_set(reader->error, ERROR_INPUT,
                  "a pickle with an opcode that is not known here: 0x%02x at byte %zu",
                  opcode, reader->offset - 1);
        return false;
    }
}

static bool run(struct reader *reader, value_pointer *result)
{
    const unsigned char *opcode;
    bool is_known;

    for (;;) {
        if (!take(reader, 1, &opcode)) {
            return false;
        }
        if (*opcode == OP_STOP) {
            return pop(reader, result);
        }
        if (!run_simple(reader, *opcode, &is_known) ||
            (!is_known && !run_fold(reader, *opcode))) {
            return false;
        }
    }
}

const struct pickle_value *
pickle_read(struct slice bytes, struct arena *arena, struct error *error)
{
    struct reader reader = {.bytes = bytes, .arena = arena, .error = error};
    value_pointer result;

    if (!run(&reader, &result)) {
        result = NULL;
    }
    memory_free(reader.stack.items);
    memory_free(reader.memo.items);
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
