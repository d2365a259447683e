/* Metrics registry. Series are kept in a map per metric, keyed by their label values joined with a byte that
 * cannot occur in UTF-8 text. */
#include "common/ctrl/metrics.h"

#include <math.h>

#include "common/base/map.h"
#include "common/base/memory.h"

#define SERIES_SEPARATOR '\xff'
#define SERIES_KEY_MAX 4096
#define LABELS_MAX 8

struct series {
        double value;     /* counter or gauge; sum of a histogram */
        uint64_t count;   /* histogram */
        uint64_t *bucket; /* histogram: n_buckets counters, not cumulative */
};

struct metric {
        struct metrics *owner;
        enum metric_type type;
        char *name, *help;
        const char *const *labels;
        size_t n_labels, n_buckets;
        const double *buckets;
        struct map series;
};

struct metrics {
        struct map metrics;
        uint64_t dropped;
};

static void series_free(void *p)
{
        struct series *s = p;

        mem_free(s->bucket);
        mem_free(s);
}

static void metric_free(void *p)
{
        struct metric *m = p;

        map_free(&m->series);
        mem_free(m->name);
        mem_free(m->help);
        mem_free(m);
}

struct metrics *metrics_new(void)
{
        struct metrics *m = NEW(struct metrics);

        if (m)
                map_init(&m->metrics, MAP_OWN_KEYS, metric_free);
        return m;
}

struct metrics *metrics_free(struct metrics *m)
{
        if (m) {
                map_free(&m->metrics);
                mem_free(m);
        }
        return NULL;
}

struct metric *metrics_register(struct metrics *m, enum metric_type type, const char *name, const char *help,
                                const char *const *labels, const double *buckets, size_t n_buckets)
{
        struct metric *metric = m ? map_get(&m->metrics, name) : NULL;

        if (metric || !m)
                return metric;
        metric = NEW(struct metric);
        if (!metric)
                return NULL;
        *metric = (struct metric){
                .owner = m, .type = type, .labels = labels, .buckets = buckets, .n_buckets = n_buckets
        };
        map_init(&metric->series, MAP_OWN_KEYS, series_free);
        while (labels && labels[metric->n_labels])
                metric->n_labels++;
        ASSERT(metric->n_labels <= LABELS_MAX);
        metric->name = mem_strdup(name);
        metric->help = mem_strdup(help);
        if (!metric->name || !metric->help || map_put(&m->metrics, name, metric) < 0) {
                metric_free(metric);
                return NULL;
        }
        return metric;
}

/* Joins label values into a key; 0 when it does not fit. */
static size_t series_key(const struct metric *m, const char *const *values, char key[SERIES_KEY_MAX])
{
        size_t at = 0;

        for (size_t i = 0; i < m->n_labels; i++) {
                const char *value = values && values[i] ? values[i] : "";
                size_t n = strlen(value);

                if (at + n + 2 > SERIES_KEY_MAX)
                        return 0;
                memcpy(key + at, value, n);
                at += n;
                key[at++] = SERIES_SEPARATOR;
        }
        key[at] = '\0';
        return at + 1;
}

static struct series *series_new(struct metric *m, const char *key, size_t n)
{
        struct series *s = map_count(&m->series) < METRIC_SERIES_MAX ? NEW(struct series) : NULL;

        if (s && m->n_buckets > 0) {
                s->bucket = mem_calloc(m->n_buckets, sizeof(*s->bucket));
                if (!s->bucket) {
                        series_free(s);
                        s = NULL;
                }
        }
        if (s && map_put_n(&m->series, key, n, s) < 0) {
                series_free(s);
                s = NULL;
        }
        if (!s)
                m->owner->dropped++;
        return s;
}

static struct series *series_at(struct metric *m, const char *const *values, bool create)
{
        char key[SERIES_KEY_MAX];
        struct series *s;
        size_t n;

        if (!m)
                return NULL;
        n = series_key(m, values, key);
        if (n == 0)
                return NULL;
        s = map_get_n(&m->series, key, n - 1);
        return s || !create ? s : series_new(m, key, n - 1);
}

void metric_add(struct metric *m, double by, const char *const *values)
{
        struct series *s = series_at(m, values, true);

        if (s)
                s->value += by;
}

void metric_set(struct metric *m, double value, const char *const *values)
{
        struct series *s = series_at(m, values, true);

        if (s)
                s->value = value;
}

