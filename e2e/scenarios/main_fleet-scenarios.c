/* Runs scenario files, each on a fresh fleet, and ends in `N passed, N failed`. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/scenarios/backend.h"

#define LOG_MAX (64u << 20)
#define LOG_TAIL 12000
#define OWN_SCRATCH "build/scenarios"

static const char help[] =
        "fleet-scenarios runs behaviours written as steps against a whole fleet.\n"
        "\n"
        "  fleet-scenarios [--backend simulation|processes|kubernetes] [--seed N] "
        "[--programs DIR] [--assets DIR] [--scratch DIR] [--shared DIR] [--log] FILE|DIR...\n"
        "\n"
        "  --backend    simulation (default): one process, virtual clock; processes: "
        "devcluster and the real agents; kubernetes:\n"
        "               the real agents on real API servers\n"
        "  --seed       order of events in the simulation (default 1)\n"
        "  --programs   folder of the programs for processes (default build/bin)\n"
        "  --assets     folder of real Kubernetes for kubernetes (e2e/kube/build "
        "prints it)\n"
        "  --scratch    empty folder for files of processes, one below it per scenario "
        "(default " OWN_SCRATCH ", emptied)\n"
        "  --shared     empty folder in which processes that are given the same files tell "
        "each other which of them are taken\n"
        "  --log        print what the agents said also when a scenario passes\n";

struct options {
        const char *programs, *assets, *scratch, *shared;
        struct process_session *session; /* NULL = simulation */
        bool processes, kubernetes, log;
        uint64_t seed;
        unsigned seen, passed, failed;
};

static int read_text(const char *path, char **ret, size_t *ret_len)
{
        FILE *f = fopen(path, "re");
        AUTO_FREE char *text = mem_alloc(LIMIT_YAML_BYTES + 1);
        size_t n;

        if (!f || !text) {
                if (f)
                        fclose(f);
                return ERR_SYSTEM;
        }
        n = fread(text, 1, LIMIT_YAML_BYTES, f);
        fclose(f);
        text[n] = '\0';
        *ret_len = n;
        *ret = TAKE_PTR(text);
        return 0;
}

static void print_tail(const struct buf *log)
{
        size_t from = log->len > LOG_TAIL ? log->len - LOG_TAIL : 0;

        printf("---- last of the log ----\n%s\n----\n", log->data + from);
}

static int run_scenario(struct options *o, const struct scenario *s, const char *scratch,
                        struct scenario_report *report, struct error *err)
{
        return o->session ? process_session_run(o->session, s, scratch, report, err)
                          : scenario_run_simulated(s, o->seed, report, err);
}

static void run_file(struct options *o, const char *path)
{
        AUTO_FREE char *text = NULL;
        struct scenario *s = NULL;
        struct scenario_report report = { 0 };
        struct error err;
        size_t n = 0;
        const char *slash = strrchr(path, '/');
        AUTO_FREE char *scratch = mem_printf("%s/%s", o->scratch, slash ? slash + 1 : path);
        int code;

        error_clear(&err);
        buf_init(&report.log, LOG_MAX);
        code = read_text(path, &text, &n);
        if (code < 0)
                error_set(&err, ERR_SYSTEM, "%s: cannot be read", path);
        if (code == 0)
                code = scenario_parse((struct slice){ text, n }, path, &s, &err);
        if (code == 0)
                code = run_scenario(o, s, scratch, &report, &err);
        printf("%s %s (%lld ms)\n", code < 0 ? "FAILED" : "ok", s ? s->name : path,
               (long long)report.took_ms);
        if (code < 0)
                printf("  %s\n", err.text);
        if (code < 0 || o->log)
                print_tail(&report.log);
        fflush(stdout);
        *(code < 0 ? &o->failed : &o->passed) += 1;
        buf_free(&report.log);
        scenario_free(s);
}

/* Whoever makes the mark of a file runs it: each process sees the same files in the same order. */
static bool is_mine(struct options *o)
{
        AUTO_FREE char *mark = mem_must(mem_printf("%s/%u", or_empty(o->shared), ++o->seen));
        int fd = o->shared ? open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

        if (fd >= 0)
                close(fd);
        return fd >= 0 || !o->shared || errno != EEXIST;
}

