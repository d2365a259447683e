#include "common/kube/trouble.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/doc.h"
#include "common/net/cert.h"
#include "common/net/http_credentials.h"

#define TOKEN_EXPIRED "TokenExpired"
#define TOKEN_AUDIENCE "TokenAudience"
#define TOKEN_REFUSED "TokenRefused"
#define CLIENT_CERT_EXPIRED "ClientCertificateExpired"
#define CLIENT_CERT_NOT_YET "ClientCertificateNotYetValid"
#define NO_CREDENTIAL "NoCredential"
#define SECONDS_MAX (INT64_C(1) << 40)

/* A sidecar that brings the token starts together with the agent. */
#define TOKEN_FILE_PATIENCE_MS 10000
/* Some calls have short deadlines; a server that is slow with one of them is no trouble yet. */
#define SILENCE_PATIENCE_MS 4000

const struct kube_trouble kube_troubles[] = {
        { HTTP_REASON_REFUSED, "connection refused",
          "start the API server, or correct the address: nothing listens there" },
        { HTTP_REASON_NO_ANSWER, "no answer in time",
          "look for a firewall or network policy that drops packets, or an API server that hangs",
          SILENCE_PATIENCE_MS },
        { HTTP_REASON_NAME_UNKNOWN, "its name cannot be resolved",
          "correct the host name in the address, or the DNS" },
        { HTTP_REASON_FAILED, "the connection fails", "look at the network and at the proxies on the way" },
        { HTTP_REASON_NOT_TLS, "the server does not speak TLS",
          "correct the port: an https address leads to a server without TLS" },
        { HTTP_REASON_CERT_AUTHORITY, "certificate signed by an unknown authority",
          "give the agent the CA that signed the server's certificate" },
        { HTTP_REASON_CERT_NAME, "certificate is for another name",
          "use an address that the server's certificate names, or add this one to the certificate" },
        { HTTP_REASON_CERT_EXPIRED, "certificate has expired", "renew the server's certificate" },
        { HTTP_REASON_CERT_NOT_YET, "certificate is not yet valid",
          "compare the clocks of server and agent" },
        { HTTP_REASON_CERT_INVALID, "certificate cannot be verified",
          "look at the server's certificate; the error says what is wrong with it" },
        { HTTP_REASON_CLIENT_CERT, "the agent's client certificate is refused",
          "give the agent a certificate that the server's client CA signed" },
        { CLIENT_CERT_EXPIRED, "the agent's client certificate has expired", "renew it" },
        { CLIENT_CERT_NOT_YET, "the agent's client certificate is not yet valid",
          "compare the clocks of who issued it and of the agent" },
        { HTTP_REASON_TOKEN_MISSING, "the token file does not exist",
          "put the token there, or correct the path", TOKEN_FILE_PATIENCE_MS },
        { HTTP_REASON_TOKEN_EMPTY, "the token file holds no token", "write the token into it",
          TOKEN_FILE_PATIENCE_MS },
        { HTTP_REASON_TOKEN_UNREADABLE, "the token file cannot be read", "let the agent's user read it" },
        { TOKEN_EXPIRED, "the agent's token has expired", "bring a new one" },
        { TOKEN_AUDIENCE, "the agent's token is for another audience",
          "request one for the API server's own audience" },
        { TOKEN_REFUSED, "the agent's token is refused",
          "bring a new one: it may be revoked, its service account deleted, or it is another server's" },
        { NO_CREDENTIAL, "the agent has no credential",
          "give it a token, a token file or a client certificate" },
        { KUBE_REASON_NOT_KUBERNETES, "the answer is not an API server's",
          "correct the address, or the proxy that answers in the API server's place" },
        { KUBE_REASON_SERVER_ERROR, "the API server answers with errors",
          "look at the API server's log and its etcd" },
        { KUBE_REASON_VERSION, "its Kubernetes version is not supported", "upgrade it" },
        { KUBE_REASON_RIGHT_MISSING, "a right is missing",
          "grant it: the error names it; the chart's roles hold what the agent needs" },
};
const size_t n_kube_troubles = ARRAY_LEN(kube_troubles);

const struct kube_trouble *kube_trouble_named(const char *reason)
{
        for (size_t i = 0; i < n_kube_troubles; i++)
                if (text_equal(kube_troubles[i].reason, reason))
                        return &kube_troubles[i];
        return NULL;
}

const struct kube_trouble *kube_trouble_of(const struct error *err)
{
        return kube_trouble_named(err->reason);
}

/* ---- a credential that was refused ---- */

static int64_t claim_ms(const json_t *claims, const char *name)
{
        const json_t *value = json_object_get(claims, name);
        double seconds = json_is_number(value) ? json_number_value(value) : 0;

        return seconds > 0 && seconds < (double)SECONDS_MAX ? (int64_t)seconds * 1000 : TIME_NONE;
}

/* The server's own audience is the issuer of its tokens, unless somebody chose another; then it is nearly
 * always a name of the service in front of it. */
static bool is_own_audience(const char *audience, const char *issuer)
{
        return text_equal(audience, issuer) || strstr(audience, "kubernetes.default.svc");
}

