/* A file that is written piece by piece, beside the name that it takes when it is whole. */
#include "runtime/base/file/draft.h"

#include "runtime/base/file/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `number` is that of the system's error. */
static bool fail(struct file_draft *draft, int number, struct error *error)
{
    file_draft_abandon(draft);
    error_set_at(error, ERROR_SYSTEM, draft->path, 1, 1, "cannot be written: %s",
                 strerror(number));
    errno = number;
    return false;
}

static bool open_temporary(struct file_draft *draft, uint32_t mode, struct error *error)
{
    draft->descriptor = file_temporary_open(&draft->temporary, draft->target);
    if (draft->descriptor < 0 ||
        (mode != FILE_MODE_DEFAULT && fchmod(draft->descriptor, (mode_t)mode) != 0)) {
        return fail(draft, errno, error);
    }
    return true;
}

bool file_draft_open(struct file_draft *draft,
                     const char *path,
                     uint32_t mode,
                     struct error *error)
{
    return file_draft_open_at(draft, path, file_inspect(path), mode, error);
}

bool file_draft_open_at(struct file_draft *draft,
                        const char *path,
                        struct file_info info,
                        uint32_t mode,
                        struct error *error)
{
    draft->path = path;
    draft->descriptor = -1;
    draft->is_direct = false;
    if (info.is_directory) {
        errno = EISDIR;
        error_set_at(error, ERROR_INPUT, path, 1, 1,
                     "is a directory, expected the name of a file");
        return false;
    }
    if (info.is_there && !info.is_regular) {
        draft->is_direct = true;
        draft->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return draft->descriptor >= 0 || fail(draft, errno, error);
    }
    if (!file_inputs_refuse(path, error)) {
        errno = EPERM;
        return false;
    }
    if (info.is_there) {
        if (access(path, W_OK) != 0 || realpath(path, draft->target) == NULL) {
            return fail(draft, errno, error);
        }
        return open_temporary(draft, info.mode, error);
    }
    if (strlen(path) >= sizeof draft->target) {
        return fail(draft, ENAMETOOLONG, error);
    }
    memcpy(draft->target, path, strlen(path) + 1);
    return open_temporary(draft, mode, error);
}

bool file_draft_add(struct file_draft *draft, struct slice bytes, struct error *error)
{
    return file_draft_add_parts(draft, &bytes, 1, error);
}

bool file_draft_add_parts(struct file_draft *draft,
                          const struct slice *parts,
                          size_t count,
                          struct error *error)
{
    if (!file_write_parts(draft->descriptor, draft->path, parts, count, error)) {
        int number = errno;
        file_draft_abandon(draft);
        errno = number;
        return false;
    }
    return true;
}

static bool close_draft(struct file_draft *draft, struct error *error)
{
    /* A full disk may show only now. */
    bool is_closed = close(draft->descriptor) == 0 && !file_operation_fails();
    int number = errno;

    draft->descriptor = -1;
    if (is_closed) {
        return true;
    }
    if (!draft->is_direct) {
        file_temporary_remove(&draft->temporary);
    }
    return fail(draft, number, error);
}

/* What was read while the draft was written is an input too. */
static bool refuse_input(struct file_draft *draft, struct error *error)
{
    if (draft->is_direct || file_inputs_refuse(draft->target, error)) {
        return true;
    }
    file_draft_abandon(draft);
    errno = EPERM;
    return false;
}

bool file_draft_finish(struct file_draft *draft, struct error *error)
{
    return refuse_input(draft, error) && close_draft(draft, error) &&
           (draft->is_direct ||
            file_temporary_rename(&draft->temporary, draft->target) ||
            fail(draft, errno, error));
}

bool file_draft_finish_new(struct file_draft *draft,
                           bool *is_there,
                           struct error *error)
{
    *is_there = false;
    if (!close_draft(draft, error)) {
        return false;
    }
    if (draft->is_direct ||
        file_temporary_rename_new(&draft->temporary, draft->target)) {
        return true;
    }
    *is_there = errno == EEXIST;
    return *is_there || fail(draft, errno, error);
}

void file_draft_abandon(struct file_draft *draft)
{
    if (draft->descriptor < 0) {
        return;
    }
    close(draft->descriptor);
    draft->descriptor = -1;
    if (!draft->is_direct) {
        file_temporary_remove(&draft->temporary);
    }
}
