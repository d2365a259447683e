#include "e2e/devcluster/routes.h"

#include "e2e/devcluster/internal.h"

#define SEGMENTS_MAX 12

struct segments {
        const char *at[SEGMENTS_MAX];
        size_t n;
};

static void route_unref(void *value)
{
        struct route *t = value;
        if (t && --t->refs == 0)
                mem_free(t);
}

/* ---- reading a path ---- */

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes s, unescaped and ended, at `out`; returns what follows. */
static char *unescape(char *out, struct slice s)
{
        for (size_t i = 0; i < s.len; i++) {
                int high = i + 2 < s.len && s.data[i] == '%' ? hex_digit(s.data[i + 1]) : -1;
                int low = high >= 0 ? hex_digit(s.data[i + 2]) : -1;
                if (low >= 0) {
                        *out++ = (char)(high * 16 + low);
                        i += 2;
                } else {
                        *out++ = s.data[i];
                }
        }
        *out = '\0';
        return out + 1;
}

/* It would cut the segment, so that another one is asked for than is said. */
static bool has_escaped_nul(struct slice s)
{
        return memmem(s.data, s.len, "%00", 3) != NULL;
}

/* The parts go to `text`, which has room for the path. */
static int split_path(struct request *rq, const char *path, char *text, struct segments *ret)
{
        struct slice rest = slice_of(path), head;
        while (rest.len) {
                (void)slice_cut(&rest, '/', &head);
                if (!head.len)
                        continue;
                if (ret->n == SEGMENTS_MAX)
                        return request_fail_no_path(rq);
                if (has_escaped_nul(head))
                        return request_fail_bad(rq, "a NUL in the path");
                ret->at[ret->n++] = text;
                text = unescape(text, head);
        }
        return 0;
}

/* /clusters/NAME/... ; *ret is what follows. */
static int find_cluster(struct request *rq, const char *path, const char **ret)
{
        static const char prefix[] = "/clusters/";
        if (!text_starts_with(path, prefix))
                return request_fail_no_path(rq);
        const char *name = path + strlen(prefix), *slash = strchr(name, '/');
        size_t n = slash ? (size_t)(slash - name) : strlen(name);
        rq->cluster = map_get_n(api_store_clusters(rq->devcluster->store), name, n);
        if (!rq->cluster)
                return request_fail(rq, 404, "NotFound", "no logical cluster \"%.*s\"", (int)n, name);
        *ret = slash ? slash : "/";
        return 0;
}

static bool is_namespace_part(const char *s)
{
        return strcmp(s, "status") == 0 || strcmp(s, "finalize") == 0;
}

/* Fills ns, plural, name, subresource from behind /api/v1 or /apis/g/v. */
static void read_resource(struct route *t, const char *const *at, size_t n)
{
        if (n >= 2 && strcmp(at[0], "watch") == 0) {
                t->watch = true;
                at++;
                n--;
        }
        if (n >= 3 && strcmp(at[0], "namespaces") == 0 && !is_namespace_part(at[2])) {
                t->ns = at[1];
                at += 2;
                n -= 2;
        }
        t->plural = at[0];
        t->name = n > 1 ? at[1] : NULL;
        t->subresource = n > 2 ? at[2] : NULL;
}

static void read_parts(struct route *t)
{
        if (t->n >= 3 && strcmp(t->at[0], "api") == 0) {
                t->group = "";
                t->version = t->at[1];
                read_resource(t, t->at + 2, t->n - 2);
        } else if (t->n >= 4 && strcmp(t->at[0], "apis") == 0) {
                t->group = t->at[1];
                t->version = t->at[2];
                read_resource(t, t->at + 3, t->n - 3);
        }
}

/* One block: the route, its path, the parts' texts and where they are. */
static int route_new(struct request *rq, const char *path, struct route **ret)
{
        const char *below = "/";
        struct segments s = { 0 };
        size_t n = strlen(path) + 1;
        TRY(find_cluster(rq, path, &below));
        struct route *t = mem_zalloc(sizeof(*t) + sizeof(s.at) + 2 * n + 1);
        if (!t)
                return request_fail_memory(rq);
        const char **at = (const char **)(t + 1);
        char *copy = (char *)(at + SEGMENTS_MAX);
        memcpy(copy, path, n);
        int r = split_path(rq, below, copy + n, &s);
        if (r < 0) {
                mem_free(t);
                return r;
        }
        memcpy(at, s.at, s.n * sizeof(*at));
        t->refs = 1;
        t->path = copy;
        t->below = strcmp(below, "/") == 0 ? "/" : copy + (below - path);
        t->at = at;
        t->n = s.n;
        t->cluster = rq->cluster;
        read_parts(t);
        *ret = t;
        return 0;
}

/* ---- keeping them ---- */

static struct routes *routes_of(struct devcluster *d)
{
        if (!d->routes) {
                d->routes = NEW(struct routes);
                if (!d->routes)
                        return NULL;
                map_init(&d->routes->now, MAP_BORROW_KEYS, route_unref);
                map_init(&d->routes->before, MAP_BORROW_KEYS, route_unref);
        }
        return d->routes;
}

void routes_free(struct devcluster *d)
{
        if (d->routes) {
                map_free(&d->routes->now);
                map_free(&d->routes->before);
        }
        mem_free(d->routes);
        d->routes = NULL;
}

/* Without memory it is simply not kept. */
static void keep(struct routes *all, struct route *t)
{
        if (strlen(t->path) > ROUTE_PATH_MAX)
                return;
        if (map_count(&all->now) >= ROUTES_MAX) {
                map_free(&all->before);
                all->before = all->now;
                map_init(&all->now, MAP_BORROW_KEYS, route_unref);
        }
        if (map_put(&all->now, t->path, t) == 0)
                t->refs++;
}

/* The one of a cluster that is gone is none: another may have its name. */
static struct route *find(struct routes *all, const char *path)
{
        struct route *t = map_get(&all->now, path);
        if (!t) {
                t = map_take(&all->before, path);
                if (!t)
                        return NULL;
                keep(all, t);
                route_unref(t); /* of before */
                t = map_get(&all->now, path);
        }
        return t && !t->cluster->deleted ? t : NULL;
}

int route_take(struct request *rq)
{
        struct routes *all = routes_of(rq->devcluster);
        struct route *t = all ? find(all, rq->x->path) : NULL;
        if (!all)
                return request_fail_memory(rq);
        if (t) {
                t->refs++;
        } else {
                TRY(route_new(rq, rq->x->path, &t));
                keep(all, t);
        }
        if (arena_defer(rq->arena, route_unref, t) < 0)
                return request_fail_memory(rq);
        rq->route = t;
        rq->cluster = t->cluster;
        rq->path = t->below;
        rq->group = t->group;
        rq->version = t->version;
        rq->ns = t->ns;
        rq->plural = t->plural;
        rq->name = t->name;
        rq->subresource = t->subresource;
        rq->watch_path = t->watch;
        return 0;
}

struct route_verb *route_verb(struct request *rq)
{
        struct route *t = rq->route;
        if (!t)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(t->verbs); i++)
                if (t->verbs[i].verb && strcmp(t->verbs[i].verb, rq->verb) == 0)
                        return &t->verbs[i];
        struct route_verb *v = &t->verbs[t->oldest];
        t->oldest = (t->oldest + 1) % ARRAY_LEN(t->verbs);
        *v = (struct route_verb){ .verb = rq->verb };
        return v;
}
