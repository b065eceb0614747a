/* The calls of two runs, and the names and objects in them that differ. */
#include "runtime/view/diff/judge/scope.h"

#include "runtime/base/hash/hash.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/align/align.h"
#include "runtime/view/diff/work.h"

#include <string.h>

#define BUCKET_START 256

void diff_scope_init(struct diff_scope *scope)
{
    memset(scope, 0, sizeof *scope);
}

static void frame_free(struct diff_frame *frame)
{
    memory_free(frame->names.items);
    memory_free(frame->turns);
    memory_free(frame);
}

void diff_scope_release(struct diff_scope *scope)
{
    /* Those of B alone are in B's buckets alone: the others are freed by A's. */
    for (unsigned side = 2; side-- > 0;) {
        for (size_t i = 0; i < scope->bucket_count; i++) {
            struct diff_frame *frame = scope->buckets[side][i];

            while (frame != NULL) {
                struct diff_frame *next = frame->next[side];

                if (side == 0 || frame->calls[0] == 0) {
                    frame_free(frame);
                }
                frame = next;
            }
        }
        memory_free(scope->buckets[side]);
    }
    for (size_t i = 0; i < DIFF_OWNER_BUCKETS; i++) {
        while (scope->owners[i] != NULL) {
            struct diff_owner *owner = scope->owners[i];

            scope->owners[i] = owner->next;
            memory_free(owner->names.items);
            memory_free(owner);
        }
    }
    diff_scope_init(scope);
}

/* ---- frames ---- */

static size_t bucket_of(const struct diff_scope *scope, uint32_t call)
{
    return (call * 0x9E3779B1u) & (scope->bucket_count - 1);
}

static bool make_room(struct diff_scope *scope)
{
    struct diff_scope grown = *scope;

    if (scope->frame_count < scope->bucket_count) {
        return true;
    }
    grown.bucket_count =
        scope->bucket_count == 0 ? BUCKET_START : scope->bucket_count * 2;
    for (unsigned side = 0; side < 2; side++) {
        grown.buckets[side] =
            memory_allocate_zeroed(grown.bucket_count, sizeof *grown.buckets[side]);
    }
    if (grown.buckets[0] == NULL || grown.buckets[1] == NULL) {
        memory_free(grown.buckets[0]);
        memory_free(grown.buckets[1]);
        scope->has_failed = true;
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < scope->bucket_count; i++) {
            struct diff_frame *frame = scope->buckets[side][i];

            while (frame != NULL) {
                struct diff_frame *next = frame->next[side];
                size_t bucket = bucket_of(&grown, frame->calls[side]);

                frame->next[side] = grown.buckets[side][bucket];
                grown.buckets[side][bucket] = frame;
                frame = next;
            }
        }
        memory_free(scope->buckets[side]);
        scope->buckets[side] = grown.buckets[side];
    }
    scope->bucket_count = grown.bucket_count;
    return true;
}

struct diff_frame *
diff_scope_find(const struct diff_scope *scope, unsigned side, uint32_t call)
{
    struct diff_frame *frame;

    if (scope->bucket_count == 0 || call == 0) {
        return NULL;
    }
    if (scope->last != NULL && scope->last->calls[side] == call) {
        return scope->last;
    }
    frame = scope->buckets[side][bucket_of(scope, call)];
    while (frame != NULL && frame->calls[side] != call) {
        frame = frame->next[side];
    }
    return frame;
}

static void enlist(struct diff_scope *scope, struct diff_frame *frame, unsigned side)
{
    size_t bucket = bucket_of(scope, frame->calls[side]);

    frame->next[side] = scope->buckets[side][bucket];
    scope->buckets[side][bucket] = frame;
}

static void unlist(struct diff_scope *scope, struct diff_frame *frame, unsigned side)
{
    struct diff_frame **place;

    if (frame->calls[side] == 0) {
        return;
    }
    place = &scope->buckets[side][bucket_of(scope, frame->calls[side])];
    while (*place != NULL && *place != frame) {
        place = &(*place)->next[side];
    }
    if (*place == frame) {
        *place = frame->next[side];
    }
}

