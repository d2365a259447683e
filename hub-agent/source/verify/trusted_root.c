#include "hub-agent/source/verify/trusted_root.h"

#include <openssl/err.h>

#include "common/base/timefmt.h"
#include "common/json/doc.h"
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/public_key.h"

#define MEDIA_TYPE "application/vnd.dev.sigstore.trustedroot"

extern const char public_good_root_text[]; /* ended by a NUL: public_good_root.S */

struct slice trusted_root_built_in(void)
{
        return slice_of(public_good_root_text);
}

bool trusted_at(const struct trusted_time *t, int64_t wall_ms)
{
        return t->from_ms <= wall_ms && wall_ms <= t->to_ms;
}

const struct trusted_log *trusted_log_find(const struct trusted_log *logs, size_t n, struct slice id,
                                           int64_t wall_ms)
{
        for (size_t i = 0; i < n; i++)
                if (slice_equal(logs[i].id, id) && trusted_at(&logs[i].time, wall_ms))
                        return &logs[i];
        return NULL;
}

/* ---- the parts of the file ---- */

static int read_time(const json_t *of, const char *path, int64_t fallback, int64_t *ret, struct error *err)
{
        const char *text = NULL;

        *ret = fallback;
        TRY(doc_want_string(of, path, &text, err));
        if (text && time_parse_rfc3339(slice_of(text), ret) < 0)
                return error_set(err, ERR_INVALID, "%s: '%s' is no time such as 2026-01-02T15:04:05Z", path,
                                 text);
        return 0;
}

static int read_times(const json_t *of, const char *from, const char *to, struct trusted_time *ret,
                      struct error *err)
{
        TRY(read_time(of, from, INT64_MIN, &ret->from_ms, err));
        return read_time(of, to, INT64_MAX, &ret->to_ms, err);
}

static int read_bytes(const json_t *of, const char *path, struct arena *arena, struct slice *ret,
                      struct error *err)
{
        const char *text = NULL;
        char *data;

        TRY(doc_need_string(of, path, &text, err));
        data = arena_alloc(arena, strlen(text) + 1);
        if (!data)
                return error_no_memory(err);
        ret->data = data;
        if (text_base64_decode(slice_of(text), data, strlen(text), &ret->len, false) < 0 || ret->len == 0)
                return error_set(err, ERR_INVALID, "%s: it is no base64", path);
        return 0;
}

static int read_log(const json_t *of, struct arena *arena, struct trusted_log *ret, struct error *err)
{
        const char *url = "";
        struct slice der;

        TRY(doc_want_string(of, "baseUrl", &url, err));
        TRY(read_bytes(of, "logId.keyId", arena, &ret->id, err));
        TRY(read_bytes(of, "publicKey.rawBytes", arena, &der, err));
        if (public_key_of_der(der, arena, &ret->key, err) < 0)
                return error_wrap(err, "publicKey.rawBytes");
        ret->url = arena_strdup(arena, url);
        if (!ret->url)
                return error_no_memory(err);
        return read_times(of, "publicKey.validFor.start", "publicKey.validFor.end", &ret->time, err);
}

static int read_certificate(const json_t *of, struct trusted_authority *a, struct arena *arena,
                            struct error *err)
{
        struct slice der = { 0 };
        X509 *cert = NULL;

        TRY(read_bytes(of, "rawBytes", arena, &der, err));
        TRY(certificate_of_der(der, arena, &cert, err));
        if (a->anchor && sk_X509_push(a->between, a->anchor) <= 0)
                return error_no_memory(err);
        a->anchor = cert;
        return 0;
}

static int read_authority(const json_t *of, struct arena *arena, struct trusted_authority *ret,
                          struct error *err)
{
        json_t *list = NULL, *one;
        size_t i;

        TRY(doc_want_array(of, "certChain.certificates", &list, err));
        if (json_array_size(list) == 0 || json_array_size(list) > TRUSTED_ROOT_ENTRIES)
                return error_set(err, ERR_INVALID, "certChain.certificates: it has none, or more than %d",
                                 TRUSTED_ROOT_ENTRIES);
        TRY(certificates_new(arena, &ret->between, err));
        json_array_foreach(list, i, one)
                if (read_certificate(one, ret, arena, err) < 0)
                        return error_wrap(err, "certChain.certificates[%zu]", i);
        return read_times(of, "validFor.start", "validFor.end", &ret->time, err);
}

/* ---- the file ---- */

static int list_of(const json_t *doc, const char *name, json_t **ret, struct error *err)
{
        *ret = NULL;
        TRY(doc_want_array(doc, name, ret, err));
        if (json_array_size(*ret) > TRUSTED_ROOT_ENTRIES)
                return error_set(err, ERR_LIMIT, "%s: it has more than %d entries", name,
                                 TRUSTED_ROOT_ENTRIES);
        return 0;
}

static int read_logs(const json_t *doc, const char *name, struct arena *arena, struct trusted_log **ret,
                     size_t *ret_n, struct error *err)
{
        json_t *list, *one;
        size_t i;

        TRY(list_of(doc, name, &list, err));
        *ret = ARENA_NEW_ARRAY(arena, struct trusted_log, json_array_size(list) + 1);
        if (!*ret)
                return error_no_memory(err);
        json_array_foreach(list, i, one)
                if (read_log(one, arena, &(*ret)[i], err) < 0)
                        return error_wrap(err, "%s[%zu]", name, i);
        *ret_n = json_array_size(list);
        return 0;
}

static int read_authorities(const json_t *doc, const char *name, struct arena *arena,
                            struct trusted_authority **ret, size_t *ret_n, struct error *err)
{
        json_t *list, *one;
        size_t i;

        TRY(list_of(doc, name, &list, err));
        *ret = ARENA_NEW_ARRAY(arena, struct trusted_authority, json_array_size(list) + 1);
        if (!*ret)
                return error_no_memory(err);
        json_array_foreach(list, i, one)
                if (read_authority(one, arena, &(*ret)[i], err) < 0)
                        return error_wrap(err, "%s[%zu]", name, i);
        *ret_n = json_array_size(list);
        return 0;
}

static int read_doc(const json_t *doc, struct arena *arena, struct trusted_root *ret, struct error *err)
{
        const char *type = NULL;

        TRY(doc_need_string(doc, "mediaType", &type, err));
        if (!text_starts_with(type, MEDIA_TYPE))
                return error_set(err, ERR_INVALID, "mediaType: it is '%s' and not '%s...'", type, MEDIA_TYPE);
        TRY(read_authorities(doc, "certificateAuthorities", arena, &ret->authorities, &ret->n_authorities,
                             err));
        TRY(read_authorities(doc, "timestampAuthorities", arena, &ret->clocks, &ret->n_clocks, err));
        TRY(read_logs(doc, "tlogs", arena, &ret->signature_logs, &ret->n_signature_logs, err));
        return read_logs(doc, "ctlogs", arena, &ret->certificate_logs, &ret->n_certificate_logs, err);
}

int trusted_root_read(struct slice text, struct arena *arena, const struct trusted_root **ret,
                      struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct trusted_root *root = ARENA_NEW(arena, struct trusted_root);

        if (!root)
                return error_no_memory(err);
        if (text.len > TRUSTED_ROOT_BYTES)
                return error_set(err, ERR_LIMIT, "a trusted root has more than %u bytes", TRUSTED_ROOT_BYTES);
        TRY(doc_parse(text, &doc, err));
        TRY(read_doc(doc, arena, root, err));
        *ret = root;
        return 0;
}
