#include "member-agent/apply/work_set.h"

#include "proto/names.h"

/* The annotation speaks only of the content it names: an agent that does not know it leaves it behind. */
static int64_t size_of(const char *set, const char *content)
{
        int64_t size = 0;
        size_t n = strlen(content);

        if (!set || strncmp(set, content, n) != 0 || set[n] != '/' || !text_parse_i64(set + n + 1, &size))
                return 0;
        return size > 0 ? size : 0;
}

int work_set_of(const struct object *work, struct arena *arena, struct work_set *ret)
{
        const struct string_map *labels = &work->meta.labels, *annotations = &work->meta.annotations;
        const char *binding = or_empty(string_map_get(labels, LABEL_PARENT_BINDING));
        const char *ns = or_empty(string_map_get(labels, LABEL_PARENT_PLACEMENT_NAMESPACE));
        const char *index = string_map_get(labels, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX);

        *ret = (struct work_set){ .binding = "", .content = "" };
        if (!binding[0])
                return 0;
        ret->binding = ns[0] ? arena_printf(arena, "%s/%s", ns, binding) : arena_strdup(arena, binding);
        if (index)
                ret->content = arena_printf(
                        arena, "%s/%.*s.%.*s", index, WORK_SET_HASH_DIGITS,
                        or_empty(string_map_get(annotations, ANNOTATION_OVERRIDE_SNAPSHOT_HASH)),
                        WORK_SET_HASH_DIGITS,
                        or_empty(string_map_get(annotations, ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH)));
        if (!ret->binding || !ret->content)
                return ERR_NO_MEMORY;
        ret->size = size_of(string_map_get(annotations, ANNOTATION_WORK_SET), ret->content);
        return 0;
}
