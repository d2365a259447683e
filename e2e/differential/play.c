#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "e2e/differential/differential.h"

#define POLL_MS 40
#define WATCH_QUIET_MS 12000 /* a watch that says nothing for so long is said to have stopped */
#define STREAMS_MAX 8

struct open_watch {
        const char *name;
        struct http_stream *stream;
        struct buf rest; /* what came behind the last whole line */
};

struct player {
        const struct script *script;
        struct target *target;
        struct arena arena;
        struct variables variables;
        struct normaliser *normaliser;
        struct open_watch watches[STREAMS_MAX];
        size_t n_watches;
};

/* ---- small things ---- */

/* "a.b[0].c" in a document; NULL if there is none. Keys with dots cannot be named. */
static const json_t *pick(const json_t *doc, const char *path)
{
        while (doc && *path) {
                size_t n = strcspn(path, ".[");
                AUTO_FREE char *key = mem_strndup(path, n);
                int64_t index;

                if (n)
                        doc = key ? json_object_get(doc, key) : NULL;
                path += n;
                if (*path == '[') {
                        n = strcspn(path + 1, "]");
                        doc = slice_parse_i64((struct slice){ path + 1, n }, &index)
                                      ? json_array_get(doc, (size_t)index)
                                      : NULL;
                        path += n + 2;
                }
                path += *path == '.';
        }
        return doc;
}

static bool is_expected(const struct player *p, const json_t *wanted, const json_t *got)
{
        const char *text = json_string_value(wanted);

        if (json_is_null(wanted))
                return !got;
        if (text)
                return text_equal(variables_expand(&p->variables, text), json_string_value(got));
        return got && doc_equal(wanted, got);
}

/* Whether an answer is what `until` waits for. */
static bool is_awaited(const struct player *p, const json_t *until, const json_t *answer)
{
        const char *path;
        json_t *wanted;

        json_object_foreach((json_t *)until, path, wanted)
                if (!is_expected(p, wanted, pick(answer, path)))
                        return false;
        return true;
}

static int keep_values(struct player *p, const json_t *keep, const json_t *answer, struct error *err)
{
        const char *name;
        json_t *path;

        json_object_foreach((json_t *)keep, name, path) {
                const json_t *v = pick(json_object_get(answer, "body"), json_string_value(path));
                AUTO_FREE char *text = json_is_integer(v)
                                               ? mem_printf("%lld", (long long)json_integer_value(v))
                                               : mem_strdup(json_is_string(v) ? json_string_value(v) : "");

                if (!text)
                        return error_no_memory(err);
                TRY(variable_set(&p->variables, name, text, err));
                if (!json_is_integer(v) && !json_is_string(v))
                        return error_set(err, ERR_NOT_FOUND, "keep: the answer has no %s",
                                         json_string_value(path));
        }
        return 0;
}

/* ---- one request ---- */

