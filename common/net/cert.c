#include "common/net/cert.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/net/openssl_text.h"

DEFINE_CLEANUP(X509, X509_free, x509_cleanup);
DEFINE_CLEANUP(X509_REQ, X509_REQ_free, request_cleanup);
DEFINE_CLEANUP(EVP_PKEY, EVP_PKEY_free, key_cleanup);
DEFINE_CLEANUP(BIO, BIO_free_all, bio_cleanup);

#define HOUR_MS (3600 * INT64_C(1000))
#define DAY_MS (24 * HOUR_MS)

void tls_identity_free(struct tls_identity *t)
{
        if (!t)
                return;
        mem_free(t->cert_pem);
        mem_free_secret(t->key_pem);
        mem_free(t->client_ca_pem);
        *t = (struct tls_identity){ 0 };
}

/* ---- PEM ---- */

static int bio_text(BIO *bio, char **ret, struct error *err)
{
        char *data;
        long n = BIO_get_mem_data(bio, &data);
        *ret = mem_strndup(data, (size_t)n);
        return *ret ? 0 : error_no_memory(err);
}

static int cert_to_pem(X509 *cert, char **ret, struct error *err)
{
        CLEANUP(bio_cleanup) BIO *bio = BIO_new(BIO_s_mem());
        if (!bio || !PEM_write_bio_X509(bio, cert))
                return openssl_error(err, ERR_INTERNAL, "writing a certificate");
        return bio_text(bio, ret, err);
}

static int key_to_pem(EVP_PKEY *key, char **ret, struct error *err)
{
        CLEANUP(bio_cleanup) BIO *bio = BIO_new(BIO_s_secmem());
        if (!bio || !PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
                return openssl_error(err, ERR_INTERNAL, "writing a key");
        return bio_text(bio, ret, err);
}

static int new_key(EVP_PKEY **ret, struct error *err)
{
        *ret = EVP_EC_gen("P-256");
        return *ret ? 0 : openssl_error(err, ERR_INTERNAL, "making a P-256 key");
}

int cert_new_key(char **ret_key_pem, struct error *err)
{
        CLEANUP(key_cleanup) EVP_PKEY *key = NULL;
        TRY(new_key(&key, err));
        return key_to_pem(key, ret_key_pem, err);
}

/* ---- the parts of a certificate ---- */

static bool add_name(X509_NAME *name, int nid, const char *value)
{
        return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, (const unsigned char *)value, -1, -1, 0);
}

static bool fill_name(X509_NAME *name, const struct cert_subject *subject)
{
        for (const char *const *o = subject->organizations; o && *o; o++)
                if (!add_name(name, NID_organizationName, *o))
                        return false;
        return !subject->common_name || add_name(name, NID_commonName, subject->common_name);
}

static bool set_time(ASN1_TIME *t, int64_t wall_ms)
{
        return ASN1_TIME_set(t, (time_t)(wall_ms / 1000)) != NULL;
}

/* 127 random bits: positive and never zero for all purposes. */
static bool set_serial(X509 *cert)
{
        unsigned char bytes[16];
        if (RAND_bytes(bytes, sizeof(bytes)) != 1)
                return false;
        bytes[0] = (bytes[0] & 0x7f) | 0x40;
        BIGNUM *n = BN_bin2bn(bytes, sizeof(bytes), NULL);
        bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
        BN_free(n);
        return ok;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
        X509V3_CTX ctx;
        X509V3_set_ctx_nodb(&ctx);
        X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
        bool ok = e && X509_add_ext(cert, e, -1);
        X509_EXTENSION_free(e);
        return ok;
}

static bool push_name(GENERAL_NAMES *names, int type, ASN1_STRING *value)
{
        GENERAL_NAME *n = value ? GENERAL_NAME_new() : NULL;
        if (!n) {
                ASN1_STRING_free(value);
                return false;
        }
        GENERAL_NAME_set0_value(n, type, value);
        if (sk_GENERAL_NAME_push(names, n) > 0)
                return true;
        GENERAL_NAME_free(n);
        return false;
}

static ASN1_STRING *dns_name(const char *text)
{
        ASN1_STRING *s = ASN1_IA5STRING_new();
        if (s && ASN1_STRING_set(s, text, -1))
                return s;
        ASN1_STRING_free(s);
        return NULL;
}

/* Built by hand, not from text: a comma in a name must not add another. */
static bool add_alternative_names(X509 *cert, const struct cert_subject *subject)
{
        GENERAL_NAMES *names = GENERAL_NAMES_new();
        bool ok = names != NULL;
        for (const char *const *d = subject->dns_names; ok && d && *d; d++)
                ok = push_name(names, GEN_DNS, dns_name(*d));
        for (const char *const *ip = subject->ip_addresses; ok && ip && *ip; ip++)
                ok = push_name(names, GEN_IPADD, a2i_IPADDRESS(*ip));
        if (ok && sk_GENERAL_NAME_num(names) > 0)
                ok = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) > 0;
        GENERAL_NAMES_free(names);
        return ok;
}

