#include <errno.h>
#include <openssl/x509_vfy.h>
#include <strings.h>
#include <uv.h>

#include "common/net/address_guard.h"
#include "common/net/curl_internal.h"

#define CONNECT_MS 10000
#define KEEPALIVE_IDLE_S 30 /* a dead peer of a silent watch is noticed after this and a few probes */
#define KEEPALIVE_INTERVAL_S 10
/* Of each transfer under way, so small; but more than the 32 KiB that libcurl takes from an HTTP/2 connection
 * at once: what is left over of them is given out only when the next bytes arrive, so the end of a watch's
 * event would hang. */
#define RECEIVE_BYTES (36L << 10)
#define SEND_BYTES (16L << 10)
#define ENDED_LOOK_MS 1       /* answers that came together end together: one look for them */
#define PACE_BYTES (1u << 20) /* what a stream that is no watch holds before its server has to wait */

/* ---- what libcurl tells: store, never call back into it ---- */

static void touch(struct curl_transfer *tr)
{
        if (list_empty(&tr->touched))
                list_append(&tr->multi->touched, &tr->touched);
}

/* Something came from the server. That a request leaves tells nothing. */
static void hear(struct curl_transfer *tr)
{
        tr->multi->heard_ms = loop_now_ms(tr->multi->pool->loop);
        tr->multi->heard++;
        touch(tr);
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
        struct curl_transfer *tr = ctx;

        if (tr->paces && tr->body.len >= PACE_BYTES) {
                tr->paused = true;
                return CURL_WRITEFUNC_PAUSE;
        }
        int r = buf_append(&tr->body, data, size * n);
        if (r < 0)
                tr->failed = r;
        hear(tr);
        return r < 0 ? 0 : size * n;
}

/* Where some addresses are denied: the one that is about to be connected to, so no name can lead elsewhere
 * later. */
static curl_socket_t on_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
        struct curl_transfer *tr = ctx;
        const char *what = address_guard_refuses(tr->denied, &a->addr);
        if (!what)
                return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
        tr->refused = what;
        return CURL_SOCKET_BAD;
}

/* The connection stands, the request is about to leave. */
static int on_connected(void *ctx, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
        struct curl_transfer *tr = ctx;
        tr->connected = true;
        touch(tr);
        if (tr->may_leave)
                tr->stayed = tr->may_leave(tr->may_leave_ctx, tr->err);
        return tr->stayed < 0 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static int store_header(struct curl_transfer *tr, struct slice line)
{
        struct slice name;
        if (!slice_cut(&line, ':', &name) || name.len == 0)
                return 0;
        struct slice value = slice_trim(line);
        if (tr->answer_headers.n >= LIMIT_HEADER_COUNT)
                return ERR_LIMIT;
        struct http_header h = {
                arena_strndup(tr->arena, name.data, name.len),
                arena_strndup(tr->arena, value.data ? value.data : "", value.len),
        };
        if (!h.name || !h.value || vec_push(&tr->answer_headers, h) < 0)
                return ERR_NO_MEMORY;
        return 0;
}

/* One line of the head. A status line starts it anew: interim answers (100) come before the real one. */
static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
        struct curl_transfer *tr = ctx;
        struct slice line = { data, size * n };
        if (tr->head_done)
                return line.len; /* trailers */
        tr->header_bytes += line.len;
        int r = 0;
        if (tr->header_bytes > LIMIT_HEADER_BYTES) {
                r = ERR_LIMIT;
        } else if (slice_starts_with(line, "HTTP/")) {
                tr->answer_headers.n = 0;
        } else if (slice_trim(line).len == 0) {
                long status = 0;
                curl_easy_getinfo(tr->easy, CURLINFO_RESPONSE_CODE, &status);
                tr->status = (int)status;
                tr->head_done = status >= 200;
                hear(tr);
        } else {
                r = store_header(tr, line);
        }
        if (r < 0)
                tr->failed = r;
        return r < 0 ? 0 : line.len;
}

/* ---- options ---- */

static int add_header(struct curl_transfer *tr, const char *name, const char *value)
{
        /* libcurl takes "Name:" as "send none" and "Name;" as "send it empty". */
        AUTO_FREE char *line = value[0] ? mem_printf("%s: %s", name, value) : mem_printf("%s;", name);
        struct curl_slist *list = line ? curl_slist_append(tr->headers, line) : NULL;
        if (!list)
                return ERR_NO_MEMORY;
        tr->headers = list;
        return 0;
}

