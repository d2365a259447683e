/* Tags of a repository. spec/helm-chart.md 9.2 step 3. */
#include "common/base/limits.h"
#include "hub-agent/registry/ask.h"

#define FIRST_PAGE "tags/list?n=1000"

struct listing {
        const struct registry_tag_sink *sink;
        size_t n, most;
};

static int take_page(struct listing *l, struct slice body, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        const json_t *tag;
        size_t i;

        TRY(doc_parse(body, &doc, err));
        json_array_foreach(doc_get_array(doc, "tags"), i, tag) {
                if (!json_is_string(tag))
                        continue;
                if (l->n++ >= l->most)
                        return error_set(err, ERR_LIMIT, "there are more than %zu tags", l->most);
                TRY(l->sink->take(l->sink->ctx, json_string_value(tag), err));
        }
        return 0;
}

int registry_tags(struct registry *r, size_t most, const struct registry_tag_sink *sink, struct error *err)
{
        struct listing l = { sink, 0, most ? most : REGISTRY_TAGS_MAX };
        struct registry_pages pages = { 0 };

        registry_begin(r);
        for (const char *path = FIRST_PAGE; path;) {
                const struct registry_question q = { .path = path,
                                                     .accept = "application/json",
                                                     .max_body = LIMIT_INPUT_BODY_BYTES };
                struct http_response a;

                TRY(registry_enter_page(r, &pages, path, err));
                TRY(registry_ask(r, &q, &a, err));
                TRY(take_page(&l, a.body, err));
                TRY(registry_next_page(r, path, &a, &path, err));
        }
        return 0;
}
