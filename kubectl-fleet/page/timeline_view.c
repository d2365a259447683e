/* The view "timeline": what happened, as the journal has it, and how each subject is now. Entries never
 * become others but for progress that goes on, so a look costs little where nothing is new. */
#include "common/base/map.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/page/row_parts.h"

/* What a link may name, and which kinds tell of it. */
static const struct family {
        const char *prefix;
        const struct kind *kinds[4];
        bool namespaced;
} families[] = {
        { "cluster", { &member_cluster_kind }, false },
        { "crp",
          { &cluster_resource_placement_kind, &cluster_staged_update_run_kind,
            &cluster_approval_request_kind },
          false },
        { "rp", { &resource_placement_kind, &staged_update_run_kind, &approval_request_kind }, true },
        { "csur", { &cluster_staged_update_run_kind, &cluster_approval_request_kind }, false },
        { "sur", { &staged_update_run_kind, &approval_request_kind }, true },
        { "careq", { &cluster_approval_request_kind }, false },
        { "areq", { &approval_request_kind }, true },
};
static const struct kind *const told_kinds[] = {
        &member_cluster_kind,     &cluster_resource_placement_kind,
        &resource_placement_kind, &cluster_staged_update_run_kind,
        &staged_update_run_kind,  &cluster_approval_request_kind,
        &approval_request_kind,
};

struct timeline {
        const struct page_look *look;
        struct page_doc *doc;
        const char *of; /* "" = all */
        const struct family *family;
        const char *ns, *name;
        int64_t from_ms;
        size_t n, n_subjects;
};

/* ---- arguments ---- */

static int read_from(const struct page_look *l, int64_t *ret, struct error *err)
{
        const json_t *from = json_object_get(l->args, "from");

        *ret = 0;
        if (json_is_integer(from))
                *ret = json_integer_value(from);
        else if (from && (!json_is_string(from) || !text_parse_i64(json_string_value(from), ret)))
                return error_set(err, ERR_INVALID, "from: must be milliseconds since 1970");
        return 0;
}

static const struct family *family_of(const char *of, size_t n)
{
        for (size_t i = 0; i < ARRAY_LEN(families); i++)
                if (strlen(families[i].prefix) == n && memcmp(families[i].prefix, of, n) == 0)
                        return &families[i];
        return NULL;
}

static int read_of(const struct page_look *l, struct timeline *t, struct error *err)
{
        const char *slash = strchr(t->of, '/'), *second;

        t->family = slash ? family_of(t->of, (size_t)(slash - t->of)) : NULL;
        if (!t->family)
                return error_set(err, ERR_INVALID,
                                 "of: must be cluster/NAME, crp/NAME, rp/NAMESPACE/NAME, csur/NAME, "
                                 "sur/NAMESPACE/NAME, careq/NAME or areq/NAMESPACE/NAME");
        t->name = slash + 1;
        if (t->family->namespaced) {
                second = strchr(t->name, '/');
                t->ns = second ? arena_strndup(l->arena, t->name, (size_t)(second - t->name)) : "";
                t->name = second ? second + 1 : "";
                if (!t->ns)
                        return error_no_memory(err);
                if (!text_is_dns1123_label(t->ns))
                        return error_set(err, ERR_INVALID,
                                         "of: %.20s/NAMESPACE/NAME needs the name of a namespace",
                                         t->family->prefix);
        }
        return text_is_dns1123_subdomain(t->name)
                       ? 0
                       : error_set(err, ERR_INVALID, "of: no object can have that name");
}

static int read_args(const struct page_look *l, struct timeline *ret, struct error *err)
{
        *ret = (struct timeline){ .look = l, .of = page_arg_or(l, "of", "") };
        TRY(read_from(l, &ret->from_ms, err));
        return *ret->of ? read_of(l, ret, err) : 0;
}

/* ---- what is read, so that rights are asked for ---- */

static bool is_refused(const struct page_need *n)
{
        return n->problem && !n->filled;
}

/* Who may not list a kind everywhere may list it in the namespace that is asked for. */
static int need_kind(const struct timeline *t, const struct kind *kind, struct page_needs *ret,
                     struct error *err)
{
        const struct page_need *before = page_need_of(t->look, kind, 0);
        struct fetch f = { .kind = kind, .may_lack = true };

