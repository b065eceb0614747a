/* Judge: collects matched events as facts, then reports each pair with the verdict that the facts
 * gave: equal, own difference, or inherited from an input. */
#include "runtime/base/hash/hash.h"
#include "runtime/base/hash/mix.h"
#include "runtime/base/memory.h"
#include "runtime/view/diff/report/words.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include "runtime/base/selection/selection.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- texts that differ only in the program's folder or in the address of an object ---- */

/* `0x7f…`: with fewer digits it is a number that somebody wrote. */
#define ADDRESS_DIGITS 6

/* A text and the current position in it. */
struct reading {
    struct slice text;
    struct slice folder; /* of the program; "": none */
    size_t at;
    bool is_cut; /* only its start is in the trace */
};

/* Finds the parts in which the paths of a module differ: `/a/good` and `/a/bad` for
 * `/a/good/prog.py` and `/a/bad/prog.py`. Returns false if the paths are equal or end
 * differently. */
static bool find_folders(struct slice a, struct slice b, struct slice folders[2])
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    size_t common = 0, behind = 0;

    while (behind < shorter &&
           a.bytes[a.size - 1 - behind] == b.bytes[b.size - 1 - behind]) {
        behind++;
        common = a.bytes[a.size - behind] == '/' ? behind : common;
    }
    if (behind == shorter || common == 0) {
        return false; /* equal, or different files */
    }
    folders[0] = slice_part(a, 0, a.size - common);
    folders[1] = slice_part(b, 0, b.size - common);
    return true;
}

