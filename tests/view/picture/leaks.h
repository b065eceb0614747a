/* What libraries keep for as long as the process lives is no leak of ours. Included by the one file of a
 * program that paints. */
#ifndef MONITORCH_TESTS_UNIT_LEAKS_H
#define MONITORCH_TESTS_UNIT_LEAKS_H

/* The leak sanitizer asks for it by this name. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig.so\nleak:libpango\nleak:libglib-2.0.so\n";
}

#endif
