/* One look at a bucket, its archive included, while memory fails: spec/helm-chart.md 12.2. */
#include "hub-agent/source/bucket.h"
#include "hub-agent/source/bucket_test.h"

struct scene {
        struct loop *loop;
        struct world world;
        struct loopback *net;
        struct kube_client kube;
        struct sources sources;
        struct source_options options;
        struct object_store store;
        struct buf wanted; /* the archive when nothing fails */
        bool done;
};

static int look(struct bucket_pass *b, struct artifact_writer *w, struct arena *arena)
{
        struct source_pass *p = b->pass;
        const char *path = artifact_path(arena, p->now, "x.tar.gz");
        struct source_artifact kept;

        if (!path)
                return ERR_NO_MEMORY;
        TRY(bucket_open(b));
        TRY(bucket_index(b));
        TRY(artifact_begin(&p->sources->store, path, w, p->rc->err));
        TRY(bucket_pack(b, w));
        return artifact_finish(w, arena, &kept, p->rc->err);
}

static int run(struct scene *s, struct error *err)
{
        static const struct bucket_spec spec = { .endpoint = STORE, .bucket_name = "apps" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct reconcile rc = { .arena = &arena, .kube = &s->kube, .err = err };
        const struct object now = { .kind = &bucket_kind, .meta = { .ns = "apps", .name = "files" } };
        struct source_pass p = { .rc = &rc, .sources = &s->sources, .now = &now };
        struct bucket_pass b = { .pass = &p, .spec = &spec };
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        int code = look(&b, &w, &arena);

        bucket_close(&b);
        return code;
}

static void read_archive(struct scene *s, struct buf *ret)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        char bytes[4096];
        size_t n;

        assert_int_equal(volume_open_file(s->options.volume, "bucket/apps/files/x.tar.gz", &file, NULL), 0);
        assert_int_equal(volume_read(file, 0, bytes, sizeof(bytes), &n, NULL), 0);
        buf_init(ret, sizeof(bytes));
        assert_int_equal(buf_append(ret, bytes, n), 0);
}

/* A failure may be the store's, too, which has the same heap: it is a failed request then, and tried again.
 */
static void play(void *ctx)
{
        struct scene *s = ctx;
        struct error err = { 0 };
        bool fired = true;
        int good = 0;

        assert_int_equal(run(s, &err), 0);
        read_archive(s, &s->wanted);
        size_t live = mem_live_count();
        for (uint64_t n = 1; fired; n++) {
                mem_fail_at(n, false);
                int code = run(s, &err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                (void)fiber_sleep(s->loop, 1000); /* the store's side ends */
                if (code != 0 && (!fired || (code != ERR_NO_MEMORY && code != ERR_RETRY)))
                        fail_msg("allocation %llu: %s", (unsigned long long)n, err.text);
                if (code == 0) {
                        AUTO_BUF struct buf made;

                        good++;
                        read_archive(s, &made);
                        assert_int_equal(made.len, s->wanted.len);
                        assert_memory_equal(made.data, s->wanted.data, made.len);
                }
                if (mem_live_count() > live + 2)
                        fail_msg("allocation %llu: %zu are left", (unsigned long long)n,
                                 mem_live_count() - live);
        }
        assert_true(good > 1);
        loopback_listen(s->net, STORE, NULL, NULL);
        http_transport_free(s->world.transport);
        loopback_free(s->net);
        s->done = true;
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        struct scene s = { .loop = loop_new_simulated(3, INT64_C(1767225600000), NULL) };

        s.world.loop = s.loop;
        s.net = loopback_new(s.loop);
        s.world.transport = loopback_transport(s.net, &s.world, NULL);
        s.kube.world = &s.world;
        s.options.volume = volume_new_in_memory(s.loop);
        s.sources.options = &s.options;
        artifact_store_init(&s.sources.store, &s.world);
        s.sources.store.volume = s.options.volume;
        s.sources.store.address = "http://hub.example";
        s.store = (struct object_store){ .page = 2 };
        keep_in(&s.store, ".sourceignore", "e", "*.txt\n");
        keep_in(&s.store, "b/c.yaml", "e1", "kind: B\n");
        keep_in(&s.store, "a.yaml", "e2", "kind: A\n");
        keep_in(&s.store, "b/d/e.yaml", "e3", "");
        keep_in(&s.store, "z.txt", "e4", "no");
        assert_int_equal(loopback_listen(s.net, STORE, answer_by_path, &s.store), 0);
        struct fiber_group *group = fiber_group_new(s.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "play", play, &s));
        assert_int_equal(loop_run(s.loop, NULL), 0);
        assert_true(s.done);
        fiber_group_end(group);
        artifact_store_free(&s.sources.store);
        volume_close(s.options.volume);
        loop_free(s.loop);
        buf_free(&s.wanted);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
