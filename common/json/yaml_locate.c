/* Where something stands in a text: asked only for messages, so the text is read once more. */
#include "common/base/memory.h"
#include "common/json/yaml_reader.h"

static struct yaml_place place_of(yaml_mark_t mark)
{
        return (struct yaml_place){ mark.line + 1, mark.column + 1 };
}

static bool begins(const struct yaml_reader *r)
{
        return r->event.type == YAML_MAPPING_START_EVENT || r->event.type == YAML_SEQUENCE_START_EVENT;
}

static bool ends(const struct yaml_reader *r)
{
        return r->event.type == YAML_MAPPING_END_EVENT || r->event.type == YAML_SEQUENCE_END_EVENT;
}

/* To the last event of the value that the current one begins. */
static int pass_over(struct yaml_reader *r)
{
        for (size_t depth = begins(r); depth;) {
                TRY(yaml_next(r));
                depth = depth + begins(r) - ends(r);
        }
        return 0;
}

static bool is_key(const struct yaml_reader *r, const char *key)
{
        return r->event.type == YAML_SCALAR_EVENT &&
               slice_is((struct slice){ (const char *)r->event.data.scalar.value,
                                        r->event.data.scalar.length },
                        key);
}

/* Into the current value by one step: 1 if it leads there, and then the event is the value's first. */
static int enter(struct yaml_reader *r, const struct yaml_step *step, struct yaml_place *ret)
{
        bool mapping = r->event.type == YAML_MAPPING_START_EVENT;

        if (!begins(r) || mapping != (step->key != NULL))
                return 0;
        TRY(yaml_next(r));
        for (size_t i = 0; !ends(r); i++) {
                yaml_mark_t mark = r->event.start_mark;
                bool here = mapping ? is_key(r, step->key) : i == step->index;

                if (mapping) {
                        TRY(pass_over(r));
                        TRY(yaml_next(r));
                }
                if (here) {
                        *ret = place_of(mark);
                        return 1;
                }
                TRY(pass_over(r));
                TRY(yaml_next(r));
        }
        return 0;
}

static int locate(struct yaml_reader *r, const struct yaml_step *steps, size_t n, struct yaml_place *ret)
{
        int more = 1;

        do
                TRY(yaml_next(r));
        while (r->event.type != YAML_STREAM_END_EVENT && r->event.type != YAML_DOCUMENT_START_EVENT);
        if (r->event.type == YAML_STREAM_END_EVENT)
                return 0;
        TRY(yaml_next(r));
        *ret = place_of(r->event.start_mark);
        for (size_t i = 0; i < n && more == 1; i++)
                TRY(more = enter(r, &steps[i], ret));
        while (!n && r->event.type != YAML_STREAM_END_EVENT)
                TRY(yaml_next(r));
        return 0;
}

int yaml_locate(struct slice text, const struct yaml_step *steps, size_t n, struct yaml_place *ret)
{
        struct yaml_reader r;
        struct error err = { 0 };
        int code;

        *ret = (struct yaml_place){ 1, 1 };
        TRY(yaml_open_reader(&r, text, &err));
        code = locate(&r, steps, n, ret);
        if (code == ERR_INVALID)
                *ret = place_of(r.parser.problem_mark);
        yaml_close_reader(&r);
        return code == ERR_INVALID ? 1 : code;
}
