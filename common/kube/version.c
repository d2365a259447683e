#include "common/kube/version.h"

#include "common/json/doc.h"
#include "common/kube/trouble.h"

/* "27", and "27+" of some providers. -1 if it is no number. */
static int64_t number_of(const char *text)
{
        struct slice digits = slice_of(text ? text : "");
        int64_t n = 0;

        digits.len = strspn(digits.data, "0123456789");
        return digits.len > 0 && slice_parse_i64(digits, &n) ? n : -1;
}

int kube_version_check(struct kube_client *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = NULL;
        struct http_response answer;
        int64_t major, minor;

        TRY(kube_raw(k, "GET", "/version", NULL, (struct slice){ 0 }, &arena, &answer, err));
        if (doc_parse(answer.body, &doc, err) < 0) {
                int code = error_wrap(err, "GET /version");

                error_set_reason(err, KUBE_REASON_NOT_KUBERNETES);
                return code;
        }
        major = number_of(doc_get_string(doc, "major"));
        minor = number_of(doc_get_string(doc, "minor"));
        if (major < 0 || minor < 0 || major > 1 || (major == 1 && minor >= KUBE_OLDEST_MINOR))
                return 0;
        error_set(err, ERR_UNSUPPORTED,
                  "API server %s is Kubernetes %lld.%lld, older than 1.%d, the oldest that is supported",
                  k->endpoint->base_url, (long long)major, (long long)minor, KUBE_OLDEST_MINOR);
        error_set_reason(err, KUBE_REASON_VERSION);
        return ERR_UNSUPPORTED;
}
