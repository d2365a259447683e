#include "common/base/memory.h"
#include "kubectl-fleet/bundle.h"
#include "kubectl-fleet/bundle_hide.h"

#define LINES_MAX (16u << 20) /* of one page, written as lines */

void bundle_problem(struct bundle *b, const char *part, const char *why)
{
        size_t n = strlen(b->side) + strlen(part) + strlen(why) + strlen("/: \n");

        b->n_problems++;
        if (b->n_left_out || n > BUNDLE_PROBLEMS_BYTES - b->problems.len)
                b->n_left_out++;
        else
                buf_printf(&b->problems, "%s/%s: %s\n", b->side, part, why);
}

static int put_index(struct bundle *b, json_t *taken, struct error *err)
{
        return taken && json_array_append_new(b->index, taken) == 0 ? 0 : error_no_memory(err);
}

int bundle_put_text(struct bundle *b, const char *name, struct slice text, const char *cut, struct error *err)
{
        AUTO_BUF struct buf hidden;
        const char *path = arena_printf(b->session->arena, "%s/%s", b->side, name);

        buf_init(&hidden, LINES_MAX);
        if (!path || bundle_hide_text(text, &hidden) < 0)
                return error_no_memory(err);
        TRY(bundle_file_put(b->file, path, (struct slice){ hidden.data, hidden.len }, err));
        return put_index(
                b, json_pack("{s:s, s:I, s:s*}", "path", path, "bytes", (json_int_t)hidden.len, "cut", cut),
                err);
}

/* ---- lists ---- */

struct listing {
        struct bundle *b;
        const struct kube_resource *resource;
        const char *ns;
        bool metadata_only;
        unsigned limit;       /* objects of the next page */
        char *continues;      /* "" at first, NULL at the end; mem_free */
        int64_t n, remaining; /* so far; what the server says is left, -1 = it does not */
        unsigned pages;
        uint64_t bytes;
        const char *part, *cut, *version; /* version: "apps/v1" */
};

static int page_path(const struct listing *l, struct buf *path)
{
        if (kube_path(path, l->resource, l->ns, NULL, NULL) < 0)
                return ERR_INVALID;
        buf_printf(path, "?limit=%u", l->limit);
        if (text_empty(l->continues))
                return 0;
        buf_append_str(path, "&continue=");
        return http_escape(path, l->continues);
}

static int ask_page(struct listing *l, struct arena *arena, json_t **ret, struct error *err)
{
        struct kube_client *k = l->b->kube;
        AUTO_BUF struct buf path;
        struct http_response answer;
        int code;

        buf_init(&path, 65536);
        if (page_path(l, &path) < 0)
                return error_no_memory(err);
        TRY(session_time_left(l->b->session, err));
        k->max_answer = l->limit == 1 ? BUNDLE_OBJECT_BYTES : BUNDLE_PAGE_BYTES;
        code = kube_raw_accept(k, "GET", path.data, l->metadata_only ? KUBE_ACCEPT_METADATA_LIST : NULL,
                               arena, &answer, err);
        k->max_answer = 0;
        TRY(code);
        return doc_parse(answer.body, ret, err);
}

/* One line; the kind stands in each, as the server leaves it out in lists. */
static int write_line(const struct listing *l, json_t *item, struct buf *lines, struct error *err)
{
        AUTO_BUF struct buf plain;

        buf_init(&plain, LINES_MAX);
        if (json_object_set_new(item, "apiVersion", json_string(l->version)) < 0 ||
            json_object_set_new(item, "kind", json_string(l->resource->kind)) < 0)
                return error_no_memory(err);
        TRY(bundle_hide_object(item, err));
        TRY(doc_write(item, &plain));
        TRY(bundle_hide_text((struct slice){ plain.data, plain.len }, lines));
        return buf_append_char(lines, '\n');
}

static int put_page(struct listing *l, json_t *page, struct error *err)
{
        AUTO_BUF struct buf lines;
        AUTO_FREE char *path = mem_printf("%s/%s/%04u.jsonl", l->b->side, l->part, ++l->pages);
        size_t i;
        json_t *item;

        buf_init(&lines, LINES_MAX);
        if (!path)
                return error_no_memory(err);
        json_array_foreach(doc_get_array(page, "items"), i, item) {
                if (!json_is_object(item))
                        continue;
                TRY(write_line(l, item, &lines, err));
                l->n++;
        }
        l->bytes += lines.len;
        return lines.len ? bundle_file_put(l->b->file, path, (struct slice){ lines.data, lines.len }, err)
                         : 0;
}

