#include "e2e/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "e2e/scenarios/process_fleet.h"

#define PROC_FILE_MAX 65536

void bench_line(double value, const char *unit, const char *name, ...)
{
        va_list ap;
        printf("bench ");
        va_start(ap, name);
        vprintf(name, ap);
        va_end(ap);
        printf(" %.*f %s\n", value < 100 && value != (double)(int64_t)value ? 2 : 0, value, unit);
        fflush(stdout);
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

double bench_percentile(double *at, size_t n, unsigned percent)
{
        if (!n)
                return 0;
        qsort(at, n, sizeof(*at), compare_doubles);
        size_t rank = (n * percent + 99) / 100;
        return at[rank ? rank - 1 : 0];
}

/* ---- processes ---- */

/* Kilobytes of a line like "Private_Dirty:   116 kB"; 0 if there is none. */
static double rollup_kb(const char *text, const char *name)
{
        const char *at = strstr(text, name);
        int64_t kb = 0;
        if (!at)
                return 0;
        struct slice value = { at + strlen(name), strcspn(at + strlen(name), "k\n") };
        return slice_parse_i64(slice_trim(value), &kb) ? (double)kb : 0;
}

int bench_usage(struct world *w, int pid, struct bench_usage *ret, struct error *err)
{
        char path[64];
        AUTO_FREE char *rollup = NULL, *sched = NULL, *status = NULL;
        size_t n;
        snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
        TRY(w->files->read(w->ctx, path, PROC_FILE_MAX, &rollup, &n, err));
        snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
        TRY(w->files->read(w->ctx, path, PROC_FILE_MAX, &sched, &n, err));
        snprintf(path, sizeof(path), "/proc/%d/status", pid);
        TRY(w->files->read(w->ctx, path, PROC_FILE_MAX, &status, &n, err));
        int64_t ns = 0;
        struct slice first = { sched, strcspn(sched, " ") };
        if (!slice_parse_i64(first, &ns))
                return error_set(err, ERR_SYSTEM, "%s: not as expected", path);
        ret->rss_mb = rollup_kb(rollup, "\nRss:") / 1024;
        ret->private_mb = (rollup_kb(rollup, "Private_Clean:") + rollup_kb(rollup, "Private_Dirty:")) / 1024;
        ret->peak_rss_mb = rollup_kb(status, "VmHWM:") / 1024;
        ret->cpu_ns = ns;
        return 0;
}

/* User and system time of all threads: fields 14 and 15 of /proc/PID/stat, counted from behind the program's
 * name, which may have spaces. */
static int read_cpu(struct world *w, int pid, int64_t *ret_ns, struct error *err)
{
        char path[64];
        AUTO_FREE char *stat = NULL;
        const char *at;
        long long user = 0, system = 0;
        size_t n;

        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        TRY(w->files->read(w->ctx, path, PROC_FILE_MAX, &stat, &n, err));
        at = strrchr(stat, ')');
        if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user, &system) != 2)
                return error_set(err, ERR_SYSTEM, "%s: not as expected", path);
        *ret_ns = (user + system) * (1000000000LL / sysconf(_SC_CLK_TCK));
        return 0;
}

int bench_usage_below(struct world *w, int pid, struct bench_usage *ret, struct error *err)
{
        char path[64];
        AUTO_FREE char *children = NULL;
        struct slice rest, head;
        size_t n;

        *ret = (struct bench_usage){ 0 };
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
        TRY(w->files->read(w->ctx, path, PROC_FILE_MAX, &children, &n, err));
        for (rest = slice_trim((struct slice){ children, n }); rest.len;) {
                struct bench_usage one;
                int64_t child, ns = 0;

                slice_cut(&rest, ' ', &head);
                if (!slice_parse_i64(head, &child))
                        return error_set(err, ERR_SYSTEM, "%s: not as expected", path);
                TRY(bench_usage(w, (int)child, &one, err));
                TRY(read_cpu(w, (int)child, &ns, err));
                ret->rss_mb += one.rss_mb;
                ret->private_mb += one.private_mb;
                ret->cpu_ns += ns;
        }
        return 0;
}

/* ---- requests ---- */

