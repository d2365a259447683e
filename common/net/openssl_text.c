#include "common/net/openssl_text.h"

#include <stdarg.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "common/base/limits.h"
#include "common/base/vec.h"
#include "common/net/cert.h"

int openssl_error(struct error *err, enum error_code code, const char *fmt, ...)
{
        char context[256], reason[160];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(context, sizeof(context), fmt, ap);
        va_end(ap);
        unsigned long first = ERR_get_error();
        ERR_clear_error();
        if (first == 0)
                return error_set(err, code, "%s", context);
        if (ERR_GET_REASON(first) == ERR_R_MALLOC_FAILURE)
                return error_no_memory(err);
        const char *words = ERR_reason_error_string(first);
        if (!words) {
                ERR_error_string_n(first, reason, sizeof(reason));
                words = reason;
        }
        return error_set(err, code, "%s: %s", context, words);
}

static BIO *pem_bio(const char *pem)
{
        size_t n = pem ? strnlen(pem, LIMIT_CERT_BYTES + 1) : 0;
        return n > 0 && n <= LIMIT_CERT_BYTES ? BIO_new_mem_buf(pem, (int)n) : NULL;
}

X509 *openssl_read_cert(const char *pem, struct error *err)
{
        BIO *bio = pem_bio(pem);
        X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
        BIO_free(bio);
        if (!cert)
                openssl_error(err, ERR_INVALID, "certificate");
        return cert;
}

/* Without this OpenSSL would ask at the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *ctx)
{
        return -1;
}

EVP_PKEY *openssl_read_key(const char *pem, struct error *err)
{
        BIO *bio = pem_bio(pem);
        EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
        BIO_free(bio);
        if (!key)
                openssl_error(err, ERR_INVALID, "private key");
        return key;
}

typedef VEC(char *) strings_vec;

static int entry_text(const X509_NAME *name, int at, char **ret, struct error *err)
{
        unsigned char *utf8 = NULL;
        int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
        if (n < 0)
                return openssl_error(err, ERR_INVALID, "subject");
        bool clean = memchr(utf8, 0, (size_t)n) == NULL;
        *ret = clean ? mem_strndup((const char *)utf8, (size_t)n) : NULL;
        OPENSSL_free(utf8);
        if (!clean)
                return error_set(err, ERR_INVALID, "subject: a value with a NUL in it");
        return *ret ? 0 : error_no_memory(err);
}

static int read_organizations(const X509_NAME *name, strings_vec *list, struct error *err)
{
        for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;) {
                char *text = NULL;
                TRY(entry_text(name, at, &text, err));
                if (vec_push(list, text) < 0) {
                        mem_free(text);
                        return error_no_memory(err);
                }
        }
        return vec_push(list, NULL) < 0 ? error_no_memory(err) : 0;
}

int openssl_read_name(const X509_NAME *name, char **ret_common_name, char ***ret_organizations,
                      struct error *err)
{
        AUTO_FREE char *common_name = NULL;
        int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
        if (at >= 0)
                TRY(entry_text(name, at, &common_name, err));
        else if (!(common_name = mem_strdup("")))
                return error_no_memory(err);
        strings_vec list = VEC_INIT;
        int r = read_organizations(name, &list, err);
        if (r < 0) {
                vec_for_each(&list, s)
                        mem_free(*s);
                vec_free(&list);
                return r;
        }
        *ret_common_name = TAKE_PTR(common_name);
        *ret_organizations = list.at;
        return 0;
}

void cert_strings_free(char **strings)
{
        for (char **s = strings; s && *s; s++)
                mem_free(*s);
        mem_free(strings);
}
