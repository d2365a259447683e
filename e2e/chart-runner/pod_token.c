/* Tokens of the pod's service account, bound to the pod: asked for once per audience and again at four fifths
 * of their life, as kubelet does. */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "e2e/chart-runner/pod.h"

#define DAY_MS INT64_C(86400000)

static struct pod_token *find_token(struct running_pod *p, const char *audience, int64_t seconds)
{
        for (size_t i = 0; i < p->n_tokens; i++)
                if (strcmp(p->tokens[i].audience, audience) == 0 && p->tokens[i].seconds == seconds)
                        return &p->tokens[i];
        return NULL;
}

static int ask_server(struct running_pod *p, const char *audience, int64_t seconds, struct arena *arena,
                      json_t **ret, struct error *err)
{
        const char *account = doc_get_string(p->doc, "spec.serviceAccountName");
        AUTO_JSON json_t *rq = json_pack("{s:s, s:s, s:{s:I, s:{s:s, s:s, s:s, s:s}}}", "apiVersion",
                                         "authentication.k8s.io/v1", "kind", "TokenRequest", "spec",
                                         "expirationSeconds", (json_int_t)seconds, "boundObjectRef", "kind",
                                         "Pod", "apiVersion", "v1", "name", p->name, "uid", p->uid);
        const char *path = arena_printf(arena, "/api/v1/namespaces/%s/serviceaccounts/%s/token",
                                        p->runner->options.ns, account ? account : "default");
        AUTO_BUF struct buf body;
        struct http_response answer;

        buf_init(&body, LIMIT_TOKEN_BYTES);
        if (!rq || !path || (*audience && doc_set(rq, "spec.audiences", json_pack("[s]", audience)) < 0) ||
            doc_write(rq, &body) < 0)
                return error_no_memory(err);
        TRY(kube_raw(&p->runner->kube, "POST", path, "application/json",
                     (struct slice){ body.data, body.len }, arena, &answer, err));
        return doc_parse(answer.body, ret, err);
}

static int keep(struct running_pod *p, const char *audience, int64_t seconds, const json_t *answer,
                struct error *err)
{
        struct pod_token *t = find_token(p, audience, seconds);
        const char *text = doc_get_string(answer, "status.token"),
                   *end = doc_get_string(answer, "status.expirationTimestamp");
        int64_t now = loop_wall_ms(p->runner->loop), end_ms = now + seconds * 1000;

        if (!text)
                return error_set(err, ERR_INVALID, "the TokenRequest has no token");
        if (end)
                TRY(time_parse_rfc3339(slice_of(end), &end_ms));
        if (!t && p->n_tokens == ARRAY_LEN(p->tokens))
                return error_set(err, ERR_LIMIT, "more than %zu tokens for one pod", ARRAY_LEN(p->tokens));
        if (!t)
                p->tokens[p->n_tokens++] =
                        (struct pod_token){ .audience = mem_strdup(audience), .seconds = seconds };
        t = find_token(p, audience, seconds);
        mem_free(t->text);
        t->text = mem_strdup(text);
        t->renew_ms = now + MIN((end_ms - now) * 4 / 5, DAY_MS);
        return t->text ? 0 : error_no_memory(err);
}

int pod_token_get(void *pod, const char *audience, int64_t seconds, struct arena *arena, const char **ret,
                  int64_t *ret_renew_ms, struct error *err)
{
        struct running_pod *p = pod;
        struct pod_token *t = find_token(p, audience, seconds);
        AUTO_JSON json_t *answer = NULL;

        if (!t || !t->text || loop_wall_ms(p->runner->loop) >= t->renew_ms) {
                TRY(ask_server(p, audience, seconds, arena, &answer, err));
                TRY(keep(p, audience, seconds, answer, err));
                t = find_token(p, audience, seconds);
        }
        *ret = arena_strdup(arena, t->text);
        *ret_renew_ms = t->renew_ms;
        return *ret ? 0 : error_no_memory(err);
}

void pod_tokens_free(struct running_pod *p)
{
        for (size_t i = 0; i < p->n_tokens; i++) {
                mem_free(p->tokens[i].audience);
                mem_free(p->tokens[i].text);
        }
        p->n_tokens = 0;
}
