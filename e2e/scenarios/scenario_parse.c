#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "e2e/scenarios/scenario.h"

#define WITHIN_MS 30000
#define COPIES_MAX 1000
#define KEYS_MAX 100000
#define PADDING_MAX (1 << 20)

/* Which keys a step may have beside its own; '!' = must have. */
struct step_form {
        const char *key; /* as written: "expect" */
        enum step_type type;
        const char *fields;
};

static const struct step_form forms[] = {
        { "apply", STEP_APPLY, "cluster manifests! copies padding as within" },
        { "patch", STEP_PATCH, "cluster apiVersion! kind! name! namespace subresource patch! as" },
        { "delete", STEP_DELETE, "cluster apiVersion! kind! name! namespace wait message as within" },
        { "expect", STEP_EXPECT, "cluster apiVersion! kind! name! namespace within that" },
        { "absent", STEP_ABSENT, "cluster apiVersion! kind! name! namespace within" },
        { "unserved", STEP_UNSERVED, "cluster apiVersion! kind! within" },
        { "count", STEP_COUNT, "cluster apiVersion! kind! namespace selector within that is!" },
        { "holds", STEP_HOLDS, "cluster apiVersion! kind! name! namespace for! that!" },
        { "refused", STEP_REFUSED, "cluster manifests! message! as within" },
        { "advance", STEP_ADVANCE, "by!" },
        { "start", STEP_START, "agent!" },
        { "stop", STEP_STOP, "agent!" },
        { "kill", STEP_KILL, "agent!" },
        { "ended", STEP_ENDED, "agent! code! within" },
        { "cut", STEP_CUT, "agent!" },
        { "heal", STEP_HEAL, "agent!" },
        { "freeze", STEP_FREEZE, "agent!" },
        { "thaw", STEP_THAW, "agent!" },
        { "readiness", STEP_READINESS, "cluster! kind namespace name ready!" },
        { "restartServer", STEP_RESTART_SERVER, "" },
        { "remember", STEP_REMEMBER, "cluster apiVersion! kind! namespace selector" },
        { "same", STEP_SAME, "cluster untouched" },
};

/* Position of `word` in a space-separated list, with an optional '!' behind it: 0 no, 1 may, 2 must. */
static int listed(const char *list, const char *word)
{
        size_t n = strlen(word);

        for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
                size_t length = strcspn(at, " !");

                if (length == n && memcmp(at, word, n) == 0)
                        return at[length] == '!' ? 2 : 1;
        }
        return 0;
}

struct context {
        struct scenario *s;
        size_t index;
        const struct step_form *form;
        const json_t *body;
        struct error *err;
};

static int wrong(struct context *c, const char *what)
{
        return error_set(c->err, ERR_INVALID, "steps[%zu] (%s): %s", c->index, c->form->key, what);
}

static int check_keys(struct context *c)
{
        const char *key;
        json_t *value;
        char message[192];

        json_object_foreach((json_t *)c->body, key, value) {
                if (listed(c->form->fields, key))
                        continue;
                snprintf(message, sizeof(message), "%.60s: no such field here; there are: %.60s", key,
                         c->form->fields);
                return wrong(c, message);
        }
        for (const char *at = c->form->fields; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
                size_t n = strcspn(at, " !");
                char name[32];

                snprintf(name, sizeof(name), "%.*s", (int)n, at);
                if (at[n] != '!' || json_object_get(c->body, name))
                        continue;
                snprintf(message, sizeof(message), "%s: is required", name);
                return wrong(c, message);
        }
        return 0;
}

static int get_string(struct context *c, const char *key, const char **ret)
{
        if (doc_want_string(c->body, key, ret, c->err) < 0)
                return error_wrap(c->err, "steps[%zu] (%s)", c->index, c->form->key);
        return 0;
}

/* A string or a list of strings. */
static int get_strings(struct context *c, const char *key, const char *const **ret)
{
        json_t *value = json_object_get(c->body, key);
        size_t n = json_is_array(value) ? json_array_size(value) : value ? 1 : 0;
        const char **list;

        if (n == 0)
                return 0;
        list = ARENA_NEW_ARRAY(&c->s->arena, const char *, n + 1);
        if (!list)
                return error_no_memory(c->err);
        for (size_t i = 0; i < n; i++) {
                list[i] = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
                if (!list[i])
                        return wrong(c, "cluster and that: must be a string or a list of strings");
        }
        *ret = list;
        return 0;
}

