/* What all flags of all commands together may say, and the tables that several commands share. */
#pragma once

#include "common/base/posix_flags.h"

struct fleet_options {
        bool help;
        /* Which hub, and as whom. */
        const char *kubeconfig, *context, *hub_context, *server, *token, *impersonate, *impersonate_uid,
                *cluster_entry, *user_entry, *request_timeout;
        struct flag_strings groups;
        bool insecure;
        const char *namespace;
        bool all_namespaces;
        /* How it is shown. */
        const char *output, *colour;
        bool watch, no_headers;
        /* Of single commands. */
        const char *cluster_name, *member, *name, *file, *plan_hash;
        const char *member_context, *member_kubeconfig;
        struct flag_strings files, member_contexts;
        const char *inputs;
        const char *owner, *protection;
        int64_t revision, deadline_minutes, most_objects;
        int64_t timeout_ms;
        bool all;
        const char *bind;
        int64_t port;
        bool open;
        bool in_cluster, sign_in, insecure_http;
        struct flag_strings hosts;
        const char *tls_cert_file, *tls_key_file;
};
#define OPTION(field) offsetof(struct fleet_options, field)

/* What completion offers for the value of a flag or an argument. */
enum completes {
        COMPLETES_NOTHING,
        COMPLETES_FILE,
        COMPLETES_CONTEXT,
        COMPLETES_MEMBER_CONTEXT,
        COMPLETES_NAMESPACE,
        COMPLETES_PLACEMENT, /* both kinds: a ResourcePlacement's in the namespace */
        COMPLETES_CLUSTER,
        COMPLETES_RUN,
        COMPLETES_RUN_OR_WORK,
        COMPLETES_STAGE,
        COMPLETES_APPROVAL_KIND,
        COMPLETES_APPROVAL, /* of the kind that stands before it */
        COMPLETES_OUTPUT,
        COMPLETES_COLOUR,
        COMPLETES_SHELL,
        COMPLETES_COMMAND,
};

/* Flag tables beside a command's own: a set of these. */
enum shared_flags {
        SHARED_HELP = 1,      /* every command */
        SHARED_HUB = 2,       /* --context, --kubeconfig and their kin */
        SHARED_OUTPUT = 4,    /* -o, --color, --no-headers */
        SHARED_NAMESPACE = 8, /* -n */
        SHARED_ALL_NAMESPACES = 16,
        SHARED_WATCH = 32,
};
#define SHARED_TABLES_MAX 6
/* Fills `ret` with the tables of the set; returns how many. */
size_t shared_flag_tables(unsigned set, struct flag_table ret[SHARED_TABLES_MAX]);

/* Rules across and within the shared flags. ERR_INVALID. */
int shared_flags_check(unsigned set, const struct fleet_options *o, struct error *err);
/* "5", "5s", "0" (none) as kubectl's --request-timeout: milliseconds, 0 = none. */
int request_timeout_parse(const char *text, int64_t *ret_ms, struct error *err);
