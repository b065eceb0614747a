/* Judges a pair of matched events: equal, own difference, or inherited from an input. */
#include "runtime/view/diff/report/words.h"

#include "runtime/base/memory.h"
#include "runtime/view/diff/work.h"
#include "runtime/view/words/paint.h"

#include <string.h>

/* Equal values in another memory layout: a difference where something follows of it alone. */

void diff_suspects_release(struct diff_work *work)
{
    for (uint32_t i = 0; i < work->suspect_count; i++) {
        buffer_release(&work->suspects[i].name);
        buffer_release(&work->suspects[i].words);
        buffer_release(&work->suspects[i].text);
    }
    memory_free(work->suspects);
}

static uint64_t storage_of(const struct log_event_view *event)
{
    if (event->kind != VALUE_TENSOR || event->tensor.data == 0) {
        return 0;
    }
    return event->tensor.data -
           (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

/* The pair's values are equal, their strides are not. Gives the suspect's number; of the
 * events of one place the first is kept. DIFF_SUSPECTS_MAX: there is no room. */
static uint32_t diff_suspect_add(struct diff_work *work, struct diff_finding *finding)
{
    struct diff_suspect *suspect;

    for (uint32_t i = 0; i < work->suspect_count; i++) {
        if (work->suspects[i].items[1].event.site_number ==
            finding->items[1]->event.site_number) {
            return i;
        }
    }
    if (work->suspect_count >= DIFF_SUSPECTS_MAX) {
        return DIFF_SUSPECTS_MAX;
    }
    if (work->suspects == NULL) {
        work->suspects = memory_allocate_zeroed(DIFF_SUSPECTS_MAX, sizeof *suspect);
        if (work->suspects == NULL) {
            work->scope.has_failed = true;
            return DIFF_SUSPECTS_MAX;
        }
    }
    suspect = &work->suspects[work->suspect_count];
    for (unsigned side = 0; side < 2; side++) {
        suspect->items[side] = *finding->items[side];
        suspect->items[side].event.sample = NULL;
        suspect->items[side].event.text = SLICE("");
        suspect->storages[side] = storage_of(&finding->items[side]->event);
    }
    suspect->is_in_place = finding->items[0]->event.tensor.origin == 0 &&
                           finding->items[1]->event.tensor.origin != 0;
    buffer_add(&suspect->name, finding->name);
    buffer_add(&suspect->words, finding->words);
    if (!work->has_first) {
        diff_first_make(work, finding);
        buffer_add(&suspect->text, buffer_slice(&work->text));
    }
    work->scope.has_failed = work->scope.has_failed || suspect->name.has_failed ||
                             suspect->words.has_failed || suspect->text.has_failed;
    return work->suspect_count++;
}

/* The suspect whose memory B's event shares, and A's does not; DIFF_SUSPECTS_MAX: none. */
static uint32_t diff_suspect_find(const struct diff_work *work,
                                  const struct log_event_view *a,
                                  const struct log_event_view *b)
{
    uint64_t storages[2] = {storage_of(a), storage_of(b)};

    for (uint32_t i = 0; i < work->suspect_count; i++) {
        const struct diff_suspect *suspect = &work->suspects[i];

        if (suspect->is_in_place && storages[1] != 0 &&
            suspect->storages[1] == storages[1] &&
            suspect->storages[0] != storages[0]) {
            return i;
        }
    }
    return DIFF_SUSPECTS_MAX;
}

/* Something followed of it. */
static void diff_suspect_report(struct diff_work *work, uint32_t number)
{
    struct diff_suspect *suspect = &work->suspects[number];
    struct diff_finding finding = {
        .items = {&suspect->items[0], &suspect->items[1]},
        .cause = DIFF_CAUSE_STRIDES,
        .class_ = DIFF_OWN,
        .name = buffer_slice(&suspect->name),
        .words = buffer_slice(&suspect->words),
        .text = buffer_slice(&suspect->text),
    };

    if (suspect->is_reported) {
        return;
    }
    suspect->is_reported = true;
    for (unsigned side = 0; side < 2; side++) {
        struct diff_place place = diff_place_of(&suspect->items[side], NULL);

        finding.modules[side] = place.module;
        finding.lines[side] = place.line;
    }
    work->result->own++;
    work->result->equal--;
    work->result->layout--;
    diff_add_finding(work, &finding);
}

/* Texts that name the same thing of two runs: a file of the program, which lies in two folders, or an
 * object at an address. */

/* `0x7f…`: of fewer digits it is a number that somebody wrote. */
#define ADDRESS_DIGITS 6

/* A text as it is read along. */
struct reading {
    struct slice text;
    struct slice folder; /* of the program; "": none */
    size_t at;
    bool is_cut; /* the trace has its beginning alone */
};

/* What the paths of a module in both programs begin with and do not have in common: `/a/good` and
 * `/a/bad` of `/a/good/prog.py` and `/a/bad/prog.py`. */
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
        return false; /* the same, or other files */
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

/* How long an address is that stands there; 0: there is none. */
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

/* The same of the program's folder, as a whole part of a path. */
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

/* Passes over what is alike on both sides; false: nothing is, and the bytes count. */
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

/* Whether two texts that differ name the same thing of both programs. */
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

/* Values that are no difference: read from a clock, or of names that are to be ignored. */

/* What a line's text has that reads a clock, or makes a name that is never the same. */
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

/* Whether a number is made of a path. A text with a path is compared. */
static bool reads_path(struct slice source)
{
    return slice_find(source, SLICE("__file__"), 0) < source.size ||
           slice_find(source, SLICE("getcwd("), 0) < source.size;
}

/* Of a process among others: each has a number of its own. */
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

/* Whether a number or text differs as those from a clock do. */
static bool is_clock(struct diff_work *work,
                     const struct log_item *const items[2],
                     const struct diff_inputs *inputs)
{
    const struct log_event_view *event = &items[1]->event;
    struct slice source;

    switch (event->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_TEXT:
        break;
    default:
        return false;
    }
    if (inputs->differ || inputs->code != NULL || items[0]->event.kind != event->kind) {
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
    return inputs->has_clock || reads_clock(source);
}

static bool is_ignored(const struct diff_work *work, const struct log_event_view *event)
{
    for (size_t i = 0; i < work->options->ignored_count; i++) {
        if (slice_match_inside(event->name, event->path, work->options->ignored[i])) {
            return true;
        }
    }
    return false;
}

/* Whether the pair may differ: `inputs` are those of the second. */
static bool diff_does_not_count(struct diff_work *work,
                                const struct log_item *const items[2],
                                const struct diff_inputs *inputs)
{
    return is_ignored(work, &items[1]->event) || is_clock(work, items, inputs);
}

/* What is made of it may differ too. */
static void diff_settle_clock(struct diff_work *work,
                              struct diff_frame *frame,
                              const struct log_event_view *event,
                              const struct open_call *call)
{
    const struct diff_taint taint = {.kind = DIFF_TAINT_CLOCK};

    work->result->clocks++;
    work->has_found = true;
    diff_scope_taint(&work->scope, frame, call, event, &taint);
}

/* Who wrote in place to which memory last, on either side. A write by one run alone, into memory that a
 * value of later lies in, is why that differs. */

/* So many storages are known; one with the same place takes the older one's. */
#define STORAGE_COUNT 4096
#define NAME_SIZE     80

struct diff_write {
    uint64_t storage; /* the address; 0: none */
    uint64_t data;    /* where the value begins */
    uint64_t count;   /* of its elements */
    uint64_t hash;
    uint32_t
        version;   /* behind the write: no other one came since where it is the same */
    uint32_t site; /* of the trace */
    uint32_t name_size;
    struct diff_place place;
    bool has_hash;
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
    return &writes->sides[side][(storage * 0x9e3779b97f4a7c15u) >> 52];
}

_Static_assert(STORAGE_COUNT == 1 << (64 - 52), "write_at gives an index of the table");

static uint64_t written_storage(const struct log_event_view *event)
{
    return event->tensor.data == 0
               ? 0
               : event->tensor.data -
                     (uint64_t)event->tensor.offset * dtype_size(event->shape->dtype);
}

static uint64_t written_count(const struct log_shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->dimension_count; i++) {
        count *= (uint64_t)shape->shape[i];
    }
    return count;
}

/* Whether the event has the very elements that were written, and they are others by now. */
static bool is_other_value(const struct diff_write *write,
                           const struct log_event_view *event)
{
    return write->data == event->tensor.data &&
           write->count == written_count(event->shape) && write->has_hash &&
           event->has_hash && write->hash != event->hash;
}

void diff_writes_note(struct diff_work *work,
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
        .data = event->tensor.data,
        .count = written_count(event->shape),
        .hash = event->hash,
        .has_hash = event->has_hash,
        .version = event->tensor.version,
        .site = event->site_number,
        .place = {event->module_number, event->site->line},
        .name_size = event->name.size < NAME_SIZE ? (uint32_t)event->name.size : 0,
    };
    memcpy(write->name, event->name.bytes, write->name_size);
}

/* The last write to the memory of the event's value, which is as it was then; NULL: not known. */
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

    if (write == NULL || write->site == event->site_number ||
        is_other_value(write, event)) {
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

/* ---- pairs of events ---- */

/* ---- what follows of it ---- */

/* Whether something in the value may differ that the event does not tell. */
static bool is_opaque(const struct log_event_view *event)
{
    return event->kind == VALUE_OBJECT || event->kind == VALUE_CONTAINER ||
           (event->kind == VALUE_TENSOR && !event->has_statistics && !event->has_hash);
}

/* The call's caller gets something that differs. */
void diff_return_differs(struct diff_work *work,
                         unsigned side,
                         const struct open_call *call)
{
    struct diff_frame *frame =
        call == NULL || call->parent == NULL
            ? NULL
            : diff_scope_find(&work->scope, side, call->parent->call);

    if (frame != NULL) {
        frame->has_result = true;
        frame->result_line = call->line;
        frame->result_site = DIFF_SITE_NONE;
    }
}

static void spread(struct diff_work *work,
                   struct diff_frame *frame,
                   const struct log_event_view *event,
                   const struct open_call *call)
{
    const struct diff_taint taint = {.kind = DIFF_TAINT_VALUES};

    diff_scope_taint(&work->scope, frame, call, event, &taint);
    diff_scope_note_event(&work->scope, event->number);
    if (event->site->kind == SITE_RETURN) {
        diff_return_differs(work, 1, call);
    }
    if (event->site->kind == SITE_MUTATE && event->change == CHANGE_SAME) {
        struct diff_place place = {event->module_number, event->site->line};
        struct slice source = diff_place_source(work, 1, place);

        /* `loss.backward()`: what it has written to is not told. */
        work->scope.has_hidden =
            work->scope.has_hidden ||
            slice_find(source, SLICE("backward("), 0) < source.size;
    }
}

/* Equal, or as good as equal. */
static void settle_equal(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_event_view *event,
                         const struct open_call *call)
{
    struct diff_inputs inputs;

    work->result->equal++;
    if (!work->has_found) {
        return;
    }
    inputs = diff_inputs_find(work, frame, event, call);
    if (inputs.differ && is_opaque(event)) {
        spread(work, frame, event, call);
    } else if (event->path.size == 0 &&
               !(is_opaque(event) && (event->flags & LOG_EVENT_READ) != 0)) {
        diff_scope_clear(&work->scope, frame, call, event);
    }
}

/* ---- pairs ---- */

/* A difference that a line of B alone has made is told there. */
static void blame_code(struct diff_work *work,
                       const struct diff_taint *code,
                       struct diff_finding *finding)
{
    struct slice source;

    if (code->side == 0) {
        struct diff_place place = {code->module, code->line};

        buffer_add(&work->words, SLICE("; only A wrote "));
        text_add_shortened(&work->words, code->name, 80);
        buffer_add(&work->words, SLICE(" at "));
        diff_place_add(work, 0, place, &work->words);
        source = diff_place_source(work, 0, place);
        if (source.size > 0) {
            buffer_add(&work->words, SLICE(": "));
            text_add_shortened(&work->words, source, 100);
        }
        return;
    }
    work->path.size = 0;
    buffer_add(&work->path, SLICE("A has no such line; after it, at line "));
    buffer_add_number(&work->path, finding->lines[1]);
    buffer_add(&work->path, SLICE(", "));
    buffer_add(&work->path, buffer_slice(&work->name));
    buffer_add(&work->path, SLICE(": "));
    buffer_add(&work->path, buffer_slice(&work->words));
    work->words.size = 0;
    buffer_add(&work->words, buffer_slice(&work->path));
    work->name.size = 0;
    text_add_shortened(&work->name, code->name, 80);
    finding->modules[1] = code->module;
    finding->lines[1] = code->line;
}

/* A difference that an in-place write of one run alone has made is reported there. */
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

static void report_pair(struct diff_work *work,
                        const struct log_item *const items[2],
                        const struct open_call *const calls[2],
                        const struct diff_comparison *comparison,
                        const struct diff_inputs *inputs)
{
    struct diff_finding finding;
    struct diff_blame blame;

    fill_finding(work, items, calls, comparison, &finding);
    finding.class_ = inputs->differ ? DIFF_INHERITED : DIFF_OWN;
    if (!inputs->differ && inputs->code != NULL) {
        blame_code(work, inputs->code, &finding);
    } else if (!inputs->differ && comparison->cause == DIFF_CAUSE_VALUES &&
               items[1]->event.kind == VALUE_TENSOR &&
               diff_writes_blame(work, items, &blame)) {
        blame_write(work, &blame, &finding);
    }
    finding.name = buffer_slice(&work->name);
    finding.words = buffer_slice(&work->words);
    diff_add_finding(work, &finding);
}

/* Equal values, other strides: looked after, in case that something follows of it. */
static void settle_layout(struct diff_work *work,
                          struct diff_frame *frame,
                          const struct log_item *const items[2],
                          const struct open_call *const calls[2],
                          const struct diff_comparison *comparison,
                          const struct diff_inputs *inputs)
{
    struct diff_finding finding;
    struct diff_taint taint = {.kind = DIFF_TAINT_LAYOUT};

    work->result->equal++;
    work->result->layout++;
    work->has_found = true;
    if (inputs->layout != NULL) {
        taint.suspect = inputs->layout->suspect;
    } else {
        fill_finding(work, items, calls, comparison, &finding);
        taint.suspect = diff_suspect_add(work, &finding);
    }
    if (taint.suspect < DIFF_SUSPECTS_MAX) {
        diff_scope_taint(&work->scope, frame, calls[1], &items[1]->event, &taint);
    }
}

/* Whether the difference comes of another layout, which is told then. */
static bool follows_of_layout(struct diff_work *work,
                              const struct log_item *const items[2],
                              const struct diff_inputs *inputs)
{
    uint32_t suspect =
        inputs->layout != NULL
            ? inputs->layout->suspect
            : diff_suspect_find(work, &items[0]->event, &items[1]->event);

    if (suspect >= DIFF_SUSPECTS_MAX) {
        return false;
    }
    diff_suspect_report(work, suspect);
    return true;
}

static void settle_differing(struct diff_work *work,
                             struct diff_frame *frame,
                             const struct log_item *const items[2],
                             const struct open_call *const calls[2],
                             const struct diff_comparison *comparison)
{
    const struct log_event_view *event = &items[1]->event;
    struct diff_inputs inputs = diff_inputs_find(work, frame, event, calls[1]);

    if (work->scope.has_hidden && comparison->cause == DIFF_CAUSE_VALUES) {
        inputs.differ = true;
    }
    if (diff_does_not_count(work, items, &inputs)) {
        diff_settle_clock(work, frame, event, calls[1]);
        return;
    }
    if (comparison->cause == DIFF_CAUSE_STRIDES && !comparison->differs_in_values &&
        !work->options->tolerance.is_exact) {
        settle_layout(work, frame, items, calls, comparison, &inputs);
        return;
    }
    if (!inputs.differ && inputs.code == NULL) {
        inputs.differ = follows_of_layout(work, items, &inputs);
    }
    if (inputs.differ) {
        work->result->inherited++;
    } else {
        work->result->own++;
    }
    report_pair(work, items, calls, comparison, &inputs);
    work->has_found = true;
    spread(work, frame, event, calls[1]);
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

/* How many elements both have; 0 where that is no number. */
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

/* Whole values may follow: the verdict waits for them. */
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
}

void diff_settle_pending(struct diff_work *work)
{
    struct diff_pending *pending = &work->pending;
    struct diff_comparison *comparison = &pending->comparison;
    const struct log_item *const items[2] = {&work->kept[0].item, &work->kept[1].item};
    struct diff_frame *frame;

    if (!pending->is_there) {
        return;
    }
    pending->is_there = false;
    if (diff_values_finish(&work->values, &comparison->distance)) {
        bool is_beyond = comparison->distance.beyond_count > 0 ||
                         (work->options->tolerance.is_exact && comparison->seen != 0);

        comparison->has_distance = true;
        comparison->seen = is_beyond ? DIFF_SEEN_VALUES : DIFF_SEEN_NOTHING;
        if (comparison->cause == DIFF_CAUSE_NONE ||
            comparison->cause == DIFF_CAUSE_VALUES) {
            comparison->cause = is_beyond ? DIFF_CAUSE_VALUES : DIFF_CAUSE_NONE;
        }
        comparison->differs_in_values = is_beyond;
    }
    frame = diff_scope_frame(&work->scope, pending->calls[0], pending->calls[1]);
    if (frame == NULL) {
        return;
    }
    if (comparison->cause == DIFF_CAUSE_NONE) {
        work->result->close++;
        settle_equal(work, frame, &items[1]->event, pending->calls[1]);
    } else {
        settle_differing(work, frame, items, pending->calls, comparison);
    }
}

/* Two times may be within tolerance, and what is made of them may not. */
static void settle_close(struct diff_work *work,
                         struct diff_frame *frame,
                         const struct log_item *const items[2],
                         const struct open_call *call)
{
    const struct log_event_view *event = &items[1]->event;
    struct diff_inputs inputs = diff_inputs_find(work, frame, event, call);

    if (diff_does_not_count(work, items, &inputs)) {
        diff_settle_clock(work, frame, event, call);
        return;
    }
    work->result->close++;
    settle_equal(work, frame, event, call);
}

void diff_match_events(struct diff_work *work, const struct diff_step *step)
{
    const struct log_event_view *a = &step->items[0]->event;
    const struct log_event_view *b = &step->items[1]->event;
    struct diff_comparison comparison;
    struct diff_frame *frame;
    bool is_same = diff_compare_is_same(&work->compare, a, b);

    work->result->event_counts[0]++;
    work->result->event_counts[1]++;
    diff_writes_note(work, 0, a);
    diff_writes_note(work, 1, b);
    if (is_same && !work->has_found && b->site->kind != SITE_LOOP) {
        work->result->equal++;
        return;
    }
    frame = diff_scope_frame(&work->scope, step->calls[0], step->calls[1]);
    if (frame == NULL) {
        return;
    }
    if (b->site->kind == SITE_LOOP) {
        diff_frame_turn(&work->scope, frame, b->site_number, b->visit);
    }
    if (is_same) {
        settle_equal(work, frame, b, step->calls[1]);
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
    if (comparison.cause == DIFF_CAUSE_NONE && comparison.is_close) {
        settle_close(work, frame, step->items, step->calls[1]);
    } else if (comparison.cause == DIFF_CAUSE_NONE) {
        settle_equal(work, frame, b, step->calls[1]);
    } else {
        settle_differing(work, frame, step->items, step->calls, &comparison);
    }
}
