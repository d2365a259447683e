#include "kubectl-fleet/bundle.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "kubectl-fleet/bundle_hide.h"
#include "kubectl-fleet/command.h"
#include "proto/gen/kinds.h"

#define NAMESPACE_DEFAULT "fleet-system"
#define PROBLEMS_MAX (BUNDLE_PROBLEMS_BYTES + 128) /* with a last line on those that are left out */
#define INDEX_MAX (4u << 20)

/* ---- one side ---- */

/* Of Kubernetes: what the agents stand on. */
struct extra {
        struct kube_resource resource;
        bool everywhere;    /* in all namespaces, not only in the agents' */
        bool metadata_only; /* values of Secrets are never asked for */
};

static const struct extra extras[] = {
        { { "apps", "v1", "deployments", "Deployment", true } },
        { { "", "v1", "pods", "Pod", true } },
        { { "", "v1", "secrets", "Secret", true }, .metadata_only = true },
        { { "coordination.k8s.io", "v1", "leases", "Lease", true } },
        { { "", "v1", "events", "Event", true }, .everywhere = true },
        { { "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false },
          .metadata_only = true },
        { { "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration", false } },
        { { "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration", false } },
};

static bool is_on(const struct kind *kind, bool hub)
{
        char name[256];

        snprintf(name, sizeof(name), "%s.%s", kind->plural, kind->group);
        for (size_t i = 0; i < n_crd_texts; i++)
                if (text_equal(crd_texts[i].name, name))
                        return hub ? crd_texts[i].hub : crd_texts[i].member;
        return false;
}

static int put_side(struct bundle *b, bool hub, const char *ns, struct error *err)
{
        TRY(bundle_put_answer(b, "version.json", "/version", err));
        for (const struct kind *const *kind = all_kinds; *kind; kind++) {
                const struct kube_resource r = kube_resource_of(*kind);

                if (is_on(*kind, hub))
                        TRY(bundle_put_objects(b, &r, NULL, false, err));
        }
        for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
                const struct extra *e = &extras[i];

                TRY(bundle_put_objects(b, &e->resource, e->everywhere || !e->resource.namespaced ? NULL : ns,
                                       e->metadata_only, err));
        }
        return bundle_put_pods(b, ns, err);
}

/* "members/east": contexts may be called anything, folders may not. */
static const char *side_of(struct arena *arena, const char *context)
{
        char *side = arena_printf(arena, "members/%s", context);

        for (char *c = side ? side + strlen("members/") : NULL; c && *c; c++)
                if (*c == '/' || (*c == '.' && c[-1] == '/'))
                        *c = '_';
        return side;
}

/* A member that cannot be reached is a part that cannot be read. */
static int put_member(struct bundle *b, const char *context, const char *ns, struct error *err)
{
        struct session *s = b->session;
        struct error why = { 0 };
        int code;

        s->options.member_context = context;
        b->side = side_of(s->arena, context);
        if (!b->side)
                return error_no_memory(err);
        if (session_connect_member(s, &why) < 0) {
                bundle_problem(b, "version.json", why.text);
                code = 0;
        } else {
                b->kube = &s->member;
                code = put_side(b, false, ns, err);
        }
        exec_login_close(&s->member_login);
        kube_config_free(&s->member_config);
        s->member_login = (struct exec_login){ 0 };
        s->member_config = (struct kube_config){ 0 };
        return code;
}

/* ---- the whole ---- */

/* They quote what servers and proxies say. */
static int put_problems(struct bundle *b, struct error *err)
{
        AUTO_BUF struct buf hidden;

        buf_init(&hidden, 4 * PROBLEMS_MAX); /* a value may be shorter than what is put in its place */
        if (b->n_left_out)
                buf_printf(&b->problems, "%zu more are not here\n", b->n_left_out);
        TRY(buf_status(&b->problems, err, "what could not be read"));
        bundle_hide_text((struct slice){ b->problems.data, b->problems.len }, &hidden);
        TRY(buf_status(&hidden, err, "what could not be read"));
        return bundle_file_put(b->file, "problems.txt", (struct slice){ hidden.data, hidden.len }, err);
}

static int put_tail(struct bundle *b, struct error *err)
{
        char made[RFC3339_SIZE];
        AUTO_BUF struct buf text;
        AUTO_JSON json_t *index = NULL;

        buf_init(&text, INDEX_MAX);
        TRY(put_problems(b, err));
        time_format_rfc3339(loop_wall_ms(b->session->world->loop), made);
        index = json_pack("{s:i, s:s, s:s, s:I, s:O}", "format", 1, "made", made, "by", fleet_version,
                          "problems", (json_int_t)b->n_problems, "parts", b->index);
        if (!index || doc_write(index, &text) < 0)
                return error_no_memory(err);
        buf_append_char(&text, '\n');
        return bundle_file_put(b->file, "index.json", (struct slice){ text.data, text.len }, err);
}

