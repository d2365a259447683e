/* What the benchmark programs share: lines of results, percentiles, what a process uses. */
#pragma once

#include "common/json/doc.h"
#include "e2e/scenarios/fleet.h"

/* `bench NAME VALUE UNIT`; name is a format. */
void bench_line(double value, const char *unit, const char *name, ...) PRINTF_LIKE(3, 4);

/* The value below which `percent` of n values lie (nearest rank); sorts them. 0 if n is 0. */
double bench_percentile(double *at, size_t n, unsigned percent);

struct bench_usage {
        double rss_mb, private_mb; /* 2^20 bytes; private: clean and dirty pages of nobody else */
        double peak_rss_mb;        /* since it began */
        int64_t cpu_ns;            /* of its main thread, where the loop runs */
};
int bench_usage(struct world *w, int pid, struct bench_usage *ret, struct error *err);
/* Of a process's children together, all their threads; peak_rss_mb is 0. */
int bench_usage_below(struct world *w, int pid, struct bench_usage *ret, struct error *err);

/* A JSON document as text, PATCH as a merge patch. NULL for path or body: there was no memory for them. */
int bench_send(struct kube_client *k, const char *method, const char *path, const char *body,
               struct error *err);

/* Requests a cluster has answered since the last reset, by verb and resource. */
int bench_reset_requests(struct kube_client *k, struct error *err);
int bench_requests(struct kube_client *k, json_t **ret_items, struct error *err);
bool bench_is_write(const char *verb);
/* Writes that are the sign of life the contract asks for, as against writes that should not be. */
bool bench_is_sign_of_life(const char *resource);
/* Of one verb and resource; NULL = all. */
double bench_count(const json_t *items, const char *verb, const char *resource);

struct bench {
        struct loop *loop;
        struct world world; /* with a transport */
        const struct log_sink *log_sink;
        struct fiber_group *group;
        const char *programs, *scratch;
        char **more; /* arguments behind these */
        int (*body)(struct bench *b, struct error *err);
        int code;
};
/* `NAME PROGRAMS SCRATCH`: runs body in a fiber on a real loop. The program's exit code: 0; 1 with the error
 * on stderr; 2 = bad arguments. */
int bench_main(int argc, char **argv, const char *name, int (*body)(struct bench *b, struct error *err));
/* The same with as many arguments more as there are words in `more`, which says what they are. */
int bench_main_with(int argc, char **argv, const char *name, const char *more,
                    int (*body)(struct bench *b, struct error *err));
/* A fleet of programs with the intervals that the charts set, as they speak to each other in production. */
int bench_fleet_open(struct bench *b, unsigned members, struct fleet **ret, struct error *err);
