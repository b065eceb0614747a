/* Traces while the disk or the memory fails: the writer stops and says why, the program goes
 * on, what was written is read. With arguments it is the program that tests/faults runs:
 *
 *   test_log_faults write PATH SEED COUNT LAST     prints what came of it
 *   test_log_faults read PATH SEED                 prints what is read */
#include "tests/trace/test_log.h"

#include "runtime/base/file/file.h"

#include <sys/stat.h>
#include <unistd.h>

#define PATH  "fault.mtrace"
#define COUNT 3000

/* What came of a recording. */
struct outcome {
    bool is_created;
    bool is_defined;
    bool is_closed;
    uint64_t committed; /* records */
    uint64_t lost;
    struct error error;
    char stopped[ERROR_TEXT_SIZE]; /* "" where it went on to the end */
};

/* A program that is recorded: whatever happens, it comes to its end. */
static struct outcome record(const char *path,
                             const struct log_options *options,
                             uint64_t seed,
                             uint64_t count)
{
    struct outcome outcome = {.error = ERROR_INIT};
    struct log_writer *writer = log_writer_new(path, options, &outcome.error);

    if (writer == NULL) {
        return outcome;
    }
    outcome.is_created = true;
    outcome.is_defined = define_module(writer, SLICE("x = 1\n"));
    for (uint64_t i = 0; i < count; i++) {
        outcome.committed += write_record(writer, seed, i);
    }
    if (log_writer_stopped(writer) != NULL) {
        snprintf(outcome.stopped, sizeof outcome.stopped, "%s",
                 log_writer_stopped(writer));
    }
    outcome.lost = log_writer_lost_count(writer);
    outcome.is_closed = log_writer_close(writer, &outcome.error);
    return outcome;
}

static bool is_whole(const struct outcome *outcome)
{
    return outcome->is_created && outcome->is_closed && outcome->stopped[0] == '\0';
}

static bool begins_with_path(const char *message)
{
    return strncmp(message, PATH ": ", sizeof PATH + 1) == 0 ||
           strcmp(message, "out of memory") == 0;
}

/* Whether the outcome is as it must be, given that something failed or nothing did. */
static void check_outcome(const struct outcome *outcome,
                          const struct log_options *options,
                          uint64_t seed)
{
    struct findings found;

    if (!outcome->is_created) {
        CHECK(begins_with_path(outcome->error.text));
        return;
    }
    CHECK(outcome->committed + outcome->lost == COUNT);
    CHECK((outcome->stopped[0] == '\0') == (outcome->committed == COUNT));
    CHECK(outcome->stopped[0] == '\0' || begins_with_path(outcome->stopped));
    CHECK(outcome->is_closed || begins_with_path(outcome->error.text));
    found = read_trace(PATH, seed, true);
    CHECK(found.is_open && found.is_right && found.damage == 0);
    CHECK(found.next == outcome->committed || outcome->committed == 0);
    CHECK(options->last != 0 || found.count == outcome->committed);
    CHECK(found.is_closed == outcome->is_closed);
    CHECK(!found.is_closed || found.lost == outcome->lost);
}

/* Each operation in turn fails, once or from then on, until so late that none does. */
static void test_writes(const struct log_options *options, bool keep_failing)
{
    bool is_over = false;
    size_t n;

    for (n = 1; !is_over && n < 1000; n++) {
        struct outcome outcome;

        unlink(PATH);
        if (keep_failing) {
            file_keep_failing_after(n);
        } else {
            file_fail_after(n);
        }
        outcome = record(PATH, options, n, COUNT);
        file_fail_after(0);
        check_outcome(&outcome, options, n);
        /* What could not be made is not left behind. */
        CHECK(outcome.is_created || access(PATH, F_OK) != 0 || keep_failing);
        is_over = is_whole(&outcome);
    }
    CHECK(n > 10 && is_over);
}

