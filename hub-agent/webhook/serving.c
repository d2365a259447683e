#include "hub-agent/webhook/serving.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "hub-agent/webhook/certificates.h"
#include "hub-agent/webhook/registration.h"
#include "proto/names.h"

#define TEXT "text/plain; charset=utf-8"
#define PAUSE_MS 1000
#define LOOK_MS 5000       /* at files, and for authorities that are to be injected */
#define HAND_OVER_MS 60000 /* a new authority is told so long before it is used */
#define SECRET WEBHOOK_CERTIFICATE

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };

struct webhook_serving {
        struct webhook_serving_options o;
        struct loop *loop;
        struct hub_view view;
        struct admission_world rules;
        struct http_server *server;
        struct fiber_group *group;
        struct informer *secret; /* NULL = not followed */
        struct waitq news;
        bool secret_changed;
        struct webhook_certificates now;
        bool open;          /* reviews are answered */
        bool shows_former;  /* what answers them has another certificate than `now` */
        int64_t changed_ms; /* then: when `now` came */
        uint64_t stamps[2]; /* of the files */
        char *missing;      /* what cert-manager has not done yet; NULL = nothing */
};

/* ---- reviews ---- */

static const char *method_of(const char *path)
{
        return webhook_serves(path) ? path : "unknown";
}

static int answer(struct webhook_serving *s, struct http_exchange *x)
{
        AUTO_JSON json_t *review = NULL;
        AUTO_BUF struct buf b;
        struct error err = { 0 };
        int code;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        code = webhook_answer(&s->rules, x->path, x->body, x->arena, &review, &err);
        if (code == 0)
                code = doc_write(review, &b);
        if (code == ERR_NOT_FOUND)
                return http_reply(x, 404, TEXT, SLICE("no webhook answers here\n"), NULL), 404;
        if (code < 0)
                return http_reply(x, 503, TEXT, SLICE("the review could not be answered\n"), NULL), 503;
        http_reply(x, 200, "application/json", (struct slice){ b.data, b.len }, NULL);
        return 200;
}

static void handle(void *serving, struct http_exchange *x)
{
        struct webhook_serving *s = serving;
        const char *webhook = method_of(x->path);
        int64_t begun = loop_now_us(s->loop);
        struct metrics *m = manager_metrics(s->o.manager);
        char code[16];
        int status = 405;

        metric_add(m, METRIC_WEBHOOK_UNDER_WAY, 1, &webhook);
        if (text_equal(x->method, "POST"))
                status = answer(s, x);
        else
                http_reply(x, 405, TEXT, SLICE("reviews are posted\n"), NULL);
        snprintf(code, sizeof(code), "%d", status);
        metric_add(m, METRIC_WEBHOOK_UNDER_WAY, -1, &webhook);
        metric_add(m, METRIC_WEBHOOK_REQUESTS, 1, (const char *const[]){ webhook, code });
        metric_observe(m, METRIC_WEBHOOK_SECONDS, (double)(loop_now_us(s->loop) - begun) / 1e6, &webhook);
}

/* ---- certificates of our own, in a Secret ---- */

static bool same_text(const char *a, const char *b)
{
        return text_equal(or_empty(a), or_empty(b));
}

/* Files are read one after the other, so that the key may be the former one's: it comes later, alone. */
static bool same_identity(const struct tls_identity *a, const struct tls_identity *b)
{
        return same_text(a->cert_pem, b->cert_pem) && same_text(a->key_pem, b->key_pem);
}

static void adopt(struct webhook_serving *s, struct webhook_certificates *read)
{
        bool changed = !same_identity(&s->now.identity, &read->identity);

        if (!changed && same_text(s->now.authorities, read->authorities))
                return;
        webhook_certificates_free(&s->now);
        s->now = *read;
        *read = (struct webhook_certificates){ 0 };
        manager_enqueue(s->o.manager, &webhook_configurations_controller, "all", QUEUE_HIGH);
        if (!changed || !s->open)
                return;
        s->shows_former = s->server || s->o.webhooks->renewed;
        s->changed_ms = loop_now_ms(s->loop);
}

static int show(struct webhook_serving *s, struct error *err)
{
        const struct webhook_options *w = s->o.webhooks;

        return s->server ? http_server_set_identity(s->server, &s->now.identity, err)
                         : w->renewed(w->started_ctx, &s->now.identity, err);
}

