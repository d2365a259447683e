/* How a bucket is reached: its address, its Secrets. spec/helm-chart.md 2.3, 10, 12.2. */
#include "hub-agent/source/bucket.h"
#include "hub-agent/source/credentials.h"
#include "hub-agent/source/s3/s3_url.h"

#define TIMEOUT_MS 60000
#define TIMEOUT_MAX_MS 1800000

/* ---- what this version does not do ---- */

static int refuse(struct source_pass *p, const char *field, const char *why)
{
        error_set(p->rc->err, ERR_UNSUPPORTED, "%s is not acted on: %s", field, why);
        return source_fails(p, &failing_provider);
}

static int check_fields(struct bucket_pass *b)
{
        const struct bucket_spec *s = b->spec;
        bool of_aws = text_equal(s->provider, "aws");

        if (!of_aws && !text_empty(s->provider) && !text_equal(s->provider, "generic"))
                return refuse(b->pass, arena_printf(b->pass->rc->arena, "spec.provider '%s'", s->provider),
                              "it is to be generic, or aws with static keys");
        if (s->sts.len > 0)
                return refuse(b->pass, "spec.sts", "keys are those of spec.secretRef");
        if (!text_empty(s->service_account_name))
                return refuse(b->pass, "spec.serviceAccountName", "keys are those of spec.secretRef");
        if (of_aws && !s->secret_ref)
                return refuse(b->pass, "spec.provider 'aws' without spec.secretRef",
                              "identities of clouds are not used; what everybody may read needs provider "
                              "generic");
        return 0;
}

/* ---- Secrets ---- */

static int told(struct source_pass *p, int code)
{
        return code < 0 ? source_fails(p, &failing_login) : 0;
}

static int read_login(struct bucket_pass *b, struct source_login *ret)
{
        struct source_pass *p = b->pass;
        const struct bucket_spec *spec = b->spec;
        struct arena *arena = p->rc->arena;
        struct secret s;

        if (spec->secret_ref) {
                TRY(source_read_secret(p, or_empty(spec->secret_ref->name), "authentication", &s));
                TRY(told(p, source_login_bucket(&s, arena, ret, p->rc->err)));
        }
        if (spec->cert_secret_ref) {
                TRY(source_read_secret(p, or_empty(spec->cert_secret_ref->name), "TLS authentication", &s));
                TRY(told(p, source_login_tls(&s, arena, ret, p->rc->err)));
        }
        if (spec->proxy_secret_ref) {
                TRY(source_read_secret(p, or_empty(spec->proxy_secret_ref->name), "proxy", &s));
                TRY(told(p, source_login_proxy(&s, arena, ret, p->rc->err)));
        }
        return 0;
}

/* ---- the whole ---- */

void bucket_set_deadline(struct bucket_pass *b)
{
        int64_t timeout_ms = MIN(source_duration_ms(b->spec->timeout, TIMEOUT_MS), (int64_t)TIMEOUT_MAX_MS);

        b->transfer.deadline_ms = loop_now_ms(b->pass->rc->kube->world->loop) + timeout_ms;
}

int bucket_open(struct bucket_pass *b)
{
        struct source_pass *p = b->pass;
        const struct bucket_spec *s = b->spec;
        const struct s3_place place = { s->endpoint, s->bucket_name, s->insecure.value,
                                        text_equal(s->provider, "aws") };
        struct source_login login = { 0 };

        TRY(check_fields(b));
        if (s3_bucket_url(&place, p->rc->arena, &b->client.bucket_url, p->rc->err) < 0)
                return source_fails(p, &failing_url);
        if (!text_empty(s->region) && !s3_is_region(s->region)) {
                error_set(p->rc->err, ERR_INVALID,
                          "spec.region is no name of a region: letters, digits, '-', '.' and '_'");
                return source_fails(p, &failing_url);
        }
        TRY(read_login(b, &login));
        b->transfer = (struct transfer){ .world = p->rc->kube->world,
                                         .arena = p->rc->arena,
                                         .ca_pem = login.ca_pem,
                                         .cert_pem = login.cert_pem,
                                         .key_pem = login.key_pem,
                                         .proxy_url = login.proxy_url,
                                         .denied = p->sources->options->denied };
        b->key = (struct http_aws_key){ login.access_key, login.secret_key,
                                        text_empty(s->region) ? S3_REGION : s->region, "s3" };
        b->client.transfer = &b->transfer;
        b->client.region = b->key.region;
        b->client.key = login.access_key ? &b->key : NULL;
        return 0;
}

void bucket_close(struct bucket_pass *b)
{
        s3_objects_free(&b->objects);
}