static bool is_digit(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

/* Returns the length of the address at the position. 0: there is none. */
static size_t address_size(const struct reading *reading)
{
    struct slice rest = slice_part(reading->text, reading->at, reading->text.size);
    size_t size = 2;

    if (!slice_starts(rest, SLICE("0x"))) {
        return 0;
    }
    while (size < rest.size && is_digit(rest.bytes[size])) {
        size++;
    }
    return size >= 2 + ADDRESS_DIGITS ? size : 0;
}

/* Returns the length of the program's folder at the position, if it is a whole part of a path.
 * 0: it is not there. */
static size_t folder_size(const struct reading *reading)
{
    struct slice rest = slice_part(reading->text, reading->at, reading->text.size);
    size_t size = reading->folder.size;
    bool is_start = reading->at == 0 || reading->folder.bytes[0] == '/' ||
                    reading->text.bytes[reading->at - 1] == '/';

    if (size == 0 || !is_start || !slice_starts(rest, reading->folder)) {
        return 0;
    }
    return rest.size == size || rest.bytes[size] == '/' ? size : 0;
}

/* Skips an address or a folder if both texts have one at their positions. Returns false if they
 * do not. */
static bool skip_alike(struct reading readings[2],
                       size_t (*size_of)(const struct reading *reading))
{
    size_t sizes[2] = {size_of(&readings[0]), size_of(&readings[1])};

    if (sizes[0] == 0 || sizes[1] == 0) {
        return false;
    }
    readings[0].at += sizes[0];
    readings[1].at += sizes[1];
    return true;
}

static bool is_at_end(const struct reading *reading)
{
    return reading->at == reading->text.size;
}

static bool are_alike(struct reading readings[2])
{
    while (!is_at_end(&readings[0]) && !is_at_end(&readings[1])) {
        if (skip_alike(readings, folder_size) || skip_alike(readings, address_size)) {
            continue;
        }
        if (readings[0].text.bytes[readings[0].at++] !=
            readings[1].text.bytes[readings[1].at++]) {
            return false;
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        if (is_at_end(&readings[side]) && readings[side].is_cut) {
            return true;
        }
    }
    return is_at_end(&readings[0]) && is_at_end(&readings[1]);
}

static struct reading reading_of(const struct log_event_view *event,
                                 struct slice folder)
{
    size_t characters = 0;

    for (size_t i = 0; i < event->text.size; i++) {
        characters += ((unsigned char)event->text.bytes[i] & 0xC0) != 0x80;
    }
    return (struct reading){
        .text = event->text,
        .folder = folder,
        .is_cut = event->integer > (int64_t)characters,
    };
}

/* Whether two different texts have the same meaning in both runs. */
static bool diff_texts_are_alike(const struct diff_work *work,
                                 const struct log_event_view *a,
                                 const struct log_event_view *b)
{
    struct slice folders[2] = {SLICE(""), SLICE("")};
    uint32_t counts[2] = {log_reader_module_count(work->readers[0]),
                          log_reader_module_count(work->readers[1])};

    for (uint32_t i = 0; i < counts[0]; i++) {
        for (uint32_t k = 0; k < counts[1]; k++) {
            struct slice paths[2] = {
                log_reader_module(work->readers[0], i)->table.path,
                log_reader_module(work->readers[1], k)->table.path,
            };
            struct reading readings[2];

            if (!find_folders(paths[0], paths[1], folders)) {
                continue;
            }
            readings[0] = reading_of(a, folders[0]);
            readings[1] = reading_of(b, folders[1]);
            if (are_alike(readings)) {
                return true;
            }
        }
    }
    struct reading readings[2] = {reading_of(a, SLICE("")), reading_of(b, SLICE(""))};

    return are_alike(readings);
}

/* ---- values that may differ by chance: read from a clock, or of names that are ignored ---- */

/* Whether the line reads a clock, or makes a unique name. */
static bool reads_clock(struct slice source)
{
    static const char *const words[] = {
        "time.time(",      "time_ns(",  "perf_counter",    "monotonic(",
        "process_time",    ".now(",     "utcnow(",         "uuid.",
        "uuid4(",          "getpid(",   "mkdtemp(",        "mkstemp(",
        "strftime(",       "time()",    "os.fork(",        "get_ident(",
        "get_native_id(",  "getppid(",  "default_timer(",  "urandom(",
        "secrets.",        "get_rank(", "get_world_size(", "gethostname(",
        "get_local_rank(", "'RANK'",    "\"RANK\"",        "LOCAL_RANK",
        "WORLD_SIZE",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_find(source, slice_of(words[i]), 0) < source.size) {
            return true;
        }
    }
    return false;
}

/* Whether the line computes a number from a path. Texts with a path are compared. */
static bool reads_path(struct slice source)
{
    return slice_find(source, SLICE("__file__"), 0) < source.size ||
           slice_find(source, SLICE("getcwd("), 0) < source.size;
}

/* Whether the name is the number of a process, which differs between processes. */
static bool is_rank(struct slice name)
{
    static const char *const words[] = {"rank", "local_rank", "global_rank",
                                        "world_size", "local_world_size"};

    name = slice_last_part(name, '.');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_equal(name, slice_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Whether a number or text may differ by chance, such as a time. */
static bool diff_is_clock(struct diff_work *work, const struct log_item *const items[2])
{
    const struct log_event_view *event = &items[1]->event;
    struct slice source;

    if ((event->kind != VALUE_INT && event->kind != VALUE_FLOAT &&
         event->kind != VALUE_TEXT) ||
        items[0]->event.kind != event->kind) {
        return false;
    }
    source = diff_place_source(work, 1, diff_place_of(items[1], NULL));
    if (event->kind == VALUE_TEXT &&
        diff_texts_are_alike(work, &items[0]->event, event)) {
        return true;
    }
    if (event->kind == VALUE_INT && (is_rank(event->name) || reads_path(source))) {
        return true;
    }
    return reads_clock(source);
}

static bool diff_is_ignored(const struct diff_work *work,
                            const struct log_event_view *event)
{
    for (size_t i = 0; i < work->options->ignored_count; i++) {
        if (name_select(event->name, event->path, work->options->ignored[i]) !=
            NAME_OTHER) {
            return true;
        }
    }
    return false;
}

/* Writes: the last in-place write to each storage, for each side. If only one run wrote into the
 * memory of a value that later differs, the write is the cause. */

/* Number of storages that are remembered. Storages with the same slot replace each other. */
#define STORAGE_BITS  12
#define STORAGE_COUNT (1 << STORAGE_BITS)
#define NAME_SIZE     80

struct diff_write {
    uint64_t storage; /* the address; 0: none */
    uint32_t
        version;   /* after the write: while it is the same, no other write followed */
    uint32_t site; /* of the trace */
    uint32_t name_size;
    struct diff_place place;
    char name[NAME_SIZE];
};

struct diff_writes {
    struct diff_write sides[2][STORAGE_COUNT];
};

struct diff_writes *diff_writes_new(void)
{
    return memory_allocate_zeroed(1, sizeof(struct diff_writes));
}

void diff_writes_free(struct diff_writes *writes)
{
    memory_free(writes);
}

static struct diff_write *
write_at(struct diff_writes *writes, unsigned side, uint64_t storage)
{
    return &writes->sides[side][hash_slot(storage, STORAGE_BITS)];
}

static uint64_t written_storage(const struct log_event_view *event)
{
    return event->tensor.data == 0
               ? 0
               : event->tensor.data -
                     (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

static void diff_writes_note(struct diff_work *work,
                             unsigned side,
                             const struct log_event_view *event)
{
    bool is_write = event->change == CHANGE_MUTATED ||
                    (event->change == CHANGE_NEW && event->site->kind == SITE_MUTATE);
    struct diff_write *write;

    if (!is_write || event->kind != VALUE_TENSOR || event->tensor.version == 0 ||
        written_storage(event) == 0) {
        return;
    }
    write = write_at(work->writes, side, written_storage(event));
    *write = (struct diff_write){
        .storage = written_storage(event),
        .version = event->tensor.version,
        .site = event->site_number,
        .place = {event->module_number, event->site->line},
        .name_size = event->name.size < NAME_SIZE ? (uint32_t)event->name.size : 0,
    };
    memcpy(write->name, event->name.bytes, write->name_size);
}

/* Returns the last write to the memory of the event's value, if the memory has not changed
 * since. NULL: not known. */
static const struct diff_write *
find_write(struct diff_work *work, unsigned side, const struct log_event_view *event)
{
    const struct diff_write *write =
        write_at(work->writes, side, written_storage(event));

    if (written_storage(event) == 0 || write->storage != written_storage(event) ||
        write->version != event->tensor.version) {
        return NULL;
    }
    return write;
}

static bool diff_writes_blame(struct diff_work *work,
                              const struct log_item *const items[2],
                              struct diff_blame *blame)
{
    const struct diff_write *writes[2] = {find_write(work, 0, &items[0]->event),
                                          find_write(work, 1, &items[1]->event)};
    unsigned side = writes[1] != NULL ? 1 : 0;
    const struct diff_write *write = writes[side];
    const struct log_event_view *event = &items[side]->event;
    uint32_t partner;

    if (write == NULL || write->site == event->site_number) {
        return false;
    }
    partner = diff_align_site(work->align, side, write->site);
    if (writes[0] != NULL && writes[1] != NULL && partner == writes[0]->site) {
        return false;
    }
    *blame = (struct diff_blame){
        .side = side,
        .name = {write->name, write->name_size},
    };
    blame->places[side] = write->place;
    blame->places[1 - side] = diff_site_place(work, 1 - side, partner);
    return true;
}

/* ---- facts ---- */

static uint64_t digest_of(const struct log_event_view *event)
{
    uint64_t parts[5] = {event->kind};

    switch (event->kind) {
    case VALUE_TENSOR:
        if (!event->has_hash) {
            return 0;
        }
        parts[1] = event->shape->dtype;
        parts[2] = event->hash;
        break;
    case VALUE_FLOAT:
    case VALUE_COMPLEX:
        memcpy(&parts[1], &event->real, sizeof event->real);
        memcpy(&parts[2], &event->imaginary, sizeof event->imaginary);
        break;
    default:
        parts[1] = (uint64_t)event->integer;
        parts[2] = hash_64(event->text);
        parts[3] = hash_64(slice_last_part(event->type, '.'));
        break;
    }
    return hash_64((struct slice){(const char *)parts, sizeof parts}) | 1;
}

static bool has_text(struct slice text, struct slice part)
{
    return slice_find(text, part, 0) < text.size;
}

/* Whether the statement runs a backward, such as `loss.backward()`: no event shows the values
 * that it writes. */
static bool
is_backward(struct diff_work *work, unsigned side, const struct log_event_view *event)
{
    struct diff_place place = {event->module_number, event->site->line};

    /* A loss whose value was replaced after its event has other values here. */
    return event->site->kind == SITE_MUTATE &&
           (event->change == CHANGE_SAME || work->grafts.is_there) &&
           has_text(diff_place_source(work, side, place), SLICE("backward("));
}

/* Whether B's value was replaced by A's. A run of such events may also contain others. */
static bool is_grafted(const struct diff_work *work,
                       const struct log_event_view *a,
                       const struct log_event_view *b)
{
    return a->kind == VALUE_TENSOR && b->kind == VALUE_TENSOR &&
           (b->shape->flags & LOG_FORM_NUMPY) == 0 &&
           (b->flags & LOG_EVENT_READ) == 0 &&
           graft_runs_have(&work->grafts, a->number, b->number);
}

/* Whether the line that made the value is edited. For an argument, the caller's line or the
 * `def` counts; a caller that is not known counts as edited. */
static bool is_edited(const struct diff_work *work,
                      unsigned side,
                      const struct log_event_view *event,
                      const struct open_call *call)
{
    return diff_edits_has_site(&work->edits, side, event->site_number) ||
           (event->site->kind == SITE_ENTER && call != NULL && call->parent == NULL) ||
           (event->site->kind == SITE_ENTER && call != NULL &&
            diff_edits_has(&work->edits, work->all_sources[side], side,
                           call->parent->module_number, call->line));
}

/* Adds the figures by which the value is searched in the other run. */
static void add_figures(const struct log_event_view *event,
                        struct diff_fact *fact,
                        struct diff_details *details)
{
    uint64_t count = 0;

    if (event->kind == VALUE_INT || event->kind == VALUE_FLOAT) {
        count = 1;
        details->mean =
            event->kind == VALUE_INT ? (float)event->integer : (float)event->real;
        details->low = details->high = details->mean;
    } else if (event->kind == VALUE_TENSOR && event->has_statistics) {
        count = event->statistics.count;
        details->low =
            (float)statistics_bound_real(event->shape->dtype, event->statistics.min);
        details->high =
            (float)statistics_bound_real(event->shape->dtype, event->statistics.max);
        details->mean = (float)event->statistics.mean;
    }
    if (!isfinite(details->mean) || !isfinite(details->low) ||
        !isfinite(details->high)) {
        count = 0; /* NaN or infinity: not comparable */
    }
    fact->count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Adds the data for the estimate of rounding: sums are at most as long as the dimensions. */
static void add_rounding(const struct log_event_view *event,
                         struct diff_fact *fact,
                         struct diff_details *details)
{
    if (event->kind != VALUE_TENSOR) {
        return;
    }
    for (uint32_t i = 0; i < event->shape->dimension_count; i++) {
        while (fact->extent < 62 && event->shape->shape[i] > (int64_t)1
                                                                 << fact->extent) {
            fact->extent++;
        }
    }
    details->rounding = (float)diff_unit_of(event->shape->dtype);
}

/* Returns the index of the event's name in the site's writes or reads. UINT16_MAX: none. */
static uint16_t name_of(const struct log_event_view *event)
{
    const struct site *site = event->site;
    bool is_read = (event->flags & LOG_EVENT_READ) != 0;
    uint32_t count = is_read ? site->read_count : site->write_count;

    for (uint32_t i = 0; i < count && i < UINT16_MAX; i++) {
        const char *bytes =
            is_read ? site->reads[i].name.bytes : site->writes[i].name.bytes;

        if (bytes == event->name.bytes) {
            return (uint16_t)i;
        }
    }
    return UINT16_MAX;
}

void diff_fact_fill(struct diff_work *work,
                    unsigned side,
                    const struct log_event_view *event,
                    const struct open_call *call,
                    struct diff_fact *fact,
                    struct diff_details *details)
{
    uint64_t number = event->number - work->facts[side].first_event;

    *fact = (struct diff_fact){
        .event = (uint32_t)number,
        .digest = digest_of(event),
        .path = event->path.size == 0 ? 0 : (uint32_t)hash_64(event->path) | 1,
        .partner = DIFF_FACT_NONE,
        .node = GRAPH_NONE,
        .call = event->call,
        .site = event->site_number,
        .name = name_of(event),
        .is_read = (event->flags & LOG_EVENT_READ) != 0,
        .is_number = event->kind == VALUE_INT || event->kind == VALUE_FLOAT ||
                     event->kind == VALUE_TEXT,
        .is_passed_text = event->kind == VALUE_TEXT && event->site->kind == SITE_ENTER,
        .is_result = event->site->kind == SITE_RETURN,
        .is_edited = is_edited(work, side, event, call),
        .is_container = event->kind == VALUE_CONTAINER,
        .is_part = event->path.size > 0,
    };
    *details = (struct diff_details){
        .origin = event->kind == VALUE_TENSOR ? event->tensor.origin : 0,
        .grown = DIFF_FACT_NONE,
        .apart = -1,
    };
    add_figures(event, fact, details);
    add_rounding(event, fact, details);
    work->has_failed = work->has_failed || number >= DIFF_FACT_NONE ||
                       !diff_facts_note_site(&work->facts[side], event);
}

/* Returns the distance of the pair, relative to their usual size. -1: not known. */
static float apart_of(const struct diff_comparison *comparison,
                      const struct log_event_view *event)
{
    double size = event->kind == VALUE_TENSOR && event->has_statistics
                      ? diff_usual_size(&event->statistics)
                      : 0;
    double apart = comparison->has_distance ? comparison->distance.max_abs
                                            : comparison->sample_worst_distance;

    return size > 0 && apart > 0 ? (float)(apart / size) : -1;
}

/* Records the first value that is not bitwise equal. All its inputs are equal, so it shows the
 * rounding error of its line alone. */
static void note_rounding(struct diff_work *work,
                          const struct log_event_view *event,
                          const struct diff_comparison *comparison)
{
    struct diff_rounding *rounding = &work->rounding;
    struct diff_extent *extent = &work->extents[event->call % DIFF_EXTENT_COUNT];
    struct slice path = slice_last_part(event->module->table.path, '/');
    float apart = comparison == NULL ? -1 : apart_of(comparison, event);

    if (work->pass != DIFF_PASS_SCAN || rounding->is_there ||
        event->kind != VALUE_TENSOR) {
        return;
    }
    if (extent->call != event->call) {
        *extent = (struct diff_extent){.call = event->call};
    }
    for (uint32_t i = 0; i < event->shape->dimension_count; i++) {
        if (event->shape->shape[i] > extent->largest) {
            extent->largest = event->shape->shape[i];
        }
    }
    if (comparison == NULL || !(apart > 0)) {
        return;
    }
    rounding->is_there = true;
    rounding->length = (uint64_t)extent->largest;
    rounding->dtype = event->shape->dtype;
    rounding->units = (double)apart / diff_unit_of(rounding->dtype);
    rounding->expected = sqrt((double)rounding->length);
    snprintf(rounding->place, sizeof rounding->place, "%.*s:%u: %.*s", (int)path.size,
             path.bytes, event->site->line,
             (int)(event->name.size < 80 ? event->name.size : 80), event->name.bytes);
}

static enum diff_state state_of(const struct diff_work *work,
                                const struct log_item *const items[2],
                                const struct diff_comparison *comparison)
{
    if (comparison == NULL) {
        return DIFF_STATE_EQUAL;
    }
    if (comparison->cause == DIFF_CAUSE_NONE) {
        return comparison->is_close ? DIFF_STATE_CLOSE : DIFF_STATE_EQUAL;
    }
    if (diff_is_ignored(work, &items[1]->event)) {
        return DIFF_STATE_IGNORED;
    }
    return comparison->cause == DIFF_CAUSE_STRIDES && !comparison->differs_in_values &&
                   !work->options->tolerance.is_exact
               ? DIFF_STATE_LAYOUT
               : DIFF_STATE_DIFFERS;
}

/* Whether the two lines write other names and other kinds of values, so that they are no pair. */
static bool is_other_name(const struct log_item *const items[2],
                          const struct diff_comparison *comparison)
{
    return comparison != NULL && comparison->cause == DIFF_CAUSE_KIND &&
           !slice_equal(items[0]->event.name, items[1]->event.name);
}

static void collect_pair(struct diff_work *work,
                         const struct log_item *const items[2],
                         const struct open_call *const calls[2],
                         const struct diff_comparison *comparison)
{
    enum diff_state state = state_of(work, items, comparison);
    bool may_differ = (state == DIFF_STATE_DIFFERS || state == DIFF_STATE_CLOSE) &&
                      diff_is_clock(work, items);
    bool is_edited = false;
    uint32_t numbers[2];

    for (unsigned side = 0; side < 2; side++) {
        struct diff_fact fact;
        struct diff_details details;

        diff_fact_fill(work, side, &items[side]->event, calls[side], &fact, &details);
        fact.state = (uint8_t)state;
        fact.is_clock = may_differ;
        is_edited |= fact.is_edited;
        if (comparison != NULL) {
            details.apart = apart_of(comparison, &items[1]->event);
            fact.is_form = comparison->cause >= DIFF_CAUSE_KIND &&
                           comparison->cause < DIFF_CAUSE_STRIDES;
            fact.is_values = comparison->cause == DIFF_CAUSE_VALUES;
            fact.is_other_type = comparison->cause == DIFF_CAUSE_KIND && fact.is_number;
        }
        fact.is_grafted = is_grafted(work, &items[0]->event, &items[1]->event);
        fact.is_backward = is_backward(work, side, &items[side]->event);
        fact.is_hidden =
            (state == DIFF_STATE_DIFFERS || work->grafts.is_there) && fact.is_backward;
        numbers[side] =
            diff_facts_add(&work->facts[side], &fact,
                           state == DIFF_STATE_EQUAL ? NULL : &details, calls[side]);
        work->has_failed = work->has_failed || numbers[side] == DIFF_FACT_NONE;
    }
    if (work->has_failed) {
        return;
    }
    if (is_edited && is_other_name(items, comparison)) {
        work->facts[0].items[numbers[0]].state = DIFF_STATE_CODE;
        work->facts[1].items[numbers[1]].state = DIFF_STATE_CODE;
        return;
    }
    for (unsigned side = 0; side < 2; side++) {
        work->facts[side].items[numbers[side]].partner = numbers[1 - side];
        work->facts[side].items[numbers[side]].is_edited = is_edited;
    }
}

/* ---- pairs ---- */

/* Reports a difference at the in-place write of one run alone that caused it. */
static void blame_write(struct diff_work *work,
                        const struct diff_blame *blame,
                        struct diff_finding *finding)
{
    work->path.size = 0;
    buffer_add(&work->path, blame->side == 1 ? SLICE("B") : SLICE("A"));
    buffer_add(&work->path, SLICE(" alone writes into memory that is read as "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(" at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, blame->name, 80);
    for (unsigned side = 0; side < 2; side++) {
        finding->modules[side] = blame->places[side].module;
        finding->lines[side] = blame->places[side].line;
    }
}

static void fill_finding(struct diff_work *work,
                         const struct log_item *const items[2],
                         const struct open_call *const calls[2],
                         const struct diff_comparison *comparison,
                         struct diff_finding *finding)
{
    *finding = (struct diff_finding){
        .items = {items[0], items[1]},
        .calls = {calls[0], calls[1]},
        .cause = comparison->cause,
        .class_ = DIFF_OWN,
        .distance =
            comparison->has_distance && (comparison->cause == DIFF_CAUSE_VALUES ||
                                         comparison->differs_in_values)
                ? &comparison->distance
                : NULL,
    };

    for (unsigned side = 0; side < 2; side++) {
        struct diff_place place = diff_place_of(items[side], calls[side]);

        finding->modules[side] = place.module;
        finding->lines[side] = place.line;
    }
    work->name.size = 0;
    work->words.size = 0;
    diff_name_add(&items[1]->event, &work->name);
    diff_words_add(&work->words, comparison, &items[0]->event, &items[1]->event);
    finding->name = buffer_slice(&work->name);
    finding->words = buffer_slice(&work->words);
}

/* Finds the line to fix, if it is not the line that shows the difference. */
static void report_fix(struct diff_work *work,
                       const struct diff_fact *facts[2],
                       struct diff_finding *finding)
{
    struct diff_blame blame;

    if (diff_fix_code(work, facts, finding)) {
        return;
    }
    if (!facts[1]->is_edited && finding->cause == DIFF_CAUSE_VALUES &&
        finding->items[1]->event.kind == VALUE_TENSOR &&
        diff_writes_blame(work, finding->items, &blame)) {
        blame_write(work, &blame, finding);
        return;
    }
    finding->has_equal_inputs = true;
    diff_fix_find(work, finding);
    if (!work->has_first && facts[1]->is_edited && facts[1]->is_number &&
        !facts[1]->is_used) {
        diff_fix_add_others(work, finding);
    }
}

/* Writes the words for a pair that is equal within tolerance, but whose error grows beyond it. */
static void add_growth(struct diff_work *work, uint32_t grown_fact)
{
    const struct diff_facts *facts = &work->facts[1];
    const struct diff_fact *grown = &facts->items[grown_fact];

    assert(grown_fact < facts->count);
    work->words.size = 0;
    buffer_add(&work->words, SLICE("within tolerance here, beyond it at line "));
    buffer_add_number(&work->words, diff_fact_site_of(facts, grown).site->line);
    buffer_add(&work->words, SLICE(" in "));
    text_add_shortened(&work->words, diff_fact_name(facts, grown), 80);
}

static void report_pair(struct diff_work *work,
                        const struct log_item *const items[2],
                        const struct open_call *const calls[2],
                        const struct diff_comparison *comparison,
                        const struct diff_fact *facts[2])
{
    const struct diff_details *details = diff_fact_details(&work->facts[1], facts[1]);
    struct diff_finding finding;

    fill_finding(work, items, calls, comparison, &finding);
    finding.is_absorbed = facts[1]->is_absorbed;
    finding.is_unsure =
        facts[1]->is_unsure && facts[1]->verdict == DIFF_VERDICT_INHERITED;
    finding.class_ = facts[1]->verdict == DIFF_VERDICT_OWN    ? DIFF_OWN
                     : facts[1]->verdict == DIFF_VERDICT_STEP ? DIFF_STEP
                                                              : DIFF_INHERITED;
    if (details != NULL && details->grown != DIFF_FACT_NONE) {
        add_growth(work, details->grown);
        finding.cause = DIFF_CAUSE_VALUES;
    } else if (finding.class_ == DIFF_OWN) {
        report_fix(work, facts, &finding);
    }
    if (finding.is_absorbed) {
        buffer_add(&work->words, SLICE("; all that was made from it is equal"));
    } else if (finding.is_unsure) {
        buffer_add(&work->words,
                   SLICE("; inherited or own: code that is not recorded got an input "
                         "that differs"));
    }
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    diff_add_finding(work, &finding);
}

static void count_pair(struct diff_work *work,
                       const struct log_item *const items[2],
                       const struct open_call *const calls[2],
                       const struct diff_comparison *comparison)
{
    struct diff_result *result = work->result;
    const struct diff_fact *fact =
        diff_facts_find(&work->facts[1], items[1]->event.number);
    const struct diff_fact *facts[2] = {NULL, fact};
    struct diff_comparison equal = {.cause = DIFF_CAUSE_VALUES};

    if (fact == NULL) { /* no facts were collected */
        result->equal++;
        result->close += comparison != NULL && comparison->is_close;
        return;
    }
    if (fact->partner == DIFF_FACT_NONE) {
        result->steps++;
        return;
    }
    facts[0] = &work->facts[0].items[fact->partner];
    switch (fact->verdict) {
    case DIFF_VERDICT_EQUAL:
        result->equal++;
        result->close += fact->state == DIFF_STATE_CLOSE;
        return;
    case DIFF_VERDICT_LAYOUT:
        result->equal++;
        result->layout++;
        return;
    case DIFF_VERDICT_CLOCK:
        result->clocks++;
        return;
    case DIFF_VERDICT_STEP:
        result->steps++;
        break;
    case DIFF_VERDICT_OWN:
        result->own++;
        break;
    default:
        result->inherited++;
        result->unsure += fact->is_unsure;
        break;
    }
    report_pair(work, items, calls, comparison == NULL ? &equal : comparison, facts);
}

static void settle_pair(struct diff_work *work,
                        const struct log_item *const items[2],
                        const struct open_call *const calls[2],
                        const struct diff_comparison *comparison)
{
    if (comparison == NULL || comparison->is_close) {
        note_rounding(work, &items[1]->event, comparison);
    }
    switch (work->pass) {
    case DIFF_PASS_SCAN:
        if (comparison != NULL &&
            (comparison->cause != DIFF_CAUSE_NONE || diff_is_clock(work, items))) {
            work->has_odd = true;
            return;
        }
        work->result->equal++;
        work->result->close += comparison != NULL && comparison->is_close;
        return;
    case DIFF_PASS_COLLECT:
        collect_pair(work, items, calls, comparison);
        return;
    default:
        count_pair(work, items, calls, comparison);
    }
}

static void keep(struct diff_kept *kept, const struct log_item *item)
{
    struct log_event_view *event = &kept->item.event;

    kept->item = *item;
    if (event->sample != NULL) {
        size_t size = (size_t)event->grid.count * dtype_size(event->shape->dtype);

        event->sample = size <= sizeof kept->sample ? kept->sample : NULL;
        if (event->sample != NULL) {
            memcpy(kept->sample, item->event.sample, size);
        }
    }
    if (event->text.size > 0) {
        event->text.size =
            event->text.size < sizeof kept->text ? event->text.size : sizeof kept->text;
        memcpy(kept->text, item->event.text.bytes, event->text.size);
        event->text.bytes = kept->text;
    }
}

/* Returns the number of elements. 0: not known. */
static uint64_t element_count(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        if (__builtin_mul_overflow(count, (uint64_t)shape->shape[i], &count)) {
            return 0;
        }
    }
    return count;
}

/* Delays the verdict until the whole values were read, if they follow. */
static void wait_for_values(struct diff_work *work,
                            const struct diff_step *step,
                            const struct diff_comparison *comparison)
{
    struct diff_pending *pending = &work->pending;
    const struct log_shape *shapes[2] = {step->items[0]->event.shape,
                                         step->items[1]->event.shape};
    double size = 0;

    pending->is_there = true;
    pending->comparison = *comparison;
    for (unsigned side = 0; side < 2; side++) {
        keep(&work->kept[side], step->items[side]);
        pending->calls[side] = step->calls[side];
    }
    if (!diff_tolerance_is_given(&work->options->tolerance) &&
        !work->options->tolerance.is_exact) {
        size = comparison->scale;
        if (comparison->sample_count == 0 && step->items[1]->event.has_statistics) {
            size = 2 * diff_usual_size(&step->items[1]->event.statistics);
        }
    }
    diff_values_begin(&work->values, shapes[0]->dtype, shapes[1]->dtype,
                      element_count(shapes[1]), comparison->rtol, comparison->atol,
                      size);
    work->values.lower = comparison->lower;
}

void diff_settle_pending(struct diff_work *work)
{
    struct diff_pending *pending = &work->pending;
    struct diff_comparison *comparison = &pending->comparison;
    const struct log_item *const items[2] = {&work->kept[0].item, &work->kept[1].item};

    if (!pending->is_there) {
        return;
    }
    pending->is_there = false;
    if (diff_values_finish(&work->values, &comparison->distance)) {
        bool is_beyond = comparison->distance.beyond_count > 0 ||
                         (work->options->tolerance.is_exact && comparison->seen != 0);

        comparison->has_distance = true;
        comparison->distance.floor = comparison->floor;
        comparison->seen = is_beyond ? DIFF_SEEN_VALUES : DIFF_SEEN_NOTHING;
        if (comparison->cause == DIFF_CAUSE_NONE ||
            comparison->cause == DIFF_CAUSE_VALUES) {
            comparison->cause = is_beyond ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
        }
        comparison->differs_in_values = is_beyond;
        comparison->is_close = !is_beyond;
    }
    settle_pair(work, items, pending->calls, comparison);
}

void diff_follow(struct diff_work *work, unsigned side, const struct diff_step *step)
{
    const struct log_event_view *event = &step->items[side]->event;

    diff_writes_note(work, side, event);
    diff_fix_visit(work, side, event);
    if (event->site->kind == SITE_LOOP) {
        diff_align_note_turn(work->align, side, step->calls[side], event);
    }
}

void diff_match_events(struct diff_work *work, const struct diff_step *step)
{
    const struct log_event_view *a = &step->items[0]->event;
    const struct log_event_view *b = &step->items[1]->event;
    struct diff_comparison comparison;

    work->result->event_counts[0]++;
    work->result->event_counts[1]++;
    if (work->pass == DIFF_PASS_REPORT) {
        diff_follow(work, 0, step);
        diff_follow(work, 1, step);
    }
    if (diff_compare_is_same(&work->compare, a, b)) {
        settle_pair(work, step->items, step->calls, NULL);
        return;
    }
    diff_compare_events(&work->compare, a, b, &comparison);
    if (b->kind == VALUE_TENSOR && a->kind == VALUE_TENSOR &&
        (comparison.differs_in_values || comparison.is_close)) {
        wait_for_values(work, step, &comparison);
        if (step->is_moved) {
            diff_settle_pending(work);
        }
        return;
    }
    settle_pair(work, step->items, step->calls, &comparison);
}