static int get_duration(struct context *c, const char *key, int64_t *ret_ms)
{
        const char *text = NULL;
        int64_t ns;

        TRY(get_string(c, key, &text));
        if (!text)
                return 0;
        if (duration_parse_go(slice_of(text), &ns) < 0 || ns < 0)
                return wrong(c, "within, for and by: must be a duration such as 1m30s");
        *ret_ms = ns / 1000000;
        return 0;
}

/* "members" stands for all of them. */
static int expand_clusters(struct context *c, struct step *st)
{
        static const char *const hub[] = { "hub", NULL };
        const char **all;

        st->on_said = st->on != NULL;
        if (!st->on)
                st->on = hub;
        if (!text_equal(st->on[0], "members"))
                return 0;
        all = ARENA_NEW_ARRAY(&c->s->arena, const char *, c->s->members + 1);
        if (!all)
                return error_no_memory(c->err);
        for (unsigned i = 0; i < c->s->members; i++) {
                all[i] = arena_printf(&c->s->arena, "member-%u", i + 1);
                if (!all[i])
                        return error_no_memory(c->err);
        }
        st->on = all;
        return 0;
}

/* manifests: a list of objects, or one text of YAML documents. */
static int get_manifests(struct context *c, struct step *st)
{
        json_t *value = json_object_get(c->body, "manifests"), *parsed;

        if (json_is_string(value)) {
                if (yaml_parse_all(slice_of(json_string_value(value)), &parsed, c->err) < 0)
                        return error_wrap(c->err, "steps[%zu] (%s): manifests", c->index, c->form->key);
                if (json_object_set_new((json_t *)c->body, "manifests", parsed) < 0)
                        return error_no_memory(c->err);
                value = parsed;
        }
        if (value && !json_is_array(value))
                return wrong(c, "manifests: must be a list of objects or a text of YAML documents");
        st->manifests = value;
        return 0;
}

static json_t *fill_in_text(const char *at, const char *copy, const char *padding)
{
        AUTO_BUF struct buf text;

        buf_init(&text, PADDING_MAX + 4096);
        while (*at) {
                bool is_copy = text_starts_with(at, "$COPY"), is_padding = text_starts_with(at, "$PADDING");

                if (is_copy || is_padding)
                        buf_append_str(&text, is_copy ? copy : padding);
                else
                        buf_append(&text, at, 1);
                at += is_copy ? strlen("$COPY") : is_padding ? strlen("$PADDING") : 1;
        }
        return text.failed ? NULL : json_stringn(text.len ? text.data : "", text.len);
}

/* What {$keys: N} stands for: "key-0": "0" and so on. NULL on no memory. */
static json_t *many_keys(json_int_t n)
{
        AUTO_JSON json_t *object = json_object();
        char key[32];

        for (json_int_t i = 0; i < MIN(n, (json_int_t)KEYS_MAX); i++) {
                snprintf(key, sizeof(key), "key-%lld", (long long)i);
                if (json_object_set_new(object, key, json_string(key + strlen("key-"))) < 0)
                        return NULL;
        }
        return TAKE_PTR(object);
}

/* A copy of `value` with $COPY and $PADDING filled in wherever a text has them; NULL on no memory. */
static json_t *fill_in(const json_t *value, const char *copy, const char *padding)
{
        json_t *filled, *element;
        const char *key;
        size_t i;

        if (json_object_get(value, "$keys"))
                return many_keys(json_integer_value(json_object_get(value, "$keys")));
        if (json_is_object(value)) {
                filled = json_object();
                json_object_foreach((json_t *)value, key, element)
                        if (json_object_set_new(filled, key, fill_in(element, copy, padding)) < 0)
                                return NULL;
                return filled;
        }
        if (json_is_array(value)) {
                filled = json_array();
                json_array_foreach(value, i, element)
                        if (json_array_append_new(filled, fill_in(element, copy, padding)) < 0)
                                return NULL;
                return filled;
        }
        return json_is_string(value) ? fill_in_text(json_string_value(value), copy, padding)
                                     : doc_copy(value);
}