/* Takes over what was read; whoever serves already tells of the new authority first. What fails here is to be
 * done by the next call, though that reads nothing new. */
static int take_over(struct webhook_serving *s, struct webhook_certificates *read, struct error *err)
{
        int64_t wait_ms;

        adopt(s, read);
        if (!s->shows_former)
                return 0;
        wait_ms = s->o.webhooks->cert_manager ? 0 : s->changed_ms + HAND_OVER_MS - loop_now_ms(s->loop);
        if (wait_ms > 0 && fiber_sleep(s->loop, wait_ms) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        TRY(show(s, err));
        s->shows_former = false;
        log_info(s->o.log, "the webhooks' certificate has changed");
        return 0;
}

/* One of the replicas makes it; who comes second reads what the first one made. */
static int make_secret(struct webhook_serving *s, const json_t *live, const char *before, struct error *err)
{
        const struct webhook_options *w = s->o.webhooks;
        AUTO_JSON json_t *secret = NULL;
        int code;

        TRY(webhook_certificates_make(w->ns, SECRET, w->service, before, loop_wall_ms(s->loop), &secret,
                                      err));
        if (live) {
                TRY(doc_set_string(secret, "metadata.resourceVersion",
                                   or_empty(doc_get_string(live, "metadata.resourceVersion"))));
                code = kube_doc_update(s->o.kube, &secrets, w->ns, SECRET, secret, NULL, NULL, err);
        } else {
                code = kube_doc_create(s->o.kube, &secrets, w->ns, secret, NULL, NULL, err);
        }
        if (code < 0 && code != ERR_EXISTS && code != ERR_CONFLICT)
                return code;
        error_clear(err);
        log_info(s->o.log, "a certificate for the webhooks is made", "secret", SECRET, "namespace", w->ns);
        return 0;
}

/* Whether it names the service that the configurations lead to. What a replica serves already is not asked:
 * of two that are told different names one would make it anew after the other. */
static int check_name(struct webhook_serving *s, const struct webhook_certificates *c, struct error *err)
{
        const struct webhook_options *w = s->o.webhooks;
        AUTO_FREE char *name = mem_printf("%s.%s.svc", w->service, w->ns);

        if (!name)
                return error_no_memory(err);
        if (s->now.identity.cert_pem || cert_is_for(c->identity.cert_pem, name))
                return 0;
        return error_set(err, ERR_INVALID, "the certificate is not for %s", name);
}

static int load_secret(struct webhook_serving *s, struct webhook_certificates *ret, json_t **ret_live,
                       struct error *err)
{
        TRY(kube_doc_get(s->o.kube, &secrets, s->o.webhooks->ns, SECRET, ret_live, err));
        TRY(webhook_certificates_read(*ret_live, ret, err));
        if (ret->renew_ms <= loop_wall_ms(s->loop))
                return error_set(err, ERR_INVALID, "the certificate ends soon");
        return check_name(s, ret, err);
}

/* What cannot be used is replaced, and what ends soon. */
static int refresh_secret(struct webhook_serving *s, struct error *err)
{
        for (int tries = 0; tries < 3; tries++) {
                CLEANUP(webhook_certificates_free) struct webhook_certificates read = { 0 };
                AUTO_JSON json_t *live = NULL;
                int code = load_secret(s, &read, &live, err);

                if (code == 0)
                        return take_over(s, &read, err);
                if (code != ERR_NOT_FOUND && code != ERR_INVALID)
                        return code;
                if (code == ERR_INVALID)
                        log_warn(s->o.log, "the webhooks' certificate is made anew", "secret", SECRET, "why",
                                 err->text);
                error_clear(err);
                TRY(make_secret(s, live, read.authorities ? read.authorities : s->now.authorities, err));
        }
        return error_set(err, ERR_RETRY, "Secret %s/%s: it changes all the time", s->o.webhooks->ns, SECRET);
}

static void secret_changed(void *serving, const struct informer_event *e)
{
        struct webhook_serving *s = serving;

        s->secret_changed = true;
        waitq_wake_all(&s->news);
}

static int follow_secret(struct webhook_serving *s)
{
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = &secrets,
                                            .ns = s->o.webhooks->ns,
                                            .field_selector = "metadata.name=" SECRET,
                                            .flags = DECODE_PROJECTION };

        TRY(manager_add_informer(s->o.manager, &o, &s->secret));
        return informer_add_handler(s->secret, secret_changed, s);
}

