/* The ClusterObjectSets that users have asked for, as objects: spec/cluster-object-set.md 1, 6. */
#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "e2e/simulation/wish.h"

#define LABEL_OWNER "olm.operatorframework.io/owner-name"
#define LABEL_ASKED "asked"

const struct kube_resource wish_set_resource = { "olm.operatorframework.io", "v1", "clusterobjectsets",
                                                 "ClusterObjectSet", false };

/* ---- names ---- */

const char *wish_ship_name(unsigned ship, char ret[WISH_SHIP_NAME])
{
        snprintf(ret, WISH_SHIP_NAME, "ship-%u", ship);
        return ret;
}

const char *wish_set_name(unsigned ship, unsigned revision, char ret[WISH_SHIP_NAME])
{
        snprintf(ret, WISH_SHIP_NAME, "ship-%u-r%u", ship, revision + 1);
        return ret;
}

const char *wish_cargo_name(unsigned ship, unsigned cargo, char ret[WISH_SHIP_NAME])
{
        snprintf(ret, WISH_SHIP_NAME, "ship-%u-%c", ship, 'a' + (int)cargo);
        return ret;
}

/* "ship-0-": *ret_rest is what follows. */
static bool is_of_ship(const char *name, unsigned *ret_ship, const char **ret_rest)
{
        if (!name || !text_starts_with(name, "ship-") || name[5] < '0' || name[5] >= '0' + WISH_SHIPS ||
            name[6] != '-')
                return false;
        *ret_ship = (unsigned)(name[5] - '0');
        *ret_rest = name + 7;
        return true;
}

bool wish_set_of(const char *name, unsigned *ret_ship, unsigned *ret_revision)
{
        uint64_t revision;
        const char *rest;

        if (!is_of_ship(name, ret_ship, &rest) || *rest != 'r' || !text_parse_u64(rest + 1, &revision) ||
            revision < 1 || revision > WISH_REVISIONS)
                return false;
        *ret_revision = (unsigned)revision - 1;
        return true;
}

bool wish_cargo_of(const char *name, unsigned *ret_ship, unsigned *ret_cargo)
{
        const char *rest;

        if (!is_of_ship(name, ret_ship, &rest) || rest[0] < 'a' || rest[0] >= 'a' + WISH_CARGO || rest[1])
                return false;
        *ret_cargo = (unsigned)(rest[0] - 'a');
        return true;
}

/* ---- cargo ---- */

unsigned wish_cargo_slot(unsigned cargo)
{
        return cargo == CARGO_CREW ? SLOT_WEB : cargo == CARGO_ROLE ? SLOT_ROLE : SLOT_SETTINGS;
}

const struct kube_resource *wish_cargo_resource(unsigned cargo)
{
        return wish_placed_resource(0, wish_cargo_slot(cargo));
}

const char *wish_cargo_home(unsigned cargo)
{
        return wish_cargo_resource(cargo)->namespaced ? WISH_HARBOR : NULL;
}

bool wish_cargo_color(unsigned cargo, const json_t *doc, unsigned *ret)
{
        return wish_color(wish_cargo_slot(cargo), doc, ret);
}

json_t *wish_stray_doc(unsigned ship, unsigned cargo, unsigned color)
{
        const struct wish_object o = { .exists = true, .color = color };
        json_t *doc = wish_placed_as(0, wish_cargo_slot(cargo), &o);
        char name[WISH_SHIP_NAME], of[WISH_SHIP_NAME];

        if (doc && doc_set_string(doc, "metadata.name", wish_cargo_name(ship, cargo, name)) == 0 &&
            doc_set_string(doc, "metadata.labels.app", wish_ship_name(ship, of)) == 0 &&
            (!wish_cargo_home(cargo) || doc_set_string(doc, "metadata.namespace", WISH_HARBOR) == 0))
                return doc;
        json_decref(doc);
        return NULL;
}

json_t *wish_cargo_doc(const struct wish_set *s, unsigned ship, unsigned cargo)
{
        const struct wish_item *item = &s->items[cargo];
        json_t *doc = wish_stray_doc(ship, cargo, item->color);
        int code = doc ? 0 : ERR_NO_MEMORY;

        if (code == 0 && cargo == CARGO_ASKED)
                code = doc_set_string(doc, "metadata.labels." LABEL_ASKED, "yes");
        if (code == 0 && cargo == CARGO_ASKED)
                code = doc_set_string(doc, "data.ready", s->says_yes ? "yes" : "no");
        if (code == 0 && item->more && wish_cargo_slot(cargo) == SLOT_SETTINGS)
                code = doc_set_string(doc, "data.more", "yes");
        if (code == 0)
                return doc;
        json_decref(doc);
        return NULL;
}

/* ---- sets ---- */

unsigned wish_set_phases(const struct wish_set *s)
{
        unsigned n = 0;

        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (s->items[i].wanted)
                        n = MAX(n, s->items[i].phase + 1);
        return n;
}

