/* kubectl fleet template: what ResourceSets of files come to, without a hub. */
#include "hub-agent/flux_state.h"
#include "hub-agent/resource-set/sources.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/set_files.h"

/* What only the hub has is said of the object, which is printed without it. */
static int tell_missing(struct session *s, const struct build *b, struct error *err)
{
        for (size_t i = 0; i < b->n; i++) {
                const char *what;

                TRY(sources_words(s->arena, b->at[i].doc, &what, err));
                if (what)
                        session_note(s, "%s is printed without %s, which the hub has.",
                                     or_empty(object_words(s->arena, b->at[i].doc)), what);
        }
        return 0;
}

static int add_set(struct session *s, const struct resource_set *set, const struct set_files *files,
                   json_t *all, struct error *err)
{
        const struct object *o = &set->object;
        struct build built;

        if (set_render(s, set, &files->providers, files->inputs, &built, err) < 0)
                return error_wrap(err, "ResourceSet %s/%s", o->meta.ns, o->meta.name);
        if (flux_is_suspended(o))
                session_note(s, "ResourceSet %s/%s is suspended: the hub's agent leaves it alone.",
                             o->meta.ns, o->meta.name);
        if (built.n_different)
                session_note(
                        s,
                        "ResourceSet %s/%s: %zu %s left out: another object of that name came first, and "
                        "differs.",
                        o->meta.ns, o->meta.name, built.n_different,
                        built.n_different == 1 ? "object is" : "objects are");
        TRY(tell_missing(s, &built, err));
        for (size_t i = 0; i < built.n; i++)
                if (json_array_append(all, built.at[i].doc) < 0)
                        return error_no_memory(err);
        return 0;
}

static int run_template(struct session *s, struct error *err)
{
        AUTO_JSON json_t *all = json_array();
        struct set_files files;

        if (!all)
                return error_no_memory(err);
        TRY(set_files_read(s, &files, err));
        if (files.sets.n == 0)
                return error_set(err, ERR_NOT_FOUND, "the files hold no ResourceSet");
        for (size_t i = 0; i < files.sets.n; i++)
                TRY(add_set(s, (const struct resource_set *)files.sets.at[i], &files, all, err));
        return output_manifests(s, TAKE_PTR(all), err);
}

static const struct flag flags[] = {
        { "filename", FLAG_STRINGS, "", OPTION(files),
          "File or folder with ResourceSets and their providers; - is standard input. May be given again.",
          .letter = 'f', .required = true, .completes = COMPLETES_FILE },
        { "inputs", FLAG_STRING, "", OPTION(inputs),
          "File with sets of inputs that take the place of all that the ResourceSets have.",
          .completes = COMPLETES_FILE },
};

const struct command template_command = {
        .name = "template",
        .usage = "-f <file>",
        .summary = "Print the objects that ResourceSets come to, without a hub",
        .about =
                "Render ResourceSets of files as the hub's agent does, and print the objects in the order in "
                "which it\n"
                "applies them. No cluster is asked. Inputs are those of the ResourceSets and of the "
                "ResourceSetInputProviders\n"
                "in the same files: Static ones are computed, others need what they exported in their "
                "status, "
                "as in what\n"
                "`kubectl get -o yaml` prints.",
        .examples = "kubectl fleet template -f apps.yaml\n"
                    "kubectl fleet template -f apps.yaml -f providers/ -o name\n"
                    "kubectl fleet template -f apps.yaml --inputs two-tenants.yaml | kubectl diff -f -",
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_OUTPUT | SHARED_NAMESPACE,
        .run = run_template,
};
