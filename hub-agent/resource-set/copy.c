/* copyFrom of all objects: spec/resource-set.md 6.1. */
#include "hub-agent/resource-set/copied.h"
#include "hub-agent/resource-set/pass.h"

/* Also what could not be read is remembered: it may come. */
static void remember(struct set_pass *p, struct buf *all)
{
        mem_free(p->memory->copied);
        p->memory->copied = all->len ? mem_strndup(all->data, all->len) : NULL;
}

int pass_copy(struct set_pass *p, struct error *err)
{
        AUTO_BUF struct buf all;
        int code = 0;

        buf_init(&all, 4u << 20);
        for (size_t i = 0; i < p->build.n; i++) {
                const char *value = copied_from(p->build.at[i].doc);

                if (!value)
                        continue;
                buf_printf(&all, " %s/%s ", doc_get_string(p->build.at[i].doc, "kind"), value);
                if (code == 0)
                        code = copied_fill(&p->kube, p->rc->arena, p->build.at[i].doc, value, err);
        }
        remember(p, &all);
        return code;
}
