/* Made: finds which of a statement's sources each of its values comes from, by the statement's
 * term. */
#include "runtime/view/graph/build.h"
#include "runtime/view/graph/paths.h"

#include "runtime/base/memory.h"

#include <assert.h>

/* The most values that an object is noted to be made from. */
#define CARRIED_MAX 64
/* The deepest nesting of list displays and comprehensions that is followed. */
#define LISTS_MAX 8
/* Values of a place in a list that are no index. */
#define PLACE_ALL     UINT32_MAX
#define PLACE_UNKNOWN (UINT32_MAX - 1)

/* A walk down a term, towards the part that is the target's value. */
struct walk {
    struct graph_builder *builder;
    const struct term *term;
    const struct site *site;
    uint32_t target;      /* a raw node; GRAPH_NONE: an object, or only counting */
    uint32_t content;     /* content of the object; GRAPH_NONE: no object */
    uint32_t array_count; /* arrays that were found, unless only their form is read */
    uint32_t whole_count; /* of these: whole values of names */
    uint32_t found_count; /* values that were found, forms excluded */
    uint32_t places[LISTS_MAX]; /* index of the wanted item in each enclosing list */
    uint32_t list_count;
    bool has_failed;
};

/* How values found below a term go into the target. */
struct way {
    bool is_form;
    bool is_unsure;
};

static void find(struct walk *walk, uint32_t node, struct slice path, struct way way);

/* ---- found values ---- */

static bool is_array(const struct graph_raw *node)
{
    return node->kind == VALUE_TENSOR;
}

/* Whether the target proves its source: it has exactly the source's elements, or is in its
 * memory. Without a finite element equal hashes prove nothing, because a NaN makes everything
 * NaN. */
static bool is_evident(const struct graph_builder *builder,
                       const struct graph_raw *source,
                       const struct graph_raw *target)
{
    uint64_t storage = graph_storage_of(builder, source);

    if (!is_array(source) || !is_array(target)) {
        return false;
    }
    return (storage != 0 && storage == graph_storage_of(builder, target)) ||
           (source->has_hash && target->has_hash && source->hash == target->hash &&
            source->dtype == target->dtype && source->has_finite);
}

static bool
carry(struct graph_builder *builder, uint32_t index, uint32_t raw, struct way way)
{
    assert(index < builder->content_count);

    struct graph_content *content = &builder->contents[index];
    void *items = builder->carried;

    if (content->carried_count == CARRIED_MAX) {
        return true;
    }
    for (uint32_t i = 0; i < content->carried_count; i++) {
        struct graph_carried *known = &builder->carried[content->carried + i];

        if (known->raw == raw) {
            known->is_form = known->is_form && way.is_form;
            known->is_unsure = known->is_unsure && way.is_unsure;
            return true;
        }
    }
    if (!graph_grow(builder, &items, &builder->carried_capacity, builder->carried_count,
                    sizeof *builder->carried)) {
        return false;
    }
    builder->carried = items;
    builder->carried[builder->carried_count++] =
        (struct graph_carried){raw, way.is_form, way.is_unsure};
    content->carried_count++;
    return true;
}

static void add(struct walk *walk, const struct graph_input *source, struct way way)
{
    struct graph_builder *builder = walk->builder;
    const struct graph_raw *node = &builder->raws[source->raw];
    bool is_form = way.is_form || source->is_form;
    bool is_unsure = way.is_unsure || source->is_unsure;

    walk->found_count += !is_form;
    if (is_array(node) && !is_form) {
        walk->array_count++;
        walk->whole_count += source->rest == 0 && !source->is_carried;
    }
    if (walk->content != GRAPH_NONE) {
        walk->has_failed |= !carry(builder, walk->content, source->raw,
                                   (struct way){is_form, is_unsure});
    } else if (walk->target != GRAPH_NONE && builder->visit.edges_left > 0) {
        const struct graph_raw *target = &builder->raws[walk->target];

        builder->visit.edges_left--;
        walk->has_failed |=
            !graph_edge_add_read(builder, source, walk->target, is_form,
                                 is_unsure && !is_evident(builder, node, target));
    }
}

