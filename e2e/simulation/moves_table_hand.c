/* What users do by hand to what ResourceSets made, to their statuses, and beside them. Who changed something
 * asks the set to look again. */
#include "e2e/simulation/moves_internal.h"
#include "proto/names.h"

/* Something that a table may make, whether it is there or not. */
struct piece {
        unsigned table, made;
        enum wish_part part;
        char name[WISH_TABLE_NAME], ns[WISH_TABLE_NAME];
        bool has_ns;
};

static struct piece piece_of(unsigned table, unsigned made, enum wish_part part)
{
        struct piece pc = { .table = table, .made = made, .part = part };

        pc.has_ns = wish_part_place(table, made, part, pc.name, pc.ns) != NULL;
        return pc;
}

static const char *home_of(const struct piece *pc)
{
        return pc->has_ns ? pc->ns : NULL;
}

static int get_piece(struct player *p, const struct piece *pc, json_t **ret)
{
        struct kube_client *hub;
        struct error err = { 0 };

        TRY(move_client(p, 0, &hub, &err));
        return kube_doc_get(hub, wish_part_resource(pc->part), home_of(pc), pc->name, ret, &err);
}

/* Of a table that is there: something it made, from a random one on. */
static bool find_piece(struct player *p, struct dice *d, struct piece *ret)
{
        unsigned table, first = (unsigned)dice_below(d, WISH_MADE * WISH_PARTS);

        if (!move_find_table(p, d, &table))
                return false;
        for (unsigned i = 0; i < WISH_MADE * WISH_PARTS; i++) {
                unsigned at = (first + i) % (WISH_MADE * WISH_PARTS);
                AUTO_JSON json_t *doc = NULL;

                *ret = piece_of(table, at / WISH_PARTS, at % WISH_PARTS);
                if (ret->part < wish_table_parts(table) && get_piece(p, ret, &doc) == 0)
                        return true;
        }
        return false;
}

/* Noted before it is asked for: the agent may be quicker than the answer. */
static void note_hand(struct player *p, unsigned table)
{
        p->wish->desk.tables[table].drifted = true;
        p->wish->desk.by_hand_ms[table] = move_now(p);
}

static int patch_piece(struct player *p, const struct piece *pc, json_t *patch, struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        struct kube_client *hub;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_patch(hub, wish_part_resource(pc->part), home_of(pc), pc->name, KUBE_PATCH_MERGE,
                              owned, NULL, NULL, err);
}

static int hand_done(struct player *p, const struct piece *pc, const char *what, struct error *err)
{
        p->wish->desk.by_hand_ms[pc->table] = move_now(p);
        NEED(move_request_table(p, pc->table, err));
        return move_done(p, "%s%s%s%s", pc->has_ns ? pc->ns : "", pc->has_ns ? "/" : "", pc->name, what);
}

/* Its content, what it is to select, or whose it is. */
static json_t *spoil(enum wish_part part, bool marks)
{
        if (marks)
                return json_pack("{s:{s:{s:n}}}", "metadata", "labels", LABEL_SET_NAME);
        if (part == PART_SETTINGS)
                return json_pack("{s:{s:s}}", "data", "color", "mine");
        if (part == PART_PLACEMENT)
                return json_pack("{s:{s:{s:n}}}", "spec", "policy", "tolerations");
        return json_pack("{s:{s:{s:s}}}", "metadata", "labels", LABEL_SET_NAMESPACE, "mine");
}

int move_made_edit(struct player *p, struct dice *d, struct error *err)
{
        bool marks = dice_percent(d, 25);
        struct piece pc;
        int code;

        if (!find_piece(p, d, &pc))
                return 0;
        note_hand(p, pc.table);
        if (marks || pc.part == PART_NAMESPACE) /* until it is looked at again it is nobody's */
                p->wish->desk.foreign[pc.table] |= 1u << pc.made;
        code = patch_piece(p, &pc, spoil(pc.part, marks), err);
        if (code < 0)
                return move_refused(p, code, err);
        return hand_done(p, &pc, marks ? " loses its label" : "", err);
}

/* It is nobody's any more, and its input goes: it stays. */
int move_table_disown(struct player *p, struct dice *d, struct error *err)
{
        struct wish_table wanted;
        struct piece pc;
        int code;

        if (!find_piece(p, d, &pc) || pc.made >= WISH_TENANTS ||
            !p->wish->desk.tables[pc.table].own.color[pc.made])
                return 0;
        note_hand(p, pc.table);
        p->wish->desk.foreign[pc.table] |= 1u << pc.made;
        code = patch_piece(p, &pc, spoil(pc.part, true), err);
        if (code < 0)
                return move_refused(p, code, err);
        wanted = p->wish->desk.tables[pc.table];
        wanted.own.color[pc.made] = 0;
        NEED(move_put_table(p, pc.table, &wanted, err));
        return move_done(p, "%s%s%s", pc.has_ns ? pc.ns : "", pc.has_ns ? "/" : "", pc.name);
}

