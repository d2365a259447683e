#include "hub-agent/source/verify/signatures.h"

#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/log_entry.h"
#include "hub-agent/source/verify/public_key.h"

#define CLAIM_TYPE "cosign container image signature"

/* What one signature is judged by. */
struct judging {
        const struct signature_trust *trust;
        const char *digest;
        const struct signature *signature;
        struct slice value; /* its bytes */
        struct arena *arena;
        struct error *err;
};

/* ---- what was signed ---- */

static int check_claims(const json_t *doc, const char *digest, struct error *err)
{
        const char *type = NULL, *of = NULL;

        TRY(doc_need_string(doc, "critical.type", &type, err));
        if (!text_equal(type, CLAIM_TYPE))
                return error_set(err, ERR_INVALID, "critical.type is '%s' and not '" CLAIM_TYPE "'", type);
        TRY(doc_need_string(doc, "critical.image.docker-manifest-digest", &of, err));
        if (!text_equal(of, digest))
                return error_set(err, ERR_INVALID, "it is of %s and not of %s", of, digest);
        return 0;
}

static int read_claims(const struct judging *j)
{
        AUTO_JSON json_t *doc = NULL;

        TRY(doc_parse(j->signature->payload, &doc, j->err));
        return check_claims(doc, j->digest, j->err);
}

static int check_payload(const struct judging *j)
{
        return read_claims(j) < 0 ? refuse(j->err, "what is signed") : 0;
}

/* ---- with a key ---- */

static bool is_by_any_key(const struct judging *j)
{
        for (size_t i = 0; i < j->trust->n_keys; i++)
                if (public_key_signed(j->trust->keys[i], j->signature->payload, j->value))
                        return true;
        return false;
}

static int judge_keyed(const struct judging *j)
{
        if (!is_by_any_key(j))
                return error_set(j->err, ERR_NOT_FOUND, "it is by none of the keys");
        return check_payload(j);
}

/* ---- with a certificate ---- */

static int read_certificates(const struct judging *j, X509 **ret, STACK_OF(X509) * *ret_given)
{
        const struct signature *s = j->signature;

        if (text_empty(s->certificate))
                return error_set(j->err, ERR_FORBIDDEN,
                                 "it has no annotation dev.sigstore.cosign/certificate: with a key it is "
                                 "signed for spec.verify.secretRef");
        if (certificate_of_pem(slice_of(s->certificate), j->arena, ret, j->err) < 0)
                return refuse(j->err, "dev.sigstore.cosign/certificate");
        TRY(certificates_new(j->arena, ret_given, j->err));
        if (certificates_of_pem(s->chain, j->arena, *ret_given, j->err) < 0)
                return refuse(j->err, "dev.sigstore.cosign/chain");
        return 0;
}

static int read_entry(const struct judging *j, struct log_entry *ret)
{
        if (text_empty(j->signature->bundle))
                return error_set(
                        j->err, ERR_FORBIDDEN,
                        "it has no annotation dev.sigstore.cosign/bundle, so that nobody says when it "
                        "was made");
        return log_entry_read(j->signature->bundle, j->trust->root, j->arena, ret, j->err);
}

static int check_signed(const struct judging *j, X509 *leaf)
{
        EVP_PKEY *key = X509_get0_pubkey(leaf);

        if (!key || public_key_check(key, j->err) < 0)
                return error_set(j->err, ERR_FORBIDDEN,
                                 "the certificate: its key is of no kind that is taken");
        if (!public_key_signed(key, j->signature->payload, j->value))
                return error_set(j->err, ERR_FORBIDDEN, "it is not by the key of its certificate");
        return 0;
}

static int judge_keyless(const struct judging *j)
{
        const struct signature_trust *t = j->trust;
        struct log_entry entry;
        STACK_OF(X509) *given = NULL;
        X509 *leaf = NULL;

        TRY(read_certificates(j, &leaf, &given));
        TRY(read_entry(j, &entry));
        TRY(certificate_check(leaf, given, t->root, entry.wall_ms, j->arena, j->err));
        TRY(check_signed(j, leaf));
        TRY(log_entry_check(&entry, j->signature->payload, j->value, leaf, j->arena, j->err));
        TRY(check_payload(j));
        return certificate_check_signer(leaf, t->signers, t->n_signers, j->arena, j->err);
}

/* ---- all of them ---- */

static int judge(struct judging *j)
{
        const struct signature *s = j->signature;

        if (text_empty(s->value))
                return error_set(j->err, ERR_FORBIDDEN,
                                 "it has no annotation dev.cosignproject.cosign/signature");
        if (strlen(s->value) > SIGNATURE_TEXT_BYTES)
                return error_set(j->err, ERR_FORBIDDEN, "the signature has more than %u bytes",
                                 SIGNATURE_TEXT_BYTES);
        if (decode_base64(s->value, j->arena, "dev.cosignproject.cosign/signature", &j->value, j->err) < 0)
                return refuse(j->err, "the signature");
        return j->trust->n_keys > 0 ? judge_keyed(j) : judge_keyless(j);
}

/* Of several the first is told that is more than one of somebody else. */
static bool says_more(const struct error *a, const struct error *b)
{
        return b->code == 0 || (b->code == ERR_NOT_FOUND && a->code != ERR_NOT_FOUND);
}

static int tell(const struct error *why, const char *reference, size_t n, struct error *err)
{
        if (why->code == ERR_NOT_FOUND)
                return error_set(err, ERR_FORBIDDEN, "no matching signatures were found for '%s'", reference);
        if (n == 0)
                return error_set(err, ERR_FORBIDDEN, "failed to verify %s: no signatures found", reference);
        return error_set(err, ERR_FORBIDDEN, "failed to verify %s: %s", reference, why->text);
}

int signatures_check(const struct signature_trust *t, const char *digest, const char *reference,
                     const struct signature *all, size_t n, struct arena *arena, struct error *err)
{
        struct error first = { 0 };

        for (size_t i = 0; i < n; i++) {
                struct error own = { 0 };
                struct judging j = { t, digest, &all[i], { 0 }, arena, &own };
                int code = judge(&j);

                if (code == 0)
                        return 0;
                if (code == ERR_NO_MEMORY)
                        return error_no_memory(err);
                if (says_more(&own, &first))
                        first = own;
        }
        return tell(&first, reference, n, err);
}