int bench_send(struct kube_client *k, const char *method, const char *path, const char *body,
               struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response answer;

        if (!path || !body)
                return error_no_memory(err);
        return kube_raw(k, method, path,
                        text_equal(method, "PATCH") ? "application/merge-patch+json" : "application/json",
                        slice_of(body), &arena, &answer, err);
}

int bench_reset_requests(struct kube_client *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;
        return kube_raw(k, "POST", "/devcluster/requests/reset", NULL, (struct slice){ 0 }, &arena, &r, err);
}

int bench_requests(struct kube_client *k, json_t **ret_items, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = NULL;
        struct http_response r;
        TRY(kube_raw(k, "GET", "/devcluster/requests", NULL, (struct slice){ 0 }, &arena, &r, err));
        TRY(doc_parse(r.body, &doc, err));
        *ret_items = json_incref(json_object_get(doc, "items"));
        return 0;
}

bool bench_is_write(const char *verb)
{
        static const char *const writes[] = { "create", "update", "patch", "delete", "deletecollection" };
        return text_in(verb, writes, ARRAY_LEN(writes));
}

bool bench_is_sign_of_life(const char *resource)
{
        static const char *const alive[] = { "leases", "internalmemberclusters/status",
                                             "memberclusters/status" };
        return text_in(resource, alive, ARRAY_LEN(alive));
}

double bench_count(const json_t *items, const char *verb, const char *resource)
{
        double sum = 0;
        size_t i;
        json_t *item;
        json_array_foreach((json_t *)items, i, item)
                if ((!verb || text_equal(doc_get_string(item, "verb"), verb)) &&
                    (!resource || text_equal(doc_get_string(item, "resource"), resource)))
                        sum += (double)doc_get_int(item, "count", 0);
        return sum;
}

/* ---- running ---- */

struct bench_fiber {
        struct bench *bench;
        struct error err;
};

static void run_body(void *ctx)
{
        struct bench_fiber *f = ctx;
        struct bench *b = f->bench;
        b->world.transport = http_transport_curl(&b->world, &f->err);
        b->code = b->world.transport ? b->world.files->make_directory(b->world.ctx, b->scratch, &f->err) : -1;
        if (b->code == 0)
                b->code = b->body(b, &f->err);
        http_transport_free(b->world.transport);
        if (b->code < 0)
                fprintf(stderr, "%s: %s\n", error_code_name(b->code), f->err.text);
}

static int count_words(const char *text)
{
        int n = 0;
        for (; *(text += strspn(text, " ")); text += strcspn(text, " "))
                n++;
        return n;
}

int bench_main(int argc, char **argv, const char *name, int (*body)(struct bench *b, struct error *err))
{
        return bench_main_with(argc, argv, name, "", body);
}

int bench_main_with(int argc, char **argv, const char *name, const char *more,
                    int (*body)(struct bench *b, struct error *err))
{
        struct bench b = { .body = body, .more = argv + 3 };
        struct bench_fiber f = { .bench = &b };
        if (argc != 3 + count_words(more)) {
                fprintf(stderr, "usage: %s PROGRAMS SCRATCH%s%s\n", name, *more ? " " : "", more);
                return 2;
        }
        b.programs = argv[1];
        b.scratch = argv[2];
        mem_hook_libraries();
        b.loop = mem_must(loop_new_real(NULL));
        b.log_sink = log_sink_stderr(LOG_TEXT, LOG_ERROR);
        world_init_real(&b.world, b.loop, b.log_sink);
        b.group = mem_must(fiber_group_new(b.loop, NULL, "bench"));
        mem_must(fiber_spawn(b.group, "bench", run_body, &f));
        if (loop_run(b.loop, &f.err) < 0)
                b.code = -1;
        fiber_group_end(b.group);
        loop_free(b.loop);
        return b.code < 0 ? 1 : 0;
}

int bench_fleet_open(struct bench *b, unsigned members, struct fleet **ret, struct error *err)
{
        const struct process_fleet_options o = { .loop = b->loop,
                                                 .log_sink = b->log_sink,
                                                 .programs = b->programs,
                                                 .scratch = b->scratch,
                                                 .members = members,
                                                 .as_installed = true,
                                                 .direct = true };
        return process_fleet_open(&o, ret, err);
}
