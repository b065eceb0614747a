/* Traces of programs that were killed: every record whose commit returned is read. */
#include "tests/trace/test_log.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH         "killed.mtrace"
#define THREAD_COUNT 3
/* A child that nobody ends must not fill the disk. */
#define FILE_MAX ((rlim_t)500 * 1000 * 1000)

/* What the child tells: how many records are committed. */
struct shared {
    atomic_uint_fast64_t committed;
};

struct program {
    struct shared *shared;
    struct log_writer *writer;
    pthread_mutex_t lock;
    uint64_t seed;
    uint64_t next;
    uint64_t
        crash_at; /* the record after which it writes to where nothing is; 0: never */
};

/* Where nothing is. A sanitizer would see it and end the program in its own way. */
__attribute__((no_sanitize("undefined", "address"))) static void crash(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
    _exit(4);
}

static void *run_thread(void *argument)
{
    struct program *program = argument;

    for (;;) {
        pthread_mutex_lock(&program->lock);
        if (!write_record(program->writer, program->seed, program->next)) {
            _exit(3);
        }
        program->next++;
        atomic_store(&program->shared->committed, program->next);
        if (program->next == program->crash_at) {
            crash();
        }
        pthread_mutex_unlock(&program->lock);
    }
    return NULL;
}

/* Records with some threads until it is killed. */
static void run_program(struct shared *shared,
                        const struct log_options *options,
                        uint64_t seed,
                        uint64_t crash_at)
{
    struct program program = {.shared = shared, .seed = seed, .crash_at = crash_at};
    struct rlimit no_core = {0, 0};
    struct rlimit file_size = {FILE_MAX, FILE_MAX};
    struct error error = ERROR_INIT;
    pthread_t threads[THREAD_COUNT];

    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &file_size);
    signal(SIGSEGV, SIG_DFL);
    program.writer = log_writer_new(PATH, options, &error);
    if (program.writer == NULL || !define_module(program.writer, SLICE("x = 1\n"))) {
        _exit(2);
    }
    pthread_mutex_init(&program.lock, NULL);
    for (int i = 0; i < THREAD_COUNT; i++) {
        pthread_create(&threads[i], NULL, run_thread, &program);
    }
    pthread_join(threads[0], NULL);
}

/* Whether the trace holds all that the child has told of, and only what it wrote. */
static void
check_trace(const struct log_options *options, uint64_t seed, uint64_t committed)
{
    struct findings found = read_trace(PATH, seed, true);

    CHECK(found.is_open && found.is_right && found.damage == 0 && !found.is_closed);
    /* One more may be complete without having been told. */
    CHECK(found.next >= committed && found.next <= committed + 1);
    if (options->last == 0) {
        CHECK(found.first == 0 && found.count == found.next);
    } else {
        uint64_t events = count_events_before(seed, found.next);

        CHECK(found.events == (events < options->last ? events : options->last));
        CHECK(found.number == events);
    }
}

static void sleep_microseconds(uint64_t count)
{
    struct timespec time = {(time_t)(count / 1000000), (long)(count % 1000000) * 1000};

    nanosleep(&time, NULL);
}

static void
test_killed(struct shared *shared, const struct log_options *options, uint64_t count)
{
    for (uint64_t seed = 0; seed < count; seed++) {
        uint64_t crash_at = seed % 4 == 3 ? 1 + mix(seed, 1) % 20000 : 0;
        int status;
        pid_t child;

        atomic_store(&shared->committed, 0);
        fflush(stdout);
        child = fork();
        if (child == 0) {
            run_program(shared, options, seed, crash_at);
        }
        if (crash_at == 0) {
            while (atomic_load(&shared->committed) == 0) {
                sleep_microseconds(50);
            }
            sleep_microseconds(mix(seed, 2) % 15000);
            kill(child, SIGKILL);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) &&
              WTERMSIG(status) == (crash_at == 0 ? SIGKILL : SIGSEGV));
        CHECK(crash_at == 0 || atomic_load(&shared->committed) == crash_at);
        check_trace(options, seed, atomic_load(&shared->committed));
    }
}

/* Reading while it is written: what is there is whole, and nothing is called damaged. */
static void test_living(struct shared *shared, const struct log_options *options)
{
    uint64_t before = 0;
    pid_t child;

    atomic_store(&shared->committed, 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        run_program(shared, options, 1000, 0);
    }
    while (atomic_load(&shared->committed) == 0) {
        sleep_microseconds(50);
    }
    for (int i = 0; i < 60; i++) {
        uint64_t committed = atomic_load(&shared->committed);
        struct findings found = read_trace(PATH, 1000, true);

        CHECK(found.is_open && found.is_right && found.damage == 0);
        if (options->last == 0) {
            CHECK(found.first == 0 && found.count == found.next);
            CHECK(found.next >= committed);
        }
        CHECK(found.next >= before);
        before = options->last == 0 ? found.next : 0;
        /* A run that grows without end would make this test longer with each turn. */
        if (options->last == 0 && found.next > 100000) {
            break;
        }
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* A new recording replaces what a killed one left. */
static void test_replaced(void)
{
    CHECK(write_trace(PATH, &(struct log_options){.sample = SAMPLE}, 1, 10));
    CHECK(read_trace(PATH, 1, true).count == 10);
}

int main(void)
{
    static const uint64_t lasts[] = {0, 20, 3000};
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        struct log_options options = {.sample = SAMPLE, .last = lasts[i]};

        test_killed(shared, &options, lasts[i] == 0 ? 100 : 40);
        test_living(shared, &options);
    }
    test_replaced();
    return check_finish();
}