/* "copies": each manifest so many times, numbered from 1. */
static int copy_manifests(struct context *c, struct step *st, int64_t copies, int64_t padding)
{
        AUTO_JSON json_t *all = json_array();
        char *spaces, number[24];
        json_t *manifest;
        size_t i;

        if (copies < 1 || copies > COPIES_MAX || padding < 0 || padding > PADDING_MAX)
                return wrong(c, "copies: 1 to 1000; padding: 0 to 1048576 bytes");
        spaces = arena_alloc(&c->s->arena, (size_t)padding + 1);
        if (!all || !spaces)
                return error_no_memory(c->err);
        memset(spaces, 'x', (size_t)padding);
        spaces[padding] = '\0';
        for (int64_t n = 1; n <= copies; n++) {
                snprintf(number, sizeof(number), "%lld", (long long)n);
                json_array_foreach((json_t *)st->manifests, i, manifest)
                        if (json_array_append_new(all, fill_in(manifest, number, spaces)) < 0)
                                return error_no_memory(c->err);
        }
        st->manifests = all;
        return json_object_set((json_t *)c->body, "manifests", all) < 0 ? error_no_memory(c->err) : 0;
}

static int get_copies(struct context *c, struct step *st)
{
        int64_t copies = 1, padding = 0;

        if (!json_object_get(c->body, "copies") && !json_object_get(c->body, "padding"))
                return 0;
        if (doc_want_int(c->body, "copies", &copies, c->err) < 0 ||
            doc_want_int(c->body, "padding", &padding, c->err) < 0)
                return error_wrap(c->err, "steps[%zu] (%s)", c->index, c->form->key);
        return copy_manifests(c, st, copies, padding);
}

static int parse_fields(struct context *c, struct step *st)
{
        int64_t count = 0;

        TRY(get_strings(c, "cluster", &st->on));
        TRY(expand_clusters(c, st));
        TRY(get_strings(c, "that", &st->that));
        TRY(get_string(c, "apiVersion", &st->api_version));
        TRY(get_string(c, "kind", &st->kind));
        TRY(get_string(c, "namespace", &st->ns));
        TRY(get_string(c, "name", &st->name));
        TRY(get_string(c, "selector", &st->selector));
        TRY(get_string(c, "subresource", &st->subresource));
        TRY(get_string(c, "as", &st->as));
        TRY(get_string(c, "agent", &st->agent));
        TRY(get_string(c, "message", &st->message));
        TRY(get_duration(c, "within", &st->within_ms));
        st->within_said = json_object_get(c->body, "within") != NULL;
        TRY(get_duration(c, "for", &st->for_ms));
        TRY(get_duration(c, "by", &st->for_ms));
        TRY(get_manifests(c, st));
        TRY(get_copies(c, st));
        st->patch = json_object_get(c->body, "patch");
        if (doc_want_int(c->body, "is", &count, c->err) < 0 ||
            doc_want_int(c->body, "code", &st->code, c->err) < 0 ||
            doc_want_bool(c->body, "ready", &st->ready, c->err) < 0 ||
            doc_want_bool(c->body, "wait", &st->wait, c->err) < 0 ||
            doc_want_bool(c->body, "untouched", &st->untouched, c->err) < 0)
                return error_wrap(c->err, "steps[%zu] (%s)", c->index, c->form->key);
        st->count = count;
        return 0;
}

/* A step is an object with one key; a bare string is short for {agent: ...} or, for advance, {by: ...}. */
static int parse_step(struct scenario *s, size_t index, json_t *doc, struct step *st, struct error *err)
{
        const char *key = json_object_iter_key(json_object_iter(doc));
        json_t *body = key ? json_object_get(doc, key) : NULL;
        struct context c = { .s = s, .index = index, .err = err };

        if (json_object_size(doc) != 1)
                return error_set(err, ERR_INVALID,
                                 "steps[%zu]: must be an object with one key, the kind of step", index);
        for (size_t i = 0; i < ARRAY_LEN(forms); i++)
                if (text_equal(forms[i].key, key))
                        c.form = &forms[i];
        if (!c.form)
                return error_set(err, ERR_INVALID, "steps[%zu]: unknown kind of step \"%s\"", index, key);
        if (json_is_string(body)) {
                json_t *full = json_pack("{s:O}", listed(c.form->fields, "by") ? "by" : "agent", body);

                if (json_object_set_new(doc, key, full) < 0)
                        return error_no_memory(err);
                body = full;
        }
        if (!json_is_object(body) && !json_is_true(body))
                return error_set(err, ERR_INVALID, "steps[%zu] (%s): must be an object", index, key);
        c.body = body;
        st->type = c.form->type;
        st->within_ms = WITHIN_MS;
        TRY(check_keys(&c));
        TRY(parse_fields(&c, st));
        st->text = arena_printf(&s->arena, "steps[%zu] %s %s%s%s%s%s", index, key, st->on ? st->on[0] : "",
                                st->kind ? " " : "", st->kind ? st->kind : "", st->name ? "/" : "",
                                st->name ? st->name : "");
        return st->text ? 0 : error_no_memory(err);
}

