/* Completion: one answer for all shells and for kubectl, from the command table and the hub. */
#include "common/base/memory.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/output.h"

#define ANSWER_MS 3000 /* nobody waits longer at a prompt */

struct completion {
        struct session *s;
        const char *prefix; /* what the last word begins with */
        const char *before; /* "--output=": stands before the value in the same word */
        bool files;         /* the shell goes on with names of files */
};

static void offer(struct completion *c, const char *value, const char *about)
{
        struct buf *b = &c->s->out;

        if (!value || !text_starts_with(value, c->prefix))
                return;
        buf_printf(b, "%s%s", c->before, value);
        if (about && *about)
                buf_printf(b, "\t%s", about);
        buf_append_char(b, '\n');
}

static void offer_all(struct completion *c, const char *const *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                offer(c, values[i], NULL);
}

/* ---- what the hub has ---- */

static int fetch_one_kind(struct completion *c, struct fetch *f)
{
        struct error err = { 0 };

        c->s->options.timeout_ms = ANSWER_MS;
        if (!c->s->hub.world)
                c->s->unattended = true;
        TRY(session_connect(c->s, &err));
        return fetch_all(c->s, f, 1, &err);
}

static void offer_objects(struct completion *c, const struct kind *kind, const char *ns)
{
        struct fetch f = { .kind = kind, .ns = ns, .metadata_only = true };

        if (fetch_one_kind(c, &f) < 0)
                return;
        for (size_t i = 0; i < f.result.n; i++)
                offer(c, f.result.at[i]->meta.name, NULL);
}

static const char *namespace_of(struct completion *c)
{
        return text_empty(c->s->options.namespace) ? NULL : c->s->options.namespace;
}

static void offer_of_scope(struct completion *c, const struct kind_names *names)
{
        const char *ns = namespace_of(c);

        offer_objects(c, ns ? names->namespaced : names->cluster, ns);
}

/* A word that begins with "work/" names a Work. */
static void offer_runs_or_works(struct completion *c)
{
        static const char works[] = "work/";

        if (!text_starts_with(c->prefix, works)) {
                offer_of_scope(c, &run_names);
                return;
        }
        c->before = works;
        c->prefix += strlen(works);
        offer_objects(c, &work_kind, namespace_of(c));
}

/* Those that wait. */
static void offer_approvals(struct completion *c)
{
        const char *word = session_argument(c->s, 0), *ns = namespace_of(c);
        bool namespaced = word && (word[0] == 'a' || word[0] == 'A');
        struct fetch f = { .kind = namespaced ? &approval_request_kind : &cluster_approval_request_kind,
                           .ns = ns };

        if (fetch_one_kind(c, &f) < 0)
                return;
        for (size_t i = 0; i < f.result.n; i++) {
                const struct approval_request *r = (const struct approval_request *)f.result.at[i];
                char about[256];

                if (r->status && condition_find(&r->status->conditions, CONDITION_APPROVED))
                        continue;
                snprintf(about, sizeof(about), "stage %s of %s",
                         r->spec ? or_empty(r->spec->target_stage) : "",
                         r->spec ? or_empty(r->spec->parent_stage_rollout) : "");
                offer(c, r->object.meta.name, about);
        }
}

static void offer_stages(struct completion *c)
{
        const char *ns = namespace_of(c);
        struct fetch f = { .kind = ns ? run_names.namespaced : run_names.cluster,
                           .ns = ns,
                           .name = session_argument(c->s, 0) };
        const struct update_run *run;

        if (!f.name || fetch_one_kind(c, &f) < 0 || !(run = (const struct update_run *)fetched(&f)))
                return;
        for (uint32_t i = 0; run->status && i < run->status->stages_status.n; i++)
                offer(c, run->status->stages_status.at[i].stage_name, NULL);
}

static void offer_contexts(struct completion *c, const char *path)
{
        const char **names;
        size_t n;

        if (kube_config_contexts(c->s->world, text_empty(path) ? NULL : path, c->s->arena, &names, &n,
                                 NULL) == 0)
                offer_all(c, names, n);
}

/* ---- by kind of value ---- */

static void offer_commands(struct completion *c, const struct command *const *commands)
{
        for (size_t i = 0; commands && commands[i]; i++)
                if (!commands[i]->hidden)
                        offer(c, commands[i]->name, commands[i]->summary);
}

