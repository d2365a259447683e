/* What is known of a kind before its list has ended: which parts of it are whole, and what was deleted
 * meanwhile, which pages of the list may still name. */
#include "common/base/memory.h"
#include "common/ctrl/informer_internal.h"

void parts_init(struct parts *p)
{
        map_init(&p->whole, MAP_OWN_KEYS, NULL);
        map_init(&p->gone, MAP_OWN_KEYS, NULL);
}

void parts_free(struct parts *p)
{
        map_free(&p->whole);
        map_free(&p->gone);
}

void parts_follow(struct informer *i, bool follows)
{
        if (i->follows == follows)
                return;
        i->follows = follows;
        map_clear(&i->parts.whole);
        waitq_wake_all(&i->synced_wait);
}

bool informer_follows(const struct informer *i)
{
        return i->follows;
}

int informer_wait_follows(struct informer *i, int64_t deadline_ms)
{
        int code = 0;

        informer_ref(i);
        while (code == 0 && !i->stopped && !i->follows && !i->synced)
                code = waitq_wait(i->kube->world->loop, &i->synced_wait, deadline_ms);
        if (code == 0 && i->stopped)
                code = ERR_CLOSED;
        informer_unref(i);
        return code;
}

bool informer_has_part(const struct informer *i, const char *part)
{
        return i->synced || (i->follows && map_has(&i->parts.whole, part));
}

/* ---- what is gone ---- */

/* A version is kept in the place of a pointer; one that is no number is newer than all. */
static void *version_mark(uint64_t version)
{
        return (void *)(uintptr_t)(version ? version : UINTPTR_MAX);
}

int parts_note_gone(struct informer *i, const char *key, const struct object *o)
{
        return i->listing ? map_put(&i->parts.gone, key, version_mark(resource_version_number(o))) : 0;
}

void parts_forget_gone(struct informer *i)
{
        map_clear(&i->parts.gone);
}

/* It would be in the cache if it had been there when its part was listed. */
static int was_gone_from_part(const struct informer *i, const struct object *o, bool *ret)
{
        AUTO_KEY struct key part = KEY_EMPTY;
        const void *listed;

        if (!i->follows || !i->options.part_of || map_count(&i->parts.whole) == 0)
                return 0;
        TRY(i->options.part_of(o, &part));
        listed = part.text ? map_get(&i->parts.whole, part.text) : NULL;
        *ret = listed && resource_version_number(o) <= (uintptr_t)listed;
        return 0;
}

int parts_is_gone(const struct informer *i, const struct object *o, bool *ret)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        const void *deleted;

        *ret = false;
        if (map_count(&i->parts.gone) == 0 && map_count(&i->parts.whole) == 0)
                return 0;
        TRY(informer_key(o, &key));
        deleted = map_get(&i->parts.gone, key.text);
        *ret = deleted && resource_version_number(o) < (uintptr_t)deleted;
        return *ret || map_has(&i->objects, key.text) ? 0 : was_gone_from_part(i, o, ret);
}

/* ---- one part ---- */

struct loading {
        struct informer *i;
        const char *part;
        struct map seen; /* keys that its list names */
};

static void loading_free(struct loading *l)
{
        map_free(&l->seen);
}

static int note_seen(struct loading *l, const struct object *o)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        TRY(informer_key(o, &key));
        return map_put(&l->seen, key.text, l->i);
}

static int take_of_part(void *ctx, struct object *o)
{
        struct loading *l = ctx;

        if (!l->i->follows || l->i->stopped)
                return ERR_CLOSED;
        TRY(note_seen(l, o));
        return reflector_take_listed(l->i, o);
}

static int note_undecodable(void *ctx, struct object *id, const struct error *why)
{
        struct loading *l = ctx;

        if (!l->i->follows || l->i->stopped)
                return ERR_CLOSED;
        TRY(note_seen(l, id));
        return informer_note_undecodable(l->i, id, why, true);
}

/* It is of the part, but the part's list did not name it, and it is no newer than that. */
static int is_unseen(const struct loading *l, const char *key, const struct object *o, uint64_t version,
                     bool *ret)
{
        AUTO_KEY struct key part = KEY_EMPTY;

        TRY(l->i->options.part_of(o, &part));
        *ret = text_equal(part.text, l->part) && !map_has(&l->seen, key) &&
               resource_version_number(o) <= version;
        return 0;
}

/* What a page or an event brought before, and what was gone, or of another part, when this one was listed:
 * the watch has still to tell. */
static int forget_unseen(struct loading *l, uint64_t version)
{
        map_for_each(&l->i->objects, e) {
                const struct object *o = kept_object(l->i, e->value, STOWED_WITHOUT_DETAIL);
                bool unseen = false;
                int code = o ? is_unseen(l, e->key, o, version, &unseen) : ERR_NO_MEMORY;

                object_unref(o);
                TRY(code);
                AUTO_FREE char *key = unseen ? mem_strdup(e->key) : NULL;
                if (unseen && !key)
                        return ERR_NO_MEMORY;
                if (key)
                        TRY(informer_forget(l->i, key, NULL, true));
        }
        return 0;
}

static int list_part(struct loading *l, const char *ns, const char *label_selector, uint64_t *ret_version,
                     struct error *err)
{
        struct informer *i = l->i;
        struct kube_list_options o = { .ns = ns,
                                       .label_selector = label_selector,
                                       .flags = i->options.flags,
                                       .interns = i->options.interns,
                                       .undecodable = note_undecodable };
        AUTO_FREE char *version = NULL;

        TRY(kube_list_resource(i->kube, i->options.kind, &i->resource, &o, take_of_part, l, &version, err));
        if (!i->follows || !version || !text_parse_u64(version, ret_version))
                return error_set(err, ERR_CLOSED, "the cache of %s does not follow", i->resource.plural);
        return forget_unseen(l, *ret_version) < 0 ? error_no_memory(err) : 0;
}

static int load(struct informer *i, const char *part, const char *ns, const char *label_selector,
                struct error *err)
{
        CLEANUP(loading_free) struct loading l = { .i = i, .part = part };
        uint64_t version = 0;

        map_init(&l.seen, MAP_OWN_KEYS, NULL);
        if (!i->follows || !i->options.part_of)
                return error_set(err, ERR_CLOSED, "the cache of %s does not follow", i->resource.plural);
        map_remove(&i->parts.whole, part);
        TRY(list_part(&l, ns, label_selector, &version, err));
        return map_put(&i->parts.whole, part, version_mark(version)) < 0 ? error_no_memory(err) : 0;
}

int informer_load_part(struct informer *i, const char *part, const char *ns, const char *label_selector,
                       struct error *err)
{
        int code;

        informer_ref(i);
        code = load(i, part, ns, label_selector, err);
        informer_unref(i);
        return code;
}
