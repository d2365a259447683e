/* The Secrets that sets refer to: read once a pass, and followed so that one that appears, or is made anew,
 * wakes who waits for it: spec/cluster-object-set.md 6.2, 6.3. Only metadata is followed. */
#include "common/base/memory.h"
#include "member-agent/object-set/set_pass.h"
#include "member-agent/watch/follower.h"

static const struct kube_resource secrets_resource = { "", "v1", "secrets", "Secret", true };

/* The message says already what was asked for. */
static void say_as_server(struct error *why)
{
        static const char lead[] = "get secrets: ";

        if (text_starts_with(why->text, lead))
                memmove(why->text, why->text + strlen(lead), strlen(why->text) - strlen(lead) + 1);
}

int set_secrets_read(struct set_pass *p, struct content_secrets *secrets, struct error *err)
{
        const struct member_agent_options *o = p->agent->options;

        TRY(content_secrets(p->set, o->pod_namespace ? o->pod_namespace : NAMESPACE_DEFAULT, p->arena,
                            secrets, err));
        for (size_t i = 0; i < secrets->n; i++) {
                struct content_secret *s = &secrets->at[i];
                json_t *doc = NULL;
                int r = kube_doc_get(p->rc->kube, &secrets_resource, s->ns, s->name, &doc, &s->why);

                if (set_is_fatal(r)) {
                        *err = s->why;
                        return r;
                }
                if (r == 0)
                        TRY(set_keep(p, doc, err));
                s->doc = r == 0 ? doc : NULL;
                say_as_server(&s->why);
        }
        return 0;
}

/* ---- the watch ---- */

struct set_secret_watch {
        struct sets *sets;
        struct follower *follower;
        struct map versions; /* "ns/name" of Secrets that sets refer to -> resourceVersion */
        bool listing;        /* what is shown has not changed just now */
};

static bool refers_to(const struct cluster_object_set *s, const char *system_ns, const char *ns,
                      const char *name)
{
        for (uint32_t i = 0; s->spec && i < s->spec->phases.n; i++) {
                const struct object_set_entry_list *l = &s->spec->phases.at[i].objects;

                for (uint32_t k = 0; k < l->n; k++) {
                        const struct object_set_ref *ref = l->at[k].ref;

                        if (ref && text_equal(ref->name, name) &&
                            text_equal(text_empty(ref->ns) ? system_ns : ref->ns, ns))
                                return true;
                }
        }
        return false;
}

static int wake(struct set_secret_watch *w, const char *ns, const char *name, bool changed,
                struct arena *arena, bool *ret_known)
{
        const struct member_agent_options *o = w->sets->agent->options;
        struct set_list all;

        TRY(sets_list(w->sets, arena, &all, NULL));
        for (size_t i = 0; i < all.n; i++) {
                const char *set = all.at[i]->object.meta.name;
                struct set_memory *memory;

                if (!refers_to(all.at[i], o->pod_namespace ? o->pod_namespace : NAMESPACE_DEFAULT, ns, name))
                        continue;
                *ret_known = true;
                if (!(memory = sets_memory(w->sets, set)))
                        return ERR_NO_MEMORY;
                memory->doubtful |= changed;
                sets_enqueue(w->sets, set, QUEUE_NORMAL);
        }
        return 0;
}

static int note(struct set_secret_watch *w, const struct object *o, bool deleted)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *key = arena_printf(&arena, "%s/%s", or_empty(o->meta.ns), o->meta.name),
                   *before = key ? map_get(&w->versions, key) : NULL,
                   *now = deleted ? "" : or_empty(o->meta.resource_version);
        bool known = false;
        char *copy;

        if (!key)
                return ERR_NO_MEMORY;
        if (text_equal(before, now))
                return 0;
        TRY(wake(w, or_empty(o->meta.ns), o->meta.name, before || !w->listing, &arena, &known));
        if (!known)
                return 0;
        copy = mem_strdup(now);
        return copy && map_put(&w->versions, key, copy) == 0 ? 0 : (mem_free(copy), ERR_NO_MEMORY);
}

static void on_begin(void *ctx)
{
        ((struct set_secret_watch *)ctx)->listing = true;
}

static void on_secret(void *ctx, const struct object *o, bool deleted)
{
        struct set_secret_watch *w = ctx;

        if (note(w, o, deleted) < 0)
                log_warn(w->sets->agent->log, "a Secret's event was not noted: no memory", "name",
                         o->meta.name);
}

static void on_end(void *ctx)
{
        ((struct set_secret_watch *)ctx)->listing = false;
}

int set_secret_watch_want(struct sets *s, struct error *err)
{
        struct set_secret_watch *w;
        struct follower_options o = { .kube = &s->agent->member,
                                      .kind = &partial_object_kind,
                                      .resource = &secrets_resource,
                                      .metadata_only = true,
                                      .begin = on_begin,
                                      .object = on_secret,
                                      .end = on_end };

        if (s->secrets)
                return 0;
        if (!(w = NEW(struct set_secret_watch)))
                return error_no_memory(err);
        w->sets = s;
        w->listing = true;
        map_init(&w->versions, MAP_OWN_KEYS, mem_free);
        o.ctx = w;
        s->secrets = w;
        if ((w->follower = follower_new(s->agent->group, &o, err)))
                return 0;
        s->secrets = set_secret_watch_free(w);
        return ERR_NO_MEMORY;
}

struct set_secret_watch *set_secret_watch_free(struct set_secret_watch *w)
{
        if (!w)
                return NULL;
        follower_stop(w->follower);
        map_free(&w->versions);
        mem_free(w);
        return NULL;
}
