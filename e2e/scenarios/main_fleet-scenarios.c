/* Runs scenario files, each on a fresh fleet, and ends in `N passed, N failed`. */
#include <dirent.h>
#include <getopt.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/scenarios/backend.h"

#define LOG_MAX (64u << 20)
#define LOG_TAIL 12000

static const char help[] = "fleet-scenarios runs behaviours written as steps against a whole fleet.\n"
                           "\n"
                           "  fleet-scenarios [--backend simulation|processes] [--seed N] [--programs DIR] "
                           "[--scratch DIR] [--log] FILE|DIR...\n"
                           "\n"
                           "  --backend    simulation (default): one process, virtual clock; processes: "
                           "devcluster and the real agents\n"
                           "  --seed       order of events in the simulation (default 1)\n"
                           "  --programs   folder of the programs for processes (default build/bin)\n"
                           "  --scratch    empty folder for files of processes, one below it per scenario "
                           "(default build/scenarios)\n"
                           "  --log        print what the agents said also when a scenario passes\n";

struct options {
        const char *programs, *scratch;
        bool processes, log;
        uint64_t seed;
        unsigned passed, failed;
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
                code = o->processes ? scenario_run_processes(s, o->programs, scratch, &report, &err)
                                    : scenario_run_simulated(s, o->seed, &report, &err);
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

                run_file(o, file);
                mem_free(file);
        }
        mem_free(sorted);
        map_free(&names);
}

static void run_path(struct options *o, const char *path)
{
        DIR *d = opendir(path);

        if (!d) {
                run_file(o, path);
                return;
        }
        run_folder(o, path, d);
        closedir(d);
}

int main(int argc, char **argv)
{
        static const struct option longs[] = { { "backend", 1, NULL, 'b' },
                                               { "seed", 1, NULL, 's' },
                                               { "programs", 1, NULL, 'p' },
                                               { "scratch", 1, NULL, 'd' },
                                               { "log", 0, NULL, 'l' },
                                               { "help", 0, NULL, 'h' },
                                               { 0 } };
        struct options o = { .programs = "build/bin", .scratch = "build/scenarios", .seed = 1 };
        int c;

        mem_hook_libraries();
        while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
                if (c == 'b' && (text_equal(optarg, "processes") || text_equal(optarg, "simulation")))
                        o.processes = text_equal(optarg, "processes");
                else if (c == 's' && text_parse_u64(optarg, &o.seed))
                        continue;
                else if (c == 'p')
                        o.programs = optarg;
                else if (c == 'd')
                        o.scratch = optarg;
                else if (c == 'l')
                        o.log = true;
                else {
                        fputs(help, c == 'h' ? stdout : stderr);
                        return c == 'h' ? 0 : 2;
                }
        }
        if (optind == argc) {
                fputs(help, stderr);
                return 2;
        }
        for (int i = optind; i < argc; i++)
                run_path(&o, argv[i]);
        printf("%u passed, %u failed\n", o.passed, o.failed);
        return o.failed > 0;
}
