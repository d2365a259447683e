/* Workloads and registries for the tests of plans. */
#pragma once

#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/update/automation.h"
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/update_test.h"

/* A fleet of small objects. */
struct scene {
        struct arena arena;
        struct update_object objects[16];
        struct update_objects all;
        struct error err;
};

static inline struct scene scene_new(void)
{
        return (struct scene){ .arena = ARENA_INIT };
}

static inline struct update_object *scene_add(struct scene *s, enum update_origin origin, const char *source,
                                              json_t *doc)
{
        struct update_object *o = &s->objects[s->all.n++];
        const char *kind = doc_get_string(doc, "kind");
        char *id = arena_printf(&s->arena, "shop:%s/%s", kind, doc_get_string(doc, "metadata.name"));

        for (char *c = strchr(id, ':'); *c != '/'; c++)
                if (*c >= 'A' && *c <= 'Z')
                        *c = (char)(*c | 0x20);
        assert_int_equal(doc_keep(&s->arena, doc, NULL), 0);
        *o = (struct update_object){ id, doc, source, origin, NULL };
        s->all.at = s->objects;
        return o;
}

/* `annotations` and `containers` as literals: "{'a':'b'}", "'app':'nginx:1','side':'b'". */
static inline struct update_object *scene_workload(struct scene *s, enum update_origin origin,
                                                   const char *name, const char *annotations,
                                                   const char *containers)
{
        AUTO_JSON json_t *images = doc_of(arena_printf(&s->arena, "{%s}", containers));
        json_t *list = json_array(), *image;
        const char *key;

        json_object_foreach(images, key, image)
                json_array_append_new(list, json_pack("{s:s,s:O}", "name", key, "image", image));
        return scene_add(s, origin, arena_printf(&s->arena, "%s.yaml", name),
                         json_pack("{s:s,s:{s:s,s:o},s:{s:{s:{s:o}}}}", "kind", "Deployment", "metadata",
                                   "name", name, "annotations", doc_of(annotations), "spec", "template",
                                   "spec", "containers", list));
}

static inline void scene_end(struct scene *s)
{
        arena_free(&s->arena);
}

/* Of data as a literal. */
static inline struct job_request request_of(struct scene *s, const char *data)
{
        json_t *map = doc_of(arena_printf(&s->arena, "{'data':%s}", data));
        struct job_request r;

        assert_int_equal(doc_keep(&s->arena, map, NULL), 0);
        if (job_request_read(&s->arena, map, &r, &s->err) < 0)
                fail_msg("%s", s->err.text);
        return r;
}

/* "id status text [container=image...]; " of each, then "| container=value" or "policy=value" of each change.
 */
static inline const char *text_of_plan(struct scene *s, const struct job_plan *p)
{
        const char *all = "";

        for (size_t i = 0; i < p->n_results; i++) {
                const struct update_result *r = &p->results[i];

                all = arena_printf(&s->arena, "%s%s %s%s%s", all, r->id, update_status_name(r->status),
                                   *r->text ? " " : "", r->text);
                for (size_t k = 0; k < r->n_containers; k++)
                        all = arena_printf(&s->arena, "%s [%s %s -> %s]", all, r->containers[k].container,
                                           r->containers[k].current.text, r->containers[k].target);
                all = arena_printf(&s->arena, "%s; ", all);
        }
        for (size_t i = 0; i < p->n_changes; i++) {
                const struct job_change *c = &p->changes[i];

                all = arena_printf(&s->arena, "%s| %s=%s ", all, c->container ? c->container : c->annotation,
                                   c->value ? c->value : "-");
        }
        return all;
}

/* A repository of tags "1.0@5 1.1@- 1.2?": the time after @ in ms, - = none; ? = nothing is known. */
static inline struct image_repository repository_of(struct scene *s, const char *name, const char *tags)
{
        struct image_tag *at = arena_calloc(&s->arena, 20, sizeof(*at));
        struct slice rest = slice_of(tags), tag, text;
        size_t n = 0;

        while (rest.len > 0) {
                slice_cut(&rest, ' ', &tag);
                at[n].known = tag.data[tag.len - 1] != '?';
                tag.len -= !at[n].known;
                at[n].created_ms = TIME_NONE;
                if (slice_cut(&tag, '@', &text))
                        slice_parse_i64(tag, &at[n].created_ms);
                at[n++].tag = arena_strndup(&s->arena, text.data, text.len);
        }
        return (struct image_repository){ name, at, n, NULL };
}
