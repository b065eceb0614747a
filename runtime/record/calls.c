/* Running calls, found by frame and kept as a stack for each thread; and the modules of their
 * code. */
#include "runtime/record/calls.h"

#include "runtime/base/memory.h"
#include "runtime/base/number_map.h"
#include "runtime/base/text_table.h"

#include <assert.h>
#include <string.h>

#define BUCKET_COUNT_START 256
/* With this many calls, the older half of the suspended generators is dropped: they may never
 * finish. */
#define CALL_COUNT_MAX 65536

struct call_table {
    call_end_function on_end;
    void *context;
    struct call **buckets; /* owned, and the calls too */
    size_t bucket_count;   /* a power of two */
    size_t count;
    uint32_t last_number;
    struct call_thread **threads; /* owned, each too */
    size_t thread_count;
    size_t thread_capacity;
};

static size_t bucket_of(const struct call_table *table, const void *frame)
{
    uint64_t mixed = (uint64_t)(uintptr_t)frame * 0x9e3779b97f4a7c15u;

    return (size_t)(mixed >> 32) & (table->bucket_count - 1);
}

struct call_table *call_table_new(call_end_function on_end, void *context)
{
    struct call_table *table = memory_allocate_zeroed(1, sizeof(*table));

    if (table == NULL) {
        return NULL;
    }
    table->on_end = on_end;
    table->context = context;
    table->bucket_count = BUCKET_COUNT_START;
    table->buckets = memory_allocate_zeroed(table->bucket_count, sizeof(struct call *));
    if (table->buckets == NULL) {
        memory_free(table);
        return NULL;
    }
    return table;
}

static void call_free(struct call *call)
{
    memory_free(call->visits);
    memory_free(call->names);
    memory_free(call->repeats);
    leaf_states_release(&call->leaves);
    known_containers_release(&call->recorded);
    memory_free(call);
}

static void call_function_release(struct call_function *function)
{
    while (function->unused != NULL) {
        struct call *call = function->unused;
        function->unused = call->next;
        call_free(call);
    }
}

void call_table_free(struct call_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        while (table->buckets[i] != NULL) {
            struct call *call = table->buckets[i];
            table->buckets[i] = call->next;
            call_free(call);
        }
    }
    for (size_t i = 0; i < table->thread_count; i++) {
        memory_free(table->threads[i]);
    }
    memory_free(table->threads);
    memory_free(table->buckets);
    memory_free(table);
}

struct call_thread *call_table_thread(struct call_table *table, uint64_t key)
{
    void *threads = table->threads;
    struct call_thread *thread;

    for (size_t i = table->thread_count; i > 0; i--) {
        if (table->threads[i - 1]->key == key) {
            return table->threads[i - 1];
        }
    }
    if (!memory_grow(&threads, &table->thread_capacity, table->thread_count + 1,
                     sizeof(struct call_thread *))) {
        return NULL;
    }
    table->threads = threads;
    thread = memory_allocate_zeroed(1, sizeof(*thread));
    if (thread == NULL) {
        return NULL;
    }
    thread->key = key;
    thread->number = table->thread_count < THREAD_NUMBER_MAX
                         ? (uint16_t)table->thread_count
                         : THREAD_NUMBER_MAX;
    table->threads[table->thread_count] = thread;
    table->thread_count++;
    return thread;
}

const struct call_thread *call_table_thread_at(const struct call_table *table,
                                               uint16_t number)
{
    return number < table->thread_count ? table->threads[number] : NULL;
}

void call_table_forget_recorded_threads(struct call_table *table)
{
    for (size_t i = 0; i < table->thread_count; i++) {
        table->threads[i]->is_recorded = false;
    }
}

static void put_into_bucket(struct call_table *table,
                            struct call *call,
                            const void *frame,
                            const void *code)
{
    size_t bucket = bucket_of(table, frame);

    call->frame = frame;
    call->code = code;
    call->next = table->buckets[bucket];
    table->buckets[bucket] = call;
    table->count++;
}

static void unlink_from_bucket(struct call_table *table, struct call *call)
{
    struct call **link = &table->buckets[bucket_of(table, call->frame)];

    while (*link != call) {
        link = &(*link)->next;
    }
    *link = call->next;
    table->count--;
}

