/* Traces: what is written is read, in order and in full; rings, limits, numbers, refusals. */
#include "tests/trace/test_log.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "log.mtrace"

static const struct log_options plain = {.sample = SAMPLE};

static uint64_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void test_round_trip(void)
{
    static const uint64_t counts[] = {0, 1, 2, 10, 100, 1000, 30000};

    for (uint64_t seed = 0; seed < sizeof counts / sizeof *counts; seed++) {
        uint64_t count = counts[seed];
        struct findings found;

        CHECK(write_trace(PATH, &plain, seed, count));
        found = read_trace(PATH, seed, true);
        CHECK(found.is_open && found.is_right && found.damage == 0);
        CHECK(found.is_closed && found.lost == 0);
        CHECK(found.count == count && found.next == count && found.first == 0);
        CHECK(found.events == count_events_before(seed, count));
        CHECK(found.number == found.events);
    }
}

/* The number of the next event, or UINT64_MAX at the end. */
static uint64_t next_event(struct log_reader *reader)
{
    struct log_item item;

    while (log_reader_next(reader, &item)) {
        if (item.kind == LOG_EVENT) {
            return item.event.number;
        }
    }
    return UINT64_MAX;
}

static void test_places(void)
{
    struct error error = ERROR_INIT;
    struct log_reader *reader;
    struct log_place start, middle;
    uint64_t count;

    CHECK(write_trace(PATH, &plain, 3, 20000));
    count = count_events_before(3, 20000);
    reader = log_reader_new(PATH, &error);
    CHECK(reader != NULL);
    start = log_reader_place(reader);
    CHECK(next_event(reader) == 0 && next_event(reader) == 1);
    middle = log_reader_place(reader);
    CHECK(next_event(reader) == 2);
    log_reader_go(reader, middle);
    CHECK(next_event(reader) == 2);
    while (next_event(reader) < count - 2) {
        /* to the last chunk */
    }
    log_reader_go(reader, middle);
    CHECK(next_event(reader) == 2);
    log_reader_go(reader, start);
    CHECK(next_event(reader) == 0);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t number = mix(9, i) % count;

        log_reader_go_to_event(reader, number);
        CHECK(next_event(reader) == number);
    }
    for (uint64_t number = 0; number < count; number++) {
        log_reader_go_to_event(reader, number);
        CHECK(next_event(reader) == number);
    }
    log_reader_go_to_event(reader, count);
    CHECK(next_event(reader) == UINT64_MAX);
    CHECK(log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
}

/* A trace of a few records takes one unit for what is defined and little more. */
static void test_small_file(void)
{
    CHECK(write_trace(PATH, &plain, 1, 10));
    CHECK(size_of(PATH) < LOG_CHUNK_UNIT + 4096);
    /* The tail of the last chunk is all that is unused in a long one. */
    CHECK(write_trace(PATH, &plain, 1, 3000));
    CHECK(size_of(PATH) < 1800000);
}