static int add_headers(struct curl_transfer *tr, const struct http_request *rq)
{
        static const char *const unwanted[] = { "Expect:", "Content-Type:", "Accept:" };
        for (size_t i = 0; i < rq->headers.n; i++)
                TRY(add_header(tr, rq->headers.at[i].name, rq->headers.at[i].value));
        if (rq->endpoint->aws_key) /* libcurl 7.88 would sign what it is told not to send */
                return 0;
        for (size_t i = 0; i < ARRAY_LEN(unwanted); i++) {
                AUTO_FREE char *name = mem_strndup(unwanted[i], strlen(unwanted[i]) - 1);
                if (!name)
                        return ERR_NO_MEMORY;
                if (http_header_get(&rq->headers, name))
                        continue;
                struct curl_slist *list = curl_slist_append(tr->headers, unwanted[i]);
                if (!list)
                        return ERR_NO_MEMORY;
                tr->headers = list;
        }
        return 0;
}

/* Host and port as libcurl splits the URL; curl_free both. */
static int split_authority(const char *url, char **ret_host, char **ret_port)
{
        CURLU *u = curl_url();
        CURLUcode r = u ? curl_url_set(u, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
        if (r == CURLUE_OK)
                r = curl_url_get(u, CURLUPART_HOST, ret_host, 0);
        if (r == CURLUE_OK)
                r = curl_url_get(u, CURLUPART_PORT, ret_port, CURLU_DEFAULT_PORT);
        curl_url_cleanup(u);
        return r == CURLUE_OK ? 0 : r == CURLUE_OUT_OF_MEMORY ? ERR_NO_MEMORY : ERR_INVALID;
}

/* libcurl takes SNI and the name to verify from the URL. So the URL gets the server's name, the connection
 * goes where the endpoint says, and the Host header stays what it was. */
static int rename_server(struct curl_transfer *tr, const struct http_request *rq, char **url)
{
        const struct http_endpoint *e = rq->endpoint;
        char *host = NULL, *port = NULL;
        int r = split_authority(e->base_url, &host, &port);
        const char *rest = r == 0 ? strstr(e->base_url, "://") + 3 : "";
        size_t authority = strcspn(rest, "/");
        AUTO_FREE char *host_header = mem_strndup(rest, authority);
        AUTO_FREE char *target = mem_printf("%s:%s:%s:%s", e->tls_server_name, port, host, port);
        char *renamed = mem_printf("https://%s:%s%s%s", e->tls_server_name, port, rest + authority, rq->path);
        curl_free(host);
        curl_free(port);
        if (r == 0 && (!host_header || !target || !renamed))
                r = ERR_NO_MEMORY;
        if (r == 0)
                r = add_header(tr, "Host", host_header);
        if (r == 0 && !(tr->connect_to = curl_slist_append(NULL, target)))
                r = ERR_NO_MEMORY;
        if (r < 0) {
                mem_free(renamed);
                return r;
        }
        curl_easy_setopt(tr->easy, CURLOPT_CONNECT_TO, tr->connect_to);
        mem_free(*url);
        *url = renamed;
        return 0;
}

static int set_url(struct curl_transfer *tr, const struct http_request *rq)
{
        const struct http_endpoint *e = rq->endpoint;
        AUTO_FREE char *url = mem_printf("%s%s", e->base_url, rq->path);
        if (!url)
                return ERR_NO_MEMORY;
        if (e->tls_server_name && text_starts_with(e->base_url, "https://"))
                TRY(rename_server(tr, rq, &url));
        return curl_easy_setopt(tr->easy, CURLOPT_URL, url) == CURLE_OK ? 0 : ERR_NO_MEMORY;
}

static CURLcode set_blob(CURL *easy, CURLoption option, char *pem)
{
        struct curl_blob blob = { pem, strlen(pem), CURL_BLOB_NOCOPY };
        return curl_easy_setopt(easy, option, &blob);
}

static int set_tls(CURL *easy, const struct http_endpoint *e)
{
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, e->insecure_skip_verify ? 0L : 1L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, e->insecure_skip_verify ? 0L : 2L);
        curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
        if (e->ca_pem && set_blob(easy, CURLOPT_CAINFO_BLOB, e->ca_pem) != CURLE_OK)
                return ERR_NO_MEMORY;
        if (!e->client_cert_pem)
                return 0;
        if (set_blob(easy, CURLOPT_SSLCERT_BLOB, e->client_cert_pem) != CURLE_OK ||
            set_blob(easy, CURLOPT_SSLKEY_BLOB, e->client_key_pem) != CURLE_OK)
                return ERR_NO_MEMORY;
        curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
        curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
        return 0;
}

