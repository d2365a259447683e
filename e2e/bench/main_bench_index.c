/* What a chart repository's index of 50 MB costs: made into what is kept of it, and one chart looked up.
 * Prints `bench NAME VALUE UNIT` lines. Usage: bench_index */
#include <sys/resource.h>

#include "common/base/memory.h"
#include "common/loop/loop.h"
#include "e2e/bench/bench.h"
#include "hub-agent/source/index/convert.h"
#include "hub-agent/source/index/lookup.h"

enum { INDEX_BYTES = 50 << 20, VERSIONS = 100 /* of each chart */ };

/* An entry as charts of the usual repositories have it: some 650 bytes. */
static void write_entry(struct buf *b, unsigned chart, unsigned version, bool json)
{
        buf_printf(
                b,
                json ? "{\"apiVersion\":\"v2\",\"appVersion\":\"1.%2$u.0\",\"created\":\"2026-01-01T00:00:00."
                       "123Z\","
                       "\"description\":\"Deploys something for somebody, in some words that are of the "
                       "usual "
                       "length.\",\"digest\":\"%3$064x\",\"home\":\"https://example.com/chart-%1$u\","
                       "\"keywords\":[\"a\",\"b\",\"c\"],\"maintainers\":[{\"email\":\"x@example.com\","
                       "\"name\":\"x\"}],"
                       "\"name\":\"chart-%1$u\",\"sources\":[\"https://git.example.com/"
                       "chart-%1$u\"],\"urls\":["
                       "\"https://example.com/charts/chart-%1$u-1.%2$u.0.tgz\"],\"version\":\"1.%2$u.0\"}"
                     : "  - apiVersion: v2\n    appVersion: \"1.%2$u.0\"\n    created: "
                       "\"2026-01-01T00:00:00.123Z\"\n"
                       "    description: Deploys something for somebody, in some words that are of the usual "
                       "length.\n    digest: \"%3$064x\"\n    home: https://example.com/chart-%1$u\n    "
                       "keywords:\n"
                       "    - a\n    - b\n    - c\n    maintainers:\n    - email: x@example.com\n      name: "
                       "x\n"
                       "    name: chart-%1$u\n    sources:\n    - https://git.example.com/chart-%1$u\n    "
                       "urls:\n"
                       "    - https://example.com/charts/chart-%1$u-1.%2$u.0.tgz\n    version: 1.%2$u.0\n",
                chart, version, chart * VERSIONS + version);
}

static void write_index(struct buf *b, bool json)
{
        buf_append_str(b, json ? "{\"apiVersion\":\"v1\",\"entries\":{" : "apiVersion: v1\nentries:\n");
        for (unsigned chart = 0; b->len < INDEX_BYTES; chart++) {
                buf_printf(b, json ? "%s\"chart-%u\":[" : "%s  chart-%u:\n", json && chart ? "," : "", chart);
                for (unsigned v = 0; v < VERSIONS; v++) {
                        buf_append_str(b, json && v ? "," : "");
                        write_entry(b, chart, v, json);
                }
                buf_append_str(b, json ? "]" : "");
        }
        buf_append_str(b, json ? "}}" : "");
}

static long peak_kib(void)
{
        struct rusage u;

        getrusage(RUSAGE_SELF, &u);
        return u.ru_maxrss;
}

static int keep(void *ctx, const void *data, size_t n, struct error *err)
{
        return buf_append(ctx, data, n) < 0 ? error_no_memory(err) : 0;
}

static int read_kept(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        const struct buf *b = ctx;

        *ret_n = MIN(n, b->len - MIN(b->len, (size_t)offset));
        memcpy(ret, b->data + offset, *ret_n);
        return 0;
}

static int look_up(struct loop *l, struct buf *kept, const char *name, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct index_source source = { read_kept, kept };
        struct chart_version *at;
        int64_t began_us = loop_now_us(l);
        size_t n;

        TRY(index_lookup(&arena, &source, 0, name, &at, &n, err));
        if (n != VERSIONS)
                return error_set(err, ERR_INVALID, "%s has %zu versions", name, n);
        bench_line((double)(loop_now_us(l) - began_us) / 1e3, "ms", "helm_index_50mb_lookup_ms");
        return 0;
}

static int measure(struct loop *l, bool json, struct error *err)
{
        AUTO_BUF struct buf text, kept;
        const struct index_sink sink = { keep, &kept };
        struct index_summary sum;

        buf_init(&text, 2u * INDEX_BYTES);
        buf_init(&kept, 2u * INDEX_BYTES);
        write_index(&text, json);
        TRY(buf_status(&text, err, "the index"));
        /* What the sink keeps is none of the conversion's: its pages are there before. */
        TRY(buf_append(&kept, text.data, text.len));
        buf_clear(&kept);
        long before = peak_kib();
        int64_t began_us = loop_now_us(l);

        TRY(index_convert((struct slice){ text.data, text.len }, &sink, &sum, err));
        bench_line((double)(loop_now_us(l) - began_us) / 1e3, "ms", "helm_index_50mb%s_ms",
                   json ? "_json" : "");
        bench_line((double)(peak_kib() - before) / 1024, "MiB", "helm_index_50mb%s_peak_mb",
                   json ? "_json" : "");
        if (sum.entries != sum.names * VERSIONS || sum.dropped)
                return error_set(err, ERR_INVALID, "%zu of %zu entries are left", sum.entries,
                                 sum.names * VERSIONS);
        return look_up(l, &kept, "chart-99", err);
}

int main(void)
{
        struct error err = { 0 };
        mem_hook_libraries();
        struct loop *l = loop_new_real(&err);
        int code = l ? measure(l, true, &err) : err.code;

        if (code == 0)
                code = measure(l, false, &err);
        if (code < 0)
                (void)fprintf(stderr, "bench_index: %s\n", err.text);
        loop_free(l);
        return code < 0;
}