static void test_allocations(const struct log_options *options, bool keep_failing)
{
    bool is_over = false;
    size_t n;

    for (n = 1; !is_over && n < 1000; n++) {
        struct outcome outcome;

        memory_fail_after(n, keep_failing);
        outcome = record(PATH, options, n, COUNT);
        memory_fail_after(0, false);
        /* define_module needs memory of its own for the table's text. */
        if (outcome.is_defined || !outcome.is_created) {
            check_outcome(&outcome, options, n);
        }
        is_over = is_whole(&outcome) && outcome.is_defined;
    }
    CHECK(n > 3 && is_over);
}

/* An old trace is replaced: either it is still there, or the file is empty or a new trace. */
static void test_replacing(void)
{
    static const struct log_options plain = {.sample = SAMPLE};
    bool is_over = false;

    for (size_t n = 1; !is_over && n < 1000; n++) {
        struct outcome outcome;
        struct stat status;

        CHECK(write_trace(PATH, &plain, 77, 50));
        file_fail_after(n);
        outcome = record(PATH, &plain, n, COUNT);
        file_fail_after(0);
        if (outcome.is_created) {
            check_outcome(&outcome, &plain, n);
        } else {
            CHECK(stat(PATH, &status) == 0);
            CHECK(status.st_size == 0 || read_trace(PATH, 77, true).count == 50);
        }
        is_over = is_whole(&outcome);
    }
    CHECK(is_over);
}

/* Whatever allocation fails while reading, it is told, or all is read. */
static void test_reading(const struct log_options *options, bool keep_failing)
{
    struct findings whole;
    bool is_over = false;
    size_t n;

    CHECK(write_trace(PATH, options, 5, COUNT));
    whole = read_trace(PATH, 5, true);
    for (n = 1; !is_over && n < 1000; n++) {
        struct findings found;

        memory_fail_after(n, keep_failing);
        found = read_trace(PATH, 5, false);
        memory_fail_after(0, false);
        if (!found.is_open) {
            CHECK(found.error.kind == ERROR_MEMORY);
            continue;
        }
        CHECK(found.damage > 0 || (found.is_right && found.events == whole.events));
        is_over = found.damage == 0 && found.count == whole.count;
    }
    CHECK(n > 10 && is_over);
}

/* ---- as a program ---- */

static int write_program(char **arguments)
{
    struct log_options options = {.sample = SAMPLE,
                                  .last = strtoull(arguments[3], NULL, 10)};
    struct outcome outcome =
        record(arguments[0], &options, strtoull(arguments[1], NULL, 10),
               strtoull(arguments[2], NULL, 10));

    printf("created %d closed %d committed %llu lost %llu\n", outcome.is_created,
           outcome.is_closed, (unsigned long long)outcome.committed,
           (unsigned long long)outcome.lost);
    printf("stopped %s\nerror %s\n", outcome.stopped, outcome.error.text);
    return 0;
}

static int read_program(char **arguments)
{
    struct findings found =
        read_trace(arguments[0], strtoull(arguments[1], NULL, 10), true);

    printf("open %d right %d closed %d first %llu next %llu count %llu events %llu "
           "number %llu lost %llu damage %zu\n",
           found.is_open, found.is_right, found.is_closed,
           (unsigned long long)found.first, (unsigned long long)found.next,
           (unsigned long long)found.count, (unsigned long long)found.events,
           (unsigned long long)found.number, (unsigned long long)found.lost,
           found.damage);
    printf("message %s\nerror %s\n", found.message, found.error.text);
    return 0;
}

int main(int argument_count, char **arguments)
{
    static const struct log_options plain = {.sample = SAMPLE};
    static const struct log_options ring = {.sample = SAMPLE, .last = 100};

    if (argument_count == 6 && strcmp(arguments[1], "write") == 0) {
        return write_program(arguments + 2);
    }
    if (argument_count == 4 && strcmp(arguments[1], "read") == 0) {
        return read_program(arguments + 2);
    }
    for (int keep_failing = 0; keep_failing < 2; keep_failing++) {
        test_writes(&plain, keep_failing);
        test_writes(&ring, keep_failing);
        test_allocations(&plain, keep_failing);
        test_allocations(&ring, keep_failing);
        test_reading(&plain, keep_failing);
        test_reading(&ring, keep_failing);
    }
    test_replacing();
    return check_finish();
}
