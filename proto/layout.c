/* Sizes and shapes of fields; metadata as tables. */
#include "proto/codec.h"

bool field_is_list(const struct field *f)
{
        switch (f->type) {
        case FIELD_LIST:
        case FIELD_STRING_MAP:
        case FIELD_MAP:
        case FIELD_RAW_LIST:
        case FIELD_RAW_MAP:
                return true;
        default:
                return false;
        }
}

bool field_shares_array(const struct field *f)
{
        return f->type == FIELD_STRING_MAP || (f->type == FIELD_LIST && (f->flags & FIELD_INTERNED_ITEMS));
}

const struct any_list *field_list(const struct field *f, const void *at)
{
        static const struct any_list none;
        if (!(f->flags & FIELD_APART))
                return at;
        const struct any_list *apart = *(void *const *)at;
        return apart ? apart : &none;
}

size_t field_element_size(const struct field *f)
{
        switch (f->type) {
        case FIELD_LIST:
                return f->element ? f->element->size : sizeof(const char *);
        case FIELD_STRING_MAP:
                return sizeof(struct string_pair);
        case FIELD_MAP:
                return sizeof(const char *) + f->element->size;
        case FIELD_RAW_LIST:
                return sizeof(struct slice);
        case FIELD_RAW_MAP:
                return sizeof(struct raw_pair);
        default:
                UNREACHABLE();
        }
}

#define OWNER(member) offsetof(struct owner_reference, member)
static const struct field owner_fields[] = {
        { "apiVersion", FIELD_INTERNED, FIELD_REQUIRED, OWNER(api_version), NULL },
        { "blockOwnerDeletion", FIELD_FLAG, 0, OWNER(block_owner_deletion), NULL },
        { "controller", FIELD_FLAG, 0, OWNER(controller), NULL },
        { "kind", FIELD_INTERNED, FIELD_REQUIRED, OWNER(kind), NULL },
        { "name", FIELD_STRING, FIELD_REQUIRED, OWNER(name), NULL },
        { "uid", FIELD_STRING, FIELD_REQUIRED, OWNER(uid), NULL },
};
static const struct type owner_type = { "OwnerReference", owner_fields, ARRAY_LEN(owner_fields),
                                        sizeof(struct owner_reference) };

#define META(member) offsetof(struct meta_wire, member)
static const struct field meta_fields[] = {
        { "annotations", FIELD_STRING_MAP, 0, META(annotations), NULL },
        { "creationTimestamp", FIELD_TIME, 0, META(creation_ms), NULL },
        { "deletionTimestamp", FIELD_TIME, 0, META(deletion_ms), NULL },
        { "finalizers", FIELD_LIST, FIELD_INTERNED_ITEMS, META(finalizers), NULL },
        { "generateName", FIELD_STRING, 0, META(generate_name), NULL },
        { "generation", FIELD_INT, 0, META(generation), NULL },
        { "labels", FIELD_STRING_MAP, 0, META(labels), NULL },
        { "name", FIELD_STRING, 0, META(name), NULL },
        { "namespace", FIELD_INTERNED, 0, META(ns), NULL },
        { "ownerReferences", FIELD_LIST, 0, META(owners), &owner_type },
        { "resourceVersion", FIELD_STRING, 0, META(resource_version), NULL },
        { "uid", FIELD_STRING, 0, META(uid), NULL },
};
const struct type meta_wire_type = { "ObjectMeta", meta_fields, ARRAY_LEN(meta_fields),
                                     sizeof(struct meta_wire) };

static const struct field meta_mutable_fields[] = {
        { "annotations", FIELD_STRING_MAP, 0, META(annotations), NULL },
        { "finalizers", FIELD_LIST, FIELD_INTERNED_ITEMS, META(finalizers), NULL },
        { "labels", FIELD_STRING_MAP, 0, META(labels), NULL },
        { "ownerReferences", FIELD_LIST, 0, META(owners), &owner_type },
};
const struct type meta_wire_mutable_type = { "ObjectMeta", meta_mutable_fields,
                                             ARRAY_LEN(meta_mutable_fields), sizeof(struct meta_wire) };

void meta_to_wire(const struct object_meta *m, struct meta_wire *ret)
{
        *ret = (struct meta_wire){
                .name = m->name,
                .ns = m->ns,
                .uid = m->uid,
                .resource_version = m->resource_version,
                .generate_name = m->generate_name,
                .generation = { .value = m->generation, .set = m->generation != 0 },
                .creation_ms = m->creation_ms,
                .deletion_ms = m->deletion_ms,
                .labels = m->labels,
                .annotations = m->annotations,
                .finalizers = { .at = m->finalizers, .n = m->n_finalizers },
                .owners = { .at = m->owners, .n = m->n_owners },
        };
}

int meta_from_wire(const struct meta_wire *w, struct object_meta *ret, struct error *err)
{
        if (w->finalizers.n > UINT16_MAX || w->owners.n > UINT16_MAX)
                return error_set(err, ERR_LIMIT, "metadata: more than %d finalizers or owner references",
                                 UINT16_MAX);
        *ret = (struct object_meta){
                .name = w->name,
                .ns = w->ns,
                .uid = w->uid,
                .resource_version = w->resource_version,
                .generate_name = w->generate_name,
                .generation = w->generation.set ? w->generation.value : 0,
                .creation_ms = w->creation_ms,
                .deletion_ms = w->deletion_ms,
                .labels = w->labels,
                .annotations = w->annotations,
                .finalizers = w->finalizers.at,
                .owners = w->owners.at,
                .n_finalizers = (uint16_t)w->finalizers.n,
                .n_owners = (uint16_t)w->owners.n,
        };
        return 0;
}
