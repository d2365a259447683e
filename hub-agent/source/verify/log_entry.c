#include "hub-agent/source/verify/log_entry.h"

#include "common/base/digest.h"
#include "common/json/doc.h"
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/public_key.h"

#define BUNDLE "dev.sigstore.cosign/bundle"
#define LOG_ID_SIZE 32

/* ---- what the log signed ---- */

/* Both stand in what was signed as they are: nothing that would have to be escaped, or be written otherwise,
 * may be in them. */
static bool is_made_of(const char *text, const char *letters)
{
        return strspn(text, letters) == strlen(text);
}

static int check_parts(const struct log_promise *p, struct error *err)
{
        static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

        if (p->seconds < 0 || p->seconds > INT64_MAX / 1000)
                return error_set(err, ERR_INVALID, "Payload.integratedTime: it is no time");
        if (p->index < 0)
                return error_set(err, ERR_INVALID, "Payload.logIndex: it is no index");
        if (!is_made_of(p->body, base64))
                return error_set(err, ERR_INVALID, "Payload.body: it is no base64");
        if (strlen(p->log) != 2 * LOG_ID_SIZE || !is_made_of(p->log, "0123456789abcdef"))
                return error_set(err, ERR_INVALID, "Payload.logID: it is no SHA-256 in hex");
        return 0;
}

/* As RFC 8785 writes it. */
static int write_signed(const struct log_promise *p, struct buf *b)
{
        return buf_printf(b, "{\"body\":\"%s\",\"integratedTime\":%lld,\"logID\":\"%s\",\"logIndex\":%lld}",
                          p->body, (long long)p->seconds, p->log, (long long)p->index);
}

static const struct trusted_log *find_log(const struct log_promise *p, const struct trusted_root *root)
{
        char id[LOG_ID_SIZE];

        decode_hex(p->log, id, sizeof(id));
        return trusted_log_find(root->signature_logs, root->n_signature_logs,
                                (struct slice){ id, sizeof(id) }, p->seconds * 1000);
}

static int check_signed(const struct log_promise *p, const struct trusted_log *log, struct arena *arena,
                        struct error *err)
{
        AUTO_BUF struct buf b;
        struct slice signature;

        buf_init(&b, 2 * SIGNATURE_BYTES);
        TRY(decode_base64(p->signature, arena, "SignedEntryTimestamp", &signature, err));
        if (write_signed(p, &b) < 0)
                return buf_status(&b, err, "what the log signed");
        if (!public_key_signed(log->key, (struct slice){ b.data, b.len }, signature))
                return error_set(err, ERR_INVALID, "SignedEntryTimestamp: it is not the log's");
        return 0;
}

int log_promise_check(const struct log_promise *p, const struct trusted_root *root, struct arena *arena,
                      struct log_entry *ret, struct error *err)
{
        const struct trusted_log *log;

        TRY(check_parts(p, err));
        log = find_log(p, root);
        if (!log)
                return error_set(err, ERR_INVALID, "it is of no log of signatures of the trusted root");
        TRY(check_signed(p, log, arena, err));
        TRY(decode_base64(p->body, arena, "Payload.body", &ret->body, err));
        ret->wall_ms = p->seconds * 1000;
        return 0;
}

static int read_promise(const json_t *doc, struct log_promise *ret, struct error *err)
{
        ret->seconds = ret->index = -1;
        TRY(doc_need_string(doc, "SignedEntryTimestamp", &ret->signature, err));
        TRY(doc_need_string(doc, "Payload.body", &ret->body, err));
        TRY(doc_need_string(doc, "Payload.logID", &ret->log, err));
        TRY(doc_want_int(doc, "Payload.integratedTime", &ret->seconds, err));
        return doc_want_int(doc, "Payload.logIndex", &ret->index, err);
}

static int read_bundle(const char *bundle, const struct trusted_root *root, struct arena *arena,
                       struct log_entry *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct log_promise p = { 0 };

        if (strlen(bundle) > SIGNATURE_TEXT_BYTES)
                return error_set(err, ERR_LIMIT, "it has more than %u bytes", SIGNATURE_TEXT_BYTES);
        TRY(doc_parse(slice_of(bundle), &doc, err));
        TRY(read_promise(doc, &p, err));
        return log_promise_check(&p, root, arena, ret, err);
}

int log_entry_read(const char *bundle, const struct trusted_root *root, struct arena *arena,
                   struct log_entry *ret, struct error *err)
{
        int code = read_bundle(bundle, root, arena, ret, err);

        return code < 0 ? refuse(err, BUNDLE) : 0;
}

/* ---- what is in it ---- */

/* What one kind of entry says, and where. */
struct named {
        const char *algorithm, *hash;        /* of the payload; hex, or base64 in entries of version 0.0.2 */
        const char *signature, *certificate; /* base64 */
        bool is_new;                         /* version 0.0.2 */
};

static int read_plain(const json_t *body, struct named *ret, struct error *err)
{
        TRY(doc_need_string(body, "spec.data.hash.algorithm", &ret->algorithm, err));
        TRY(doc_need_string(body, "spec.data.hash.value", &ret->hash, err));
        TRY(doc_need_string(body, "spec.signature.content", &ret->signature, err));
        return doc_need_string(body, "spec.signature.publicKey.content", &ret->certificate, err);
}

