/* Workloads and their containers. */
#include "hub-agent/manifest-generation/update/workload.h"

#include "hub-agent/manifest-generation/update/words.h"

#define CHART_IMAGE "chart-image" /* the name of an image at the top of a HelmRelease's values */

/* A way into a document that grows and shrinks with what is looked at. */
struct way {
        struct doc_step steps[8];
        size_t n;
};

struct reading {
        struct arena *arena;
        struct workload_container *at;
        size_t n, cap;
        struct error *err;
};

static void go_in(struct way *w, const char *key)
{
        ASSERT(w->n < ARRAY_LEN(w->steps));
        w->steps[w->n++] = (struct doc_step){ key, 0 };
}

static int keep_place(struct reading *r, const struct way *w, const char *key, struct doc_place *ret)
{
        struct doc_step *steps = ARENA_NEW_ARRAY(r->arena, struct doc_step, w->n + 1);

        if (!steps)
                return error_no_memory(r->err);
        memcpy(steps, w->steps, w->n * sizeof(*steps));
        steps[w->n] = (struct doc_step){ key, 0 };
        *ret = (struct doc_place){ steps, w->n + 1 };
        return 0;
}

static int add(struct reading *r, const struct workload_container *c)
{
        struct workload_container *at;

        if (r->n == WORKLOAD_CONTAINERS_MAX)
                return error_set(r->err, ERR_LIMIT, "a workload has more than %d containers",
                                 WORKLOAD_CONTAINERS_MAX);
        at = words_grow(r->arena, r->at, r->n, &r->cap, sizeof(*at));
        if (!at)
                return error_no_memory(r->err);
        r->at = at;
        r->at[r->n++] = *c;
        return 0;
}

/* The container is told with what is wrong with it. */
static int add_bad(struct reading *r, struct workload_container *c, const char *words)
{
        const char *place = doc_place_text(r->arena, &c->place);

        c->image = (struct image_ref){ "", "", "", "", "", "" };
        c->problem = place ? arena_printf(r->arena, "%s: %s", place, words) : NULL;
        return c->problem ? add(r, c) : error_no_memory(r->err);
}

/* Reads its image; one that is none is the container's problem. */
static int add_image(struct reading *r, struct workload_container *c, const char *text)
{
        struct error why;
        int code = image_ref_parse(r->arena, text, &c->image, &why);

        if (code == ERR_NO_MEMORY)
                return error_no_memory(r->err);
        return code < 0 ? add_bad(r, c, why.text) : add(r, c);
}

/* ---- pods ---- */

static int read_container(struct reading *r, const struct way *w, const json_t *container, bool init)
{
        const char *name = doc_get_string(container, "name"), *image = doc_get_string(container, "image");
        struct workload_container c = { .name = or_empty(name), .init = init };

        TRY(keep_place(r, w, "image", &c.place));
        if (text_empty(name))
                return add_bad(r, &c, "the container has no name");
        return text_empty(image) ? add_bad(r, &c, "must be an image, as a string") : add_image(r, &c, image);
}

static int read_containers(struct reading *r, const struct way *pod, const json_t *spec, const char *key)
{
        json_t *container;
        size_t i;

        json_array_foreach(json_object_get(spec, key), i, container) {
                struct way w = *pod;

                go_in(&w, key);
                w.steps[w.n++] = (struct doc_step){ NULL, i };
                TRY(read_container(r, &w, container, strcmp(key, "initContainers") == 0));
        }
        return 0;
}

static const json_t *go_to_pod(const json_t *doc, bool cron_job, struct way *w)
{
        static const char *const keys[] = { "spec", "jobTemplate", "spec", "template", "spec" };
        const json_t *at = doc;

        for (size_t i = cron_job ? 0 : 2; i < ARRAY_LEN(keys); i++) {
                go_in(w, keys[i]);
                at = json_object_get(at, keys[i]);
        }
        return at;
}

static int read_pod(struct reading *r, const json_t *doc, bool cron_job)
{
        struct way w = { 0 };
        const json_t *spec = go_to_pod(doc, cron_job, &w);

        TRY(read_containers(r, &w, spec, "containers"));
        return read_containers(r, &w, spec, "initContainers");
}

/* ---- values of a HelmRelease ---- */

struct image_parts {
        const json_t *holder;   /* has the keys below */
        const char *repository; /* the key of the name */
        struct way way;         /* to the holder */
};

/* The image by all its parts. */
static int join(struct reading *r, const struct image_parts *p, const char *tag, struct workload_container *c)
{
        const char *registry = doc_get_string(p->holder, "registry");
        const char *name = json_string_value(json_object_get(p->holder, p->repository)), *text;

        c->n_registry = text_empty(registry) ? 0 : strlen(registry) + 1;
        text = arena_printf(r->arena, "%s%s%s%s%s", or_empty(registry), c->n_registry ? "/" : "", name,
                            *tag ? ":" : "", tag);
        return text ? add_image(r, c, text) : error_no_memory(r->err);
}

/* A tag or a digest that stands in the name itself. */
static bool has_own_tag(const char *name)
{
        const char *slash = strrchr(name, '/');

        return strpbrk(slash ? slash : name, ":@") != NULL;
}