/* Appends the audiences; false if one may be the server's own, or nothing is known. */
static bool foreign_audiences(const json_t *claims, struct buf *b)
{
        const json_t *list = json_object_get(claims, "aud"), *one;
        const char *issuer = json_string_value(json_object_get(claims, "iss"));
        bool foreign = json_array_size(list) > 0;
        size_t i;

        json_array_foreach((json_t *)list, i, one) {
                const char *name = json_string_value(one);

                foreign = foreign && name && !is_own_audience(name, issuer);
                buf_printf(b, "%s%s", i ? ", " : "", name ? name : "?");
        }
        return foreign;
}

/* Says in `b` what the token is; the reason is what is seen to be wrong with it. */
static const char *explain_claims(const json_t *claims, int64_t wall_ms, struct buf *b)
{
        const char *subject = json_string_value(json_object_get(claims, "sub"));
        int64_t end_ms = claim_ms(claims, "exp");
        char end[RFC3339_SIZE];
        bool foreign;

        buf_printf(b, "the token is of %s, for ", subject ? subject : "nobody that it names");
        foreign = foreign_audiences(claims, b);
        if (end_ms != TIME_NONE) {
                time_format_rfc3339(end_ms, end);
                buf_printf(b, ", %s %s", end_ms <= wall_ms ? "ended at" : "good until", end);
        }
        return end_ms != TIME_NONE && end_ms <= wall_ms ? TOKEN_EXPIRED
               : foreign                                ? TOKEN_AUDIENCE
                                                        : TOKEN_REFUSED;
}

static const char *explain_token(struct kube_client *k, const char *token, struct buf *b)
{
        const char *file = k->endpoint->bearer_token_file;
        AUTO_FREE char *payload = NULL;
        AUTO_JSON json_t *claims = NULL;
        const char *reason = TOKEN_REFUSED;

        if (jwt_read(token, &payload, NULL) == 0 && doc_parse(slice_of(payload), &claims, NULL) == 0)
                reason = explain_claims(claims, loop_wall_ms(k->world->loop), b);
        if (file && k->world->files->stamp(k->world->ctx, file) == 0)
                buf_printf(b, "%sits file %s cannot be read any more", b->len ? "; " : "", file);
        else if (file)
                buf_printf(b, "%sit is from %s", b->len ? "; " : "", file);
        return reason;
}

static const char *explain_certificate(struct kube_client *k, struct buf *b)
{
        const char *pem = k->endpoint->client_cert_pem;
        int64_t now_ms = loop_wall_ms(k->world->loop), end_ms = cert_not_after_ms(pem);
        int64_t begin_ms = cert_not_before_ms(pem);
        char at[RFC3339_SIZE];

        if (end_ms == TIME_NONE || begin_ms == TIME_NONE)
                return HTTP_REASON_CLIENT_CERT;
        time_format_rfc3339(begin_ms > now_ms ? begin_ms : end_ms, at);
        buf_printf(b, "the client certificate is good %s %s", begin_ms > now_ms ? "from" : "until", at);
        return begin_ms > now_ms  ? CLIENT_CERT_NOT_YET
               : end_ms <= now_ms ? CLIENT_CERT_EXPIRED
                                  : HTTP_REASON_CLIENT_CERT;
}

/* How Kubernetes' authorizers say it; admission, quotas and namespaces that end refuse in other words. */
static bool is_missing_right(const char *text)
{
        return strstr(text, "User \"") && strstr(text, "\" cannot ");
}

/* Sets the reason of a refused credential and appends what is known of it. */
static const char *explain_refusal(struct kube_client *k, struct buf *b)
{
        static const char bearer[] = "Bearer ";
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *header = NULL;

        (void)http_credentials_header(k->world->transport->credentials, k->endpoint, false, &arena, &header,
                                      NULL);
        if (header && text_starts_with(header, bearer))
                return explain_token(k, header + strlen(bearer), b);
        if (k->endpoint->client_cert_pem)
                return explain_certificate(k, b);
        return header ? TOKEN_REFUSED : NO_CREDENTIAL;
}

/* With TLS 1.3 a server may turn the certificate down and close before its alert is read. */
static void explain_broken(struct kube_client *k, struct error *err, struct buf *b)
{
        const char *reason = explain_certificate(k, b);

        if (text_equal(reason, HTTP_REASON_CLIENT_CERT))
                buf_clear(b); /* nothing wrong with it that could be seen from here */
        else
                error_set_reason(err, reason);
}

void kube_trouble_explain(struct kube_client *k, struct error *err)
{
        AUTO_BUF struct buf more;
        char text[ERROR_TEXT_MAX];

        buf_init(&more, 2 * ERROR_TEXT_MAX);
        if (text_equal(err->reason, HTTP_REASON_CLIENT_CERT) && k->endpoint->client_cert_pem)
                error_set_reason(err, explain_certificate(k, &more));
        else if (text_equal(err->reason, HTTP_REASON_FAILED) && k->endpoint->client_cert_pem)
                explain_broken(k, err, &more);
        else if (kube_trouble_of(err))
                return;
        else if (err->http_status == 401)
                error_set_reason(err, explain_refusal(k, &more));
        else if (err->http_status == 403 && is_missing_right(err->text))
                error_set_reason(err, KUBE_REASON_RIGHT_MISSING);
        else if (err->http_status == 0 && !err->reason[0])
                error_set_reason(err, err->code == ERR_TIMEOUT ? HTTP_REASON_NO_ANSWER : HTTP_REASON_FAILED);
        if (more.len == 0 || more.failed)
                return;
        snprintf(text, sizeof(text), "%.500s (%.500s)", err->text, more.data);
        memcpy(err->text, text, sizeof(text));
}
