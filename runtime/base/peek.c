#include "runtime/base/peek.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No page is smaller: what lies between two multiples of it is there as a whole or not at all. */
#define PAGE_SIZE_MIN 4096

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

static size_t
read_within_page(const struct peek *peek, uint64_t address, void *bytes, size_t size)
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

/* The system writes all or nothing where only the first of two pages is there. */
size_t peek_read(const struct peek *peek, uint64_t address, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t room = PAGE_SIZE_MIN - (address + done) % PAGE_SIZE_MIN;
        size_t part = room < size - done ? room : size - done;
        size_t got = read_within_page(peek, address + done, (char *)bytes + done, part);
        done += got;
        if (got < part) {
            break;
        }
    }
    return done;
}
