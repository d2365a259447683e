/* Rendering: what its files share. Private to common/template. */
#pragma once

#include "common/template/functions.h"

/* An argument that is not there, as opposed to one that is nil. */
#define NO_FINAL NULL

int run_error(struct run *run, int code, const char *text);            /* with the place */
int run_fail(struct run *run, const char *fmt, ...) PRINTF_LIKE(2, 3); /* ERR_INVALID */

/* exec_eval.c: values of pipelines. `final`: what comes from the command before, or NO_FINAL. */
int eval_pipeline(struct run *run, const struct value *dot, const struct node *pipe, struct value *ret);
int eval_operand(struct run *run, const struct value *dot, const struct node *node, struct value *ret);

/* exec_call.c */
int eval_call(struct run *run, const struct value *dot, const struct function *f, const struct node *at,
              const struct node *name, struct node *const *args, size_t n_args, const struct value *final,
              struct value *ret);

/* exec.c */
int run_push(struct run *run, struct slice name, struct value value);
int run_assign(struct run *run, struct slice name, struct value value);
int run_variable(struct run *run, struct slice name, struct value *ret);
/* One C call deeper; every success is followed by run_leave(). */
int run_enter(struct run *run);
static inline void run_leave(struct run *run)
{
        run->nesting--;
}