/* An unsigned certificate of version 3 with serial, validity and key. */
static X509 *new_cert(EVP_PKEY *key, int64_t from_ms, int64_t to_ms)
{
        X509 *cert = X509_new();
        if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
            set_time(X509_getm_notBefore(cert), from_ms) && set_time(X509_getm_notAfter(cert), to_ms) &&
            X509_set_pubkey(cert, key))
                return cert;
        X509_free(cert);
        return NULL;
}

int cert_self_signed_ca(const char *common_name, int64_t now_ms, int64_t days, char **ret_cert,
                        char **ret_key, struct error *err)
{
        CLEANUP(key_cleanup) EVP_PKEY *key = NULL;
        TRY(new_key(&key, err));
        CLEANUP(x509_cleanup) X509 *cert = new_cert(key, now_ms - HOUR_MS, now_ms + days * DAY_MS);
        if (!cert || !add_name(X509_get_subject_name(cert), NID_commonName, common_name) ||
            !X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
            !add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE") ||
            !add_extension(cert, cert, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign") ||
            !add_extension(cert, cert, NID_subject_key_identifier, "hash") ||
            !X509_sign(cert, key, EVP_sha256()))
                return openssl_error(err, ERR_INTERNAL, "making the CA %s", common_name);
        AUTO_FREE char *key_pem = NULL;
        TRY(key_to_pem(key, &key_pem, err));
        TRY(cert_to_pem(cert, ret_cert, err));
        *ret_key = TAKE_PTR(key_pem);
        return 0;
}

/* ---- issuing ---- */

/* OpenSSL says nothing about an address that is none. */
static int check_addresses(const struct cert_subject *subject, struct error *err)
{
        for (const char *const *ip = subject->ip_addresses; ip && *ip; ip++) {
                ASN1_OCTET_STRING *octets = a2i_IPADDRESS(*ip);
                if (!octets)
                        return error_set(err, ERR_INVALID, "\"%s\" is not an IP address", *ip);
                ASN1_OCTET_STRING_free(octets);
        }
        return 0;
}

static int read_ca(const char *cert_pem, const char *key_pem, X509 **ret_cert, EVP_PKEY **ret_key,
                   struct error *err)
{
        *ret_cert = openssl_read_cert(cert_pem, err);
        *ret_key = *ret_cert ? openssl_read_key(key_pem, err) : NULL;
        return *ret_key ? 0 : (error_wrap(err, "CA"), ERR_INVALID);
}

/* usage: the extended key usage. */
static bool finish_leaf(X509 *cert, X509 *ca, EVP_PKEY *ca_key, const char *usage)
{
        return X509_set_issuer_name(cert, X509_get_subject_name(ca)) &&
               add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
               add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") &&
               add_extension(cert, ca, NID_ext_key_usage, usage) &&
               add_extension(cert, ca, NID_authority_key_identifier, "keyid") &&
               X509_sign(cert, ca_key, EVP_sha256());
}

int cert_issue(const char *ca_cert_pem, const char *ca_key_pem, const struct cert_subject *subject,
               bool server, int64_t now_ms, int64_t days, char **ret_cert, char **ret_key, struct error *err)
{
        CLEANUP(x509_cleanup) X509 *ca = NULL;
        CLEANUP(key_cleanup) EVP_PKEY *ca_key = NULL;
        CLEANUP(key_cleanup) EVP_PKEY *key = NULL;
        TRY(check_addresses(subject, err));
        TRY(read_ca(ca_cert_pem, ca_key_pem, &ca, &ca_key, err));
        TRY(new_key(&key, err));
        CLEANUP(x509_cleanup) X509 *cert = new_cert(key, now_ms - HOUR_MS, now_ms + days * DAY_MS);
        if (!cert || !fill_name(X509_get_subject_name(cert), subject) ||
            !add_alternative_names(cert, subject) ||
            !finish_leaf(cert, ca, ca_key, server ? "serverAuth,clientAuth" : "clientAuth"))
                return openssl_error(err, ERR_INVALID, "issuing a certificate for %s",
                                     subject->common_name ? subject->common_name
                                                          : "a subject without a name");
        AUTO_FREE char *key_pem = NULL;
        TRY(key_to_pem(key, &key_pem, err));
        TRY(cert_to_pem(cert, ret_cert, err));
        *ret_key = TAKE_PTR(key_pem);
        return 0;
}

/* ---- requests ---- */

int cert_request(const struct cert_subject *subject, const char *key_pem, char **ret_csr, struct error *err)
{
        CLEANUP(key_cleanup) EVP_PKEY *key = openssl_read_key(key_pem, err);
        if (!key)
                return ERR_INVALID;
        CLEANUP(request_cleanup) X509_REQ *csr = X509_REQ_new();
        CLEANUP(bio_cleanup) BIO *bio = BIO_new(BIO_s_mem());
        if (!csr || !bio || !fill_name(X509_REQ_get_subject_name(csr), subject) ||
            !X509_REQ_set_pubkey(csr, key) || !X509_REQ_sign(csr, key, EVP_sha256()) ||
            !PEM_write_bio_X509_REQ(bio, csr))
                return openssl_error(err, ERR_INVALID, "making a certificate request");
        return bio_text(bio, ret_csr, err);
}

static X509_REQ *read_request(const char *pem)
{
        size_t n = strnlen(pem, LIMIT_CERT_BYTES + 1);
        CLEANUP(bio_cleanup) BIO *bio = n <= LIMIT_CERT_BYTES ? BIO_new_mem_buf(pem, (int)n) : NULL;
        return bio ? PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL) : NULL;
}

