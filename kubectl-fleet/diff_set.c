#include "kubectl-fleet/diff_set.h"

#include "hub-agent/flux_state.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/set_files.h"
#include "kubectl-fleet/set_plan.h"

static const struct kind_names set_names = { &resource_set_kind,
                                             &resource_set_kind,
                                             { "rset", "resourcesets", "rset", "resourcesets" } };

static bool names_set(const struct session *s, const char *word, struct named *ret)
{
        if (!word || !strchr(word, '/') || named_of(s, word, &set_names, ret, NULL) < 0)
                return false;
        ret->ns = session_namespace(s);
        return true;
}

bool diff_is_of_set(const struct session *s)
{
        return s->options.files.n || names_set(s, session_argument(s, 0), &(struct named){ 0 });
}

int diff_set_check(const struct session *s, struct error *err)
{
        if (!diff_is_of_set(s)) {
                if (!text_empty(s->options.inputs))
                        return error_set(err, ERR_INVALID,
                                         "--inputs is for ResourceSets: resourceset/NAME, or -f");
                if (s->line.n_words == 0)
                        return error_set(err, ERR_INVALID,
                                         "the placement is missing: diff <placement> [cluster], "
                                         "resourceset/NAME, or -f FILE");
                return 0;
        }
        if (s->options.watch)
                return error_set(err, ERR_INVALID, "--watch is for placements, not for ResourceSets");
        if (s->line.n_words > 1)
                return error_set(err, ERR_INVALID, "\"%s\" is one word too many", session_argument(s, 1));
        if (s->line.n_words && !names_set(s, session_argument(s, 0), &(struct named){ 0 }))
                return error_set(err, ERR_INVALID,
                                 "\"%s\" names no ResourceSet of the files: resourceset/NAME",
                                 session_argument(s, 0));
        return 0;
}

/* ---- what is compared ---- */

enum { FORMER, PROVIDERS, N_PARTS };

/* The set and the providers as the hub has them. */
static int ask_hub(struct session *s, const char *ns, const char *name, struct fetch parts[N_PARTS],
                   struct error *err)
{
        parts[FORMER] = (struct fetch){
                .kind = &resource_set_kind, .ns = ns, .name = name, .whole = true, .may_lack = true
        };
        parts[PROVIDERS] = (struct fetch){
                .kind = &resource_set_input_provider_kind, .ns = ns, .whole = true, .may_lack = true
        };
        TRY(fetch_all(s, parts, N_PARTS, err));
        return parts[FORMER].kind_missing ? error_set(err, ERR_NOT_FOUND, "the hub serves no ResourceSets")
                                          : 0;
}

/* Those of the files stand for those of the hub; sorted by name. */
static int merge(struct session *s, const struct object_list *hub, const struct object_list *files,
                 struct object_list *ret, struct error *err)
{
        size_t i = 0, k = 0;

        *ret = (struct object_list){ .at = ARENA_NEW_ARRAY(s->arena, const struct object *,
                                                           hub->n + files->n + 1) };
        if (!ret->at)
                return error_no_memory(err);
        while (i < hub->n || k < files->n) {
                int by = i == hub->n     ? 1
                         : k == files->n ? -1
                                         : strcmp(hub->at[i]->meta.name, files->at[k]->meta.name);

                ret->at[ret->n++] = by < 0 ? hub->at[i] : files->at[k];
                i += by <= 0;
                k += by >= 0;
        }
        return 0;
}

static int keep_namespace(struct session *s, const struct object_list *all, const char *ns,
                          struct object_list *ret, struct error *err)
{
        *ret = (struct object_list){ .at = ARENA_NEW_ARRAY(s->arena, const struct object *, all->n + 1) };
        if (!ret->at)
                return error_no_memory(err);
        for (size_t i = 0; i < all->n; i++)
                if (text_equal(all->at[i]->meta.ns, ns))
                        ret->at[ret->n++] = all->at[i];
        return 0;
}

