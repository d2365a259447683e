#include "e2e/simulation/shrink.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/memory.h"

/* What is left of the plan while it shrinks. */
struct rest {
        struct run_plan plan; /* its lists are the two below */
        struct move *moves;
        uint64_t *faults;
        char kind[64]; /* how it fails */
        unsigned tries;
};

/* The same failure says the same to its second colon, but for numbers. */
static void kind_of(const char *text, char ret[64])
{
        unsigned colons = 0;
        size_t n = 0;

        for (; *text && n < 63 && (colons += *text == ':') < 2; text++)
                if (*text < '0' || *text > '9')
                        ret[n++] = *text;
        ret[n] = '\0';
}

/* ---- one try, in a process of its own: a failed run leaves its loop behind ---- */

static void child(const struct run_plan *p, int to)
{
        struct run_result result;
        struct coverage *coverage = mem_must(coverage_new());
        char kind[64] = "";

        if (run_play(p, NULL, coverage, &result) < 0)
                kind_of(result.err.text, kind);
        _exit(write(to, kind, sizeof(kind)) == (ssize_t)sizeof(kind) ? 0 : 1);
}

/* How the plan fails: "" if it does not, "crash" if its process died. */
static int try_plan(const struct run_plan *p, char ret[64], struct error *err)
{
        int ends[2], status;
        pid_t pid;

        if (pipe(ends) < 0)
                return error_errno(err, errno, "pipe");
        pid = fork();
        if (pid == 0)
                child(p, ends[1]);
        close(ends[1]);
        if (pid < 0 || read(ends[0], ret, 64) != 64)
                snprintf(ret, 64, "crash");
        close(ends[0]);
        return pid < 0 || waitpid(pid, &status, 0) < 0 ? error_errno(err, errno, "fork") : 0;
}

/* ---- leaving things out (delta debugging: ever smaller parts) ---- */

struct items {
        void *at;
        size_t *n, size;
};

static int fails_still(struct rest *r, bool *ret, struct error *err)
{
        char kind[64];

        if (r->tries == 0) {
                *ret = false;
                return 0;
        }
        r->tries--;
        TRY(try_plan(&r->plan, kind, err));
        *ret = text_equal(kind, r->kind);
        return 0;
}

/* Leaves out `n` items from `from` on, if it fails without them. */
static int leave_out(struct rest *r, struct items *l, size_t from, size_t n, bool *ret, struct error *err)
{
        char *at = l->at, *out = at + from * l->size;
        size_t behind = (*l->n - from - n) * l->size;
        AUTO_FREE char *kept = mem_strndup(out, n * l->size);

        if (!kept)
                return error_no_memory(err);
        memmove(out, out + n * l->size, behind);
        *l->n -= n;
        TRY(fails_still(r, ret, err));
        if (*ret)
                return 0;
        memmove(out + n * l->size, out, behind);
        memcpy(out, kept, n * l->size);
        *l->n += n;
        return 0;
}

static int shrink_list(struct rest *r, struct items *l, struct error *err)
{
        for (size_t part = *l->n; part > 0; part /= 2)
                for (size_t from = 0; from < *l->n && r->tries > 0;) {
                        bool less = false;

                        TRY(leave_out(r, l, from, MIN(part, *l->n - from), &less, err));
                        if (!less)
                                from += part;
                }
        return 0;
}

/* ---- the whole ---- */

static int take_apart(struct rest *r, const struct run_plan *plan, struct run_result *first,
                      struct error *err)
{
        r->moves = mem_calloc(plan->n_moves + 1, sizeof(*r->moves));
        r->faults = mem_calloc(first->n_faults + 1, sizeof(*r->faults));
        if (!r->moves || !r->faults)
                return error_no_memory(err);
        memcpy(r->moves, plan->moves, plan->n_moves * sizeof(*r->moves));
        memcpy(r->faults, first->faults, first->n_faults * sizeof(*r->faults));
        r->plan = *plan;
        r->plan.moves = r->moves;
        r->plan.faults = r->faults;
        r->plan.n_faults = first->n_faults;
        kind_of(first->err.text, r->kind);
        return 0;
}

static int make_small(struct rest *r, struct error *err)
{
        struct items moves = { r->moves, &r->plan.n_moves, sizeof(*r->moves) },
                     faults = { r->faults, &r->plan.n_faults, sizeof(*r->faults) };
        size_t before;

        do {
                before = r->plan.n_moves + r->plan.n_faults;
                TRY(shrink_list(r, &faults, err));
                TRY(shrink_list(r, &moves, err));
        } while (r->plan.n_moves + r->plan.n_faults < before && r->tries > 0);
        return 0;
}

/* The last run tells its moves and faults itself: they are the lines of level info of the player's log. */
static int tell(struct rest *r, FILE *trace, struct error *err)
{
        struct coverage *coverage = mem_must(coverage_new());
        struct run_result last;
        int code = run_play(&r->plan, trace, coverage, &last);

        printf("left of seed %llu: %zu moves, %zu message faults\n", (unsigned long long)r->plan.seed,
               r->plan.n_moves, r->plan.n_faults);
        for (size_t i = 0; i < r->plan.n_moves; i++)
                printf("  %7.1f s  %s\n", (double)r->moves[i].at_ms / 1000,
                       move_kinds[r->moves[i].kind].name);
        printf("%s\n", code < 0 ? last.err.text : "it passes now");
        return code < 0 ? 0 : error_set(err, ERR_NOT_FOUND, "what is left passes");
}

int shrink(const struct run_plan *plan, unsigned tries, FILE *trace, struct error *err)
{
        struct coverage *coverage = mem_must(coverage_new());
        struct rest r = { .tries = tries };
        struct run_result first;
        int code;

        if (run_play(plan, NULL, coverage, &first) == 0)
                return error_set(err, ERR_NOT_FOUND, "seed %llu passes: nothing to shrink",
                                 (unsigned long long)plan->seed);
        printf("seed %llu: %s\n", (unsigned long long)plan->seed, first.err.text);
        code = take_apart(&r, plan, &first, err);
        if (code == 0)
                code = make_small(&r, err);
        if (code == 0)
                code = tell(&r, trace, err);
        mem_free(r.moves);
        mem_free(r.faults);
        return code;
}
