#include "e2e/simulation/shrink.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/memory.h"

/* What fails later than the first failure and so much is taken as another one. */
#define TOLD_MAX (256u << 20)
#define PATIENCE_MS 30000

#define KIND_SIZE 64

/* A process in which the members of a plan have joined: from it one is split off for each list of moves. */
struct keeper {
        pid_t pid;             /* 0 = there is none */
        int requests, answers; /* lists of moves (their number, then they), and how a run with them fails */
};

/* What is left of the plan while it shrinks. */
struct rest {
        struct shrunk *left;
        struct keeper keeper;
        char kind[KIND_SIZE]; /* how it fails */
        unsigned tries;
};

/* The same failure says the same to its second colon, but for numbers. */
static void kind_of(const char *text, char ret[KIND_SIZE])
{
        unsigned colons = 0;
        size_t n = 0;

        for (; *text && n < KIND_SIZE - 1 && (colons += *text == ':') < 2; text++)
                if (*text < '0' || *text > '9')
                        ret[n++] = *text;
        ret[n] = '\0';
}

/* ---- one try, in a process of its own: a failed run leaves its loop behind ---- */

static void child(const struct run_plan *p, int to)
{
        struct run_result result;
        struct coverage *coverage = mem_must(coverage_new());
        char kind[KIND_SIZE] = "";

        if (run_play(p, NULL, coverage, &result) < 0)
                kind_of(result.err.text, kind);
        _exit(write(to, kind, sizeof(kind)) == (ssize_t)sizeof(kind) ? 0 : 1);
}

/* How the plan fails: "" if it does not, "crash" if its process died. */
static int try_plan(const struct run_plan *p, char ret[KIND_SIZE], struct error *err)
{
        int ends[2], status;
        pid_t pid;

        if (pipe(ends) < 0)
                return error_errno(err, errno, "pipe");
        pid = fork();
        if (pid == 0)
                child(p, ends[1]);
        close(ends[1]);
        if (pid < 0 || read(ends[0], ret, KIND_SIZE) != KIND_SIZE)
                snprintf(ret, KIND_SIZE, "crash");
        close(ends[0]);
        return pid < 0 || waitpid(pid, &status, 0) < 0 ? error_errno(err, errno, "fork") : 0;
}

/* ---- the same from where the members have joined ---- */

/* In the keeper, and in what is split off from it. */
struct kept {
        struct run_plan plan;
        struct move *moves; /* room for all that the plan began with: a run counts what it leaves allocated */
        int requests, answers;
        bool split;
};

static bool read_all(int from, void *to, size_t n)
{
        for (size_t got = 0; got < n;) {
                ssize_t r = read(from, (char *)to + got, n - got);

                if (r <= 0)
                        return false;
                got += (size_t)r;
        }
        return true;
}

/* Ends the process when no more is asked for. */
static void next_request(struct kept *k)
{
        if (!read_all(k->requests, &k->plan.n_moves, sizeof(k->plan.n_moves)))
                _exit(0);
        if (!read_all(k->requests, k->moves, k->plan.n_moves * sizeof(*k->moves)))
                _exit(1);
}

static void answer(const struct kept *k, const char kind[KIND_SIZE])
{
        if (write(k->answers, kind, KIND_SIZE) != KIND_SIZE)
                _exit(1);
}

static const struct run_plan *joined(void *ctx)
{
        static const char crash[KIND_SIZE] = "crash";
        struct kept *k = ctx;

        for (;;) {
                pid_t pid;
                int status = 1;

                next_request(k);
                pid = fork();
                if (pid == 0) {
                        k->split = true;
                        return &k->plan;
                }
                if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
                        answer(k, crash);
        }
}