/* ---- certificates of cert-manager, in files ---- */

static int read_file(struct webhook_serving *s, const char *name, char **ret, uint64_t *ret_stamp,
                     struct error *err)
{
        const char *folder = s->o.webhooks->folder ? s->o.webhooks->folder : WEBHOOK_CERTIFICATE_FOLDER;
        AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
        struct world *w = s->o.world;
        size_t n;

        if (!path)
                return error_no_memory(err);
        *ret_stamp = w->files->stamp(w->ctx, path);
        return w->files->read(w->ctx, path, LIMIT_KUBECONFIG_BYTES, ret, &n, err);
}

static int refresh_files(struct webhook_serving *s, struct error *err)
{
        CLEANUP(webhook_certificates_free) struct webhook_certificates read = { 0 };
        uint64_t stamps[2];

        TRY(read_file(s, "tls.crt", &read.identity.cert_pem, &stamps[0], err));
        TRY(read_file(s, "tls.key", &read.identity.key_pem, &stamps[1], err));
        if (stamps[0] == s->stamps[0] && stamps[1] == s->stamps[1])
                return 0;
        TRY(take_over(s, &read, err));
        memcpy(s->stamps, stamps, sizeof(stamps));
        return 0;
}

/* The first webhook that cert-manager has not given its authorities yet, in words; NULL: none. */
static char *what_is_missing(struct webhook_serving *s, enum webhook_configuration_id id)
{
        AUTO_JSON json_t *wanted = NULL, *live = NULL;
        const struct kube_resource *r = webhook_configuration_resource(id);
        const char *name = webhook_configuration_name(id);
        struct error err = { 0 };
        json_t *w;
        size_t i;

        if (webhook_serving_configuration(s, id, &wanted, &err) == 0 && !wanted)
                return NULL;
        if (kube_doc_get(s->o.kube, r, NULL, name, &live, &err) < 0)
                return mem_printf("failed to get %s %s: %s", r->kind, name, err.text);
        json_array_foreach(json_object_get(live, "webhooks"), i, w)
                if (text_empty(doc_get_string(w, "clientConfig.caBundle")))
                        return mem_printf("%s %s webhook %s is missing CA bundle (cert-manager injection "
                                          "pending)",
                                          r->kind, name, or_empty(doc_get_string(w, "name")));
        return NULL;
}

static void look_for_injection(struct webhook_serving *s)
{
        char *missing = NULL;

        for (int id = 0; id < N_WEBHOOK_CONFIGURATIONS && !missing; id++)
                missing = what_is_missing(s, (enum webhook_configuration_id)id);
        mem_free(s->missing);
        s->missing = missing;
}

/* ---- life ---- */

static int refresh(struct webhook_serving *s, struct error *err)
{
        struct metrics *m = manager_metrics(s->o.manager);
        int code = s->o.webhooks->cert_manager ? refresh_files(s, err) : refresh_secret(s, err);

        metric_add(m, METRIC_CERTIFICATE_READS, 1, NULL);
        metric_add(m, METRIC_CERTIFICATE_ERRORS, code < 0, NULL);
        return code;
}

static void follow(void *serving)
{
        struct webhook_serving *s = serving;
        bool manager = s->o.webhooks->cert_manager;

        while (!fiber_cancelled(s->loop)) {
                struct error err = { 0 };
                int64_t until = manager ? loop_now_ms(s->loop) + LOOK_MS
                                        : loop_now_ms(s->loop) +
                                                  MAX(s->now.renew_ms - loop_wall_ms(s->loop), PAUSE_MS);

                if (manager && s->missing)
                        look_for_injection(s);
                if (!s->secret_changed && waitq_wait(s->loop, &s->news, until) == ERR_CANCELLED)
                        return;
                s->secret_changed = false;
                if (refresh(s, &err) == 0 || err.code == ERR_CANCELLED)
                        continue;
                log_warn(s->o.log, "the webhooks' certificate cannot be brought up to date", "error",
                         err.text);
                s->secret_changed = !manager;
                if (fiber_sleep(s->loop, LOOK_MS) < 0)
                        return;
        }
}

