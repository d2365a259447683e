/* Dependencies of a chart's folder that are in repositories elsewhere: each of them is looked into once for a
 * chart. spec/helm-chart.md 6.3 step 3. */
#include "common/base/vec.h"
#include "hub-agent/source/helm_chart.h"
#include "hub-agent/source/helm_download.h"
#include "hub-agent/source/index/convert.h"
#include "hub-agent/source/index/lookup.h"
#include "hub-agent/source/index_access.h"

/* ---- repositories ---- */

/* One that dependencies name. */
struct remote {
        const char *url; /* without slashes at its end */
        const struct helm_repository *lender;
        struct helm_repository_spec spec; /* the lender's, or what anybody may ask with */
        struct volume_writer *fetched;    /* an index as it came, */
        struct volume_writer *converted;  /* and as it is looked into */
        struct slice text;                /* of `converted` */
};

struct remotes {
        struct chart_pass *chart;
        bool hub_fails; /* it is not a repository that failed */
        VEC(struct remote *) at;
};

static void remotes_free(struct remotes *r)
{
        for (size_t i = 0; i < r->at.n; i++) {
                r->at.at[i]->fetched = volume_abandon(r->at.at[i]->fetched);
                r->at.at[i]->converted = volume_abandon(r->at.at[i]->converted);
        }
        vec_free(&r->at);
}

static const char *normalise(struct arena *arena, const char *url)
{
        size_t n = strlen(url);

        while (n > 0 && url[n - 1] == '/')
                n--;
        return arena_strndup(arena, url, n);
}

static bool lends(const struct source_pass *p, const struct helm_repository *r, const char *url)
{
        size_t n = strlen(url);

        return text_equal(r->object.meta.ns, p->rc->ns) && r->spec && !is_deleting(&r->object) &&
               source_is_watched(p->sources->options, &r->object) && text_starts_with(r->spec->url, url) &&
               strspn(r->spec->url + n, "/") == strlen(r->spec->url + n) &&
               text_equal(r->spec->type, "oci") == text_starts_with(url, "oci://");
}

/* Of several, the first by name. */
static int find_lender(struct source_pass *p, struct remote *r)
{
        struct object_list all;

        TRY(cache_list(p->rc, &helm_repository_kind, &all));
        for (size_t i = 0; i < all.n; i++) {
                const struct helm_repository *one = (const struct helm_repository *)all.at[i];

                if (lends(p, one, r->url) &&
                    (!r->lender || strcmp(one->object.meta.name, r->lender->object.meta.name) < 0))
                        r->lender = one;
        }
        if (r->lender)
                r->spec = *r->lender->spec;
        return 0;
}

/* What was told of a Secret is what the repository fails at. */
static int by_hub(struct remotes *all, int code)
{
        if (code < 0 && !all->chart->pass->failure.reason)
                all->hub_fails = true;
        return code;
}

static int find_remote(struct remotes *all, const char *repository, struct remote **ret)
{
        struct reconcile *rc = all->chart->pass->rc;
        const char *url = normalise(rc->arena, repository);
        struct remote *r = ARENA_NEW(rc->arena, struct remote);

        if (!url || !r)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < all->at.n; i++)
                if (text_equal(all->at.at[i]->url, url)) {
                        *ret = all->at.at[i];
                        return 0;
                }
        r->url = url;
        r->spec.url = url;
        TRY(by_hub(all, find_lender(all->chart->pass, r)));
        if (vec_push(&all->at, r) < 0)
                return error_no_memory(rc->err);
        *ret = r;
        return 0;
}

/* ---- indexes ---- */

static int read_converted(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        const struct remote *r = ctx;

        *ret_n = offset < r->text.len ? MIN(n, r->text.len - (size_t)offset) : 0;
        memcpy(ret, r->text.data + (*ret_n ? offset : 0), *ret_n);
        return 0;
}

static int append(void *ctx, const void *data, size_t n, struct error *err)
{
        return volume_append(ctx, data, n, err);
}

