/* Secrets of providers: one GET each, in the provider's own namespace. spec/resource-set.md 22.3. */
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/input-provider/secrets.h"

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };

/* The document lives as long as the reconcile. */
static int read(struct reconcile *rc, const struct kube_resource *r, const char *name, json_t **ret)
{
        json_t *doc = NULL;
        int code = kube_doc_get(rc->kube, r, rc->ns, name, &doc, rc->err);

        if (code < 0) {
                error_wrap(rc->err, "failed to read %s '%s/%s'", r == &secrets ? "secret" : "service account",
                           rc->ns, name);
                return code;
        }
        *ret = doc;
        return doc_keep(rc->arena, doc, rc->err);
}

static int read_secret(struct reconcile *rc, const char *name, struct secret *ret)
{
        json_t *doc = NULL;

        TRY(read(rc, &secrets, name, &doc));
        *ret = (struct secret){ arena_printf(rc->arena, "%s/%s", rc->ns, name), doc };
        return ret->name ? 0 : error_no_memory(rc->err);
}

static int add_config(struct reconcile *rc, const char *name, const json_t **room, size_t *n)
{
        struct secret s;

        TRY(read_secret(rc, name, &s));
        return secret_docker_config(&s, rc->arena, room, n, rc->err);
}

/* The named Secret's, then those by which pods of the account pull. */
static int read_docker_configs(struct reconcile *rc, const struct input_provider_spec *spec, struct source *s)
{
        json_t *account = NULL, *pull = NULL, *one;
        const json_t **room;
        size_t i;

        if (!text_empty(spec->service_account_name)) {
                TRY(read(rc, &accounts, spec->service_account_name, &account));
                pull = doc_get_array(account, "imagePullSecrets");
        }
        room = ARENA_NEW_ARRAY(rc->arena, const json_t *, json_array_size(pull) + 2);
        if (!room)
                return error_no_memory(rc->err);
        if (spec->secret_ref)
                TRY(add_config(rc, or_empty(spec->secret_ref->name), room, &s->credentials.n_docker_configs));
        json_array_foreach(pull, i, one)
                if (!text_empty(doc_get_string(one, "name")))
                        TRY(add_config(rc, doc_get_string(one, "name"), room,
                                       &s->credentials.n_docker_configs));
        s->credentials.docker_configs = room;
        return 0;
}

static int read_credentials(struct reconcile *rc, const struct input_provider_spec *spec, struct source *s)
{
        struct secret secret;

        if (!spec->secret_ref)
                return 0;
        TRY(read_secret(rc, or_empty(spec->secret_ref->name), &secret));
        if (source_is_git(s->type))
                return secret_git(&secret, text_starts_with(s->type, "GitHub"), rc->arena, &s->credentials,
                                  rc->err);
        return secret_service(&secret, rc->arena, &s->credentials, rc->err);
}

int input_provider_read_secrets(struct reconcile *rc, const struct input_provider *p, struct source *s)
{
        bool registry = !source_is_git(s->type) && !text_equal(s->type, "ExternalService");
        struct secret tls;

        TRY(registry ? read_docker_configs(rc, p->spec, s) : read_credentials(rc, p->spec, s));
        if (!p->spec->cert_secret_ref)
                return 0;
        TRY(read_secret(rc, or_empty(p->spec->cert_secret_ref->name), &tls));
        return secret_tls(&tls, rc->arena, &s->credentials, rc->err);
}