static void test_modules(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct buffer source = BUFFER_INIT;
    struct log_reader *reader;
    const struct log_module *module;

    while (source.size < 3000000) {
        buffer_add(&source, SLICE("x = 1  # a long file\n"));
    }
    CHECK(writer != NULL && define_module(writer, buffer_slice(&source)));
    for (uint32_t i = 1; i < 30; i++) {
        struct log_table table = {.record = {.kind = LOG_TABLE},
                                  .number = i,
                                  .first_site = i * SITE_COUNT,
                                  .site_count = SITE_COUNT};
        struct buffer text = BUFFER_INIT;

        table_text(&text);
        CHECK(log_writer_define(writer, &table, sizeof table, buffer_slice(&text)));
        buffer_release(&text);
    }
    CHECK(write_record(writer, 1, 0));
    CHECK(log_writer_close(writer, &error));
    reader = log_reader_new(PATH, &error);
    CHECK(reader != NULL && log_reader_module_count(reader) == 30);
    module = log_reader_module(reader, 0);
    CHECK_TEXT(module->name, "package.module");
    CHECK_TEXT(module->file, "/tmp/a.py");
    CHECK(slice_equal(module->source, buffer_slice(&source)));
    CHECK(module->source_tag == LOG_SOURCE_INSTRUMENTED);
    CHECK_TEXT(log_reader_thread_name(reader, 0), "MainThread");
    CHECK_TEXT(log_reader_thread_name(reader, 1), "");
    module = log_reader_module(reader, 29);
    CHECK(module->first_site == 29 * SITE_COUNT && module->source.size == 0);
    CHECK(module->table.site_count == SITE_COUNT);
    CHECK(log_reader_module(reader, 30) == NULL);
    CHECK(log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
    buffer_release(&source);
}

/* ---- rings ---- */

static void test_ring(void)
{
    static const uint64_t lasts[] = {1, 10, 1000, 5000};

    for (size_t l = 0; l < sizeof lasts / sizeof *lasts; l++) {
        struct log_options options = {.sample = SAMPLE, .last = lasts[l]};

        for (uint64_t count = 1; count <= 30000; count = count * 5 + 1) {
            uint64_t seed = 100 + count;
            uint64_t events = count_events_before(seed, count);
            struct findings found;

            CHECK(write_trace(PATH, &options, seed, count));
            found = read_trace(PATH, seed, true);
            CHECK(found.is_open && found.is_right && found.damage == 0);
            CHECK(found.events == (events < lasts[l] ? events : lasts[l]));
            CHECK(found.number == events);
        }
    }
}

/* However long it runs, a ring's file stays as large as its events need. */
static void test_ring_is_bounded(void)
{
    struct log_options options = {.sample = SAMPLE, .last = 100};

    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &options, &error);

    CHECK(define_module(writer, SLICE("")));
    for (uint32_t i = 0; i < 100000; i++) {
        struct log_event *event = log_writer_begin(writer, 200);

        event->visit = i;
        log_writer_commit(writer, (struct log_record){.size = 200, .kind = LOG_EVENT});
    }
    CHECK(log_writer_close(writer, &error));
    CHECK(size_of(PATH) <= 8 * LOG_CHUNK_UNIT);
}

/* Calls that go on are shown with the events that are left of them, ended ones are not. */
static void test_ring_calls(void)
{
    struct log_options options = {.sample = SAMPLE, .last = 3};
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &options, &error);
    struct log_item item;
    struct log_reader *reader;
    uint32_t calls = 0;

    CHECK(define_module(writer, SLICE("")));
    for (uint32_t i = 1; i <= 10; i++) {
        struct log_call *call = log_writer_begin(writer, sizeof *call);
        struct log_event *event;

        call->call = i;
        call->function = 1;
        log_writer_commit(writer,
                          (struct log_record){.size = sizeof *call, .kind = LOG_CALL});
        event = log_writer_begin(writer, sizeof *event);
        event->call = i;
        log_writer_commit(
            writer, (struct log_record){.size = sizeof *event, .kind = LOG_EVENT});
        if (i != 2 && i != 10) {
            struct log_end *end = log_writer_begin(writer, sizeof *end);

            end->call = i;
            log_writer_commit(writer, (struct log_record){.size = sizeof *end,
                                                          .kind = LOG_END,
                                                          .tag = LOG_END_LEFT});
        }
    }
    CHECK(log_writer_close(writer, &error));
    reader = log_reader_new(PATH, &error);
    while (log_reader_next(reader, &item)) {
        if (item.kind == LOG_CALL) {
            calls = calls * 100 + item.call.call;
        }
        CHECK(item.kind != LOG_END || item.end.call >= 8);
        CHECK(item.kind != LOG_EVENT || item.event.number >= 7);
    }
    CHECK(calls == 2080910);
    log_reader_free(reader);
}

static void test_oldest_chunk(void)
{
    struct log_options options = {.sample = SAMPLE, .last = 50};
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &options, &error);

    CHECK(define_module(writer, SLICE("")));
    CHECK(log_writer_chunk(writer) == 0 && log_writer_oldest_chunk(writer) == 0);
    for (uint64_t i = 0; i < 20000; i++) {
        write_record(writer, 5, i);
    }
    CHECK(log_writer_oldest_chunk(writer) > 0);
    CHECK(log_writer_chunk(writer) - log_writer_oldest_chunk(writer) >= 2);
    CHECK(log_writer_event_count(writer) == count_events_before(5, 20000));
    CHECK(log_writer_close(writer, &error));
}

/* ---- numbers of texts and forms ---- */