static void run_if_mine(struct options *o, const char *path)
{
        if (is_mine(o))
                run_file(o, path);
}

static void run_folder(struct options *o, const char *path, DIR *d)
{
        struct map names;
        struct dirent *e;
        size_t n;

        map_init(&names, MAP_OWN_KEYS, NULL);
        while ((e = readdir(d)))
                if (text_ends_with(e->d_name, ".yaml") && map_put(&names, e->d_name, o) < 0)
                        break;
        const char **sorted = mem_must(map_sorted_keys(&names, &n));
        for (size_t i = 0; i < n; i++) {
                char *file = mem_must(mem_printf("%s/%s", path, sorted[i]));

                run_if_mine(o, file);
                mem_free(file);
        }
        mem_free(sorted);
        map_free(&names);
}

static void run_path(struct options *o, const char *path)
{
        DIR *d = opendir(path);

        if (!d) {
                run_if_mine(o, path);
                return;
        }
        run_folder(o, path, d);
        closedir(d);
}

static bool read_backend(struct options *o, const char *name)
{
        o->kubernetes = text_equal(name, "kubernetes");
        o->processes = o->kubernetes || text_equal(name, "processes");
        return o->processes || text_equal(name, "simulation");
}

/* False on anything unknown or missing. */
static bool read_options(struct options *o, int argc, char **argv, bool *ret_help)
{
        static const struct option longs[] = {
                { "backend", 1, NULL, 'b' }, { "seed", 1, NULL, 's' },    { "programs", 1, NULL, 'p' },
                { "assets", 1, NULL, 'a' },  { "scratch", 1, NULL, 'd' }, { "shared", 1, NULL, 'm' },
                { "log", 0, NULL, 'l' },     { "help", 0, NULL, 'h' },    { 0 }
        };
        int c;

        while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
                if (c == 'b' && read_backend(o, optarg))
                        continue;
                if (c == 's' && text_parse_u64(optarg, &o->seed))
                        continue;
                if (c == 'p')
                        o->programs = optarg;
                else if (c == 'a')
                        o->assets = optarg;
                else if (c == 'd')
                        o->scratch = optarg;
                else if (c == 'm')
                        o->shared = optarg;
                else if (c == 'l')
                        o->log = true;
                else if (c == 'h')
                        return *ret_help = true;
                else
                        return false;
        }
        return optind < argc && o->kubernetes == (o->assets != NULL);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
        return remove(path);
}

/* What an earlier run left would be taken for this run's: its servers' addresses, its data. */
static int empty_scratch(const struct options *o, struct error *err)
{
        const struct dirent *entry;
        bool empty = true;
        DIR *dir;

        if (text_equal(o->scratch, OWN_SCRATCH))
                (void)nftw(o->scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        dir = opendir(o->scratch);
        if (!dir)
                return 0;
        while (empty && (entry = readdir(dir)))
                empty = text_equal(entry->d_name, ".") || text_equal(entry->d_name, "..");
        closedir(dir);
        return empty ? 0 : error_set(err, ERR_INVALID, "--scratch %s: the folder must be empty", o->scratch);
}

static int open_session(struct options *o)
{
        const struct process_session_options so = { o->programs, o->scratch, o->assets };
        struct error err = { 0 };

        if (!o->processes)
                return 0;
        if (empty_scratch(o, &err) == 0 && process_session_open(&so, &o->session, &err) == 0)
                return 0;
        printf("FAILED the API servers\n  %s\n", err.text);
        o->failed++;
        return -1;
}

int main(int argc, char **argv)
{
        struct options o = { .programs = "build/bin", .scratch = OWN_SCRATCH, .seed = 1 };
        bool wants_help = false;

        mem_hook_libraries();
        if (!read_options(&o, argc, argv, &wants_help) || wants_help) {
                fputs(help, wants_help ? stdout : stderr);
                return wants_help ? 0 : 2;
        }
        if (open_session(&o) == 0)
                for (int i = optind; i < argc; i++)
                        run_path(&o, argv[i]);
        process_session_close(o.session);
        printf("%u passed, %u failed\n", o.passed, o.failed);
        return o.failed > 0;
}