static struct slice text_of(const struct walk *walk, uint32_t number)
{
    assert(number < walk->builder->texts.count);
    return walk->builder->texts.texts[number];
}

/* Adds the values of a chain that are at that path. If none is, adds all of them as unsure. */
static void find_chain(struct walk *walk,
                       const struct graph_use *use,
                       struct slice path,
                       struct way way)
{
    bool is_found = false;

    for (uint32_t i = 0; i < use->count && !walk->has_failed; i++) {
        const struct graph_input *source = &walk->builder->sources[use->first + i];
        struct slice rest;

        if (graph_path_fits(text_of(walk, source->rest), path, &rest)) {
            is_found = true;
            add(walk, source, way);
        }
    }
    way.is_unsure = true;
    for (uint32_t i = 0; i < use->count && !is_found && !walk->has_failed; i++) {
        add(walk, &walk->builder->sources[use->first + i], way);
    }
}

/* ---- counting ---- */

static struct walk count_of(const struct walk *walk, uint32_t node)
{
    struct walk counting = {.builder = walk->builder,
                            .term = walk->term,
                            .site = walk->site,
                            .target = GRAPH_NONE,
                            .content = GRAPH_NONE};

    find(&counting, node, SLICE(""), (struct way){false, false});
    return counting;
}

/* How many parts of a term, from `first` on, bring in a value. If there are arrays, only these
 * are counted. */
static uint32_t count_parts(const struct walk *walk, uint32_t parent, uint32_t first)
{
    uint32_t arrays = 0;
    uint32_t others = 0;

    for (uint32_t i = first; i != 0; i = term_sibling(walk->term, parent, i)) {
        struct walk counting = count_of(walk, i);

        /* A container counts once for each array in it. */
        arrays += counting.array_count - counting.whole_count > 1
                      ? counting.array_count
                      : counting.array_count > 0;
        others += counting.found_count > 0;
    }
    return arrays > 0 ? arrays : others;
}

/* ---- sums, choices and displays ---- */

static void find_parts(struct walk *walk,
                       uint32_t parent,
                       uint32_t first,
                       struct slice path,
                       struct way way)
{
    for (uint32_t i = first; i != 0 && !walk->has_failed;
         i = term_sibling(walk->term, parent, i)) {
        find(walk, i, path, way);
    }
}

static bool is_use(const struct walk *walk, uint32_t node)
{
    return walk->builder->uses[node].is_chain;
}

/* Finds an item of a sum of lists. The item is new, so it comes from an operand that the
 * statement makes, not from the list of a name. */
static void
find_sum(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    struct graph_path any;
    bool is_found = false;

    if (path.size == 0) {
        find_parts(walk, node, term_child(walk->term, node), path, way);
        return;
    }
    graph_path_set(&any, SLICE("[*]"), graph_path_behind(path));
    for (uint32_t i = term_child(walk->term, node); i != 0;
         i = term_sibling(walk->term, node, i)) {
        if (!is_use(walk, i)) {
            is_found = true;
            find(walk, i, graph_path_slice(&any), way);
        }
    }
    if (!is_found) {
        find_parts(walk, node, term_child(walk->term, node), SLICE(""), way);
    }
}

/* Follows a subscript or a condition: it may decide what the value is, but is no part of it. */
static void find_chooser(struct walk *walk, uint32_t node, struct way way)
{
    way.is_unsure = true;
    find(walk, node, SLICE(""), way);
}

/* Whether the term is a plain name and so cannot be the chosen arm. If it were, the target would
 * be the name's own object, and then this walk would not run. */
static bool is_refuted(const struct walk *walk, uint32_t node)
{
    assert(node < walk->term->node_count);

    const struct term_node *at = &walk->term->nodes[node];
    struct slice name;

    if (walk->target == GRAPH_NONE || at->kind != TERM_READ ||
        !is_array(&walk->builder->raws[walk->target])) {
        return false;
    }
    name = walk->site->reads[at->number].name;
    return slice_find(name, SLICE("."), 0) == name.size;
}

