#include "common/net/held_numbers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"

#define NUMBERS_MAX 65536
#define AT_ONCE 256
#define HELD_MAX 64

struct held_numbers {
        bool used[NUMBERS_MAX];
        size_t n_used; /* how many there may be */
        int held[HELD_MAX];
        size_t n;
        struct stat ours;
};

/* Calls fn for each of a few numbers, with whether it is in use. */
static void look_at(size_t from, size_t n, void (*fn)(struct held_numbers *h, size_t number, bool used),
                    struct held_numbers *h)
{
        struct pollfd p[AT_ONCE];

        for (size_t i = 0; i < n; i++)
                p[i] = (struct pollfd){ .fd = (int)(from + i) };
        if (poll(p, n, 0) < 0)
                return;
        for (size_t i = 0; i < n; i++)
                fn(h, from + i, !(p[i].revents & POLLNVAL));
}

static void look_at_all(struct held_numbers *h, void (*fn)(struct held_numbers *h, size_t number, bool used))
{
        for (size_t from = 0; from < h->n_used; from += AT_ONCE)
                look_at(from, MIN(h->n_used - from, (size_t)AT_ONCE), fn, h);
}

static void note(struct held_numbers *h, size_t number, bool used)
{
        h->used[number] = used;
}

struct held_numbers *held_numbers_look(void)
{
        struct held_numbers *h = NEW(struct held_numbers);
        long most = sysconf(_SC_OPEN_MAX);

        if (!h)
                return NULL;
        h->n_used = most < 0 ? NUMBERS_MAX : MIN((size_t)most, (size_t)NUMBERS_MAX);
        look_at_all(h, note);
        return h;
}

/* held[0] is the file that the others are copies of. */
static void take(struct held_numbers *h, size_t number, bool used)
{
        int got;

        if (used || !h->used[number] || h->n == HELD_MAX)
                return;
        got = fcntl(h->held[0], F_DUPFD_CLOEXEC, (int)number);
        if (got == (int)number)
                h->held[h->n++] = got;
        else if (got >= 0)
                close(got);
}

void held_numbers_take(struct held_numbers *h)
{
        if (!h || (h->held[0] = memfd_create("held", MFD_CLOEXEC)) < 0)
                return;
        if (fstat(h->held[0], &h->ours) < 0) {
                close(h->held[0]);
                return;
        }
        h->n = 1;
        look_at_all(h, take);
}

struct held_numbers *held_numbers_free(struct held_numbers *h)
{
        struct stat st;

        if (!h)
                return NULL;
        for (size_t i = 0; i < h->n; i++)
                if (fstat(h->held[i], &st) == 0 && st.st_ino == h->ours.st_ino && st.st_dev == h->ours.st_dev)
                        close(h->held[i]);
        mem_free(h);
        return NULL;
}
