/* Checkpoints of a cluster, taken and brought back in etcd itself: API servers see the keys come and go by
 * their watches, as if somebody had written them. Deleting through the API would take ten seconds for each
 * namespace. */
#include "common/base/memory.h"
#include "e2e/kube/internal.h"

#define CALL_MS 30000
#define AT_ONCE 32
#define PASSES_MAX 100
#define PASS_MS 150
#define QUIET_PASSES 2
#define PUT_BACK_MAX 5

struct saved_key {
        int64_t revision; /* of the key's last write that we know to hold this value */
        int64_t seen;     /* its revision in this pass of a reset; 0 = the key is not there */
        int put_back;     /* how often in this reset */
        char value[];     /* base64 */
};

/* ---- the gateway ---- */

int etcd_post(struct kube_clusters *c, const char *path, const json_t *body, json_t **ret_answer,
              struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf text;
        struct http_response r;

        buf_init(&text, 64u << 20);
        if (!body || doc_write(body, &text) < 0)
                return error_no_memory(err);
        const struct http_request rq = { .endpoint = &c->etcd_endpoint,
                                         .method = "POST",
                                         .path = path,
                                         .body = { text.data, text.len },
                                         .deadline_ms = loop_now_ms(c->world->loop) + CALL_MS,
                                         .max_body = 256u << 20 };
        TRY(http_roundtrip(c->world->transport, &rq, &arena, &r, err));
        if (r.status != 200)
                return error_set(err, ERR_SYSTEM, "etcd %s: %d: %.300s", path, r.status, r.body.data);
        return ret_answer ? doc_parse(r.body, ret_answer, err) : 0;
}

static json_t *base64_of(const char *text)
{
        char encoded[1024];
        size_t n = strlen(text);

        if (text_base64_size(n) > sizeof(encoded))
                return NULL;
        text_base64_encode(text, n, encoded);
        return json_string(encoded);
}

/* etcd writes 64-bit numbers as strings. */
static int64_t number_at(const json_t *doc, const char *path)
{
        const char *text = doc_get_string(doc, path);
        int64_t n = 0;

        return text && text_parse_i64(text, &n) ? n : 0;
}

int etcd_compact(struct kube_clusters *c, struct error *err)
{
        AUTO_JSON json_t *ask = json_pack("{s:o}", "key", base64_of("/")), *answer = NULL;

        TRY(etcd_post(c, "/v3/kv/range", ask, &answer, err));
        AUTO_JSON json_t *body = json_pack("{s:s, s:b}", "revision",
                                           doc_get_string(answer, "header.revision"), "physical", true);
        return etcd_post(c, "/v3/kv/compaction", body, NULL, err);
}

/* All keys of a cluster. They begin with "/NAME/", and '0' comes behind '/'. */
static int range(struct kube_cluster *k, bool keys_only, json_t **ret, struct error *err)
{
        char first[80], last[80];

        snprintf(first, sizeof(first), "/%s/", k->name);
        snprintf(last, sizeof(last), "/%s0", k->name);
        AUTO_JSON json_t *ask = json_pack("{s:o, s:o, s:b}", "key", base64_of(first), "range_end",
                                          base64_of(last), "keys_only", keys_only);
        return etcd_post(k->all, "/v3/kv/range", ask, ret, err);
}

/* ---- which keys belong to a checkpoint ---- */

static bool decode(const char *encoded, char *ret, size_t cap)
{
        size_t n = 0;

        if (!encoded || text_base64_decode(slice_of(encoded), ret, cap - 1, &n, false) < 0)
                return false;
        ret[n] = '\0';
        return true;
}

/* What the servers write about themselves goes on across a reset. */
static bool is_servers_own(const struct kube_cluster *k, const char *key)
{
        static const char *const folders[] = { "leases/kube-system/", "leases/kube-node-lease/",
                                               "masterleases/", "peerserverleases/" };
        size_t n = strlen(k->name) + 2; /* "/NAME/" */

        for (size_t i = 0; i < ARRAY_LEN(folders); i++)
                if (strlen(key) > n && text_starts_with(key + n, folders[i]))
                        return true;
        return false;
}

