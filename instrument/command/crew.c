/* Several threads that work through a plan; what they made is told in the plan's order. */
#include "instrument/command/crew.h"

#include "instrument/command/job.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/* How far the work may run ahead of the telling: outcomes wait in memory. */
#define WINDOW 64

#define THREAD_COUNT_MAX  256
#define THREAD_STACK_SIZE ((size_t)8 << 20)

struct crew {
    const struct plan *plan;       /* borrowed */
    const struct options *options; /* borrowed */
    struct console *console;       /* borrowed; used under the lock */
    pthread_mutex_t lock;
    pthread_cond_t told; /* an outcome was told: there is room again */
    size_t next;         /* the first item that nobody took */
    size_t told_count;
    bool is_ready[WINDOW];           /* of item i at i % WINDOW */
    struct outcome outcomes[WINDOW]; /* owned */
};

/* False where no item is left. */
static bool crew_take(struct crew *crew, size_t *item)
{
    bool is_taken;

    pthread_mutex_lock(&crew->lock);
    while (crew->next < crew->plan->count && crew->next - crew->told_count >= WINDOW) {
        pthread_cond_wait(&crew->told, &crew->lock);
    }
    is_taken = crew->next < crew->plan->count;
    if (is_taken) {
        *item = crew->next++;
    }
    pthread_mutex_unlock(&crew->lock);
    return is_taken;
}

/* Tells every outcome whose turn it is. */
static void crew_hand_in(struct crew *crew, size_t item)
{
    pthread_mutex_lock(&crew->lock);
    crew->is_ready[item % WINDOW] = true;
    while (crew->is_ready[crew->told_count % WINDOW]) {
        struct outcome *outcome = &crew->outcomes[crew->told_count % WINDOW];

        console_add(crew->console, &crew->plan->items[crew->told_count], outcome);
        outcome_release(outcome);
        outcome_init(outcome);
        crew->is_ready[crew->told_count % WINDOW] = false;
        crew->told_count++;
    }
    pthread_cond_broadcast(&crew->told);
    pthread_mutex_unlock(&crew->lock);
}

static void *crew_work(void *context)
{
    struct crew *crew = context;
    struct worker worker;
    size_t item;

    worker_init(&worker, crew->options);
    worker.is_alone = crew->plan->count == 1;
    worker.has_out_color = crew->console->has_out_color;
    worker.has_message_color = crew->console->has_message_color;
    while (crew_take(crew, &item)) {
        worker_run(&worker, &crew->plan->items[item], &crew->outcomes[item % WINDOW]);
        crew_hand_in(crew, item);
    }
    worker_release(&worker);
    return NULL;
}

static size_t thread_count_of(const struct crew *crew)
{
    size_t count = crew->options->job_count;

    if (count == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        count = processors > 0 ? (size_t)processors : 1;
    }
    if (count > crew->plan->count) {
        count = crew->plan->count;
    }
    return count < THREAD_COUNT_MAX ? count : THREAD_COUNT_MAX;
}

/* This thread works too, so a thread that cannot be started only makes it slower. */
static void crew_work_together(struct crew *crew)
{
    pthread_t threads[THREAD_COUNT_MAX];
    size_t wanted = thread_count_of(crew);
    size_t count = 0;
    pthread_attr_t attributes;

    if (wanted > 1 && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE);
        while (count + 1 < wanted &&
               pthread_create(&threads[count], &attributes, crew_work, crew) == 0) {
            count++;
        }
        pthread_attr_destroy(&attributes);
    }
    crew_work(crew);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

void crew_run(const struct plan *plan,
              const struct options *options,
              struct console *console)
{
    struct crew crew = {.plan = plan, .options = options, .console = console};

    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.told, NULL);
    for (size_t i = 0; i < WINDOW; i++) {
        outcome_init(&crew.outcomes[i]);
    }
    crew_work_together(&crew);
    for (size_t i = 0; i < WINDOW; i++) {
        outcome_release(&crew.outcomes[i]);
    }
    pthread_cond_destroy(&crew.told);
    pthread_mutex_destroy(&crew.lock);
}
