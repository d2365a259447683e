/* The ResourceSets and providers that users have asked for, as objects, and what they are to make:
 * spec/resource-set.md 2, 3, 5, 17. */
#include "e2e/simulation/wish_table.h"

#include "common/base/memory.h"
#include "proto/names.h"

#define API GROUP_FLUX "/v1"
#define POOL "pool"
#define SOURCE_EVERY "15s"
#define STATIC_EVERY "1h"
#define SOURCE_TIMEOUT "5s"
#define TABLE_TIMEOUT "60s"
#define LEAVES_OUT "<< if eq inputs.%s \"a\" >>" FLUX_DISABLED "<< else >>" FLUX_ENABLED "<< end >>"

const struct kube_resource wish_table_resource = { GROUP_FLUX, "v1", "resourcesets", "ResourceSet", true };
const struct kube_resource wish_source_resource = { GROUP_FLUX, "v1", "resourcesetinputproviders",
                                                    "ResourceSetInputProvider", true };

/* ---- names ---- */

bool wish_table_is_placed(unsigned table)
{
        return table < WISH_PLACED_TABLES;
}

bool wish_source_is_static(unsigned source)
{
        return source < WISH_STATIC_SOURCES;
}

const char *wish_table_name(unsigned table, char ret[WISH_TABLE_NAME])
{
        snprintf(ret, WISH_TABLE_NAME, "table-%u", table);
        return ret;
}

const char *wish_source_name(unsigned source, char ret[WISH_TABLE_NAME])
{
        snprintf(ret, WISH_TABLE_NAME, "source-%u", source);
        return ret;
}

const char *wish_service_authority(unsigned source, char ret[WISH_TABLE_NAME])
{
        snprintf(ret, WISH_TABLE_NAME, "source-%u.inputs.test", source);
        return ret;
}

static bool is_pair(unsigned made)
{
        return made >= WISH_TENANTS;
}

static unsigned tenant_of(unsigned made)
{
        return is_pair(made) ? (made - WISH_TENANTS) / WISH_TENANTS : made;
}

static unsigned with_of(unsigned made)
{
        return is_pair(made) ? (made - WISH_TENANTS) % WISH_TENANTS : WISH_TENANTS;
}

const char *wish_made_name(unsigned table, unsigned made, char ret[WISH_TABLE_NAME])
{
        snprintf(ret, WISH_TABLE_NAME, is_pair(made) ? "t%u-%c-%c" : "t%u-%c", table,
                 'a' + (int)tenant_of(made), 'a' + (int)with_of(made));
        return ret;
}

bool wish_made_of(const char *name, unsigned *ret_table, unsigned *ret_made)
{
        char text[WISH_TABLE_NAME];

        for (*ret_table = 0; *ret_table < WISH_TABLES; ++*ret_table)
                for (*ret_made = 0; *ret_made < WISH_MADE; ++*ret_made)
                        if (text_equal(name, wish_made_name(*ret_table, *ret_made, text)))
                                return true;
        return false;
}

const struct kube_resource *wish_part_resource(enum wish_part part)
{
        static const struct kube_resource parts[WISH_PARTS] = {
                [PART_SETTINGS] = { "", "v1", "configmaps", "ConfigMap", true },
                [PART_NAMESPACE] = { "", "v1", "namespaces", "Namespace", false },
                [PART_PLACEMENT] = { GROUP_PLACEMENT, "v1beta1", "clusterresourceplacements",
                                     "ClusterResourcePlacement", false },
        };

        return &parts[part];
}

unsigned wish_table_parts(unsigned table)
{
        return wish_table_is_placed(table) ? WISH_PARTS : 1;
}

const char *wish_part_place(unsigned table, unsigned made, enum wish_part part,
                            char ret_name[WISH_TABLE_NAME], char ret_ns[WISH_TABLE_NAME])
{
        bool settings = part == PART_SETTINGS && wish_table_is_placed(table);

        wish_made_name(table, made, ret_ns);
        snprintf(ret_name, WISH_TABLE_NAME, "%s", settings ? "settings" : ret_ns);
        if (part != PART_SETTINGS)
                return NULL;
        if (!settings)
                snprintf(ret_ns, WISH_TABLE_NAME, WISH_DESK);
        return ret_ns;
}

void wish_part_id(unsigned table, unsigned made, enum wish_part part, char ret[128])
{
        const struct kube_resource *r = wish_part_resource(part);
        char name[WISH_TABLE_NAME], ns[WISH_TABLE_NAME];
        const char *home = wish_part_place(table, made, part, name, ns);

        snprintf(ret, 128, "%s_%s_%s_%s", home ? home : "", name, r->group, r->kind);
}