/* A stream's request outlives the caller's body, so that one is copied. */
static int set_body(CURL *easy, const struct http_request *rq, enum curl_way way)
{
        bool sends =
                rq->body.len > 0 || text_in(rq->method, (const char *const[]){ "POST", "PUT", "PATCH" }, 3);
        if (sends) {
                curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body.len);
                CURLoption how = way == CURL_WAY_STREAM ? CURLOPT_COPYPOSTFIELDS : CURLOPT_POSTFIELDS;
                if (curl_easy_setopt(easy, how, rq->body.len > 0 ? rq->body.data : "") != CURLE_OK)
                        return ERR_NO_MEMORY;
        } else if (strcmp(rq->method, "HEAD") == 0) {
                curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
                return 0;
        }
        return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, rq->method) == CURLE_OK ? 0 : ERR_NO_MEMORY;
}

/* libcurl makes the signature, of the moment, when the request leaves. */
static int set_signature(CURL *easy, const struct http_aws_key *key)
{
        AUTO_FREE char *how = mem_printf("aws:amz:%s:%s", key->region, key->service);
        if (!how || curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, how) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_USERNAME, key->access_key) != CURLE_OK ||
            curl_easy_setopt(easy, CURLOPT_PASSWORD, key->secret_key) != CURLE_OK)
                return ERR_NO_MEMORY;
        return 0;
}

static void set_connection(CURL *easy, enum curl_way way)
{
        bool http1 = way == CURL_WAY_WHOLE_HTTP1;
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                         (long)(http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, http1 ? 1L : 0L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, http1 ? 1L : 0L);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
}

