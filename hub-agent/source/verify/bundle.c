/* Bundles of sigstore, as cosign 3 keeps them: what is signed stands in an envelope (DSSE), or is the
 * manifest itself, together with the certificate and the log's entry. */
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/judging.h"
#include "hub-agent/source/verify/log_proof.h"
#include "hub-agent/source/verify/timestamp.h"

#define BUNDLE_TYPE_OLD "application/vnd.dev.sigstore.bundle+json;version=0.3"
#define PAYLOAD_TYPE "application/vnd.in-toto+json"
#define STATEMENT_TYPE "https://in-toto.io/Statement/v"
#define PREDICATE_TYPE "https://sigstore.dev/cosign/sign/v1"
#define ENTRIES_MAX 10

/* ---- what is signed ---- */

/* What an envelope's signature is of: DSSE's pre-authentication encoding. */
static int encode(const char *type, struct slice payload, struct arena *arena, struct slice *ret,
                  struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * SIGNATURE_BYTES);
        buf_printf(&b, "DSSEv1 %zu %s %zu ", strlen(type), type, payload.len);
        buf_append(&b, payload.data, payload.len);
        TRY(buf_status(&b, err, "an envelope"));
        ret->data = arena_memdup(arena, b.data, b.len);
        ret->len = b.len;
        return ret->data ? 0 : error_no_memory(err);
}

static int read_envelope(const json_t *envelope, struct arena *arena, struct claim *c,
                         struct slice *ret_payload, struct error *err)
{
        const json_t *list = doc_get_array(envelope, "signatures");
        const char *type = NULL, *payload = NULL, *value = NULL;

        if (json_array_size(list) != 1)
                return error_set(err, ERR_INVALID, "signatures: it has not just one");
        TRY(doc_need_string(envelope, "payloadType", &type, err));
        TRY(doc_need_string(envelope, "payload", &payload, err));
        TRY(doc_need_string(json_array_get(list, 0), "sig", &value, err));
        if (!text_equal(type, PAYLOAD_TYPE))
                return error_set(err, ERR_INVALID, "payloadType is '%s' and not '" PAYLOAD_TYPE "'", type);
        TRY(decode_base64(payload, arena, "payload", ret_payload, err));
        TRY(decode_base64(value, arena, "signatures[0].sig", &c->value, err));
        c->in_envelope = true;
        sha256_of(*ret_payload, c->hash);
        return encode(type, *ret_payload, arena, &c->signed_bytes, err);
}

static bool names(const json_t *subjects, const char *digest)
{
        static const char *const path[] = { "digest", "sha256" };
        const json_t *one;
        size_t i;

        json_array_foreach(subjects, i, one) {
                const char *hex = json_string_value(doc_get_keys(one, path, ARRAY_LEN(path)));

                if (hex && text_starts_with(digest, "sha256:") && text_equal(hex, digest + strlen("sha256:")))
                        return true;
        }
        return false;
}

/* What else is attested of a chart, and signed by the same, is no signature of it. */
static int check_statement(const json_t *doc, const char *digest, struct error *err)
{
        const char *type = NULL, *predicate = NULL;

        TRY(doc_need_string(doc, "_type", &type, err));
        TRY(doc_need_string(doc, "predicateType", &predicate, err));
        if (!text_starts_with(type, STATEMENT_TYPE))
                return error_set(err, ERR_INVALID, "_type is '%s' and not '" STATEMENT_TYPE "1'", type);
        if (!text_equal(predicate, PREDICATE_TYPE))
                return error_set(err, ERR_INVALID, "predicateType is '%s' and not '" PREDICATE_TYPE "'",
                                 predicate);
        if (!names(doc_get_array(doc, "subject"), digest))
                return error_set(err, ERR_INVALID, "none of its subjects is %s", digest);
        return 0;
}

/* The signature is of the manifest itself. */
static int read_message(const json_t *message, const char *digest, struct arena *arena, struct claim *c,
                        struct error *err)
{
        const char *algorithm = NULL, *hash = NULL, *value = NULL;
        struct slice bytes;
        char hex[SHA256_HEX_SIZE];

