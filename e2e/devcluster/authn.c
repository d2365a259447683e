#include "e2e/devcluster/authn.h"

#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/tokens.h"

#define IMPERSONATED_GROUPS_MAX 64
#define AUTHENTICATION "authentication.k8s.io"

static const char *const admin_groups[] = { "system:masters", "system:authenticated", NULL };
static const struct identity admin = { .name = "system:admin", .uid = "", .groups = admin_groups };
static const char *const anonymous_groups[] = { "system:unauthenticated", NULL };
static const struct identity anonymous = { .name = "system:anonymous",
                                           .uid = "",
                                           .groups = anonymous_groups };

void authn_free(struct devcluster *d)
{
        token_cache_free(d);
}

json_t *identity_extra(const struct identity *who)
{
        if (who->extra || !who->certificate)
                return json_incref((json_t *)who->extra);
        return json_pack("{s:[o]}", "authentication.kubernetes.io/credential-id",
                         json_sprintf("X509SHA256=%s", who->certificate));
}

static int from_certificate(struct request *rq)
{
        const char *const *o = rq->x->peer_organizations;
        size_t n = 0;
        while (o && o[n])
                n++;
        const char **groups = ARENA_NEW_ARRAY(rq->arena, const char *, n + 2);
        struct identity *id = ARENA_NEW(rq->arena, struct identity);
        if (!groups || !id)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++)
                groups[i] = o[i];
        groups[n] = "system:authenticated";
        *id = (struct identity){ .name = rq->x->peer_common_name,
                                 .uid = "",
                                 .groups = groups,
                                 .certificate = rq->x->peer_fingerprint };
        rq->user = id;
        return 0;
}

static int unauthorized(struct request *rq)
{
        return request_fail(rq, 401, "Unauthorized", "Unauthorized");
}

static int from_authorization(struct request *rq, const char *header)
{
        static const char scheme[] = "bearer ";
        if (strncasecmp(header, scheme, strlen(scheme)) != 0)
                return unauthorized(rq);
        struct slice text = slice_trim(slice_of(header + strlen(scheme)));
        const char *token = text.data[text.len] ? arena_strndup(rq->arena, text.data, text.len) : text.data;
        struct identity *id = ARENA_NEW(rq->arena, struct identity);
        struct error err = { 0 };
        if (!token || !id)
                return request_fail_memory(rq);
        int r = token_identify(rq->devcluster, rq->cluster, token, NULL, rq->arena, id, NULL, &err);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0) {
                log_debug(rq->devcluster->log, "token refused", "cluster", rq->cluster->name, "reason",
                          err.text);
                return unauthorized(rq);
        }
        rq->user = id;
        return 0;
}

/* ---- impersonation ---- */

/* How a right to impersonate may be written: the old way, which allows to do anything as that user, or with a
 * verb of its own for each kind of user and a second right that says what may be done. */
struct impersonation {
        const char *verb;
        const char *group; /* of users, groups and service accounts */
        const char *on;    /* prefix of the verb that says what may be done; NULL = anything */
};

static const struct impersonation plain_way = { "impersonate", "", NULL };
static const struct impersonation user_way = { "impersonate:user-info", AUTHENTICATION,
                                               "impersonate-on:user-info:" };
static const struct impersonation account_way = { "impersonate:serviceaccount", AUTHENTICATION,
                                                  "impersonate-on:serviceaccount:" };

static int may_impersonate(struct request *rq, const struct impersonation *way, const char *group,
                           const char *resource, const char *sub, const char *ns, const char *name)
{
        struct access_question q = { .who = rq->user,
                                     .verb = way->verb,
                                     .group = group,
                                     .version = "v1",
                                     .resource = resource,
                                     .subresource = sub,
                                     .ns = ns,
                                     .name = name };
        return authorize_question(rq, &q);
}

/* "system:serviceaccount:NS:NAME" taken apart; false for other users. */
static bool is_account(struct request *rq, const char *user, const char **ret_ns, const char **ret_name)
{
        static const char prefix[] = "system:serviceaccount:";
        if (!text_starts_with(user, prefix))
                return false;
        const char *ns = user + strlen(prefix), *colon = strchr(ns, ':');
        *ret_ns = colon ? arena_strndup(rq->arena, ns, (size_t)(colon - ns)) : NULL;
        *ret_name = colon ? colon + 1 : NULL;
        return *ret_ns != NULL;
}

static int add_extra(struct request *rq, const struct impersonation *way, json_t *extra, const char *key,
                     const char *value)
{
        TRY(may_impersonate(rq, way, AUTHENTICATION, "userextras", key, NULL, value));
        json_t *list = json_object_get(extra, key);
        if (!list && json_object_set_new(extra, key, list = json_array()) < 0)
                return request_fail_memory(rq);
        return json_array_append_new(list, json_string(value)) < 0 ? request_fail_memory(rq) : 0;
}

static void decref(void *doc)
{
        json_decref(doc);
}

struct mask {
        const char *user, *uid;
        const char **groups; /* room for IMPERSONATED_GROUPS_MAX and what is added */
        size_t n_groups;
        json_t *extra;
};