/* ---- what a table makes ---- */

bool wish_table_takes(const struct wish_desk *d, unsigned table, unsigned source)
{
        const struct wish_source *s = &d->sources[source];
        const struct wish_table *t = &d->tables[table];

        return s->exists && ((t->named >> source & 1) || (t->pool && s->pooled));
}

static unsigned named_source(const struct wish_table *t)
{
        return t->named ? (unsigned)__builtin_ctz(t->named) : 0;
}

static bool is_empty(const struct wish_inputs *in)
{
        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (in->color[i])
                        return false;
        return true;
}

static void make(const struct wish_table *t, struct wish_made *m, unsigned made, unsigned color,
                 unsigned other)
{
        m->wanted = !(t->leaves_out && tenant_of(made) == 0);
        if (other)
                snprintf(m->color, sizeof(m->color), "c%u-%u", color, other);
        else
                snprintf(m->color, sizeof(m->color), "c%u", color);
}

/* Of two inputs of one tenant the first makes the object. */
static void make_flat(const struct wish_table *t, const struct wish_inputs *in,
                      struct wish_made ret[WISH_MADE])
{
        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (in->color[i] && !ret[i].color[0])
                        make(t, &ret[i], i, in->color[i], 0);
}

void wish_table_makes(const struct wish_desk *d, unsigned table,
                      const struct wish_inputs exports[WISH_SOURCES], struct wish_made ret[WISH_MADE])
{
        const struct wish_table *t = &d->tables[table];
        const struct wish_inputs *by = &exports[named_source(t)];

        for (unsigned i = 0; i < WISH_MADE; i++)
                ret[i] = (struct wish_made){ .tenant = tenant_of(i), .with = with_of(i) };
        if (t->permutes) {
                for (unsigned i = WISH_TENANTS; i < WISH_MADE; i++)
                        if (t->own.color[tenant_of(i)] && by->color[with_of(i)])
                                make(t, &ret[i], i, t->own.color[tenant_of(i)], by->color[with_of(i)]);
                return;
        }
        make_flat(t, &t->own, ret);
        for (unsigned i = 0; i < WISH_SOURCES; i++)
                if (wish_table_takes(d, table, i))
                        make_flat(t, &exports[i], ret);
}

/* Without any inputs it is filled in once, and names what is not there. */
bool wish_table_is_broken(const struct wish_desk *d, unsigned table,
                          const struct wish_inputs exports[WISH_SOURCES])
{
        const struct wish_table *t = &d->tables[table];
        bool any = !is_empty(&t->own);

        if (!any && !t->named && !t->pool)
                return true;
        if (t->permutes)
                return t->spoiled && any && !is_empty(&exports[named_source(t)]);
        for (unsigned i = 0; i < WISH_SOURCES; i++)
                any = any || (wish_table_takes(d, table, i) && !is_empty(&exports[i]));
        return t->spoiled && any;
}

bool wish_source_exports(const json_t *doc, struct wish_inputs *ret)
{
        json_t *set;
        size_t i;

        *ret = (struct wish_inputs){ 0 };
        if (!doc || text_empty(doc_get_string(doc, "status.lastExportedRevision")))
                return false;
        json_array_foreach(doc_get_array(doc, "status.exportedInputs"), i, set) {
                const char *tenant = doc_get_string(set, "tenant"), *color = doc_get_string(set, "color");
                uint64_t n;

                if (!tenant || tenant[0] < 'a' || tenant[0] >= 'a' + WISH_TENANTS || tenant[1] || !color ||
                    !text_parse_u64(color, &n) || n == 0 || ret->color[tenant[0] - 'a'])
                        return false;
                ret->color[tenant[0] - 'a'] = (unsigned)n;
        }
        return true;
}

/* ---- tables as objects ---- */

/* Where the inputs of a tenant are, and what is made of them. */
struct template
{
        const struct wish_table *t;
        unsigned table;
        char tenant[64], name[160], color[160], leaves_out[160];
};

static struct template template_of(const struct wish_desk *d, unsigned table)
{
        const struct wish_table *t = &d->tables[table];
        struct template to = { .t = t, .table = table };
        unsigned with = named_source(t);

        if (t->permutes) {
                snprintf(to.tenant, sizeof(to.tenant), "table_%u.tenant", table);
                snprintf(to.name, sizeof(to.name),
                         "t%u-<< inputs.table_%u.tenant >>-<< inputs.source_%u.tenant >>", table, table,
                         with);
                snprintf(to.color, sizeof(to.color),
                         "c<< inputs.table_%u.color >>-<< inputs.source_%u.color >>", table, with);
        } else {
                snprintf(to.tenant, sizeof(to.tenant), "tenant");
                snprintf(to.name, sizeof(to.name), "t%u-<< inputs.tenant >>", table);
                snprintf(to.color, sizeof(to.color), "c<< inputs.color >>");
        }
        snprintf(to.leaves_out, sizeof(to.leaves_out), LEAVES_OUT, to.tenant);
        return to;
}