static void
find_choice(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    uint32_t condition = term_child(walk->term, node);
    uint32_t first;
    uint32_t count = 0;

    if (condition == 0) {
        return;
    }
    find_chooser(walk, condition, way);
    first = term_sibling(walk->term, node, condition);
    for (uint32_t i = first; i != 0; i = term_sibling(walk->term, node, i)) {
        count += !is_refuted(walk, i) && count_of(walk, i).found_count > 0;
    }
    way.is_unsure = way.is_unsure || count > 1;
    for (uint32_t i = first; i != 0; i = term_sibling(walk->term, node, i)) {
        if (!is_refuted(walk, i)) {
            find(walk, i, path, way);
        }
    }
}

static void
find_list(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    uint32_t wanted = 0;
    uint32_t place = 0;
    bool has_place = graph_path_number(path, &wanted);

    for (uint32_t i = term_child(walk->term, node); i != 0;
         i = term_sibling(walk->term, node, i)) {
        if (walk->term->nodes[i].mark == TERM_STAR) {
            struct graph_path any;

            has_place = has_place && wanted < place;
            graph_path_set(&any, path.size > 0 ? SLICE("[*]") : SLICE(""),
                           graph_path_behind(path));
            find(walk, i, graph_path_slice(&any), way);
        } else if (!has_place || place == wanted) {
            find(walk, i, graph_path_behind(path), way);
        }
        place++;
    }
}

static void
find_dict(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    for (uint32_t i = term_child(walk->term, node); i != 0;
         i = term_sibling(walk->term, node, i)) {
        const struct term_node *part = &walk->term->nodes[i];

        if (part->mark == TERM_KEYWORD) {
            if (path.size == 0 || slice_starts(path, SLICE("[*]")) ||
                graph_path_has_key(path, part->given)) {
                find(walk, i, graph_path_behind(path), way);
            }
        } else if (part->mark == TERM_COMPUTED) {
            find(walk, i, graph_path_behind(path), way);
        } else {
            find(walk, i, path, way);
        }
    }
}

/* ---- calls ---- */

/* Whether the two paths start with different places in a list: then neither is a part of the
 * other. */
static bool is_elsewhere(struct slice path, struct slice wanted)
{
    uint32_t place, wanted_place;

    return graph_path_number(path, &place) &&
           graph_path_number(wanted, &wanted_place) && place != wanted_place;
}

/* Adds the results of the recorded calls of that term that are at the path. Returns whether the
 * calls returned anything that is recorded. */
static bool
find_results(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    const struct graph_builder *builder = walk->builder;
    bool has_results = false;
    bool is_found = false;

    for (int round = 0; round < 2 && !is_found; round++) {
        for (uint32_t i = builder->uses[node].first_call; i != GRAPH_NONE;
             i = builder->calls[i].next_at_term) {
            const struct graph_raw_call *call = &builder->calls[i];

            for (uint32_t k = 0; k < call->result_count; k++) {
                uint32_t raw = call->first_result + k;
                struct slice place = text_of(walk, builder->raws[raw].path);
                struct graph_input source = {
                    .raw = raw, .read = GRAPH_NONE, .node = GRAPH_NONE};
                struct slice rest;

                if (builder->raws[raw].is_hidden) {
                    continue;
                }
                has_results = true;
                if (round == 1 ? !is_elsewhere(place, path)
                               : graph_path_fits(place, path, &rest)) {
                    is_found = true;
                    /* Only the last of several calls inside one call returns its result; the
                     * others are unsure. */
                    source.is_unsure = round == 1 || (call->is_inside &&
                                                      call->next_at_term != GRAPH_NONE);
                    source.rest = builder->raws[raw].path;
                    add(walk, &source, way);
                }
            }
        }
    }
    return has_results;
}

/* Whether the method returns an item of a container: `parts.pop()`, `table.get('key')`. */
static bool is_item_method(struct slice name)
{
    return slice_equal(name, SLICE("pop")) || slice_equal(name, SLICE("popleft")) ||
           slice_equal(name, SLICE("get")) || slice_equal(name, SLICE("setdefault")) ||
           slice_equal(name, SLICE("popitem"));
}

