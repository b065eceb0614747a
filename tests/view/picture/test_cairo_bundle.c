/* Bundled libraries: opened in the order of their list, or not at all. Runs in a folder of its own. */
#include "runtime/view/picture/paint/cairo/bundle.h"

#include "tests/unit/check.h"

#include "runtime/base/error.h"
#include "runtime/base/file/file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_order(const char *text)
{
    struct error error = ERROR_INIT;

    CHECK(file_write("bundle/order", slice_of(text), FILE_MODE_DEFAULT, &error));
}

/* The file that a function of the C library comes from, whatever it is called here. */
static bool find_library(char path[PATH_MAX])
{
    Dl_info info;

    return dladdr(dlsym(RTLD_DEFAULT, "puts"), &info) != 0 &&
           realpath(info.dli_fname, path);
}

static void test_no_bundle(void)
{
    CHECK(cairo_bundle_open("missing") == NULL);
    CHECK(cairo_bundle_open("") == NULL);
}

static void test_lists(const char *library)
{
    void *handle;

    write_order("");
    CHECK(cairo_bundle_open("bundle") == NULL);
    write_order("liba.so\nmissing.so\n");
    CHECK(symlink(library, "bundle/liba.so") == 0);
    CHECK(cairo_bundle_open("bundle") == NULL);
    write_order("liba.so\n");
    handle = cairo_bundle_open("bundle");
    CHECK(handle != NULL && dlsym(handle, "puts") != NULL);
    write_order("liba.so");
    CHECK(cairo_bundle_open("bundle") != NULL);
}

/* Nothing is opened that lies elsewhere, and nothing that is no library. */
static void test_bad_lists(void)
{
    CHECK(rename("bundle/liba.so", "elsewhere.so") == 0);
    write_order("../elsewhere.so\n");
    CHECK(cairo_bundle_open("bundle") == NULL);
    write_order("order\n");
    CHECK(cairo_bundle_open("bundle") == NULL);
}

int main(void)
{
    char folder[] = "bundle-XXXXXX";
    char library[PATH_MAX];

    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || !find_library(library)) {
        return 1;
    }
    test_no_bundle();
    test_lists(library);
    test_bad_lists();
    return check_finish();
}