static json_t *metadata(const struct template *to, const char *name, const char *ns, bool copies)
{
        return json_pack("{s:s, s:s*, s:{s:s*, s:s*}}", "name", name, "namespace", ns, "annotations",
                         ANNOTATION_FLUX_RECONCILE, to->t->leaves_out ? to->leaves_out : NULL,
                         ANNOTATION_FLUX_COPY_FROM, copies ? WISH_DESK "/" WISH_ORIGINAL : NULL);
}

static json_t *settings(const struct template *to)
{
        bool placed = wish_table_is_placed(to->table);
        json_t *doc = json_pack(
                "{s:s, s:s, s:o, s:{s:s, s:s*}}", "apiVersion", "v1", "kind", "ConfigMap", "metadata",
                metadata(to, placed ? "settings" : to->name, placed ? to->name : WISH_DESK, to->t->copies),
                "data", "color", to->color, "spoilt", to->t->spoiled ? "<< inputs.nobody >>" : NULL);

        if (doc && to->t->sealed)
                json_object_set_new(doc, "immutable", json_true());
        return doc;
}

static json_t *home(const struct template *to)
{
        return json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                         metadata(to, to->name, NULL, false));
}

static json_t *placement(const struct template *to)
{
        return json_pack("{s:s, s:s, s:o, s:{s:[{s:s, s:s, s:s, s:s}], s:{s:s, s:[{s:s, s:s}]}}}",
                         "apiVersion", GROUP_PLACEMENT "/v1beta1", "kind", "ClusterResourcePlacement",
                         "metadata", metadata(to, to->name, NULL, false), "spec", "resourceSelectors",
                         "group", "", "version", "v1", "kind", "Namespace", "name", to->name, "policy",
                         "placementType", "PickAll", "tolerations", "key", "play", "operator", "Exists");
}

/* The placement before its namespace: what comes first is decided by the kinds. */
static json_t *resources(const struct template *to)
{
        return wish_table_is_placed(to->table) ? json_pack("[o, o, o]", placement(to), settings(to), home(to))
                                               : json_pack("[o]", settings(to));
}

static json_t *as_text(json_t *list)
{
        AUTO_JSON json_t *owned = list;
        AUTO_BUF struct buf b;
        json_t *doc;
        size_t i;

        buf_init(&b, 1u << 20);
        json_array_foreach(owned, i, doc) {
                buf_append_str(&b, "---\n");
                if (yaml_write_unfolded(doc, &b) < 0)
                        return NULL;
        }
        return b.data ? json_stringn(b.data, b.len) : NULL;
}

static json_t *inputs_doc(const struct wish_inputs *in, bool with_id)
{
        json_t *list = json_array();

        for (unsigned i = 0; i < WISH_TENANTS; i++) {
                char tenant[2] = { (char)('a' + i), '\0' }, color[16];

                snprintf(color, sizeof(color), "%u", in->color[i]);
                if (in->color[i])
                        json_array_append_new(list,
                                              json_pack("{s:s*, s:s, s:s}", "id", with_id ? tenant : NULL,
                                                        "tenant", tenant, "color", color));
        }
        return list;
}

static json_t *inputs_from(const struct wish_table *t)
{
        char name[WISH_TABLE_NAME];
        json_t *list;

        if (!t->named && !t->pool)
                return NULL;
        list = json_array();
        for (unsigned i = WISH_SOURCES; i-- > 0;)
                if (t->named >> i & 1)
                        json_array_append_new(list, json_pack("{s:s}", "name", wish_source_name(i, name)));
        if (t->pool)
                json_array_append_new(list,
                                      json_pack("{s:{s:{s:s}}}", "selector", "matchLabels", POOL, "yes"));
        return list;
}

static json_t *common_metadata(const struct wish_table *t)
{
        char mark[16];

        snprintf(mark, sizeof(mark), "m%u", t->mark);
        return json_pack("{s:{s:s*}, s:{s:s*}}", "labels", "mark", t->mark ? mark : NULL, "annotations",
                         ANNOTATION_FLUX_PRUNE, t->kept ? FLUX_DISABLED : NULL);
}