static void
find_item(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    uint32_t object = node + 1;
    uint32_t argument = term_sibling(walk->term, node, object);
    uint32_t other = argument == 0 ? 0 : term_sibling(walk->term, node, argument);
    struct graph_path item;

    graph_term_item(walk->builder, walk->term, node, &item, path);
    way.is_unsure =
        way.is_unsure || (other != 0 && count_of(walk, other).found_count > 0);
    find(walk, object, graph_path_slice(&item), way);
    if (other != 0) {
        find(walk, other, path, way);
    }
}

/* Handles the methods of containers whose items are known. Returns whether the method is one of
 * them. */
static bool
find_in_container(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    assert(node < walk->term->node_count);

    struct slice name = walk->term->nodes[node].key;
    uint32_t object = node + 1;

    if (is_item_method(name)) {
        find_item(walk, node, path, way);
    } else if (slice_equal(name, SLICE("items"))) {
        struct slice pair = graph_path_behind(path);
        struct graph_path item;

        if (!graph_path_has_key(pair, SLICE("[0]"))) {
            graph_path_set(&item, path.size > 0 ? SLICE("[*]") : SLICE(""),
                           graph_path_behind(pair));
            find(walk, object, graph_path_slice(&item), way);
        }
    } else if (slice_equal(name, SLICE("values")) || slice_equal(name, SLICE("copy"))) {
        struct graph_path item;

        graph_path_set(&item,
                       path.size > 0 && slice_equal(name, SLICE("values"))
                           ? SLICE("[*]")
                           : SLICE(""),
                       path.size > 0 && slice_equal(name, SLICE("values"))
                           ? graph_path_behind(path)
                           : path);
        find(walk, object, graph_path_slice(&item), way);
    } else {
        return slice_equal(name, SLICE("keys"));
    }
    return true;
}

/* The argument that is named like the path's first step: `Output(logits=x).logits`. 0: none. */
static uint32_t find_keyword(const struct walk *walk, uint32_t node, struct slice path)
{
    for (uint32_t i = term_child(walk->term, node); i != 0 && path.size > 0;
         i = term_sibling(walk->term, node, i)) {
        const struct term_node *part = &walk->term->nodes[i];

        if (part->mark == TERM_KEYWORD && graph_path_has_key(path, part->given)) {
            return i;
        }
    }
    return 0;
}

/* Whether the method's object is an array: then all arguments go into the result. */
static bool is_array_method(const struct walk *walk, uint32_t node)
{
    uint32_t object = node + 1;
    struct walk counting;

    assert(node < walk->term->node_count);
    if (walk->term->nodes[node].kind != TERM_METHOD) {
        return false;
    }
    if (!is_use(walk, object)) {
        return walk->term->nodes[object].kind != TERM_CONSTANT;
    }
    counting = count_of(walk, object);
    return counting.whole_count > 0;
}

/* Handles a call that is not recorded: each of its arguments may be in its result. */
static void
find_open_call(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    uint32_t first = term_child(walk->term, node);
    uint32_t keyword = find_keyword(walk, node, path);

    if (keyword != 0) {
        find(walk, keyword, graph_path_behind(path), way);
        return;
    }
    way.is_unsure = way.is_unsure || (!is_array_method(walk, node) &&
                                      count_parts(walk, node, first) > 1);
    find_parts(walk, node, first, SLICE(""), way);
}

static void
find_call(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    assert(node < walk->term->node_count);

    const struct graph_use *use = &walk->builder->uses[node];
    bool is_method = walk->term->nodes[node].kind == TERM_METHOD;

    if (use->first_call != GRAPH_NONE) {
        if (find_results(walk, node, path, way)) {
            return;
        }
        way.is_unsure = true;
    } else if (is_method && is_use(walk, node + 1) && !is_array_method(walk, node) &&
               find_in_container(walk, node, path, way)) {
        return;
    }
    find_open_call(walk, node, path, way);
}

/* ---- items of lists ---- */