struct diff_frame *diff_scope_frame(struct diff_scope *scope,
                                    const struct open_call *a,
                                    const struct open_call *b)
{
    uint32_t calls[2] = {a == NULL ? 0 : a->call, b == NULL ? 0 : b->call};
    unsigned known = b != NULL ? 1 : 0;
    struct diff_frame *frame;

    if (calls[known] == 0) {
        calls[known] = UINT32_MAX; /* no writer gives it, but a damaged trace may */
    }
    frame = diff_scope_find(scope, known, calls[known]);
    if (frame != NULL) {
        scope->last = frame;
        return frame;
    }
    if (!make_room(scope)) {
        return NULL;
    }
    frame = memory_allocate_zeroed(1, sizeof *frame);
    if (frame == NULL) {
        scope->has_failed = true;
        return NULL;
    }
    /* What stands beside another call already stays there. */
    if (known == 1 && calls[0] != 0 && diff_scope_find(scope, 0, calls[0]) != NULL) {
        calls[0] = 0;
    }
    for (unsigned side = 0; side < 2; side++) {
        frame->calls[side] = calls[side];
        if (calls[side] != 0) {
            enlist(scope, frame, side);
        }
    }
    frame->result_site = DIFF_SITE_NONE;
    scope->frame_count++;
    scope->last = frame;
    return frame;
}

void diff_scope_end(struct diff_scope *scope, unsigned side, uint32_t call)
{
    struct diff_frame *frame = diff_scope_find(scope, side, call);

    if (frame == NULL) {
        return;
    }
    scope->taint_count -= frame->names.count;
    unlist(scope, frame, 0);
    unlist(scope, frame, 1);
    if (scope->last == frame) {
        scope->last = NULL;
    }
    scope->frame_count--;
    frame_free(frame);
}

void diff_frame_turn(struct diff_scope *scope,
                     struct diff_frame *frame,
                     uint32_t site,
                     uint32_t visit)
{
    void *items = frame->turns;

    for (size_t i = 0; i < frame->turn_count; i++) {
        if (frame->turns[i].site == site) {
            frame->turns[i].visit = visit;
            return;
        }
    }
    if (!memory_grow(&items, &frame->turn_capacity, frame->turn_count + 1,
                     sizeof *frame->turns)) {
        scope->has_failed = true;
        return;
    }
    frame->turns = items;
    frame->turns[frame->turn_count++] = (struct diff_turn){site, visit};
}

uint32_t diff_frame_turn_of(const struct diff_frame *frame, uint32_t site)
{
    for (size_t i = 0; i < frame->turn_count; i++) {
        if (frame->turns[i].site == site) {
            return frame->turns[i].visit + 1;
        }
    }
    return 0;
}

/* Which names of two runs hold something that differs. */

/* How far up the calls names of enclosing functions are looked for. */
#define ANCESTORS_MAX 64

/* Whether what the one stands for is in what the other stands for: `out`, `out.logits`. */
static bool is_within(struct slice whole, struct slice part)
{
    return slice_starts(part, whole) &&
           (part.size == whole.size || part.bytes[whole.size] == '.');
}

static struct slice root_of(struct slice name)
{
    return slice_part(name, 0, slice_find(name, SLICE("."), 0));
}

static bool is_attribute(struct slice name)
{
    return slice_starts(name, SLICE("self."));
}

static struct diff_owner **
owner_place(struct diff_scope *scope, struct slice class_name, struct slice path)
{
    uint64_t hash = hash_64(class_name) * 31 + hash_64(path);
    struct diff_owner **place = &scope->owners[hash % DIFF_OWNER_BUCKETS];

    while (*place != NULL && !(slice_equal((*place)->class_name, class_name) &&
                               slice_equal((*place)->path, path))) {
        place = &(*place)->next;
    }
    return place;
}

/* Texts of calls go with their calls, so they are copied. */
static struct diff_owner *owner_new(struct slice class_name, struct slice path)
{
    struct diff_owner *owner =
        memory_allocate_zeroed(1, sizeof *owner + class_name.size + path.size);
    char *texts = (char *)(owner + 1);

    if (owner == NULL) {
        return NULL;
    }
    owner->class_name = slice_put(&texts, class_name);
    owner->path = slice_put(&texts, path);
    return owner;
}

static struct diff_taints *
owner_names(struct diff_scope *scope, struct slice class_name, struct slice path)
{
    struct diff_owner **place = owner_place(scope, class_name, path);

    if (*place == NULL) {
        *place = owner_new(class_name, path);
        scope->has_failed = scope->has_failed || *place == NULL;
    }
    return *place == NULL ? NULL : &(*place)->names;
}

