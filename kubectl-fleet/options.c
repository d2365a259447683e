#include "kubectl-fleet/options.h"

#include "common/base/text.h"
#include "common/base/timefmt.h"

static const struct flag help_flags[] = {
        { "help", FLAG_BOOL, "false", OPTION(help), "Tells about the command.", .letter = 'h' },
};
static const struct flag hub_flags[] = {
        { "kubeconfig", FLAG_STRING, "", OPTION(kubeconfig),
          "Kubeconfig file to use in place of $KUBECONFIG and ~/.kube/config.", .completes = COMPLETES_FILE },
        { "context", FLAG_STRING, "", OPTION(context), "Context of the hub in the kubeconfig.",
          .completes = COMPLETES_CONTEXT },
        { "hub-cluster-context", FLAG_STRING, "", OPTION(hub_context),
          "Context of the hub in the kubeconfig: another name for --context.",
          .completes = COMPLETES_CONTEXT },
        { "server", FLAG_STRING, "", OPTION(server), "Address of the hub's API server.", .letter = 's' },
        { "token", FLAG_STRING, "", OPTION(token), "Bearer token for the hub's API server." },
        { "as", FLAG_STRING, "", OPTION(impersonate), "User to act as." },
        { "as-group", FLAG_STRINGS, "", OPTION(groups),
          "Group to act as a member of, beside --as; may be given again." },
        { "as-uid", FLAG_STRING, "", OPTION(impersonate_uid), "UID to act as, beside --as." },
        { "cluster", FLAG_STRING, "", OPTION(cluster_entry),
          "Cluster of the kubeconfig to ask instead of the context's." },
        { "user", FLAG_STRING, "", OPTION(user_entry),
          "User of the kubeconfig to ask as instead of the context's." },
        { "insecure-skip-tls-verify", FLAG_BOOL, "false", OPTION(insecure),
          "Does not check the certificate of the hub's API server." },
        { "request-timeout", FLAG_STRING, "0", OPTION(request_timeout),
          "How long one request may take, as 5s or 2m; 0 for as long as usual.", .placeholder = "duration" },
};
static const struct flag output_flags[] = {
        { "output", FLAG_STRING, "", OPTION(output), "For programs: json, yaml or name.", .letter = 'o',
          .completes = COMPLETES_OUTPUT },
        { "color", FLAG_STRING, "auto", OPTION(colour),
          "Colours and bars: always, never, or auto for a terminal without NO_COLOR.",
          .completes = COMPLETES_COLOUR },
        { "no-headers", FLAG_BOOL, "false", OPTION(no_headers), "Leaves out the line above a table." },
};
static const struct flag namespace_flags[] = {
        { "namespace", FLAG_STRING, "", OPTION(namespace),
          "Namespace: what is named is a namespaced kind in it.", .letter = 'n',
          .completes = COMPLETES_NAMESPACE },
};
static const struct flag all_namespaces_flags[] = {
        { "all-namespaces", FLAG_BOOL, "false", OPTION(all_namespaces), "Both kinds, and all namespaces.",
          .letter = 'A' },
};
static const struct flag watch_flags[] = {
        { "watch", FLAG_BOOL, "false", OPTION(watch), "Stays and shows each change.", .letter = 'w' },
};

static const struct {
        unsigned in;
        struct flag_table table;
} shared[SHARED_TABLES_MAX] = {
        { SHARED_HELP, { help_flags, ARRAY_LEN(help_flags) } },
        { SHARED_HUB, { hub_flags, ARRAY_LEN(hub_flags) } },
        { SHARED_OUTPUT, { output_flags, ARRAY_LEN(output_flags) } },
        { SHARED_NAMESPACE, { namespace_flags, ARRAY_LEN(namespace_flags) } },
        { SHARED_ALL_NAMESPACES, { all_namespaces_flags, ARRAY_LEN(all_namespaces_flags) } },
        { SHARED_WATCH, { watch_flags, ARRAY_LEN(watch_flags) } },
};

size_t shared_flag_tables(unsigned set, struct flag_table ret[SHARED_TABLES_MAX])
{
        size_t n = 0;

        for (size_t i = 0; i < SHARED_TABLES_MAX; i++)
                if (set & shared[i].in)
                        ret[n++] = shared[i].table;
        return n;
}

int request_timeout_parse(const char *text, int64_t *ret_ms, struct error *err)
{
        int64_t ns = 0, seconds;

        if (text_parse_i64(text, &seconds) && seconds >= 0 && seconds < INT32_MAX) {
                *ret_ms = seconds * 1000;
                return 0;
        }
        if (duration_parse_go(slice_of(text), &ns) < 0 || ns < 0)
                return error_set(err, ERR_INVALID,
                                 "--request-timeout: must be a duration like 30s, or seconds, is \"%s\"",
                                 text);
        *ret_ms = ns > 0 ? MAX(ns / 1000000, 1) : 0;
        return 0;
}

static int check_hub(const struct fleet_options *o, struct error *err)
{
        int64_t ms;

        if (!text_empty(o->context) && !text_empty(o->hub_context) && !text_equal(o->context, o->hub_context))
                return error_set(err, ERR_INVALID,
                                 "--context \"%s\" and --hub-cluster-context \"%s\" name different hubs",
                                 o->context, o->hub_context);
        if (text_empty(o->impersonate) && (o->groups.n || !text_empty(o->impersonate_uid)))
                return error_set(err, ERR_INVALID, "--as-group and --as-uid are beside --as");
        return request_timeout_parse(o->request_timeout, &ms, err);
}

static int check_output(const struct fleet_options *o, struct error *err)
{
        static const char *const formats[] = { "", "json", "name", "yaml" };
        static const char *const colours[] = { "auto", "always", "never" };

        if (!text_in(o->output, formats, ARRAY_LEN(formats)))
                return error_set(err, ERR_INVALID,
                                 "unable to match a printer suitable for the output format \"%s\", allowed "
                                 "formats are: json,name,yaml",
                                 o->output);
        if (!text_in(o->colour, colours, ARRAY_LEN(colours)))
                return error_set(err, ERR_INVALID, "--color: must be always, auto or never, is \"%s\"",
                                 o->colour);
        return 0;
}

int shared_flags_check(unsigned set, const struct fleet_options *o, struct error *err)
{
        if (set & SHARED_HUB)
                TRY(check_hub(o, err));
        if (set & SHARED_OUTPUT)
                TRY(check_output(o, err));
        if ((set & SHARED_NAMESPACE) && (set & SHARED_ALL_NAMESPACES) && o->all_namespaces &&
            !text_empty(o->namespace))
                return error_set(err, ERR_INVALID, "--namespace and --all-namespaces exclude each other");
        return 0;
}
