/* Script that makes a NaN or an infinity again: the choice of its statements, and the text
 * around them. */
#include "runtime/view/why/repro/private.h"

#include "runtime/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The maximal number of statements between the finite inputs and the maker. */
#define LINES_MAX 64

/* A statement of the script: the one that made `node`. */
struct line {
    uint32_t node;
    struct why_producer read; /* the statement and its inputs */
};

struct lines {
    struct line *items; /* owned */
    uint32_t count;
};

/* ---- the statements ---- */

/* Whether the text of the statement alone makes a value. False for heads of blocks and
 * statements that assign nothing. */
static bool is_plain(struct slice statement)
{
    static const char *const heads[] = {
        "for ",   "while ",  "if ",  "elif ",  "with ",  "def ",
        "class ", "async ",  "try",  "except", "match ", "case ",
        "yield",  "assert ", "del ", "lambda", "@",      "else"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (slice_starts(statement, slice_of(heads[i]))) {
            return false;
        }
    }
    return statement.size > 0;
}

static void read_line(struct why *why, uint32_t node, struct line *line)
{
    line->node = node;
    line->read = (struct why_producer){.node = node, .how = WHY_MADE};
    why_read_statement(why, &line->read);
}

static bool has_line(const struct lines *lines, uint32_t node)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        if (lines->items[i].node == node) {
            return true;
        }
    }
    return false;
}

/* Whether the statement that made the node belongs to the script: the node is not finite, was
 * made in the maker's own call, and was not computed from the result of a recorded call. */
