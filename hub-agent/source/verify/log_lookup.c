#include "hub-agent/source/verify/log_lookup.h"

#include "common/base/digest.h"
#include "common/json/doc.h"

#define RETRIES 2
#define RETRY_MS 250

/* ---- the question ---- */

static json_t *coded(const char *text)
{
        return doc_base64(slice_of(text));
}

/* The entry that this signature would have. */
static json_t *entry_of(const struct signature *s)
{
        char hash[SHA256_HEX_SIZE];

        sha256_hex(s->payload.data, s->payload.len, hash);
        return json_pack("{s:[{s:s, s:s, s:{s:{s:{s:s, s:s}}, s:{s:s, s:{s:o}}}}]}", "entries", "kind",
                         "hashedrekord", "apiVersion", "0.0.1", "spec", "data", "hash", "algorithm", "sha256",
                         "value", hash, "signature", "content", s->value, "publicKey", "content",
                         coded(s->certificate));
}

static int write_question(const struct signature *s, struct buf *b, struct error *err)
{
        AUTO_JSON json_t *doc = entry_of(s);

        return doc && doc_write(doc, b) == 0 ? 0 : error_no_memory(err);
}

static const char *url_of(const struct trusted_log *log, struct arena *arena)
{
        size_t n = strlen(log->url);

        while (n > 0 && log->url[n - 1] == '/')
                n--;
        return arena_printf(arena, "%.*s/api/v1/log/entries/retrieve", (int)n, log->url);
}

static int ask(struct transfer *t, const struct trusted_log *log, const struct signature *s,
               struct http_response *ret, struct error *err)
{
        AUTO_BUF struct buf body;
        struct transfer_call c = { .method = "POST",
                                   .url = url_of(log, t->arena),
                                   .headers = { { "Content-Type", "application/json" },
                                                { "Accept", "application/json" } },
                                   .n_headers = 2,
                                   .max_body = LOG_ANSWER_BYTES,
                                   .network_retries = RETRIES,
                                   .status_retries = RETRIES,
                                   .retry_ms = RETRY_MS,
                                   .retry_max_ms = 4 * RETRY_MS };

        buf_init(&body, 2 * SIGNATURE_TEXT_BYTES);
        if (!c.url)
                return error_no_memory(err);
        TRY(write_question(s, &body, err));
        c.body = (struct slice){ body.data, body.len };
        TRY(transfer_ask(t, &c, ret, err));
        if (ret->status == 200)
                return 0;
        return error_set(err, ret->status == 404 ? ERR_NOT_FOUND : ERR_RETRY, "POST %s: HTTP %d", c.url,
                         ret->status);
}

/* ---- the answer ---- */

/* In the form of the annotation. */
static int write_bundle(const json_t *entry, struct buf *b, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        const char *promise = NULL, *body = NULL, *log = NULL;
        int64_t seconds = -1, index = -1;

        TRY(doc_need_string(entry, "verification.signedEntryTimestamp", &promise, err));
        TRY(doc_need_string(entry, "body", &body, err));
        TRY(doc_need_string(entry, "logID", &log, err));
        TRY(doc_want_int(entry, "integratedTime", &seconds, err));
        TRY(doc_want_int(entry, "logIndex", &index, err));
        doc = json_pack("{s:s, s:{s:s, s:s, s:I, s:I}}", "SignedEntryTimestamp", promise, "Payload", "body",
                        body, "logID", log, "integratedTime", (json_int_t)seconds, "logIndex",
                        (json_int_t)index);
        return doc && doc_write(doc, b) == 0 ? 0 : error_no_memory(err);
}

/* "[{"<uuid>": {entry}}]"; of several the first. */
static int read_answer(struct slice text, struct arena *arena, const char **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf b;
        const json_t *entry;
        void *first;

        buf_init(&b, 2 * LOG_ANSWER_BYTES);
        TRY(doc_parse(text, &doc, err));
        first = json_object_iter(json_array_get(doc, 0));
        if (!first)
                return error_set(err, ERR_NOT_FOUND, "it has no entry of this signature");
        entry = json_object_iter_value(first);
        TRY(write_bundle(entry, &b, err));
        *ret = arena_strndup(arena, b.data, b.len);
        return *ret ? 0 : error_no_memory(err);
}

/* ---- each signature ---- */

static bool ends_all(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

static int ask_log(struct transfer *t, const struct trusted_log *log, struct signature *s, struct error *err)
{
        struct http_response a;
        int code = ask(t, log, s, &a, err);

        if (code == 0 && read_answer(a.body, t->arena, &s->bundle, err) < 0)
                code = error_wrap(err, "%s", log->url);
        return code;
}

/* The first log that has it; else what the first one said. */
static int look_up(struct transfer *t, const struct trusted_root *root, struct signature *s,
                   struct error *err)
{
        struct error own = { 0 };

        for (size_t i = 0; i < root->n_signature_logs && !s->bundle; i++) {
                int code;

                if (text_empty(root->signature_logs[i].url))
                        continue;
                code = ask_log(t, &root->signature_logs[i], s, &own);
                if (ends_all(code)) {
                        if (err)
                                *err = own;
                        return code;
                }
                if (code < 0 && !s->unlogged)
                        s->unlogged = arena_strdup(t->arena, own.text);
        }
        return 0;
}

int log_look_up(struct transfer *t, const struct trusted_root *root, struct signature *all, size_t n,
                struct error *err)
{
        struct transfer own = *t; /* but for what is the registry's */
        size_t asked = 0;

        own.ca_pem = own.cert_pem = own.key_pem = NULL;
        for (size_t i = 0; i < n && asked < LOG_LOOKUPS_MAX; i++) {
                if (text_empty(all[i].certificate) || text_empty(all[i].value) || !text_empty(all[i].bundle))
                        continue;
                asked++;
                TRY(look_up(&own, root, &all[i], err));
        }
        return 0;
}
