#include "kubectl-fleet/session.h"

#include <stdarg.h>

#include "common/base/memory.h"
#include "kubectl-fleet/conflicts.h"

_Static_assert(FLAG_STRINGS_MAX <= KUBE_GROUPS_MAX, "all groups of --as-group are sent");

const char *session_argument(const struct session *s, size_t i)
{
        return i < s->line.n_words ? s->line.words[i] : NULL;
}

const char *session_namespace(const struct session *s)
{
        if (!text_empty(s->options.namespace))
                return s->options.namespace;
        return s->config.namespace_ ? s->config.namespace_ : "default";
}

/* ---- the hub ---- */

static int replace(char **field, const char *value, struct error *err)
{
        char *copy = mem_strdup(value);

        if (!copy)
                return error_no_memory(err);
        mem_free(*field);
        *field = copy;
        return 0;
}

static int name_ourselves(struct http_endpoint *e, struct error *err)
{
        return replace(&e->user_agent, "kubectl-fleet", err);
}

/* What flags say in place of the kubeconfig. */
static int take_flags(struct session *s, struct http_endpoint *e, struct error *err)
{
        const struct fleet_options *o = &s->options;

        if (!text_empty(o->server))
                TRY(replace(&e->base_url, o->server, err));
        if (!text_empty(o->token)) {
                TRY(replace(&e->bearer_token, o->token, err));
                mem_free(TAKE_PTR(e->bearer_token_file));
                json_decref(TAKE_PTR(s->config.exec.entry));
        }
        if (o->insecure) {
                e->insecure_skip_verify = true;
                mem_free(TAKE_PTR(e->ca_pem));
        }
        return name_ourselves(e, err);
}

static const char *given(const char *flag)
{
        return text_empty(flag) ? NULL : flag;
}

static int open_login(struct session *s, struct kube_config *c, struct exec_login *l, struct error *err)
{
        return c->exec.entry
                       ? exec_login_open(l, s->world, c, s->terminal->interactive && !s->unattended, err)
                       : 0;
}

int session_connect(struct session *s, struct error *err)
{
        const struct fleet_options *o = &s->options;
        const struct kube_config_choice choice = {
                .context = given(text_empty(o->hub_context) ? o->context : o->hub_context),
                .cluster = given(o->cluster_entry),
                .user = given(o->user_entry),
        };
        int64_t limit_ms = 0;

        if ((o->in_cluster
                     ? kube_config_in_cluster(s->world, &s->config, err)
                     : kube_config_load_exec(s->world, given(o->kubeconfig), &choice, &s->config, err)) < 0 ||
            take_flags(s, &s->config.endpoint, err) < 0 || open_login(s, &s->config, &s->login, err) < 0)
                return error_wrap(err, "failed to create hub cluster client");
        TRY(request_timeout_parse(o->request_timeout, &limit_ms, err));
        s->hub = (struct kube_client){ .world = s->world,
                                       .endpoint = &s->config.endpoint,
                                       .log = &s->log,
                                       .call_deadline_ms = limit_ms,
                                       .field_manager = "kubectl-fleet",
                                       .impersonate = given(o->impersonate),
                                       .impersonate_uid = given(o->impersonate_uid),
                                       .impersonate_groups = o->groups.at };
        s->deadline_ms = o->timeout_ms > 0 ? loop_now_ms(s->world->loop) + o->timeout_ms : DEADLINE_NONE;
        return 0;
}

int session_connect_member(struct session *s, struct error *err)
{
        const struct fleet_options *o = &s->options;
        const char *file = text_empty(o->member_kubeconfig) ? o->kubeconfig : o->member_kubeconfig;
        const struct kube_config_choice choice = { .context = given(o->member_context) };
        int64_t limit_ms = 0;

        if (kube_config_load_exec(s->world, given(file), &choice, &s->member_config, err) < 0 ||
            name_ourselves(&s->member_config.endpoint, err) < 0 ||
            open_login(s, &s->member_config, &s->member_login, err) < 0)
                return error_wrap(err, "failed to create member cluster client");
        TRY(request_timeout_parse(o->request_timeout, &limit_ms, err));
        s->member = (struct kube_client){ .world = s->world,
                                          .endpoint = &s->member_config.endpoint,
                                          .log = &s->log,
                                          .call_deadline_ms = limit_ms,
                                          .field_manager = "kubectl-fleet" };
        return 0;
}

void session_disconnect(struct session *s)
{
        exec_login_close(&s->login);
        exec_login_close(&s->member_login);
        kube_config_free(&s->config);
        kube_config_free(&s->member_config);
}

