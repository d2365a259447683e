/* The objects of a bucket, fetched and put into its archive. Several come at once, each into a file of the
 * volume that has no name; they go into the archive one by one, in the order of their keys.
 * spec/helm-chart.md 12.2. */
#include "common/base/memory.h"
#include "hub-agent/source/bucket.h"
#include "hub-agent/source/tree_archive.h"

#define DOWNLOADS 4
#define TRIES 3
#define RETRY_MS 250
#define PACKING_MS 1800000     /* after the last object came */
#define PIECE_BYTES (1u << 20) /* packed at a time */

struct packing {
        struct bucket_pass *bucket;
        struct artifact_writer *into;
        struct tree_archive *archive;
        char *piece;       /* of who has its turn */
        const char *spool; /* beside what name files stand until they are in the archive */
        size_t turn;       /* whose turn it is to go there */
        struct waitq turns;
        bool has_failed;
        bool no_room; /* it was the volume that failed */
};

static int fail(struct packing *k, int code, bool of_volume)
{
        if (!k->has_failed)
                k->no_room = of_volume && code != ERR_NO_MEMORY && code != ERR_CANCELLED;
        k->has_failed = true;
        waitq_wake_all(&k->turns);
        return code;
}

/* ---- one object comes ---- */

struct download {
        struct packing *packing;
        const struct s3_object *object;
        struct volume_writer *file;
        uint64_t size;
        bool no_room;
};

static int take(void *ctx, const void *data, size_t n, struct error *err)
{
        struct download *d = ctx;
        int code = volume_append(d->file, data, n, err);

        d->size += n;
        d->no_room = code < 0;
        return code;
}

static int get(struct download *d, const struct s3_client *c, struct error *err)
{
        const struct s3_object *o = d->object;
        const struct transfer_sink sink = { take, d };
        int code;

        d->file = volume_abandon(d->file);
        d->size = 0;
        code = volume_create(d->packing->bucket->pass->sources->store.volume, d->packing->spool, &d->file,
                             err);
        d->no_room = code < 0;
        TRY(code);
        TRY(s3_get(c, o->key, o->tag, o->size, &sink, err));
        if (d->size == o->size)
                return 0;
        return error_set(err, ERR_CONFLICT, "it has %llu bytes, and was listed with %llu",
                         (unsigned long long)d->size, (unsigned long long)o->size);
}

static bool may_try_again(const struct error *err)
{
        return err->code == ERR_RETRY &&
               (err->http_status == 0 || err->http_status == 429 || err->http_status >= 500);
}

static int fetch(struct download *d, struct reconcile *one)
{
        struct transfer t = d->packing->bucket->transfer;
        struct s3_client c = d->packing->bucket->client;
        struct loop *l = one->kube->world->loop;
        int code;

        t.arena = one->arena;
        c.transfer = &t;
        for (int i = 0;; i++) {
                code = get(d, &c, one->err);
                if (code == 0 || d->no_room || i + 1 == TRIES || !may_try_again(one->err) ||
                    loop_now_ms(l) + (RETRY_MS << i) >= t.deadline_ms)
                        break;
                if (fiber_sleep(l, RETRY_MS << i) < 0)
                        return error_set(one->err, ERR_CANCELLED, "cancelled");
                error_clear(one->err);
        }
        if (code < 0)
                error_wrap(one->err, "failed to get '%s' object%s", d->object->key,
                           code == ERR_CONFLICT ? ", which changed since it was listed" : "");
        return code;
}

/* ---- it goes into the archive ---- */

struct appending {
        struct tree_archive *archive;
        const struct s3_object *object;
        struct volume_writer *file;
        char *piece;
        uint64_t at; /* what of it went there */
        struct error err;
        int code;
};

static int append_piece(struct appending *a, struct error *err)
{
        size_t n = 0;

        if (a->at == 0)
                TRY(tree_archive_begin(a->archive, a->object->key, a->object->size, err));
        TRY(volume_read_written(a->file, a->at, a->piece, PIECE_BYTES, &n, err));
        if (n == 0 && a->at < a->object->size)
                return error_set(err, ERR_SYSTEM, "%s: what was kept of it is gone", a->object->key);
        a->at += n;
        return tree_archive_add(a->archive, (struct slice){ a->piece, n }, err);
}

static void append_offloaded(void *ctx)
{
        struct appending *a = ctx;

        a->code = append_piece(a, &a->err);
}

static int append(struct packing *k, struct download *d, struct reconcile *one)
{
        struct appending a = {
                .archive = k->archive, .object = d->object, .file = d->file, .piece = k->piece
        };

        do {
                TRY(offload(one->kube->world->loop, append_offloaded, &a, one->err));
                if (a.code < 0) {
                        *one->err = a.err;
                        return a.code;
                }
        } while (a.at < d->size);
        return 0;
}

/* Those before it were begun before it, so one of them is at work, or failed. */
static int await_turn(struct packing *k, size_t i, struct error *err)
{
        struct loop *l = k->bucket->pass->rc->kube->world->loop;
        int64_t deadline_ms = k->bucket->transfer.deadline_ms + PACKING_MS;

        while (k->turn != i && !k->has_failed) {
                int code = waitq_wait(l, &k->turns, deadline_ms);

                if (code < 0)
                        return error_set(err, code, "%s",
                                         code == ERR_TIMEOUT ? "packing takes too long" : "cancelled");
        }
        return k->has_failed ? error_set(err, ERR_CANCELLED, "another object failed") : 0;
}

static int pack_one(struct reconcile *one, void *ctx, size_t i)
{
        struct packing *k = ctx;
        struct download d = { .packing = k, .object = &k->bucket->objects.all.at[i] };
        int code = fetch(&d, one);

        if (code < 0) {
                code = fail(k, code, d.no_room);
        } else if ((code = await_turn(k, i, one->err)) < 0) {
                code = fail(k, code, false);
        } else if ((code = append(k, &d, one)) < 0) {
                code = fail(k, code, true);
        } else {
                k->turn++;
                waitq_wake_all(&k->turns);
        }
        volume_abandon(d.file);
        return code;
}

/* ---- all of them ---- */

static int put(void *ctx, const void *data, size_t n, struct error *err)
{
        return artifact_append(ctx, data, n, err);
}

static int pack_all(struct packing *k)
{
        struct bucket_pass *b = k->bucket;
        struct reconcile *rc = b->pass->rc;

        if (rc_for_each_of(rc, DOWNLOADS, b->objects.all.n, pack_one, k) < 0) {
                if (k->no_room)
                        return source_fails(b->pass, &failing_storage);
                error_wrap(rc->err, "fetch from bucket '%s' failed", b->spec->bucket_name);
                return source_fails(b->pass, &failing_bucket);
        }
        return tree_archive_end(k->archive, rc->err) < 0 ? source_fails(b->pass, &failing_storage) : 0;
}

int bucket_pack(struct bucket_pass *b, struct artifact_writer *into)
{
        struct source_pass *p = b->pass;
        const struct archive_sink sink = { put, into };
        struct packing k = { .bucket = b,
                             .into = into,
                             .archive = tree_archive_new(&sink),
                             .piece = mem_alloc(PIECE_BYTES),
                             .spool = artifact_path(p->rc->arena, p->now, "object") };
        int code;

        list_init(&k.turns.waiters);
        bucket_set_deadline(b);
        code = k.archive && k.piece && k.spool ? pack_all(&k) : error_no_memory(p->rc->err);
        mem_free(k.piece);
        tree_archive_free(k.archive);
        return code;
}
