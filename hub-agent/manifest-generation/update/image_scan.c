#include "hub-agent/manifest-generation/update/image_scan.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/update/image_scan_internal.h"
#include "hub-agent/manifest-generation/update/words.h"

#define MOST_MS (5 * 60 * 1000)
#define HUB "index.docker.io"
#define TAGS_A_TURN 256 /* matched against patterns before others run */

struct image_scan *image_scan_new(const struct image_scan_options *o)
{
        struct image_scan *s = NEW(struct image_scan);

        if (!s)
                return NULL;
        s->options = *o;
        map_init(&s->repositories, MAP_OWN_KEYS, scan_repository_free);
        map_init(&s->hosts, MAP_OWN_KEYS, mem_free);
        registry_tokens_init(&s->tokens);
        return s;
}

struct image_scan *image_scan_free(struct image_scan *s)
{
        if (!s)
                return NULL;
        map_free(&s->repositories);
        map_free(&s->hosts);
        registry_tokens_free(&s->tokens);
        mem_free(s->trouble);
        mem_free(s);
        return NULL;
}

const char *image_scan_trouble(const struct image_scan *s)
{
        return s->trouble;
}

/* ---- which repositories ---- */

static int by_repository(const void *a, const void *b)
{
        const struct image_candidate *const *x = a, *const *y = b;

        return strcmp((*x)->repository, (*y)->repository);
}

/* Those that are asked about, side by side by their repositories. */
static int sort_candidates(struct scan_run *run, const struct image_candidates *c,
                           const struct image_candidate ***ret, size_t *ret_n, struct error *err)
{
        const struct image_candidate **at =
                ARENA_NEW_ARRAY(run->arena, const struct image_candidate *, c->n + 1);
        size_t n = 0;

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < c->n; i++)
                if (!c->at[i].problem && c->at[i].repository)
                        at[n++] = &c->at[i];
        qsort(at, n, sizeof(*at), by_repository);
        *ret = at;
        *ret_n = n;
        return 0;
}

static struct rate_limit *rate_of(struct image_scan *s, const char *host)
{
        struct rate_limit *l = map_get(&s->hosts, host);

        if (l)
                return l;
        l = NEW(struct rate_limit);
        if (!l)
                return NULL;
        rate_limit_init(l, loop_now_ms(s->options.world->loop));
        if (map_put(&s->hosts, host, l) == 0)
                return l;
        mem_free(l);
        return NULL;
}

/* "host/path", where the hub of Docker has another name for its clients. */
static int begin_repository(struct scan_run *run, struct scanned_repository *r, struct error *err)
{
        struct slice path = slice_of(r->name), host;

        slice_cut(&path, '/', &host);
        r->place.host = slice_is(host, HUB) ? "docker.io" : words_slice(run->arena, host);
        r->place.path = words_slice(run->arena, path);
        r->kept = scan_keep(run->scan, r->name);
        if (!r->place.host || !r->place.path || !r->kept)
                return error_no_memory(err);
        r->rate = rate_of(run->scan, r->place.host);
        r->kept->asked_ms = run->begun_ms;
        return r->rate ? 0 : error_no_memory(err);
}

static int find_repositories(struct scan_run *run, const struct image_candidates *c,
                             struct scanned_repository **ret, size_t *ret_n, struct error *err)
{
        const struct image_candidate **sorted = NULL;
        struct scanned_repository *at;
        size_t n = 0, found = 0;

        TRY(sort_candidates(run, c, &sorted, &n, err));
        at = ARENA_NEW_ARRAY(run->arena, struct scanned_repository, n + 1);
        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                if (i == 0 || by_repository(&sorted[i - 1], &sorted[i]) != 0) {
                        at[found++] = (struct scanned_repository){ .name = sorted[i]->repository,
                                                                   .candidates = &sorted[i] };
                        TRY(begin_repository(run, &at[found - 1], err));
                }
                at[found - 1].n_candidates++;
        }
        *ret = at;
        *ret_n = found;
        return 0;
}

/* ---- its tags ---- */

struct listing {
        struct scan_run *run;
        struct scanned_repository *repository;
        struct registry *registry;
};

static int take_tag(void *ctx, const char *tag, struct error *err)
{
        struct listing *l = ctx;
        struct scanned_repository *r = l->repository;
        const char **at = words_grow(l->run->arena, r->tags, r->n_tags, &r->cap_tags, sizeof(*at));
        const char *own = arena_strdup(l->run->arena, tag);

        if (!at || !own)
                return error_no_memory(err);
        r->tags = at;
        at[r->n_tags++] = own;
        return 0;
}