        TRY(doc_need_string(message, "messageDigest.algorithm", &algorithm, err));
        TRY(doc_need_string(message, "messageDigest.digest", &hash, err));
        TRY(doc_need_string(message, "signature", &value, err));
        TRY(decode_base64(hash, arena, "messageDigest.digest", &bytes, err));
        TRY(decode_base64(value, arena, "signature", &c->value, err));
        if (!text_equal(algorithm, "SHA2_256") || bytes.len != SHA256_SIZE)
                return error_set(err, ERR_INVALID, "messageDigest: it is no SHA-256");
        memcpy(c->hash, bytes.data, SHA256_SIZE);
        text_hex_encode(c->hash, SHA256_SIZE, hex);
        if (!text_starts_with(digest, "sha256:") || !text_equal(hex, digest + strlen("sha256:")))
                return error_set(err, ERR_INVALID, "it is of sha256:%s and not of %s", hex, digest);
        return 0;
}

static int read_statement(const struct judging *j, struct slice payload)
{
        AUTO_JSON json_t *doc = NULL;

        TRY(doc_parse(payload, &doc, j->err));
        return check_statement(doc, j->digest, j->err);
}

/* What a message is of was compared before. */
static int check_payload(const struct judging *j, const struct claim *c, struct slice payload)
{
        if (!c->in_envelope)
                return 0;
        return read_statement(j, payload) < 0 ? refuse(j->err, "what is signed") : 0;
}

/* ---- when the log had it ---- */

/* Numbers of 64 bits are texts. */
static int need_number(const json_t *of, const char *path, int64_t *ret, struct error *err)
{
        const char *text = NULL;

        TRY(doc_need_string(of, path, &text, err));
        return text_parse_i64(text, ret) ? 0 : error_set(err, ERR_INVALID, "%s: it is no number", path);
}

static int read_promise(const json_t *entry, struct arena *arena, struct log_promise *ret, struct error *err)
{
        const char *id = NULL;
        struct slice bytes;
        char *hex;

        TRY(doc_need_string(entry, "inclusionPromise.signedEntryTimestamp", &ret->signature, err));
        TRY(doc_need_string(entry, "canonicalizedBody", &ret->body, err));
        TRY(doc_need_string(entry, "logId.keyId", &id, err));
        TRY(need_number(entry, "integratedTime", &ret->seconds, err));
        TRY(need_number(entry, "logIndex", &ret->index, err));
        TRY(decode_base64(id, arena, "logId.keyId", &bytes, err));
        hex = arena_alloc(arena, 2 * bytes.len + 1);
        if (!hex)
                return error_no_memory(err);
        text_hex_encode(bytes.data, bytes.len, hex);
        ret->log = hex;
        return 0;
}

/* Of an authority for times, over the signature. */
static int read_timestamps(const struct judging *j, const json_t *material, struct claim *c)
{
        const json_t *list = doc_get_array(material, "timestampVerificationData.rfc3161Timestamps"), *one;
        size_t i;

        error_set(j->err, ERR_INVALID, "it has neither an inclusionPromise nor a timestamp");
        json_array_foreach(list, i, one) {
                const char *text = NULL;
                struct slice response;

                if (i >= ENTRIES_MAX)
                        break;
                TRY(doc_need_string(one, "signedTimestamp", &text, j->err));
                TRY(decode_base64(text, j->arena, "signedTimestamp", &response, j->err));
                if (timestamp_check(response, c->value, j->trust->root, &c->entry.wall_ms, j->err) == 0)
                        return 0;
        }
        return error_wrap(j->err, "timestampVerificationData");
}

/* A log promises to take an entry in, and says when; or it proves that it has it, and another says when. */
static int read_entry(const struct judging *j, const json_t *material, const json_t *entry, struct claim *c)
{
        struct log_promise p = { 0 };

        if (doc_get_string(entry, "inclusionPromise.signedEntryTimestamp")) {
                TRY(read_promise(entry, j->arena, &p, j->err));
                return log_promise_check(&p, j->trust->root, j->arena, &c->entry, j->err);
        }
        TRY(read_timestamps(j, material, c));
        return log_proof_check(entry, j->trust->root, c->entry.wall_ms, j->arena, &c->entry.body, j->err);
}

