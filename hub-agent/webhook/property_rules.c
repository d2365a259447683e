/* Names of properties, and requirements on them that no cluster could meet:
 * spec/membership-webhooks-charts.md 5.2. */
#include "common/json/quantity.h"
#include "hub-agent/scheduler/framework.h"
#include "hub-agent/webhook/rules.h"

/* ---- names ---- */

static void tell_name(struct faults *f, const char *prefix, const char *name, const char *why)
{
        if (prefix)
                FAULT(f, "%s %s: %s", prefix, name, text_made(why, f));
        else
                fault_add(f, why);
}

static const char *first_segment_fault(const char *segment, struct faults *f)
{
        const char *name[NAME_FAULTS_MAX], *domain[NAME_FAULTS_MAX];
        size_t n_name = qualified_name_faults(segment, name), n_domain = subdomain_faults(segment, domain);

        if (!n_name || !n_domain)
                return NULL;
        return text_made(
                arena_printf(f->arena,
                             "property name first segment %s is not valid: it is neither a valid DNS "
                             "subdomain (%s) nor a valid qualified name (%s)",
                             segment, texts_joined(domain, n_domain, f), texts_joined(name, n_name, f)),
                f);
}

static const char *segment_fault(const char *what, const char *segment, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX];
        size_t n = qualified_name_faults(segment, faults);

        if (!n)
                return NULL;
        return text_made(
                arena_printf(f->arena, "%s %s is not valid: %s", what, segment, texts_joined(faults, n, f)),
                f);
}

static void plain_name_faults(const char *name, const char *prefix, struct faults *f)
{
        struct slice rest = slice_of(name), segment;
        bool more = slice_cut(&rest, '/', &segment), first = more;

        if (!more) {
                const char *why = segment_fault("property name", name, f);

                if (why)
                        tell_name(f, prefix, name, why);
                return;
        }
        for (;; more = slice_cut(&rest, '/', &segment), first = false) {
                const char *text = arena_strndup(f->arena, segment.data, segment.len), *why = NULL;

                if (!text)
                        f->no_memory = true;
                else
                        why = first ? first_segment_fault(text, f)
                                    : segment_fault("property name segment", text, f);
                if (why)
                        tell_name(f, prefix, name, why);
                if (!more || !text || f->untold)
                        return;
        }
}

static void resource_name_faults(const char *name, const char *prefix, struct faults *f)
{
        const char *why = segment_fault("property name", name, f);

        if (why)
                tell_name(f, prefix, name, why);
}

void property_name_faults(const char *name, const char *prefix, struct faults *f)
{
        struct property_ref ref;

        switch (property_ref_of(name, &ref)) {
        case PROPERTY_NO_CAPACITY_TYPE:
                tell_name(f, prefix, name,
                          arena_printf(f->arena,
                                       "invalid resource property name %s, expected format is "
                                       "[PREFIX]/[CAPACITY_TYPE]-[RESOURCE_NAME]",
                                       name));
                return;
        case PROPERTY_UNKNOWN_CAPACITY_TYPE:
                tell_name(f, prefix, name,
                          arena_printf(f->arena,
                                       "invalid capacity type in resource property name %s, supported values "
                                       "are [allocatable available total]",
                                       name));
                return;
        case PROPERTY_RESOURCE:
                resource_name_faults(name, prefix, f);
                return;
        case PROPERTY_PLAIN:
                plain_name_faults(name, prefix, f);
                return;
        }
}

/* ---- requirements on one property ---- */

struct amount {
        struct quantity value;
        const char *text; /* as it was written; NULL: there is none */
        bool strict;      /* of a bound */
};

struct unequal {
        struct quantity value;
        struct unequal *next;
};

/* What is known of a property after some of its requirements. */
struct demand {
        const char *name;
        struct amount equal, other_equal, lower, upper; /* other_equal: the first that is another */
        struct unequal *unequal;
        size_t n;
        struct demand *next;
};

static void tighten(struct amount *bound, const struct amount *by, int direction)
{
        int order = bound->text ? quantity_compare(by->value, bound->value) * direction : 1;

        if (order > 0 || (order == 0 && by->strict))
                *bound = *by;
}

static void add_equal(struct demand *d, const struct amount *a)
{
        if (!d->equal.text)
                d->equal = *a;
        else if (!d->other_equal.text && quantity_compare(d->equal.value, a->value) != 0)
                d->other_equal = *a;
}

