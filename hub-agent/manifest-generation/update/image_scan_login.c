/* As whom a repository is read. spec/flux-yaml.md 10.3. */
#include "hub-agent/manifest-generation/update/image_scan_internal.h"

#define CONFIGS_MAX 1000 /* of one repository */

struct finding {
        struct scan_run *run;
        struct scanned_repository *repository;
        const json_t **configs;
        size_t n;
        struct map *seen; /* "namespace/name" of Secrets and "account namespace/name" */
        struct error *err;
};

/* Whether this is the first time; a failure is ERR_NO_MEMORY. */
static int is_new(struct finding *f, const char *what, const char *ns, const char *name)
{
        const char *key = arena_printf(f->run->arena, "%s %s/%s", what, ns, name);

        if (!key)
                return error_no_memory(f->err);
        if (map_has(f->seen, key))
                return 0;
        return map_put(f->seen, key, f) < 0 ? error_no_memory(f->err) : 1;
}

/* The cluster's own way with Secrets that are not there or of no use: the others count. */
static int pass_over(struct finding *f, const char *ns, const char *name, int code, const struct error *why)
{
        if (code == ERR_NO_MEMORY)
                return error_no_memory(f->err);
        if (code == ERR_CANCELLED)
                return error_set(f->err, code, "cancelled");
        f->repository->secrets_problem =
                arena_printf(f->run->arena, "credentials %s/%s cannot be used: %s", ns, name,
                             code == ERR_NOT_FOUND ? "not found" : why->text);
        return f->repository->secrets_problem ? 0 : error_no_memory(f->err);
}

/* What a run was told of an object: repositories have Secrets in common. */
struct found_object {
        const json_t *doc;
        int code;
        const char *why;
};

static int ask_for(struct scan_run *run, const char *kind, const char *ns, const char *name,
                   struct found_object *ret, struct error *err)
{
        const struct image_secrets *secrets = &run->scan->options.secrets;

        ret->code = secrets->find(secrets->ctx, kind, ns, name, run->arena, &ret->doc, err);
        if (ret->code == 0 || ret->code == ERR_NO_MEMORY || ret->code == ERR_CANCELLED)
                return ret->code;
        ret->why = arena_strdup(run->arena, err->text);
        return ret->why ? 0 : error_no_memory(err);
}

static int find_object(struct finding *f, const char *kind, const char *ns, const char *name,
                       const json_t **ret, struct error *why)
{
        struct scan_run *run = f->run;
        const char *key = arena_printf(run->arena, "%s %s/%s", kind, ns, name);
        struct found_object *o = key ? map_get(run->found, key) : NULL;

        if (!o) {
                o = ARENA_NEW(run->arena, struct found_object);
                if (!key || !o)
                        return error_no_memory(why);
                TRY(ask_for(run, kind, ns, name, o, why));
                if (map_put(run->found, key, o) < 0)
                        return error_no_memory(why);
        }
        *ret = o->doc;
        return o->code < 0 ? error_set(why, (enum error_code)o->code, "%s", o->why) : 0;
}

static int add_secret(struct finding *f, const char *ns, const char *name)
{
        const char *full = arena_printf(f->run->arena, "%s/%s", ns, name);
        struct secret secret = { .name = full };
        const json_t *config = NULL;
        struct error why = { 0 };
        int code = is_new(f, "secret", ns, name);

        if (code <= 0 || f->n == CONFIGS_MAX)
                return code < 0 ? code : 0;
        if (!full)
                return error_no_memory(f->err);
        code = find_object(f, "Secret", ns, name, &secret.doc, &why);
        if (code == 0)
                code = secret_take_docker_config(&secret, f->run->arena, &config, &why);
        if (code < 0)
                return pass_over(f, ns, name, code, &why);
        if (config)
                f->configs[f->n++] = config;
        return 0;
}

static int add_account(struct finding *f, const char *ns, const char *name)
{
        const json_t *account = NULL, *one;
        struct error why = { 0 };
        size_t i;
        int code = is_new(f, "account", ns, name);

        if (code <= 0)
                return code;
        code = find_object(f, "ServiceAccount", ns, name, &account, &why);
        if (code < 0)
                return pass_over(f, ns, name, code, &why);
        json_array_foreach(doc_get_array(account, "imagePullSecrets"), i, one)
                if (!text_empty(doc_get_string(one, "name")))
                        TRY(add_secret(f, ns, doc_get_string(one, "name")));
        return 0;
}

static int add_workload(struct finding *f, const struct update_object *object)
{
        const char *ns = doc_get_string(object->doc, "metadata.namespace");
        struct workload_credentials c;

        if (text_empty(ns))
                return 0;
        TRY(workload_credentials(f->run->arena, object->doc, &c, f->err));
        for (size_t i = 0; i < c.n; i++)
                TRY(add_secret(f, ns, c.secrets[i]));
        return add_account(f, ns, c.service_account);
}

int scan_find_login(struct scan_run *run, struct scanned_repository *r, struct error *err)
{
        const struct image_scan_options *o = &run->scan->options;
        struct finding f = { .run = run,
                             .repository = r,
                             .configs = ARENA_NEW_ARRAY(run->arena, const json_t *, CONFIGS_MAX + 1),
                             .seen = map_of_arena(run->arena),
                             .err = err };
        struct error why = { 0 };
        int code;

        if (!f.configs || !f.seen)
                return error_no_memory(err);
        for (size_t i = 0; i < r->n_candidates && o->secrets.find; i++)
                TRY(add_workload(&f, r->candidates[i]->object));
        if (o->docker_config) {
                const json_t *auths = doc_get_object(o->docker_config, "auths");

                f.configs[f.n++] = auths ? auths : o->docker_config;
        }
        code = docker_config_find(f.configs, f.n, r->place.host, r->place.path, run->arena, &r->login, &why);
        if (code == 0 || code == ERR_NO_MEMORY)
                return code == 0 ? 0 : error_no_memory(err);
        r->secrets_problem = arena_strdup(run->arena, why.text);
        return r->secrets_problem ? 0 : error_no_memory(err);
}