        if (t->ns && before && (before->fetch.ns || is_refused(before)))
                f.ns = t->ns;
        return page_needs_add(ret, f, err);
}

static const char *placement_selector(const struct timeline *t)
{
        bool is_placement =
                t->family && (text_equal(t->family->prefix, "crp") || text_equal(t->family->prefix, "rp"));

        if (!is_placement || !text_is_label_value(t->name))
                return "";
        return selector_of(t->look->arena, LABEL_PARENT_PLACEMENT, t->name);
}

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        const struct kind *const *kinds = told_kinds;
        size_t most = ARRAY_LEN(told_kinds);
        const char *selector;
        struct timeline t;

        TRY(read_args(l, &t, err));
        if (t.family)
                kinds = t.family->kinds, most = ARRAY_LEN(t.family->kinds);
        for (size_t i = 0; i < most && kinds[i]; i++)
                TRY(need_kind(&t, kinds[i], ret, err));
        selector = placement_selector(&t);
        if (!selector)
                return error_no_memory(err);
        return *selector ? page_needs_add(ret,
                                          (struct fetch){ .kind = scope_of(t.ns)->resource_snapshot,
                                                          .ns = t.ns,
                                                          .selector = selector,
                                                          .metadata_only = true },
                                          err)
                         : 0;
}

/* ---- what is shown ---- */

static bool may_see(const struct timeline *t, const struct journal_subject *s)
{
        const struct page_need *n = page_need_of(t->look, s->kind, 0);

        return n && !is_refused(n) && (!n->fetch.ns || text_equal(n->fetch.ns, s->ns));
}

static bool is_of(const struct timeline *t, const struct journal_subject *s)
{
        for (unsigned depth = 0; s && depth < 3; depth++) {
                if (text_equal(s->key, t->of) || text_equal(s->of, t->of))
                        return true;
                s = s->of ? page_journal_subject(t->look->journal, s->of) : NULL;
        }
        return false;
}

static bool is_shown(const struct timeline *t, const struct journal_subject *s)
{
        return may_see(t, s) && (!*t->of || is_of(t, s));
}

static void put_value(struct page_writer *w, const char *key, const char *text)
{
        page_set(w, key, text ? json_string(text) : json_null());
}

/* ---- entries ---- */

static json_t *entry_row(struct arena *arena, const struct journal_entry *e)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_number(&w, "at", e->at_ms);
        page_set_string(&w, "of", e->subject->key);
        page_set_string(&w, "what", journal_what_name(e->what));
        put_value(&w, "was", e->was);
        put_value(&w, "is", e->is);
        page_set_string(&w, "tone", journal_tone_name(e->tone));
        if (e->was && *e->was)
                page_set_string(&w, "wasTone", journal_tone_name(e->was_tone));
        if (*e->text)
                page_set_string(&w, "text", e->text);
        page_set_flag(&w, "told", e->told);
        return page_end(&w);
}

/* "0000000042": rows are in the order in which they became known. */
#define KEY_DIGITS 10
static void entry_key(uint64_t number, char ret[KEY_DIGITS + 1])
{
        ret[KEY_DIGITS] = '\0';
        for (size_t i = KEY_DIGITS; i-- > 0; number /= 10)
                ret[i] = (char)('0' + number % 10);
}

static int draw_entry(struct timeline *t, const struct journal_entry *e)
{
        uint64_t stamp = e->number << 16 | (e->version & 0xffff);
        char key[KEY_DIGITS + 1];

        t->n++;
        entry_key(e->number, key);
        if (page_row_stays(t->doc, "entries", key, stamp))
                return 0;
        return page_row_stamped(t->doc, "entries", key, stamp, entry_row(t->look->arena, e));
}

/* Those of the subjects that are shown. */
static int draw_entries(struct timeline *t, const struct map *shown)
{
        size_t n;
        const struct journal_entry *const *at = page_journal_entries(t->look->journal, &n);
        bool all = t->n_subjects == map_count(page_journal_subjects(t->look->journal));

        for (size_t i = 0; i < n; i++)
                if (at[i]->at_ms >= t->from_ms && (all || map_has(shown, at[i]->subject->key)))
                        TRY(draw_entry(t, at[i]));
        return 0;
}

