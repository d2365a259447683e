/* Ways into documents. */
#include "hub-agent/manifest-generation/update/workload.h"

static json_t *step_into(const json_t *doc, const struct doc_step *step)
{
        return step->key ? json_object_get(doc, step->key) : json_array_get(doc, step->index);
}

json_t *doc_at(const json_t *doc, const struct doc_place *place)
{
        const json_t *at = doc;

        for (size_t i = 0; i < place->n && at; i++)
                at = step_into(at, &place->steps[i]);
        return (json_t *)at;
}

static int no_way(const struct doc_place *place, size_t step, struct error *err)
{
        const struct doc_step *s = &place->steps[step];

        if (s->key)
                return error_set(err, ERR_INVALID, "member %s cannot be in what is there", s->key);
        return error_set(err, ERR_INVALID, "there is no item %zu", s->index);
}

/* The object that is to have the last step's key, made if `makes`; *ret NULL: it is not there. */
static int find_parent(json_t *doc, const struct doc_place *place, bool makes, json_t **ret,
                       struct error *err)
{
        json_t *at = doc;

        for (size_t i = 0; i + 1 < place->n; i++) {
                const struct doc_step *step = &place->steps[i];
                json_t *next = step_into(at, step);

                if ((!next || json_is_null(next)) && makes && step->key && json_is_object(at)) {
                        next = json_object();
                        if (!next || json_object_set_new(at, step->key, next) < 0)
                                return error_no_memory(err);
                }
                if (!next && makes)
                        return no_way(place, i, err);
                *ret = next;
                if (!next)
                        return 0;
                at = next;
        }
        *ret = at;
        return 0;
}

static int put(json_t *parent, const struct doc_place *place, json_t *value, struct error *err)
{
        const struct doc_step *last = &place->steps[place->n - 1];

        if (last->key ? !json_is_object(parent) : last->index >= json_array_size(parent))
                return no_way(place, place->n - 1, err);
        if ((last->key ? json_object_set(parent, last->key, value)
                       : json_array_set(parent, last->index, value)) < 0)
                return error_no_memory(err);
        return 0;
}

int doc_set_at(json_t *doc, const struct doc_place *place, json_t *value, struct error *err)
{
        AUTO_JSON json_t *own = value;
        json_t *parent;

        if (!own)
                return error_no_memory(err);
        ASSERT(place->n > 0);
        TRY(find_parent(doc, place, true, &parent, err));
        return put(parent, place, own, err);
}

int doc_remove_at(json_t *doc, const struct doc_place *place, struct error *err)
{
        const struct doc_step *last = &place->steps[place->n - 1];
        json_t *parent;

        TRY(find_parent(doc, place, false, &parent, err));
        if (last->key && json_is_object(parent))
                json_object_del(parent, last->key);
        return 0;
}

const char *doc_place_text(struct arena *arena, const struct doc_place *place)
{
        const char *text = "";

        for (size_t i = 0; i < place->n && text; i++) {
                const struct doc_step *s = &place->steps[i];

                text = s->key ? arena_printf(arena, "%s%s%s", text, i ? "." : "", s->key)
                              : arena_printf(arena, "%s[%zu]", text, s->index);
        }
        return text;
}
