#include "hub-agent/source/options.h"

#include "common/base/memory.h"
#include "common/kube/selector.h"
#include "hub-agent/flags.h"
#include "hub-agent/source/verify/trusted_root.h"

#define FOLDER "/data"
#define WORK_FOLDER ".git-work" /* hidden, so it is not served */
#define LISTEN ":9090"

const char *source_address(struct arena *arena, const char *told, const char *host, int port,
                           const char *machine)
{
        size_t n = strlen(or_empty(told));

        while (n > 0 && told[n - 1] == '/')
                n--;
        if (n > 0)
                return arena_printf(arena, "%s%.*s", strstr(told, "://") ? "" : "http://", (int)n, told);
        if (text_empty(host))
                host = "localhost";
        else if (text_equal(host, "0.0.0.0") && !text_empty(machine))
                host = machine;
        return arena_printf(arena, strchr(host, ':') ? "http://[%s]:%d" : "http://%s:%d", host, port);
}

/* The flag, else the environment, else the default. */
static const char *pick(const struct world *w, const char *flag, const char *variable, const char *otherwise)
{
        const char *value = text_empty(flag) ? w->process->getenv(w->ctx, variable) : flag;

        return text_empty(value) ? otherwise : value;
}

/* Of the file, or the one that is built in. */
static int read_trusted_root(struct world *w, const char *path, struct arena *arena,
                             const struct trusted_root **ret, struct error *err)
{
        AUTO_FREE char *text = NULL;
        size_t n = 0;

        if (text_empty(path))
                return trusted_root_read(trusted_root_built_in(), arena, ret, err);
        TRY(w->files->read(w->ctx, path, TRUSTED_ROOT_BYTES, &text, &n, err));
        return trusted_root_read((struct slice){ text, n }, arena, ret, err) < 0 ? error_wrap(err, "%s", path)
                                                                                 : 0;
}

bool source_is_watched(const struct source_options *o, const struct object *about)
{
        return (!o->ns || text_equal(o->ns, about->meta.ns)) &&
               (!o->labels || label_query_matches_map(o->labels, &about->meta.labels));
}

static int take_scope(struct world *w, const struct hub_flags *f, struct arena *arena,
                      struct source_options *o, struct error *err)
{
        struct label_query *labels = NULL;

        if (!f->source_all_namespaces) {
                o->ns = pick(w, NULL, "RUNTIME_NAMESPACE", w->process->getenv(w->ctx, "POD_NAMESPACE"));
                if (text_empty(o->ns))
                        return error_set(err, ERR_INVALID,
                                         "watch-all-namespaces: neither RUNTIME_NAMESPACE nor POD_NAMESPACE "
                                         "says which is the agent's own");
        }
        if (text_empty(f->source_labels))
                return 0;
        if (label_query_parse(arena, f->source_labels, &labels, err) < 0)
                return error_wrap(err, "watch-label-selector");
        o->labels = labels;
        return 0;
}

int source_options_open(struct world *w, const struct hub_flags *f, struct arena *arena,
                        struct source_options *ret, struct error *err)
{
        const char *folder = pick(w, f->storage_path, "STORAGE_PATH", FOLDER);
        char host[FLAG_HOST_SIZE];

        struct address_ranges *denied = ARENA_NEW(arena, struct address_ranges);

        if (!denied)
                return error_no_memory(err);
        *ret = (struct source_options){ .retention = { f->artifact_ttl_ms, (size_t)f->artifact_records },
                                        .index_bytes = (size_t)f->index_bytes,
                                        .chart_bytes = (size_t)f->chart_bytes,
                                        .file_bytes = (size_t)f->chart_file_bytes,
                                        .git_bytes = (uint64_t)f->git_bytes,
                                        .cache_most = (size_t)f->cache_most,
                                        .cache_ttl_ms = f->cache_ttl_ms,
                                        .cache_purge_ms = f->cache_purge_ms,
                                        .enforces_digests = text_equal(f->index_digest, "enforce"),
                                        .concurrency = (unsigned)f->source_concurrency,
                                        .jitter_percent = (unsigned)f->source_jitter,
                                        .retry_least_ms = f->source_retry_least_ms,
                                        .retry_most_ms = f->source_retry_most_ms };
        if (address_ranges_parse(f->source_denied, arena, denied, err) < 0)
                return error_wrap(err, "source-deny-addresses");
        ret->denied = denied;
        TRY(take_scope(w, f, arena, ret, err));
        if (artifact_digest_named(f->artifact_digest, &ret->digest, err) < 0)
                return error_wrap(err, "artifact-digest-algo");
        if (read_trusted_root(w, f->trusted_root, arena, &ret->trusted_root, err) < 0)
                return error_wrap(err, "sigstore-trusted-root");
        if (flags_address(pick(w, f->storage_address, "STORAGE_ADDRESS", LISTEN), host, &ret->port, err) < 0)
                return error_wrap(err, "storage-addr");
        ret->bind = arena_strdup(arena, host);
        ret->address = source_address(arena, pick(w, f->storage_advertised, "STORAGE_ADV_ADDR", NULL), host,
                                      ret->port, w->process->getenv(w->ctx, "HOSTNAME"));
        if (!ret->bind || !ret->address)
                return error_no_memory(err);
        ret->work_folder = arena_printf(arena, "%s/" WORK_FOLDER, folder);
        if (!ret->work_folder)
                return error_no_memory(err);
        if (volume_open(w, folder, &ret->volume, err) < 0)
                return error_wrap(err, "storage-path: invalid dir path: %s", folder);
        return 0;
}