static void set_behaviour(struct curl_transfer *tr, const struct http_request *rq, enum curl_way way,
                          int64_t now_ms)
{
        CURL *easy = tr->easy;
        bool stream = way == CURL_WAY_STREAM;
        int64_t left = MAX(rq->deadline_ms - now_ms, 1);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, tr);
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, tr->words);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, tr);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, tr);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* the path asked for, and no other */
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        set_connection(easy, way);
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
        curl_easy_setopt(easy, CURLOPT_PREREQDATA, tr);
        curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)MIN(left, CONNECT_MS));
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BYTES);
        if (!stream)
                curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static int configure(struct curl_transfer *tr, const struct http_request *rq, enum curl_way way,
                     int64_t now_ms)
{
        const struct http_endpoint *e = rq->endpoint;
        set_behaviour(tr, rq, way, now_ms);
        TRY(add_headers(tr, rq));
        TRY(set_url(tr, rq));
        TRY(set_tls(tr->easy, e));
        if (e->denied) {
                tr->denied = e->denied;
                curl_easy_setopt(tr->easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
                curl_easy_setopt(tr->easy, CURLOPT_OPENSOCKETDATA, tr);
        }
        if (e->aws_key)
                TRY(set_signature(tr->easy, e->aws_key));
        TRY(set_body(tr->easy, rq, way));
        /* "" also keeps libcurl from the environment's proxies. */
        if (curl_easy_setopt(tr->easy, CURLOPT_PROXY, e->proxy_url ? e->proxy_url : "") != CURLE_OK)
                return ERR_NO_MEMORY;
        curl_easy_setopt(tr->easy, CURLOPT_HTTPHEADER, tr->headers);
        return 0;
}

/* ---- life ---- */

static void transfer_free(struct curl_transfer *tr)
{
        tr->multi->pool->transfers--;
        if (tr == tr->multi->first)
                curl_multi_connected(tr->multi);
        tr->multi->n -= !list_empty(&tr->node);
        list_remove(&tr->node);
        list_remove(&tr->touched);
        curl_easy_cleanup(tr->easy);
        curl_slist_free_all(tr->headers);
        curl_slist_free_all(tr->connect_to);
        vec_free(&tr->answer_headers);
        buf_free(&tr->body);
        mem_free(tr->what);
}

/* Parks while another request opens a connection. */
static int await_connection(struct curl_transfer *tr, struct loop *l, int64_t deadline_ms, struct error *err)
{
        while (tr->multi->first) {
                int r = waitq_wait(l, &tr->multi->connected, deadline_ms);
                if (r == ERR_TIMEOUT)
                        return error_set(err, r, "%s: no connection before the deadline", tr->what);
                if (r < 0)
                        return error_set(err, r, "%s: cancelled", tr->what);
        }
        return 0;
}

static int add_to_multi(struct curl_transfer *tr)
{
        struct curl_multi *m = tr->multi;
        if (m->n++ % m->streams == 0)
                m->first = tr;
        list_append(&m->transfers, &tr->node);
        if (curl_multi_add_handle(m->handle, tr->easy) == CURLM_OK)
                return 0;
        curl_multi_remove_handle(m->handle, tr->easy);
        curl_multi_die(m);
        return ERR_NO_MEMORY;
}

static int configure_and_start(struct curl_transfer *tr, const struct http_request *rq, enum curl_way way,
                               struct error *err)
{
        struct loop *l = tr->multi->pool->loop;
        tr->what = mem_printf("%s %s%.*s", rq->method, rq->endpoint->base_url, (int)strcspn(rq->path, "?"),
                              rq->path);
        if (!tr->what)
                return error_no_memory(err);
        TRY(await_connection(tr, l, rq->deadline_ms, err));
        tr->easy = curl_easy_init();
        int r = tr->easy ? configure(tr, rq, way, loop_now_ms(l)) : ERR_NO_MEMORY;
        if (r == 0)
                r = add_to_multi(tr);
        if (r == ERR_INVALID)
                return error_set(err, r, "%s: not an URL", tr->what);
        return r < 0 ? error_no_memory(err) : 0;
}

int curl_transfer_start(struct curl_transport *t, struct curl_transfer *tr, const struct http_request *rq,
                        struct arena *arena, enum curl_way way, struct error *err)
{
        *tr = (struct curl_transfer){ .arena = arena,
                                      .may_leave = rq->may_leave,
                                      .may_leave_ctx = rq->may_leave_ctx,
                                      .err = err,
                                      .paces = way == CURL_WAY_STREAM && rq->priority == HTTP_NORMAL };
        list_init(&tr->node);
        list_init(&tr->touched);
        list_init(&tr->waits.waiters);
        buf_init(&tr->body, way == CURL_WAY_STREAM ? LIMIT_STREAM_QUEUE_BYTES
                            : rq->max_body         ? rq->max_body
                                                   : LIMIT_RESPONSE_BYTES);
        struct curl_pool *pool = curl_pool_find(t, rq->endpoint, err);
        if (!pool)
                return ERR_NO_MEMORY;
        tr->multi = curl_pool_multi(t, pool, rq->priority);
        if (!tr->multi)
                return error_no_memory(err);
        pool->transfers++;
        int r = configure_and_start(tr, rq, way, err);
        if (r < 0)
                transfer_free(tr);
        return r;
}

void curl_transfer_go_on(struct curl_transfer *tr)
{
        struct curl_multi *m = tr->multi;

        if (!tr->paused || tr->done)
                return;
        tr->paused = false;
        (void)curl_easy_pause(tr->easy, CURLPAUSE_CONT); /* calls back */
        curl_multi_wake_touched(m);
}

void curl_transfer_end(struct curl_transfer *tr)
{
        struct curl_multi *m = tr->multi;
        long version = 0;

        curl_easy_getinfo(tr->easy, CURLINFO_HTTP_VERSION, &version);
        curl_multi_remove_handle(m->handle, tr->easy);
        transfer_free(tr);
        if (version != CURL_HTTP_VERSION_1_1)
                curl_multi_look(m, ENDED_LOOK_MS);
}

/* ---- errors ---- */

/* The server turned our certificate down: in TLS 1.3 that only shows when reading. */
static bool is_certificate_alert(const char *words)
{
        return strstr(words, "alert") && (strstr(words, "certificate") || strstr(words, "unknown ca"));
}

static enum error_code classify(CURLcode result, const char *words)
{
        switch (result) {
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_CERTPROBLEM:
                return ERR_UNAUTHORIZED;
        case CURLE_URL_MALFORMAT:
                return ERR_INVALID;
        case CURLE_UNSUPPORTED_PROTOCOL: /* of the URL, or an answer that is not HTTP */
                return strstr(words, "HTTP/0.9") ? ERR_RETRY : ERR_INVALID;
        case CURLE_OUT_OF_MEMORY:
                return ERR_NO_MEMORY;
        default:
                return is_certificate_alert(words) ? ERR_UNAUTHORIZED : ERR_RETRY;
        }
}

/* libcurl 7.88 leaves the answer unread and has no words for it: nothing went wrong. */
bool curl_transfer_answer_lost(const struct curl_transfer *tr)
{
        return tr->done && tr->result == CURLE_HTTP2_STREAM && !tr->words[0];
}

/* What OpenSSL found wrong with the server's certificate; a name that does not match is libcurl's finding,
 * which then says 1 in place of a result. */
static const char *certificate_reason(const struct curl_transfer *tr, const char *words)
{
        long result = X509_V_OK;
        curl_easy_getinfo(tr->easy, CURLINFO_SSL_VERIFYRESULT, &result);
        switch (result) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
                return HTTP_REASON_CERT_NAME;
        case X509_V_ERR_CERT_HAS_EXPIRED:
                return HTTP_REASON_CERT_EXPIRED;
        case X509_V_ERR_CERT_NOT_YET_VALID:
                return HTTP_REASON_CERT_NOT_YET;
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: /* an authority of the same name with another key */
        case X509_V_ERR_INVALID_CA:
        case X509_V_ERR_CERT_UNTRUSTED:
                return HTTP_REASON_CERT_AUTHORITY;
        default:
                return strstr(words, "subject name") ? HTTP_REASON_CERT_NAME : HTTP_REASON_CERT_INVALID;
        }
}

