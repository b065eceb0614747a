/* Access to cairo and pango, which are loaded when a picture is first painted. */
#include "runtime/view/picture/paint/cairo/library.h"

#include "runtime/view/picture/paint/cairo/bundle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* dlsym on pangocairo also finds the functions of cairo, pango and fontconfig, because it
 * depends on them. */
#define LIBRARY_FILE "libpangocairo-1.0.so.0"

struct function_place {
    const char *name;
    size_t offset;
};

static const struct function_place function_places[] = {
#define LIBRARY_FUNCTION(name) {#name, offsetof(struct cairo_library, name)},
#include "runtime/view/picture/paint/cairo/library.def"
#undef LIBRARY_FUNCTION
};

/* The process has one copy, as of the libraries themselves. It is never unloaded. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cairo_library library;
static bool library_is_loaded;

static bool find_functions(void *handle, struct error *error)
{
    for (size_t i = 0; i < sizeof function_places / sizeof *function_places; i++) {
        void *function = dlsym(handle, function_places[i].name);

        if (function == NULL) {
            error_set(
                error, ERROR_SYSTEM,
                "%s: has no %s; PNG and PDF need cairo 1.16 and pango 1.44 or newer "
                "(SVG and DOT do not)",
                LIBRARY_FILE, function_places[i].name);
            return false;
        }
        memcpy((char *)&library + function_places[i].offset, &function,
               sizeof function);
    }
    return true;
}

/* Whether there is a font of a kind that pango supports. It ignores bitmap and Type 1 fonts. */
static bool find_fonts(void)
{
    const FcFontSet *fonts = library.FcConfigGetFonts(NULL, FcSetSystem);

    for (int i = 0; fonts != NULL && i < fonts->nfont; i++) {
        FcChar8 *format = NULL;

        if (library.FcPatternGetString(fonts->fonts[i], FC_FONTFORMAT, 0, &format) ==
                FcResultMatch &&
            (strcmp((const char *)format, "TrueType") == 0 ||
             strcmp((const char *)format, "CFF") == 0)) {
            return true;
        }
    }
    return false;
}

/* Loads the machine's library, else the package's. If neither exists, the error gives the reason
 * for the machine's. */
static bool library_load(struct error *error)
{
    void *handle = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        const char *reason = dlerror();

        error_set(error, ERROR_SYSTEM,
                  "PNG and PDF need the libraries cairo and pango (Debian: "
                  "libpangocairo-1.0-0; SVG and DOT do not need them): %s",
                  reason == NULL ? LIBRARY_FILE : reason);
    } else if (!find_functions(handle, error)) {
        dlclose(handle);
        handle = NULL;
    }
    if (handle == NULL) {
        struct error ignored = ERROR_INIT;

        handle = cairo_bundle_find();
        if (handle == NULL || !find_functions(handle, &ignored)) {
            return false;
        }
    }
    library.has_fonts = find_fonts();
    return true;
}

const struct cairo_library *cairo_library_get(struct error *error)
{
    bool is_loaded;

    pthread_mutex_lock(&library_lock);
    library_is_loaded = library_is_loaded || library_load(error);
    is_loaded = library_is_loaded;
    pthread_mutex_unlock(&library_lock);
    return is_loaded ? &library : NULL;
}