static void unlink_from_stack(struct call *call)
{
    if (!call->is_in_stack) {
        return;
    }
    struct call **link = &call->thread->top;
    while (*link != call) {
        link = &(*link)->below;
    }
    *link = call->below;
    call->below = NULL;
    call->is_in_stack = false;
}

static void end_call(struct call_table *table, struct call *call)
{
    unlink_from_stack(call);
    table->on_end(table->context, call);
    unlink_from_bucket(table, call);
    call->number = 0;
    call->function->known_count--;
    call->next = call->function->unused;
    call->function->unused = call;
}

struct call *
call_table_find(struct call_table *table, const void *frame, const void *code)
{
    struct call *call = table->buckets[bucket_of(table, frame)];

    while (call != NULL && call->frame != frame) {
        call = call->next;
    }
    if (call != NULL && call->code != code) {
        end_call(table, call);
        return NULL;
    }
    return call;
}

static bool grow_buckets(struct call_table *table)
{
    size_t old_count = table->bucket_count;
    struct call **old = table->buckets;
    struct call **buckets = memory_allocate_zeroed(old_count * 2, sizeof(*buckets));

    if (buckets == NULL) {
        return false;
    }
    table->buckets = buckets;
    table->bucket_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i] != NULL) {
            struct call *call = old[i];
            size_t bucket = bucket_of(table, call->frame);
            old[i] = call->next;
            call->next = buckets[bucket];
            buckets[bucket] = call;
        }
    }
    memory_free(old);
    return true;
}

/* Ends the older half of the calls that are in no thread's stack. */
static void forget_old_generators(struct call_table *table)
{
    uint32_t limit = table->last_number - (uint32_t)(table->count / 2);

    for (size_t i = 0; i < table->bucket_count; i++) {
        struct call *call = table->buckets[i];
        while (call != NULL) {
            struct call *next = call->next;
            if (!call->is_in_stack && call->number < limit) {
                end_call(table, call);
            }
            call = next;
        }
    }
}

/* Returns an ended call of the function, cleared. */
static struct call *reuse_call(struct call_function *function)
{
    struct call *call = function->unused;

    function->unused = call->next;
    memset(call->visits, 0, function->site_count * sizeof(uint32_t));
    memset(call->names, 0, function->name_count * sizeof(struct name_state));
    memset(call->repeats, 0, function->repeat_count * sizeof(uint8_t));
    leaf_states_release(&call->leaves);
    known_containers_release(&call->recorded);
    *call = (struct call){
        .visits = call->visits, .names = call->names, .repeats = call->repeats};
    return call;
}

static struct call *make_call(struct call_function *function)
{
    if (function->unused != NULL) {
        return reuse_call(function);
    }
    struct call *call = memory_allocate_zeroed(1, sizeof(*call));
    if (call == NULL) {
        return NULL;
    }
    call->visits = memory_allocate_zeroed(function->site_count, sizeof(uint32_t));
    call->names =
        memory_allocate_zeroed(function->name_count, sizeof(struct name_state));
    call->repeats = memory_allocate_zeroed(function->repeat_count, sizeof(uint8_t));
    if (call->visits == NULL || call->names == NULL || call->repeats == NULL) {
        call_free(call);
        return NULL;
    }
    return call;
}

struct call *call_table_begin(struct call_table *table,
                              struct call_thread *thread,
                              struct call_function *function,
                              const void *frame,
                              const void *code,
                              bool is_left_out)
{
    struct call *old = call_table_find(table, frame, code);

    if (old != NULL) {
        end_call(table, old);
    }
    if (table->count >= CALL_COUNT_MAX) {
        forget_old_generators(table);
    }
    if (table->count >= table->bucket_count && !grow_buckets(table)) {
        return NULL;
    }
    struct call *call = make_call(function);
    if (call == NULL) {
        return NULL;
    }
    put_into_bucket(table, call, frame, code);
    call->function = function;
    function->known_count++;
    function->entry_count++;
    call->thread = thread;
    call->written_in_chunk = UINT64_MAX;
    call->is_left_out = is_left_out;
    call->number = is_left_out ? UINT32_MAX : ++table->last_number;
    return call;
}

