#include "member-agent/refresh-token/options.h"

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
#define USAGE                                                                                                \
        "Keeps the token for the hub in a file.\n"                                                           \
        "  refresh-token secret   from a Secret of the member cluster\n"                                     \
        "  refresh-token azure    from an Azure managed identity"

static const struct refresh_command commands[] = {
        { "secret", PROVIDER_SECRET, secret_flags, ARRAY_LEN(secret_flags), USAGE },
        { "azure", PROVIDER_AZURE, azure_flags, ARRAY_LEN(azure_flags), USAGE },
};

static bool is_any(const char *word, const char *const *names, size_t n)
{
        size_t dashes = word[1] == '-' ? 2 : 1;

        for (size_t i = 0; i < n; i++)
                if (text_equal(word + dashes, names[i]))
                        return true;
        return false;
}

/* Index of the first word that is neither a flag nor a flag's value; argc if there is none. */
static int find_word(int argc, const char *const *argv)
{
        static const char *const booleans[] = { "help", "log-json", "version" };
        int i = 1;

        while (i < argc && argv[i][0] == '-')
                i += strchr(argv[i], '=') || is_any(argv[i], booleans, ARRAY_LEN(booleans)) ? 1 : 2;
        return MIN(i, argc);
}

int refresh_command_take(int *argc, const char **argv, const struct refresh_command **ret, struct error *err)
{
        static const char *const questions[] = { "help", "version" };
        int word = find_word(*argc, argv);

        if (word == *argc) {
                if (*argc != 2 || argv[1][0] != '-' || !is_any(argv[1], questions, ARRAY_LEN(questions)))
                        return error_set(err, ERR_INVALID, "say where the token comes from: secret or azure");
                *ret = &commands[PROVIDER_SECRET];
                return 0;
        }
        for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
                if (!text_equal(argv[word], commands[i].word))
                        continue;
                *ret = &commands[i];
                for (--*argc; word < *argc; word++)
                        argv[word] = argv[word + 1];
                return 0;
        }
        return error_set(err, ERR_INVALID, "unknown command \"%s\": secret or azure", argv[word]);
}

static int need(const char *value, const char *flag, struct error *err)
{
        if (text_empty(value))
                return error_set(err, ERR_INVALID, "required flag --%s is not set", flag);
        return 0;
}

int refresh_options_check(const struct refresh_options *o, enum token_provider provider, struct error *err)
{
        TRY(need(o->file_path, "file-path", err));
        if (provider == PROVIDER_AZURE) {
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
