#include "hub-agent/transfer/secret.h"

#include "common/base/timefmt.h"
#include "common/net/cert.h"

int secret_take(const struct secret *s, const char *key, struct arena *arena, const char **ret,
                struct error *err)
{
        const char *coded = json_string_value(json_object_get(doc_get_object(s->doc, "data"), key));
        size_t n = coded ? strlen(coded) : 0, len;
        char *plain = arena_alloc(arena, n + 1);
        struct slice text;

        *ret = NULL;
        if (!coded)
                return 0;
        if (!plain)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(coded), plain, n, &len, false) < 0 || memchr(plain, 0, len))
                return error_set(err, ERR_INVALID, "invalid secret '%s': key '%s' holds no text", s->name,
                                 key);
        text = slice_trim((struct slice){ plain, len });
        if (text.len == 0)
                return 0;
        *ret = arena_strndup(arena, text.data, text.len);
        return *ret ? 0 : error_no_memory(err);
}

const char *secret_tls_problem(const char *ca_pem, const char *cert_pem, const char *key_pem)
{
        return ca_pem && cert_not_after_ms(ca_pem) == TIME_NONE       ? "'ca.crt' is no certificate in PEM"
               : cert_pem && cert_not_after_ms(cert_pem) == TIME_NONE ? "'tls.crt' is no certificate in PEM"
               : cert_pem && !cert_has_key(cert_pem, key_pem) ? "'tls.key' is not the key of 'tls.crt' in PEM"
                                                              : NULL;
}

int secret_take_docker_config(const struct secret *s, struct arena *arena, const json_t **ret,
                              struct error *err)
{
        const char *text, *old = NULL;
        const json_t *registries;
        json_t *doc = NULL;
        int code;

        *ret = NULL;
        TRY(secret_take(s, ".dockerconfigjson", arena, &text, err));
        if (!text)
                TRY(secret_take(s, ".dockercfg", arena, &old, err));
        if (!text && !old)
                return error_set(err, ERR_INVALID, "invalid secret '%s': key '.dockerconfigjson' is missing",
                                 s->name);
        code = doc_parse(slice_of(text ? text : old), &doc, NULL);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code < 0)
                return error_set(err, ERR_INVALID, "invalid secret '%s': the docker config is no JSON",
                                 s->name);
        TRY(doc_keep(arena, doc, err));
        registries = text ? doc_get_object(doc, "auths") : doc;
        if (json_is_object(registries))
                *ret = registries;
        return 0;
}