void call_table_move(struct call_table *table,
                     struct call *call,
                     const void *frame,
                     const void *code)
{
    unlink_from_bucket(table, call);
    put_into_bucket(table, call, frame, code);
}

void call_table_run(struct call_table *table,
                    struct call_thread *thread,
                    struct call *call)
{
    if (call != NULL && call->is_in_stack && call->thread != thread) {
        unlink_from_stack(call);
    }
    if (call == NULL || call->is_in_stack) {
        while (thread->top != call) {
            struct call *top = thread->top;
            if ((top->flags & LOG_CALL_GENERATOR) != 0 && !top->has_returned) {
                unlink_from_stack(top);
            } else {
                end_call(table, top);
            }
        }
        return;
    }
    call->thread = thread;
    call->below = thread->top;
    thread->top = call;
    call->is_in_stack = true;
}

void call_table_end(struct call_table *table, struct call *call)
{
    if (call->is_in_stack) {
        call_table_run(table, call->thread, call);
    }
    end_call(table, call);
}

bool call_table_is_empty(const struct call_table *table)
{
    return table->count == 0;
}

void call_table_each(struct call_table *table,
                     void (*visit)(void *context, struct call *call),
                     void *context)
{
    for (size_t i = 0; i < table->bucket_count; i++) {
        for (struct call *call = table->buckets[i]; call != NULL; call = call->next) {
            visit(context, call);
        }
    }
}

/* A module of a recording: its sites, names and loops, numbered so that a visit finds its data
 * by index. */

static void *allocate_zeroed(struct arena *arena, size_t count, size_t size)
{
    void *block = arena_allocate(arena, count > 0 ? count : 1, size);

    if (block != NULL) {
        memset(block, 0, count * size);
    }
    return block;
}

/* The numbers given to the names of each function so far. */
struct name_numbers {
    struct text_table names;
    struct number_map numbers; /* by function and name */
};

static bool number_name(struct recorded_module *module,
                        struct name_numbers *seen,
                        uint32_t function,
                        struct slice name,
                        uint32_t *number)
{
    uint32_t text;
    uint64_t key;

    if (!text_table_add(&seen->names, name, &text)) {
        return false;
    }
    key = number_map_key(function, text);
    *number = number_map_get(&seen->numbers, key);
    if (*number != NUMBER_MAP_NONE) {
        return true;
    }
    *number = module->functions[function].name_count++;
    return number_map_put(&seen->numbers, key, *number);
}

