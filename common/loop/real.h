/* What the files of the real backend share. */
#pragma once

#include <uv.h>

#include "common/loop/loop.h"

struct world_command;
struct world_usage;
struct confined;
struct confined_end;

/* SIGTERM and SIGINT; closed with the loop. */
struct terminate {
        uv_signal_t signals[2];
        bool open;
        void (*fn)(void *ctx);
        void *ctx;
};

struct terminate *real_terminate(struct loop *l);
void terminate_close(struct terminate *t);

/* world_process.run; ctx is the loop. */
int real_run(void *ctx, const struct world_command *c, char **ret_output, size_t *ret_len, int *ret_code,
             struct error *err);
/* world_process.run_confined. */
int real_run_confined(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err);
/* world_process.cpu_us and usage. */
int64_t real_cpu_us(void *ctx);
int real_usage(void *ctx, struct world_usage *ret);