static void test_intern(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct log_reader *reader;
    char text[LOG_TEXT_MAX + 3];
    uint32_t first;
    uint32_t last = 0;
    struct form form;
    size_t size = form_fill(&form, 3);

    first = log_writer_text(writer, SLICE("a"));
    CHECK(first != 0 && log_writer_text(writer, SLICE("a")) == first);
    CHECK(log_writer_text(writer, SLICE("")) == 0);
    CHECK(log_writer_text(writer, SLICE("b")) == first + 1);
    /* Bad bytes become U+FFFD, so these two are equal. */
    CHECK(log_writer_text(writer, SLICE("c\xff")) ==
          log_writer_text(writer, SLICE("c\xef\xbf\xbd")));
    memset(text, 'z', sizeof text);
    memcpy(text + LOG_TEXT_MAX - 1, "\xc3\xa9", 2);
    /* Cut before the character that does not fit. */
    CHECK(log_writer_text(writer, (struct slice){text, sizeof text}) ==
          log_writer_text(writer, (struct slice){text, LOG_TEXT_MAX - 1}));
    first = log_writer_form(writer, &form.head, size);
    CHECK(first != 0 && form.head.number == first);
    CHECK(log_writer_form(writer, &form.head, size) == first);
    size = form_fill(&form, 4);
    CHECK(log_writer_form(writer, &form.head, size) == first + 1);
    /* Far more texts than the table holds: it starts anew, numbers go on. */
    first = log_writer_text(writer, SLICE("the next one")) + 1;
    for (uint32_t i = 0; i < 1000000; i++) {
        int length = snprintf(text, sizeof text, "%u", i);

        last = log_writer_text(writer, (struct slice){text, (size_t)length});
        if (last != first + i) {
            break;
        }
    }
    CHECK(last == first + 999999);
    CHECK(log_writer_text(writer, SLICE("999999")) == last);
    CHECK(log_writer_text(writer, SLICE("0")) == last + 1);
    CHECK(log_writer_close(writer, &error));
    reader = log_reader_new(PATH, &error);
    CHECK(reader != NULL && log_reader_damage_count(reader) == 0);
    log_reader_free(reader);
}

/* ---- the writer's details ---- */

/* A record that was begun and given up, or committed smaller, leaves nothing behind. */
static void test_given_up(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct findings found;
    char *bytes;

    CHECK(define_module(writer, SLICE("")));
    for (uint64_t i = 0; i < 2000; i++) {
        size_t size = 8 + mix(9, i) % 5000;

        bytes = log_writer_begin(writer, size);
        for (size_t at = 0; at < size; at++) {
            if (bytes[at] != 0) {
                CHECK(bytes[at] == 0);
                break;
            }
        }
        memset(bytes + 8, 0xff, size - 8);
        CHECK(write_record(writer, 6, i));
    }
    bytes = log_writer_begin(writer, 1000);
    memset(bytes + 8, 0xff, 992);
    CHECK(log_writer_close(writer, &error));
    found = read_trace(PATH, 6, true);
    CHECK(found.is_right && found.damage == 0 && found.count == 2000);
}

static void test_unknown_kind(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct log_text text = {.record = {.kind = 30}};
    struct findings found;

    CHECK(define_module(writer, SLICE("")));
    CHECK(log_writer_define(writer, &text, sizeof text, SLICE("what is this")));
    for (uint64_t i = 0; i < 100; i++) {
        CHECK(write_record(writer, 7, i));
        if (i % 10 == 0) {
            memset(log_writer_begin(writer, 100), 1, 8);
            log_writer_commit(writer, (struct log_record){.size = 100, .kind = 200});
        }
    }
    CHECK(log_writer_close(writer, &error));
    found = read_trace(PATH, 7, false);
    CHECK(found.is_right && found.count == 100);
    CHECK(found.damage == 1 && strstr(found.message, "unknown kind, 30") != NULL);
}

static bool is_setting(const struct log_reader *reader,
                       size_t index,
                       struct slice name,
                       struct slice value)
{
    const struct log_setting *setting = log_reader_setting(reader, index);

    return setting != NULL && slice_equal(setting->name, name) &&
           slice_equal(setting->value, value);
}

