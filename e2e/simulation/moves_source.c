/* Users make providers of inputs, change and delete them; the services that some of them ask have troubles.
 */
#include "e2e/simulation/moves_internal.h"

#define COLORS 1000

static bool find_source(struct player *p, struct dice *d, bool (*fits)(const struct wish_source *s),
                        unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_SOURCES);

        for (unsigned i = 0; i < WISH_SOURCES; i++) {
                *ret = (first + i) % WISH_SOURCES;
                if (fits(&p->wish->desk.sources[*ret]))
                        return true;
        }
        return false;
}

static bool is_there(const struct wish_source *s)
{
        return s->exists;
}

static bool is_absent(const struct wish_source *s)
{
        return !s->exists;
}

static int source_done(struct player *p, unsigned source)
{
        static const char *const services[] = { "answers", "fails", "hangs", "babbles" };
        const struct wish_source *s = &p->wish->desk.sources[source];
        struct words w = { 0 };

        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (s->inputs.color[i])
                        words_add(&w, " %c=%u", 'a' + i, s->inputs.color[i]);
        return move_done(p, "source-%u:%s%s%s service %s", source, w.text, s->pooled ? " pooled" : "",
                         s->suspended ? " suspended" : "", services[s->service]);
}

/* A service says it from now on. Static ones give one input. */
static int set_inputs(struct wish_source *s, unsigned source, const struct wish_inputs *in)
{
        s->inputs = *in;
        if (!wish_source_is_static(source))
                return vec_push(&s->given, *in) < 0 ? ERR_NO_MEMORY : 0;
        return 0;
}

static struct wish_inputs draw_inputs(unsigned source, struct dice *d)
{
        struct wish_inputs in = { 0 };

        if (!wish_source_is_static(source))
                return move_draw_inputs(d);
        in.color[dice_below(d, WISH_TENANTS)] = 1 + (unsigned)dice_below(d, COLORS);
        return in;
}

/* What users ask of the provider; `s` is how it is to be beside what its service gives. */
static int put_source(struct player *p, unsigned source, const struct wish_source *wanted, struct error *err)
{
        struct wish_source *now = &p->wish->desk.sources[source], old = *now;
        int code;

        *now = *wanted;
        now->exists = true;
        code = move_apply(p, &wish_source_resource, WISH_DESK, wish_source_doc(&p->wish->desk, source), err);
        if (code == 0)
                return 1;
        *now = old;
        return move_refused(p, code, err);
}

int move_source_make(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source *s;
        struct wish_inputs in;
        char name[WISH_TABLE_NAME];
        unsigned source;

        if (!find_source(p, d, is_absent, &source))
                return 0;
        NEED(move_desk(p, err));
        if (!move_is_gone(p, &wish_source_resource, WISH_DESK, wish_source_name(source, name)))
                return 0;
        s = &p->wish->desk.sources[source];
        in = draw_inputs(source, d);
        if (set_inputs(s, source, &in) < 0)
                return error_no_memory(err);
        s->suspended = false;
        s->pooled = dice_percent(d, 50);
        NEED(put_source(p, source, s, err));
        return source_done(p, source);
}

/* Of a service only what it says changes: the provider finds out by itself. */
int move_source_change(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source wanted;
        struct wish_inputs in;
        unsigned source;

        if (!find_source(p, d, is_there, &source))
                return 0;
        in = draw_inputs(source, d);
        if (!wish_source_is_static(source)) {
                if (set_inputs(&p->wish->desk.sources[source], source, &in) < 0)
                        return error_no_memory(err);
                return source_done(p, source);
        }
        wanted = p->wish->desk.sources[source];
        wanted.inputs = in;
        NEED(put_source(p, source, &wanted, err));
        return source_done(p, source);
}

int move_source_label(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source wanted;
        unsigned source;

        if (!find_source(p, d, is_there, &source))
                return 0;
        wanted = p->wish->desk.sources[source];
        wanted.pooled = !wanted.pooled;
        NEED(put_source(p, source, &wanted, err));
        return source_done(p, source);
}

int move_source_suspend(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source wanted;
        unsigned source;

        if (!find_source(p, d, is_there, &source))
                return 0;
        wanted = p->wish->desk.sources[source];
        wanted.suspended = !wanted.suspended;
        NEED(put_source(p, source, &wanted, err));
        return source_done(p, source);
}

int move_source_delete(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source *s;
        char name[WISH_TABLE_NAME];
        struct kube_client *hub;
        unsigned source;
        int code;

        if (!find_source(p, d, is_there, &source))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        s = &p->wish->desk.sources[source];
        s->exists = false;
        code = kube_doc_delete(hub, &wish_source_resource, WISH_DESK, wish_source_name(source, name), NULL,
                               NULL, err);
        if (code == 0)
                return move_done(p, "source-%u", source);
        s->exists = true;
        return move_refused(p, code, err);
}

/* ---- services ---- */

int move_service_trouble(struct player *p, struct dice *d, struct error *err)
{
        unsigned source = WISH_STATIC_SOURCES + (unsigned)dice_below(d, WISH_SOURCES - WISH_STATIC_SOURCES);
        struct wish_source *s = &p->wish->desk.sources[source];

        if (!s->exists)
                return 0;
        s->service = SERVICE_FAILS + (unsigned)dice_below(d, SERVICE_BABBLES);
        return source_done(p, source);
}

static bool is_troubled(const struct wish_source *s)
{
        return s->exists && s->service != SERVICE_ANSWERS;
}

/* Whoever mends a service has its inputs asked for anew. */
int move_service_answer(struct player *p, struct dice *d, struct error *err)
{
        struct wish_source wanted;
        unsigned source;

        if (!find_source(p, d, is_troubled, &source))
                return 0;
        wanted = p->wish->desk.sources[source];
        wanted.service = SERVICE_ANSWERS;
        wanted.requests++;
        NEED(put_source(p, source, &wanted, err));
        return source_done(p, source);
}