static int fetch_index(struct remotes *all, struct remote *r)
{
        struct source_pass *p = all->chart->pass;
        struct reconcile *rc = p->rc;
        struct transfer_call c = { .max_body = p->sources->options->index_bytes };
        const struct transfer_sink sink = { append, r->fetched };
        struct http_response answer;
        struct helm_access access;
        const char *shown;
        int code;

        TRY(helm_index_url(rc->arena, r->spec.url, &c.url, rc->err));
        TRY(by_hub(all, helm_access_open(p, &r->spec, &access)));
        c.secret = (struct http_header){ "Authorization", access.authorization };
        shown = web_url_public(c.url, rc->arena);
        if (!shown)
                return error_no_memory(rc->err);
        code = transfer_fetch(&access.transfer, &c, &sink, &answer, rc->err);
        if (code == ERR_LIMIT)
                return error_set(rc->err, code, "index exceeds the maximum index file size of %zu bytes",
                                 c.max_body);
        if (code < 0)
                return error_wrap(rc->err, "failed to fetch %s ", shown), code;
        if (answer.status != 200)
                return error_set(rc->err, ERR_RETRY, "failed to fetch %s : %d %s", shown, answer.status,
                                 http_status_text(answer.status));
        return 0;
}

struct conversion {
        struct slice text;
        struct volume_writer *into;
        struct index_summary summary;
        struct error err;
        int code;
};

static void convert(void *ctx)
{
        struct conversion *c = ctx;
        const struct index_sink sink = { append, c->into };

        c->code = index_convert(c->text, &sink, &c->summary, &c->err);
}

static int convert_index(struct source_pass *p, struct remote *r)
{
        struct reconcile *rc = p->rc;
        struct conversion c = { .into = r->converted };

        TRY(volume_written(r->fetched, &c.text, rc->err));
        TRY(offload(rc->kube->world->loop, convert, &c, rc->err));
        if (c.code < 0) {
                *rc->err = c.err;
                return error_wrap(rc->err, "failed to load index"), c.code;
        }
        return volume_written(r->converted, &r->text, rc->err);
}

static int open_index(struct remotes *all, struct remote *r)
{
        struct source_pass *p = all->chart->pass;
        struct volume *volume = p->sources->store.volume;
        const char *path = artifact_path(p->rc->arena, p->now, "index.yaml");

        if (r->text.data)
                return 0;
        if (!path)
                return error_no_memory(p->rc->err);
        TRY(volume_create(volume, path, &r->fetched, p->rc->err));
        TRY(volume_create(volume, path, &r->converted, p->rc->err));
        TRY(fetch_index(all, r));
        return convert_index(p, r);
}

struct lookup {
        struct arena *arena;
        struct index_source index;
        const char *name;
        struct chart_version *found;
        size_t n;
        struct error err;
        int code;
};

static void look_up(void *ctx)
{
        struct lookup *l = ctx;

        l->code = index_lookup(l->arena, &l->index, 0, l->name, &l->found, &l->n, &l->err);
}

static int look_into_fetched(struct remotes *all, struct remote *r, const char *name,
                             struct chart_version **ret, size_t *ret_n)
{
        struct reconcile *rc = all->chart->pass->rc;
        struct lookup l = { .arena = rc->arena, .index = { read_converted, r }, .name = name };

        TRY(open_index(all, r));
        TRY(offload(rc->kube->world->loop, look_up, &l, rc->err));
        if (l.code < 0) {
                *rc->err = l.err;
                return l.code;
        }
        *ret = l.found;
        *ret_n = l.n;
        return 0;
}

/* What the lender keeps, where it keeps one by now. */
static int find_versions(struct remotes *all, struct remote *r, const char *name, struct chart_version **ret,
                         size_t *ret_n)
{
        const struct source_status *s = r->lender ? r->lender->status : NULL;

        if (s && s->artifact)
                return index_versions(all->chart->pass, &r->lender->object, s->artifact, name, ret, ret_n);
        return look_into_fetched(all, r, name, ret, ret_n);
}

