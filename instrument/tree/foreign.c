/* Functions of other compilers, recognised by a decorator, or by a call to which they are
 * passed.
 *
 * Names are resolved by the file's imports, at any place in it; of several imports of a name the
 * last counts. The nodes are in the order of the text, a node before its children, so the object
 * of an attribute is the node after the attribute. */
#include "instrument/tree/foreign.h"

#include <assert.h>
#include <string.h>

/* The full names of decorators of compilers that read the function's source. */
static const char *const compilers[] = {
    "torch.jit.script",
    "torch.jit.script_method",
    "torch.jit.export",
    "torch.jit.interface",
    "torch.jit.script_if_tracing",
    "torch.jit._script_if_tracing",
    "torch.jit._overload",
    "torch.jit._overload_method",
    "torch._jit_internal._overload",
    "torch._jit_internal._overload_method",
    "torch._jit_internal.export",
    "torch._jit_internal.interface",
    "triton.jit",
    "triton.runtime.jit.jit",
    "triton.language.jit",
    "triton.experimental.gluon.jit",
    "numba.jit",
    "numba.njit",
    "numba.vectorize",
    "numba.guvectorize",
    "numba.cfunc",
    "numba.stencil",
    "numba.generated_jit",
    "numba.cuda.jit",
    "numba.experimental.jitclass",
    "numba.extending.overload",
    "numba.extending.register_jitable",
    "taichi.kernel",
    "taichi.func",
    "taichi.data_oriented",
    "taichi.real_func",
    "warp.kernel",
    "warp.func",
    "helion.kernel",
    "cupyx.jit.rawkernel",
    "cutlass.cute.jit",
    "cutlass.cute.kernel",
    "tvm.script.tir.prim_func",
    "tvm.script.ir.ir_module",
    "tilelang.jit",
};

/* Joins a prefix and a name with a dot, in the arena. */
static struct slice join(struct arena *arena, struct slice prefix, struct slice name)
{
    char *bytes = arena_allocate(arena, prefix.size + name.size + 1, 1);

    if (bytes == NULL) {
        return (struct slice){NULL, 0};
    }
    memcpy(bytes, prefix.bytes, prefix.size);
    bytes[prefix.size] = '.';
    memcpy(bytes + prefix.size + 1, name.bytes, name.size);
    return (struct slice){bytes, prefix.size + 1 + name.size};
}

static void
read_import(struct foreign *foreign, uint32_t statement, struct arena *arena)
{
    const struct syntax *syntax = foreign->syntax;
    bool is_from = syntax->nodes[statement].kind == KIND_IMPORT_FROM_STATEMENT;
    uint32_t module = syntax_child(syntax, statement);
    uint32_t item = module;

    assert(statement < syntax->count);
    if (module == 0) {
        return;
    }
    if (is_from) {
        item = syntax_sibling(syntax, statement, module);
    }
    for (; item != 0; item = syntax_sibling(syntax, statement, item)) {
        bool is_aliased = syntax->nodes[item].kind == KIND_ALIASED_IMPORT;
        uint32_t dotted = is_aliased ? syntax_child(syntax, item) : item;
        uint32_t bound = is_aliased ? syntax_last(syntax, item) : item + 1;
        struct slice full;

        if (syntax->nodes[dotted].kind != KIND_DOTTED_NAME || bound >= syntax->count ||
            !name_is_known(names_of(foreign->names, bound))) {
            continue;
        }
        full = syntax_text(syntax, is_aliased || is_from ? dotted : bound);
        if (is_from) {
            full = join(arena, syntax_text(syntax, module), full);
        }
        foreign->imports[names_of(foreign->names, bound).number] = full;
    }
}

/* The compiler that a callee or decorator names. Empty: none. */
static struct slice compiler_of(const struct foreign *foreign, uint32_t node)
{
    struct slice text = syntax_text(foreign->syntax, node);
    uint32_t root = node;
    struct slice import;

    while (foreign->syntax->nodes[root].kind == KIND_ATTRIBUTE) {
        root++;
    }
    if (!name_is_known(names_of(foreign->names, root))) {
        return (struct slice){NULL, 0};
    }
    import = foreign->imports[names_of(foreign->names, root).number];
    if (import.size == 0) {
        return (struct slice){NULL, 0};
    }
    text = slice_part(text, syntax_text(foreign->syntax, root).size, text.size);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        struct slice name = slice_of(compilers[i]);

        if (name.size == import.size + text.size && slice_starts(name, import) &&
            slice_ends(name, text)) {
            return name;
        }
    }
    return (struct slice){NULL, 0};
}

/* Reads a call such as `torch.jit.script(f)` or `torch.jit.script(Model())`. */
static void read_call(struct foreign *foreign, uint32_t call)
{
    const struct syntax *syntax = foreign->syntax;
    uint32_t arguments = syntax_find(syntax, call, KIND_ARGUMENT_LIST);
    uint32_t first = arguments == 0 ? 0 : syntax_child(syntax, arguments);
    struct slice compiler;

    if (first == 0) {
        return;
    }
    compiler = compiler_of(foreign, call + 1);
    if (compiler.size == 0) {
        return;
    }
    if (syntax->nodes[first].kind == KIND_CALL) {
        first++;
    }
    if (name_is_known(names_of(foreign->names, first))) {
        foreign->scripted[names_of(foreign->names, first).number] = compiler;
    }
}

bool foreign_read(struct foreign *foreign,
                  const struct syntax *syntax,
                  const struct names *names,
                  struct arena *arena)
{
    *foreign = (struct foreign){.syntax = syntax, .names = names};
    foreign->imports = arena_allocate(arena, names->count, sizeof *foreign->imports);
    foreign->scripted = arena_allocate(arena, names->count, sizeof *foreign->scripted);
    if (foreign->imports == NULL || foreign->scripted == NULL) {
        return false;
    }
    memset(foreign->imports, 0, names->count * sizeof *foreign->imports);
    memset(foreign->scripted, 0, names->count * sizeof *foreign->scripted);
    for (uint32_t i = 1; i < syntax->count; i++) {
        if (syntax->nodes[i].kind == KIND_IMPORT_STATEMENT ||
            syntax->nodes[i].kind == KIND_IMPORT_FROM_STATEMENT) {
            read_import(foreign, i, arena);
        }
    }
    for (uint32_t i = 1; i < syntax->count; i++) {
        if (syntax->nodes[i].kind == KIND_CALL && i + 1 < syntax->nodes[i].next) {
            read_call(foreign, i);
        }
    }
    return !arena->has_failed;
}

struct slice
foreign_compiler(const struct foreign *foreign, uint32_t definition, uint32_t decorated)
{
    const struct syntax *syntax = foreign->syntax;
    uint32_t name = definition + 1;

    assert(definition < syntax->count);
    for (uint32_t i = decorated == 0 ? 0 : syntax_child(syntax, decorated); i != 0;
         i = syntax_sibling(syntax, decorated, i)) {
        uint32_t expression = syntax_child(syntax, i);
        struct slice compiler;

        if (syntax->nodes[i].kind != KIND_DECORATOR || expression == 0) {
            continue;
        }
        if (syntax->nodes[expression].kind == KIND_CALL) {
            expression++;
        }
        compiler = compiler_of(foreign, expression);
        if (compiler.size > 0) {
            return compiler;
        }
    }
    if (name < syntax->nodes[definition].next &&
        name_is_known(names_of(foreign->names, name))) {
        return foreign->scripted[names_of(foreign->names, name).number];
    }
    return (struct slice){NULL, 0};
}