/* Settings are there whatever a ring has dropped; one that is told again has its newer value. */
static void test_settings(void)
{
    struct log_options ring = {.last = 10, .sample = SAMPLE};
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &ring, &error);
    struct log_reader *reader;

    CHECK(define_module(writer, SLICE("")));
    log_writer_setting(writer, SLICE("seed"), SLICE("17"));
    log_writer_setting(writer, SLICE("torch.version"), SLICE(""));
    for (uint64_t i = 0; i < 20000; i++) {
        CHECK(write_record(writer, 8, i));
    }
    log_writer_setting(writer, SLICE("torch.version"), SLICE("2.13"));
    CHECK(log_writer_close(writer, &error));
    reader = log_reader_new(PATH, &error);
    if (CHECK(reader != NULL)) {
        CHECK(log_reader_setting_count(reader) == 2);
        CHECK(is_setting(reader, 0, SLICE("seed"), SLICE("17")));
        CHECK(is_setting(reader, 1, SLICE("torch.version"), SLICE("2.13")));
        CHECK(log_reader_setting(reader, 2) == NULL);
        CHECK(log_reader_damage_count(reader) == 0);
    }
    log_reader_free(reader);
}

/* One whose text is not there is told, and the others are read. */
static void test_lost_setting(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct log_setting_record lost = {
        .record = {.kind = LOG_SETTING}, .name = 1000, .value = 0};
    struct log_reader *reader;

    CHECK(log_writer_define(writer, &lost, sizeof lost, SLICE("")));
    CHECK(log_writer_define(writer, &lost, offsetof(struct log_setting_record, value),
                            SLICE("")));
    log_writer_setting(writer, SLICE("seed"), SLICE("17"));
    CHECK(log_writer_close(writer, &error));
    reader = log_reader_new(PATH, &error);
    if (CHECK(reader != NULL)) {
        CHECK(log_reader_damage_count(reader) == 2);
        CHECK(strstr(log_reader_damage(reader, 0), "a setting refers to a text") !=
              NULL);
        CHECK(strstr(log_reader_damage(reader, 1), "too short") != NULL);
        CHECK(log_reader_setting_count(reader) == 1);
        CHECK(is_setting(reader, 0, SLICE("seed"), SLICE("17")));
    }
    log_reader_free(reader);
}

static void test_size_limit(void)
{
    static const uint64_t limits[] = {2 * LOG_CHUNK_UNIT, 500000, 3000000};

    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        for (uint64_t last = 0; last <= 100000; last += 100000) {
            struct log_options options = {
                .sample = SAMPLE, .size_limit = limits[l], .last = last};
            struct error error = ERROR_INIT;
            struct log_writer *writer = log_writer_new(PATH, &options, &error);
            struct findings found;
            uint64_t count = 0;

            if (writer == NULL && last != 0) {
                /* No room for one chunk of such a ring. */
                CHECK(strstr(error.text, "size_limit") != NULL);
                continue;
            }
            CHECK(define_module(writer, SLICE("")));
            while (count < 100000 && write_record(writer, 8, count)) {
                count++;
            }
            CHECK(count < 100000 && log_writer_stopped(writer) != NULL);
            CHECK(strstr(log_writer_stopped(writer), "size_limit=") != NULL);
            CHECK(strncmp(log_writer_stopped(writer), PATH ": ", 12) == 0);
            CHECK(!write_record(writer, 8, count + 1));
            CHECK(log_writer_lost_count(writer) >= 1);
            CHECK(!log_writer_define(writer, &(struct log_text){{0}, 0, 0},
                                     sizeof(struct log_text), SLICE("x")));
            CHECK(log_writer_close(writer, &error));
            CHECK(size_of(PATH) <= limits[l]);
            found = read_trace(PATH, 8, true);
            CHECK(found.is_right && found.damage == 0 && found.count == count);
            CHECK(found.lost >= 1 && found.is_closed);
        }
    }
    CHECK(log_writer_new(PATH, &(struct log_options){.size_limit = 1000},
                         &(struct error){ERROR_NONE, ""}) == NULL);
}

/* Without a file: texts have their numbers, records are counted, and none stays. */
static void test_unkept(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new_unkept(&plain, &error);
    uint32_t text = log_writer_text(writer, SLICE("x"));
    size_t size = sizeof(struct log_event) + 100;

    CHECK(writer != NULL && !log_writer_is_kept(writer));
    CHECK(text != 0 && log_writer_text(writer, SLICE("y")) != text);
    CHECK(log_writer_text(writer, SLICE("x")) == text);
    define_module(writer, SLICE("source"));
    for (uint64_t i = 0; i < 100000; i++) {
        char *place = log_writer_begin(writer, size);

        if (!CHECK(place != NULL && place[0] == 0 && place[size - 1] == 0)) {
            break;
        }
        memset(place, 7, size);
        log_writer_commit(
            writer, (struct log_record){.size = (uint32_t)size, .kind = LOG_EVENT});
    }
    CHECK(log_writer_event_count(writer) == 100000 && log_writer_chunk(writer) == 0);
    CHECK(log_writer_begin(writer, LOG_RECORD_MAX) != NULL);
    CHECK(log_writer_stopped(writer) == NULL && log_writer_close(writer, &error));
    log_writer_abandon(log_writer_new_unkept(&plain, &error));
}

