#include "e2e/devcluster/csr.h"

#include "common/base/timefmt.h"
#include "common/net/cert.h"
#include "e2e/devcluster/authn.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define SECONDS_MIN 600
#define SECONDS_DEFAULT (365 * 24 * 3600)
#define REQUEST_MAX (64u << 10)

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static const json_t *find_condition(const json_t *doc, const char *type)
{
        size_t i;
        json_t *c;
        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c)
                if (text_equal(text_at(c, "type"), type))
                        return c;
        return NULL;
}

/* ---- who asks ---- */

static int note_sender(struct request *rq, json_t *doc)
{
        json_t *groups = json_array(), *extra = identity_extra(rq->user);
        int r = 0;
        for (const char *const *g = rq->user->groups; g && *g; g++)
                r |= json_array_append_new(groups, json_string(*g));
        r |= doc_set(doc, "spec.groups", groups);
        r |= doc_set_string(doc, "spec.username", rq->user->name);
        if (!text_empty(rq->user->uid))
                r |= doc_set_string(doc, "spec.uid", rq->user->uid);
        if (json_object_size(extra))
                r |= doc_set(doc, "spec.extra", json_incref(extra));
        json_decref(extra);
        return r < 0 ? request_fail_memory(rq) : 0;
}

/* spec belongs to nobody: it is what it was asked for, once. */
static void disown_spec(json_t *doc)
{
        json_t *all = doc_get_array(doc, "metadata.managedFields");
        for (size_t i = json_array_size(all); i-- > 0;) {
                json_t *fields = doc_get_object(json_array_get(all, i), "fieldsV1");
                json_object_del(fields, "f:spec");
                if (json_object_size(fields) == 0)
                        json_array_remove(all, i);
        }
        if (all && json_array_size(all) == 0)
                json_object_del(doc_get_object(doc, "metadata"), "managedFields");
}

/* A condition that says no times has them from before, or from now. */
static int stamp_conditions(struct request *rq, const json_t *live, json_t *doc)
{
        char now[RFC3339_SIZE];
        size_t i;
        json_t *c;
        time_format_rfc3339(rq->now_ms, now);
        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c) {
                const json_t *before = find_condition(live, text_at(c, "type"));
                const char *moved = text_equal(text_at(before, "status"), text_at(c, "status"))
                                            ? text_at(before, "lastTransitionTime")
                                            : now;
                int r = 0;
                if (!*text_at(c, "lastUpdateTime"))
                        r |= doc_set_string(c, "lastUpdateTime", now);
                if (!*text_at(c, "lastTransitionTime"))
                        r |= doc_set_string(c, "lastTransitionTime", *moved ? moved : now);
                if (r < 0)
                        return request_fail_memory(rq);
        }
        return 0;
}

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        disown_spec(doc);
        if (!live)
                return note_sender(rq, doc);
        if (doc_set(doc, "spec", doc_copy(json_object_get(live, "spec"))) < 0)
                return request_fail_memory(rq);
        return rq->subresource ? stamp_conditions(rq, live, doc) : 0;
}

/* ---- what is refused ---- */

static int read_request(const json_t *doc, char *ret, size_t size)
{
        const char *text = text_at(doc, "spec.request");
        size_t n = 0;
        if (text_base64_decode(slice_of(text), ret, size - 1, &n, false) < 0)
                return ERR_INVALID;
        ret[n] = '\0';
        return 0;
}

static int check_signer(const char *signer, struct schema_problems *p)
{
        const char *slash = strchr(signer, '/');
        const char *why = NULL;
        if (!*signer)
                return problem_add(p, "FieldValueRequired", "spec.signerName", "Required value");
        if (!slash || slash == signer || !slash[1] || strchr(slash + 1, '/'))
                why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        else if (!memchr(signer, '.', (size_t)(slash - signer)))
                why = "should be a domain with at least two segments separated by dots";
        return why ? problem_add(p, "FieldValueInvalid", "spec.signerName", "Invalid value: \"%s\": %s",
                                 signer, why)
                   : 0;
}