/* As a shell reads it back. */
static const char *shell_word(struct arena *arena, const char *text)
{
        static const char plain[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/@%+=,";
        AUTO_BUF struct buf b;

        buf_init(&b, 16384);
        if (text[strspn(text, plain)] == '\0')
                return text;
        buf_append_char(&b, '\'');
        for (const char *c = text; *c; c++)
                if (*c == '\'')
                        buf_append_str(&b, "'\\''");
                else
                        buf_append_char(&b, *c);
        buf_append_char(&b, '\'');
        return buf_status(&b, NULL, "") < 0 ? NULL : arena_strndup(arena, b.data, b.len);
}

const char *session_hub_words(const struct session *s)
{
        const struct fleet_options *o = &s->options;
        const struct {
                const char *flag, *value;
        } flags[] = {
                { "hub-cluster-context", s->config.context },
                { "cluster", o->cluster_entry },
                { "user", o->user_entry },
                { "kubeconfig", o->kubeconfig },
                { "server", o->server },
        };
        const char *words = "";

        for (size_t i = 0; words && i < ARRAY_LEN(flags); i++) {
                const char *value = text_empty(flags[i].value) ? NULL : shell_word(s->arena, flags[i].value);

                if (value)
                        words = arena_printf(s->arena, "%s --%s %s", words, flags[i].flag, value);
        }
        return words ? words : "";
}

int session_time_left(struct session *s, struct error *err)
{
        int64_t left = s->deadline_ms - loop_now_ms(s->world->loop), limit_ms = 0;

        if (s->deadline_ms == DEADLINE_NONE)
                return 0;
        if (left <= 0)
                return error_set(err, ERR_TIMEOUT, "context deadline exceeded");
        TRY(request_timeout_parse(s->options.request_timeout, &limit_ms, err));
        s->hub.call_deadline_ms = MIN(left, limit_ms > 0 ? limit_ms : KUBE_CALL_DEADLINE_MS);
        return 0;
}

int session_sleep(struct session *s, int64_t ms)
{
        int64_t now = loop_now_ms(s->world->loop);

        if (s->deadline_ms == DEADLINE_NONE || now + ms < s->deadline_ms)
                return fiber_sleep(s->world->loop, ms);
        TRY(fiber_sleep(s->world->loop, MAX(0, s->deadline_ms - now)));
        return ERR_TIMEOUT;
}

struct attempt {
        struct session *session;
        int (*fn)(struct session *s, void *ctx, struct error *err);
        void *ctx;
};

static int attempt(void *ctx, struct error *err)
{
        const struct attempt *a = ctx;

        TRY(session_time_left(a->session, err));
        return a->fn(a->session, a->ctx, err);
}

int session_retry_conflicts(struct session *s, int (*fn)(struct session *s, void *ctx, struct error *err),
                            void *ctx, struct error *err)
{
        struct attempt a = { .session = s, .fn = fn, .ctx = ctx };

        return retry_conflicts(s->world->loop, attempt, &a, err);
}

/* ---- what is said ---- */

void session_flush(struct session *s)
{
        if (s->out.len)
                s->terminal->write(s->terminal->ctx, false, s->out.data, s->out.len);
        buf_clear(&s->out);
}

static void write_line(struct session *s, const char *stamp, const char *fmt, va_list args)
{
        char text[2 * ERROR_TEXT_MAX];
        AUTO_BUF struct buf line;

        vsnprintf(text, sizeof(text), fmt, args);
        buf_init(&line, sizeof(text) + 64);
        buf_printf(&line, "%s%s\n", stamp, text);
        session_flush(s);
        s->terminal->write(s->terminal->ctx, true, line.data, line.len);
}

/* "2006/01/02 15:04:05 ", in local time. */
static void time_stamp(const struct session *s, char ret[32])
{
        const struct terminal *t = s->terminal;
        int64_t now = loop_wall_ms(s->world->loop);
        char utc[RFC3339_SIZE];

        time_format_rfc3339(now + (t->local_offset_ms ? t->local_offset_ms(t->ctx, now) : 0), utc);
        snprintf(ret, 32, "%.4s/%.2s/%.2s %.8s ", utc, utc + 5, utc + 8, utc + 11);
}

void session_say(struct session *s, const char *fmt, ...)
{
        char stamp[32];
        va_list args;

        time_stamp(s, stamp);
        va_start(args, fmt);
        write_line(s, stamp, fmt, args);
        va_end(args);
}

void session_note(struct session *s, const char *fmt, ...)
{
        va_list args;

        va_start(args, fmt);
        write_line(s, "", fmt, args);
        va_end(args);
}
