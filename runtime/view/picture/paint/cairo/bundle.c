/* cairo and pango from a wheel: a folder of libraries, and the order in which they are opened. */
#include "runtime/view/picture/paint/cairo/bundle.h"

#include "runtime/base/buffer.h"
#include "runtime/base/error.h"
#include "runtime/base/file/file.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_LIMIT  4096
#define ORDER_LIMIT 65536
#define FOLDER      "_libraries"

/* Places of the package, relative to the folder of the commands: under a prefix (lib, lib64;
 * site-packages, dist-packages), and beside the commands (pip install --target). */
static const char *const places_from_commands[] = {
    "/../lib*/python3*/*-packages/monitorch/" FOLDER,
    "/../monitorch/" FOLDER,
};
#define PLACE_COUNT (sizeof places_from_commands / sizeof *places_from_commands)

static bool join(char path[PATH_LIMIT], const char *folder, const char *name)
{
    int length = snprintf(path, PATH_LIMIT, "%s/%s", folder, name);

    return length >= 0 && length < PATH_LIMIT;
}

static void *open_library(const char *folder, const char *name)
{
    char path[PATH_LIMIT];

    if (strchr(name, '/') != NULL || !join(path, folder, name)) {
        return NULL;
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Opens the libraries named in `text`, one a line. The text ends with a zero byte and is
 * modified. NULL: one of them cannot be opened. */
static void *open_in_order(const char *folder, char *text)
{
    char *rest = NULL;
    void *handle = NULL;

    for (char *name = strtok_r(text, "\n", &rest); name != NULL;
         name = strtok_r(NULL, "\n", &rest)) {
        handle = open_library(folder, name);
        if (handle == NULL) {
            break;
        }
    }
    return handle;
}

void *cairo_bundle_open(const char *folder)
{
    char path[PATH_LIMIT];
    struct buffer text = BUFFER_INIT;
    struct error error = ERROR_INIT;
    void *handle = NULL;

    if (!join(path, folder, "order") || !file_inspect(path).is_regular ||
        !file_read(path, ORDER_LIMIT, &text, &error)) {
        return NULL;
    }
    buffer_add_byte(&text, '\0');
    if (!text.has_failed) {
        handle = open_in_order(folder, text.bytes);
    }
    buffer_release(&text);
    return handle;
}

/* Finds the folder of the file that contains this code: the program or the extension module.
 * Returns false if it cannot be found. */
static bool find_own_folder(bool is_program, char folder[PATH_LIMIT])
{
    char *end;

    if (is_program) {
        ssize_t length = readlink("/proc/self/exe", folder, PATH_LIMIT - 1);

        if (length < 0) {
            return false;
        }
        folder[length] = '\0';
    } else {
        Dl_info info;

        if (dladdr(places_from_commands, &info) == 0 || info.dli_fname == NULL ||
            strlen(info.dli_fname) >= PATH_LIMIT) {
            return false;
        }
        strcpy(folder, info.dli_fname);
    }
    end = strrchr(folder, '/');
    if (end == NULL) {
        return false;
    }
    *end = '\0';
    return true;
}

/* Adds a folder as a pattern that matches only this folder. */
static void add_quoted(struct buffer *pattern, const char *folder)
{
    for (; *folder != '\0'; folder++) {
        if (strchr("*?[\\", *folder) != NULL) {
            buffer_add_byte(pattern, '\\');
        }
        buffer_add_byte(pattern, *folder);
    }
}

static void *open_matching(const char *commands, const char *place)
{
    struct buffer pattern = BUFFER_INIT;
    glob_t found;
    void *handle = NULL;

    add_quoted(&pattern, commands);
    buffer_add_bytes(&pattern, place, strlen(place) + 1);
    if (!pattern.has_failed && glob(pattern.bytes, 0, NULL, &found) == 0) {
        for (size_t i = 0; handle == NULL && i < found.gl_pathc; i++) {
            handle = cairo_bundle_open(found.gl_pathv[i]);
        }
        globfree(&found);
    }
    buffer_release(&pattern);
    return handle;
}

void *cairo_bundle_find(void)
{
    char folder[PATH_LIMIT];
    char path[PATH_LIMIT];
    void *handle = NULL;

    if (find_own_folder(false, folder) && join(path, folder, FOLDER)) {
        handle = cairo_bundle_open(path);
    }
    if (handle == NULL && find_own_folder(true, folder)) {
        for (size_t i = 0; handle == NULL && i < PLACE_COUNT; i++) {
            handle = open_matching(folder, places_from_commands[i]);
        }
    }
    return handle;
}