static const char *reason_of(const struct curl_transfer *tr, const char *words)
{
        switch (tr->result) {
        case CURLE_COULDNT_CONNECT:
                return HTTP_REASON_REFUSED;
        case CURLE_COULDNT_RESOLVE_HOST:
                return HTTP_REASON_NAME_UNKNOWN;
        case CURLE_OPERATION_TIMEDOUT:
                return HTTP_REASON_NO_ANSWER;
        case CURLE_PEER_FAILED_VERIFICATION:
                return certificate_reason(tr, words);
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
                return HTTP_REASON_CERT_AUTHORITY;
        case CURLE_SSL_CERTPROBLEM:
                return HTTP_REASON_CLIENT_CERT;
        case CURLE_SSL_CONNECT_ERROR:
                if (strstr(words, "wrong version number"))
                        return HTTP_REASON_NOT_TLS;
                break;
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_OUT_OF_MEMORY:
                return "";
        default:
                break;
        }
        return is_certificate_alert(words) ? HTTP_REASON_CLIENT_CERT : HTTP_REASON_FAILED;
}

static int network_error(const struct curl_transfer *tr, struct error *err)
{
        const char *words = tr->words[0] ? tr->words : curl_easy_strerror(tr->result);
        enum error_code code = classify(tr->result, words);
        long os = 0;
        if (tr->result == CURLE_COULDNT_CONNECT && tr->refused) {
                error_set(err, ERR_FORBIDDEN, "%s: this leads to %s, which is not asked", tr->what,
                          tr->refused);
                error_set_reason(err, HTTP_REASON_ADDRESS);
                return ERR_FORBIDDEN;
        }
        curl_easy_getinfo(tr->easy, CURLINFO_OS_ERRNO, &os);
        bool os_words = tr->result == CURLE_COULDNT_CONNECT && os > 0;
        error_set(err, code, "%s: %s", tr->what, os_words ? uv_strerror((int)-os) : words);
        error_set_reason(err, os_words && os != ECONNREFUSED ? HTTP_REASON_FAILED : reason_of(tr, words));
        return code;
}

int curl_transfer_status(const struct curl_transfer *tr, struct error *err)
{
        if (tr->result == CURLE_OK)
                return 0;
        if (tr->stayed < 0) /* with its words */
                return tr->stayed;
        if (tr->failed == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (tr->failed == ERR_LIMIT && !tr->head_done)
                return error_set(err, ERR_LIMIT, "%s: the answer's headers are too long", tr->what);
        if (tr->failed == ERR_LIMIT)
                return error_set(err, ERR_LIMIT, "%s: the answer is longer than %zu bytes", tr->what,
                                 tr->body.max);
        return network_error(tr, err);
}
