/* Progress line on standard error. */
#include "runtime/command/shared/progress.h"

#include "runtime/base/file/output.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Progress of work that takes longer than this is shown, in seconds. */
#define PATIENCE 1.0
/* Time between two lines, in seconds. */
#define INTERVAL 0.2
/* Lines are padded to this width, to cover the line before. */
#define WIDTH 60

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_init(struct progress *progress, bool is_quiet)
{
    *progress = (struct progress){
        .is_wanted = !is_quiet && isatty(STDERR_FILENO),
        .start = now(),
    };
}

static void write_line(const char *text)
{
    char line[2 * WIDTH];
    int size = snprintf(line, sizeof line, "\r%-*.*s", WIDTH, WIDTH, text);

    output_print_error((struct slice){line, (size_t)size});
}

static void
write_count(struct progress *progress, const char *format, uint64_t count, double time)
{
    char text[2 * WIDTH];

    progress->printed = time;
    progress->is_shown = true;
    snprintf(text, sizeof text, format, (unsigned long long)count);
    write_line(text);
}

void progress_report(struct progress *progress, const char *format, uint64_t count)
{
    double time;

    if (!progress->is_wanted) {
        return;
    }
    time = now();
    if (time >= progress->start + PATIENCE && time >= progress->printed + INTERVAL) {
        write_count(progress, format, count, time);
    }
}

void progress_announce(struct progress *progress, const char *format, uint64_t count)
{
    if (progress->is_wanted) {
        write_count(progress, format, count, now());
    }
}

bool progress_is_long(const struct progress *progress)
{
    return progress->is_wanted && now() >= progress->start + PATIENCE;
}

void progress_clear(struct progress *progress)
{
    if (progress->is_shown) {
        write_line("");
        output_print_error(SLICE("\r"));
        progress->is_shown = false;
    }
}