static const char *short_type(const char *type)
{
        static const char *const types[][2] = {
                { "json", "application/json-patch+json" },
                { "merge", "application/merge-patch+json" },
                { "strategic", "application/strategic-merge-patch+json" },
                { "apply", "application/apply-patch+yaml" },
                { "table", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
                { "partial",
                  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json" },
                { "partial-list",
                  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json" },
                { "aggregated",
                  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" },
        };

        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                if (text_equal(type, types[i][0]))
                        return types[i][1];
        return type;
}

struct call {
        struct http_request request;
        struct http_header headers[16];
        struct buf body;
};

static int add_header(struct call *c, const char *name, const char *value)
{
        if (!value || c->request.headers.n == ARRAY_LEN(c->headers))
                return ERR_NO_MEMORY;
        c->headers[c->request.headers.n++] = (struct http_header){ name, value };
        c->request.headers.at = c->headers;
        return 0;
}

static int write_body(struct player *p, const json_t *step, struct call *c, struct error *err)
{
        const char *text = doc_get_string(step, "text");
        const json_t *body = json_object_get(step, "body");
        AUTO_JSON json_t *expanded = NULL;

        if (text) {
                text = variables_expand(&p->variables, text);
                return text && buf_append_str(&c->body, text) == 0 ? 0 : error_no_memory(err);
        }
        if (!body)
                return 0;
        expanded = variables_expand_doc(&p->variables, body);
        if (!expanded || doc_write(expanded, &c->body) < 0)
                return error_no_memory(err);
        return 0;
}

static int set_headers(struct player *p, const json_t *step, struct call *c, struct error *err)
{
        const char *accept = doc_get_string(step, "accept"), *type = doc_get_string(step, "type"), *name;
        json_t *value;
        int code = add_header(c, "Accept", accept ? short_type(accept) : "application/json");

        if (type || c->body.len)
                code |= add_header(c, "Content-Type", type ? short_type(type) : "application/json");
        json_object_foreach(doc_get_object(step, "headers"), name, value)
                code |= add_header(c, name, variables_expand(&p->variables, json_string_value(value)));
        return code ? error_no_memory(err) : 0;
}

static int prepare_call(struct player *p, const json_t *step, const char *line, struct call *c,
                        struct error *err)
{
        const char *as = doc_get_string(step, "as"), *text = variables_expand(&p->variables, line);
        struct slice path = slice_of(text), method;

        buf_init(&c->body, 16u << 20);
        as = as ? variables_expand(&p->variables, as) : "";
        if (!text || !as)
                return error_no_memory(err);
        TRY(target_identity(p->target, as, &c->request.endpoint, err));
        if (!slice_cut(&path, ' ', &method))
                return error_set(err, ERR_INVALID, "do: must be METHOD PATH");
        c->request.method = arena_strndup(&p->arena, method.data, method.len);
        c->request.path = path.data;
        c->request.deadline_ms = loop_now_ms(p->target->world->loop) + DIFFERENTIAL_STEP_MS;
        TRY(write_body(p, step, c, err));
        c->request.body = (struct slice){ c->body.data, c->body.len };
        return set_headers(p, step, c, err);
}

/* ---- one answer ---- */

/* Headers that a client may act on. */
static json_t *answer_headers(const struct http_headers *h)
{
        static const char *const names[] = { "content-type", "content-encoding", "retry-after",  "location",
                                             "allow",        "www-authenticate", "cache-control" };
        json_t *out = json_object(), *warnings = json_array();

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (http_header_get(h, names[i]))
                        json_object_set_new(out, names[i], json_string(http_header_get(h, names[i])));
        for (size_t i = 0; i < h->n; i++)
                if (strcasecmp(h->at[i].name, "warning") == 0)
                        json_array_append_new(warnings, json_string(h->at[i].value));
        if (json_array_size(warnings))
                json_object_set(out, "warning", warnings);
        json_decref(warnings);
        return out;
}

/* JSON as a document, several JSON lines as an array of them, other text as its lines. */
static json_t *body_lines(struct slice body)
{
        json_t *out = json_array();
        struct slice line;

        while (body.len) {
                json_t *doc = NULL;

                (void)slice_cut(&body, '\n', &line);
                if (*line.data != '{' || doc_parse(line, &doc, NULL) < 0)
                        doc = json_stringn(line.data, line.len);
                json_array_append_new(out, doc);
        }
        return out;
}

static json_t *answer_body(const struct http_response *r)
{
        json_t *doc = NULL;

        if (!r->body.len)
                return json_string("");
        if (http_header_get(&r->headers, "content-encoding"))
                return json_string("(compressed)");
        if (!text_is_utf8(r->body.data, r->body.len))
                return json_string("(binary)");
        if (doc_parse(r->body, &doc, NULL) == 0)
                return doc;
        return body_lines(r->body);
}

static int make_answer(const struct http_response *r, json_t **ret, struct error *err)
{
        *ret = json_pack("{s:i,s:o,s:o}", "code", r->status, "headers", answer_headers(&r->headers), "body",
                         answer_body(r));
        return *ret ? 0 : error_no_memory(err);
}

static int call_once(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        struct call c = { 0 };
        struct http_response r = { 0 };
        int code = prepare_call(p, step, doc_get_string(step, "do"), &c, err);

        if (code == 0)
                code = http_roundtrip(p->target->world->transport, &c.request, &p->arena, &r, err);
        if (code == 0)
                code = make_answer(&r, ret, err);
        buf_free(&c.body);
        return code;
}

/* Asks until the answer is what is waited for, or time is up; the last answer counts. */
static int play_request(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        struct loop *l = p->target->world->loop;
        int64_t deadline = loop_now_ms(l) + DIFFERENTIAL_STEP_MS;
        const json_t *until = json_object_get(step, "until");

        TRY(call_once(p, step, ret, err));
        while (until && !is_awaited(p, until, *ret) && loop_now_ms(l) < deadline) {
                TRY(fiber_sleep(l, POLL_MS));
                json_decref(TAKE_PTR(*ret));
                TRY(call_once(p, step, ret, err));
        }
        return keep_values(p, json_object_get(step, "keep"), *ret, err);
}

/* The same request several times, "$n" counting from 1. */
static int play_requests(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        int64_t count = doc_get_int(step, "count", 1);
        AUTO_JSON json_t *all = json_array();

        if (count == 1)
                return play_request(p, step, ret, err);
        for (int64_t i = 1; i <= count; i++) {
                char n[24];
                json_t *one = NULL;

                snprintf(n, sizeof(n), "%lld", (long long)i);
                TRY(variable_set(&p->variables, "n", n, err));
                TRY(play_request(p, step, &one, err));
                if (json_array_append_new(all, one) < 0)
                        return error_no_memory(err);
        }
        *ret = json_pack("{s:O}", "answers", all);
        return *ret ? 0 : error_no_memory(err);
}

/* ---- watches ---- */

static int open_watch(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        struct open_watch *w = &p->watches[p->n_watches];
        struct call c = { 0 };
        AUTO_FREE char *line = mem_printf("GET %s", doc_get_string(step, "watch"));
        int code = line ? prepare_call(p, step, line, &c, err) : error_no_memory(err);

        if (code == 0 && p->n_watches == STREAMS_MAX)
                code = error_set(err, ERR_LIMIT, "more than %d watches", STREAMS_MAX);
        c.request.priority = HTTP_WATCH;
        if (code == 0)
                code = http_stream_open(p->target->world->transport, &c.request, &w->stream, err);
        buf_free(&c.body);
        if (code < 0)
                return code;
        w->name = doc_get_string(step, "name");
        buf_init(&w->rest, LIMIT_WATCH_EVENT_BYTES);
        p->n_watches++;
        *ret = json_pack("{s:i,s:o}", "code", w->stream->status, "headers",
                         answer_headers(&w->stream->headers));
        return *ret ? 0 : error_no_memory(err);
}

/* Takes the next whole line out of the buffer. */
static bool take_line(struct buf *b, json_t **ret)
{
        char *end = b->len ? memchr(b->data, '\n', b->len) : NULL;
        size_t n = end ? (size_t)(end - b->data) : 0;

        if (!end)
                return false;
        if (doc_parse((struct slice){ b->data, n }, ret, NULL) < 0)
                *ret = json_stringn(b->data, n);
        buf_consume(b, n + 1);
        return true;
}

static bool is_last_event(const json_t *step, const json_t *events, const json_t *event)
{
        const char *marker = doc_get_string(step, "marker");
        int64_t count = doc_get_int(step, "count", 0);

        if (marker && (text_equal(marker, doc_get_string(event, "type")) ||
                       text_equal(marker, doc_get_string(event, "object.metadata.name"))))
                return true;
        return count && json_array_size(events) >= (size_t)count;
}

/* Returns why it stopped. */
static const char *read_events(struct player *p, struct open_watch *w, const json_t *step, json_t *events)
{
        struct slice data;
        json_t *event = NULL;

        for (;;) {
                while (take_line(&w->rest, &event)) {
                        json_array_append_new(events, event);
                        if (is_last_event(step, events, event))
                                return "all came";
                }
                int code = http_stream_read(w->stream, loop_now_ms(p->target->world->loop) + WATCH_QUIET_MS,
                                            &data, NULL);
                if (code == ERR_CLOSED)
                        return "the server closed it";
                if (code < 0 || buf_append(&w->rest, data.data, data.len) < 0)
                        return error_code_name(code);
        }
}

static int play_events(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *events = json_array();

        for (size_t i = 0; i < p->n_watches; i++) {
                if (!text_equal(p->watches[i].name, doc_get_string(step, "events")))
                        continue;
                const char *end = read_events(p, &p->watches[i], step, events);
                *ret = json_pack("{s:s,s:O}", "end", end, "events", events);
                return *ret ? 0 : error_no_memory(err);
        }
        return error_set(err, ERR_NOT_FOUND, "no watch is named %s", doc_get_string(step, "events"));
}

/* ---- a script ---- */

static int play_step(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        if (json_object_get(step, "run"))
                return play_command(p->target, p->script, &p->variables, step, ret, err);
        if (json_object_get(step, "watch"))
                return open_watch(p, step, ret, err);
        if (json_object_get(step, "events"))
                return play_events(p, step, ret, err);
        return play_requests(p, step, ret, err);
}

/* The step's normalised answer; what could not be done is an answer too. */
static int answer_step(struct player *p, const json_t *step, json_t **ret, struct error *err)
{
        struct error why = { 0 };
        AUTO_JSON json_t *raw = NULL;
        int code = play_step(p, step, &raw, &why);

        if (code == ERR_CANCELLED)
                return error_set(err, ERR_CANCELLED, "cancelled");
        if (code < 0 && !raw)
                raw = json_pack("{s:s}", "failed", why.text);
        else if (code < 0)
                json_object_set_new(raw, "failed", json_string(why.text));
        if (doc_get_bool(step, "quiet", false))
                json_object_del(raw, "body");
        return normalise_doc(p->normaliser, raw, ret, err);
}

static int make_signing_request(struct player *p, struct error *err)
{
        const json_t *wanted = json_object_get(p->script->doc, "certificate");
        const char *name = doc_get_string(wanted, "name"), *group = doc_get_string(wanted, "group");
        const char *groups[] = { group, NULL };
        struct cert_subject subject = { .common_name = name ? variables_expand(&p->variables, name) : "",
                                        .organizations = groups };
        AUTO_FREE char *pem = NULL, *base64 = NULL;

        if (!wanted)
                return 0;
        TRY(cert_request(&subject, p->target->key_pem, &pem, err));
        base64 = mem_alloc(text_base64_size(strlen(pem)));
        if (!base64)
                return error_no_memory(err);
        text_base64_encode(pem, strlen(pem), base64);
        return variable_set(&p->variables, "csr", base64, err);
}

/* Makes the script's namespace and waits for what controllers put into it. */
static int make_namespace(struct player *p, struct error *err)
{
        static const char *const steps[] = {
                "{\"do\":\"POST /api/v1/namespaces\",\"body\":{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                "\"metadata\":{\"name\":\"$ns\"}}}",
                "{\"do\":\"GET /api/v1/namespaces/$ns/serviceaccounts/default\",\"until\":{\"code\":200}}",
                "{\"do\":\"GET "
                "/api/v1/namespaces/$ns/configmaps/kube-root-ca.crt\",\"until\":{\"code\":200}}",
        };

        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                AUTO_JSON json_t *step = NULL, *answer = NULL;

                TRY(doc_parse(slice_of(steps[i]), &step, err));
                int code = play_request(p, step, &answer, err);
                if (code ==
                    ERR_RETRY) /* the first connection of all, on a machine that is busy starting servers */
                        code = play_request(p, step, &answer, err);
                TRY(code);
                if (doc_get_int(answer, "code", 0) >= 300)
                        return error_set(err, ERR_INVALID, "%s: its namespace cannot be made: %s",
                                         p->script->name, doc_get_string(answer, "body.message"));
        }
        return 0;
}

static void remove_namespace(struct player *p)
{
        AUTO_JSON json_t *step = json_pack("{s:s}", "do", "DELETE /api/v1/namespaces/$ns"), *answer = NULL;

        (void)play_request(p, step, &answer, NULL);
}

static int player_init(struct player *p, const char *run, struct error *err)
{
        AUTO_FREE char *ns = mem_printf("%s-%s", p->script->name, run);

        map_init(&p->variables.values, MAP_OWN_KEYS, NULL);
        p->variables.arena = &p->arena;
        p->normaliser = normaliser_new(&p->arena, err);
        if (!p->normaliser || !ns)
                return ERR_NO_MEMORY;
        TRY(variable_set(&p->variables, "run", run, err));
        TRY(variable_set(&p->variables, "server", p->target->config.endpoint.base_url, err));
        TRY(normaliser_replace(p->normaliser, ns, "$ns", err));
        TRY(normaliser_replace(p->normaliser, run, "$run", err));
        TRY(normaliser_replace(p->normaliser, p->target->host, "<server>", err));
        if (doc_get_bool(p->script->doc, "namespace", true))
                TRY(variable_set(&p->variables, "ns", ns, err));
        return make_signing_request(p, err);
}

static int play_steps(struct player *p, json_t *out, struct error *err)
{
        json_t *step;
        size_t i;

        json_array_foreach(doc_get_array(p->script->doc, "steps"), i, step) {
                json_t *answer = NULL;

                TRY(answer_step(p, step, &answer, err));
                if (json_array_append_new(out, answer) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static void player_free(struct player *p)
{
        for (size_t i = 0; i < p->n_watches; i++) {
                http_stream_close(p->watches[i].stream);
                buf_free(&p->watches[i].rest);
        }
        map_free(&p->variables.values);
        arena_free(&p->arena);
}

int script_play(const struct script *s, struct target *t, const char *run, json_t **ret, struct error *err)
{
        CLEANUP(player_free) struct player p = { .script = s, .target = t };
        AUTO_JSON json_t *out = json_array();
        bool own_namespace;

        TRY(player_init(&p, run, err));
        own_namespace = map_get(&p.variables.values, "ns") != NULL;
        if (own_namespace)
                TRY(make_namespace(&p, err));
        TRY(play_steps(&p, out, err));
        if (own_namespace)
                remove_namespace(&p);
        *ret = TAKE_PTR(out);
        return 0;
}
