/* kubectl fleet pack: manifests as a ClusterObjectSet with its Secrets, for a placement to carry. */
#include "common/base/memory.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/manifest.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/pack.h"

/* ---- which revision ---- */

static const struct cluster_object_set *newest_of(const struct object_list *sets)
{
        const struct cluster_object_set *newest = NULL;

        for (size_t i = 0; i < sets->n; i++) {
                const struct cluster_object_set *set = (const struct cluster_object_set *)sets->at[i];

                if (set->spec && (!newest || set->spec->revision.value > newest->spec->revision.value))
                        newest = set;
        }
        return newest;
}

static int ask_newest(struct session *s, const struct cluster_object_set **ret, struct error *err)
{
        struct fetch sets = { .kind = &cluster_object_set_kind, .whole = true };

        sets.selector = selector_of(s->arena, LABEL_SET_OWNER_NAME, s->options.owner);
        if (!sets.selector)
                return error_no_memory(err);
        TRY(session_connect(s, err));
        TRY(fetch_all(s, &sets, 1, err));
        *ret = newest_of(&sets.result);
        return 0;
}

/* Whether the newest set is, under its own number, what was packed: then that stays as it is. */
static int is_there_already(struct session *s, const struct cluster_object_set *newest,
                            struct pack_wish *wish, const json_t *manifests, struct packed *ret,
                            struct error *err)
{
        AUTO_JSON json_t *doc = NULL;

        wish->revision = newest->spec->revision.value;
        TRY(pack_set(wish, manifests, s->arena, ret, err));
        TRY(object_to_doc(&newest->object, &doc, err));
        return text_equal(newest->spec->lifecycle_state, SET_ACTIVE) &&
               text_equal(newest->object.meta.name, doc_get_string(ret->set, "metadata.name")) &&
               pack_equal(doc, ret);
}

static int pack_next(struct session *s, struct pack_wish *wish, const json_t *manifests, struct packed *ret,
                     struct error *err)
{
        const struct cluster_object_set *newest = NULL;
        int there;

        TRY(ask_newest(s, &newest, err));
        wish->revision = 1;
        if (!newest)
                return pack_set(wish, manifests, s->arena, ret, err);
        there = is_there_already(s, newest, wish, manifests, ret, err);
        if (there < 0)
                return there;
        if (there) {
                session_note(s, "%s on the hub holds the same: it stays as it is.", newest->object.meta.name);
                return 0;
        }
        packed_free(ret);
        wish->revision++;
        TRY(pack_set(wish, manifests, s->arena, ret, err));
        session_note(s,
                     "%s takes over from %s, which each cluster archives when %s has succeeded there. Keep "
                     "%s placed "
                     "until then.",
                     doc_get_string(ret->set, "metadata.name"), newest->object.meta.name,
                     doc_get_string(ret->set, "metadata.name"), newest->object.meta.name);
        return 0;
}

/* ---- what comes out ---- */

static json_t *all_of(const struct packed *p)
{
        AUTO_JSON json_t *all = json_array();

        if (!all || json_array_extend(all, p->secrets) < 0 || json_array_append(all, p->set) < 0)
                return NULL;
        return TAKE_PTR(all);
}

static void warn(struct session *s, const struct packed *p)
{
        if (p->n_homeless == 1)
                session_note(s, "Warning: %s needs a namespace: a set has no default one.", p->homeless);
        if (p->n_homeless > 1)
                session_note(s, "Warning: %s and %zu more need a namespace: a set has no default one.",
                             p->homeless, p->n_homeless - 1);
}

static void free_packed(void *p)
{
        packed_free(p);
}

static int run_pack(struct session *s, struct error *err)
{
        struct pack_wish wish = { .owner = s->options.owner,
                                  .ns = s->options.namespace,
                                  .protection = s->options.protection,
                                  .revision = s->options.revision,
                                  .deadline_minutes = s->options.deadline_minutes };
        AUTO_JSON json_t *manifests = json_array();
        struct packed *p = ARENA_NEW(s->arena, struct packed);

        if (!manifests || !p || arena_defer(s->arena, free_packed, p) < 0)
                return error_no_memory(err);
        TRY(manifest_documents(s, session_argument(s, 0), manifests, err));
        TRY(wish.revision ? pack_set(&wish, manifests, s->arena, p, err)
                          : pack_next(s, &wish, manifests, p, err));
        warn(s, p);
        return output_manifests(s, all_of(p), err);
}

static int check_pack(const struct session *s, struct error *err)
{
        static const char *const protections[] = { PROTECTION_WORD_PREVENT, PROTECTION_WORD_IF_NO_CONTROLLER,
                                                   PROTECTION_WORD_NONE };

        if (!text_in(s->options.protection, protections, ARRAY_LEN(protections)))
                return error_set(err, ERR_INVALID,
                                 "--collision-protection: must be Prevent, IfNoController or None, is \"%s\"",
                                 s->options.protection);
        if (!text_is_dns1123_label(s->options.namespace))
                return error_set(err, ERR_INVALID, "--namespace: \"%s\" is no name of a namespace",
                                 s->options.namespace);
        return 0;
}

static const struct command_argument arguments[] = { { "folder, file or -", COMPLETES_FILE } };
static const struct flag flags[] = {
        { "owner", FLAG_STRING, "", OPTION(owner),
          "What the revisions are of: sets are called OWNER-REVISION, and one takes over from the one "
          "before.",
          .required = true },
        { "namespace", FLAG_STRING, "", OPTION(namespace),
          "Namespace of the Secrets, to be placed with the set.", .letter = 'n', .required = true,
          .completes = COMPLETES_NAMESPACE },
        { "revision", FLAG_INT, "0", OPTION(revision),
          "Number of the revision; 0 asks the hub for the newest and takes the next one, or the same where "
          "nothing has "
          "changed.",
          .least = 1, .most = 1e15, .or_zero = true },
        { "collision-protection", FLAG_STRING, PROTECTION_WORD_PREVENT, OPTION(protection),
          "What happens to objects that a cluster has already: Prevent, IfNoController or None." },
        { "progress-deadline-minutes", FLAG_INT, "0", OPTION(deadline_minutes),
          "After how long a set that is not rolled out says so, 10 to 720; 0 for never.", .least = 10,
          .most = 720, .or_zero = true },
};

const struct command pack_command = {
        .name = "pack",
        .usage = "<folder, file or ->",
        .summary = "Make a ClusterObjectSet of plain manifests",
        .about = "Make a ClusterObjectSet and the immutable Secrets that hold its objects of plain "
                 "manifests.\n\n"
                 "Objects go into phases by their kind: namespaces first, then policies, accounts, "
                 "configuration, "
                 "storage,\n"
                 "definitions, roles, bindings, services, workloads and all others, scaling, what is "
                 "published, and "
                 "webhooks.\n"
                 "Names tell the contents, so that the same manifests give the same Secrets. Nothing is "
                 "written to the "
                 "hub: it is\n"
                 "printed, for `kubectl apply --server-side` or a repository.",
        .examples =
                "kubectl fleet pack deploy/ --owner web -n web-sets | kubectl apply --server-side -f -\n"
                "kustomize build . | kubectl fleet pack - --owner web -n web-sets --revision 3 > web-3.yaml",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT,
        .connects_itself = true,
        .check = check_pack,
        .run = run_pack,
};