/* One of them suffices. */
static int read_entries(const struct judging *j, const json_t *material, struct claim *c)
{
        const json_t *list = doc_get_array(material, "tlogEntries"), *one;
        size_t i;

        if (json_array_size(list) == 0 || json_array_size(list) > ENTRIES_MAX)
                return error_set(j->err, ERR_INVALID, "it has none, or more than %d", ENTRIES_MAX);
        json_array_foreach(list, i, one) {
                int code = read_entry(j, material, one, c);

                if (code == 0 || code == ERR_NO_MEMORY)
                        return code;
        }
        return j->err->code;
}

/* ---- the certificate ---- */

static const char *certificate_in(const json_t *material)
{
        const char *one = doc_get_string(material, "certificate.rawBytes");
        const json_t *chain = doc_get_array(material, "x509CertificateChain.certificates");

        return one ? one : doc_get_string(json_array_get(chain, 0), "rawBytes");
}

static int read_certificate(const struct judging *j, const json_t *material, struct claim *c)
{
        const char *text = certificate_in(material);
        struct slice der;

        if (!text)
                return error_set(j->err, ERR_INVALID,
                                 "it has no certificate: with a key it is signed for spec.verify.secretRef");
        TRY(decode_base64(text, j->arena, "certificate.rawBytes", &der, j->err));
        TRY(certificate_of_der(der, j->arena, &c->leaf, j->err));
        return certificates_new(j->arena, &c->given, j->err);
}

/* ---- the bundle ---- */

static int check_type(const json_t *doc, struct error *err)
{
        const char *type = NULL;

        TRY(doc_need_string(doc, "mediaType", &type, err));
        if (!text_equal(type, SIGNATURE_BUNDLE_TYPE) && !text_equal(type, BUNDLE_TYPE_OLD))
                return error_set(err, ERR_INVALID, "mediaType is '%s' and not '" SIGNATURE_BUNDLE_TYPE "'",
                                 type);
        if (!doc_get_object(doc, "dsseEnvelope") && !doc_get_object(doc, "messageSignature"))
                return error_set(err, ERR_INVALID, "dsseEnvelope: is required");
        return 0;
}

static int read_signed(const struct judging *j, const json_t *doc, struct claim *c, struct slice *ret_payload)
{
        const json_t *envelope = doc_get_object(doc, "dsseEnvelope"),
                     *message = doc_get_object(doc, "messageSignature");

        if (envelope)
                return read_envelope(envelope, j->arena, c, ret_payload, j->err) < 0
                               ? refuse(j->err, "dsseEnvelope")
                               : 0;
        return read_message(message, j->digest, j->arena, c, j->err) < 0 ? refuse(j->err, "messageSignature")
                                                                         : 0;
}

static int judge_by_certificate(const struct judging *j, const json_t *doc, struct claim *c,
                                struct slice payload)
{
        const json_t *material = doc_get_object(doc, "verificationMaterial");

        if (read_certificate(j, material, c) < 0)
                return refuse(j->err, "verificationMaterial");
        if (read_entries(j, material, c) < 0)
                return refuse(j->err, "verificationMaterial.tlogEntries");
        TRY(judge_keyless(j, c));
        TRY(check_payload(j, c, payload));
        return judge_signer(j, c);
}

int judge_bundle(const struct judging *j)
{
        AUTO_JSON json_t *doc = NULL;
        struct slice payload = { 0 };
        struct claim c = { 0 };

        if (doc_parse(j->signature->whole, &doc, j->err) < 0 || check_type(doc, j->err) < 0)
                return refuse(j->err, "the bundle");
        TRY(read_signed(j, doc, &c, &payload));
        if (j->trust->n_keys == 0)
                return judge_by_certificate(j, doc, &c, payload);
        TRY(judge_keyed(j, &c));
        return check_payload(j, &c, payload);
}
