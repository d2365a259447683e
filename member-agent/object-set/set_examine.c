/* The objects of a phase as they are, and whether the server would take what is to be written:
 * spec/cluster-object-set.md 7.2, 8.3, 8.4. */
#include "member-agent/object-set/check.h"
#include "member-agent/object-set/reference.h"
#include "member-agent/object-set/set_phase.h"

/* ---- looking ---- */

int phase_look(struct phase *f, struct set_item *item, struct error *why)
{
        json_t *live = NULL;
        int r = kube_doc_get(f->p->rc->kube, &item->resource, phase_ns_of(item), item->object->name, &live,
                             why);

        item->live = NULL;
        if (r == ERR_NOT_FOUND) {
                item->by_post |= item->was_there;
                error_clear(why);
                return 0;
        }
        TRY(r);
        item->live = live;
        return doc_keep(f->docs, live, why);
}

static bool is_known(const struct set_pass *p, const json_t *reference)
{
        const char *uid = doc_get_string(reference, "uid");

        for (size_t i = 0; i < p->others.n; i++)
                if (text_equal(p->others.at[i]->object.meta.uid, uid))
                        return true;
        for (size_t i = 0; i < p->n_siblings; i++)
                if (text_equal(p->siblings[i].uid, uid))
                        return true;
        return text_equal(p->self.uid, uid);
}

static int add_sibling(struct set_pass *p, const struct cluster_object_set *s, struct error *why)
{
        struct set_identity *all = ARENA_NEW_ARRAY(p->arena, struct set_identity, p->n_siblings + 1);

        if (!all)
                return error_no_memory(why);
        if (p->n_siblings > 0)
                memcpy(all, p->siblings, p->n_siblings * sizeof(*all));
        set_identify(s, &all[p->n_siblings++]);
        p->siblings = all;
        return 0;
}

/* A set that nobody had heard of when the pass began may be a sibling, and looks like a stranger. */
static int meet_newcomer(struct set_pass *p, struct claim_input *in, struct claim_result *io,
                         struct error *why)
{
        const struct cluster_object_set *now;

        if (!io->controller || !reference_is_of_a_set(io->controller) || is_known(p, io->controller))
                return 0;
        TRY(set_read_again(p, or_empty(doc_get_string(io->controller, "name")), &now, why));
        if (!now || !text_equal(now->object.meta.uid, doc_get_string(io->controller, "uid")) ||
            !set_are_siblings(p->set, now))
                return 0;
        TRY(add_sibling(p, now, why));
        in->siblings = p->siblings;
        in->n_siblings = p->n_siblings;
        return claim_decide(in, io, why);
}

static int claim(struct phase *f, struct set_item *item, struct error *why)
{
        struct set_pass *p = f->p;
        struct claim_input in = { .set = &p->self,
                                  .siblings = p->siblings,
                                  .n_siblings = p->n_siblings,
                                  .object = item->object,
                                  .live = item->live };
        const struct cluster_object_set *now;

        TRY(claim_decide(&in, &item->claim, why));
        TRY(meet_newcomer(p, &in, &item->claim, why));
        if (item->claim.needs_fresh_set) {
                TRY(set_still_stands(p, &now, why));
                in.set_is_fresh = true;
                TRY(claim_decide(&in, &item->claim, why));
        }
        item->out->progressed = item->claim.claim == CLAIM_PROGRESSED;
        item->out->going = item->claim.claim == CLAIM_GOING;
        item->out->collision = NULL;
        if (item->claim.claim != CLAIM_COLLISION)
                return 0;
        item->out->collision = claim_collision_words(&in, &item->claim, p->arena);
        return item->out->collision ? 0 : error_no_memory(why);
}

/* Whether something is to be sent for an object that is ours. */
static int compare(struct set_item *item, struct error *why)
{
        AUTO_JSON json_t *conversion = NULL;
        enum want want;

        TRY(want_conversion(item->live, &conversion, why));
        TRY(want_compare(item->prepared, item->live, &want, why));
        item->to_write = conversion || want != WANT_NOTHING;
        return 0;
}

int phase_decide(struct phase *f, struct set_item *item, struct error *why)
{
        item->to_write = false;
        TRY(claim(f, item, why));
        if (item->claim.claim == CLAIM_KEEP)
                return compare(item, why);
        item->to_write = item->claim.claim == CLAIM_CREATE || item->claim.claim == CLAIM_ADOPT;
        return 0;
}