static void add_unequal(struct demand *d, struct quantity value, struct faults *f)
{
        struct unequal *u = ARENA_NEW(f->arena, struct unequal);

        if (!u) {
                f->no_memory = true;
                return;
        }
        *u = (struct unequal){ value, d->unequal };
        d->unequal = u;
}

static void demand_add(struct demand *d, const struct property_requirement *r, struct quantity value,
                       struct faults *f)
{
        const char *op = r->operator;
        struct amount a = { value, r->values.at[0], text_equal(op, "Gt") || text_equal(op, "Lt") };

        d->n++;
        if (text_starts_with(op, "G"))
                tighten(&d->lower, &a, 1);
        else if (text_starts_with(op, "L"))
                tighten(&d->upper, &a, -1);
        else if (text_equal(op, "Ne"))
                add_unequal(d, value, f);
        else
                add_equal(d, &a);
}

static bool equals_an_unequal(const struct demand *d)
{
        for (const struct unequal *u = d->unequal; d->equal.text && u; u = u->next)
                if (quantity_compare(u->value, d->equal.value) == 0)
                        return true;
        return false;
}

/* Whether the value is out of a bound; direction 1: a lower one, -1: an upper one. */
static bool is_beyond(const struct amount *v, const struct amount *bound, int direction)
{
        int order = v->text && bound->text ? quantity_compare(v->value, bound->value) * direction : 1;

        return order < 0 || (order == 0 && (bound->strict || v->strict));
}

#define INCONSISTENT "inconsistent requirements on property %s: "

static void demand_fault(const struct demand *d, struct faults *f)
{
        if (d->other_equal.text)
                FAULT(f, INCONSISTENT "conflicting Eq values %s and %s", d->name, d->equal.text,
                      d->other_equal.text);
        else if (equals_an_unequal(d))
                FAULT(f, INCONSISTENT "conflicting Eq and Ne on same value %s", d->name, d->equal.text);
        else if (is_beyond(&d->upper, &d->lower, 1))
                FAULT(f, INCONSISTENT "lower bound (%s) and upper bound (%s) exclude all values", d->name,
                      d->lower.text, d->upper.text);
        else if (is_beyond(&d->equal, &d->lower, 1))
                FAULT(f, INCONSISTENT "eq value %s violates lower bound %s", d->name, d->equal.text,
                      d->lower.text);
        else if (is_beyond(&d->equal, &d->upper, -1))
                FAULT(f, INCONSISTENT "eq value %s violates upper bound %s", d->name, d->equal.text,
                      d->upper.text);
}

static bool requirement_fault(const struct property_requirement *r, struct quantity *ret, struct faults *f)
{
        const char *name = or_empty(r->name), *op = or_empty(r->operator);
        struct error why = { 0 };

        if (property_compare(op, 0) < 0)
                FAULT(f, "invalid requirement on property %s: unsupported operator %s", name, op);
        else if (r->values.n != 1)
                FAULT(f, "invalid requirement on property %s: operator %s requires exactly one value, got %u",
                      name, op, r->values.n);
        else if (quantity_parse(slice_of(r->values.at[0]), ret, &why) < 0)
                FAULT(f,
                      "invalid requirement on property %s: value \"%s\" is not a valid resource.Quantity: %s",
                      name, or_empty(r->values.at[0]), why.text);
        else
                return false;
        return true;
}

struct demands {
        struct map by_name;
        struct demand *first, **end;
};

static struct demand *demand_of(struct demands *d, const char *name, struct faults *f)
{
        struct demand *found = map_get(&d->by_name, name);

        if (found)
                return found;
        found = ARENA_NEW(f->arena, struct demand);
        if (!found || map_put(&d->by_name, name, found) < 0) {
                f->no_memory = true;
                return NULL;
        }
        found->name = name;
        *d->end = found;
        d->end = &found->next;
        return found;
}

void property_selector_faults(const struct property_selector *s, struct faults *f)
{
        struct demands demands = { .end = &demands.first };

        map_init(&demands.by_name, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; s && i < s->match_expressions.n && !f->no_memory; i++) {
                const struct property_requirement *r = &s->match_expressions.at[i];
                const char *name = or_empty(r->name);
                struct demand *d;
                struct quantity q;

                property_name_faults(name, "invalid property name", f);
                if (!requirement_fault(r, &q, f) && (d = demand_of(&demands, name, f)))
                        demand_add(d, r, q, f);
        }
        for (const struct demand *d = demands.first; d; d = d->next)
                if (d->n > 1)
                        demand_fault(d, f);
        map_free(&demands.by_name);
}