/* Where a name lives that an event tells of. */
static struct diff_taints *names_of(struct diff_scope *scope,
                                    struct diff_frame *frame,
                                    const struct open_call *call,
                                    const struct log_event_view *event)
{
    struct slice root = root_of(event->name);

    if (call != NULL && is_attribute(event->name)) {
        return owner_names(scope, call->class_name, call->path);
    }
    if (call == NULL || call->function == 0) {
        return owner_names(scope, SLICE("<module>"), event->module->name);
    }
    for (uint32_t i = 0; i < event->site->read_count; i++) {
        const struct site_read *read = &event->site->reads[i];

        if (read->scope == SITE_SCOPE_GLOBAL &&
            slice_equal(root_of(read->name), root)) {
            return owner_names(scope, SLICE("<module>"), event->module->name);
        }
    }
    return &frame->names;
}

void diff_scope_clear(struct diff_scope *scope,
                      struct diff_frame *frame,
                      const struct open_call *call,
                      const struct log_event_view *event)
{
    struct diff_taints *names;

    if (scope->taint_count == 0 || event->name.size == 0) {
        return;
    }
    names = names_of(scope, frame, call, event);
    for (size_t i = names == NULL ? 0 : names->count; i-- > 0;) {
        if (is_within(event->name, names->items[i].name)) {
            names->items[i] = names->items[--names->count];
            scope->taint_count--;
        }
    }
}

uint64_t diff_scope_digest(const struct log_event_view *event)
{
    uint64_t parts[5] = {event->kind, hash_64(event->path)};

    switch (event->kind) {
    case VALUE_TENSOR:
        if (!event->has_hash) {
            return 0;
        }
        parts[2] = event->shape->dtype;
        parts[3] = event->hash;
        break;
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        memcpy(&parts[2], &event->real, sizeof event->real);
        memcpy(&parts[3], &event->imaginary, sizeof event->imaginary);
        break;
    default:
        parts[2] = (uint64_t)event->integer;
        parts[3] = hash_64(event->text);
        parts[4] = hash_64(slice_last_part(event->type, '.'));
        break;
    }
    return hash_64((struct slice){(const char *)parts, sizeof parts}) | 1;
}

/* What a line wrote that one program has alone, after such a line of either. */
static void join_code(struct diff_scope *scope,
                      struct diff_taints *names,
                      size_t index,
                      const struct log_event_view *event,
                      const struct diff_taint *taint)
{
    struct diff_taint *known = &names->items[index];
    struct diff_taint next = *taint;

    next.name = event->name;
    if (known->side != taint->side) {
        next.other_digest = known->digest;
    } else {
        uint64_t parts[2] = {known->digest, taint->digest};

        next.other_digest = known->other_digest;
        if (event->path.size > 0 && known->digest != 0 && taint->digest != 0) {
            next.digest =
                hash_64((struct slice){(const char *)parts, sizeof parts}) | 1;
        }
    }
    if (next.digest != 0 && next.digest == next.other_digest) {
        names->items[index] = names->items[--names->count];
        scope->taint_count--;
        return;
    }
    *known = next;
}

void diff_scope_taint(struct diff_scope *scope,
                      struct diff_frame *frame,
                      const struct open_call *call,
                      const struct log_event_view *event,
                      const struct diff_taint *taint)
{
    struct diff_taints *names;
    void *items;

    if (event->name.size == 0) {
        return;
    }
    names = names_of(scope, frame, call, event);
    if (names == NULL) {
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (!slice_equal(names->items[i].name, event->name)) {
            continue;
        }
        if (taint->kind == DIFF_TAINT_CODE && names->items[i].kind == DIFF_TAINT_CODE) {
            join_code(scope, names, i, event, taint);
        } else {
            names->items[i] = *taint;
            names->items[i].name = event->name;
        }
        return;
    }
    items = names->items;
    if (!memory_grow(&items, &names->capacity, names->count + 1,
                     sizeof *names->items)) {
        scope->has_failed = true;
        return;
    }
    names->items = items;
    names->items[names->count] = *taint;
    names->items[names->count++].name = event->name;
    scope->taint_count++;
}

static const struct diff_taint *graver(const struct diff_taint *a,
                                       const struct diff_taint *b)
{
    return a == NULL || (b != NULL && b->kind < a->kind) ? b : a;
}

static const struct diff_taint *find_name(const struct diff_taints *names,
                                          struct slice name)
{
    const struct diff_taint *found = NULL;

    for (size_t i = 0; names != NULL && i < names->count; i++) {
        if (is_within(names->items[i].name, name) ||
            is_within(name, names->items[i].name)) {
            found = graver(found, &names->items[i]);
        }
    }
    return found;
}