static bool is_wanted(const struct why *why, uint32_t node, uint32_t call)
{
    assert(node < why->graph.node_count);

    const struct graph_node *found = &why->graph.nodes[node];

    if (why->facts[node].holds == 0 || why->facts[node].is_read ||
        found->call != call ||
        (found->flags & (GRAPH_ARGUMENT | GRAPH_RESULT | GRAPH_SOURCE)) != 0) {
        return false;
    }
    for (uint32_t i = why_first_edge(why, node); i < why_end_edge(why, node); i++) {
        if ((why->graph.nodes[why->graph.edges[i].source].flags & GRAPH_RESULT) != 0) {
            return false;
        }
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;

    return left->node < right->node ? -1 : left->node > right->node;
}

static void
collect(struct why *why, uint32_t node, bool is_backward, struct lines *lines)
{
    assert(node < why->graph.node_count);

    uint32_t call = why->graph.nodes[node].call;

    read_line(why, node, &lines->items[lines->count++]);
    for (uint32_t i = 0; i < lines->count && !is_backward; i++) {
        for (uint32_t k = 0; k < lines->items[i].read.input_count; k++) {
            uint32_t input = lines->items[i].read.inputs[k];
            struct line *next = &lines->items[lines->count];

            if (lines->count < LINES_MAX && input < node && !has_line(lines, input) &&
                is_wanted(why, input, call)) {
                read_line(why, input, next);
                lines->count += is_plain(next->read.statement);
            }
        }
    }
    qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
}

/* ---- a statement of the script ---- */

static void
bind_inputs(struct script_scope *scope, const struct lines *lines, uint32_t index)
{
    assert(index < lines->count);

    struct why *why = scope->repro->why;
    const struct line *line = &lines->items[index];

    for (uint32_t i = 0; i < line->read.input_count; i++) {
        uint32_t input = line->read.inputs[i];
        struct slice name = line->read.names[i];

        if (has_line(lines, input) && slice_equal(name, why_value(why, input)->name)) {
            continue;
        }
        if ((why->graph.nodes[input].flags & GRAPH_RESULT) == 0) {
            script_bind(scope, name, input);
        }
    }
    for (uint32_t i = why_first_edge(why, line->node);
         i < why_end_edge(why, line->node); i++) {
        const struct graph_edge *edge = &why->graph.edges[i];
        struct slice name = graph_text(&why->graph, edge->name);

        if (edge->kind == GRAPH_SHAPE && !has_line(lines, edge->source) &&
            (why->graph.nodes[edge->source].flags & GRAPH_RESULT) == 0) {
            script_bind(scope,
                        name.size > 0 ? name : why_value(why, edge->source)->name,
                        edge->source);
        }
    }
}

/* The expression of a statement, without the names that it assigns and without `return`. */
static struct slice evaluated(struct slice statement)
{
    if (slice_starts(statement, SLICE("return "))) {
        return slice_part(statement, strlen("return "), statement.size);
    }
    for (size_t at = slice_find(statement, SLICE(" = "), 0); at < statement.size;
         at = slice_find(statement, SLICE(" = "), 0)) {
        if (memchr(statement.bytes, '(', at) != NULL ||
            memchr(statement.bytes, '[', at) != NULL) {
            break;
        }
        statement = slice_part(statement, at + strlen(" = "), statement.size);
    }
    return statement;
}

/* Adds the heads of the `with` blocks around the line that need only imports, such as `with
 * torch.autocast("cpu"):`. Returns their number. */
#define BLOCKS_MAX 8

static unsigned add_blocks(struct script_scope *scope, uint32_t line)
{
    struct slice source = scope->repro->source;
    struct slice heads[BLOCKS_MAX];
    unsigned count = 0;
    struct slice head;

    while ((head = source_next_head(source, &line)).size > 0 && count < BLOCKS_MAX &&
           !slice_starts(head, SLICE("def ")) && !slice_starts(head, SLICE("class "))) {
        if (slice_starts(head, SLICE("with ")) && slice_ends(head, SLICE(":")) &&
            script_import_all(scope, head)) {
            heads[count++] = head;
        }
    }
    for (unsigned i = count; i-- > 0;) {
        buffer_add_format(&scope->text, "%*s", (int)(4 * (count - 1 - i)), "");
        buffer_add(&scope->text, heads[i]);
        buffer_add_byte(&scope->text, '\n');
    }
    return count;
}

/* Adds the statement, after definitions of the names that it reads. */
static void
add_line(struct script_scope *scope, const struct lines *lines, uint32_t index)
{
    assert(index < lines->count);

    const struct line *line = &lines->items[index];
    struct slice name = why_value(scope->repro->why, line->node)->name;
    struct slice statement = line->read.statement;
    bool is_return = slice_starts(statement, SLICE("return "));

    bind_inputs(scope, lines, index);
    script_resolve(scope, evaluated(statement));
    if (!is_return) {
        script_add_owners(scope, name);
        script_note(scope, slice_part(name, 0, slice_find(name, SLICE("["), 0)),
                    line->node);
    }
    buffer_add_format(&scope->text, "%*s",
                      (int)(4 * add_blocks(scope, line->read.line)), "");
    if (is_return) {
        buffer_add(&scope->text, SLICE("made = "));
        statement = evaluated(statement);
    }
    buffer_add(&scope->text, statement);
    buffer_add(&scope->text, SLICE("  # line "));
    buffer_add_number(&scope->text, line->read.line);
    buffer_add_byte(&scope->text, '\n');
}

/* ---- the script ---- */

static const char HELPERS[] =
    "def substitute(shape, dtype, seed, least=0.0, most=0.0, mean=0.0, std=0.0, "
    "zeros=0,\n"
    "             nan=0, posinf=0, neginf=0):\n"
    "    \"\"\"A tensor with these figures. NaN, infinities and zeros are its first "
    "elements.\"\"\"\n"
    "    count = math.prod(shape)\n"
    "    special = [math.nan] * nan + [math.inf] * posinf + [-math.inf] * neginf\n"
    "    generator = torch.Generator().manual_seed(seed)\n"
    "    draws = torch.randn(count - len(special), generator=generator, "
    "dtype=torch.float64)\n"
    "    draws = (draws * std + mean).clamp(least, most)\n"
    "    draws[:zeros] = 0\n"
    "    if len(draws) > zeros:\n"
    "        draws[-1] = most\n"
    "    if len(draws) > zeros + 1:\n"
    "        draws[-2] = least\n"
    "    values = torch.cat([torch.tensor(special, dtype=torch.float64), draws])\n"
    "    if not dtype.is_floating_point and dtype != torch.bool:\n"
    "        values = values.round()\n"
    "    return values.to(dtype).reshape(shape)\n\n\n";

static const char LEAF[] =
    "LEAVES = {}\n\n\n"
    "def leaf(name, value):\n"
    "    \"\"\"The value; its gradient is checked at the end.\"\"\"\n"
    "    LEAVES[name] = value.requires_grad_()\n"
    "    return value.clone()\n\n\n";

static const char FILL[] =
    "def fill(module, name, value):\n"
    "    parameter = dict(module.named_parameters()).get(name)\n"
    "    if parameter is not None and parameter.shape == value.shape:\n"
    "        parameter.data.copy_(value)\n\n\n";

static void add_head(const struct repro *repro, struct buffer *script)
{
    const struct repro_report *report = &repro->report;
    struct buffer head = BUFFER_INIT;

    why_head_add(repro->why, &head);
    buffer_add(script, SLICE("# "));
    buffer_add_printable(script, buffer_slice(&head));
    buffer_add(script,
               SLICE("\n#\n# Written by `monitorch why --repro`. It makes it again, "
                     "alone: exit code 0; or not: 1.\n"));
    if (report->substitute_count > 0) {
        buffer_add_format(
            script,
            "# %lu of the %lu tensors that it begins with are no recorded values, but "
            "substitutes: of\n# the recorded shape, dtype and figures, with as many "
            "NaN, "
            "infinities and zeros, in front.\n",
            (unsigned long)report->substitute_count,
            (unsigned long)report->input_count);
    } else {
        buffer_add(script,
                   SLICE("# The tensors that it begins with have their recorded "
                         "values.\n"));
    }
    script->has_failed |= head.has_failed;
    buffer_release(&head);
}

/* Adds the gradient that arrived at the statement's value, and the call of backward(). */
static void add_backward(struct script_scope *scope,
                         const struct why_producer *producer,
                         struct slice made)
{
    struct repro *repro = scope->repro;
    struct why *why = repro->why;
    struct script_value value;

    script_value_read(repro->reader, why->graph.nodes[producer->node].event,
                      why->backwards.items[why->backward].step, &value);
    buffer_add(&scope->text, SLICE("gradient = "));
    if (value.source == SCRIPT_NONE) {
        buffer_add(&scope->text, SLICE("torch.ones_like("));
        buffer_add(&scope->text, made);
        buffer_add(&scope->text, SLICE(")  # the one that arrived is not recorded\n"));
    } else {
        buffer_add(&scope->text, buffer_slice(&value.text));
        buffer_add(&scope->text, value.source == SCRIPT_SUBSTITUTE
                                     ? SLICE("  # substitute of ")
                                     : SLICE("  # "));
        buffer_add_printable(&scope->text, buffer_slice(&value.shown));
        buffer_add_byte(&scope->text, '\n');
        repro->report.input_count++;
        repro->report.substitute_count += value.source == SCRIPT_SUBSTITUTE;
    }
    buffer_add(&scope->text, made);
    buffer_add(&scope->text, SLICE(".backward(gradient)\n\n"));
    script_value_release(&value);
}

/* Adds the check of the gradients: those of the inputs, and those of the parameters of the
 * script's objects. */
static void add_gradient_check(struct script_scope *scope)
{
    const struct repro *repro = scope->repro;

    for (uint32_t i = 0; i < repro->object_count; i++) {
        buffer_add_format(
            &scope->text,
            "LEAVES.update((\"%.*s.\" + name, parameter) for name, parameter in "
            "%.*s.named_parameters())\n",
            (int)repro->objects[i].size, repro->objects[i].bytes,
            (int)repro->objects[i].size, repro->objects[i].bytes);
    }
    buffer_add(
        &scope->text,
        SLICE("bad = [name for name, leaf in LEAVES.items()\n"
              "       if leaf.grad is not None and not leaf.grad.isfinite().all()]\n"
              "print(\"made again: the gradient of\", \", \".join(bad)) if bad else "
              "print(\"not made again\")\n"
              "sys.exit(0 if bad else 1)\n"));
}

static void add_check(struct script_scope *scope, unsigned holds, struct slice made)
{
    struct buffer *text = &scope->text;

    buffer_add(text, SLICE("\nfound = torch.as_tensor("));
    buffer_add(text, made);
    buffer_add(text, (holds & WHY_NAN) != 0 ? SLICE(").isnan().any()\n")
                                            : SLICE(").isinf().any()\n"));
    buffer_add(
        text,
        (holds & WHY_NAN) != 0
            ? SLICE("print(\"made again: NaN\" if found else \"not made again\")\n")
            : SLICE("print(\"made again: Inf\" if found else \"not made again\")\n"));
    buffer_add(text, SLICE("sys.exit(0 if found else 1)\n"));
}

static void add_script(const struct repro *repro,
                       const struct script_scope *scope,
                       struct buffer *script)
{
    add_head(repro, script);
    buffer_add(script,
               SLICE("import math\nimport sys\nimport types\n\nimport torch\n"));
    buffer_add(script, buffer_slice(&repro->imports));
    buffer_add(script, SLICE("\n\n"));
    if (repro->report.substitute_count > 0) {
        buffer_add(script, SLICE(HELPERS));
    }
    if (repro->is_backward) {
        buffer_add(script, SLICE(LEAF));
    }
    if (repro->object_count > 0) {
        buffer_add(script, SLICE(FILL));
    }
    buffer_add(script, buffer_slice(&repro->definitions));
    buffer_add(script, buffer_slice(&scope->text));
    script->has_failed |= repro->imports.has_failed || repro->definitions.has_failed ||
                          scope->text.has_failed || repro->arena.has_failed;
}

/* ---- the complete script ---- */

static bool refuse(const struct why_producer *producer, struct error *error)
{
    error_set(
        error, ERROR_USAGE, "no script: %s",
        producer == NULL ? "the value is finite"
        : producer->how == WHY_STEP
            ? "a call that writes to parameters made it, whose state is not recorded"
        : producer->how == WHY_CAME_IN ? "no recorded line made it: it entered there"
        : producer->how == WHY_BACKWARD
            ? "backward() was called with it, or began with it"
            : "no recorded line made it: code that is not recorded did");
    return false;
}

static bool refuse_missing(const struct repro *repro,
                           const struct why_producer *producer,
                           struct error *error)
{
    struct buffer text = BUFFER_INIT;

    for (uint32_t i = 0; i < repro->missing_count; i++) {
        buffer_add(&text, i == 0 ? SLICE("`") : SLICE(", `"));
        buffer_add_printable(&text, repro->missing[i]);
        buffer_add_byte(&text, '`');
    }
    error_set(
        error, ERROR_USAGE,
        "no script: the statement of line %lu reads %.*s, which the trace does not "
        "hold as a value; record the code that makes it, or with --sources",
        (unsigned long)producer->line, (int)text.size,
        text.bytes == NULL ? "" : text.bytes);
    buffer_release(&text);
    return false;
}

static bool refuse_statement(const struct why_producer *producer, struct error *error)
{
    error_set(error, ERROR_USAGE,
              "no script: the statement of line %lu cannot run alone",
              (unsigned long)producer->line);
    return false;
}

static bool write(struct repro *repro,
                  struct script_scope *scope,
                  struct lines *lines,
                  struct buffer *script,
                  struct error *error)
{
    struct why *why = repro->why;
    const struct why_producer *producer = &why->producers[why->main];
    struct line last;
    struct slice made;

    read_line(why, producer->node, &last);
    if (!is_plain(last.read.statement) ||
        (why->graph.nodes[producer->node].flags & GRAPH_ARGUMENT) != 0) {
        return refuse_statement(producer, error);
    }
    made = slice_starts(last.read.statement, SLICE("return "))
               ? SLICE("made")
               : why_value(why, producer->node)->name;
    collect(why, producer->node, repro->is_backward, lines);
    for (uint32_t i = 0; i < lines->count; i++) {
        add_line(scope, lines, i);
    }
    if (repro->missing_count > 0) {
        return refuse_missing(repro, producer, error);
    }
    if (repro->is_backward) {
        add_backward(scope, producer, made);
        add_gradient_check(scope);
    } else {
        add_check(scope, producer->made, made);
    }
    add_script(repro, scope, script);
    return !script->has_failed || error_set_memory(error);
}

static void release(struct repro *repro)
{
    log_reader_free(repro->reader);
    arena_release(&repro->arena);
    buffer_release(&repro->imports);
    buffer_release(&repro->definitions);
    memory_free(repro);
}

/* Writes the script for `producer`, a line with a statement that the script can run. */
static bool begin_and_write(struct repro *repro,
                            const struct why_producer *producer,
                            struct script_scope *scope,
                            struct lines *lines,
                            struct buffer *script,
                            struct error *error)
{
    struct why *why = repro->why;

    repro->is_backward = producer->how == WHY_BACKWARD;
    repro->module = why_value(why, producer->node)->module;
    repro->source =
        arena_copy(&repro->arena, source_lines_text(&why->sources, repro->module));
    repro->reader = log_reader_new(why->path, error);
    if (repro->reader == NULL) {
        return false;
    }
    log_reader_show_parameters(repro->reader, true);
    *scope = (struct script_scope){.repro = repro,
                                   .call = why->graph.nodes[producer->node].call,
                                   .event = why->graph.nodes[producer->node].event,
                                   .indent = ""};
    return write(repro, scope, lines, script, error);
}

bool repro_write(struct why *why,
                 struct buffer *script,
                 struct repro_report *report,
                 struct error *error)
{
    const struct why_producer *producer =
        why_is_bad(why) && why->producer_count > 0 ? &why->producers[why->main] : NULL;
    struct repro *repro = memory_allocate_zeroed(1, sizeof *repro);
    struct script_scope *scope = memory_allocate_zeroed(1, sizeof *scope);
    struct lines lines = {memory_allocate(LINES_MAX + 1, sizeof *lines.items), 0};
    bool is_done = false;

    if (repro == NULL || scope == NULL || lines.items == NULL) {
        error_set_memory(error);
    } else if (producer == NULL ||
               (producer->how != WHY_MADE && producer->how != WHY_BACKWARD) ||
               producer->is_start || producer->node >= why->graph.node_count) {
        refuse(producer, error);
    } else {
        repro->why = why;
        arena_init(&repro->arena);
        is_done = begin_and_write(repro, producer, scope, &lines, script, error);
        *report = repro->report;
    }
    if (scope != NULL) {
        buffer_release(&scope->text);
    }
    memory_free(scope);
    memory_free(lines.items);
    if (repro != NULL) {
        release(repro);
    }
    return is_done;
}
