#include "member-agent/object-set/claim.h"

#include "common/base/limits.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/owner.h"
#include "member-agent/object-set/reference.h"

/* One half of this agent must not fight with the other over an object, so an AppliedWork counts as a
 * controller, though its references do not say so. */
static json_t *who_controls(const json_t *live)
{
        json_t *controller = reference_controller(live), *reference;
        size_t i;

        if (controller)
                return controller;
        json_array_foreach(reference_list(live), i, reference)
                if (owner_is_applied_work(reference))
                        return reference;
        return NULL;
}

static const struct set_identity *sibling_of(const struct claim_input *in, const json_t *reference)
{
        for (size_t i = 0; i < in->n_siblings; i++)
                if (reference_is_of(reference, &in->siblings[i]))
                        return &in->siblings[i];
        return NULL;
}

static bool is_going(const json_t *live)
{
        return doc_get(live, "metadata.deletionTimestamp") != NULL;
}

/* ---- the decision: 8.3 ---- */

/* Of two revisions of one owner the later has the object, by the number of who applied it last. */
static int against_sibling(const struct claim_input *in, enum claim *ret, struct error *err)
{
        const char *text = clean_annotation(in->live, ANNOTATION_SET_REVISION);
        int64_t revision = 0;

        if (text && !text_parse_i64(text, &revision))
                return error_set(err, ERR_INVALID,
                                 "getting revision of object: annotation " ANNOTATION_SET_REVISION
                                 ": \"%s\" is not a whole number",
                                 text);
        *ret = revision > in->set->revision   ? CLAIM_PROGRESSED
               : revision < in->set->revision ? CLAIM_ADOPT
                                              : CLAIM_COLLISION;
        return 0;
}

/* An object with a revision may be in the middle of being orphaned, together with this set: adopted then, it
 * would get a reference back, by which the collector deletes it. */
static enum claim of_nobody(const struct claim_input *in, bool *ret_needs_fresh_set)
{
        if (in->object->protection == PROTECTION_PREVENT)
                return CLAIM_COLLISION;
        *ret_needs_fresh_set = !in->set_is_fresh && clean_annotation(in->live, ANNOTATION_SET_REVISION);
        return *ret_needs_fresh_set ? CLAIM_COLLISION : CLAIM_ADOPT;
}

int claim_decide(const struct claim_input *in, struct claim_result *ret, struct error *err)
{
        *ret = (struct claim_result){ .claim = CLAIM_CREATE };
        if (!in->live)
                return 0;
        ret->controller = who_controls(in->live);
        if (!ret->controller)
                ret->claim = of_nobody(in, &ret->needs_fresh_set);
        else if (reference_is_of(ret->controller, in->set))
                ret->claim = CLAIM_KEEP;
        else if (sibling_of(in, ret->controller))
                TRY(against_sibling(in, &ret->claim, err));
        else
                ret->claim = in->object->protection == PROTECTION_NONE ? CLAIM_ADOPT : CLAIM_COLLISION;
        if ((ret->claim == CLAIM_KEEP || ret->claim == CLAIM_ADOPT) && is_going(in->live))
                ret->claim = CLAIM_GOING;
        return 0;
}

/* ---- collisions in words: 9 ---- */

static const char *field_of(const json_t *reference, const char *field)
{
        return or_empty(doc_get_string(reference, field));
}

static void print_other_set(const struct claim_input *in, const json_t *controller, struct buf *b)
{
        const char *theirs = or_empty(clean_label(in->live, LABEL_SET_OWNER_NAME)),
                   *ours = or_empty(in->set->owner);

        buf_printf(b, "Controlled by " KIND_CLUSTER_OBJECT_SET " \"%s\"", field_of(controller, "name"));
        if (sibling_of(in, controller))
                buf_printf(b,
                           " of the same owner and with the same revision number, %lld: one of the two "
                           "needs another number.",
                           (long long)in->set->revision);
        else if (text_equal(theirs, ours))
                buf_printf(b, "%s; collisionProtection None would adopt it.",
                           text_empty(ours) ? ", which has no label " LABEL_SET_OWNER_NAME
                                              ", as this one: only sets of one owner hand objects over"
                                            : " of the same owner, which is no longer active");
        else
                buf_printf(b,
                           " of another owner: its label " LABEL_SET_OWNER_NAME
                           " is \"%s\", that of this set \"%s\"; collisionProtection None would adopt it.",
                           theirs, ours);
}

static void print_sentence(const struct claim_input *in, const struct claim_result *r, struct buf *b)
{
        if (r->needs_fresh_set)
                buf_append_str(b, "Nothing controls it any more; it is adopted when this set has been read "
                                  "again and is not being deleted.");
        else if (!r->controller)
                buf_append_str(b, "It exists and nothing controls it; collisionProtection IfNoController or "
                                  "None would adopt it.");
        else if (reference_is_of_a_set(r->controller))
                print_other_set(in, r->controller, b);
        else
                buf_printf(b, "Controlled by %s \"%s\"; collisionProtection None would adopt it.",
                           field_of(r->controller, "kind"), field_of(r->controller, "name"));
}

static const char *flag_words(const json_t *reference, const char *field)
{
        const json_t *value = json_object_get(reference, field);

        return !json_is_boolean(value) ? "nil" : json_is_true(value) ? "*true" : "*false";
}

static void print_owner(const json_t *r, struct buf *b)
{
        if (!r)
                buf_append_str(b, "nil");
        else
                buf_printf(b,
                           "&OwnerReference{Kind:%s,Name:%s,UID:%s,APIVersion:%s,Controller:%s,"
                           "BlockOwnerDeletion:%s,}",
                           field_of(r, "kind"), field_of(r, "name"), field_of(r, "uid"),
                           field_of(r, "apiVersion"), flag_words(r, "controller"),
                           flag_words(r, "blockOwnerDeletion"));
}

static const char *taken(const struct buf *b, struct arena *arena)
{
        return b->failed ? NULL : arena_strndup(arena, b->data, b->len);
}

const char *claim_collision_words(const struct claim_input *in, const struct claim_result *r,
                                  struct arena *arena)
{
        const char *title = set_object_title(in->object, arena);
        struct buf b AUTO_BUF;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        print_sentence(in, r, &b);
        buf_printf(&b, "\nObject %s\nAction: \"Collision\"\nConflicting Owner: ", title ? title : "");
        print_owner(r->controller, &b);
        return title ? taken(&b, arena) : NULL;
}

const char *claim_phase_words(size_t index, const char *const *reports, size_t n, struct arena *arena)
{
        struct buf b AUTO_BUF;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        buf_printf(&b, "revision object collisions in phase %zu", index);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b, "%s%s", i ? "\n\n" : "\n", reports[i]);
        return taken(&b, arena);
}