static void
find_each(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    uint32_t place = PLACE_ALL;

    assert(node < walk->term->node_count);
    if (walk->list_count == LISTS_MAX) {
        return;
    }
    if (path.size > 0 && (walk->term->nodes[node].kind == TERM_SOME ||
                          !graph_path_number(path, &place))) {
        place = slice_starts(path, SLICE("[*]")) ? PLACE_ALL : PLACE_UNKNOWN;
    }
    walk->places[walk->list_count++] = place;
    find(walk, node + 1, graph_path_behind(path), way);
    walk->list_count--;
}

/* Whether an item of the term can be one of several values. Of an array it cannot: the array is
 * the source of each of its items. */
static bool has_several(const struct walk *walk, uint32_t node)
{
    const struct graph_use *use = &walk->builder->uses[node];

    return !is_use(walk, node) || (use->is_container && use->count > 1);
}

/* Finds an item of a list or array: the one at the wanted place, or any. */
static void
find_item_of_list(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    assert(node < walk->term->node_count);

    const struct term_node *at = &walk->term->nodes[node];
    uint32_t place =
        walk->list_count == 0 ? PLACE_UNKNOWN : walk->places[walk->list_count - 1];
    uint32_t count = walk->list_count;
    struct graph_path item;

    if (at->kind == TERM_AT_PLACE && at->number < walk->list_count) {
        walk->list_count -= at->number;
        place = walk->places[walk->list_count - 1];
    }
    if (place < PLACE_UNKNOWN) {
        graph_path_set_item(&item, place, path);
    } else {
        graph_path_set(&item, SLICE("[*]"), path);
        way.is_unsure |= place == PLACE_UNKNOWN && has_several(walk, node + 1);
    }
    walk->list_count -= walk->list_count > 0;
    find(walk, node + 1, graph_path_slice(&item), way);
    walk->list_count = count;
}

/* ---- all terms ---- */

/* Handles parts of terms that are no names: `f(x)[0]`, `(a, b).shape`. */
static void
find_inside(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    assert(node < walk->term->node_count);

    const struct term_node *at = &walk->term->nodes[node];
    struct graph_path inner;

    way.is_form = way.is_form || at->kind == TERM_FORM;
    graph_term_step(walk->builder, walk->site, at, &inner, path);
    if (at->kind == TERM_CHOSEN) {
        find_chooser(walk, node + 1, way);
    }
    find(walk, graph_term_inner(walk->term, node), graph_path_slice(&inner), way);
}

static void find(struct walk *walk, uint32_t node, struct slice path, struct way way)
{
    assert(node < walk->term->node_count);

    const struct term_node *at = &walk->term->nodes[node];

    if (walk->has_failed) {
        return;
    }
    if (is_use(walk, node)) {
        find_chain(walk, &walk->builder->uses[node], path, way);
        if (at->kind == TERM_CHOSEN) {
            find_chooser(walk, node + 1, way);
        }
        return;
    }
    switch (at->kind) {
    case TERM_ALL:
        find_parts(walk, node, term_child(walk->term, node), SLICE(""), way);
        break;
    case TERM_SUM:
        find_sum(walk, node, path, way);
        break;
    case TERM_ONE:
        find_choice(walk, node, path, way);
        break;
    case TERM_LIST:
        find_list(walk, node, path, way);
        break;
    case TERM_DICT:
        find_dict(walk, node, path, way);
        break;
    case TERM_EACH:
    case TERM_SOME:
        find_each(walk, node, path, way);
        break;
    case TERM_ANY:
    case TERM_AT_PLACE:
        find_item_of_list(walk, node, path, way);
        break;
    case TERM_CALL:
    case TERM_METHOD:
        find_call(walk, node, path, way);
        break;
    default:
        if (graph_term_inner(walk->term, node) != GRAPH_NONE) {
            find_inside(walk, node, path, way);
        }
    }
}

/* ---- entry points ---- */