void metric_observe(struct metric *m, double value, const char *const *values)
{
        struct series *s = series_at(m, values, true);

        if (!s)
                return;
        s->value += value;
        s->count++;
        for (size_t i = 0; i < m->n_buckets; i++) {
                if (value <= m->buckets[i]) {
                        s->bucket[i]++;
                        return;
                }
        }
}

double metric_value(const struct metric *m, const char *const *values)
{
        const struct series *s = series_at((struct metric *)m, values, false);

        return s ? s->value : 0;
}

void metric_remove(struct metric *m, const char *const *values)
{
        char key[SERIES_KEY_MAX];

        if (m && series_key(m, values, key) > 0)
                map_remove(&m->series, key);
}

/* ---- Prometheus text ---- */

static void print_escaped(struct buf *b, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '\n')
                        buf_append_str(b, "\\n");
                else if (s[i] == '"' || s[i] == '\\')
                        buf_printf(b, "\\%c", s[i]);
                else
                        buf_append_char(b, s[i]);
        }
}

static void print_number(struct buf *b, double v)
{
        if (isinf(v))
                buf_append_str(b, v > 0 ? "+Inf" : "-Inf");
        else
                buf_printf(b, "%.15g", v);
}

/* {a="x",b="y"} from a series key, with le="..." added for histogram buckets when le is not NULL. */
static void print_labels(struct buf *b, const struct metric *m, const char *key, const char *le)
{
        const char *at = key;

        if (m->n_labels == 0 && !le)
                return;
        buf_append_char(b, '{');
        for (size_t i = 0; i < m->n_labels; i++) {
                const char *end = strchr(at, SERIES_SEPARATOR);

                buf_printf(b, "%s%s=\"", i ? "," : "", m->labels[i]);
                print_escaped(b, at, (size_t)(end - at));
                buf_append_char(b, '"');
                at = end + 1;
        }
        if (le)
                buf_printf(b, "%sle=\"%s\"", m->n_labels ? "," : "", le);
        buf_append_char(b, '}');
}

static void print_histogram(struct buf *b, const struct metric *m, const char *key, const struct series *s)
{
        uint64_t total = 0;

        for (size_t i = 0; i < m->n_buckets; i++) {
                char le[32];

                snprintf(le, sizeof(le), "%g", m->buckets[i]);
                total += s->bucket[i];
                buf_printf(b, "%s_bucket", m->name);
                print_labels(b, m, key, le);
                buf_printf(b, " %llu\n", (unsigned long long)total);
        }
        buf_printf(b, "%s_bucket", m->name);
        print_labels(b, m, key, "+Inf");
        buf_printf(b, " %llu\n%s_sum", (unsigned long long)s->count, m->name);
        print_labels(b, m, key, NULL);
        buf_append_char(b, ' ');
        print_number(b, s->value);
        buf_printf(b, "\n%s_count", m->name);
        print_labels(b, m, key, NULL);
        buf_printf(b, " %llu\n", (unsigned long long)s->count);
}

static int print_metric(const struct metric *m, struct buf *b)
{
        static const char *const type_names[] = { "counter", "gauge", "histogram" };
        size_t n = 0;
        AUTO_FREE const char **keys = map_sorted_keys(&m->series, &n);

        if (!keys && map_count(&m->series) > 0)
                return ERR_NO_MEMORY;
        buf_printf(b, "# HELP %s ", m->name);
        print_escaped(b, m->help, strlen(m->help));
        buf_printf(b, "\n# TYPE %s %s\n", m->name, type_names[m->type]);
        for (size_t i = 0; i < n; i++) {
                const struct series *s = map_get(&m->series, keys[i]);

                if (m->type == METRIC_HISTOGRAM) {
                        print_histogram(b, m, keys[i], s);
                        continue;
                }
                buf_append_str(b, m->name);
                print_labels(b, m, keys[i], NULL);
                buf_append_char(b, ' ');
                print_number(b, s->value);
                buf_append_char(b, '\n');
        }
        return 0;
}

int metrics_print(const struct metrics *m, struct buf *b)
{
        size_t n = 0;
        AUTO_FREE const char **names = map_sorted_keys(&m->metrics, &n);

        if (!names && map_count(&m->metrics) > 0)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                TRY(print_metric(map_get(&m->metrics, names[i]), b));
        buf_printf(b,
                   "# HELP argosy_metric_series_dropped_total Series not kept because a metric was full.\n"
                   "# TYPE argosy_metric_series_dropped_total counter\nargosy_metric_series_dropped_total "
                   "%llu\n",
                   (unsigned long long)m->dropped);
        return b->failed;
}
