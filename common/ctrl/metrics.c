/* Metrics registry. Series are kept in a map per family, keyed by their label values joined with a byte that
 * cannot occur in UTF-8 text. */
#include "common/ctrl/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/map.h"
#include "common/base/memory.h"

#define SERIES_SEPARATOR '\xff'
#define SERIES_KEY_MAX 4096
#define LABELS_MAX 9

struct metric_series {
        const struct metric_family *family;
        double value;      /* counter or gauge; sum of a histogram */
        uint64_t count;    /* histogram */
        uint64_t bucket[]; /* histogram: one for each bound, not cumulative */
};

struct metric {
        struct metrics *owner;
        const struct metric_family *family;
        size_t n_labels;
        struct map series;
};

struct metrics {
        struct metric_series *dropped; /* counts what did not fit; NULL in a table without it */
        struct list sources;
        enum metric_of agent;
        size_t n;
        struct metric all[];
};

static void metric_init(struct metrics *m, const struct metric_family *f, struct metric *ret)
{
        *ret = (struct metric){ .owner = m, .family = f };
        map_init(&ret->series, MAP_OWN_KEYS, mem_free);
        while (f->labels && f->labels[ret->n_labels])
                ret->n_labels++;
        ASSERT(ret->n_labels <= LABELS_MAX);
}

struct metrics *metrics_new_of(const struct metric_family *table, size_t n, enum metric_of agent)
{
        struct metrics *m = mem_zalloc(sizeof(*m) + n * sizeof(m->all[0]));

        if (!m)
                return NULL;
        m->agent = agent;
        m->n = n;
        list_init(&m->sources);
        for (size_t i = 0; i < n; i++) {
                metric_init(m, &table[i], &m->all[i]);
                if (table[i].type == METRIC_COUNTER && !table[i].labels)
                        metric_add(m, (unsigned)i, 0, NULL);
        }
        return m;
}

struct metrics *metrics_new(enum metric_of agent)
{
        struct metrics *m = metrics_new_of(metric_families, N_METRICS, agent);

        if (m && !(m->dropped = metric_series(m, METRIC_SERIES_DROPPED, NULL)))
                return metrics_free(m);
        return m;
}

struct metrics *metrics_free(struct metrics *m)
{
        if (!m)
                return NULL;
        for (size_t i = 0; i < m->n; i++)
                map_free(&m->all[i].series);
        while (!list_empty(&m->sources))
                list_remove(m->sources.next);
        mem_free(m);
        return NULL;
}

static bool is_kept(const struct metrics *m, const struct metric *one)
{
        return one->family->of & m->agent ||
               (m->agent == METRIC_OF_GENERATOR && one->family->of == METRIC_OF_BOTH);
}

static struct metric *find(const struct metrics *m, unsigned family)
{
        struct metric *one;

        if (!m)
                return NULL;
        ASSERT(family < m->n);
        one = (struct metric *)&m->all[family];
        return is_kept(m, one) ? one : NULL;
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

static struct metric_series *series_new(struct metric *m, const char *key, size_t n)
{
        bool full = map_count(&m->series) >= METRIC_SERIES_MAX;
        size_t size = sizeof(struct metric_series) + m->family->n_buckets * sizeof(uint64_t);
        struct metric_series *s = full ? NULL : mem_zalloc(size);

        if (s) {
                s->family = m->family;
                if (map_put_n(&m->series, key, n, s) == 0)
                        return s;
                mem_free(s);
        }
        series_add(m->owner->dropped, 1);
        return NULL;
}

static struct metric_series *series_at(struct metric *m, const char *const *values, bool create)
{
        char key[SERIES_KEY_MAX];
        struct metric_series *s;
        size_t n;

