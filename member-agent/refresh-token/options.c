#include "member-agent/refresh-token/options.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#define AT(field) offsetof(struct refresh_options, field)
#define SCOPE_OF_KUBERNETES "6dae42f8-4368-4678-94ff-3960e28e3630"
#define COMMON                                                                                               \
        { "help", FLAG_BOOL, "false", AT(help), "Prints this text." },                                       \
                { "file-path", FLAG_STRING, "/config/token", AT(file_path), "File the token is kept in." },  \
                { "kubeconfig", FLAG_STRING, "", AT(kubeconfig),                                             \
                  "Kubeconfig of the member cluster; in-cluster if empty." },                                \
                { "v", FLAG_INT, "0", AT(verbosity), "Verbosity of the log; 4 and more: debug.", 0, 10 },    \
        {                                                                                                    \
                "log-json", FLAG_BOOL, "false", AT(json_logs), "Logs one JSON object per line."              \
        }

static const struct flag secret_flags[] = {
        COMMON,
        { "name", FLAG_STRING, "", AT(name), "Name of the Secret; its key \"token\" is read." },
        { "namespace", FLAG_STRING, "", AT(ns), "Namespace of the Secret." },
};
static const struct flag azure_flags[] = {
        COMMON,
        { "clientid", FLAG_STRING, "", AT(client_id), "Client id of the managed identity." },
        { "scope", FLAG_STRING, SCOPE_OF_KUBERNETES, AT(scope), "What the token is for." },
};
static const struct flag common_flags[] = { COMMON };

static const struct provider {
        const char *word;
        const struct flag *flags;
        size_t n_flags;
        const char *help;
} providers[] = {
        [PROVIDER_SECRET] = { "secret", secret_flags, ARRAY_LEN(secret_flags),
                              "The token is in a Secret of the member cluster." },
        [PROVIDER_AZURE] = { "azure", azure_flags, ARRAY_LEN(azure_flags),
                             "The token is that of an Azure managed identity." },
};

static bool is_boolean(const char *flag)
{
        return text_equal(flag, "--help") || text_equal(flag, "-help") || text_equal(flag, "--log-json") ||
               text_equal(flag, "-log-json");
}

/* Index of the first word that is neither a flag nor a flag's value; argc if there is none. */
static int find_word(int argc, const char *const *argv)
{
        int i = 1;

        while (i < argc && argv[i][0] == '-')
                i += strchr(argv[i], '=') || is_boolean(argv[i]) ? 1 : 2;
        return MIN(i, argc);
}

static int need(const char *value, const char *flag, struct error *err)
{
        if (text_empty(value))
                return error_set(err, ERR_INVALID, "required flag --%s is not set", flag);
        return 0;
}

static int check(const struct refresh_options *o, struct error *err)
{
        TRY(need(o->file_path, "file-path", err));
        if (o->provider == PROVIDER_AZURE) {
                TRY(need(o->scope, "scope", err));
                return need(o->client_id, "clientid", err);
        }
        TRY(need(o->name, "name", err));
        TRY(need(o->ns, "namespace", err));
        if (!text_is_dns1123_subdomain(o->name))
                return error_set(err, ERR_INVALID, "--name: \"%s\" is not a name of a Secret", o->name);
        if (!text_is_dns1123_subdomain(o->ns))
                return error_set(err, ERR_INVALID, "--namespace: \"%s\" is not a name of a namespace", o->ns);
        return 0;
}

/* The flags in front of and behind the word are those of one table. */
static int parse_around(int argc, const char *const *argv, int word, const struct provider *p,
                        struct refresh_options *ret, struct error *err)
{
        AUTO_FREE const char **rest = mem_calloc((size_t)argc, sizeof(*rest));
        int n = 0;

        if (!rest)
                return error_no_memory(err);
        for (int i = 0; i < argc; i++)
                if (i != word)
                        rest[n++] = argv[i];
        return flags_parse(p->flags, p->n_flags, n, rest, ret, err);
}

int refresh_options_parse(int argc, const char *const *argv, struct refresh_options *ret, struct error *err)
{
        struct refresh_options o = { 0 };
        int word = find_word(argc, argv);
        size_t p = 0;

        if (word == argc) {
                TRY(flags_parse(common_flags, ARRAY_LEN(common_flags), argc, argv, &o, err));
                if (!o.help)
                        return error_set(err, ERR_INVALID, "say where the token comes from: secret or azure");
                *ret = o;
                return 0;
        }
        while (p < ARRAY_LEN(providers) && !text_equal(argv[word], providers[p].word))
                p++;
        if (p == ARRAY_LEN(providers))
                return error_set(err, ERR_INVALID, "unknown command \"%s\": secret or azure", argv[word]);
        TRY(parse_around(argc, argv, word, &providers[p], &o, err));
        o.provider = (enum token_provider)p;
        if (!o.help)
                TRY(check(&o, err));
        *ret = o;
        return 0;
}

int refresh_options_help(struct buf *b)
{
        buf_append_str(b,
                       "Usage: refresh-token secret|azure [flags]\nKeeps the token for the hub in a file.\n");
        for (size_t i = 0; i < ARRAY_LEN(providers); i++) {
                buf_printf(b, "\n%s: %s\n", providers[i].word, providers[i].help);
                TRY(flags_help(providers[i].flags, providers[i].n_flags, b));
        }
        return b->failed;
}
