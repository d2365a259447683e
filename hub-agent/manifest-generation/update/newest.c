/* Which of the tags that count is the newest. spec/flux-yaml.md 10.4 - 10.6. */
#include "common/base/semver.h"
#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/update/plan_builder.h"
#include "hub-agent/manifest-generation/update/words.h"

static int by_name(const void *key, const void *item)
{
        return strcmp(key, ((const struct image_repository *)item)->name);
}

const struct image_repository *image_catalog_find(const struct image_catalog *c, const char *canonical)
{
        return c->n ? bsearch(canonical, c->at, c->n, sizeof(*c->at), by_name) : NULL;
}

const struct image_tag *image_repository_find(const struct image_repository *r, const char *tag)
{
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->tags[i].tag, tag) == 0)
                        return &r->tags[i];
        return NULL;
}

/* ---- order: what is newer stands first ---- */

/* Tags that are no version stand behind those that are. */
static int compare_versions(const char *a, const char *b)
{
        struct semver x, y;
        bool has_x = semver_parse(slice_of(a), &x) == 0, has_y = semver_parse(slice_of(b), &y) == 0;

        if (!has_x || !has_y)
                return has_y - has_x;
        return semver_compare(&y, &x);
}

static int compare_texts(const char *a, const char *b)
{
        size_t x = strlen(a), y = strlen(b);

        return x != y ? (x < y) - (x > y) : strcmp(b, a);
}

static int order_by_version(const struct image_tag *x, const struct image_tag *y)
{
        int order = compare_versions(x->tag, y->tag);

        return order ? order : compare_texts(x->tag, y->tag);
}

/* TIME_NONE is before all times. */
static int order_by_time(const struct image_tag *x, const struct image_tag *y)
{
        int order = compare_versions(x->tag, y->tag);

        if (x->created_ms != y->created_ms)
                return x->created_ms < y->created_ms ? 1 : -1;
        return order ? order : strcmp(y->tag, x->tag);
}

static int no_metadata(const char *tag, struct error *err)
{
        return error_set(err, ERR_INVALID,
                         "inconsistent repository metadata: missing metadata for image tag \"%s\"", tag);
}

int newest_find(const struct image_repository *r, const struct tag_pattern *p, const struct image_tag **ret,
                struct error *err)
{
        bool by_version = tag_pattern_order(p) == TAG_BY_VERSION;
        const struct image_tag *newest = NULL;

        for (size_t i = 0; i < r->n; i++) {
                const struct image_tag *tag = &r->tags[i];
                int has = tag_pattern_has(p, tag->tag);

                if (has < 0)
                        return error_no_memory(err);
                if (has && !tag->known)
                        return no_metadata(tag->tag, err);
                if (has && (!newest ||
                            (by_version ? order_by_version(tag, newest) : order_by_time(tag, newest)) < 0))
                        newest = tag;
        }
        *ret = newest;
        return 0;
}

/* ---- the choice ---- */

/* By version what the workload has is judged by its text: whether it is in the list or not. */
static int choose_by_version(const struct tag_pattern *p, const struct image_tag *newest, const char *current,
                             const char **ret_why)
{
        const struct image_tag has = { .tag = current };
        int allowed = tag_pattern_has(p, current);

        if (allowed > 0 && order_by_version(&has, newest) <= 0)
                *ret_why = IMAGES_UP_TO_DATE;
        return allowed < 0 ? ERR_NO_MEMORY : 0;
}

static void choose_by_time(const struct image_repository *r, const struct image_tag *newest,
                           const char *current, const char **ret_why)
{
        const struct image_tag *now = image_repository_find(r, *current ? current : "latest");

        if (newest->created_ms == TIME_NONE || !now || now->created_ms == TIME_NONE)
                *ret_why = "image with zero created timestamp";
}

int newest_choose(const struct image_repository *r, const struct tag_pattern *p,
                  const struct image_tag *newest, const char *current, const char **ret_tag,
                  const char **ret_why)
{
        const char *why = NULL;

        if (!newest)
                why = "cannot find one or more images";
        else if (strcmp(newest->tag, current) == 0)
                why = IMAGES_UP_TO_DATE;
        else if (tag_pattern_order(p) == TAG_BY_TIME)
                choose_by_time(r, newest, current, &why);
        else
                TRY(choose_by_version(p, newest, current, &why));
        *ret_why = why;
        *ret_tag = why ? NULL : newest->tag;
        return 0;
}

int automation_newest(struct arena *arena, const struct image_repository *r, const struct tag_pattern *p,
                      const struct image_ref *current, const char **ret_tag, const char **ret_why,
                      struct error *err)
{
        const struct image_tag *newest = NULL;

        *ret_tag = NULL;
        if (r->problem) {
                *ret_why = arena_printf(arena, "cannot read %s: %s", r->name, r->problem);
                return *ret_why ? 0 : error_no_memory(err);
        }
        TRY(newest_find(r, p, &newest, err));
        return newest_choose(r, p, newest, current->tag, ret_tag, ret_why) < 0 ? error_no_memory(err) : 0;
}