static int put_all(struct bundle *b, struct error *err)
{
        const struct fleet_options *o = &b->session->options;
        const char *ns = o->namespace;

        b->side = "hub";
        b->kube = &b->session->hub;
        TRY(put_side(b, true, ns, err));
        for (size_t i = 0; i < o->member_contexts.n; i++)
                TRY(put_member(b, o->member_contexts.at[i], ns, err));
        return put_tail(b, err);
}

/* Who does not reach the hub at all has no use for a bundle. */
static int ask_hub(struct session *s, struct error *err)
{
        struct http_response answer;

        TRY(session_time_left(s, err));
        return kube_raw(&s->hub, "GET", "/version", NULL, (struct slice){ 0 }, s->arena, &answer, err);
}

static const char *file_name(struct session *s)
{
        char at[RFC3339_SIZE], plain[RFC3339_SIZE];
        size_t n = 0;

        if (!text_empty(s->options.file))
                return s->options.file;
        time_format_rfc3339(loop_wall_ms(s->world->loop), at);
        for (const char *c = at; *c; c++)
                if (*c != ':' && *c != '-')
                        plain[n++] = *c;
        plain[n] = '\0';
        return arena_printf(s->arena, "fleet-bundle-%s.tar.gz", plain);
}

static void tell(struct session *s, const char *path, const struct bundle *b, uint64_t size)
{
        char bytes[TEXT_BYTES_SIZE];

        text_of_bytes(size, bytes);
        session_note(s, "%s: %s, %zu parts (index.json)", text_equal(path, "-") ? "standard output" : path,
                     bytes, json_array_size(b->index));
        if (b->n_problems)
                session_note(s, "%zu could not be read: problems.txt in it says why", b->n_problems);
        session_note(
                s,
                "Values of Secrets, manifests, drifts and differences, and what looks like a credential are "
                "hidden. Names, labels and logs are not: look at them before you pass it on.");
}

static int make(struct session *s, const char *path, struct error *err)
{
        struct bundle b = { .session = s,
                            .index = json_array(),
                            .most_objects = MAX(s->options.most_objects, 0) }; /* 0 is read as -1 */
        uint64_t size = 0;
        int code;

        buf_init(&b.problems, PROBLEMS_MAX);
        buf_append_str(&b.problems, "");
        code = b.index ? bundle_file_open(s, path, &b.file, err) : error_no_memory(err);
        if (code == 0)
                code = ask_hub(s, err);
        if (code == 0)
                code = put_all(&b, err);
        if (code == 0)
                code = bundle_file_finish(TAKE_PTR(b.file), &size, err);
        if (code == 0)
                tell(s, path, &b, size);
        bundle_file_abandon(b.file);
        buf_free(&b.problems);
        json_decref(b.index);
        return code;
}

static int run_bundle(struct session *s, struct error *err)
{
        const char *path = file_name(s);

        if (!path)
                return error_no_memory(err);
        if (text_equal(path, "-") && s->terminal->size)
                return error_set(err, ERR_INVALID,
                                 "--output: an archive is nothing for a terminal: name a file");
        return make(s, path, err);
}

static int check_bundle(const struct session *s, struct error *err)
{
        if (!text_is_dns1123_label(s->options.namespace))
                return error_set(err, ERR_INVALID, "--namespace: \"%s\" is no name of a namespace",
                                 s->options.namespace);
        return 0;
}

static const struct flag flags[] = {
        { "output", FLAG_STRING, "", OPTION(file),
          "File to be written, which must not be there yet; - for standard output. Without it, "
          "fleet-bundle-TIME.tar.gz.",
          .letter = 'o', .completes = COMPLETES_FILE },
        { "namespace", FLAG_STRING, NAMESPACE_DEFAULT, OPTION(namespace), "Namespace of the agents.",
          .letter = 'n', .completes = COMPLETES_NAMESPACE },
        { "most-objects", FLAG_INT, "10000", OPTION(most_objects), "How many objects of one kind; 0 for all.",
          .least = 1, .most = 1e9, .or_zero = true },
        { "member-context", FLAG_STRINGS, "", OPTION(member_contexts),
          "Context of a member that is looked at, too; may be given again.",
          .completes = COMPLETES_MEMBER_CONTEXT },
        { "member-kubeconfig", FLAG_STRING, "", OPTION(member_kubeconfig),
          "Kubeconfig file with these contexts, if it is another one.", .completes = COMPLETES_FILE },
};

const struct command bundle_command = {
        .name = "bundle",
        .summary = "Gather what somebody who helps needs to see, in one file",
        .about = "Gather what somebody who helps needs to see, in one file: versions, the fleet's objects "
                 "with their "
                 "conditions,\n"
                 "events, and the logs and metrics of the agents' pods, as far as your rights reach.\n\n"
                 "Nothing is changed. Values of Secrets are not even asked for; manifests, values of "
                 "overrides and what "
                 "looks like a\n"
                 "credential are hidden. What could not be read, and why, stands in problems.txt; index.json "
                 "lists the "
                 "rest.",
        .examples = "kubectl fleet bundle\n"
                    "kubectl fleet bundle -o bundle.tar.gz --member-context east --member-context west",
        .most = 0,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .check = check_bundle,
        .run = run_bundle,
};
