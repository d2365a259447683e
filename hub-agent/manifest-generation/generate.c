#include "hub-agent/manifest-generation/generate.h"

#include "common/base/digest.h"
#include "common/base/map.h"
#include "common/base/memory.h"

/* ---- what is kept ---- */

struct kept {
        uint64_t used; /* the last time, by turns */
        size_t len;
        char data[];
};

struct generator_cache {
        struct map entries; /* digest -> struct kept */
        size_t bytes;
        uint64_t turn;
};

struct generator_cache *generator_cache_new(void)
{
        struct generator_cache *c = NEW(struct generator_cache);

        if (c)
                map_init(&c->entries, MAP_OWN_KEYS, mem_free);
        return c;
}

struct generator_cache *generator_cache_free(struct generator_cache *c)
{
        if (c)
                map_free(&c->entries);
        mem_free(c);
        return NULL;
}

void generator_cache_forget(struct generator_cache *c)
{
        map_clear(&c->entries);
        c->bytes = 0;
}

static void forget_oldest(struct generator_cache *c)
{
        const struct map_entry *oldest = map_next(&c->entries, NULL);

        ASSERT(oldest);
        map_for_each(&c->entries, e)
                if (((struct kept *)e->value)->used < ((struct kept *)oldest->value)->used)
                        oldest = e;
        c->bytes -= ((struct kept *)oldest->value)->len;
        map_remove(&c->entries, oldest->key);
}

/* Want of memory costs what would have been kept, and no more. */
static void keep(struct generator_cache *c, const char *digest, const struct buf *stream)
{
        struct kept *k;

        if (stream->len > GENERATOR_CACHE_BYTES / 2 || map_get(&c->entries, digest))
                return;
        while (map_count(&c->entries) && (map_count(&c->entries) >= GENERATOR_CACHE_ENTRIES ||
                                          c->bytes + stream->len > GENERATOR_CACHE_BYTES))
                forget_oldest(c);
        k = mem_alloc(sizeof(*k) + stream->len);
        if (!k)
                return;
        k->used = ++c->turn;
        k->len = stream->len;
        memcpy(k->data, stream->data, stream->len);
        if (map_put(&c->entries, digest, k) < 0)
                mem_free(k);
        else
                c->bytes += stream->len;
}

static void digest_text(struct sha256 *s, const char *text)
{
        sha256_update(s, text, strlen(text) + 1);
}

/* TMPDIR is another one each time. */
static void digest_of(const struct generation *g, const struct flux_target *target, const char *const *env,
                      char ret[SHA256_HEX_SIZE])
{
        uint8_t digest[SHA256_SIZE];
        struct sha256 s;

        sha256_init(&s);
        digest_text(&s, g->commit);
        digest_text(&s, target->config->file);
        digest_text(&s, target->path);
        for (; *env; env++)
                if (!text_starts_with(*env, "TMPDIR="))
                        digest_text(&s, *env);
        sha256_final(&s, digest);
        text_hex_encode(digest, sizeof(digest), ret);
}

/* ---- running ---- */

int generated_join(struct buf *stream, struct slice output)
{
        bool ends = !stream->len || stream->data[stream->len - 1] == '\n';

        (void)buf_append_str(stream, ends ? "---\n" : "\n---\n");
        return buf_append(stream, output.data, output.len);
}

/* spec/flux-yaml.md 4.5 */
static int tell_failure(struct arena *arena, const struct command_run *r, const struct flux_config *config,
                        const char **ret_message, struct error *err)
{
        const char *command = command_quote(arena, r->command->line);
        const char *file = command_quote(arena, config->relative);
        const char *errors = command_excerpt(arena, r->errors);
        const char *output = command_excerpt(arena, r->output);

        if (!command || !file || !errors || !output)
                return error_no_memory(err);
        *ret_message =
                arena_printf(arena,
                             "error executing generator command %s from file %s: %s\nerror output:\n%s\n"
                             "generated output:\n%s",
                             command, file, r->failure, errors, output);
        if (!*ret_message)
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "error executing generator command %s from file %s: %s", command,
                         file, r->failure);
}

static int run_all(struct generation *g, struct arena *arena, const struct flux_target *target,
                   const char *const *env, struct buf *stream, const char **ret_message, struct error *err)
{
        const struct flux_config *config = target->config;
        const char *folder = command_folder(arena, g->root, target);

        if (!folder)
                return error_no_memory(err);
        for (size_t i = 0; i < config->n_generators; i++) {
                struct command_run r = { .command = &config->generators[i], .folder = folder, .env = env };
                int code = command_run(g->commands, arena, &r, err);

                if (code == ERR_INVALID && r.failure)
                        return tell_failure(arena, &r, config, ret_message, err);
                TRY(code);
                (void)generated_join(stream, r.output);
                TRY(buf_status(stream, err, "what the generators print (GENERATED_BYTES)"));
        }
        return 0;
}

static int take(struct arena *arena, const char *data, size_t len, struct slice *ret, struct error *err)
{
        char *copy = arena_strndup(arena, data, len);

        if (!copy)
                return error_no_memory(err);
        *ret = (struct slice){ copy, len };
        return 0;
}

int generate(struct generation *g, struct arena *arena, const struct flux_target *target,
             struct slice *ret_stream, const char **ret_message, struct error *err)
{
        char digest[SHA256_HEX_SIZE];
        const char *const *env;
        struct kept *kept;
        AUTO_BUF struct buf stream;

        buf_init(&stream, GENERATED_BYTES);
        *ret_message = NULL;
        TRY(generator_environment(g->commands, arena, g->ours, g->temporary, &env, err));
        digest_of(g, target, env, digest);
        kept = g->cache ? map_get(&g->cache->entries, digest) : NULL;
        if (kept) {
                kept->used = ++g->cache->turn;
                return take(arena, kept->data, kept->len, ret_stream, err);
        }
        TRY(run_all(g, arena, target, env, &stream, ret_message, err));
        TRY(take(arena, stream.data, stream.len, ret_stream, err));
        if (g->cache)
                keep(g->cache, digest, &stream);
        return 0;
}
