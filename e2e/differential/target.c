#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "e2e/differential/differential.h"

static void free_endpoint(void *p)
{
        http_endpoint_free(p);
        mem_free(p);
}

int target_open(struct target *t, struct error *err)
{
        const char *at;

        map_init(&t->identities, MAP_OWN_KEYS, free_endpoint);
        TRY(kube_config_load(t->world, t->kubeconfig, t->context, &t->config, err));
        mem_free(t->config.endpoint.user_agent);
        t->config.endpoint.user_agent = mem_strdup("differential/v1");
        at = strstr(t->config.endpoint.base_url, "://");
        t->host = at ? at + 3 : t->config.endpoint.base_url;
        return cert_new_key(&t->key_pem, err);
}

void target_close(struct target *t)
{
        map_free(&t->identities);
        kube_config_free(&t->config);
        mem_free(t->key_pem);
}

static int decode_certificate(const char *base64, char **ret, struct error *err)
{
        AUTO_FREE char *pem = mem_zalloc(LIMIT_CERT_BYTES);
        size_t n;

        if (!pem)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(base64), pem, LIMIT_CERT_BYTES - 1, &n, false) < 0)
                return error_set(err, ERR_INVALID, "as: cert: is not base64");
        *ret = TAKE_PTR(pem);
        return 0;
}

static int set_identity(struct target *t, const char *as, struct http_endpoint *e, struct error *err)
{
        if (text_starts_with(as, "token:")) {
                e->bearer_token = mem_strdup(as + strlen("token:"));
                return e->bearer_token ? 0 : error_no_memory(err);
        }
        if (text_starts_with(as, "cert:")) {
                e->client_key_pem = mem_strdup(t->key_pem);
                return decode_certificate(as + strlen("cert:"), &e->client_cert_pem, err);
        }
        if (text_equal(as, "anonymous"))
                return 0;
        return error_set(err, ERR_INVALID, "as: %.40s: must be token:, cert: or anonymous", as);
}

int target_identity(struct target *t, const char *as, const struct http_endpoint **ret, struct error *err)
{
        const struct http_endpoint *admin = &t->config.endpoint;
        struct http_endpoint *e =
                text_empty(as) ? (struct http_endpoint *)admin : map_get(&t->identities, as);
        int code;

        if (e) {
                *ret = e;
                return 0;
        }
        e = NEW(struct http_endpoint);
        if (!e)
                return error_no_memory(err);
        e->base_url = mem_strdup(admin->base_url);
        e->ca_pem = admin->ca_pem ? mem_strdup(admin->ca_pem) : NULL;
        e->insecure_skip_verify = admin->insecure_skip_verify;
        e->user_agent = mem_strdup("differential/v1");
        code = set_identity(t, as, e, err);
        if (code == 0 && (!e->base_url || map_put(&t->identities, as, e) < 0))
                code = error_no_memory(err);
        if (code < 0) {
                free_endpoint(e);
                return code;
        }
        *ret = e;
        return 0;
}
