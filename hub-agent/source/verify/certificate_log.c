#include "hub-agent/source/verify/certificate_log.h"

#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "hub-agent/source/verify/public_key.h"

#define TIMESTAMPS_MAX 20 /* in one certificate */

/* ---- what a log signs ---- */

static void append_number(struct buf *b, uint64_t n, int bytes)
{
        for (int i = bytes - 1; i >= 0; i--)
                buf_append_char(b, (char)(n >> (8 * i)));
}

/* What the certificate said before the timestamps came into it. */
static int append_certificate(struct buf *b, X509 *leaf)
{
        X509 *bare = X509_dup(leaf);
        unsigned char *der = NULL;
        int at = bare ? X509_get_ext_by_NID(bare, NID_ct_precert_scts, -1) : -1, n = -1;

        if (at >= 0) {
                X509_EXTENSION_free(X509_delete_ext(bare, at));
                n = i2d_re_X509_tbs(bare, &der);
        }
        if (n > 0) {
                append_number(b, (uint64_t)n, 3);
                buf_append(b, der, (size_t)n);
        }
        OPENSSL_free(der);
        X509_free(bare);
        return n > 0 ? 0 : ERR_NO_MEMORY;
}

static int append_issuer(struct buf *b, X509 *issuer)
{
        unsigned char *der = NULL, sum[SHA256_SIZE];
        int n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(issuer), &der);
        struct sha256 s;

        if (n <= 0)
                return ERR_NO_MEMORY;
        sha256_init(&s);
        sha256_update(&s, der, (size_t)n);
        sha256_final(&s, sum);
        OPENSSL_free(der);
        return buf_append(b, sum, sizeof(sum));
}

/* Version 1, a timestamp of a certificate; the entry is one that was not issued yet. RFC 6962 3.2. */
static int write_signed(const SCT *sct, X509 *leaf, X509 *issuer, struct buf *b)
{
        unsigned char *extensions;
        size_t n = SCT_get0_extensions(sct, &extensions);

        append_number(b, 0, 2);
        append_number(b, SCT_get_timestamp(sct), 8);
        append_number(b, 1, 2);
        TRY(append_issuer(b, issuer));
        TRY(append_certificate(b, leaf));
        append_number(b, n, 2);
        buf_append(b, extensions, n);
        return b->failed;
}

/* ---- whose it is ---- */

/* 1: it is of one of the root's logs; 0: it is not; ERR_NO_MEMORY. */
static int check_timestamp(const SCT *sct, X509 *leaf, X509 *issuer, const struct trusted_root *root,
                           const char **ret_problem)
{
        AUTO_BUF struct buf b;
        unsigned char *id, *signature;
        size_t n_id = SCT_get0_log_id(sct, &id), n = SCT_get0_signature(sct, &signature);
        uint64_t ms = SCT_get_timestamp(sct);
        const struct trusted_log *log;

        buf_init(&b, LIMIT_CERT_BYTES);
        *ret_problem = "its timestamp is of no log of certificates of the trusted root";
        if (SCT_get_version(sct) != SCT_VERSION_V1 || ms > INT64_MAX)
                return 0;
        log = trusted_log_find(root->certificate_logs, root->n_certificate_logs,
                               (struct slice){ (const char *)id, n_id }, (int64_t)ms);
        if (!log)
                return 0;
        *ret_problem = "the signature of its timestamp by the log of certificates is wrong";
        TRY(write_signed(sct, leaf, issuer, &b));
        return public_key_signed(log->key, (struct slice){ b.data, b.len },
                                 (struct slice){ (const char *)signature, n });
}

int certificate_log_check(X509 *leaf, X509 *issuer, const struct trusted_root *root, struct error *err)
{
        STACK_OF(SCT) *all = X509_get_ext_d2i(leaf, NID_ct_precert_scts, NULL, NULL);
        const char *problem = "it has no timestamp of a log of certificates";
        int good = 0;

        ERR_clear_error();
        for (int i = 0; i < sk_SCT_num(all) && i < TIMESTAMPS_MAX && good == 0; i++)
                good = check_timestamp(sk_SCT_value(all, i), leaf, issuer, root, &problem);
        SCT_LIST_free(all);
        ERR_clear_error();
        if (good < 0)
                return error_no_memory(err);
        return good ? 0 : error_set(err, ERR_FORBIDDEN, "the certificate: %s", problem);
}
