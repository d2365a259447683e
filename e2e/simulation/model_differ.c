/* What a manifest says against what there is. */
#include "e2e/simulation/model_parts.h"

#define PATH_MAX_TEXT 128

struct path {
        char text[PATH_MAX_TEXT];
};

static struct path below(const struct path *p, const char *key)
{
        struct path ret;

        if (snprintf(ret.text, sizeof(ret.text), "%s/%s", p->text, key) >= (int)sizeof(ret.text))
                ret.text[sizeof(ret.text) - 1] = '\0';
        return ret;
}

static void note(bool *flag, char *ret_path, const struct path *p)
{
        if (!*flag)
                memcpy(ret_path, p->text, PATH_MAX_TEXT);
        *flag = true;
}

static bool is_of_servers(const struct path *p, const char *key)
{
        static const char *const mine[] = { "labels", "annotations" };

        if (text_equal(p->text, ""))
                return text_equal(key, "status");
        if (text_equal(p->text, "/metadata"))
                return !text_equal(key, mine[0]) && !text_equal(key, mine[1]);
        if (!text_equal(p->text, "/metadata/labels") && !text_equal(p->text, "/metadata/annotations"))
                return false;
        return strstr(key, "kubernetes.io/") || strstr(key, "k8s.io/") || strstr(key, "kubernetes-fleet.io/");
}

static bool is_empty(const json_t *v)
{
        return json_is_object(v) && json_object_size(v) == 0;
}

static void walk(const struct path *p, const json_t *wanted, const json_t *live, struct model_difference *d);

static void walk_object(const struct path *p, const json_t *wanted, const json_t *live,
                        struct model_difference *d)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)wanted, key, value) {
                struct path at = below(p, key);

                if (!is_of_servers(p, key))
                        walk(&at, value, json_object_get(live, key), d);
        }
        json_object_foreach((json_t *)live, key, value) {
                struct path at = below(p, key);

                if (json_object_get(wanted, key) || is_of_servers(p, key) || is_empty(value))
                        continue;
                if (text_equal(p->text, "/metadata")) /* all of them may be Kubernetes' own */
                        walk_object(&at, NULL, value, d);
                else
                        note(&d->more, d->extra, &at);
        }
}

static void walk_array(const struct path *p, const json_t *wanted, const json_t *live,
                       struct model_difference *d)
{
        if (json_array_size(wanted) != json_array_size(live)) {
                note(&d->differs, d->path, p);
                return;
        }
        for (size_t i = 0; i < json_array_size(wanted); i++) {
                struct path at;
                char index[24];

                snprintf(index, sizeof(index), "%zu", i);
                at = below(p, index);
                walk(&at, json_array_get(wanted, i), json_array_get(live, i), d);
        }
}

static void walk(const struct path *p, const json_t *wanted, const json_t *live, struct model_difference *d)
{
        if (json_is_object(wanted) && json_is_object(live))
                walk_object(p, wanted, live, d);
        else if (json_is_array(wanted) && json_is_array(live))
                walk_array(p, wanted, live, d);
        else if (!live || !doc_equal(wanted, live))
                note(&d->differs, d->path, p);
}

void model_differ(const json_t *wanted, const json_t *live, struct model_difference *ret)
{
        *ret = (struct model_difference){ .differs = false };
        walk(&(struct path){ "" }, wanted, live, ret);
}