static int first_certificates(struct webhook_serving *s, struct error *err)
{
        char told[ERROR_TEXT_MAX] = "";
        int code;

        while ((code = refresh(s, err)) < 0) {
                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                        return code;
                if (!kube_connection_tells(s->o.kube, err) && !text_equal(told, err->text))
                        log_warn(s->o.log, "there is no certificate for the webhooks yet, trying again",
                                 "error", err->text);
                snprintf(told, sizeof(told), "%s", err->text);
                if (kube_connection_pause(s->o.kube, PAUSE_MS) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                error_clear(err);
        }
        return 0;
}

static int open_port(struct webhook_serving *s, struct error *err)
{
        const struct webhook_options *w = s->o.webhooks;
        const struct http_server_options o = { .bind = w->bind,
                                               .port = w->port,
                                               .tls = &s->now.identity,
                                               .handle = handle,
                                               .ctx = s,
                                               .limits = { .header_bytes = LIMIT_PROBE_HEAD_BYTES,
                                                           .body_bytes = LIMIT_REVIEW_BYTES },
                                               .connections = LIMIT_WEBHOOK_CONNECTIONS };

        if (w->port >= 0)
                TRY(http_server_start(s->o.world, &o, &s->server, err));
        s->open = true;
        if (w->started)
                w->started(w->started_ctx, handle, s);
        return 0;
}

int webhook_serving_start(const struct webhook_serving_options *o, struct webhook_serving **ret,
                          struct error *err)
{
        struct webhook_serving *s = NEW(struct webhook_serving);
        int code;

        if (!s)
                return error_no_memory(err);
        s->o = *o;
        s->loop = o->world->loop;
        list_init(&s->news.waiters);
        s->missing = o->webhooks->cert_manager ? mem_strdup("cert-manager was not looked for yet") : NULL;
        s->group = fiber_group_new(s->loop, o->group, "webhooks");
        *ret = s;
        if (!s->group || hub_view_init(&s->view, o->manager, o->mapper, o->filters, o->kube) < 0)
                return error_no_memory(err);
        s->rules = hub_view_world(&s->view, &o->webhooks->flags);
        TRY(first_certificates(s, err));
        TRY(open_port(s, err));
        code = o->webhooks->cert_manager ? 0 : follow_secret(s);
        if (code < 0 || !fiber_spawn(s->group, "webhook certificates", follow, s))
                return error_no_memory(err);
        return 0;
}

struct webhook_serving *webhook_serving_stop(struct webhook_serving *s)
{
        if (!s)
                return NULL;
        if (s->o.webhooks->started)
                s->o.webhooks->started(s->o.webhooks->started_ctx, NULL, s);
        if (s->secret)
                manager_remove_informer(s->o.manager, s->secret);
        fiber_group_end(s->group);
        http_server_stop(s->server);
        webhook_certificates_free(&s->now);
        mem_free(s->missing);
        mem_free(s);
        return NULL;
}

int webhook_serving_port(const struct webhook_serving *s)
{
        return s->server ? http_server_port(s->server) : -1;
}

const char *webhook_serving_certificate(const struct webhook_serving *s)
{
        return s->now.identity.cert_pem;
}

bool webhook_serving_ready(void *serving, struct buf *why_not)
{
        struct webhook_serving *s = serving;

        if (!s->missing)
                return true;
        buf_printf(why_not, "%s\n", s->missing);
        return false;
}

bool webhook_serving_injected(const struct webhook_serving *s)
{
        return s->o.webhooks->cert_manager;
}

int webhook_serving_configuration(const struct webhook_serving *s, enum webhook_configuration_id id,
                                  json_t **ret, struct error *err)
{
        const struct webhook_options *w = s->o.webhooks;
        AUTO_FREE char *inject = w->cert_manager ? mem_printf("%s/%s", w->ns, WEBHOOK_CERTIFICATE) : NULL;
        const struct webhook_client client = { .ns = w->ns,
                                               .service = w->service,
                                               .port = WEBHOOK_PORT,
                                               .url = w->url,
                                               .inject_from = inject,
                                               .ca_bundle = slice_of(w->cert_manager ? NULL
                                                                                     : s->now.authorities) };

        if (w->cert_manager && !inject)
                return error_no_memory(err);
        return webhook_configuration_make(id, &w->flags, &client, ret, err);
}