static void offer_values(struct completion *c, enum completes what)
{
        static const char *const formats[] = { "json", "name", "yaml" }, *const colours[] = { "always",
                                                                                              "auto",
                                                                                              "never" };
        static const char *const shells[] = { "bash", "fish", "zsh" };
        static const char *const approvals[] = { "approvalrequest", "areq", "careq",
                                                 "clusterapprovalrequest" };
        const struct fleet_options *o = &c->s->options;

        switch (what) {
        case COMPLETES_NOTHING:
                break;
        case COMPLETES_FILE:
                c->files = true;
                break;
        case COMPLETES_CONTEXT:
                offer_contexts(c, o->kubeconfig);
                break;
        case COMPLETES_MEMBER_CONTEXT:
                offer_contexts(c, text_empty(o->member_kubeconfig) ? o->kubeconfig : o->member_kubeconfig);
                break;
        case COMPLETES_NAMESPACE:
                offer_objects(c, &namespace_kind, NULL);
                break;
        case COMPLETES_PLACEMENT:
                offer_of_scope(c, &placement_names);
                break;
        case COMPLETES_CLUSTER:
                offer_objects(c, &member_cluster_kind, NULL);
                break;
        case COMPLETES_RUN:
                offer_of_scope(c, &run_names);
                break;
        case COMPLETES_RUN_OR_WORK:
                offer_runs_or_works(c);
                break;
        case COMPLETES_STAGE:
                offer_stages(c);
                break;
        case COMPLETES_APPROVAL_KIND:
                offer_all(c, approvals, ARRAY_LEN(approvals));
                break;
        case COMPLETES_APPROVAL:
                offer_approvals(c);
                break;
        case COMPLETES_OUTPUT:
                offer_all(c, formats, ARRAY_LEN(formats));
                break;
        case COMPLETES_COLOUR:
                offer_all(c, colours, ARRAY_LEN(colours));
                break;
        case COMPLETES_SHELL:
                offer_all(c, shells, ARRAY_LEN(shells));
                break;
        case COMPLETES_COMMAND:
                offer_commands(c, root_command.commands);
                break;
        }
}

/* ---- the word that is being written ---- */

static void offer_flags(struct completion *c, const struct flag_table *tables, size_t n)
{
        c->before = "--";
        c->prefix = text_starts_with(c->prefix, "--") ? c->prefix + 2 : "";
        for (size_t t = 0; t < n; t++)
                for (size_t i = 0; i < tables[t].n; i++)
                        offer(c, tables[t].flags[i].name, tables[t].flags[i].help);
}

/* "--output=js" */
static bool offer_behind_equals(struct completion *c, const struct flag_table *tables, size_t n)
{
        const char *equals = strchr(c->prefix, '=');
        const struct flag *f;
        bool wants;

        if (!equals || !(f = posix_flag_of_word(tables, n, c->prefix, &wants)))
                return false;
        c->before = arena_strndup(c->s->arena, c->prefix, (size_t)(equals + 1 - c->prefix));
        c->prefix = equals + 1;
        if (c->before)
                offer_values(c, (enum completes)f->completes);
        return true;
}

static void offer_for_word(struct completion *c)
{
        const struct session *s = c->s;
        struct flag_table tables[COMMAND_TABLES_MAX];
        size_t n = command_tables(s->command, tables);

        if (s->line.open)
                offer_values(c, (enum completes)s->line.open->completes);
        else if (c->prefix[0] == '-' && !s->line.words_only) {
                if (!offer_behind_equals(c, tables, n))
                        offer_flags(c, tables, n);
        } else {
                if (s->line.n_words == 0)
                        offer_commands(c, s->command->commands);
                if (s->line.n_words < s->command->n_arguments)
                        offer_values(c, s->command->arguments[s->line.n_words].completes);
        }
}

int command_complete(struct session *s, int argc, const char *const *argv)
{
        struct completion c = { .s = s, .prefix = argc > 0 ? argv[argc - 1] : "", .before = "" };
        const struct command *path[COMMAND_DEPTH] = { NULL };
        struct flag_table tables[COMMAND_TABLES_MAX];
        AUTO_FREE const char **rest = mem_calloc((size_t)argc + 1, sizeof(*rest));
        struct error err = { 0 };
        int n = 0;

        if (!rest)
                return ERR_NO_MEMORY;
        s->command = path[command_find(MAX(argc - 1, 0), argv, path, rest, &n) - 1];
        if (posix_flags_parse_open(tables, command_tables(s->command, tables), n, rest, &s->options, &s->line,
                                   &err) == 0)
                offer_for_word(&c);
        return buf_append_str(&s->out, c.files ? ":0\n" : ":4\n");
}