/* The system's own limit of a file's size, which sends a signal. */
static void limit_file_size(rlim_t size)
{
    struct rlimit limit = {size, size};

    setrlimit(RLIMIT_FSIZE, &limit);
}

static bool stops_at_file_size_limit(void *nothing)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer;
    uint64_t i = 0;

    (void)nothing;
    limit_file_size(1000000);
    writer = log_writer_new(PATH, &plain, &error);
    define_module(writer, SLICE(""));
    while (i < 100000 && write_record(writer, 9, i)) {
        i++;
    }
    return i < 100000 && strstr(log_writer_stopped(writer), strerror(EFBIG)) &&
           log_writer_close(writer, &error);
}

static void test_file_size_limit(void)
{
    struct findings found;

    CHECK(child_holds(stops_at_file_size_limit, NULL));
    found = read_trace(PATH, 9, true);
    CHECK(found.is_right && found.damage == 0 && found.count > 100 && found.is_closed);
    CHECK(size_of(PATH) <= 1000000);
}

/* ---- locks, forks, and files that are something else ---- */

/* The child lets go of its copy; the parent's lock stands. */
static bool is_locked_by_parent(void *writer)
{
    struct error error = ERROR_INIT;

    log_writer_abandon(writer);
    return log_writer_new(PATH, &plain, &error) == NULL && error.kind == ERROR_USAGE;
}

static void test_lock(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct findings found;
    char expected[100];

    CHECK(define_module(writer, SLICE("")));
    CHECK(write_record(writer, 10, 0));
    CHECK(log_writer_new(PATH, &plain, &error) == NULL && error.kind == ERROR_USAGE);
    snprintf(expected, sizeof expected, PATH ": process %d is recording", getpid());
    CHECK(strncmp(error.text, expected, strlen(expected)) == 0);
    CHECK(child_holds(is_locked_by_parent, writer));
    for (uint64_t i = 1; i < 3000; i++) {
        CHECK(write_record(writer, 10, i));
    }
    CHECK(log_writer_new(PATH, &plain, &error) == NULL && error.kind == ERROR_USAGE);
    CHECK(log_writer_close(writer, &error));
    found = read_trace(PATH, 10, true);
    CHECK(found.is_right && found.damage == 0 && found.count == 3000);
    /* Now it may be replaced. */
    CHECK(write_trace(PATH, &plain, 11, 5));
    CHECK(read_trace(PATH, 11, true).count == 5);
}

/* A forked process that keeps its copy of the descriptor does not keep the file locked once
 * it is closed. */
static void test_lock_of_copy(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        pause();
    }
    CHECK(log_writer_close(writer, &error));
    CHECK(write_trace(PATH, &plain, 15, 5));
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* Whoever is executed does not get the file, nor its lock. */
static void test_close_on_exec(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct stat trace;
    struct stat status;
    int found = 0;

    CHECK(stat(PATH, &trace) == 0);
    for (int i = 0; i < 1000; i++) {
        if (fstat(i, &status) == 0 && status.st_ino == trace.st_ino &&
            status.st_dev == trace.st_dev) {
            found++;
            CHECK((fcntl(i, F_GETFD) & FD_CLOEXEC) != 0);
        }
    }
    CHECK(found == 1);
    CHECK(log_writer_close(writer, &error));
}

/* A program that closes all descriptors, as daemons do, and opens files of its own. */
static void test_closed_by_program(void)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(PATH, &plain, &error);
    struct findings found;
    uint64_t count = 0;
    struct stat status;
    int descriptor, number = 0;

    CHECK(define_module(writer, SLICE("")));
    for (int i = 3; i < 1000; i++) {
        struct stat trace;

        if (fstat(i, &status) == 0 && stat(PATH, &trace) == 0 &&
            status.st_ino == trace.st_ino) {
            close(i);
            number = i;
        }
    }
    /* Low numbers are the program's: the next file that it opens gets the lowest free one. */
    CHECK(number >= 100);
    descriptor = open("own", O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK(dup2(descriptor, number) == number);
    CHECK(write(descriptor, "mine", 4) == 4);
    while (count < 100000 && write_record(writer, 16, count)) {
        count++;
    }
    CHECK(count > 100 && count < 100000);
    CHECK(strstr(log_writer_stopped(writer), strerror(EBADF)) != NULL);
    CHECK(!log_writer_close(writer, &error));
    CHECK(fstat(descriptor, &status) == 0 && status.st_size == 4);
    close(descriptor);
    found = read_trace(PATH, 16, true);
    CHECK(found.is_right && found.damage == 0 && found.count == count);
}