static int next_page(struct listing *l, const json_t *page, struct error *err)
{
        const char *continues = doc_get_string(page, "metadata.continue");

        mem_free(TAKE_PTR(l->continues));
        l->remaining = doc_get_int(page, "metadata.remainingItemCount", -1);
        if (text_empty(continues))
                return 0;
        l->continues = mem_strdup(continues);
        return l->continues ? 0 : error_no_memory(err);
}

/* Pages shrink where objects are large, and double again with each that came; 1: try again. */
static int smaller(struct listing *l, struct error *err)
{
        if (err->code != ERR_LIMIT || l->limit == 1)
                return 0;
        l->limit = MAX(l->limit / 4, 1u);
        error_clear(err);
        return 1;
}

static bool is_cut(struct listing *l)
{
        int64_t most = l->b->most_objects;

        if (most == 0 || !l->continues)
                return false;
        if (l->n < most) {
                l->limit = (unsigned)MIN((int64_t)l->limit, most - l->n);
                return false;
        }
        l->cut = l->remaining >= 0
                         ? arena_printf(l->b->session->arena, "%lld more are not here (--most-objects)",
                                        (long long)l->remaining)
                         : "more are not here (--most-objects)";
        return true;
}

static int read_pages(struct listing *l, struct error *err)
{
        while (l->continues && !is_cut(l)) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *page = NULL;
                struct error why = { 0 };

                if (ask_page(l, &arena, &page, &why) < 0) {
                        if (smaller(l, &why))
                                continue;
                        if (why.code == ERR_CANCELLED || why.code == ERR_NO_MEMORY) {
                                *err = why;
                                return why.code;
                        }
                        bundle_problem(l->b, l->part, why.text);
                        l->cut = "the rest could not be read: see problems.txt";
                        return 0;
                }
                TRY(put_page(l, page, err));
                TRY(next_page(l, page, err));
                l->limit = MIN(2 * l->limit, (unsigned)BUNDLE_PAGE_OBJECTS);
        }
        return 0;
}

int bundle_put_objects(struct bundle *b, const struct kube_resource *r, const char *ns, bool metadata_only,
                       struct error *err)
{
        struct listing l = { .b = b,
                             .resource = r,
                             .ns = ns,
                             .metadata_only = metadata_only,
                             .limit = BUNDLE_PAGE_OBJECTS,
                             .remaining = -1,
                             .continues = mem_strdup("") };
        int code;

        if (b->most_objects)
                l.limit = (unsigned)MIN(b->most_objects, (int64_t)l.limit);
        l.part = arena_printf(b->session->arena, "objects/%s%s%s", r->plural, *r->group ? "." : "", r->group);
        l.version = arena_printf(b->session->arena, "%s%s%s", r->group, *r->group ? "/" : "", r->version);
        code = l.continues && l.part && l.version ? read_pages(&l, err) : error_no_memory(err);
        mem_free(l.continues);
        TRY(code);
        return put_index(b,
                         json_pack("{s:o, s:I, s:I, s:s*}", "path", json_sprintf("%s/%s", b->side, l.part),
                                   "objects", (json_int_t)l.n, "bytes", (json_int_t)l.bytes, "cut", l.cut),
                         err);
}

/* ---- texts ---- */

/* One answer of at most BUNDLE_TEXT_BYTES; the arena's. */
static int ask_text(struct bundle *b, const char *path, struct arena *arena, struct slice *ret,
                    struct error *err)
{
        struct http_response answer;
        int code;

        TRY(session_time_left(b->session, err));
        b->kube->max_answer = BUNDLE_TEXT_BYTES;
        code = kube_raw_accept(b->kube, "GET", path, "*/*", arena, &answer, err);
        b->kube->max_answer = 0;
        TRY(code);
        *ret = answer.body;
        return 0;
}

static int fails(struct bundle *b, const char *part, const struct error *why, struct error *err)
{
        if (why->code == ERR_CANCELLED || why->code == ERR_NO_MEMORY) {
                *err = *why;
                return why->code;
        }
        bundle_problem(b, part, why->text);
        return 0;
}