/* ---- charts ---- */

static int get_by_index(struct remotes *all, struct remote *r, const struct chart_dependency *d,
                        struct slice *ret)
{
        struct source_pass *p = all->chart->pass;
        struct error *err = p->rc->err;
        const struct chart_version *v;
        struct chart_version *found = NULL;
        struct helm_access access;
        size_t n = 0;
        int code;

        TRY(find_versions(all, r, d->name, &found, &n));
        if (n == 0)
                return error_set(err, ERR_NOT_FOUND, "no chart name found");
        code = select_version(found, n, d->version, &v, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, code, "no '%s' chart with version matching '%s' found", d->name,
                                 text_empty(d->version) ? "*" : d->version);
        TRY(code);
        TRY(by_hub(all, helm_access_open(p, &r->spec, &access)));
        return helm_download(p, &r->spec, &access, d->name, v, ret);
}

static int get_from_registry(struct remotes *all, struct remote *r, const struct chart_dependency *d,
                             struct slice *ret)
{
        struct reconcile *rc = all->chart->pass->rc;
        const char *url = arena_printf(rc->arena, "%s/%s", r->url, d->name), *version, *digest;
        struct registry_place place;
        struct helm_registry h;

        if (!url)
                return error_no_memory(rc->err);
        TRY(registry_place_parse(url, rc->arena, &place, rc->err));
        TRY(by_hub(all, helm_registry_open(all->chart->pass, &r->spec, url, &place, &h)));
        TRY(helm_registry_version(&h, d->name, d->version, &version));
        TRY(helm_registry_resolve(&h, version, &digest));
        return helm_registry_pull(&h, d->name, version, digest, ret);
}

static int get(struct remotes *all, const struct chart_dependency *d, struct slice *ret)
{
        struct source_pass *p = all->chart->pass;
        enum dependency_place place;
        struct remote *r = NULL;

        TRY(dependency_place(d, &place, p->rc->err));
        TRY(find_remote(all, d->repository, &r));
        return place == DEPENDENCY_OCI ? get_from_registry(all, r, d, ret) : get_by_index(all, r, d, ret);
}

struct adding {
        struct chart_build *build;
        const struct chart_dependency *dependency;
        struct slice archive;
        struct error err;
        int code;
};

static void add(void *ctx)
{
        struct adding *a = ctx;

        a->code = chart_add_remote(a->build->arena, a->archive, a->dependency, a->build->file_bytes,
                                   &a->build->chart, &a->err);
}

/* Whatever was told of the repository's Secrets, it is the chart that cannot be built. */
static int fails(struct source_pass *p)
{
        p->failure = (struct source_failure){ 0 };
        return source_fails(p, &failing_dependency);
}

static int not_got(struct source_pass *p, const struct chart_dependency *d, int code)
{
        const char *shown = web_url_public(d->repository, p->rc->arena);

        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY || !shown)
                return shown ? code : error_no_memory(p->rc->err);
        error_wrap(p->rc->err,
                   "failed to add remote dependency '%s': failed to get chart '%s' version '%s' from '%s'",
                   d->name, d->name, text_empty(d->version) ? "*" : d->version, shown);
        return fails(p);
}

static int add_one(struct remotes *all, const struct chart_dependency *d)
{
        struct source_pass *p = all->chart->pass;
        struct adding a = { .build = &all->chart->build, .dependency = d };
        int code = get(all, d, &a.archive);

        if (code < 0)
                return all->hub_fails ? code : not_got(p, d, code);
        TRY(offload(p->rc->kube->world->loop, add, &a, p->rc->err));
        if (a.code == 0)
                return 0;
        *p->rc->err = a.err;
        return fails(p);
}

int chart_add_missing(struct chart_pass *c, const struct dependency_list *missing)
{
        CLEANUP(remotes_free) struct remotes all = { .chart = c };

        for (size_t i = 0; i < missing->n; i++)
                TRY(add_one(&all, &missing->at[i]));
        return 0;
}
