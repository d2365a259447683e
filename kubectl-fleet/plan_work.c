#include "kubectl-fleet/plan_work.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/manifest.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/work_plan.h"

static const struct kind_names work_names = { &work_kind, &work_kind, { "work", "works", "work", "works" } };

/* *ret: what the word names, in the namespace at hand. */
static bool names_work(const struct session *s, const char *word, struct named *ret)
{
        return word && strchr(word, '/') && named_of(s, word, &work_names, ret, NULL) == 0;
}

bool plan_is_of_work(const struct session *s)
{
        struct named named;

        return !text_empty(s->options.file) || names_work(s, session_argument(s, 0), &named);
}

static bool names_member(const struct session *s)
{
        return !text_empty(s->options.member_context) || !text_empty(s->options.member_kubeconfig);
}

int plan_work_check(const struct session *s, struct error *err)
{
        bool file = !text_empty(s->options.file);

        if (!plan_is_of_work(s)) {
                if (names_member(s))
                        return error_set(
                                err, ERR_INVALID,
                                "--member-context and --member-kubeconfig are for a Work: work/NAME, or -f");
                return 0;
        }
        if (s->line.n_words > 1)
                return error_set(err, ERR_INVALID, "\"%s\" is one word too many", session_argument(s, 1));
        if (file && s->line.n_words && !names_work(s, session_argument(s, 0), &(struct named){ 0 }))
                return error_set(err, ERR_INVALID, "\"%s\" names no Work of the file: work/NAME",
                                 session_argument(s, 0));
        if (!names_member(s))
                return error_set(
                        err, ERR_INVALID,
                        "--member-context is missing: the context of the member that the Work is for");
        return 0;
}

static int read_work(struct session *s, const struct work **ret, struct error *err)
{
        struct named named = { 0 };
        struct fetch f = { .kind = &work_kind, .whole = true, .may_lack = true };

        (void)names_work(s, session_argument(s, 0), &named);
        if (!text_empty(s->options.file))
                return manifest_read_work(s, s->options.file, named.name, ret, err);
        named.ns = session_namespace(s);
        f.ns = named.ns;
        f.name = named.name;
        TRY(fetch_all(s, &f, 1, err));
        *ret = (const struct work *)(const void *)fetched(&f);
        return *ret ? 0 : explain_missing(s, &named, err);
}

int plan_work_run(struct session *s, struct error *err)
{
        struct screen screen = session_screen(s);
        const struct work *work = NULL;
        struct work_tries tries;
        struct work_plan plan;

        TRY(session_connect_member(s, err));
        TRY(read_work(s, &work, err));
        TRY(work_try(s, work, &tries, err));
        TRY(work_plan_of(s->arena, &tries,
                         s->member_config.context ? s->member_config.context
                                                  : s->member_config.endpoint.base_url,
                         &plan, err));
        if (output_is_document(s))
                return output_document(s, work_plan_doc(&plan), err);
        if (output_is(s, "name"))
                changes_names(&plan.changes, &s->out);
        else
                work_plan_draw(&plan, &screen);
        return 0;
}
