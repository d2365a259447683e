#include "e2e/chart-runner/volumes.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/volume_files.h"

static int folder_of(const json_t *volume, const struct volume_source *s, struct arena *arena,
                     const char **ret, struct error *err)
{
        const char *claim = doc_get_string(volume, "persistentVolumeClaim.claimName"), *name = NULL;

        TRY(doc_need_string(volume, "name", &name, err));
        *ret = claim ? arena_printf(arena, "%s/%s", s->claims, claim)
                     : arena_printf(arena, "%s/volumes/%s", s->folder, name);
        return *ret ? 0 : error_no_memory(err);
}

/* For all to write; with an fsGroup for that group, which new files in it get too. */
static int make_empty(const char *folder, const struct volume_source *s, struct error *err)
{
        TRY(folder_make(folder, err));
        if (s->gid >= 0 && chown(folder, (uid_t)-1, (gid_t)s->gid) < 0)
                return error_errno(err, errno, "chown %s", folder);
        if (chmod(folder, s->gid >= 0 ? 02777 : 0777) < 0)
                return error_errno(err, errno, "chmod %s", folder);
        return 0;
}

static int make_volume(const json_t *pod, const json_t *volume, const struct volume_source *s,
                       int64_t *renew_ms, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct volume_files files;
        const char *folder = NULL;

        TRY(folder_of(volume, s, &arena, &folder, err));
        if (!volume_has_files(volume)) {
                if (!doc_get(volume, "emptyDir") && !doc_get(volume, "persistentVolumeClaim"))
                        return error_set(err, ERR_UNSUPPORTED, "this kind of volume is not supported");
                return make_empty(folder, s, err);
        }
        TRY(volume_files(pod, volume, s, &arena, &files, err));
        *renew_ms = MIN(*renew_ms, files.renew_ms);
        return volume_files_write(&files, folder, s->uid, s->gid, err);
}

int pod_volumes(const json_t *pod, const struct volume_source *s, int64_t *ret_renew_ms, struct error *err)
{
        int64_t renew = INT64_MAX;
        json_t *volume;
        size_t i;

        json_array_foreach(doc_get_array(pod, "spec.volumes"), i, volume) {
                const char *name = doc_get_string(volume, "name");

                if (make_volume(pod, volume, s, &renew, err) < 0)
                        return error_wrap(err, "MountVolume.SetUp failed for volume \"%s\"",
                                          name ? name : "");
        }
        *ret_renew_ms = renew;
        return 0;
}

static const json_t *find_volume(const json_t *pod, const char *name)
{
        json_t *volume;
        size_t i;

        json_array_foreach(doc_get_array(pod, "spec.volumes"), i, volume)
                if (text_equal(doc_get_string(volume, "name"), name))
                        return volume;
        return NULL;
}

int pod_mount_source(const json_t *pod, const json_t *mount, const struct volume_source *s,
                     struct arena *arena, const char **ret, struct error *err)
{
        const char *name = "", *sub = "", *folder = NULL;
        const json_t *volume;

        TRY(doc_need_string(mount, "name", &name, err));
        TRY(doc_want_string(mount, "subPath", &sub, err));
        volume = find_volume(pod, name);
        if (!volume)
                return error_set(err, ERR_INVALID, "no volume \"%s\" in the pod", name);
        if (strstr(sub, "..") || *sub == '/')
                return error_set(err, ERR_INVALID, "subPath %s leads out of the volume", sub);
        TRY(folder_of(volume, s, arena, &folder, err));
        *ret = *sub ? arena_printf(arena, "%s/%s", folder, sub) : folder;
        if (!*ret)
                return error_no_memory(err);
        /* A subPath of an empty volume is a folder that comes into being with the mount. */
        return *sub && !volume_has_files(volume) ? make_empty(*ret, s, err) : 0;
}