int bundle_put_answer(struct bundle *b, const char *name, const char *path, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error why = { 0 };
        struct slice text;

        if (ask_text(b, path, &arena, &text, &why) < 0)
                return fails(b, name, &why, err);
        return bundle_put_text(b, name, text, NULL, err);
}

/* ---- pods ---- */

#define LOG_LINES 16384 /* the newest; fewer where they are long */
#define LOG_LINES_LEAST 64

struct pod {
        const char *ns, *name;
        const json_t *doc;
};

static int put_log(struct bundle *b, const struct pod *p, const char *container, bool previous,
                   struct error *err)
{
        AUTO_FREE char *name =
                mem_printf("pods/%s/%s/%s%s.log", p->ns, p->name, container, previous ? ".previous" : "");
        unsigned lines = LOG_LINES;
        struct error why = { 0 };

        if (!name)
                return error_no_memory(err);
        for (;;) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_FREE char *path =
                        mem_printf("/api/v1/namespaces/%s/pods/%s/log?container=%s&tailLines=%u%s", p->ns,
                                   p->name, container, lines, previous ? "&previous=true" : "");
                struct slice text;
                int code = path ? ask_text(b, path, &arena, &text, &why) : error_no_memory(&why);

                if (code == ERR_LIMIT && lines > LOG_LINES_LEAST) {
                        lines /= 4;
                        error_clear(&why);
                        continue;
                }
                if (code < 0)
                        return fails(b, name, &why, err);
                return bundle_put_text(
                        b, name, text,
                        lines == LOG_LINES ? NULL : arena_printf(&arena, "the last %u lines", lines), err);
        }
}

static bool was_started_anew(const struct pod *p, const char *container)
{
        static const char *const lists[] = { "status.containerStatuses", "status.initContainerStatuses" };
        size_t i;
        json_t *one;

        for (size_t k = 0; k < ARRAY_LEN(lists); k++)
                json_array_foreach(doc_get_array(p->doc, lists[k]), i, one)
                        if (text_equal(doc_get_string(one, "name"), container) &&
                            doc_get_int(one, "restartCount", 0) > 0)
                                return true;
        return false;
}

/* Through the API server: the user needs no way to the pod, but the right on pods/proxy. */
static int put_metrics(struct bundle *b, const struct pod *p, const json_t *container, struct error *err)
{
        size_t i;
        json_t *port;

        json_array_foreach(doc_get_array(container, "ports"), i, port) {
                const char *called = or_empty(doc_get_string(port, "name"));
                AUTO_FREE char *name = mem_printf("pods/%s/%s/%s.metrics", p->ns, p->name, called);
                AUTO_FREE char *path = mem_printf("/api/v1/namespaces/%s/pods/%s:%lld/proxy/metrics", p->ns,
                                                  p->name, (long long)doc_get_int(port, "containerPort", 0));

                if (!strstr(called, "metrics"))
                        continue;
                if (!name || !path)
                        return error_no_memory(err);
                TRY(bundle_put_answer(b, name, path, err));
        }
        return 0;
}

static int put_containers(struct bundle *b, const struct pod *p, const char *list, struct error *err)
{
        size_t i;
        json_t *container;

        json_array_foreach(doc_get_array(p->doc, list), i, container) {
                const char *name = doc_get_string(container, "name");

                if (!name)
                        continue;
                TRY(put_log(b, p, name, false, err));
                if (was_started_anew(p, name))
                        TRY(put_log(b, p, name, true, err));
                TRY(put_metrics(b, p, container, err));
        }
        return 0;
}

int bundle_put_pods(struct bundle *b, const char *ns, struct error *err)
{
        static const struct kube_resource pods = { "", "v1", "pods", "Pod", true };
        AUTO_JSON json_t *all = NULL;
        struct error why = { 0 };
        size_t i;
        json_t *one;

        TRY(session_time_left(b->session, err));
        if (kube_doc_list(b->kube, &pods, ns, NULL, &all, &why) < 0)
                return fails(b, "pods", &why, err);
        if (json_array_size(all) == 0)
                bundle_problem(b, "pods",
                               "there are none in the namespace, so there are no logs and metrics");
        json_array_foreach(all, i, one) {
                struct pod p = { ns, doc_get_string(one, "metadata.name"), one };

                if (!p.name)
                        continue;
                TRY(put_containers(b, &p, "spec.initContainers", err));
                TRY(put_containers(b, &p, "spec.containers", err));
        }
        return 0;
}
