#include "e2e/bench/request_metrics.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "e2e/bench/bench.h"

#define METRIC "apiserver_request_total{"

double metrics_line_value(struct slice line)
{
        size_t at = line.len;

        while (at > 0 && line.data[at - 1] != ' ')
                at--;
        return strtod(line.data + at, NULL); /* of large ones 1.234567e+06 is written */
}

/* Empty if there is none. No value of these labels has a quote in it. */
static struct slice label(struct slice line, const char *name)
{
        struct slice head;
        size_t n = strlen(name);

        while (line.len) {
                (void)slice_cut(&line, '"', &head);
                bool is_it = head.len > n && head.data[head.len - 1] == '=' &&
                             !memcmp(head.data + head.len - 1 - n, name, n) &&
                             (head.len == n + 1 || head.data[head.len - 2 - n] == '{' ||
                              head.data[head.len - 2 - n] == ',');

                (void)slice_cut(&line, '"', &head);
                if (is_it)
                        return head;
        }
        return (struct slice){ 0 };
}

/* As RBAC calls it; NULL for what is none, like CONNECT. */
static const char *verb_of(struct slice method)
{
        static const char *const verbs[][2] = {
                { "POST", "create" }, { "PUT", "update" },    { "PATCH", "patch" },
                { "APPLY", "patch" }, { "DELETE", "delete" }, { "DELETECOLLECTION", "deletecollection" },
                { "GET", "get" },     { "LIST", "list" },     { "WATCH", "watch" },
        };

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                if (slice_equal(method, slice_of(verbs[i][0])))
                        return verbs[i][1];
        return NULL;
}

static json_t *find(const json_t *items, const char *verb, const char *resource)
{
        size_t i;
        json_t *item;

        json_array_foreach((json_t *)items, i, item)
                if (text_equal(doc_get_string(item, "verb"), verb) &&
                    text_equal(doc_get_string(item, "resource"), resource))
                        return item;
        return NULL;
}

static int add(json_t *items, const char *verb, const char *resource, int64_t count)
{
        json_t *item = find(items, verb, resource);

        if (item)
                return doc_set(item, "count", json_integer(doc_get_int(item, "count", 0) + count));
        return json_array_append_new(items, json_pack("{s:s, s:s, s:I}", "verb", verb, "resource", resource,
                                                      "count", (json_int_t)count));
}

static int add_line(json_t *items, struct slice line)
{
        const char *verb = verb_of(label(line, "verb"));
        struct slice resource = label(line, "resource"), below = label(line, "subresource");
        AUTO_FREE char *name = mem_printf("%.*s%s%.*s", (int)resource.len, resource.data,
                                          below.len ? "/" : "", (int)below.len, below.data);

        if (!name)
                return ERR_NO_MEMORY;
        return verb ? add(items, verb, name, (int64_t)metrics_line_value(line)) : 0;
}

int request_metrics_read(struct slice text, json_t **ret_items, struct error *err)
{
        AUTO_JSON json_t *items = json_array();
        struct slice line;

        while (items && text.len) {
                (void)slice_cut(&text, '\n', &line);
                if (slice_starts_with(line, METRIC) && add_line(items, line) < 0)
                        return error_no_memory(err);
        }
        *ret_items = TAKE_PTR(items);
        return *ret_items ? 0 : error_no_memory(err);
}

int request_metrics_since(const json_t *items, const json_t *before, json_t **ret_items, struct error *err)
{
        AUTO_JSON json_t *more = json_array();
        size_t i;
        json_t *item;

        if (!more)
                return error_no_memory(err);

        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                int64_t n = doc_get_int(item, "count", 0) - (int64_t)bench_count(before, verb, resource);

                if (n > 0 && add(more, verb, resource, n) < 0)
                        return error_no_memory(err);
        }
        *ret_items = TAKE_PTR(more);
        return 0;
}
