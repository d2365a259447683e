#include "hub-agent/source/verify/log_entry.h"

#include "common/base/digest.h"
#include "common/json/doc.h"
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/public_key.h"

#define BUNDLE "dev.sigstore.cosign/bundle"
#define LOG_ID_SIZE 32

/* ---- what the log signed ---- */

struct parts {
        const char *promise, *body, *log;
        int64_t seconds, index;
};

/* Both stand in what was signed as they are: nothing that would have to be escaped, or be written otherwise,
 * may be in them. */
static bool is_made_of(const char *text, const char *letters)
{
        return strspn(text, letters) == strlen(text);
}

static int read_parts(const json_t *doc, struct parts *ret, struct error *err)
{
        static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

        ret->seconds = ret->index = -1;
        TRY(doc_need_string(doc, "SignedEntryTimestamp", &ret->promise, err));
        TRY(doc_need_string(doc, "Payload.body", &ret->body, err));
        TRY(doc_need_string(doc, "Payload.logID", &ret->log, err));
        TRY(doc_want_int(doc, "Payload.integratedTime", &ret->seconds, err));
        TRY(doc_want_int(doc, "Payload.logIndex", &ret->index, err));
        if (ret->seconds < 0 || ret->seconds > INT64_MAX / 1000)
                return error_set(err, ERR_INVALID, "Payload.integratedTime: it is no time");
        if (ret->index < 0)
                return error_set(err, ERR_INVALID, "Payload.logIndex: it is no index");
        if (!is_made_of(ret->body, base64))
                return error_set(err, ERR_INVALID, "Payload.body: it is no base64");
        if (strlen(ret->log) != 2 * LOG_ID_SIZE || !is_made_of(ret->log, "0123456789abcdef"))
                return error_set(err, ERR_INVALID, "Payload.logID: it is no SHA-256 in hex");
        return 0;
}

/* As RFC 8785 writes it. */
static int write_signed(const struct parts *p, struct buf *b)
{
        return buf_printf(b, "{\"body\":\"%s\",\"integratedTime\":%lld,\"logID\":\"%s\",\"logIndex\":%lld}",
                          p->body, (long long)p->seconds, p->log, (long long)p->index);
}

static const struct trusted_log *find_log(const struct parts *p, const struct trusted_root *root)
{
        char id[LOG_ID_SIZE];

        decode_hex(p->log, id, sizeof(id));
        return trusted_log_find(root->signature_logs, root->n_signature_logs,
                                (struct slice){ id, sizeof(id) }, p->seconds * 1000);
}

static int check_promise(const struct parts *p, const struct trusted_root *root, struct arena *arena,
                         struct error *err)
{
        AUTO_BUF struct buf b;
        const struct trusted_log *log = find_log(p, root);
        struct slice promise;

        buf_init(&b, 2 * SIGNATURE_TEXT_BYTES);
        if (!log)
                return error_set(err, ERR_INVALID, "it is of no log of signatures of the trusted root");
        TRY(decode_base64(p->promise, arena, "SignedEntryTimestamp", &promise, err));
        if (write_signed(p, &b) < 0)
                return error_no_memory(err);
        if (!public_key_signed(log->key, (struct slice){ b.data, b.len }, promise))
                return error_set(err, ERR_INVALID, "SignedEntryTimestamp: it is not the log's");
        return 0;
}

static int read_bundle(const char *bundle, const struct trusted_root *root, struct arena *arena,
                       struct log_entry *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct parts p = { 0 };

        if (strlen(bundle) > SIGNATURE_TEXT_BYTES)
                return error_set(err, ERR_LIMIT, "it has more than %u bytes", SIGNATURE_TEXT_BYTES);
        TRY(doc_parse(slice_of(bundle), &doc, err));
        TRY(read_parts(doc, &p, err));
        TRY(check_promise(&p, root, arena, err));
        TRY(decode_base64(p.body, arena, "Payload.body", &ret->body, err));
        ret->wall_ms = p.seconds * 1000;
        return 0;
}

int log_entry_read(const char *bundle, const struct trusted_root *root, struct arena *arena,
                   struct log_entry *ret, struct error *err)
{
        int code = read_bundle(bundle, root, arena, ret, err);

        return code < 0 ? refuse(err, BUNDLE) : 0;
}

/* ---- what is in it ---- */

static int check_hash(const json_t *body, struct slice payload, struct error *err)
{
        const char *algorithm = NULL, *value = NULL;
        char hex[SHA256_HEX_SIZE];

        TRY(doc_need_string(body, "spec.data.hash.algorithm", &algorithm, err));
        TRY(doc_need_string(body, "spec.data.hash.value", &value, err));
        sha256_hex(payload.data, payload.len, hex);
        if (!text_equal(algorithm, "sha256") || !text_equal(value, hex))
                return error_set(err, ERR_INVALID, "it is of another payload");
        return 0;
}

static int check_signature(const json_t *body, struct slice signature, struct arena *arena, struct error *err)
{
        const char *text = NULL;
        struct slice there;

        TRY(doc_need_string(body, "spec.signature.content", &text, err));
        TRY(decode_base64(text, arena, "spec.signature.content", &there, err));
        return slice_equal(there, signature) ? 0 : error_set(err, ERR_INVALID, "it is of another signature");
}

static int check_certificate(const json_t *body, X509 *leaf, struct arena *arena, struct error *err)
{
        const char *text = NULL;
        struct slice pem;
        X509 *there = NULL;

        TRY(doc_need_string(body, "spec.signature.publicKey.content", &text, err));
        TRY(decode_base64(text, arena, "spec.signature.publicKey.content", &pem, err));
        if (certificate_of_pem(pem, arena, &there, err) < 0)
                return error_wrap(err, "spec.signature.publicKey.content");
        return X509_cmp(there, leaf) == 0 ? 0 : error_set(err, ERR_INVALID, "it is of another certificate");
}

static int check_body(const struct log_entry *e, struct slice payload, struct slice signature, X509 *leaf,
                      struct arena *arena, struct error *err)
{
        AUTO_JSON json_t *body = NULL;
        const char *kind = NULL;

        TRY(doc_parse(e->body, &body, err));
        TRY(doc_need_string(body, "kind", &kind, err));
        if (!text_equal(kind, "hashedrekord"))
                return error_set(err, ERR_INVALID, "its kind is '%s' and not 'hashedrekord'", kind);
        TRY(check_hash(body, payload, err));
        TRY(check_signature(body, signature, arena, err));
        return check_certificate(body, leaf, arena, err);
}

int log_entry_check(const struct log_entry *e, struct slice payload, struct slice signature, X509 *leaf,
                    struct arena *arena, struct error *err)
{
        int code = check_body(e, payload, signature, leaf, arena, err);

        return code < 0 ? refuse(err, "the entry of the log") : 0;
}
