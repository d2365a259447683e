/* What the objects of a run take from others, which wake the set from then on: spec/resource-set.md 6, 14.2.
 */
#include "hub-agent/resource-set/pass.h"
#include "hub-agent/resource-set/sources.h"

static int remember(struct set_pass *p, const struct buf *names, struct error *err)
{
        struct set_memory *m = p->memory;

        TRY(buf_status(names, err, "sources"));
        mem_free(m->copied);
        m->copied = names->len ? mem_strndup(names->data, names->len) : NULL;
        return 0;
}

int pass_copy(struct set_pass *p, struct error *err)
{
        struct sources s = { .kube = &p->kube, .arena = p->rc->arena, .build = &p->build };
        struct error own = { 0 };
        int code, noted;

        TRY(pass_check_time(p, err));
        buf_init(&s.names, SOURCES_NAMES_MAX);
        code = sources_fill(&s, &own);
        noted = remember(p, &s.names, err);
        buf_free(&s.names);
        if (noted < 0)
                return noted;
        if (code < 0) {
                *err = own;
                return code;
        }
        p->wanted->status->external_checksum_refs = s.external;
        return 0;
}