int move_made_delete(struct player *p, struct dice *d, struct error *err)
{
        struct kube_client *hub;
        struct piece pc;
        int code;

        if (!find_piece(p, d, &pc))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        note_hand(p, pc.table);
        code = kube_doc_delete(hub, wish_part_resource(pc.part), home_of(&pc), pc.name, NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        return hand_done(p, &pc, "", err);
}

/* It stays when it is wanted no more. */
int move_made_protect(struct player *p, struct dice *d, struct error *err)
{
        struct piece pc;
        int code;

        if (!find_piece(p, d, &pc))
                return 0;
        note_hand(p, pc.table);
        p->wish->desk.tables[pc.table].may_stay |= 1u << pc.made;
        code = patch_piece(
                p, &pc,
                json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_FLUX_PRUNE, FLUX_DISABLED),
                err);
        if (code < 0)
                return move_refused(p, code, err);
        return hand_done(p, &pc, "", err);
}

/* ---- what is not the tables' ---- */

static int create(struct player *p, const struct kube_resource *r, const char *ns, json_t *doc,
                  struct error *err)
{
        AUTO_JSON json_t *owned = doc;
        struct kube_client *hub;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_create(hub, r, ns, owned, NULL, NULL, err);
}

/* Where a table puts something of one tenant, or would. */
int move_made_foreign(struct player *p, struct dice *d, struct error *err)
{
        unsigned table = (unsigned)dice_below(d, WISH_TABLES), made = (unsigned)dice_below(d, WISH_TENANTS);
        struct piece pc = piece_of(table, made, wish_table_is_placed(table) ? PART_NAMESPACE : PART_SETTINGS);
        const struct kube_resource *r = wish_part_resource(pc.part);
        json_t *doc;
        int code;

        NEED(move_desk(p, err));
        doc = json_pack("{s:s, s:s, s:{s:s, s:s*}}", "apiVersion", "v1", "kind", r->kind, "metadata", "name",
                        pc.name, "namespace", home_of(&pc));
        if (doc && pc.part == PART_SETTINGS)
                json_object_set_new(doc, "data", json_pack("{s:s, s:s}", "color", "mine", "mine", "yes"));
        p->wish->desk.foreign[table] |= 1u << made;
        code = create(p, r, home_of(&pc), doc, err);
        if (code < 0)
                return move_refused(p, code, err);
        return move_done(p, "%s", pc.name);
}

static int put_neighbour(struct player *p, unsigned table, bool labelled, struct error *err)
{
        struct wish_neighbour *n = &p->wish->desk.neighbours[table];
        bool *there = labelled ? &n->labelled : &n->plain;
        int code;

        if (*there)
                return 1;
        NEED(move_desk(p, err));
        code = create(p, wish_part_resource(PART_SETTINGS), WISH_DESK, wish_neighbour_doc(table, labelled),
                      err);
        if (code < 0)
                return move_refused(p, code, err);
        *there = true;
        return 1;
}

int move_made_neighbour(struct player *p, struct dice *d, struct error *err)
{
        unsigned table = (unsigned)dice_below(d, WISH_TABLES);
        bool labelled = dice_percent(d, 50);
        const struct wish_neighbour *n = &p->wish->desk.neighbours[table];

        if (labelled ? n->labelled : n->plain)
                return 0;
        NEED(put_neighbour(p, table, labelled, err));
        return move_done(p, "of table-%u%s", table, labelled ? ", labelled" : "");
}

/* ---- the status ---- */

/* All that it says is gone, and its inventory lists what it did not make. */
static json_t *spoilt_status(const json_t *set, unsigned table)
{
        const json_t *listed = doc_get_array(set, "status.inventory.entries");
        json_t *entries = listed ? doc_copy(listed) : json_array();
        char id[64];

        if (!entries)
                return NULL;
        snprintf(id, sizeof(id), WISH_DESK "_t%u-x__ConfigMap", table);
        json_array_append_new(entries, json_pack("{s:s, s:s}", "id", id, "v", "v1"));
        return json_pack("{s:{s:s}, s:{s:[], s:[], s:s, s:{s:o}}}", "metadata", "resourceVersion",
                         doc_get_string(set, "metadata.resourceVersion"), "status", "conditions", "history",
                         "lastAppliedRevision", "sha256:0", "inventory", "entries", entries);
}

int move_table_status(struct player *p, struct dice *d, struct error *err)
{
        struct kube_write how = { .subresource = "status" };
        AUTO_JSON json_t *doc = NULL;
        AUTO_JSON json_t *patch = NULL;
        char name[WISH_TABLE_NAME];
        struct kube_client *hub;
        unsigned table;
        int code;

        if (!move_find_table(p, d, &table) || p->wish->desk.tables[table].suspended)
                return 0;
        NEED(put_neighbour(p, table, false, err));
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_get(hub, &wish_table_resource, WISH_DESK, wish_table_name(table, name), &doc, err);
        if (code < 0)
                return move_refused(p, code, err);
        patch = spoilt_status(doc, table);
        if (!patch)
                return 0;
        note_hand(p, table);
        code = kube_doc_patch(hub, &wish_table_resource, WISH_DESK, name, KUBE_PATCH_MERGE, patch, &how, NULL,
                              err);
        if (code < 0)
                return move_refused(p, code, err);
        NEED(move_request_table(p, table, err));
        return move_done(p, "%s", name);
}