/* ---- revisions: when their snapshots were made ---- */

static json_t *revision_row(const struct timeline *t, const struct object *o)
{
        struct page_writer w;

        page_begin(&w, t->look->arena);
        page_set_number(&w, "at", o->meta.creation_ms);
        page_set_string(&w, "of", t->of);
        page_set_string(&w, "what", "snapshot");
        page_set_string(&w, "is", or_empty(label_of(o, LABEL_RESOURCE_INDEX)));
        page_set_string(&w, "tone", "plain");
        page_set_flag(&w, "told", true);
        return page_end(&w);
}

static int draw_revisions(struct timeline *t)
{
        const struct page_need *n =
                t->family ? page_need_of(t->look, scope_of(t->ns)->resource_snapshot, 0) : NULL;

        for (size_t i = 0; n && i < n->fetch.result.n; i++) {
                const struct object *o = n->fetch.result.at[i];
                uint64_t stamp = page_stamp(PAGE_STAMP, o);

                if (!text_ends_with(o->meta.name, SUFFIX_RESOURCE_SNAPSHOT) ||
                    o->meta.creation_ms == TIME_NONE || o->meta.creation_ms < t->from_ms)
                        continue;
                t->n++;
                if (!page_row_stays(t->doc, "entries", o->meta.name, stamp))
                        TRY(page_row_stamped(t->doc, "entries", o->meta.name, stamp, revision_row(t, o)));
        }
        return 0;
}

/* ---- subjects ---- */

static json_t *subject_row(struct arena *arena, const struct journal_subject *s)
{
        struct page_writer w;

        page_begin(&w, arena);
        for (size_t i = 0; i < JOURNAL_STATES; i++)
                if (s->state[i].text)
                        page_set_string(&w, journal_what_name(i), s->state[i].text);
        if (s->state[JOURNAL_WORD].text)
                page_set_string(&w, "tone", journal_tone_name(s->state[JOURNAL_WORD].tone));
        if (s->of)
                page_set_string(&w, "of", s->of);
        return page_end(&w);
}

static int draw_subjects(struct timeline *t, struct map *shown)
{
        map_for_each(page_journal_subjects(t->look->journal), e) {
                const struct journal_subject *s = e->value;
                uint64_t stamp = page_stamp_text(PAGE_STAMP + s->version, s->uid);

                if (!is_shown(t, s))
                        continue;
                t->n_subjects++;
                if (map_put(shown, s->key, (void *)(uintptr_t)s) < 0)
                        return ERR_NO_MEMORY;
                if (!page_row_stays(t->doc, "subjects", s->key, stamp))
                        TRY(page_row_stamped(t->doc, "subjects", s->key, stamp,
                                             subject_row(t->look->arena, s)));
        }
        return 0;
}

/* ---- all ---- */

static int draw_head(const struct timeline *t)
{
        const struct journal_facts f = page_journal_facts(t->look->journal);
        struct page_writer w;

        page_begin(&w, t->look->arena);
        page_set_string(&w, "of", t->of);
        page_set_number(&w, "began", f.began_ms);
        page_set(&w, "from", page_time(f.from_ms));
        page_set_number(&w, "entries", (int64_t)t->n);
        page_set_number(&w, "subjects", (int64_t)t->n_subjects);
        if (f.dropped)
                page_set_number(&w, "dropped", (int64_t)f.dropped);
        if (f.lost)
                page_set_number(&w, "lost", (int64_t)f.lost);
        return page_head(t->doc, page_end(&w));
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        struct map *shown = map_of_arena(l->arena);
        struct timeline t;

        TRY(read_args(l, &t, err));
        if (!shown)
                return error_no_memory(err);
        t.doc = d;
        if (l->journal) {
                TRY(draw_subjects(&t, shown));
                TRY(draw_entries(&t, shown));
        }
        TRY(draw_revisions(&t));
        return draw_head(&t);
}

const struct page_view timeline_page_view = { .name = "timeline", .need = need, .look = look };
