/* Which kernels are used. */
#include "runtime/array/statistics/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const struct kernels *const *kernels_all(void)
{
    static const struct kernels *const all[] = {
#if defined(KERNELS_X86)
        &kernels_avx512,
        &kernels_avx2,
#elif defined(KERNELS_NEON)
        &kernels_neon,
#endif
        &kernels_portable,
        NULL,
    };

    return all;
}

static const struct kernels *kernels_choose(void)
{
    const char *asked = getenv("MONITORCH_KERNELS");
    const struct kernels *best = NULL;

    for (const struct kernels *const *each = kernels_all(); *each != NULL; each++) {
        if (!(*each)->is_supported()) {
            continue;
        }
        if (asked != NULL && strcmp(asked, (*each)->name) == 0) {
            return *each;
        }
        best = best == NULL ? *each : best;
    }
    return best;
}

const struct kernels *kernels_in_use(void)
{
    /* Whoever chooses first chooses for all; two that choose at once choose alike. */
    static _Atomic(const struct kernels *) chosen;
    const struct kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);

    if (kernels == NULL) {
        kernels = kernels_choose();
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    }
    return kernels;
}