        if (!m)
                return NULL;
        n = series_key(m, values, key);
        if (n == 0)
                return NULL;
        s = map_get_n(&m->series, key, n - 1);
        return s || !create ? s : series_new(m, key, n - 1);
}

struct metric_series *metric_series(struct metrics *m, unsigned family, const char *const *values)
{
        return series_at(find(m, family), values, true);
}

void series_add(struct metric_series *s, double by)
{
        if (s)
                s->value += by;
}

void series_set(struct metric_series *s, double value)
{
        if (s)
                s->value = value;
}

void series_observe(struct metric_series *s, double value)
{
        if (!s)
                return;
        s->value += value;
        s->count++;
        for (size_t i = 0; i < s->family->n_buckets; i++) {
                if (value <= s->family->buckets[i]) {
                        s->bucket[i]++;
                        return;
                }
        }
}

void metric_add(struct metrics *m, unsigned family, double by, const char *const *values)
{
        series_add(metric_series(m, family, values), by);
}

void metric_set(struct metrics *m, unsigned family, double value, const char *const *values)
{
        series_set(metric_series(m, family, values), value);
}

void metric_observe(struct metrics *m, unsigned family, double value, const char *const *values)
{
        series_observe(metric_series(m, family, values), value);
}

double metric_value(const struct metrics *m, unsigned family, const char *const *values)
{
        const struct metric_series *s = series_at(find(m, family), values, false);

        return s ? s->value : 0;
}

void metric_remove(struct metrics *m, unsigned family, const char *const *values)
{
        struct metric *one = find(m, family);
        char key[SERIES_KEY_MAX];

        if (one && series_key(one, values, key) > 0)
                map_remove(&one->series, key);
}

void metrics_add_source(struct metrics *m, struct metrics_source *source)
{
        list_append(&m->sources, &source->node);
}

void metrics_remove_source(struct metrics_source *source)
{
        list_remove(&source->node);
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

                buf_printf(b, "%s%s=\"", i ? "," : "", m->family->labels[i]);
                print_escaped(b, at, (size_t)(end - at));
                buf_append_char(b, '"');
                at = end + 1;
        }
        if (le)
                buf_printf(b, "%sle=\"%s\"", m->n_labels ? "," : "", le);
        buf_append_char(b, '}');
}

static void print_histogram(struct buf *b, const struct metric *m, const char *key,
                            const struct metric_series *s)
{
        uint64_t total = 0;

        for (size_t i = 0; i < m->family->n_buckets; i++) {
                char le[32];

                snprintf(le, sizeof(le), "%g", m->family->buckets[i]);
                total += s->bucket[i];
                buf_printf(b, "%s_bucket", m->family->name);
                print_labels(b, m, key, le);
                buf_printf(b, " %llu\n", (unsigned long long)total);
        }
        buf_printf(b, "%s_bucket", m->family->name);
        print_labels(b, m, key, "+Inf");
        buf_printf(b, " %llu\n%s_sum", (unsigned long long)s->count, m->family->name);
        print_labels(b, m, key, NULL);
        buf_append_char(b, ' ');
        print_number(b, s->value);
        buf_printf(b, "\n%s_count", m->family->name);
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
        buf_printf(b, "# HELP %s ", m->family->name);
        print_escaped(b, m->family->help, strlen(m->family->help));
        buf_printf(b, "\n# TYPE %s %s\n", m->family->name, type_names[m->family->type]);
        for (size_t i = 0; i < n; i++) {
                const struct metric_series *s = map_get(&m->series, keys[i]);

                if (m->family->type == METRIC_HISTOGRAM) {
                        print_histogram(b, m, keys[i], s);
                        continue;
                }
                buf_append_str(b, m->family->name);
                print_labels(b, m, keys[i], NULL);
                buf_append_char(b, ' ');
                print_number(b, s->value);
                buf_append_char(b, '\n');
        }
        return 0;
}

static int by_name(const void *a, const void *b)
{
        const struct metric *const *x = a, *const *y = b;

        return strcmp((*x)->family->name, (*y)->family->name);
}

int metrics_print(struct metrics *m, struct buf *b)
{
        AUTO_FREE const struct metric **sorted = mem_calloc(m->n + 1, sizeof(const struct metric *));
        size_t n = 0;

        if (!sorted)
                return ERR_NO_MEMORY;
        list_for_each(source, &m->sources, struct metrics_source, node)
                source->collect(source);
        for (size_t i = 0; i < m->n; i++)
                if (is_kept(m, &m->all[i]))
                        sorted[n++] = &m->all[i];
        qsort(sorted, n, sizeof(const struct metric *), by_name);
        for (size_t i = 0; i < n; i++)
                TRY(print_metric(sorted[i], b));
        return b->failed;
}
