/* The Secrets that sets refer to, read once a pass: spec/cluster-object-set.md 6.2, 6.3. */
#include "member-agent/object-set/set_pass.h"

static const struct kube_resource secrets_resource = { "", "v1", "secrets", "Secret", true };

/* The message says already what was asked for. */
static void say_as_server(struct error *why)
{
        static const char lead[] = "get secrets: ";

        if (text_starts_with(why->text, lead))
                memmove(why->text, why->text + strlen(lead), strlen(why->text) - strlen(lead) + 1);
}

int set_secrets_read(struct set_pass *p, struct content_secrets *secrets, struct error *err)
{
        TRY(content_secrets(p->set, agent_namespace(p->agent), p->arena, secrets, err));
        for (size_t i = 0; i < secrets->n; i++) {
                struct content_secret *s = &secrets->at[i];
                json_t *doc = NULL;
                int r = kube_doc_get(p->rc->kube, &secrets_resource, s->ns, s->name, &doc, &s->why);

                if (set_is_fatal(r)) {
                        *err = s->why;
                        return r;
                }
                if (r == 0)
                        TRY(doc_keep(p->arena, doc, err));
                s->doc = r == 0 ? doc : NULL;
                say_as_server(&s->why);
        }
        return 0;
}