static void play_kept(const struct run_plan *p, int requests, int answers)
{
        struct kept k = { .plan = *p, .requests = requests, .answers = answers };
        struct coverage *coverage = mem_must(coverage_new());
        struct run_result result;
        char kind[KIND_SIZE] = "";

        k.moves = mem_must(mem_calloc(p->n_moves + 1, sizeof(*k.moves)));
        k.plan.moves = k.moves;
        k.plan.joined = joined;
        k.plan.joined_ctx = &k;
        if (run_play(&k.plan, NULL, coverage, &result) < 0)
                kind_of(result.err.text, kind);
        if (k.split) {
                answer(&k, kind);
                _exit(0);
        }
        for (;;) { /* it did not come so far, whatever the moves */
                next_request(&k);
                answer(&k, kind);
        }
}

/* Only while nothing but moves is left out. The garden's repository lies outside of the process, where runs
 * would meet. */
static int keeper_open(struct keeper *k, const struct run_plan *p, struct error *err)
{
        int requests[2], answers[2];

        if (moves_have_garden(p->seed))
                return 0;
        if (pipe(requests) < 0 || pipe(answers) < 0)
                return error_errno(err, errno, "pipe");
        k->pid = fork();
        if (k->pid == 0) {
                close(requests[1]);
                close(answers[0]);
                play_kept(p, requests[0], answers[1]);
        }
        close(requests[0]);
        close(answers[1]);
        k->requests = requests[1];
        k->answers = answers[0];
        return k->pid < 0 ? error_errno(err, errno, "fork") : 0;
}

static void keeper_close(struct keeper *k)
{
        int status;

        if (k->pid <= 0)
                return;
        close(k->requests);
        close(k->answers);
        (void)waitpid(k->pid, &status, 0);
        k->pid = 0;
}

static int keeper_try(const struct keeper *k, const struct run_plan *p, char ret[KIND_SIZE],
                      struct error *err)
{
        size_t n = p->n_moves * sizeof(*p->moves);

        if (write(k->requests, &p->n_moves, sizeof(p->n_moves)) != (ssize_t)sizeof(p->n_moves) ||
            write(k->requests, p->moves, n) != (ssize_t)n || !read_all(k->answers, ret, KIND_SIZE))
                return error_set(err, ERR_INTERNAL, "the process in which the members had joined has ended");
        return 0;
}

/* ---- leaving things out (delta debugging: ever smaller parts) ---- */

struct items {
        void *at;
        size_t *n, size;
};