enum wish_protection wish_protection_of(const struct wish_set *s, unsigned cargo)
{
        const struct wish_item *item = &s->items[cargo];

        if (item->protection)
                return item->protection;
        return s->phase_protection[item->phase] ? s->phase_protection[item->phase] : s->protection;
}

bool wish_may_adopt(const struct wish_set *s, unsigned cargo, bool has_controller)
{
        enum wish_protection p = wish_protection_of(s, cargo);

        return p == PROTECT_NONE || (p == PROTECT_IF_NO_CONTROLLER && !has_controller);
}

/* NULL: nothing is said. */
static const char *protection_text(enum wish_protection p)
{
        static const char *const texts[] = { NULL, "Prevent", "IfNoController", "None" };

        return texts[p];
}

static json_t *item_doc(const struct wish_set *s, unsigned ship, unsigned revision, unsigned cargo)
{
        const char *protection = protection_text(s->items[cargo].protection);
        char name[WISH_SHIP_NAME], key[2] = { (char)('a' + cargo), '\0' };

        if (s->items[cargo].by_ref)
                return json_pack("{s:{s:s, s:s, s:s}, s:s*}", "ref", "name",
                                 wish_set_name(ship, revision, name), "namespace", WISH_HARBOR, "key", key,
                                 "collisionProtection", protection);
        return json_pack("{s:o, s:s*}", "object", wish_cargo_doc(s, ship, cargo), "collisionProtection",
                         protection);
}

static json_t *phase_doc(const struct wish_set *s, unsigned ship, unsigned revision, unsigned phase)
{
        json_t *objects = json_array();
        char name[16];

        snprintf(name, sizeof(name), "p%u", phase);
        for (unsigned i = 0; objects && i < WISH_CARGO; i++)
                if (s->items[i].wanted && s->items[i].phase == phase &&
                    json_array_append_new(objects, item_doc(s, ship, revision, i)) < 0) {
                        json_decref(objects);
                        return NULL;
                }
        return json_pack("{s:s, s:o, s:s*}", "name", name, "objects", objects, "collisionProtection",
                         protection_text(s->phase_protection[phase]));
}

json_t *wish_set_probes(const struct wish_set *s)
{
        return json_pack("[{s:{s:s, s:{s:{s:s}}}, s:[{s:s, s:{s:s, s:s}}]}]", "selector", "type", "Label",
                         "label", "matchLabels", LABEL_ASKED, "yes", "assertions", "type", "FieldValue",
                         "fieldValue", "fieldPath", "data.ready", "value", s->wants_yes ? "yes" : "no");
}

json_t *wish_set_doc(const struct wish_set *s, unsigned ship, unsigned revision)
{
        json_t *phases = json_array();
        char name[WISH_SHIP_NAME], owner[WISH_SHIP_NAME];

        for (unsigned i = 0; phases && i < wish_set_phases(s); i++)
                if (json_array_append_new(phases, phase_doc(s, ship, revision, i)) < 0) {
                        json_decref(phases);
                        return NULL;
                }
        return json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:i, s:s, s:o, s:o*}}", "apiVersion",
                         "olm.operatorframework.io/v1", "kind", "ClusterObjectSet", "metadata", "name",
                         wish_set_name(ship, revision, name), "labels", LABEL_OWNER,
                         wish_ship_name(ship, owner), "spec", "lifecycleState", "Active", "revision",
                         (int)revision + 1, "collisionProtection", protection_text(s->protection), "phases",
                         phases, "progressionProbes", s->asks ? wish_set_probes(s) : NULL);
}

/* ---- Secrets ---- */

static json_t *packed(const struct wish_set *s, unsigned ship, unsigned cargo)
{
        AUTO_JSON json_t *doc = wish_cargo_doc(s, ship, cargo);
        struct buf plain AUTO_BUF, zipped AUTO_BUF;
        struct slice data;

        buf_init(&plain, 1 << 20);
        buf_init(&zipped, 1 << 20);
        if (!doc || doc_write(doc, &plain) < 0)
                return NULL;
        data = (struct slice){ plain.data, plain.len };
        if (s->zipped && gzip_pack(data, &zipped, NULL) < 0)
                return NULL;
        return doc_base64(s->zipped ? (struct slice){ zipped.data, zipped.len } : data);
}

json_t *wish_set_secret(const struct wish_set *s, unsigned ship, unsigned revision)
{
        json_t *data = json_object();
        char name[WISH_SHIP_NAME];

        for (unsigned i = 0; data && i < WISH_CARGO; i++) {
                char key[2] = { (char)('a' + i), '\0' };

                if (s->items[i].wanted && s->items[i].by_ref &&
                    json_object_set_new(data, key, packed(s, ship, i)) < 0) {
                        json_decref(data);
                        return NULL;
                }
        }
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:b, s:o}", "apiVersion", "v1", "kind", "Secret",
                         "metadata", "name", wish_set_name(ship, revision, name), "namespace", WISH_HARBOR,
                         "immutable", s->secret != SECRET_MUTABLE, "data", data);
}
