#include "hub-agent/source/helm_access.h"

#include "hub-agent/source/credentials.h"

#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS 1800000

/* ---- Secrets ---- */

static int told(struct source_pass *p, int code)
{
        return code < 0 ? source_fails(p, &failing_login) : 0;
}

static int read_user(struct source_pass *p, const struct helm_repository_spec *spec,
                     const struct registry_place *place, struct source_login *ret)
{
        struct reconcile *rc = p->rc;
        struct secret s;
        bool any = false;

        if (!spec->secret_ref)
                return 0;
        TRY(source_read_secret(p, or_empty(spec->secret_ref->name), "authentication", &s));
        if (place)
                return told(p, source_login_registry(&s, place->host, place->path, rc->arena, ret, rc->err));
        TRY(told(p, source_login_http(&s, rc->arena, ret, rc->err)));
        if (spec->cert_secret_ref)
                return 0;
        TRY(told(p, source_login_old_tls(&s, rc->arena, &any, ret, rc->err)));
        if (any)
                log_warn(&rc->log, "TLS keys in spec.secretRef are deprecated: use spec.certSecretRef",
                         "secret", s.name);
        return 0;
}

static int read_tls(struct source_pass *p, const struct helm_repository_spec *spec, struct source_login *ret)
{
        struct secret s;

        if (!spec->cert_secret_ref)
                return 0;
        TRY(source_read_secret(p, or_empty(spec->cert_secret_ref->name), "TLS authentication", &s));
        return told(p, source_login_tls(&s, p->rc->arena, ret, p->rc->err));
}

static int open_access(struct source_pass *p, const struct helm_repository_spec *spec,
                       const struct registry_place *place, struct helm_access *ret)
{
        struct reconcile *rc = p->rc;
        struct source_login login = { 0 };
        int64_t timeout_ms = MIN(source_duration_ms(spec->timeout, TIMEOUT_MS), (int64_t)TIMEOUT_MAX_MS);

        TRY(read_user(p, spec, place, &login));
        TRY(read_tls(p, spec, &login));
        *ret = (struct helm_access){ .transfer = { .world = rc->kube->world,
                                                   .arena = rc->arena,
                                                   .ca_pem = login.ca_pem,
                                                   .cert_pem = login.cert_pem,
                                                   .key_pem = login.key_pem,
                                                   .denied = p->sources->options->denied,
                                                   .deadline_ms =
                                                           loop_now_ms(rc->kube->world->loop) + timeout_ms },
                                     .login = { login.username, login.password },
                                     .timeout_ms = timeout_ms };
        return 0;
}

int helm_access_open(struct source_pass *p, const struct helm_repository_spec *spec, struct helm_access *ret)
{
        TRY(open_access(p, spec, NULL, ret));
        if (!ret->login.username)
                return 0;
        ret->authorization = transfer_basic(p->rc->arena, ret->login.username, ret->login.password);
        return ret->authorization ? 0 : error_no_memory(p->rc->err);
}

int helm_access_open_registry(struct source_pass *p, const struct helm_repository_spec *spec,
                              const struct registry_place *place, struct helm_access *ret)
{
        return open_access(p, spec, place, ret);
}

bool helm_is_login_error(const struct error *err)
{
        return err->code == ERR_UNAUTHORIZED || err->http_status == 401 || err->http_status == 403;
}

/* ---- addresses ---- */

int helm_index_url(struct arena *arena, const char *repository, const char **ret, struct error *err)
{
        struct web_url u;
        size_t n;

        TRY(web_url_parse(repository, arena, &u, err));
        for (n = strlen(u.path); n > 0 && u.path[n - 1] == '/';)
                n--;
        *ret = arena_printf(arena, "%s%.*s/index.yaml%s%s", u.origin, (int)n, u.path, *u.query ? "?" : "",
                            u.query);
        return *ret ? 0 : error_no_memory(err);
}