/* The only signature of the envelope. */
static int only_of(const json_t *spec, const json_t **ret, struct error *err)
{
        const json_t *list = doc_get_array(spec, "signatures");

        *ret = json_array_get(list, 0);
        return json_array_size(list) == 1 ? 0
                                          : error_set(err, ERR_INVALID, "signatures: it has not just one");
}

static int read_enveloped(const json_t *spec, struct named *ret, struct error *err)
{
        const json_t *only;

        TRY(only_of(spec, &only, err));
        TRY(doc_need_string(spec, "payloadHash.algorithm", &ret->algorithm, err));
        TRY(doc_need_string(spec, "payloadHash.value", &ret->hash, err));
        TRY(doc_need_string(only, "signature", &ret->signature, err));
        return doc_need_string(only, "verifier", &ret->certificate, err);
}

static int read_enveloped_new(const json_t *spec, struct named *ret, struct error *err)
{
        const json_t *only;

        ret->is_new = true;
        TRY(only_of(spec, &only, err));
        TRY(doc_need_string(spec, "payloadHash.algorithm", &ret->algorithm, err));
        TRY(doc_need_string(spec, "payloadHash.digest", &ret->hash, err));
        TRY(doc_need_string(only, "content", &ret->signature, err));
        return doc_need_string(only, "verifier.x509Certificate.rawBytes", &ret->certificate, err);
}

static int read_plain_new(const json_t *spec, struct named *ret, struct error *err)
{
        ret->is_new = true;
        TRY(doc_need_string(spec, "data.algorithm", &ret->algorithm, err));
        TRY(doc_need_string(spec, "data.digest", &ret->hash, err));
        TRY(doc_need_string(spec, "signature.content", &ret->signature, err));
        return doc_need_string(spec, "signature.verifier.x509Certificate.rawBytes", &ret->certificate, err);
}

static int read_named(const json_t *body, bool in_envelope, struct named *ret, struct error *err)
{
        const char *wanted = in_envelope ? "dsse" : "hashedrekord", *kind = NULL;
        const json_t *newer = doc_get_object(body, in_envelope ? "spec.dsseV002" : "spec.hashedRekordV002");

        TRY(doc_need_string(body, "kind", &kind, err));
        if (!text_equal(kind, wanted))
                return error_set(err, ERR_INVALID, "its kind is '%s' and not '%s'", kind, wanted);
        if (in_envelope)
                return newer ? read_enveloped_new(newer, ret, err)
                             : read_enveloped(doc_get_object(body, "spec"), ret, err);
        return newer ? read_plain_new(newer, ret, err) : read_plain(body, ret, err);
}

static int check_certificate(const struct named *n, X509 *leaf, struct arena *arena, struct error *err)
{
        struct slice coded;
        X509 *there = NULL;
        int code;

        TRY(decode_base64(n->certificate, arena, "its certificate", &coded, err));
        code = n->is_new ? certificate_of_der(coded, arena, &there, err)
                         : certificate_of_pem(coded, arena, &there, err);
        if (code < 0)
                return error_wrap(err, "its certificate");
        return X509_cmp(there, leaf) == 0 ? 0 : error_set(err, ERR_INVALID, "it is of another certificate");
}

static bool is_hash(const struct named *n, const uint8_t hash[SHA256_SIZE])
{
        char text[SHA256_HEX_SIZE];

        if (n->is_new) {
                text_base64_encode(hash, SHA256_SIZE, text);
                return text_equal(n->algorithm, "SHA2_256") && text_equal(n->hash, text);
        }
        text_hex_encode(hash, SHA256_SIZE, text);
        return text_equal(n->algorithm, "sha256") && text_equal(n->hash, text);
}

static int check_named(const struct named *n, const uint8_t hash[SHA256_SIZE], struct slice signature,
                       X509 *leaf, struct arena *arena, struct error *err)
{
        struct slice there;

        if (!is_hash(n, hash))
                return error_set(err, ERR_INVALID, "it is of another payload");
        TRY(decode_base64(n->signature, arena, "its signature", &there, err));
        if (!slice_equal(there, signature))
                return error_set(err, ERR_INVALID, "it is of another signature");
        return check_certificate(n, leaf, arena, err);
}

static int check_body(const struct log_entry *e, bool in_envelope, const uint8_t hash[SHA256_SIZE],
                      struct slice signature, X509 *leaf, struct arena *arena, struct error *err)
{
        AUTO_JSON json_t *body = NULL;
        struct named n = { 0 };

        TRY(doc_parse(e->body, &body, err));
        TRY(read_named(body, in_envelope, &n, err));
        return check_named(&n, hash, signature, leaf, arena, err);
}

int log_entry_check(const struct log_entry *e, bool in_envelope, const uint8_t hash[SHA256_SIZE],
                    struct slice signature, X509 *leaf, struct arena *arena, struct error *err)
{
        int code = check_body(e, in_envelope, hash, signature, leaf, arena, err);

        return code < 0 ? refuse(err, "the entry of the log") : 0;
}