static int plan_set(struct session *s, const struct set_files *files, const struct resource_set *set,
                    const char *ns, const char *name, struct set_plan *ret, struct error *err)
{
        struct object_list here, providers;
        struct fetch parts[N_PARTS];
        const struct resource_set *former;
        struct build built;

        TRY(ask_hub(s, ns, name, parts, err));
        former = (const struct resource_set *)fetched(&parts[FORMER]);
        set = set ? set : former;
        if (!set || !set->spec)
                return explain_missing(s, &(struct named){ &resource_set_kind, ns, name }, err);
        TRY(keep_namespace(s, &files->providers, ns, &here, err));
        TRY(merge(s, &parts[PROVIDERS].result, &here, &providers, err));
        if (flux_is_suspended(&set->object))
                session_note(s, "ResourceSet %s/%s is suspended: the hub's agent leaves it alone.", ns, name);
        if (set_render(s, set, &providers, files->inputs, &built, err) < 0 ||
            set_plan_of(s, set, former, &built, ret, err) < 0)
                return error_wrap(err, "ResourceSet %s/%s", ns, name);
        return 0;
}

/* ---- what is told ---- */

static json_t *plan_doc_of(const struct session *s, const struct set_plan *p)
{
        json_t *doc = json_pack("{s:s, s:s, s:s}", "kind", resource_set_kind.kind, "namespace",
                                or_empty(p->set->object.meta.ns), "name", p->set->object.meta.name);

        changes_to_doc(&p->changes, doc);
        return doc;
}

static const char *hub_words(const struct session *s)
{
        return s->config.context ? s->config.context : s->config.endpoint.base_url;
}

static void draw(struct session *s, const struct set_plan *p)
{
        struct screen screen = session_screen(s);
        size_t start = s->out.len;

        screen_text(&screen, TONE_STRONG, "ResourceSet %s/%s", or_empty(p->set->object.meta.ns),
                    p->set->object.meta.name);
        if (is_deleting(&p->set->object))
                screen_text(&screen, TONE_BAD, "  being deleted");
        screen_end_line(&screen, start);
        changes_draw(&p->changes, hub_words(s), &screen);
}

static int show(struct session *s, const struct set_plan *plans, size_t n, struct error *err)
{
        AUTO_JSON json_t *docs = json_array();

        for (size_t i = 0; i < n; i++) {
                if (output_is_document(s))
                        json_array_append_new(docs, plan_doc_of(s, &plans[i]));
                else if (output_is(s, "name"))
                        changes_names(&plans[i].changes, &s->out);
                else
                        draw(s, &plans[i]);
        }
        if (!output_is_document(s))
                return buf_status(&s->out, err, "the output");
        return output_document(s, n == 1 ? json_incref(json_array_get(docs, 0)) : TAKE_PTR(docs), err);
}

static bool is_meant(const struct session *s, const struct resource_set *set)
{
        struct named named;

        return !names_set(s, session_argument(s, 0), &named) ||
               (text_equal(named.name, set->object.meta.name) &&
                (text_empty(s->options.namespace) || text_equal(named.ns, set->object.meta.ns)));
}

static int plan_files(struct session *s, const struct set_files *files, struct set_plan *plans, size_t *ret_n,
                      struct error *err)
{
        for (size_t i = 0; i < files->sets.n; i++) {
                const struct resource_set *set = (const struct resource_set *)files->sets.at[i];

                if (is_meant(s, set))
                        TRY(plan_set(s, files, set, set->object.meta.ns, set->object.meta.name,
                                     &plans[(*ret_n)++], err));
        }
        if (*ret_n == 0)
                return error_set(err, ERR_NOT_FOUND, "the files hold no %s",
                                 session_argument(s, 0) ? session_argument(s, 0) : "ResourceSet");
        return 0;
}

int diff_set_run(struct session *s, struct error *err)
{
        struct set_files files;
        struct set_plan *plans;
        struct named named = { 0 };
        size_t n = 0;

        TRY(set_files_read(s, &files, err));
        plans = ARENA_NEW_ARRAY(s->arena, struct set_plan, files.sets.n + 1);
        if (!plans)
                return error_no_memory(err);
        if (s->options.files.n) {
                TRY(plan_files(s, &files, plans, &n, err));
                return show(s, plans, n, err);
        }
        (void)names_set(s, session_argument(s, 0), &named);
        TRY(plan_set(s, &files, NULL, named.ns, named.name, &plans[0], err));
        return show(s, plans, 1, err);
}