static int save_one(struct kube_cluster *k, const json_t *kv)
{
        const char *encoded = doc_get_string(kv, "key"), *value = doc_get_string(kv, "value");
        size_t n = value ? strlen(value) : 0;
        struct saved_key *saved;
        char key[1024];

        if (!decode(encoded, key, sizeof(key)) || is_servers_own(k, key))
                return 0;
        saved = mem_alloc(sizeof(*saved) + n + 1);
        if (!saved)
                return ERR_NO_MEMORY;
        *saved = (struct saved_key){ .revision = number_at(kv, "mod_revision") };
        memcpy(saved->value, value ? value : "", n + 1);
        if (map_put(&k->saved, encoded, saved) == 0)
                return 0;
        mem_free(saved);
        return ERR_NO_MEMORY;
}

static int save_all(struct kube_cluster *k, struct error *err)
{
        AUTO_JSON json_t *answer = NULL;
        json_t *kv;
        size_t i;

        TRY(range(k, false, &answer, err));
        map_free(&k->saved);
        map_init(&k->saved, MAP_OWN_KEYS, mem_free);
        json_array_foreach(doc_get_array(answer, "kvs"), i, kv)
                if (save_one(k, kv) < 0)
                        return error_no_memory(err);
        return 0;
}

/* The saved state if kv is still what was saved. */
static struct saved_key *saved_same(const struct kube_cluster *k, const json_t *kv)
{
        const char *encoded = doc_get_string(kv, "key");
        struct saved_key *saved = encoded ? map_get(&k->saved, encoded) : NULL;

        return saved && saved->revision == number_at(kv, "mod_revision") ? saved : NULL;
}

static int find_changed(struct kube_cluster *k, bool *ret, struct error *err)
{
        AUTO_JSON json_t *answer = NULL;
        size_t i, same = 0;
        char key[1024];
        json_t *kv;

        *ret = false;
        TRY(range(k, true, &answer, err));
        json_array_foreach(doc_get_array(answer, "kvs"), i, kv) {
                if (saved_same(k, kv))
                        same++;
                else if (decode(doc_get_string(kv, "key"), key, sizeof(key)) && !is_servers_own(k, key))
                        *ret = true;
        }
        *ret |= same != map_count(&k->saved);
        return 0;
}

/* Controllers that still write would undo a checkpoint taken meanwhile, so it is taken again. */
int etcd_save(struct kube_cluster *k, struct error *err)
{
        for (int i = 0; i < PASSES_MAX; i++) {
                bool changed;

                TRY(save_all(k, err));
                TRY(fiber_sleep(k->all->world->loop, QUIET_PASSES * PASS_MS));
                TRY(find_changed(k, &changed, err));
                if (!changed)
                        return 0;
        }
        return error_set(err, ERR_TIMEOUT, "%s does not come to rest", k->name);
}

/* ---- bringing it back ---- */

struct restore {
        struct kube_cluster *cluster;
        struct fiber_group *group;
        struct error *err;
        size_t changes;
        char last[256]; /* key that was changed last, for the report */
        int code;
};

struct change {
        struct restore *restore;
        struct saved_key *saved; /* NULL = the key is to go */
        char key[];              /* base64 */
};

static int make_change(const struct change *ch, struct error *err)
{
        AUTO_JSON json_t *answer = NULL, *body = NULL;

        if (!ch->saved) {
                body = json_pack("{s:s}", "key", ch->key);
                return etcd_post(ch->restore->cluster->all, "/v3/kv/deleterange", body, NULL, err);
        }
        body = json_pack("{s:s, s:s}", "key", ch->key, "value", ch->saved->value);
        TRY(etcd_post(ch->restore->cluster->all, "/v3/kv/put", body, &answer, err));
        ch->saved->revision = number_at(answer, "header.revision");
        return 0;
}

static void change_fiber(void *ctx)
{
        struct change *ch = ctx;
        struct error err = { 0 };
        int code = make_change(ch, &err);

        if (code < 0 && ch->restore->code == 0) {
                ch->restore->code = code;
                *ch->restore->err = err;
        }
        mem_free(ch);
}

static int spawn_change(struct restore *r, const char *key, struct saved_key *saved)
{
        size_t n = strlen(key);
        struct change *ch = mem_alloc(sizeof(*ch) + n + 1);

        if (!ch)
                return ERR_NO_MEMORY;
        fiber_group_wait_below(r->group, AT_ONCE);
        ch->restore = r;
        ch->saved = saved;
        memcpy(ch->key, key, n + 1);
        r->changes++;
        decode(key, r->last, sizeof(r->last));
        if (fiber_spawn(r->group, "restore", change_fiber, ch))
                return 0;
        mem_free(ch);
        return ERR_NO_MEMORY;
}

