/* What every unit test uses: counting claims, and telling which did not hold. */
#ifndef MONITORCH_TESTS_UNIT_CHECK_H
#define MONITORCH_TESTS_UNIT_CHECK_H

#include "runtime/base/slice.h"
#include "tests/unit/folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int check_passed_count;
static int check_failed_count;

static inline bool
check_claim(bool holds, const char *claim, const char *file, int line)
{
    if (holds) {
        check_passed_count++;
    } else {
        check_failed_count++;
        printf("%s:%d: does not hold: %s\n", file, line, claim);
    }
    return holds;
}

/* Counts the claim and gives back whether it holds. */
#define CHECK(claim) check_claim((claim), #claim, __FILE__, __LINE__)

static inline bool
check_claim_text(struct slice got, const char *wanted, const char *file, int line)
{
    bool holds = slice_equal(got, slice_of(wanted));

    if (!check_claim(holds, "the texts are equal", file, line)) {
        printf("  got:    %.*s\n  wanted: %s\n", (int)got.size, got.bytes, wanted);
    }
    return holds;
}

/* Counts whether a slice holds just the text wanted. */
#define CHECK_TEXT(got, wanted) check_claim_text((got), (wanted), __FILE__, __LINE__)

/* Whether there is time for the largest sizes: where the slow tests are run too. */
static inline bool check_is_slow(void)
{
    return getenv("MONITORCH_TEST_SLOW") != NULL;
}

/* The exit code of the test program. */
static inline int check_finish(void)
{
    printf("%d passed, %d failed\n", check_passed_count, check_failed_count);
    return check_failed_count > 0;
}

#endif
