/* Whom a certificate is of: who vouched for the signer, and what the signer is called. */
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "hub-agent/source/verify/certificate.h"

#define OID_ISSUER "1.3.6.1.4.1.57264.1.8"     /* a UTF8String */
#define OID_ISSUER_OLD "1.3.6.1.4.1.57264.1.1" /* the text itself */
#define OID_NAME "1.3.6.1.4.1.57264.1.7"       /* an otherName, for what is no address */

static struct slice slice_of_string(const ASN1_STRING *s)
{
        return (struct slice){ (const char *)ASN1_STRING_get0_data(s), (size_t)ASN1_STRING_length(s) };
}

/* ---- the issuer ---- */

/* The contents of the extension; NULL: there is none. */
static const ASN1_OCTET_STRING *extension_of(X509 *leaf, const char *oid)
{
        ASN1_OBJECT *name = OBJ_txt2obj(oid, 1);
        int at = name ? X509_get_ext_by_OBJ(leaf, name, -1) : -1;

        ASN1_OBJECT_free(name);
        return at >= 0 ? X509_EXTENSION_get_data(X509_get_ext(leaf, at)) : NULL;
}

static int copy(struct slice s, struct arena *arena, struct slice *ret, struct error *err)
{
        if (!text_is_utf8(s.data, s.len))
                return error_set(err, ERR_FORBIDDEN, "the certificate: its issuer is no text");
        ret->data = arena_strndup(arena, s.data, s.len);
        ret->len = s.len;
        return ret->data ? 0 : error_no_memory(err);
}

static int read_issuer(X509 *leaf, struct arena *arena, struct slice *ret, struct error *err)
{
        const ASN1_OCTET_STRING *coded = extension_of(leaf, OID_ISSUER), *old = NULL;
        const unsigned char *at = coded ? ASN1_STRING_get0_data(coded) : NULL;
        ASN1_UTF8STRING *text = coded ? d2i_ASN1_UTF8STRING(NULL, &at, ASN1_STRING_length(coded)) : NULL;
        int code;

        if (!coded)
                old = extension_of(leaf, OID_ISSUER_OLD);
        if (text && at == ASN1_STRING_get0_data(coded) + ASN1_STRING_length(coded))
                code = copy(slice_of_string(text), arena, ret, err);
        else if (old)
                code = copy(slice_of_string(old), arena, ret, err);
        else
                code = error_set(err, ERR_FORBIDDEN,
                                 "the certificate does not say who vouched for its signer");
        ASN1_UTF8STRING_free(text);
        return code;
}

/* ---- the signer ---- */

static struct slice text_of_other(const GENERAL_NAME *n)
{
        ASN1_OBJECT *type = NULL, *wanted = OBJ_txt2obj(OID_NAME, 1);
        ASN1_TYPE *value = NULL;
        struct slice s = { 0 };

        if (wanted && GENERAL_NAME_get0_otherName(n, &type, &value) && OBJ_cmp(type, wanted) == 0 &&
            ASN1_TYPE_get(value) == V_ASN1_UTF8STRING)
                s = slice_of_string(value->value.utf8string);
        ASN1_OBJECT_free(wanted);
        return s;
}

static struct slice text_of_name(const GENERAL_NAME *n)
{
        int type;
        const void *value = GENERAL_NAME_get0_value(n, &type);

        if (type == GEN_OTHERNAME)
                return text_of_other(n);
        return type == GEN_EMAIL || type == GEN_URI || type == GEN_DNS ? slice_of_string(value)
                                                                       : (struct slice){ 0 };
}

/* 1, 0 or ERR_NO_MEMORY. */
static int is_for(const struct signer_pattern *p, struct slice issuer, struct slice subject)
{
        int found = regex_test(p->issuer, issuer);

        return found == 1 ? regex_test(p->subject, subject) : found;
}

static int is_for_any(const struct signer_pattern *all, size_t n, struct slice issuer, struct slice subject)
{
        int found = 0;

        for (size_t i = 0; i < n && found == 0; i++)
                found = is_for(&all[i], issuer, subject);
        return found;
}

static int check_names(const GENERAL_NAMES *names, struct slice issuer, const struct signer_pattern *all,
                       size_t n, struct error *err)
{
        struct slice last = SLICE("");

        for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
                struct slice name = text_of_name(sk_GENERAL_NAME_value(names, i));
                int found;

                if (name.len == 0 || !text_is_utf8(name.data, name.len))
                        continue;
                last = name;
                found = is_for_any(all, n, issuer, name);
                if (found != 0)
                        return found == 1 ? 0 : error_no_memory(err);
        }
        if (last.len == 0)
                return error_set(err, ERR_FORBIDDEN, "the certificate does not say whom it is of");
        return error_set(err, ERR_FORBIDDEN,
                         "it is signed by '%.*s' of '%.*s', whom spec.verify.matchOIDCIdentity does not name",
                         (int)last.len, last.data, (int)issuer.len, issuer.data);
}

int certificate_check_signer(X509 *leaf, const struct signer_pattern *signers, size_t n, struct arena *arena,
                             struct error *err)
{
        GENERAL_NAMES *names;
        struct slice issuer;
        int code;

        if (n == 0)
                return 0;
        TRY(read_issuer(leaf, arena, &issuer, err));
        names = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
        code = check_names(names, issuer, signers, n, err);
        GENERAL_NAMES_free(names);
        ERR_clear_error();
        return code;
}