static int read_parts(struct reading *r, const struct image_parts *p, const char *container)
{
        const char *name = json_string_value(json_object_get(p->holder, p->repository));
        const json_t *tag = json_object_get(p->holder, "tag");
        struct workload_container c = { .name = container };
        char number[24];

        c.tag_alone = !has_own_tag(name) && (tag || strcmp(p->repository, "repository") == 0);
        TRY(keep_place(r, &p->way, c.tag_alone ? "tag" : p->repository, &c.place));
        if (!c.tag_alone || !tag || json_is_null(tag))
                return join(r, p, "", &c);
        if (json_is_string(tag))
                return join(r, p, json_string_value(tag), &c);
        if (!json_is_integer(tag))
                return add_bad(r, &c, "must be a string");
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(tag));
        return join(r, p, number, &c);
}

/* `image` of the values or of one of their members. */
static int read_holder(struct reading *r, const json_t *holder, const struct way *way, const char *container)
{
        const json_t *image = json_object_get(holder, "image");
        struct image_parts p = { holder, "image", *way };

        if (json_is_object(image)) {
                p = (struct image_parts){ image, "repository", *way };
                go_in(&p.way, "image");
        }
        return text_empty(json_string_value(json_object_get(p.holder, p.repository)))
                       ? 0
                       : read_parts(r, &p, container);
}

static int read_values(struct reading *r, const json_t *doc)
{
        const json_t *values = doc_get_object(doc, "spec.values");
        struct way w = { .n = 0 };
        size_t n = json_object_size(values), i = 0;
        const char **keys = ARENA_NEW_ARRAY(r->arena, const char *, n + 1), *key;
        json_t *value;

        if (!keys)
                return error_no_memory(r->err);
        json_object_foreach((json_t *)values, key, value)
                keys[i++] = key;
        qsort(keys, n, sizeof(*keys), words_compare);
        go_in(&w, "spec");
        go_in(&w, "values");
        TRY(read_holder(r, values, &w, CHART_IMAGE));
        for (i = 0; i < n; i++) {
                struct way below = w;

                go_in(&below, keys[i]);
                value = json_object_get(values, keys[i]);
                if (json_is_object(value) && strcmp(keys[i], "image") != 0)
                        TRY(read_holder(r, value, &below, keys[i]));
        }
        return 0;
}

/* ---- all of them ---- */

static bool is_of_pods(const char *kind)
{
        static const char *const kinds[] = { "DaemonSet", "Deployment", "StatefulSet", "CronJob" };

        return text_in(kind, kinds, ARRAY_LEN(kinds));
}

bool workload_is_kind(const char *kind)
{
        return kind && (is_of_pods(kind) || strcmp(kind, "HelmRelease") == 0);
}

int workload_read(struct arena *arena, const char *id, const json_t *doc, struct workload_view *ret,
                  struct error *err)
{
        const char *kind = doc_get_string(doc, "kind");
        struct reading r = { .arena = arena, .err = err };

        if (!workload_is_kind(kind))
                return error_set(err, ERR_UNSUPPORTED, "resource %s does not have containers", id);
        if (is_of_pods(kind))
                TRY(read_pod(&r, doc, strcmp(kind, "CronJob") == 0));
        else
                TRY(read_values(&r, doc));
        *ret = (struct workload_view){ r.at, r.n };
        return 0;
}

const struct workload_container *workload_find(const struct workload_view *w, const char *container)
{
        for (size_t i = 0; i < w->n; i++)
                if (strcmp(w->containers[i].name, container) == 0)
                        return &w->containers[i];
        return NULL;
}

const char *workload_image_text(struct arena *arena, const struct workload_container *c, const char *tag)
{
        const char *text = c->tag_alone ? tag : image_with_tag(arena, &c->image, tag);

        return text && !c->tag_alone ? text + c->n_registry : text;
}

/* ---- credentials ---- */

int workload_credentials(struct arena *arena, const json_t *doc, struct workload_credentials *ret,
                         struct error *err)
{
        const char *kind = or_empty(doc_get_string(doc, "kind")), *account;
        bool of_pods = is_of_pods(kind);
        struct way w = { 0 };
        const json_t *spec = of_pods ? go_to_pod(doc, strcmp(kind, "CronJob") == 0, &w)
                                     : doc_get_object(doc, "spec.values");
        const json_t *list = json_object_get(spec, "imagePullSecrets");
        const char **secrets = ARENA_NEW_ARRAY(arena, const char *, json_array_size(list) + 1);
        size_t n = 0, i;
        json_t *item;

        if (!secrets)
                return error_no_memory(err);
        json_array_foreach((json_t *)list, i, item)
                if (!text_empty(doc_get_string(item, "name")))
                        secrets[n++] = doc_get_string(item, "name");
        account = of_pods ? doc_get_string(spec, "serviceAccountName") : NULL;
        if (of_pods && text_empty(account))
                account = doc_get_string(spec, "serviceAccount");
        *ret = (struct workload_credentials){ secrets, n, text_empty(account) ? "default" : account };
        return 0;
}

/* ---- identities ---- */

int workload_id_parse(struct arena *arena, const char *text, struct workload_id *ret, struct error *err)
{
        struct slice name = slice_of(text), ns, kind;
        const char *quoted;

        if (slice_cut(&name, ':', &ns) && slice_cut(&name, '/', &kind) && ns.len && kind.len && name.len &&
            !memchr(name.data, '/', name.len)) {
                *ret = (struct workload_id){ words_slice(arena, ns), words_slice(arena, kind),
                                             words_slice(arena, name) };
                return ret->ns && ret->kind && ret->name ? 0 : error_no_memory(err);
        }
        quoted = words_quote(arena, text);
        if (!quoted)
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "invalid workload identity %s: must be <namespace>:<kind>/<name>",
                         quoted);
}