int cert_sign_request(const char *ca_cert_pem, const char *ca_key_pem, const char *csr_pem, int64_t now_ms,
                      int64_t seconds, char **ret_cert, struct error *err)
{
        CLEANUP(x509_cleanup) X509 *ca = NULL;
        CLEANUP(key_cleanup) EVP_PKEY *ca_key = NULL;
        TRY(read_ca(ca_cert_pem, ca_key_pem, &ca, &ca_key, err));
        CLEANUP(request_cleanup) X509_REQ *csr = read_request(csr_pem);
        EVP_PKEY *key = csr ? X509_REQ_get0_pubkey(csr) : NULL;
        if (!key || X509_REQ_verify(csr, key) != 1)
                return openssl_error(err, ERR_INVALID,
                                     "certificate request: unreadable or not signed by its own key");
        CLEANUP(x509_cleanup) X509 *cert = new_cert(key, now_ms - HOUR_MS, now_ms + seconds * 1000);
        if (!cert || !X509_set_subject_name(cert, X509_REQ_get_subject_name(csr)) ||
            !finish_leaf(cert, ca, ca_key, "clientAuth"))
                return openssl_error(err, ERR_INVALID, "signing a certificate request");
        return cert_to_pem(cert, ret_cert, err);
}

/* ---- reading ---- */

int cert_read_subject(const char *pem, char **ret_common_name, char ***ret_organizations, struct error *err)
{
        if (strstr(pem, "CERTIFICATE REQUEST-----")) {
                CLEANUP(request_cleanup) X509_REQ *csr = read_request(pem);
                if (!csr)
                        return openssl_error(err, ERR_INVALID, "certificate request");
                return openssl_read_name(X509_REQ_get_subject_name(csr), ret_common_name, ret_organizations,
                                         err);
        }
        CLEANUP(x509_cleanup) X509 *cert = openssl_read_cert(pem, err);
        if (!cert)
                return ERR_INVALID;
        return openssl_read_name(X509_get_subject_name(cert), ret_common_name, ret_organizations, err);
}

static int64_t wall_ms_of(const ASN1_TIME *t)
{
        ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
        int days, seconds;
        bool ok = epoch && ASN1_TIME_diff(&days, &seconds, epoch, t);
        ASN1_TIME_free(epoch);
        return ok ? days * DAY_MS + seconds * INT64_C(1000) : TIME_NONE;
}

int64_t cert_not_after_ms(const char *cert_pem)
{
        CLEANUP(x509_cleanup) X509 *cert = openssl_read_cert(cert_pem, NULL);
        return cert ? wall_ms_of(X509_get0_notAfter(cert)) : TIME_NONE;
}

int64_t cert_not_before_ms(const char *cert_pem)
{
        CLEANUP(x509_cleanup) X509 *cert = openssl_read_cert(cert_pem, NULL);
        return cert ? wall_ms_of(X509_get0_notBefore(cert)) : TIME_NONE;
}

bool cert_has_key(const char *cert_pem, const char *key_pem)
{
        CLEANUP(x509_cleanup) X509 *cert = openssl_read_cert(cert_pem, NULL);
        CLEANUP(key_cleanup) EVP_PKEY *key = cert ? openssl_read_key(key_pem, NULL) : NULL;
        bool has = key && X509_check_private_key(cert, key) == 1;
        ERR_clear_error();
        return has;
}

bool cert_is_for(const char *cert_pem, const char *dns_name)
{
        CLEANUP(x509_cleanup) X509 *cert = openssl_read_cert(cert_pem, NULL);
        return cert && X509_check_host(cert, dns_name, 0, 0, NULL) == 1;
}
