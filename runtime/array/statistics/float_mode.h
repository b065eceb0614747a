/* How the processor rounds and what it does with denormals, which a program may have changed
 * (torch.set_flush_denormal), put to its default while we compute, and back after. The flags
 * that computing raises are put back too. Private to the statistics. */
#ifndef MONITORCH_ARRAY_STATISTICS_FLOAT_MODE_H
#define MONITORCH_ARRAY_STATISTICS_FLOAT_MODE_H

#include <stdint.h>

struct float_mode {
    uint64_t control;
    uint64_t status;
};

#if defined(__x86_64__)

    #include <xmmintrin.h>

    #define FLOAT_MODE_FLAGS   0x3fu
    #define FLOAT_MODE_DEFAULT 0x1f80u

static inline struct float_mode float_mode_enter(void)
{
    unsigned control = _mm_getcsr();

    if ((control & ~FLOAT_MODE_FLAGS) != FLOAT_MODE_DEFAULT) {
        _mm_setcsr(FLOAT_MODE_DEFAULT);
    }
    return (struct float_mode){.control = control};
}

static inline void float_mode_leave(struct float_mode before)
{
    if (_mm_getcsr() != before.control) {
        _mm_setcsr((unsigned)before.control);
    }
}

#elif defined(__aarch64__)

static inline struct float_mode float_mode_enter(void)
{
    struct float_mode before;

    __asm__ volatile("mrs %0, fpcr" : "=r"(before.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(before.status));
    if (before.control != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    }
    return before;
}

static inline void float_mode_leave(struct float_mode before)
{
    if (before.control != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"(before.control));
    }
    __asm__ volatile("msr fpsr, %0" : : "r"(before.status));
}

#else

static inline struct float_mode float_mode_enter(void)
{
    return (struct float_mode){0};
}

static inline void float_mode_leave(struct float_mode before)
{
    (void)before;
}

#endif

#endif
