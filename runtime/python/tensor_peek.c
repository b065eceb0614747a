/* Reading memory that may not be there: the system refuses bad addresses instead of faulting. */
#include "runtime/python/tensor_private.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool peek_init(struct peek *peek)
{
    if (pipe(peek->pipe) != 0) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        fcntl(peek->pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(peek->pipe[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

void peek_release(struct peek *peek)
{
    close(peek->pipe[0]);
    close(peek->pipe[1]);
}

size_t peek_read(const struct peek *peek, uint64_t address, void *bytes, size_t size)
{
#ifdef SYS_write
    /* Not by write(): a checker of memory would take it for a mistake to look beyond objects. */
    ssize_t written = syscall(SYS_write, peek->pipe[1], address, size);
#else
    ssize_t written = write(peek->pipe[1], (const void *)(uintptr_t)address, size);
#endif

    if (written <= 0) {
        return 0;
    }
    ssize_t got = read(peek->pipe[0], bytes, (size_t)written);
    return got == written ? (size_t)got : 0;
}
