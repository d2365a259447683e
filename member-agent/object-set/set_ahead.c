/* What later phases need that nobody brings, told while early ones roll out: spec/cluster-object-set.md 21.
 */
#include "member-agent/object-set/set_pass.h"

static bool defines(const struct set_object *definition, const struct set_object *o)
{
        return set_is_definition(definition) &&
               text_equal(doc_get_string(definition->doc, "spec.group"), o->group) &&
               text_equal(doc_get_string(definition->doc, "spec.names.kind"), o->kind);
}

static bool is_defined(const struct set_phases *phases, const struct set_object *o)
{
        for (size_t i = 0; i < phases->n; i++)
                for (size_t k = 0; k < phases->at[i].n; k++)
                        if (defines(&phases->at[i].at[k], o))
                                return true;
        return false;
}

static int tell_unknown(struct set_pass *p, const struct set_phase *phase, const struct set_object *o,
                        const char **ret, struct error *err)
{
        const char *object = set_object_identity(o, p->arena), *words = set_unknown_kind(p, o);

        *ret = !object || !words ? NULL
                                 : arena_printf(p->arena, "Phase \"%s\" cannot begin: %s: %s.", phase->name,
                                                object, words);
        return *ret ? 0 : error_no_memory(err);
}

static int look_at(struct set_pass *p, const struct set_phase *phase, const char **ret, struct error *err)
{
        for (size_t i = 0; i < phase->n && !*ret; i++) {
                const struct set_object *o = &phase->at[i];
                struct kube_mapped mapped;
                struct error why = { 0 };

                if (kube_mapper_kind(p->agent->mapper, o->group, o->version, o->kind, &mapped, &why) !=
                            ERR_NOT_FOUND ||
                    kube_mapper_doubts(p->agent->mapper, o->group) || is_defined(&p->phases, o))
                        continue;
                TRY(set_await(p, AWAITED_KIND, err));
                TRY(tell_unknown(p, phase, o, ret, err));
        }
        return 0;
}

int set_look_ahead(struct set_pass *p, size_t from, const char **ret, struct error *err)
{
        *ret = NULL;
        for (size_t i = from; i < p->phases.n && !*ret; i++)
                TRY(look_at(p, &p->phases.at[i], ret, err));
        return 0;
}
