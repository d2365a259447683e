/* What a browser asked to be done: in a fiber of its own, answered once. */
#include "common/base/memory.h"
#include "kubectl-fleet/page/session_internal.h"

struct call {
        struct page_session *s;
        const struct page_action *action;
        struct page_visitor *visitor;
        json_t *args;
        int64_t number;
};

static void free_call(struct call *c)
{
        page_visitor_unref(c->visitor);
        json_decref(c->args);
        mem_free(c);
}

static json_t *answer_of(int64_t number, int code, json_t *done, const struct error *err)
{
        if (code < 0)
                return json_pack("{s:I, s:{s:s, s:i, s:s}}", "call", (json_int_t)number, "error", "code",
                                 error_code_name(code), "status", err->http_status, "text", err->text);
        return json_pack("{s:I, s:O}", "call", (json_int_t)number, "done", done);
}

static void run_call(void *ctx)
{
        struct call *c = ctx;
        struct page_session *s = c->s;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *done = NULL;
        struct error err = { 0 };
        int code = c->action->run(&c->visitor->user, c->args, &arena, &done, &err);

        if (code < 0 && !err.code)
                error_set(&err, code, "%s: %s", c->action->name, error_code_name(code));
        if (code == 0 && !done && !(done = json_object()))
                code = error_no_memory(&err);
        if (code != ERR_CANCELLED &&
            session_put_doc(s, answer_of(c->number, code, done, &err)) == ERR_NO_MEMORY)
                session_end(s, PAGE_CLOSE_BUSY, "no memory"); /* so that the browser does not wait for it */
        s->n_calls--;
        free_call(c);
}

int call_begin(struct page_session *s, int64_t number, const struct page_action *action, json_t *args)
{
        struct call *c = NEW(struct call);

        if (!c)
                return ERR_NO_MEMORY;
        *c = (struct call){ .s = s,
                            .action = action,
                            .visitor = page_visitor_ref(s->visitor),
                            .args = json_incref(args),
                            .number = number };
        if (!fiber_spawn(s->group, action->name, run_call, c)) {
                free_call(c);
                return ERR_NO_MEMORY;
        }
        s->n_calls++;
        return 0;
}
