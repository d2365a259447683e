/* A chart in the archive of a Git repository or a bucket. spec/helm-chart.md 5.5. */
#include "hub-agent/source/helm_chart.h"

#include "common/loop/volume.h"

#define PART_CHARS 12

/* "main@sha1:4e5c..." and "sha256:4e5c...": behind the last colon. */
static const char *part_of_revision(struct arena *arena, const char *revision)
{
        const char *colon = strrchr(or_empty(revision), ':');

        return arena_printf(arena, "%.*s", PART_CHARS, colon ? colon + 1 : or_empty(revision));
}

int chart_from_archive(struct chart_pass *c, const struct source_artifact *a)
{
        struct reconcile *rc = c->pass->rc;
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        size_t n = 0, size;
        char *bytes;

        if (volume_open_file(c->pass->sources->store.volume, a->path, &file, rc->err) < 0)
                return source_fails(c->pass, &failing_read);
        size = volume_reader_size(file);
        bytes = arena_alloc(rc->arena, size + 1);
        if (!bytes)
                return error_no_memory(rc->err);
        if (volume_read(file, 0, bytes, size, &n, rc->err) < 0)
                return source_fails(c->pass, &failing_read);
        c->build.archive = (struct slice){ bytes, n };
        c->build.of_source = true;
        c->build.path = c->spec->chart;
        if (!text_equal(c->spec->reconcile_strategy, "Revision"))
                return 0;
        c->build.revision_part = part_of_revision(rc->arena, a->revision);
        return c->build.revision_part ? 0 : error_no_memory(rc->err);
}