/* Standard input, output and error stay free for the program that has closed them. */
static bool leaves_descriptors_free(void *nothing)
{
    struct error error = ERROR_INIT;

    (void)nothing;
    close(0);
    close(2);
    return log_writer_new(PATH, &plain, &error) != NULL && fcntl(0, F_GETFD) < 0 &&
           fcntl(2, F_GETFD) < 0;
}

static void test_standard_descriptors(void)
{
    CHECK(child_holds(leaves_descriptors_free, NULL));
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
}

static bool is_refused(const char *path, const char *expected)
{
    struct error error = ERROR_INIT;
    struct log_writer *writer = log_writer_new(path, &plain, &error);

    if (writer != NULL) {
        log_writer_close(writer, &error);
        return false;
    }
    if (strncmp(error.text, path, strlen(path)) != 0 ||
        strstr(error.text, expected) == NULL || error.kind == ERROR_USAGE) {
        printf("got: %s\n", error.text);
        return false;
    }
    return true;
}

/* A folder that may not be written to; the superuser may write anywhere, so a child that is
 * nobody tries. Where there is no other user (a namespace with one alone), nobody can. */
static bool is_refused_folder(void)
{
    enum { NO_OTHER_USER = 77 };
    int status;
    pid_t child;

    mkdir("locked", 0555);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(NO_OTHER_USER);
        }
        _exit(is_refused("locked/a.mtrace", strerror(EACCES)) ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NO_OTHER_USER);
}

static void test_refused(void)
{
    FILE *file;
    char text[100] = "";

    write_file("model.py", "import torch\n");
    CHECK(is_refused("model.py", "is no trace"));
    file = fopen("model.py", "r");
    CHECK(fgets(text, sizeof text, file) != NULL &&
          strcmp(text, "import torch\n") == 0);
    fclose(file);
    write_file("short", "mtr");
    CHECK(is_refused("short", "is no trace"));
    CHECK(size_of("short") == 3);
    CHECK(is_refused(".", "is a directory"));
    CHECK(is_refused("/dev/null", "is a device or a pipe"));
    CHECK(mkfifo("pipe", 0600) == 0 && is_refused("pipe", "is a device or a pipe"));
    CHECK(is_refused("missing/folder/a.mtrace", strerror(ENOENT)));
    CHECK(is_refused("model.py/a.mtrace", strerror(ENOTDIR)));
    CHECK(is_refused("", strerror(ENOENT)));
    CHECK(is_refused_folder());
    /* Empty files and links are fine. */
    write_file("empty", "");
    CHECK(write_trace("empty", &plain, 12, 5));
    CHECK(symlink("empty", "link") == 0 && write_trace("link", &plain, 13, 7));
    CHECK(read_trace("empty", 13, true).count == 7);
    CHECK(symlink("target", "dangling") == 0 && write_trace("dangling", &plain, 14, 7));
    CHECK(read_trace("target", 14, true).count == 7);
}

/* A file that could not be made is not left behind. */
static bool leaves_nothing(void *nothing)
{
    struct error error = ERROR_INIT;

    (void)nothing;
    limit_file_size(100000);
    return log_writer_new("new", &plain, &error) == NULL && access("new", F_OK) != 0;
}

static void test_nothing_left(void)
{
    CHECK(child_holds(leaves_nothing, NULL));
}

int main(void)
{
    test_round_trip();
    test_places();
    test_small_file();
    test_modules();
    test_ring();
    test_ring_is_bounded();
    test_ring_calls();
    test_oldest_chunk();
    test_intern();
    test_given_up();
    test_unknown_kind();
    test_settings();
    test_lost_setting();
    test_size_limit();
    test_unkept();
    test_file_size_limit();
    test_lock();
    test_lock_of_copy();
    test_close_on_exec();
    test_closed_by_program();
    test_standard_descriptors();
    test_refused();
    test_nothing_left();
    return check_finish();
}
