/* Whole files: read, replaced in one step, and nothing left behind when that fails. */
#include "runtime/base/file.h"
#include "tests/unit/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int entry_count(void)
{
    DIR *folder = opendir(".");
    int count = 0;

    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

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
               "none:1:1: cannot read: No such file or directory");
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
    CHECK_TEXT(slice_of(error.text), "a/b:1:1: cannot write: Not a directory");
    CHECK(!write_text("/dev/full", "x", 0600, &error));
    CHECK_TEXT(slice_of(error.text),
               "/dev/full:1:1: cannot write: No space left on device");
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

int main(void)
{
    char folder[] = "/tmp/monitorch-file-XXXXXX";

    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    test_writing();
    test_refusing();
    test_full_disk();
    unlink("deep/er/b");
    rmdir("deep/er");
    rmdir("deep");
    unlink("link");
    unlink("a");
    CHECK(entry_count() == 0);
    rmdir(folder);
    return check_finish();
}