/* Adds the values that were read outside of the term, and the weights that the statement used. */
static void find_others(struct walk *walk, bool has_beside)
{
    struct graph_builder *builder = walk->builder;
    bool has_term = walk->term->node_count > 0;

    for (uint32_t i = 0; i < builder->visit.source_count; i++) {
        const struct graph_input source = builder->sources[i];

        if (source.from == GRAPH_FROM_WEIGHT ||
            (source.from == GRAPH_FROM_BESIDE && (has_beside || !has_term)) ||
            source.from == GRAPH_FROM_RESULT) {
            bool is_known = has_term && source.from != GRAPH_FROM_RESULT;

            add(walk, &source, (struct way){false, !is_known});
        }
    }
}

/* Sets `whole` to the path, in the statement's value, of the part that a write takes. */
static void
set_part(const struct term_part *part, struct slice path, struct graph_path *whole)
{
    graph_path_set(whole, SLICE(""), part->is_put ? graph_path_behind(path) : path);
    for (uint32_t i = part->step_count; i-- > 0;) {
        struct graph_path then = *whole;

        if (part->kinds[i] == TERM_STEP_ITEM) {
            graph_path_set_item(whole, part->numbers[i], graph_path_slice(&then));
        } else if (part->kinds[i] == TERM_STEP_LAST) {
            graph_path_set_last(whole, part->numbers[i], graph_path_slice(&then));
        } else {
            graph_path_set(whole, SLICE("[*]"),
                           graph_path_behind(graph_path_slice(&then)));
        }
    }
}

/* Finds an item that a method put into a container: it comes from the arguments. */
static void find_put(struct walk *walk, struct slice path)
{
    struct way way = {false, false};
    uint32_t object = 1;
    uint32_t first = term_sibling(walk->term, 0, object);
    struct slice name = walk->term->nodes[0].key;
    struct graph_path item;
    uint32_t keyword = find_keyword(walk, 0, path);

    if (keyword != 0) {
        find(walk, keyword, graph_path_behind(path), way);
        return;
    }
    graph_path_set(&item, SLICE(""), graph_path_behind(path));
    if (slice_equal(name, SLICE("extend"))) {
        graph_path_set(&item, SLICE("[*]"), graph_path_behind(path));
    } else if (slice_equal(name, SLICE("update"))) {
        graph_path_set(&item, SLICE(""), path);
    }
    find_parts(walk, 0, first, graph_path_slice(&item), way);
}

/* Finds the sources of the value at `path` of one write of the visit's statement. */
static void find_written(struct walk *walk, uint32_t write, struct slice path)
{
    const struct term *term = walk->term;
    const struct term_part *part = term_find_part(term, write);
    struct graph_path whole;

    if (term->node_count == 0) {
        return;
    }
    if (term->nodes[0].kind == TERM_METHOD && walk->site->kind == SITE_MUTATE &&
        path.size > 0 && part == NULL) {
        find_put(walk, path);
        return;
    }
    if (part == NULL) {
        find(walk, 0, path, (struct way){false, false});
        return;
    }
    set_part(part, path, &whole);
    find(walk, 0, graph_path_slice(&whole), (struct way){false, false});
}

/* The index of the write to that name; 0 if the site does not write it. */
static uint32_t write_of(const struct site *site, struct slice name)
{
    uint32_t write = site_find_write(site, name);

    return write == SITE_NONE ? 0 : write;
}

static struct walk
begin(struct graph_builder *builder, const struct site *site, uint32_t target)
{
    return (struct walk){.builder = builder,
                         .term = builder->visit.term,
                         .site = site,
                         .target = target,
                         .content = GRAPH_NONE};
}

bool graph_made(struct graph_builder *builder,
                uint32_t raw,
                const struct log_event_view *event)
{
    struct walk walk = begin(builder, event->site, raw);
    uint32_t write = write_of(event->site, event->name);
    const struct term_part *part;

    /* None holds no part of its sources. */
    if (event->kind == VALUE_NONE || walk.term == NULL) {
        return true;
    }
    part = term_find_part(walk.term, write);
    find_written(&walk, write, event->path);
    find_others(&walk, part != NULL && part->is_put && event->path.size == 0);
    return !walk.has_failed;
}

