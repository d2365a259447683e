/* What is on the volume and of no use: files of a crash, folders of objects that went while nobody looked. */
#include <ctype.h>

#include "common/base/memory.h"
#include "hub-agent/source/store/store.h"

struct sweep {
        struct artifact_store *store;
        const struct artifact_owners *owners;
        const char *kind, *ns, *folder; /* folder: of the level that is looked at */
};

static int each_of(struct sweep *s, const char *folder,
                   int (*fn)(void *ctx, const char *name, struct error *err), struct error *err)
{
        s->folder = folder;
        int code = volume_each(s->store->volume, folder, fn, s, err);

        if (code == ERR_NOT_FOUND || code == ERR_UNSUPPORTED) /* a stray file is nobody's: it stays */
                error_clear(err);
        return code == ERR_NOT_FOUND || code == ERR_UNSUPPORTED ? 0 : code;
}

static int sweep_file(void *ctx, const char *name, struct error *err)
{
        struct sweep *s = ctx;
        AUTO_FREE char *path = mem_printf("%s/%s", s->folder, name);

        if (!path)
                return error_no_memory(err);
        return text_starts_with(name, VOLUME_TEMPORARY) ? volume_remove(s->store->volume, path, err) : 0;
}

static int sweep_object(void *ctx, const char *name, struct error *err)
{
        struct sweep *s = ctx, below = *s;
        AUTO_FREE char *path = mem_printf("%s/%s", s->folder, name);

        if (!path)
                return error_no_memory(err);
        if (!s->owners->is_there(s->owners->ctx, s->kind, s->ns, name))
                return volume_remove_all(s->store->volume, path, err);
        return each_of(&below, path, sweep_file, err);
}

static int sweep_namespace(void *ctx, const char *name, struct error *err)
{
        struct sweep *s = ctx, below = *s;
        AUTO_FREE char *path = mem_printf("%s/%s", s->folder, name);
        struct volume_info info;

        if (!path)
                return error_no_memory(err);
        below.ns = name;
        TRY(each_of(&below, path, sweep_object, err));
        if (volume_look(s->store->volume, path, &info, NULL) == 0 && info.kind == VOLUME_FOLDER)
                (void)volume_remove(s->store->volume, path, NULL); /* unless there is something in it */
        return 0;
}

int artifact_sweep(struct artifact_store *s, const struct kind *kind, const struct artifact_owners *owners,
                   struct error *err)
{
        AUTO_FREE char *folder = mem_strdup(kind->kind);
        struct sweep sweep = { s, owners, folder, NULL, NULL };

        if (!folder)
                return error_no_memory(err);
        for (char *c = folder; *c; c++)
                *c = (char)tolower((unsigned char)*c);
        return each_of(&sweep, folder, sweep_namespace, err);
}
