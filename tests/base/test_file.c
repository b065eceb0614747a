/* Whole files: read, replaced in one step, and nothing left behind when that fails. */
#include "runtime/base/file/file.h"
#include "tests/unit/check.h"
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
write_text(const char *path, const char *text, uint32_t mode, struct error *error)
{
    return file_write(path, slice_of(text), mode, error);
}

static bool holds(const char *path, const char *text)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    bool is_same = file_read(path, 1000, &bytes, &error) &&
                   slice_equal(buffer_slice(&bytes), slice_of(text));

    buffer_release(&bytes);
    return is_same;
}

static void test_writing(void)
{
    struct error error = ERROR_INIT;

    CHECK(write_text("a", "one", 0640, &error));
    CHECK(holds("a", "one"));
    CHECK(file_inspect("a").mode == 0640);
    CHECK(write_text("a", "two", 0777, &error));
    CHECK(holds("a", "two"));
    CHECK(file_inspect("a").mode == 0640);
    CHECK(write_text("deep/er/b", "", FILE_MODE_DEFAULT, &error));
    CHECK(holds("deep/er/b", ""));
    CHECK(file_inspect("deep").is_directory && !file_inspect("deep").is_regular);
    CHECK(symlink("a", "link") == 0);
    CHECK(write_text("link", "three", 0600, &error));
    CHECK(holds("a", "three"));
    CHECK(write_text("/dev/null", "gone", 0600, &error));
    CHECK(!file_inspect("/dev/null").is_regular);
    CHECK(entry_count() == 3);
}

static void test_refusing(void)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;

    buffer_add(&bytes, SLICE("kept"));
    CHECK(!file_read("none", 9, &bytes, &error));
    CHECK_TEXT(slice_of(error.text),
               "none:1:1: cannot be read: No such file or directory");
    CHECK(!file_read("deep", 9, &bytes, &error));
    CHECK_TEXT(slice_of(error.text), "deep:1:1: is a directory, expected a file");
    CHECK(!file_read("a", 4, &bytes, &error));
    CHECK_TEXT(slice_of(error.text), "a:1:1: file too large, expected at most 4 bytes");
    CHECK(!file_read("/dev/zero", 100000, &bytes, &error));
    CHECK_TEXT(slice_of(error.text),
               "/dev/zero:1:1: file too large, expected at most 100000 bytes");
    CHECK_TEXT(buffer_slice(&bytes), "kept");
    CHECK(!write_text("deep", "", 0600, &error));
    CHECK_TEXT(slice_of(error.text),
               "deep:1:1: is a directory, expected the name of a file");
    CHECK(!write_text("a/b", "", 0600, &error));
    CHECK_TEXT(slice_of(error.text), "a/b:1:1: cannot be written: Not a directory");
    CHECK(!write_text("/dev/full", "x", 0600, &error));
    CHECK_TEXT(slice_of(error.text),
               "/dev/full:1:1: cannot be written: No space left on device");
    CHECK(entry_count() == 3);
    buffer_release(&bytes);
}

/* Each operation fails in turn: the old file stays, and nothing lies beside it. */
static void test_full_disk(void)
{
    struct error error = ERROR_INIT;
    int failures = 0;

    for (size_t n = 1; n < 10; n++) {
        file_fail_after(n);
        if (write_text("a", "four", 0600, &error)) {
            break;
        }
        failures++;
        CHECK_TEXT(slice_of(error.text + strlen(error.text) - 23),
                   "No space left on device");
        CHECK(holds("a", "three"));
        CHECK(entry_count() == 3);
    }
    file_fail_after(0);
    CHECK(failures == 4);
    CHECK(holds("a", "four"));
}

static void do_nothing(int signal)
{
    (void)signal;
}

/* Reads what comes through the pipe, and begins late, so that the writer has to wait. */
static int compare_with_pipe(int descriptor, struct slice expected)
{
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    bool is_same;

    usleep(50000);
    is_same = file_read_descriptor(descriptor, "pipe", 1 << 24, &bytes, &error) &&
              slice_equal(buffer_slice(&bytes), expected);
    buffer_release(&bytes);
    return is_same ? 0 : 1;
}

/* While signals interrupt the writes, so that each takes a part of what is left only. */
static bool write_interrupted(int descriptor, const struct slice *parts, size_t count)
{
    struct sigaction action = {.sa_handler = do_nothing};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    struct error error = ERROR_INIT;
    bool is_written;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    is_written = file_write_parts(descriptor, "pipe", parts, count, &error);
    setitimer(ITIMER_REAL, &never, NULL);
    return is_written;
}

static void test_parts(void)
{
    static char bytes[1000000];
    struct slice whole = {bytes, sizeof bytes};
    struct slice parts[] = {
        slice_part(whole, 0, 100000),
        SLICE(""),
        slice_part(whole, 100000, 999999),
        slice_part(whole, 999999, sizeof bytes),
    };
    int ends[2], status = -1;
    pid_t reader;

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 2654435761u >> 13);
    }
    CHECK(pipe(ends) == 0);
    reader = fork();
    if (reader == 0) {
        close(ends[1]);
        _exit(compare_with_pipe(ends[0], whole));
    }
    close(ends[0]);
    CHECK(write_interrupted(ends[1], parts, sizeof parts / sizeof parts[0]));
    close(ends[1]);
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
}

int main(void)
{
    char folder[] = "/tmp/monitorch-file-XXXXXX";

    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    test_writing();
    test_refusing();
    test_full_disk();
    test_parts();
    unlink("deep/er/b");
    rmdir("deep/er");
    rmdir("deep");
    unlink("link");
    unlink("a");
    CHECK(entry_count() == 0);
    rmdir(folder);
    return check_finish();
}
