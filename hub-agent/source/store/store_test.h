/* What tests of artifacts share: a store on a volume in memory, in a fiber of a simulated loop. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/base/memory.h"
#include "hub-agent/source/store/store.h"
#include "proto/gen/kinds.h"

#define WALL INT64_C(1767225600000)

struct scene {
        struct loop *loop;
        struct world world;
        struct artifact_store store;
        struct arena arena;
        struct error err;
        void (*play)(struct scene *s);
};

static inline void play_in_fiber(void *ctx)
{
        struct scene *s = ctx;

        s->play(s);
}

static inline void in_scene(void (*play)(struct scene *s))
{
        struct scene s = { .play = play, .arena = ARENA_INIT };

        s.loop = loop_new_simulated(7, WALL, NULL);
        s.world.loop = s.loop;
        artifact_store_init(&s.store, &s.world);
        s.store.volume = volume_new_in_memory(s.loop);
        s.store.address = "http://hub.example:9090";
        s.store.serving = true;
        struct fiber_group *root = fiber_group_new(s.loop, NULL, "test");

        assert_non_null(fiber_spawn(root, "test", play_in_fiber, &s));
        assert_int_equal(loop_run(s.loop, &s.err), 0);
        fiber_group_end(root);
        artifact_store_free(&s.store);
        volume_close(s.store.volume);
        arena_free(&s.arena);
        loop_free(s.loop);
}

static inline struct object *chart_named(struct scene *s, const char *name)
{
        struct object *o = ARENA_NEW(&s->arena, struct object);

        *o = (struct object){ .kind = &helm_chart_kind, .meta = { .ns = "apps", .name = name } };
        return o;
}

/* A file of the chart "podinfo". */
static inline int keep(struct scene *s, const char *file, const char *text, struct source_artifact *ret)
{
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        const char *path = artifact_path(&s->arena, chart_named(s, "podinfo"), file);

        TRY(artifact_begin(&s->store, path, &w, &s->err));
        TRY(artifact_append(&w, text, strlen(text), &s->err));
        return artifact_finish(&w, &s->arena, ret, &s->err);
}

static inline int join_names(void *ctx, const char *name, struct error *err)
{
        return buf_printf(ctx, "%s ", name);
}

static inline void assert_names(struct scene *s, const char *folder, const char *want)
{
        AUTO_BUF struct buf names;

        buf_init(&names, 4000);
        assert_int_equal(volume_each(s->store.volume, folder, join_names, &names, NULL), 0);
        assert_string_equal(names.data, want);
}
