#include "e2e/simulation/wish.h"

#include "common/base/memory.h"

#define BIG_BYTES ((size_t)450 << 10)
#define COLOR_ANNOTATION "color"
#define LABEL_PICK "pick"
#define PACKED_KEY "packed.yaml"

/* ---- resources ---- */

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource deployments = { "apps", "v1", "deployments", "Deployment", true };
static const struct kube_resource jobs = { "batch", "v1", "jobs", "Job", true };
static const struct kube_resource bundles = { "placement.kubernetes-fleet.io", "v1beta1", "resourceenvelopes",
                                              "ResourceEnvelope", true };
static const struct kube_resource cluster_bundles = { "placement.kubernetes-fleet.io", "v1beta1",
                                                      "clusterresourceenvelopes", "ClusterResourceEnvelope",
                                                      false };
static const struct kube_resource roles = { "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole",
                                            false };
static const struct kube_resource definitions = { "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                  "CustomResourceDefinition", false };
static const struct kube_resource widgets[WISH_APPS] = {
        { "app-0.play.test", "v1", "widgets", "Widget", true },
        { "app-1.play.test", "v1", "widgets", "Widget", true },
        { "app-2.play.test", "v1", "widgets", "Widget", true },
        { "app-3.play.test", "v1", "widgets", "Widget", true },
        { "app-4.play.test", "v1", "widgets", "Widget", true },
};

/* ---- slots ---- */

/* How an object of a slot is written and where its color stands. */
struct shape {
        const struct kube_resource *resource; /* NULL: widgets[app] */
        const char *object_name;              /* a format: of the slot's number in its row, or of the app */
        unsigned first;                       /* the first slot of the row */
        bool names_app;                       /* the format is of the app */
        json_t *(*content)(unsigned app, unsigned slot, unsigned color);
        const char *color_path; /* where the color stands in the object as members have it */
};

static json_t *text_of(unsigned color)
{
        char text[16];

        snprintf(text, sizeof(text), "%u", color);
        return json_string(text);
}

static json_t *settings_content(unsigned app, unsigned slot, unsigned color)
{
        return json_pack("{s:{s:o}}", "data", "color", text_of(color));
}

static json_t *big_content(unsigned app, unsigned slot, unsigned color)
{
        AUTO_FREE char *fill = mem_alloc(BIG_BYTES);

        if (!fill)
                return NULL;
        memset(fill, 'a' + (int)(slot - SLOT_BIG), BIG_BYTES);
        return json_pack("{s:{s:o, s:s%}}", "data", "color", text_of(color), "fill", fill, BIG_BYTES);
}

static json_t *pod_template(const char *app_label, unsigned color)
{
        return json_pack("{s:{s:{s:s}, s:{s:o}}, s:{s:[{s:s, s:s}]}}", "metadata", "labels", "run", app_label,
                         "annotations", COLOR_ANNOTATION, text_of(color), "spec", "containers", "name",
                         "main", "image", "registry.test/main:1");
}

static json_t *web_content(unsigned app, unsigned slot, unsigned color)
{
        return json_pack("{s:{s:i, s:{s:{s:s}}, s:o}}", "spec", "replicas", 1, "selector", "matchLabels",
                         "run", "web", "template", pod_template("web", color));
}

static json_t *job_content(unsigned app, unsigned slot, unsigned color)
{
        json_t *template = pod_template("once", color);

        if (doc_set_string(template, "spec.restartPolicy", "Never") < 0) {
                json_decref(template);
                return NULL;
        }
        return json_pack("{s:{s:o}}", "spec", "template", template);
}

static json_t *widget_content(unsigned app, unsigned slot, unsigned color)
{
        return json_pack("{s:{s:o}}", "spec", "color", text_of(color));
}

static json_t *role_content(unsigned app, unsigned slot, unsigned color)
{
        return json_pack("{s:[{s:[s], s:[s], s:[o], s:[s]}]}", "rules", "apiGroups", "", "resources",
                         "configmaps", "resourceNames", text_of(color), "verbs", "get");
}

static json_t *definition_content(unsigned app, unsigned slot, unsigned color)
{
        json_t *schema = json_pack("{s:s, s:{s:{s:s, s:{s:{s:s}}}}}", "type", "object", "properties", "spec",
                                   "type", "object", "properties", "color", "type", "string");

        return json_pack("{s:{s:{s:o}}, s:{s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:[{s:s, s:b, s:b, s:{s:o}}]}}",
                         "metadata", "annotations", COLOR_ANNOTATION, text_of(color), "spec", "group",
                         widgets[app].group, "scope", "Namespaced", "names", "plural", "widgets", "singular",
                         "widget", "kind", "Widget", "listKind", "WidgetList", "versions", "name", "v1",
                         "served", true, "storage", true, "schema", "openAPIV3Schema", schema);
}

const struct wish_slot_kind wish_slots[WISH_SLOTS] = {
        /* name, in a namespace, an envelope, trackable, may change */
        [SLOT_SETTINGS] = { "settings", true, false, true, true },
        [SLOT_EXTRA] = { "extra", true, false, true, true },
        [SLOT_EXTRA + 1] = { "extra", true, false, true, true },
        [SLOT_EXTRA + 2] = { "extra", true, false, true, true },
        [SLOT_EXTRA + 3] = { "extra", true, false, true, true },
        [SLOT_BIG] = { "big", true, false, true, true },
        [SLOT_BIG + 1] = { "big", true, false, true, true },
        [SLOT_WEB] = { "web", true, false, true, true },
        [SLOT_JOB] = { "job", true, false, false, false },
        [SLOT_BUNDLE] = { "bundle", true, true, true, true },
        [SLOT_WIDGET] = { "widget", true, false, false, true },
        [SLOT_ROLE] = { "role", false, false, true, true },
        [SLOT_CLUSTER_BUNDLE] = { "cluster-bundle", false, true, true, true },
        [SLOT_DEFINITION] = { "definition", false, false, true, true },
};

#define EXTRA(i)                                                                                             \
        [SLOT_EXTRA + (i)] = { &config_maps, "extra-%u", SLOT_EXTRA, false, settings_content, "data.color" }
#define BIG(i) [SLOT_BIG + (i)] = { &config_maps, "big-%u", SLOT_BIG, false, big_content, "data.color" }

static const struct shape shapes[WISH_SLOTS] = {
        [SLOT_SETTINGS] = { &config_maps, "settings", SLOT_SETTINGS, false, settings_content, "data.color" },
        EXTRA(0),
        EXTRA(1),
        EXTRA(2),
        EXTRA(3),
        BIG(0),
        BIG(1),
        [SLOT_WEB] = { &deployments, "web", SLOT_WEB, false, web_content,
                       "spec.template.metadata.annotations.color" },
        [SLOT_JOB] = { &jobs, "once", SLOT_JOB, false, job_content,
                       "spec.template.metadata.annotations.color" },
        [SLOT_BUNDLE] = { &config_maps, "packed", SLOT_BUNDLE, false, settings_content, "data.color" },
        [SLOT_WIDGET] = { NULL, "thing", SLOT_WIDGET, false, widget_content, "spec.color" },
        [SLOT_ROLE] = { &roles, "app-%u", SLOT_ROLE, true, role_content, NULL },
        [SLOT_CLUSTER_BUNDLE] = { &roles, "packed-%u", SLOT_CLUSTER_BUNDLE, true, role_content, NULL },
        [SLOT_DEFINITION] = { &definitions, "widgets.app-%u.play.test", SLOT_DEFINITION, true,
                              definition_content, "metadata.annotations.color" },
};

/* ---- names ---- */

const char *wish_app_name(unsigned app)
{
        static const char *const names[WISH_APPS] = { "app-0", "app-1", "app-2", "app-3", "app-4" };

        return names[app];
}

const struct kube_resource *wish_placed_resource(unsigned app, unsigned slot)
{
        return shapes[slot].resource ? shapes[slot].resource : &widgets[app];
}

void wish_placed_name(unsigned app, unsigned slot, char ret[64])
{
        const struct shape *s = &shapes[slot];

        snprintf(ret, 64, s->object_name, s->names_app ? app : slot - s->first);
}

const struct kube_resource *wish_resource(unsigned app, unsigned slot)
{
        if (!wish_slots[slot].is_envelope)
                return wish_placed_resource(app, slot);
        return wish_slots[slot].in_namespace ? &bundles : &cluster_bundles;
}

void wish_object_name(unsigned app, unsigned slot, char ret[64])
{
        if (!wish_slots[slot].is_envelope)
                wish_placed_name(app, slot, ret);
        else
                snprintf(ret, 64, wish_slots[slot].in_namespace ? "bundle" : "app-%u", app);
}

/* ---- objects ---- */

/* With a label in any case, so that overrides have a place to add theirs. */
static int set_metadata(json_t *doc, const struct kube_resource *r, unsigned app, const char *name,
                        bool labelled)
{
        char api[96];

        snprintf(api, sizeof(api), "%s%s%s", r->group, *r->group ? "/" : "", r->version);
        if (doc_set_string(doc, "apiVersion", api) < 0 || doc_set_string(doc, "kind", r->kind) < 0 ||
            doc_set_string(doc, "metadata.name", name) < 0 ||
            doc_set_string(doc, "metadata.labels.app", wish_app_name(app)) < 0)
                return ERR_NO_MEMORY;
        if (labelled && doc_set_string(doc, "metadata.labels." LABEL_PICK, "yes") < 0)
                return ERR_NO_MEMORY;
        return r->namespaced ? doc_set_string(doc, "metadata.namespace", wish_app_name(app)) : 0;
}

json_t *wish_placed(const struct wish *w, unsigned app, unsigned slot)
{
        return wish_placed_as(app, slot, &w->apps[app].objects[slot]);
}

json_t *wish_placed_as(unsigned app, unsigned slot, const struct wish_object *o)
{
        json_t *doc = shapes[slot].content(app, slot, o->color);
        char name[64];

        wish_placed_name(app, slot, name);
        if (doc && set_metadata(doc, wish_placed_resource(app, slot), app, name,
                                o->labelled && !wish_slots[slot].is_envelope) == 0)
                return doc;
        json_decref(doc);
        return NULL;
}

json_t *wish_manifest(const struct wish *w, unsigned app, unsigned slot)
{
        json_t *doc = wish_placed(w, app, slot);
        char name[64];

        if (!wish_slots[slot].is_envelope || !doc)
                return doc;
        wish_object_name(app, slot, name);
        doc = json_pack("{s:{s:o}}", "data", PACKED_KEY, doc);
        if (doc &&
            set_metadata(doc, wish_resource(app, slot), app, name, w->apps[app].objects[slot].labelled) == 0)
                return doc;
        json_decref(doc);
        return NULL;
}

/* A ClusterRole's: the name its rule is about. */
static const char *role_color(const json_t *role)
{
        const json_t *rule = json_array_get(doc_get_array(role, "rules"), 0);

        return json_string_value(json_array_get(doc_get_array(rule, "resourceNames"), 0));
}

bool wish_color(unsigned slot, const json_t *doc, unsigned *ret)
{
        static const char *const packed[] = { "data", PACKED_KEY };
        const char *kind = doc_get_string(doc, "kind"), *text;
        uint64_t color;

        if (wish_slots[slot].is_envelope && kind && text_ends_with(kind, "Envelope"))
                doc = doc_get_keys(doc, packed, ARRAY_LEN(packed));
        text = shapes[slot].color_path ? doc_get_string(doc, shapes[slot].color_path) : role_color(doc);
        if (!text || !text_parse_u64(text, &color) || color > UINT32_MAX)
                return false;
        *ret = (unsigned)color;
        return true;
}

/* ---- clusters ---- */

void wish_clear(struct wish *w)
{
        for (size_t i = 0; i < ARRAY_LEN(w->members); i++)
                vec_free(&w->members[i].before);
        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                        vec_free(&w->apps[app].asked[slot]);
        for (size_t i = 0; i < WISH_SOURCES; i++)
                vec_free(&w->desk.sources[i].given);
        for (size_t i = 0; i < WISH_REPOSITORIES; i++)
                vec_free(&w->shelf.repositories[i].past);
        *w = (struct wish){ 0 };
}

int wish_member_set(struct wish *w, unsigned member, const struct wish_member_state *now, int64_t at_ms)
{
        struct wish_member *m = &w->members[member];
        struct wish_member_was was = { .until_ms = at_ms, .state = m->now };

        if (vec_push(&m->before, was) < 0)
                return ERR_NO_MEMORY;
        m->now = *now;
        return 0;
}

/* ---- the past ---- */

int wish_ask(struct wish *w, unsigned app, unsigned slot, int64_t at_ms)
{
        struct wish_asked asked = { .color = w->apps[app].objects[slot].color, .at_ms = at_ms };

        return vec_push(&w->apps[app].asked[slot], asked) < 0 ? ERR_NO_MEMORY : 0;
}

bool wish_was_asked(const struct wish *w, unsigned app, unsigned slot, unsigned color, int64_t until_ms)
{
        const struct wish_app *a = &w->apps[app];

        for (size_t i = 0; i < a->asked[slot].n; i++)
                if (a->asked[slot].at[i].color == color && a->asked[slot].at[i].at_ms <= until_ms)
                        return true;
        return false;
}