static json_t *depends_on(const struct wish_table *t)
{
        char name[WISH_TABLE_NAME];

        return t->after ? json_pack("[{s:s, s:s, s:s, s:b}]", "apiVersion", API, "kind", "ResourceSet",
                                    "name", wish_table_name(t->after - 1, name), "ready", 1)
                        : NULL;
}

static json_t *annotations(bool suspended, bool forced, unsigned requests, const char *every,
                           const char *timeout)
{
        char number[16];

        snprintf(number, sizeof(number), "%u", requests);
        return json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*}", ANNOTATION_FLUX_RECONCILE,
                         suspended ? FLUX_DISABLED : NULL, ANNOTATION_FLUX_FORCE,
                         forced ? FLUX_ENABLED : NULL, ANNOTATION_FLUX_REQUESTED, requests ? number : NULL,
                         ANNOTATION_FLUX_EVERY, every, ANNOTATION_FLUX_TIMEOUT, timeout);
}

json_t *wish_table_doc(const struct wish_desk *d, unsigned table)
{
        const struct wish_table *t = &d->tables[table];
        const struct template to = template_of(d, table);
        char name[WISH_TABLE_NAME];

        return json_pack("{s:s, s:s, s:{s:s, s:s, s:o}, s:{s:o, s:o*, s:o*, s:o*, s:o*, s:o*, s:o, s:b}}",
                         "apiVersion", API, "kind", "ResourceSet", "metadata", "name",
                         wish_table_name(table, name), "namespace", WISH_DESK, "annotations",
                         annotations(t->suspended, t->forced, t->requests, NULL, TABLE_TIMEOUT), "spec",
                         "inputs", inputs_doc(&t->own, false), "inputsFrom", inputs_from(t), "inputStrategy",
                         t->permutes ? json_pack("{s:s, s:b}", "name", "Permute", "includeEmptyProviders", 1)
                                     : NULL,
                         "resources", t->written ? NULL : resources(&to), "resourcesTemplate",
                         t->written ? as_text(resources(&to)) : NULL, "dependsOn", depends_on(t),
                         "commonMetadata", common_metadata(t), "wait", t->waits);
}

/* ---- the rest ---- */

static json_t *default_values(const struct wish_inputs *in)
{
        AUTO_JSON json_t *all = inputs_doc(in, false);

        return json_incref(json_array_get(all, 0));
}

json_t *wish_source_doc(const struct wish_desk *d, unsigned source)
{
        const struct wish_source *s = &d->sources[source];
        bool is_static = wish_source_is_static(source);
        char name[WISH_TABLE_NAME], authority[WISH_TABLE_NAME], url[64];

        snprintf(url, sizeof(url), "https://%s/inputs", wish_service_authority(source, authority));
        return json_pack(
                "{s:s, s:s, s:{s:s, s:s, s:{s:s*}, s:o}, s:{s:s, s:s*, s:o*}}", "apiVersion", API, "kind",
                "ResourceSetInputProvider", "metadata", "name", wish_source_name(source, name), "namespace",
                WISH_DESK, "labels", POOL, s->pooled ? "yes" : NULL, "annotations",
                annotations(s->suspended, false, s->requests, is_static ? STATIC_EVERY : SOURCE_EVERY,
                            SOURCE_TIMEOUT),
                "spec", "type", is_static ? "Static" : "ExternalService", "url", is_static ? NULL : url,
                "defaultValues", is_static ? default_values(&s->inputs) : NULL);
}

json_t *wish_original_doc(unsigned color)
{
        char text[16];

        snprintf(text, sizeof(text), "o%u", color);
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "apiVersion", "v1", "kind",
                         "ConfigMap", "metadata", "name", WISH_ORIGINAL, "namespace", WISH_DESK, "labels",
                         "reconcile.fluxcd.io/watch", "Enabled", "data", "color", text);
}

/* With the labels of what the table makes, and yet none of it. */
json_t *wish_neighbour_doc(unsigned table, bool labelled)
{
        char name[WISH_TABLE_NAME], of[WISH_TABLE_NAME];

        snprintf(name, sizeof(name), "t%u-%c", table, labelled ? 'y' : 'x');
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s*, s:s*}}, s:{s:s}}", "apiVersion", "v1", "kind",
                         "ConfigMap", "metadata", "name", name, "namespace", WISH_DESK, "labels",
                         LABEL_SET_NAME, labelled ? wish_table_name(table, of) : NULL, LABEL_SET_NAMESPACE,
                         labelled ? WISH_DESK : NULL, "data", "color", "nobody's");
}

json_t *wish_service_answer(const struct wish_inputs *inputs)
{
        return json_pack("{s:o}", "inputs", inputs_doc(inputs, true));
}