static bool number_names_of(struct recorded_module *module,
                            struct name_numbers *seen,
                            uint32_t number,
                            bool has_reads)
{
    assert(number < module->table.site_count);

    const struct site *site = &module->table.sites[number];
    uint32_t *names = &module->names[module->sites[number].names];

    for (uint32_t i = 0; i < site->write_count; i++) {
        if (!number_name(module, seen, site->function, site->writes[i].name, names++)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < site->read_count; i++, names++) {
        *names = SITE_NONE;
        if (has_reads && site->kind != SITE_ENTER &&
            !number_name(module, seen, site->function, site->reads[i].name, names)) {
            return false;
        }
    }
    return true;
}

/* Numbers the different names that each function writes, and with has_reads those that it reads. */
static bool number_names(struct recorded_module *module, bool has_reads)
{
    struct name_numbers seen;
    uint32_t next = 0;
    bool is_done;

    number_map_init(&seen.numbers);
    is_done = text_table_init(&seen.names);
    for (uint32_t i = 0; is_done && i < module->table.site_count; i++) {
        const struct site *site = &module->table.sites[i];

        module->sites[i].names = next;
        next += site->write_count + site->read_count;
        is_done = number_names_of(module, &seen, i, has_reads);
    }
    number_map_release(&seen.numbers);
    text_table_release(&seen.names);
    return is_done;
}

/* The first loop of the function at or after its header's record. */
static uint32_t find_loop(const struct site_table *table, uint32_t header)
{
    for (uint32_t i = header + 1; i < table->site_count; i++) {
        if (table->sites[i].kind == SITE_LOOP &&
            table->sites[i].function == table->sites[header].function) {
            return i;
        }
    }
    return SITE_NONE;
}

static void number_sites(struct recorded_module *module)
{
    const struct site_table *table = &module->table;

    for (uint32_t f = 0; f < table->function_count; f++) {
        module->functions[f].enter = SITE_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        struct call_function *function = &module->functions[table->sites[i].function];
        if (table->sites[i].kind == SITE_ENTER && function->enter == SITE_NONE) {
            function->enter = i;
        }
        module->sites[i].local = function->site_count++;
        module->sites[i].repeat =
            table->sites[i].repeats ? function->repeat_count++ : SITE_NONE;
    }
    uint32_t next = 0;
    for (uint32_t f = 0; f < table->function_count; f++) {
        module->functions[f].index = f;
        module->first_repeating[f] = next;
        next += module->functions[f].repeat_count;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        if (table->sites[i].repeats) {
            uint32_t first = module->first_repeating[table->sites[i].function];
            module->repeating[first + module->sites[i].repeat] =
                (struct repeating_site){i, find_loop(table, i)};
        }
    }
}

/* Finds the loop around each site. The body of a loop is the run of sites that follow it in its
 * function and are indented further. */
static void find_loops(struct recorded_module *module, uint32_t *open)
{
    const struct site_table *table = &module->table;

    for (uint32_t f = 0; f < table->function_count; f++) {
        open[f] = SITE_NONE;
        module->functions[f].first_loop = SITE_NONE;
    }
    for (uint32_t i = 0; i < table->site_count; i++) {
        const struct site *site = &table->sites[i];
        uint32_t *loop = &open[site->function];

        while (*loop != SITE_NONE && site->column <= table->sites[*loop].column &&
               site->line > table->sites[*loop].line) {
            module->sites[*loop].last_line = site->line - 1;
            *loop = module->sites[*loop].loop;
        }
        module->sites[i].loop = *loop;
        module->sites[i].last_line = UINT32_MAX;
        module->sites[i].next_loop = SITE_NONE;
        if (site->kind == SITE_LOOP) {
            *loop = i;
            module->sites[i].next_loop = module->functions[site->function].first_loop;
            module->functions[site->function].first_loop = i;
        }
    }
}

static bool prepare(struct recorded_module *module, bool has_reads)
{
    const struct site_table *table = &module->table;
    struct arena *arena = &module->arena;
    size_t name_count = 0;
    uint32_t repeat_count = 0;

    for (uint32_t i = 0; i < table->site_count; i++) {
        name_count += (size_t)table->sites[i].write_count + table->sites[i].read_count;
        repeat_count += table->sites[i].repeats;
    }
    module->sites =
        allocate_zeroed(arena, table->site_count, sizeof(struct recorded_site));
    module->names = allocate_zeroed(arena, name_count, sizeof(uint32_t));
    module->functions =
        allocate_zeroed(arena, table->function_count, sizeof(struct call_function));
    module->repeating =
        allocate_zeroed(arena, repeat_count, sizeof(struct repeating_site));
    module->first_repeating =
        allocate_zeroed(arena, table->function_count, sizeof(uint32_t));
    uint32_t *open = allocate_zeroed(arena, table->function_count, sizeof(uint32_t));
    if (arena->has_failed || !number_names(module, has_reads)) {
        return false;
    }
    number_sites(module);
    find_loops(module, open);
    return true;
}

struct recorded_module *recorded_module_new(struct site_module *source, bool has_reads)
{
    struct recorded_module *module = memory_allocate_zeroed(1, sizeof(*module));

    if (module == NULL) {
        return NULL;
    }
    arena_init(&module->arena);
    module->source = site_module_use(source);
    module->table = source->table;
    if (!prepare(module, has_reads)) {
        recorded_module_free(module);
        return NULL;
    }
    return module;
}

void recorded_module_free(struct recorded_module *module)
{
    if (module == NULL) {
        return;
    }
    for (uint32_t i = 0; module->functions != NULL && i < module->table.function_count;
         i++) {
        call_function_release(&module->functions[i]);
    }
    site_module_leave(module->source);
    arena_release(&module->arena);
    memory_free(module);
}
