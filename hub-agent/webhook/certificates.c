#include "hub-agent/webhook/certificates.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"

#define DAY_MS INT64_C(86400000)
#define AUTHORITY_NAME "fleet.azure.com"

void webhook_certificates_free(struct webhook_certificates *c)
{
        tls_identity_free(&c->identity);
        mem_free(c->authorities);
        *c = (struct webhook_certificates){ 0 };
}

static int issue(const char *ns, const char *service, int64_t now_ms, char **ret_ca, struct tls_identity *ret,
                 struct error *err)
{
        AUTO_FREE char *ca_key = NULL, *common_name = mem_printf("%s.cert.server", service),
                       *name = mem_printf("%s.%s.svc", service, ns),
                       *long_name = mem_printf("%s.%s.svc.cluster.local", service, ns);
        const struct cert_subject subject = { .common_name = common_name,
                                              .dns_names = (const char *[]){ name, long_name, NULL } };

        if (!common_name || !name || !long_name)
                return error_no_memory(err);
        TRY(cert_self_signed_ca(AUTHORITY_NAME, now_ms, WEBHOOK_CERTIFICATE_DAYS, ret_ca, &ca_key, err));
        return cert_issue(*ret_ca, ca_key, &subject, true, now_ms, WEBHOOK_CERTIFICATE_DAYS, &ret->cert_pem,
                          &ret->key_pem, err);
}

/* The first certificate of a bundle, without those that were there before it. */
static struct slice newest(const char *bundle)
{
        static const char end[] = "-----END CERTIFICATE-----\n";
        const char *found = bundle ? strstr(bundle, end) : NULL;

        return found ? (struct slice){ bundle, (size_t)(found - bundle) + strlen(end) } : slice_of("");
}

/* The authority's key is not kept: nothing else is ever signed by it. */
int webhook_certificates_make(const char *ns, const char *name, const char *service, const char *before,
                              int64_t now_ms, json_t **ret, struct error *err)
{
        CLEANUP(tls_identity_free) struct tls_identity identity = { 0 };
        AUTO_FREE char *ca = NULL, *all = NULL;
        struct slice other = newest(before);
        json_t *doc;

        TRY(issue(ns, service, now_ms, &ca, &identity, err));
        all = mem_printf("%s%.*s", ca, (int)other.len, other.data);
        if (!all)
                return error_no_memory(err);
        doc = json_pack("{s:s,s:s,s:s,s:{s:s,s:s},s:{s:o,s:o,s:o}}", "apiVersion", "v1", "kind", "Secret",
                        "type", "kubernetes.io/tls", "metadata", "name", name, "namespace", ns, "data",
                        "ca.crt", doc_base64(slice_of(all)), "tls.crt",
                        doc_base64(slice_of(identity.cert_pem)), "tls.key",
                        doc_base64(slice_of(identity.key_pem)));
        if (!doc)
                return error_no_memory(err);
        *ret = doc;
        return 0;
}

static int read_key(const json_t *secret, const char *key, char **ret, struct error *err)
{
        const char *text = json_string_value(json_object_get(json_object_get(secret, "data"), key));
        AUTO_FREE char *plain = NULL;
        size_t n = 0, room;

        if (!text)
                return error_set(err, ERR_INVALID, "the Secret has no %s", key);
        room = strlen(text) + 1;
        plain = mem_zalloc(room);
        if (!plain)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(text), plain, room - 1, &n, false) < 0)
                return error_set(err, ERR_INVALID, "the Secret's %s is no base64", key);
        *ret = TAKE_PTR(plain);
        return 0;
}

int webhook_certificates_read(const json_t *secret, struct webhook_certificates *ret, struct error *err)
{
        CLEANUP(webhook_certificates_free) struct webhook_certificates c = { 0 };
        int64_t end;

        TRY(read_key(secret, "ca.crt", &c.authorities, err));
        TRY(read_key(secret, "tls.crt", &c.identity.cert_pem, err));
        TRY(read_key(secret, "tls.key", &c.identity.key_pem, err));
        end = cert_not_after_ms(c.identity.cert_pem);
        if (end == TIME_NONE || cert_not_after_ms(c.authorities) == TIME_NONE)
                return error_set(err, ERR_INVALID, "the Secret's certificates cannot be read");
        if (!cert_has_key(c.identity.cert_pem, c.identity.key_pem))
                return error_set(err, ERR_INVALID, "the Secret's tls.key is not that of its tls.crt");
        c.renew_ms = end - WEBHOOK_CERTIFICATE_RENEW_DAYS * DAY_MS;
        *ret = c;
        c = (struct webhook_certificates){ 0 };
        return 0;
}