static int check_new(const json_t *doc, struct schema_problems *p)
{
        int64_t seconds = doc_get_int(doc, "spec.expirationSeconds", SECONDS_MIN);
        AUTO_FREE char *pem = mem_alloc(REQUEST_MAX);
        if (!pem)
                return ERR_NO_MEMORY;
        if (read_request(doc, pem, REQUEST_MAX) < 0 || !strstr(pem, "-----BEGIN CERTIFICATE REQUEST-----"))
                TRY(problem_add(p, "FieldValueInvalid", "spec.request",
                                "Invalid value: \"%s\": PEM block type must be CERTIFICATE REQUEST",
                                text_at(doc, "spec.request")));
        if (json_array_size(doc_get_array(doc, "spec.usages")) == 0)
                TRY(problem_add(p, "FieldValueRequired", "spec.usages", "Required value"));
        TRY(check_signer(text_at(doc, "spec.signerName"), p));
        if (seconds < SECONDS_MIN)
                return problem_add(p, "FieldValueInvalid", "spec.expirationSeconds",
                                   "Invalid value: %lld: may not specify a duration less than 600 seconds "
                                   "(10 minutes)",
                                   (long long)seconds);
        return 0;
}

/* Decisions stay, and only /approval makes them. */
static int check_decisions(struct request *rq, const json_t *live, const json_t *doc,
                           struct schema_problems *p)
{
        static const char *const types[] = { "Approved", "Denied", "Failed" };
        bool approving = text_equal(rq->subresource, "approval");
        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const json_t *before = find_condition(live, types[i]), *now = find_condition(doc, types[i]);
                bool may_add = strcmp(types[i], "Failed") == 0 ? !approving : approving;
                const char *what = before && !now ? "remove" : now && !before && !may_add ? "add" : NULL;
                if (what)
                        TRY(problem_add(p, "FieldValueForbidden", "status.conditions",
                                        "Forbidden: updates may not %s a condition of type \"%s\"", what,
                                        types[i]));
        }
        return 0;
}

static int validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        return live ? check_decisions(rq, live, doc, p) : check_new(doc, p);
}

static const char *field(const json_t *doc, const char *path, struct arena *a)
{
        if (strcmp(path, "spec.signerName") != 0)
                return NULL;
        return doc ? text_at(doc, path) : "";
}

const struct resource_hooks csr_hooks = { .prepare = prepare, .validate = validate, .field = field };

/* ---- signing ---- */

static bool is_approved(const json_t *doc)
{
        return find_condition(doc, "Approved") && !find_condition(doc, "Denied") &&
               !find_condition(doc, "Failed");
}

static bool is_own_signer(const char *signer)
{
        static const char *const own[] = { "kubernetes.io/kube-apiserver-client",
                                           "kubernetes.io/kube-apiserver-client-kubelet",
                                           "kubernetes.io/legacy-unknown" };
        return text_in(signer, own, ARRAY_LEN(own));
}

static int mark_failed(json_t *doc, int64_t now_ms, const char *why)
{
        char now[RFC3339_SIZE];
        time_format_rfc3339(now_ms, now);
        return json_array_append_new(doc_get_array(doc, "status.conditions"),
                                     json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "type", "Failed", "status",
                                               "True", "reason", "SignerValidationFailure", "message", why,
                                               "lastUpdateTime", now, "lastTransitionTime", now)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

int csr_sign(struct devcluster *d, json_t *doc, int64_t now_ms, struct error *err)
{
        int64_t seconds = doc_get_int(doc, "spec.expirationSeconds", SECONDS_DEFAULT);
        AUTO_FREE char *pem = NULL, *cert = NULL;
        if (!is_approved(doc) || *text_at(doc, "status.certificate") ||
            !is_own_signer(text_at(doc, "spec.signerName")))
                return 0;
        TRY(pki_ensure(d, err));
        pem = mem_alloc(REQUEST_MAX);
        if (!pem)
                return error_no_memory(err);
        int r = read_request(doc, pem, REQUEST_MAX);
        if (r == 0)
                r = cert_sign_request(d->ca_cert, d->ca_key, pem, now_ms, seconds, &cert, err);
        if (r < 0)
                return r == ERR_NO_MEMORY ? r : mark_failed(doc, now_ms, err->text);
        return doc_set(doc, "status.certificate", doc_base64(slice_of(cert)));
}
