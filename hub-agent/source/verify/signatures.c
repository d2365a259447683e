#include "hub-agent/source/verify/signatures.h"

#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/judging.h"
#include "hub-agent/source/verify/public_key.h"

#define CLAIM_TYPE "cosign container image signature"

/* ---- who signed ---- */

static bool signed_by(EVP_PKEY *key, const struct claim *c)
{
        return c->signed_bytes.len > 0 ? public_key_signed(key, c->signed_bytes, c->value)
                                       : public_key_signed_hash(key, c->hash, c->value);
}

int judge_keyed(const struct judging *j, const struct claim *c)
{
        for (size_t i = 0; i < j->trust->n_keys; i++)
                if (signed_by(j->trust->keys[i], c))
                        return 0;
        return error_set(j->err, ERR_NOT_FOUND, "it is by none of the keys");
}

static int check_signed(const struct judging *j, const struct claim *c)
{
        EVP_PKEY *key = X509_get0_pubkey(c->leaf);

        if (!key || public_key_check(key, j->err) < 0)
                return error_set(j->err, ERR_FORBIDDEN,
                                 "the certificate: its key is of no kind that is taken");
        if (!signed_by(key, c))
                return error_set(j->err, ERR_FORBIDDEN, "it is not by the key of its certificate");
        return 0;
}

int judge_keyless(const struct judging *j, const struct claim *c)
{
        TRY(certificate_check(c->leaf, c->given, j->trust->root, c->entry.wall_ms, j->arena, j->err));
        TRY(check_signed(j, c));
        return log_entry_check(&c->entry, c->in_envelope, c->hash, c->value, c->leaf, j->arena, j->err);
}

int judge_signer(const struct judging *j, const struct claim *c)
{
        return certificate_check_signer(c->leaf, j->trust->signers, j->trust->n_signers, j->arena, j->err);
}

/* ---- what a layer says ---- */

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

static int read_value(const struct judging *j, struct slice *ret)
{
        const char *value = j->signature->value;

        if (text_empty(value))
                return error_set(j->err, ERR_FORBIDDEN,
                                 "it has no annotation dev.cosignproject.cosign/signature");
        if (strlen(value) > SIGNATURE_TEXT_BYTES)
                return error_set(j->err, ERR_FORBIDDEN, "the signature has more than %u bytes",
                                 SIGNATURE_TEXT_BYTES);
        return decode_base64(value, j->arena, "dev.cosignproject.cosign/signature", ret, j->err) < 0
                       ? refuse(j->err, "the signature")
                       : 0;
}

static int read_certificates(const struct judging *j, struct claim *c)
{
        const struct signature *s = j->signature;

        if (text_empty(s->certificate))
                return error_set(j->err, ERR_FORBIDDEN,
                                 "it has no annotation dev.sigstore.cosign/certificate: with a key it is "
                                 "signed for spec.verify.secretRef");
        if (certificate_of_pem(slice_of(s->certificate), j->arena, &c->leaf, j->err) < 0)
                return refuse(j->err, "dev.sigstore.cosign/certificate");
        TRY(certificates_new(j->arena, &c->given, j->err));
        if (certificates_of_pem(s->chain, j->arena, c->given, j->err) < 0)
                return refuse(j->err, "dev.sigstore.cosign/chain");
        return 0;
}

static int read_entry(const struct judging *j, struct claim *c)
{
        const struct signature *s = j->signature;

        if (!text_empty(s->bundle))
                return log_entry_read(s->bundle, j->trust->root, j->arena, &c->entry, j->err);
        return error_set(j->err, ERR_FORBIDDEN,
                         "it has no annotation dev.sigstore.cosign/bundle, so that nobody says when it was "
                         "made%s%s",
                         s->unlogged ? ": " : "", or_empty(s->unlogged));
}

static int judge_layer(const struct judging *j)
{
        struct claim c = { .signed_bytes = j->signature->payload };

        if (c.signed_bytes.len == 0)
                return error_set(j->err, ERR_FORBIDDEN, "what is signed: it is empty");
        sha256_of(c.signed_bytes, c.hash);
        TRY(read_value(j, &c.value));
        if (j->trust->n_keys > 0) {
                TRY(judge_keyed(j, &c));
                return check_payload(j);
        }
        TRY(read_certificates(j, &c));
        TRY(read_entry(j, &c));
        TRY(judge_keyless(j, &c));
        TRY(check_payload(j));
        return judge_signer(j, &c);
}

/* ---- all of them ---- */

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
                const struct judging j = { t, digest, &all[i], arena, &own };
                int code = all[i].whole.len > 0 ? judge_bundle(&j) : judge_layer(&j);

                if (code == 0)
                        return 0;
                if (code == ERR_NO_MEMORY)
                        return error_no_memory(err);
                if (says_more(&own, &first))
                        first = own;
        }
        return tell(&first, reference, n, err);
}
