#include "hub-agent/source/git_choice.h"

#include "common/base/semver.h"

#define BRANCHES "refs/heads/"
#define TAGS "refs/tags/"

static int one(struct git_candidate c, struct arena *arena, struct git_choice *ret, struct error *err)
{
        struct git_candidate *kept = ARENA_NEW(arena, struct git_candidate);

        if (!kept)
                return error_no_memory(err);
        *kept = c;
        *ret = (struct git_choice){ .at = kept, .n = 1 };
        return 0;
}

/* ---- a commit ---- */

static int choose_commit(const struct git_reference *spec, const struct git_refs *refs, struct arena *arena,
                         struct git_choice *ret, struct error *err)
{
        struct git_candidate c = { .label = or_empty(spec->branch) };

        TRY(git_hash_parse(spec->commit, &c.commit, err));
        c.ask = c.commit;
        TRY(one(c, arena, ret, err));
        ret->named = true;
        for (size_t i = 0; i < refs->n; i++) {
                struct git_hash leads = git_ref_commit(&refs->at[i]);

                if (!git_hash_equal(&leads, &c.commit))
                        continue;
                c.ask = refs->at[i].at;
                return one(c, arena, ret, err);
        }
        return 0;
}

/* ---- a ref ---- */

static int choose_ref(const char *name, const char *label, const struct git_refs *refs, struct arena *arena,
                      struct git_choice *ret, struct error *err)
{
        const struct git_ref *ref = name ? git_refs_find(refs, name) : NULL;

        if (!name)
                return error_no_memory(err);
        if (text_equal(name, "HEAD") && !git_hash_is_none(&refs->tip))
                return one((struct git_candidate){ label, refs->tip, refs->tip }, arena, ret, err);
        if (!ref)
                return error_set(err, ERR_NOT_FOUND, "couldn't find remote ref \"%s\"", name);
        return one((struct git_candidate){ label, ref->at, git_ref_commit(ref) }, arena, ret, err);
}

/* ---- a version ---- */

struct search {
        const struct semver_range *range;
        struct semver best;
        struct git_candidate *at;
        size_t n;
};

static void weigh(struct search *s, const struct git_ref *ref)
{
        const char *label = ref->name + strlen(TAGS);
        struct semver v;

        if (semver_parse(slice_of(label), &v) < 0 || v.n_written != 3 || !semver_range_has(s->range, &v))
                return;
        int order = s->n ? semver_compare(&v, &s->best) : 1;

        if (order < 0)
                return;
        if (order > 0)
                s->n = 0;
        s->best = v;
        s->at[s->n++] = (struct git_candidate){ label, ref->at, git_ref_commit(ref) };
}

static int choose_version(const char *range, const struct git_refs *refs, struct arena *arena,
                          struct git_choice *ret, struct error *err)
{
        struct search s = { .at = ARENA_NEW_ARRAY(arena, struct git_candidate, refs->n + 1) };

        if (!s.at)
                return error_no_memory(err);
        TRY(semver_range_parse(arena, slice_of(range), &s.range, err));
        for (size_t i = 0; i < refs->n; i++)
                if (text_starts_with(refs->at[i].name, TAGS))
                        weigh(&s, &refs->at[i]);
        if (s.n == 0)
                return error_set(err, ERR_NOT_FOUND, "no match found for semver: %s", range);
        *ret = (struct git_choice){ .at = s.at, .n = s.n };
        return 0;
}

/* ---- the whole ---- */

int git_choose(const struct git_reference *spec, const struct git_refs *refs, struct arena *arena,
               struct git_choice *ret, struct error *err)
{
        static const struct git_reference none;
        const char *branch;

        spec = spec ? spec : &none;
        if (!text_empty(spec->commit))
                return choose_commit(spec, refs, arena, ret, err);
        if (!text_empty(spec->name))
                return choose_ref(spec->name, spec->name, refs, arena, ret, err);
        if (!text_empty(spec->semver))
                return choose_version(spec->semver, refs, arena, ret, err);
        if (!text_empty(spec->tag))
                return choose_ref(arena_printf(arena, TAGS "%s", spec->tag), spec->tag, refs, arena, ret,
                                  err);
        branch = text_empty(spec->branch) ? "master" : spec->branch;
        return choose_ref(arena_printf(arena, BRANCHES "%s", branch), branch, refs, arena, ret, err);
}

const char *git_revision(const struct git_candidate *c, struct arena *arena)
{
        return arena_printf(arena, "%s%ssha1:%s", c->label, *c->label ? "@" : "", c->commit.hex);
}

static char *put(char *to, const char *text)
{
        size_t n = strlen(text);

        memcpy(to, text, n);
        return to + n;
}

const char *git_choice_marks(const struct git_choice *c, struct arena *arena)
{
        size_t room = 1;
        char *all, *end;

        for (size_t i = 0; i < c->n; i++)
                room += strlen(c->at[i].label) + strlen(c->at[i].commit.hex) + 2;
        all = end = arena_alloc(arena, room);
        for (size_t i = 0; all && i < c->n; i++) {
                end = put(put(end, c->at[i].label), "@");
                end = put(put(end, c->at[i].commit.hex), " ");
        }
        if (all)
                *end = '\0';
        return all;
}