static int read_mask_header(struct request *rq, const struct impersonation *way, const struct http_header *h,
                            struct mask *m)
{
        static const char extra[] = "Impersonate-Extra-";
        if (strcasecmp(h->name, "Impersonate-Uid") == 0) {
                m->uid = h->value;
                return may_impersonate(rq, way, AUTHENTICATION, "uids", NULL, NULL, h->value);
        } else if (strcasecmp(h->name, "Impersonate-Group") == 0) {
                TRY(may_impersonate(rq, way, way->group, "groups", NULL, NULL, h->value));
                if (m->n_groups == IMPERSONATED_GROUPS_MAX)
                        return request_fail_bad(rq, "more than %d groups to impersonate",
                                                IMPERSONATED_GROUPS_MAX);
                m->groups[m->n_groups++] = h->value;
        } else if (strncasecmp(h->name, extra, strlen(extra)) == 0) {
                char *key = arena_strdup(rq->arena, h->name + strlen(extra));
                for (char *p = key; p && *p; p++)
                        if (*p >= 'A' && *p <= 'Z')
                                *p = (char)(*p + 'a' - 'A');
                return key ? add_extra(rq, way, m->extra, key, h->value) : request_fail_memory(rq);
        }
        return 0;
}

static int put_on_mask(struct request *rq, const struct impersonation *way, struct mask *m)
{
        const char *ns = NULL, *name = NULL;
        bool account = is_account(rq, m->user, &ns, &name);
        TRY(account ? may_impersonate(rq, way, way->group, "serviceaccounts", NULL, ns, name)
                    : may_impersonate(rq, way, way->group, "users", NULL, NULL, m->user));
        struct identity *id = ARENA_NEW(rq->arena, struct identity);
        if (!id)
                return request_fail_memory(rq);
        bool nobody = strcmp(m->user, "system:anonymous") == 0;
        if (account && m->n_groups == 0) {
                id->groups = token_account_groups(rq->arena, ns);
        } else {
                m->groups[m->n_groups] = nobody ? "system:unauthenticated" : "system:authenticated";
                id->groups = m->groups;
        }
        id->name = m->user;
        id->uid = m->uid ? m->uid : "";
        id->extra = json_object_size(m->extra) ? m->extra : NULL;
        if (!id->groups)
                return request_fail_memory(rq);
        rq->user = id;
        return 0;
}

/* Groups, an uid or extra without a user: the message shows them as Go prints its struct. */
static int fail_without_user(struct request *rq)
{
        const struct http_headers *all = &rq->x->headers;
        const char *uid = http_header_get(all, "Impersonate-Uid");
        AUTO_BUF struct buf groups;
        buf_init(&groups, 64u << 10);
        for (size_t i = 0; i < all->n; i++)
                if (strcasecmp(all->at[i].name, "Impersonate-Group") == 0)
                        (void)buf_printf(&groups, "%s\"%s\"", groups.len ? ", " : "{", all->at[i].value);
        (void)buf_append_str(&groups, groups.len ? "}" : "(nil)");
        return request_fail_bad(rq,
                                "requested &user.DefaultInfo{Name:\"\", UID:\"%s\", Groups:[]string%s, "
                                "Extra:map[string][]string(nil)} without impersonating a user name",
                                uid ? uid : "", groups.data ? groups.data : "");
}

static int impersonate_in(struct request *rq, const struct impersonation *way, const char *user)
{
        struct mask m = { .extra = json_object(), .user = user };
        const struct http_headers *all = &rq->x->headers;
        if (!m.extra || arena_defer(rq->arena, decref, m.extra) < 0)
                return request_fail_memory(rq);
        m.groups = ARENA_NEW_ARRAY(rq->arena, const char *, IMPERSONATED_GROUPS_MAX + 2);
        if (!m.groups)
                return request_fail_memory(rq);
        for (size_t i = 0; i < all->n; i++)
                TRY(read_mask_header(rq, way, &all->at[i], &m));
        const struct identity *self = rq->user;
        TRY(put_on_mask(rq, way, &m));
        const struct identity *other = rq->user;
        rq->user = self;
        if (way->on) {
                const char *verb = arena_printf(rq->arena, "%s%s", way->on, rq->verb);
                TRY(verb ? authorize_verb(rq, verb) : request_fail_memory(rq));
        }
        rq->user = other;
        return 0;
}

static int impersonate(struct request *rq)
{
        const char *user = http_header_get(&rq->x->headers, "Impersonate-User"), *ns, *name;
        if (text_empty(user))
                return fail_without_user(rq);
        int r = impersonate_in(rq, &plain_way, user);
        if (r != ERR_FORBIDDEN)
                return r;
        TRY(impersonate_in(rq, is_account(rq, user, &ns, &name) ? &account_way : &user_way, user));
        rq->status = (struct api_status){ 0 };
        return 0;
}

static bool wants_mask(const struct request *rq)
{
        for (size_t i = 0; i < rq->x->headers.n; i++) {
                const char *name = rq->x->headers.at[i].name;
                if ((*name | 0x20) == 'i' && strncasecmp(name, "Impersonate-", strlen("Impersonate-")) == 0)
                        return true;
        }
        return false;
}

int authenticate(struct request *rq)
{
        const char *header = http_header_get(&rq->x->headers, "Authorization");
        if (!text_empty(rq->x->peer_common_name))
                TRY(from_certificate(rq));
        else if (!text_empty(header))
                TRY(from_authorization(rq, header));
        else
                rq->user = rq->devcluster->options.anonymous_admin ? &admin : &anonymous;
        return wants_mask(rq) ? impersonate(rq) : 0;
}