static int parse_flags(struct scenario *s, struct error *err)
{
        json_t *flags = NULL, *flag;
        size_t i;

        TRY(doc_want_array(s->doc, "memberFlags", &flags, err));
        if (!flags)
                return 0;
        if (json_array_size(flags) > FLEET_FLAGS_MAX)
                return error_set(err, ERR_INVALID, "memberFlags: at most %d", FLEET_FLAGS_MAX);
        s->member_flags = ARENA_NEW_ARRAY(&s->arena, const char *, json_array_size(flags) + 1);
        if (!s->member_flags)
                return error_no_memory(err);
        json_array_foreach(flags, i, flag)
                if (!(s->member_flags[i] = json_string_value(flag)))
                        return error_set(err, ERR_INVALID, "memberFlags[%zu]: must be a string", i);
        return 0;
}

static int parse_all(struct scenario *s, struct error *err)
{
        json_t *steps = NULL, *step;
        int64_t members = 3, hub_agents = 1, shards = 0;
        size_t i;

        TRY(doc_need_string(s->doc, "name", &s->name, err));
        TRY(doc_want_int(s->doc, "members", &members, err));
        TRY(doc_want_int(s->doc, "hubAgents", &hub_agents, err));
        TRY(doc_want_int(s->doc, "shards", &shards, err));
        TRY(doc_want_string(s->doc, "namespaceAccount", &s->namespace_account, err));
        TRY(doc_want_bool(s->doc, "collectNamespaces", &s->collect_namespaces, err));
        TRY(parse_flags(s, err));
        TRY(doc_want_bool(s->doc, "admissionPolicies", &s->admission_policies, err));
        TRY(doc_want_bool(s->doc, "guardPolicies", &s->guard_policies, err));
        TRY(doc_want_bool(s->doc, "rulePolicies", &s->rule_policies, err));
        TRY(doc_want_bool(s->doc, "webhooks", &s->webhooks, err));
        TRY(doc_want_bool(s->doc, "networkingAgents", &s->networking_agents, err));
        TRY(doc_want_bool(s->doc, "resourceSets", &s->resource_sets, err));
        TRY(doc_want_array(s->doc, "steps", &steps, err));
        if (members < 0 || members > 1000)
                return error_set(err, ERR_INVALID, "members: must be 0 to 1000, is %lld", (long long)members);
        if (hub_agents < 1 || hub_agents > 9)
                return error_set(err, ERR_INVALID, "hubAgents: must be 1 to 9, is %lld",
                                 (long long)hub_agents);
        if (shards && (shards < 2 || shards > 64))
                return error_set(err, ERR_INVALID, "shards: must be 2 to 64, is %lld", (long long)shards);
        if (json_array_size(steps) == 0)
                return error_set(err, ERR_INVALID, "steps: at least one is required");
        s->members = (unsigned)members;
        s->hub_agents = (unsigned)hub_agents;
        s->shards = (unsigned)shards;
        s->n_steps = json_array_size(steps);
        s->steps = ARENA_NEW_ARRAY(&s->arena, struct step, s->n_steps);
        if (!s->steps)
                return error_no_memory(err);
        json_array_foreach(steps, i, step)
                TRY(parse_step(s, i, step, &s->steps[i], err));
        return 0;
}

int scenario_parse(struct slice text, const char *file, struct scenario **ret, struct error *err)
{
        struct scenario *s = NEW(struct scenario);
        int code;

        if (!s)
                return error_no_memory(err);
        code = yaml_parse(text, &s->doc, err);
        if (code == 0)
                code = parse_all(s, err);
        if (code < 0) {
                scenario_free(s);
                return error_wrap(err, "%s", file);
        }
        *ret = s;
        return 0;
}

struct scenario *scenario_free(struct scenario *s)
{
        if (s) {
                json_decref(s->doc);
                arena_free(&s->arena);
                mem_free(s);
        }
        return NULL;
}