static int ask_tags(void *ctx, struct error *err)
{
        struct listing *l = ctx;
        const struct registry_tag_sink sink = { take_tag, l };

        l->repository->n_tags = 0; /* of a try before */
        return registry_tags(l->registry, IMAGE_SCAN_TAGS_MAX, &sink, err);
}

/* What is known of tags that are gone is of no use: one of that name would be another. */
static int forget_gone(struct scan_run *run, struct scanned_repository *r, struct error *err)
{
        struct map *there = map_of_arena(run->arena);

        if (!there)
                return error_no_memory(err);
        for (size_t i = 0; i < r->n_tags; i++)
                if (map_put(there, r->tags[i], run) < 0)
                        return error_no_memory(err);
        map_for_each(&r->kept->tags, e)
                if (!map_has(there, e->key))
                        scan_forget(run->scan, r->kept, e->key);
        return 0;
}

static int set_problem(struct scan_run *run, struct scanned_repository *r, const struct error *why,
                       struct error *err)
{
        r->n_tags = 0;
        r->problem = r->secrets_problem ? arena_printf(run->arena, "%s; %s", why->text, r->secrets_problem)
                                        : arena_strdup(run->arena, why->text);
        return r->problem ? 0 : error_no_memory(err);
}

/* Not what a registry answered, but that none did. */
static int note_silence(struct scan_run *run, const struct scanned_repository *r, int code,
                        const struct error *why, struct error *err)
{
        char *text;

        if (why->http_status != 0 || (code != ERR_RETRY && code != ERR_TIMEOUT))
                return 0;
        text = arena_strdup(run->arena, why->text);
        return text && map_put(run->silent, r->place.host, text) == 0 ? 0 : error_no_memory(err);
}

static int list_tags(struct scan_run *run, struct scanned_repository *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct transfer transfer;
        struct registry registry;
        struct listing l = { run, r, &registry };
        struct error why = { 0 };
        int code;

        r->problem = map_get(run->silent, r->place.host);
        if (r->problem)
                return 0;
        TRY(scan_find_login(run, r, err));
        TRY(scan_open(run, r, &transfer, &arena, &registry, err));
        code = scan_ask(run, r, 1, ask_tags, &l, &why);
        if (code == ERR_NO_MEMORY || code == ERR_CANCELLED) {
                if (err)
                        *err = why;
                return code;
        }
        if (code == 0)
                return forget_gone(run, r, err);
        TRY(set_problem(run, r, &why, err));
        return note_silence(run, r, code, &why, err);
}

/* ---- what they lead to ---- */

/* What of the tags has to be known: those in use, and those that a pattern has. */
struct wanted {
        struct map *in_use;
        const struct tag_pattern **patterns; /* each once */
        size_t n;
};

static int find_wanted(struct scan_run *run, const struct scanned_repository *r, struct wanted *ret,
                       struct error *err)
{
        struct map *seen = map_of_arena(run->arena);

        *ret = (struct wanted){
                map_of_arena(run->arena),
                ARENA_NEW_ARRAY(run->arena, const struct tag_pattern *, r->n_candidates + 1),
                0,
        };
        if (!seen || !ret->in_use || !ret->patterns)
                return error_no_memory(err);
        for (size_t i = 0; i < r->n_candidates; i++) {
                const struct image_candidate *c = r->candidates[i];
                const char *tag = c->container->image.tag, *text = tag_pattern_text(c->pattern);

                if (map_put(ret->in_use, *tag ? tag : "latest", run) < 0)
                        return error_no_memory(err);
                if (map_has(seen, text))
                        continue;
                if (map_put(seen, text, run) < 0)
                        return error_no_memory(err);
                ret->patterns[ret->n++] = c->pattern;
        }
        return 0;
}

static int is_wanted(const struct wanted *w, const char *tag)
{
        int has = map_has(w->in_use, tag);

        for (size_t i = 0; i < w->n && has == 0; i++)
                has = tag_pattern_has(w->patterns[i], tag);
        return has;
}

struct errand {
        struct scan_run *run;
        struct scanned_repository *repository;
        const char *tag;
};

static void read_tag(void *ctx)
{
        struct errand *e = ctx;
        int code = e->run->code;

        if (code == 0)
                code = scan_read_tag(e->run, e->repository, e->tag);
        if (e->run->code == 0)
                e->run->code = code;
}

