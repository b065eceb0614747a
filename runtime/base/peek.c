#include "runtime/base/peek.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No page is smaller. So the bytes between two multiples of it are either all readable or none. */
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
    /* A system call instead of write(): memory checkers would report a read beyond an object. */
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

/* Reads page by page, because a write across two pages fails as a whole if only the first is
 * readable. */
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