static bool is_below(const struct kube_cluster *k, const char *key, const char *folder)
{
        size_t n = strlen(k->name) + 2;

        return strlen(key) > n && text_starts_with(key + n, folder);
}

/* New keys go in this order, so that no controller finds the owner and misses what it owns: 0 first. */
#define STAGES 3
static int stage_of(const struct kube_cluster *k, const char *key)
{
        static const char *const owners[] = { "deployments/", "statefulsets/",       "daemonsets/",
                                              "jobs/",        "cronjobs/",           "replicasets/",
                                              "controllers/", "placement.kubernetes" };

        if (is_below(k, key, "namespaces/"))
                return 0;
        for (size_t i = 0; i < ARRAY_LEN(owners); i++)
                if (is_below(k, key, owners[i]))
                        return 1;
        return 2;
}

static int remove_new(struct restore *r, const json_t *kvs, int stage)
{
        const json_t *kv;
        char key[1024];
        size_t i;

        json_array_foreach((json_t *)kvs, i, kv) {
                const char *encoded = doc_get_string(kv, "key");

                if (!decode(encoded, key, sizeof(key)) || is_servers_own(r->cluster, key) ||
                    map_has(&r->cluster->saved, encoded) || stage_of(r->cluster, key) != stage)
                        continue;
                TRY(spawn_change(r, encoded, NULL));
        }
        return fiber_group_join(r->group, DEADLINE_NONE);
}

static void look_up(struct kube_cluster *k, const json_t *kvs)
{
        const json_t *kv;
        size_t i;

        map_for_each(&k->saved, e)
                ((struct saved_key *)e->value)->seen = 0;
        json_array_foreach((json_t *)kvs, i, kv) {
                const char *encoded = doc_get_string(kv, "key");
                struct saved_key *saved = encoded ? map_get(&k->saved, encoded) : NULL;

                if (saved)
                        saved->seen = number_at(kv, "mod_revision");
        }
}

/* A key that a server writes anew each time is left as the server wants it: statuses of what servers keep for
 * themselves change after a restart. */
static int put_back(struct restore *r, const json_t *kvs)
{
        look_up(r->cluster, kvs);
        map_for_each(&r->cluster->saved, e) {
                struct saved_key *saved = e->value;

                if (saved->seen == saved->revision)
                        continue;
                if (saved->seen && saved->put_back++ == PUT_BACK_MAX)
                        saved->revision = saved->seen;
                else
                        TRY(spawn_change(r, e->key, saved));
        }
        return fiber_group_join(r->group, DEADLINE_NONE);
}

static int pass(struct restore *r)
{
        AUTO_JSON json_t *answer = NULL;
        json_t *kvs;

        r->changes = 0;
        TRY(range(r->cluster, true, &answer, r->err));
        kvs = doc_get_array(answer, "kvs");
        for (int stage = 0; stage < STAGES; stage++)
                TRY(remove_new(r, kvs, stage));
        TRY(put_back(r, kvs));
        return r->code;
}

static int restore_all(struct restore *r)
{
        struct loop *l = r->cluster->all->world->loop;
        int quiet = 0;

        map_for_each(&r->cluster->saved, e)
                ((struct saved_key *)e->value)->put_back = 0;
        for (int i = 0; i < PASSES_MAX; i++) {
                TRY(pass(r));
                quiet = r->changes ? 0 : quiet + 1;
                if (quiet == QUIET_PASSES)
                        return 0;
                TRY(fiber_sleep(l, PASS_MS));
        }
        return error_set(r->err, ERR_TIMEOUT, "%s does not come to rest; last changed: %s", r->cluster->name,
                         r->last);
}

int etcd_restore(struct kube_cluster *k, struct error *err)
{
        struct error local = { 0 };
        struct restore r = { .cluster = k, .err = &local };
        int code;

        r.group = fiber_group_new(k->all->world->loop, k->all->o.group, "restore");
        if (!r.group)
                return error_no_memory(err);
        code = restore_all(&r);
        fiber_group_end(r.group);
        if (code < 0 && err)
                *err = local;
        return code < 0 ? error_wrap(err, "resetting %s", k->name) : 0;
}