static int send_for(struct scan_run *run, struct fiber_group *group, struct scanned_repository *r,
                    const char *tag, struct error *err)
{
        struct errand *e = ARENA_NEW(run->arena, struct errand);

        if (!e)
                return error_no_memory(err);
        *e = (struct errand){ run, r, tag };
        if (fiber_group_wait_below(group, SCAN_AT_ONCE) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        return fiber_spawn(group, "image-tag", read_tag, e) ? 0 : error_no_memory(err);
}

static int read_tags(struct scan_run *run, struct fiber_group *group, struct scanned_repository *r,
                     struct error *err)
{
        struct loop *l = run->scan->options.world->loop;
        struct wanted w;

        TRY(find_wanted(run, r, &w, err));
        for (size_t i = 0; i < r->n_tags && run->code == 0 && loop_now_ms(l) < run->deadline_ms; i++) {
                const struct kept_tag *kept = map_get(&r->kept->tags, r->tags[i]);
                int wanted = is_wanted(&w, r->tags[i]);

                if (wanted < 0)
                        return error_no_memory(err);
                if (i % TAGS_A_TURN == TAGS_A_TURN - 1 && fiber_yield(l) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                if (wanted && (!kept || manifest_age_is_due(&kept->age, loop_wall_ms(l))))
                        TRY(send_for(run, group, r, r->tags[i], err));
        }
        return 0;
}

static int read_repositories(struct scan_run *run, struct fiber_group *group, struct scanned_repository *at,
                             size_t n, struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                TRY(list_tags(run, &at[i], err));
                TRY(read_tags(run, group, &at[i], err));
        }
        if (fiber_group_join(group, INT64_MAX) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        if (run->code == ERR_NO_MEMORY)
                return error_no_memory(err);
        return run->code < 0 ? error_set(err, ERR_CANCELLED, "cancelled") : 0;
}

/* ---- what comes of it ---- */

static int tell_tags(struct scan_run *run, const struct scanned_repository *r, struct image_repository *ret,
                     struct error *err)
{
        struct image_tag *at = ARENA_NEW_ARRAY(run->arena, struct image_tag, r->n_tags + 1);
        size_t n = 0;

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < r->n_tags; i++) {
                const struct kept_tag *kept = map_get(&r->kept->tags, r->tags[i]);

                if (kept && kept->excluded)
                        continue;
                at[n] = (struct image_tag){ r->tags[i], kept != NULL, TIME_NONE, "" };
                if (kept) {
                        at[n].created_ms = kept->created_ms;
                        at[n].digest = arena_strdup(run->arena, kept->digest);
                        if (!at[n].digest)
                                return error_no_memory(err);
                }
                n++;
        }
        *ret = (struct image_repository){ r->name, at, n, r->problem };
        return 0;
}

static int tell(struct scan_run *run, const struct scanned_repository *at, size_t n,
                struct image_catalog *ret, struct error *err)
{
        struct image_repository *repositories = ARENA_NEW_ARRAY(run->arena, struct image_repository, n + 1);

        if (!repositories)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                TRY(tell_tags(run, &at[i], &repositories[i], err));
        *ret = (struct image_catalog){ repositories, n };
        return 0;
}

static int read_all(struct scan_run *run, const struct image_candidates *candidates,
                    struct image_catalog *ret, struct error *err)
{
        struct loop *l = run->scan->options.world->loop;
        struct scanned_repository *at = NULL;
        struct fiber_group *group;
        size_t n = 0;
        int code;

        TRY(scan_load(run->scan, err));
        TRY(find_repositories(run, candidates, &at, &n, err));
        group = fiber_group_new(l, NULL, "image-scan");
        if (!group)
                return error_no_memory(err);
        code = read_repositories(run, group, at, n, err);
        fiber_group_end(group);
        if (code < 0)
                return code;
        TRY(tell(run, at, n, ret, err));
        scan_prune(run->scan, run->begun_ms);
        return scan_save(run->scan, err);
}

int image_scan_read(void *scan, const struct update_objects *objects,
                    const struct image_candidates *candidates, struct arena *arena, struct image_catalog *ret,
                    struct error *err)
{
        struct image_scan *s = scan;
        int64_t most_ms = s->options.most_ms ? s->options.most_ms : MOST_MS;
        struct loop *l = s->options.world->loop;
        struct scan_run run = { .scan = s,
                                .arena = arena,
                                .deadline_ms = loop_now_ms(l) + most_ms,
                                .begun_ms = loop_wall_ms(l),
                                .silent = map_of_arena(arena),
                                .found = map_of_arena(arena) };

        if (!run.silent || !run.found)
                return error_no_memory(err);

        return read_all(&run, candidates, ret, err);
}

const struct images_ops image_scan_ops = { image_scan_read };
