/* Runs the table of attempts. */
#include "e2e/hostile/hostile.h"

#include "common/base/memory.h"

extern const char hostile_attempts_text[]; /* attempts.S */

static const struct {
        const char *name, *text;
} words[] = {
        { "{placement}", "/apis/placement.kubernetes-fleet.io/v1beta1" },
        { "{cluster}", "/apis/cluster.kubernetes-fleet.io/v1beta1" },
        { "{rbac}", "/apis/rbac.authorization.k8s.io/v1" },
        { "{core}", "/api/v1" },
        { "{own}", "namespaces/fleet-member-" HOSTILE },
        { "{other}", "namespaces/fleet-member-" VICTIM },
};

/* The path with its words replaced; NULL on no memory. */
static const char *expand(struct arena *arena, const char *path)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        while (*path) {
                size_t i = 0;

                while (i < ARRAY_LEN(words) && !text_starts_with(path, words[i].name))
                        i++;
                if (i < ARRAY_LEN(words)) {
                        buf_append_str(&b, words[i].text);
                        path += strlen(words[i].name);
                } else {
                        buf_append_char(&b, *path++);
                }
        }
        return b.failed ? NULL : arena_strdup(arena, b.data ? b.data : "");
}

static int read_body(const json_t *row, const char *method, struct arena *arena, struct ask *a)
{
        const json_t *apply = json_object_get(row, "apply"), *body = json_object_get(row, "body");
        const json_t *doc = apply ? apply : body;
        AUTO_FREE char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;

        if (!doc)
                return 0;
        a->body = text ? arena_strdup(arena, text) : NULL;
        a->content_type = apply                          ? "application/apply-patch+yaml"
                          : !text_equal(method, "PATCH") ? "application/json"
                          : json_is_array(doc)           ? "application/json-patch+json"
                                                         : "application/merge-patch+json";
        return a->body ? 0 : ERR_NO_MEMORY;
}

static int read_header(const json_t *row, struct arena *arena, struct ask *a)
{
        struct slice value = slice_of(json_string_value(json_object_get(row, "header"))), name;

        if (!json_object_get(row, "header"))
                return 0;
        slice_cut(&value, ':', &name);
        value = slice_trim(value);
        a->header = arena_strndup(arena, name.data, name.len);
        a->value = arena_strndup(arena, value.data, value.len);
        return a->header && a->value ? 0 : ERR_NO_MEMORY;
}

static int read_row(const json_t *row, struct arena *arena, struct ask *ret, struct error *err)
{
        const char *line = json_string_value(json_object_get(row, "ask"));
        struct slice path = slice_of(line ? line : ""), method;
        struct ask a = { 0 };

        if (!slice_cut(&path, ' ', &method))
                return error_set(err, ERR_INVALID, "attempts.yaml: no \"ask: METHOD PATH\" in a row");
        a.method = arena_strndup(arena, method.data, method.len);
        a.path = expand(arena, path.data);
        if (!a.method || !a.path || read_body(row, a.method, arena, &a) < 0 ||
            read_header(row, arena, &a) < 0)
                return error_no_memory(err);
        *ret = a;
        return 0;
}

static bool is_as_expected(const char *expected, const struct answer *a)
{
        bool success = a->status >= 200 && a->status < 300;

        if (text_equal(expected, "allowed"))
                return success;
        if (strstr(a->text, MARKER))
                return false;
        return text_equal(expected, "refused") ? !success : a->status == 403;
}

static int try_row(struct hostile *h, const json_t *row, const char *authorization, bool allowed,
                   struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *expected = doc_get_string(row, "answer");
        struct answer *answer = arena_alloc(&arena, sizeof(*answer));
        struct ask a;

        if (text_equal(expected, "allowed") != allowed)
                return 0;
        if (!answer)
                return error_no_memory(err);
        TRY(read_row(row, &arena, &a, err));
        a.authorization = authorization;
        hostile_ask(h, &a, answer);
        if (is_as_expected(expected, answer))
                hostile_passed(h);
        else
                hostile_failed(h, doc_get_string(row, "what"), answer);
        return 0;
}

/* The first line in which two descriptions differ, cut to what fits on a screen. */
static void print_difference(const char *before, const char *after)
{
        size_t same = 0, line = 0;

        for (; before[same] && before[same] == after[same]; same++)
                if (before[same] == '\n')
                        line = same + 1;
        printf("  %.*s\n  before ...%.300s\n  after  ...%.300s\n", (int)strcspn(before + line, " "),
               before + line, before + same, after + same);
}

static int compare_ground(struct hostile *h, const char *before, struct error *err)
{
        AUTO_FREE char *after = NULL;
        AUTO_BUF struct buf found;

        buf_init(&found, 65536);
        TRY(ground_describe(h, &after, err));
        TRY(ground_find_foreign(h, &found, err));
        if (text_equal(before, after))
                hostile_passed(h);
        else
                hostile_failed(h, "everything is as it was", NULL);
        if (!text_equal(before, after))
                print_difference(before, after);
        if (found.len == 0)
                hostile_passed(h);
        else
                hostile_failed(h, "nothing has come up", NULL);
        if (found.len > 0)
                printf("  found:%s\n", found.data);
        return 0;
}

int attempts_try(struct hostile *h, struct error *err)
{
        AUTO_FREE char *authorization = mem_printf("Bearer %s", h->token), *before = NULL;
        AUTO_JSON json_t *table = NULL;
        json_t *row;
        size_t i;

        if (!authorization)
                return error_no_memory(err);
        TRY(yaml_parse(slice_of(hostile_attempts_text), &table, err));
        TRY(ground_describe(h, &before, err));
        json_array_foreach(table, i, row)
                TRY(try_row(h, row, authorization, false, err));
        TRY(compare_ground(h, before, err));
        json_array_foreach(table, i, row)
                TRY(try_row(h, row, authorization, true, err));
        return 0;
}