bool graph_carry(struct graph_builder *builder,
                 uint32_t content,
                 const struct log_event_view *event)
{
    struct walk walk = begin(builder, event->site, GRAPH_NONE);

    assert(content < builder->content_count);
    if (walk.term == NULL) {
        return true;
    }
    builder->contents[content].carried = builder->carried_count;
    builder->contents[content].carried_count = 0;
    walk.content = content;
    find_written(&walk, write_of(event->site, event->name), event->path);
    find_others(&walk, false);
    return !walk.has_failed;
}

/* ---- arguments ---- */

/* The argument at that place. 0: none. Sets `*has_star` if it is a list given with a star, of
 * which any item may be the argument. */
static uint32_t
find_place(const struct walk *walk, uint32_t node, uint32_t place, bool *has_star)
{
    uint32_t at = 0;

    *has_star = false;
    for (uint32_t i = term_sibling(walk->term, node, node + 1); i != 0;
         i = term_sibling(walk->term, node, i)) {
        const struct term_node *part = &walk->term->nodes[i];

        if (part->mark == TERM_STAR) {
            *has_star = true;
            return i;
        }
        if (part->mark == TERM_PLAIN && at++ == place) {
            return i;
        }
    }
    return 0;
}

static void find_double_star(struct walk *walk, uint32_t node, struct slice path)
{
    for (uint32_t i = term_sibling(walk->term, node, node + 1); i != 0;
         i = term_sibling(walk->term, node, i)) {
        if (walk->term->nodes[i].mark == TERM_DOUBLE_STAR) {
            find(walk, i, path, (struct way){false, false});
        }
    }
}

/* Finds the argument of a parameter: by name, by place, or inside a starred argument. A
 * parameter without argument has its default, which has no sources here. */
static void find_parameter(struct walk *walk,
                           uint32_t node,
                           struct slice name,
                           uint32_t place,
                           struct slice path)
{
    struct graph_path item;
    uint32_t argument;
    bool has_star;

    graph_path_set_key(&item, name, path);
    argument = find_keyword(walk, node, graph_path_slice(&item));
    if (argument != 0) {
        find(walk, argument, path, (struct way){false, false});
        return;
    }
    argument = find_place(walk, node, place, &has_star);
    if (argument != 0) {
        struct graph_path any;

        graph_path_set(&any, has_star ? SLICE("[*]") : SLICE(""), path);
        find(walk, argument, graph_path_slice(&any), (struct way){false, has_star});
        return;
    }
    find_double_star(walk, node, graph_path_slice(&item));
}

/* Finds an item of the called function's `*args` by its place, or of its `**rest` by its name. */
static void find_rest(
    struct walk *walk, uint32_t node, uint32_t place, bool is_named, struct slice path)
{
    uint32_t number = 0;
    struct slice step = slice_part(path, 0, graph_path_step(path));

    if (!is_named && graph_path_number(path, &number)) {
        find_parameter(walk, node, SLICE(""), place + number, graph_path_behind(path));
    } else if (is_named && step.size > 4) {
        find_parameter(walk, node, slice_part(step, 2, step.size - 2), UINT32_MAX,
                       graph_path_behind(path));
    }
}

bool graph_made_argument(struct graph_builder *builder,
                         const struct site *site,
                         uint32_t raw,
                         const struct graph_raw_call *callee)
{
    assert(raw < builder->raw_count);

    struct walk walk = begin(builder, site, raw);
    const struct graph_raw *node = &builder->raws[raw];
    const struct site *entry = graph_site_of(builder, node);
    uint32_t write = write_of(entry, builder->texts.texts[node->name]);
    struct slice path = builder->texts.texts[node->path];
    uint32_t place = write;
    const struct term *term;
    const struct term_part *part;

    if (node->kind == VALUE_NONE) {
        return true;
    }
    term = graph_term_of(builder, node->site, entry);
    if (term == NULL) {
        return false;
    }
    place -= callee->is_bound && place > 0;
    part = term_find_part(term, write);
    if (part == NULL) {
        find_parameter(&walk, callee->term_node, builder->texts.texts[node->name],
                       place, path);
    } else {
        find_rest(&walk, callee->term_node, place, part->step_count > 1, path);
    }
    return !walk.has_failed;
}
