/* How a Git repository is reached. spec/helm-chart.md 10. */
#include "hub-agent/source/credentials.h"
#include "hub-agent/source/git_source.h"

#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS 1800000

static int told(struct git_pass *g, int code)
{
        return code < 0 ? source_fails(g->pass, &failing_git_login) : 0;
}

static int read_login(struct git_pass *g, bool ssh, struct source_login *login)
{
        struct reconcile *rc = g->pass->rc;
        struct secret s;

        if (g->spec->secret_ref) {
                TRY(source_read_secret(g->pass, or_empty(g->spec->secret_ref->name), "authentication", &s));
                return told(g, source_login_git(&s, ssh, rc->arena, login, rc->err));
        }
        if (!ssh)
                return 0;
        error_set(rc->err, ERR_INVALID,
                  "an ssh URL needs spec.secretRef, of a Secret with 'identity' and "
                  "'known_hosts'");
        return told(g, ERR_INVALID);
}

static int read_proxy(struct git_pass *g, struct source_login *login)
{
        struct reconcile *rc = g->pass->rc;
        struct secret s;

        if (!g->spec->proxy_secret_ref)
                return 0;
        TRY(source_read_secret(g->pass, or_empty(g->spec->proxy_secret_ref->name), "proxy", &s));
        return told(g, source_login_proxy(&s, rc->arena, login, rc->err));
}

int git_access_open(struct git_pass *g)
{
        struct reconcile *rc = g->pass->rc;
        const struct source_options *o = g->pass->sources->options;
        struct source_login login = { 0 };
        int64_t timeout_ms = MIN(source_duration_ms(g->spec->timeout, TIMEOUT_MS), (int64_t)TIMEOUT_MAX_MS);

        TRY(read_login(g, text_starts_with(or_empty(g->spec->url), "ssh://"), &login));
        TRY(read_proxy(g, &login));
        g->access = (struct remote_access){ .world = rc->kube->world,
                                            .url = or_empty(g->spec->url),
                                            .username = login.username,
                                            .password = login.password,
                                            .bearer_token = login.bearer_token,
                                            .ca_pem = login.ca_pem,
                                            .cert_pem = login.cert_pem,
                                            .key_pem = login.key_pem,
                                            .proxy_url = login.proxy_url,
                                            .identity = login.identity,
                                            .key_password = login.key_password,
                                            .known_hosts = login.known_hosts,
                                            .denied = o->denied,
                                            .pack_bytes = o->git_bytes };
        g->deadline_ms = loop_now_ms(rc->kube->world->loop) + timeout_ms;
        return 0;
}