static int fails_still(struct rest *r, bool *ret, struct error *err)
{
        char kind[KIND_SIZE];

        if (r->tries == 0) {
                *ret = false;
                return 0;
        }
        r->tries--;
        r->left->tries++;
        TRY(r->keeper.pid ? keeper_try(&r->keeper, &r->left->plan, kind, err)
                          : try_plan(&r->left->plan, kind, err));
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

/* What came after the failure had no part in it. */
static int take_apart(struct rest *r, const struct run_plan *plan, const struct run_result *first,
                      struct error *err)
{
        struct shrunk *left = r->left;

        left->moves = mem_calloc(first->n_begun + 1, sizeof(*left->moves));
        left->faults = mem_calloc(first->n_faults + 1, sizeof(*left->faults));
        if (!left->moves || !left->faults)
                return error_no_memory(err);
        if (first->n_begun > 0)
                memcpy(left->moves, plan->moves, first->n_begun * sizeof(*left->moves));
        if (first->n_faults > 0)
                memcpy(left->faults, first->faults, first->n_faults * sizeof(*left->faults));
        left->plan = *plan;
        left->plan.moves = left->moves;
        left->plan.n_moves = first->n_begun;
        left->plan.faults = left->faults;
        left->plan.n_faults = first->n_faults;
        left->plan.patience_ms = first->failed_ms + PATIENCE_MS;
        left->err = first->err;
        kind_of(first->err.text, r->kind);
        return 0;
}

static int shrink_moves(struct rest *r, struct items *moves, struct error *err)
{
        int code = keeper_open(&r->keeper, &r->left->plan, err);

        if (code == 0)
                code = shrink_list(r, moves, err);
        keeper_close(&r->keeper);
        return code;
}

static int make_small(struct rest *r, struct error *err)
{
        struct run_plan *plan = &r->left->plan;
        struct items moves = { r->left->moves, &plan->n_moves, sizeof(*r->left->moves) },
                     faults = { r->left->faults, &plan->n_faults, sizeof(*r->left->faults) };
        bool without = false;
        size_t before;

        TRY(leave_out(r, &faults, 0, plan->n_faults, &without, err));
        do {
                before = plan->n_moves + plan->n_faults;
                TRY(shrink_moves(r, &moves, err));
                TRY(shrink_list(r, &faults, err));
        } while (plan->n_moves + plan->n_faults < before && r->tries > 0);
        return 0;
}

int shrink_plan(const struct run_plan *plan, unsigned tries, struct shrunk *ret, struct error *err)
{
        struct coverage *coverage = mem_must(coverage_new());
        struct rest r = { .left = ret, .tries = tries };
        struct run_result first;
        int code;

        *ret = (struct shrunk){ 0 };
        if (run_play(plan, NULL, coverage, &first) < 0)
                code = take_apart(&r, plan, &first, err);
        else
                code = error_set(err, ERR_NOT_FOUND, "seed %llu passes: nothing to shrink",
                                 (unsigned long long)plan->seed);
        run_result_clear(&first);
        coverage_free(coverage);
        return code == 0 ? make_small(&r, err) : code;
}

void shrink_clear(struct shrunk *s)
{
        mem_free(s->moves);
        mem_free(s->faults);
        *s = (struct shrunk){ 0 };
}

/* ---- telling ---- */

/* Moves and faults tell themselves in the log. */
static bool is_of_player(const char *line)
{
        static const char *const words[] = { " INFO  move ", " INFO  fault ", " INFO  play", " INFO  peace",
                                             " INFO  rest" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (strstr(line, words[i]))
                        return true;
        return false;
}

static void tell_line(struct slice line)
{
        char text[1024];

        snprintf(text, sizeof(text), "%.*s", (int)line.len, line.data);
        if (is_of_player(text))
                printf("  %s\n", text);
}

static ssize_t keep(void *told, const char *data, size_t n)
{
        return buf_append(told, data, n) < 0 ? 0 : (ssize_t)n;
}

/* Plays what is left once more. */
static int tell(const struct shrunk *s, FILE *trace, struct error *err)
{
        struct coverage *coverage = mem_must(coverage_new());
        struct run_result last;
        AUTO_BUF struct buf told;
        FILE *to = fopencookie(&told, "w", (cookie_io_functions_t){ .write = keep });
        struct slice rest, line;
        int code;

        buf_init(&told, TOLD_MAX);
        if (!to)
                return error_errno(err, errno, "the lines of the run");
        code = run_play(&s->plan, to, coverage, &last);
        fclose(to);
        rest = (struct slice){ told.data, told.len };
        printf("left of seed %llu after %u tries: %zu moves, %zu message faults\n",
               (unsigned long long)s->plan.seed, s->tries, s->plan.n_moves, s->plan.n_faults);
        if (trace)
                fwrite(told.data, 1, told.len, trace);
        while (slice_cut(&rest, '\n', &line))
                tell_line(line);
        printf("%s\n", code < 0 ? last.err.text : "it passes now");
        run_result_clear(&last);
        coverage_free(coverage);
        return code < 0 ? 0 : error_set(err, ERR_NOT_FOUND, "what is left passes");
}

int shrink(const struct run_plan *plan, unsigned tries, FILE *trace, struct error *err)
{
        struct shrunk left;
        int code = shrink_plan(plan, tries, &left, err);

        if (code == 0) {
                printf("seed %llu: %s\n", (unsigned long long)plan->seed, left.err.text);
                code = tell(&left, trace, err);
        }
        shrink_clear(&left);
        return code;
}
