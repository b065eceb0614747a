/* Reader of terms, which may be damaged or hostile. */
#include "runtime/site/term.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <string.h>

/* The largest depth of terms. The compiler writes no deeper ones, so they are damage. */
#define DEPTH_LIMIT 400

struct reading {
    struct slice text;
    size_t at;
    struct term *term;
    struct arena *arena;
    uint32_t read_count;
    int depth;
};

static char peek(const struct reading *reading)
{
    return reading->at < reading->text.size ? reading->text.bytes[reading->at] : '\0';
}

static bool accept(struct reading *reading, char byte)
{
    if (peek(reading) != byte || byte == '\0') {
        return false;
    }
    reading->at++;
    return true;
}

static bool read_number(struct reading *reading, uint32_t *number)
{
    size_t start = reading->at;
    uint64_t value = 0;

    while (peek(reading) >= '0' && peek(reading) <= '9') {
        value = value * 10 + (uint64_t)(reading->text.bytes[reading->at++] - '0');
        if (value >= UINT32_MAX) {
            return false;
        }
    }
    *number = (uint32_t)value;
    return reading->at > start;
}

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Resolves the escapes of a text. Returns false if they are damaged or memory runs out. */
static bool unescape(struct reading *reading, struct slice raw, struct slice *text)
{
    char *bytes = arena_allocate(reading->arena, raw.size + 1, 1);
    size_t size = 0;

    if (bytes == NULL) {
        return false;
    }
    for (size_t i = 0; i < raw.size; i++) {
        if (raw.bytes[i] == '%') {
            int high = i + 2 < raw.size ? digit_of(raw.bytes[i + 1]) : -1;
            int low = i + 2 < raw.size ? digit_of(raw.bytes[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return false;
            }
            bytes[size++] = (char)(high << 4 | low);
            i += 2;
        } else {
            bytes[size++] = raw.bytes[i];
        }
    }
    *text = (struct slice){bytes, size};
    return true;
}

static bool read_key(struct reading *reading, struct slice *key)
{
    size_t end = slice_find(reading->text, SLICE(";"), reading->at);
    struct slice raw = slice_part(reading->text, reading->at, end);

    if (end >= reading->text.size) {
        return false;
    }
    reading->at = end + 1;
    *key = raw;
    return raw.size == 0 || memchr(raw.bytes, '%', raw.size) == NULL ||
           unescape(reading, raw, key);
}

static bool read_term(struct reading *reading);

static bool read_terms(struct reading *reading)
{
    while (!accept(reading, '.')) {
        if (!read_term(reading)) {
            return false;
        }
    }
    return true;
}

static bool read_mark(struct reading *reading, struct term_node *node)
{
    if (peek(reading) == TERM_KEYWORD || peek(reading) == TERM_STAR ||
        peek(reading) == TERM_DOUBLE_STAR || peek(reading) == TERM_COMPUTED) {
        node->mark = (uint8_t)reading->text.bytes[reading->at++];
    }
    return node->mark != TERM_KEYWORD || read_key(reading, &node->given);
}

/* Reads the rest of a node after its letter. */
static bool read_inside(struct reading *reading, struct term_node *node)
{
    switch (node->kind) {
    case TERM_CONSTANT:
        return true;
    case TERM_READ:
        return read_number(reading, &node->number) &&
               node->number < reading->read_count;
    case TERM_NUMBER:
    case TERM_FROM_END:
        return read_number(reading, &node->number);
    case TERM_TEXT:
        return read_key(reading, &node->key);
    case TERM_ITEM:
    case TERM_LAST:
        return read_number(reading, &node->number) && read_term(reading);
    case TERM_NAMED:
        return read_number(reading, &node->number) &&
               node->number < reading->read_count && read_term(reading);
    case TERM_KEY:
    case TERM_ATTRIBUTE:
        return read_key(reading, &node->key) && read_term(reading);
    case TERM_FORM:
    case TERM_ANY:
    case TERM_EACH:
    case TERM_SOME:
        return read_term(reading);
    case TERM_AT_PLACE:
        return read_number(reading, &node->number) && read_term(reading);
    case TERM_CHOSEN:
        return read_term(reading) && read_term(reading);
    case TERM_ALL:
    case TERM_SUM:
    case TERM_ONE:
    case TERM_LIST:
    case TERM_DICT:
        return read_terms(reading);
    case TERM_CALL:
    case TERM_METHOD:
        return read_key(reading, &node->key) && read_term(reading) &&
               read_terms(reading);
    default:
        return false;
    }
}

static bool read_term(struct reading *reading)
{
    uint32_t place = reading->term->node_count;
    struct term_node *node = &reading->term->nodes[place];

    if (reading->depth == DEPTH_LIMIT) {
        return false;
    }
    *node = (struct term_node){.key = {"", 0}, .given = {"", 0}};
    if (!read_mark(reading, node) || peek(reading) == '\0') {
        return false;
    }
    node->kind = (uint8_t)reading->text.bytes[reading->at++];
    reading->term->node_count++;
    reading->depth++;
    if (!read_inside(reading, node)) {
        return false;
    }
    reading->depth--;
    node->next = reading->term->node_count;
    return true;
}

static bool read_part(struct reading *reading, struct term_part *part)
{
    *part = (struct term_part){.step_count = 0};
    if (!read_number(reading, &part->write)) {
        return false;
    }
    while (peek(reading) == TERM_STEP_ITEM || peek(reading) == TERM_STEP_LAST ||
           peek(reading) == TERM_STEP_REST) {
        uint8_t kind = (uint8_t)reading->text.bytes[reading->at++];

        if (part->step_count == TERM_STEPS_LIMIT ||
            (kind != TERM_STEP_REST &&
             !read_number(reading, &part->numbers[part->step_count]))) {
            return false;
        }
        part->kinds[part->step_count++] = kind;
    }
    part->is_put = accept(reading, '!');
    return true;
}

static bool read_parts(struct reading *reading)
{
    uint32_t count = 0;

    for (size_t i = reading->at; i < reading->text.size; i++) {
        count += reading->text.bytes[i] == '@';
    }
    reading->term->parts =
        arena_allocate(reading->arena, count, sizeof *reading->term->parts);
    if (reading->term->parts == NULL) {
        return false;
    }
    while (accept(reading, '@')) {
        assert(reading->term->part_count < count);
        if (!read_part(reading, &reading->term->parts[reading->term->part_count])) {
            return false;
        }
        reading->term->part_count++;
    }
    return reading->at == reading->text.size;
}

bool term_read(struct term *term,
               struct slice text,
               uint32_t read_count,
               struct arena *arena)
{
    struct reading reading = {
        .text = text, .term = term, .arena = arena, .read_count = read_count};
    struct term_node *nodes;

    *term = (struct term){.node_count = 0};
    if (text.size == 0) {
        return true;
    }
    /* Each node has its own letter, so there are no more nodes than bytes. */
    nodes = memory_allocate(text.size + 1, sizeof *nodes);
    term->nodes = nodes;
    if (nodes == NULL) {
        return false;
    }
    if (!read_term(&reading) || !read_parts(&reading)) {
        *term = (struct term){.node_count = 0};
    } else {
        term->nodes = arena_allocate(arena, term->node_count, sizeof *nodes);
    }
    if (term->node_count > 0 && term->nodes != NULL) {
        memcpy(term->nodes, nodes, term->node_count * sizeof *nodes);
    }
    memory_free(nodes);
    return !arena->has_failed;
}

const struct term_part *term_find_part(const struct term *term, uint32_t write)
{
    for (uint32_t i = 0; i < term->part_count; i++) {
        if (term->parts[i].write == write) {
            return &term->parts[i];
        }
    }
    return NULL;
}