/* ---- trying: 7.2 ---- */

static int body_for(const struct set_item *item, json_t **ret, struct error *why)
{
        return item->claim.claim == CLAIM_ADOPT ? want_adoption(item->prepared, item->live, ret, why)
                                                : want_request(item->prepared, item->live, ret, why);
}

/* Nothing that appears meanwhile is changed by it: 8.2. */
int phase_create(struct phase *f, struct set_item *item, const struct kube_write *write, json_t **ret,
                 struct error *why)
{
        struct kube_client *kube = f->p->rc->kube;
        AUTO_JSON json_t *body = NULL;
        int r;

        TRY(want_creation(item->prepared, &body, why));
        r = item->by_post ? kube_doc_create(kube, &item->resource, phase_ns_of(item), item->prepared, write,
                                            ret, why)
                          : kube_doc_patch(kube, &item->resource, phase_ns_of(item), item->object->name,
                                           KUBE_PATCH_APPLY, body, write, ret, why);
        item->was_there = r == ERR_EXISTS || (r == ERR_CONFLICT && !item->by_post);
        return r;
}

static int send_dry(struct phase *f, struct set_item *item, struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_OBJECT_SET_TRIAL,
                                                 .force = true,
                                                 .dry_run = true };
        AUTO_JSON json_t *body = NULL;

        if (item->claim.claim == CLAIM_CREATE)
                return phase_create(f, item, &write, NULL, why);
        TRY(body_for(item, &body, why));
        doc_remove(body, "metadata.resourceVersion");
        return kube_doc_patch(f->p->rc->kube, &item->resource, phase_ns_of(item), item->object->name,
                              KUBE_PATCH_APPLY, body, &write, NULL, why);
}

/* Behind a 404: the namespace, or the kind, which was served when the mapper looked last. */
static int refuse_missing(struct phase *f, struct set_item *item, const struct error *why, struct error *err)
{
        struct set_pass *p = f->p;

        if (item->resource.namespaced && strstr(why->text, "namespaces \"")) {
                TRY(set_await(p, AWAITED_NAMESPACE, err));
                return phase_refuse(
                        f, item, arena_printf(p->arena, "namespace \"%s\" does not exist", item->object->ns),
                        err);
        }
        (void)kube_mapper_refresh(p->agent->mapper, NULL, NULL);
        TRY(set_await(p, AWAITED_KIND, err));
        return phase_refuse(f, item, set_unknown_kind(p, item->object), err);
}

/* *ret_exists: what was to be created is there, or was just now. */
static int try_dry(struct phase *f, struct set_item *item, bool *ret_exists, struct error *err)
{
        struct error why = { 0 };
        int r = send_dry(f, item, &why);

        *ret_exists = item->claim.claim == CLAIM_CREATE && item->was_there;
        if (r == 0 || *ret_exists)
                return 0;
        if (r == ERR_NOT_FOUND)
                return refuse_missing(f, item, &why, err);
        if (check_is_refusal(&why))
                return phase_refuse(f, item, arena_strdup(f->p->arena, why.text), err);
        return phase_trouble(f, item, &why, err);
}

static void reuse(struct phase *f, struct set_item *item)
{
        const struct row *row = set_row_of(f->p, item);

        item->reused = true;
        item->out->progressed = row->result == RESULT_NOT_TAKEN_OVER;
}

/* What was never here before is most likely absent: whether it can be created tells that, too. */
static bool is_likely_new(const struct phase *f, const struct set_item *item)
{
        return f->p->n_siblings == 0 && !set_row_of(f->p, item);
}

int phase_examine(struct phase *f, struct set_item *item, struct error *err)
{
        bool looks = !is_likely_new(f, item), exists = true;
        struct error why = { 0 };

        item->examined = true;
        if (set_row_is_current(f->p, item)) {
                reuse(f, item);
                return 0;
        }
        for (int i = 0; exists && i < LOOK_AGAIN_TRIES; i++) {
                if ((looks && phase_look(f, item, &why) < 0) || phase_decide(f, item, &why) < 0)
                        return phase_trouble(f, item, &why, err);
                exists = false;
                if (item->to_write)
                        TRY(try_dry(f, item, &exists, err));
                looks = true;
        }
        return 0;
}
