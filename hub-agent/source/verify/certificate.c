#include "hub-agent/source/verify/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/base/limits.h"
#include "common/base/timefmt.h"
#include "hub-agent/source/verify/certificate_log.h"
#include "hub-agent/source/verify/public_key.h"

/* ---- reading ---- */

static void free_certificate(void *cert)
{
        X509_free(cert);
}

static void free_certificates(void *list)
{
        sk_X509_free(list);
}

static int keep(X509 *cert, struct arena *arena, X509 **ret, struct error *err)
{
        ERR_clear_error();
        if (!cert)
                return error_set(err, ERR_INVALID, "it is no certificate");
        if (arena_defer(arena, free_certificate, cert) < 0)
                return error_no_memory(err);
        *ret = cert;
        return 0;
}

int certificate_of_der(struct slice der, struct arena *arena, X509 **ret, struct error *err)
{
        const unsigned char *at = (const unsigned char *)der.data;
        X509 *cert = der.len <= LIMIT_CERT_BYTES ? d2i_X509(NULL, &at, (long)der.len) : NULL;

        if (cert && at != (const unsigned char *)der.data + der.len) {
                X509_free(cert);
                cert = NULL;
        }
        return keep(cert, arena, ret, err);
}

int certificate_of_pem(struct slice pem, struct arena *arena, X509 **ret, struct error *err)
{
        BIO *bio =
                pem.len > 0 && pem.len <= LIMIT_CERT_BYTES ? BIO_new_mem_buf(pem.data, (int)pem.len) : NULL;
        X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

        BIO_free(bio);
        return keep(cert, arena, ret, err);
}

int certificates_new(struct arena *arena, STACK_OF(X509) * *ret, struct error *err)
{
        STACK_OF(X509) *list = sk_X509_new_null();

        if (!list || arena_defer(arena, free_certificates, list) < 0)
                return error_no_memory(err);
        *ret = list;
        return 0;
}

static int add_all(BIO *bio, struct arena *arena, STACK_OF(X509) * to, struct error *err)
{
        for (X509 *cert; (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL));) {
                TRY(keep(cert, arena, &cert, err));
                if (sk_X509_num(to) >= CERTIFICATES_MAX)
                        return error_set(err, ERR_LIMIT, "it has more than %d certificates",
                                         CERTIFICATES_MAX);
                if (sk_X509_push(to, cert) <= 0)
                        return error_no_memory(err);
        }
        if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
                return error_set(err, ERR_INVALID, "one of its certificates cannot be read");
        return 0;
}

int certificates_of_pem(const char *pem, struct arena *arena, STACK_OF(X509) * to, struct error *err)
{
        size_t n = strlen(or_empty(pem));
        BIO *bio;
        int code;

        if (n == 0)
                return 0;
        bio = n <= LIMIT_CERT_BYTES ? BIO_new_mem_buf(pem, (int)n) : NULL;
        if (!bio)
                return error_no_memory(err);
        ERR_clear_error();
        code = add_all(bio, arena, to, err);
        BIO_free(bio);
        ERR_clear_error();
        return code;
}

/* ---- the chain ---- */

static bool is_for_code(X509 *cert, bool must_say)
{
        bool says = X509_get_extension_flags(cert) & EXFLAG_XKUSAGE;

        return says ? X509_get_extended_key_usage(cert) & XKU_CODE_SIGN : !must_say;
}

/* An authority that may not let code be signed cannot hand that on. */
static int check_usage(STACK_OF(X509) * chain, struct error *err)
{
        if (!(X509_get_key_usage(sk_X509_value(chain, 0)) & KU_DIGITAL_SIGNATURE))
                return error_set(err, ERR_FORBIDDEN, "the certificate is not for signatures");
        for (int i = 0; i < sk_X509_num(chain); i++)
                if (!is_for_code(sk_X509_value(chain, i), i == 0))
                        return error_set(err, ERR_FORBIDDEN, "%s is not for signing code",
                                         i == 0 ? "the certificate" : "an authority of the certificate");
        return 0;
}

static int check_chain(X509_STORE_CTX *ctx, const struct trusted_root *root, int64_t wall_ms,
                       struct error *err)
{
        char when[RFC3339_SIZE];
        STACK_OF(X509) * chain;

        if (X509_verify_cert(ctx) != 1) {
                time_format_rfc3339(wall_ms, when);
                return error_set(err, ERR_FORBIDDEN,
                                 "the certificate was not trusted at %s, when it was used: %s", when,
                                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
        }
        chain = X509_STORE_CTX_get0_chain(ctx);
        TRY(check_usage(chain, err));
        if (sk_X509_num(chain) < 2)
                return error_set(err, ERR_FORBIDDEN, "the certificate is an authority's own");
        return certificate_log_check(sk_X509_value(chain, 0), sk_X509_value(chain, 1), root, err);
}

struct search {
        X509_STORE *store;
        X509_STORE_CTX *ctx;
        STACK_OF(X509) * between;
};

static void search_free(struct search *s)
{
        X509_STORE_CTX_free(s->ctx);
        X509_STORE_free(s->store);
        sk_X509_free(s->between);
        ERR_clear_error();
}

static bool begin(struct search *s, X509 *leaf, STACK_OF(X509) * given, const struct trusted_authority *a,
                  int64_t wall_ms)
{
        s->store = X509_STORE_new();
        s->ctx = X509_STORE_CTX_new();
        s->between = sk_X509_dup(a->between);
        for (int i = 0; s->between && i < sk_X509_num(given); i++)
                if (sk_X509_push(s->between, sk_X509_value(given, i)) <= 0)
                        return false;
        if (!s->store || !s->ctx || !s->between || !X509_STORE_add_cert(s->store, a->anchor) ||
            !X509_STORE_CTX_init(s->ctx, s->store, leaf, s->between))
                return false;
        X509_STORE_CTX_set_time(s->ctx, 0, (time_t)(wall_ms / 1000));
        X509_STORE_CTX_set_flags(s->ctx, X509_V_FLAG_PARTIAL_CHAIN);
        return true;
}

static int check_with(X509 *leaf, STACK_OF(X509) * given, const struct trusted_authority *a,
                      const struct trusted_root *root, int64_t wall_ms, struct error *err)
{
        CLEANUP(search_free) struct search s = { 0 };

        if (!begin(&s, leaf, given, a, wall_ms))
                return error_no_memory(err);
        return check_chain(s.ctx, root, wall_ms, err);
}

int certificate_check(X509 *leaf, STACK_OF(X509) * given, const struct trusted_root *root, int64_t wall_ms,
                      struct arena *arena, struct error *err)
{
        char when[RFC3339_SIZE];
        int code = 0;

        for (size_t i = 0; i < root->n_authorities; i++) {
                if (!trusted_at(&root->authorities[i].time, wall_ms))
                        continue;
                code = check_with(leaf, given, &root->authorities[i], root, wall_ms, err);
                if (code == 0 || code == ERR_NO_MEMORY)
                        return code;
        }
        if (code < 0)
                return code;
        time_format_rfc3339(wall_ms, when);
        return error_set(err, ERR_FORBIDDEN, "no authority of the trusted root is for %s", when);
}