static const struct diff_taint *find_owned(struct diff_scope *scope,
                                           struct slice class_name,
                                           struct slice path,
                                           struct slice name)
{
    struct diff_owner *owner = *owner_place(scope, class_name, path);

    return owner == NULL ? NULL : find_name(&owner->names, name);
}

/* In the calls around this one. */
static const struct diff_taint *find_enclosing(const struct diff_scope *scope,
                                               const struct open_call *call,
                                               unsigned side,
                                               struct slice name)
{
    const struct diff_taint *found = NULL;

    for (int i = 0; i < ANCESTORS_MAX && call != NULL && found == NULL; i++) {
        const struct diff_frame *frame = diff_scope_find(scope, side, call->call);

        found = frame == NULL ? NULL : find_name(&frame->names, name);
        call = call->parent;
    }
    return found;
}

static const struct diff_taint *find_read(struct diff_scope *scope,
                                          struct diff_frame *frame,
                                          const struct open_call *call,
                                          unsigned side,
                                          const struct log_module *module,
                                          struct slice name,
                                          enum site_scope kind)
{
    const struct diff_taint *found = NULL;

    if (call != NULL && is_attribute(name)) {
        found = find_owned(scope, call->class_name, call->path, name);
        if (found == NULL && call->path.size > 0) {
            /* Written in `__init__`, before the module had a path. */
            found = find_owned(scope, call->class_name, SLICE(""), name);
        }
    }
    if (found != NULL) {
        return found;
    }
    if (kind == SITE_SCOPE_GLOBAL || call == NULL || call->function == 0) {
        return find_owned(scope, SLICE("<module>"), module->name, name);
    }
    return kind == SITE_SCOPE_FREE ? find_enclosing(scope, call, side, name)
                                   : find_name(&frame->names, name);
}

const struct diff_taint *diff_scope_reads(struct diff_scope *scope,
                                          struct diff_frame *frame,
                                          const struct open_call *call,
                                          unsigned side,
                                          const struct log_module *module,
                                          const struct site *site)
{
    const struct diff_taint *found = NULL;

    if (scope->taint_count == 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < site->read_count; i++) {
        found = graver(found, find_read(scope, frame, call, side, module,
                                        site->reads[i].name, site->reads[i].scope));
    }
    return found;
}

const struct diff_taint *diff_scope_name(struct diff_scope *scope,
                                         struct diff_frame *frame,
                                         const struct open_call *call,
                                         unsigned side,
                                         const struct log_event_view *event)
{
    enum site_scope kind = SITE_SCOPE_LOCAL;

    if (scope->taint_count == 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < event->site->read_count; i++) {
        if (slice_equal(event->site->reads[i].name, event->name)) {
            kind = event->site->reads[i].scope;
        }
    }
    return find_read(scope, frame, call, side, event->module, event->name, kind);
}

bool diff_scope_is_written(struct diff_scope *scope,
                           struct diff_frame *frame,
                           const struct open_call *call,
                           unsigned side,
                           const struct log_event_view *event)
{
    const struct diff_taints *names = scope->taint_count == 0 || event->name.size == 0
                                          ? NULL
                                          : names_of(scope, frame, call, event);

    for (size_t i = 0; names != NULL && i < names->count; i++) {
        const struct diff_taint *taint = &names->items[i];

        if (taint->kind == DIFF_TAINT_CODE && taint->side != side &&
            taint->digest != 0 && slice_equal(taint->name, event->name)) {
            return taint->digest == diff_scope_digest(event);
        }
    }
    return false;
}

/* What a line of B alone wrote that is this value; NULL. */
static const struct diff_taint *diff_scope_writer(const struct diff_frame *frame,
                                                  uint64_t digest)
{
    for (size_t i = 0; digest != 0 && i < frame->names.count; i++) {
        const struct diff_taint *taint = &frame->names.items[i];

        if (taint->kind == DIFF_TAINT_CODE && taint->side == 1 &&
            taint->digest == digest) {
            return taint;
        }
    }
    return NULL;
}

/* ---- objects ---- */

void diff_scope_note_event(struct diff_scope *scope, uint64_t event)
{
    scope->origins[event % DIFF_ORIGINS] = event + 1;
}

static bool diff_scope_held(const struct diff_scope *scope, uint64_t origin)
{
    return origin != 0 && scope->origins[(origin - 1) % DIFF_ORIGINS] == origin;
}

/* ---- The inputs of an event, as far as its line and its names show them ---- */

void diff_inputs_add(struct diff_inputs *inputs, const struct diff_taint *taint)
{
    if (taint == NULL) {
        return;
    }
    switch (taint->kind) {
    case DIFF_TAINT_CODE:
        inputs->code = taint;
        return;
    case DIFF_TAINT_LAYOUT:
        inputs->layout = taint;
        return;
    case DIFF_TAINT_CLOCK:
        inputs->has_clock = true;
        return;
    default:
        inputs->differ = true;
    }
}

/* Whether the statement took what a call in it returned, and that differs. */
static bool is_result_used(struct diff_frame *frame, const struct log_event_view *event)
{
    if (!frame->has_result) {
        return false;
    }
    if (frame->result_site == DIFF_SITE_NONE &&
        (frame->result_line == 0 || event->site->line <= frame->result_line)) {
        frame->result_site = event->site_number;
        frame->result_visit = event->visit;
        return true;
    }
    frame->has_result =
        frame->result_site == event->site_number && frame->result_visit == event->visit;
    return frame->has_result;
}

/* What an argument was made from: what the statement that made the call reads. */
static void find_arguments(struct diff_work *work,
                           const struct open_call *call,
                           struct diff_inputs *inputs)
{
    const struct open_call *caller = call == NULL ? NULL : call->parent;
    struct diff_frame *frame =
        caller == NULL ? NULL : diff_scope_find(&work->scope, 1, caller->call);
    const struct log_module *module;
    uint32_t line = 0;

    if (frame == NULL) {
        return;
    }
    if (frame->has_result && frame->result_site == DIFF_SITE_NONE) {
        inputs->differ = true;
        return;
    }
    module = log_reader_module(work->readers[1], caller->module_number);
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->function == caller->function && site->line <= call->line &&
            site->line > line) {
            line = site->line;
        }
    }
    for (uint32_t i = 0; i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        if (site->function == caller->function && site->line == line) {
            diff_inputs_add(
                inputs, diff_scope_reads(&work->scope, frame, caller, 1, module, site));
        }
    }
    if (line != call->line && frame->names.count > 0) {
        /* A statement without a site of its own: any name may be its argument. */
        diff_inputs_add(inputs, &frame->names.items[0]);
    }
}

/* Of several lines of B alone that may be to blame, the one that wrote this very value. */
static void find_writer(struct diff_work *work,
                        const struct diff_frame *frame,
                        const struct log_event_view *event,
                        const struct open_call *call,
                        struct diff_inputs *inputs)
{
    const struct diff_taint *writer;

    if (event->site->kind == SITE_ENTER) {
        frame = call == NULL || call->parent == NULL
                    ? NULL
                    : diff_scope_find(&work->scope, 1, call->parent->call);
    }
    writer = frame == NULL ? NULL : diff_scope_writer(frame, diff_scope_digest(event));
    if (writer != NULL) {
        inputs->code = writer;
    }
}

static bool is_known_by_object(const struct log_event_view *event,
                               const struct open_call *call)
{
    return (event->flags & LOG_EVENT_READ) != 0 ||
           (event->site->kind == SITE_ENTER &&
            (call == NULL || call->parent == NULL || call->line == 0));
}

struct diff_inputs diff_inputs_find(struct diff_work *work,
                                    struct diff_frame *frame,
                                    const struct log_event_view *event,
                                    const struct open_call *call)
{
    struct diff_inputs inputs = {.differ = false};
    bool has_result = is_result_used(frame, event);

    if ((event->flags & LOG_EVENT_READ) != 0) {
        diff_inputs_add(&inputs, diff_scope_name(&work->scope, frame, call, 1, event));
    } else if (event->site->kind == SITE_ENTER) {
        find_arguments(work, call, &inputs);
    } else {
        inputs.differ = has_result;
        diff_inputs_add(&inputs, diff_scope_reads(&work->scope, frame, call, 1,
                                                  event->module, event->site));
        if (event->site->kind == SITE_MUTATE) {
            diff_inputs_add(&inputs,
                            diff_scope_name(&work->scope, frame, call, 1, event));
        }
    }
    /* An address may have been used again: it decides only where no name does. */
    if (event->kind == VALUE_TENSOR && is_known_by_object(event, call) &&
        diff_scope_held(&work->scope, event->tensor.origin)) {
        inputs.differ = true;
    }
    if (!inputs.differ && inputs.code != NULL) {
        find_writer(work, frame, event, call, &inputs);
    }
    return inputs;
}
