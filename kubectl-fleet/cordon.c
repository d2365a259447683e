/* Cordoning, and kubectl fleet uncordoncluster: spec/staged-update-and-eviction.md 17.2, 17.3. */
#include "kubectl-fleet/cordon.h"

#include "kubectl-fleet/command.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

static const struct taint cordon_taint = { .key = "cordon-key",
                                           .value = "cordon-value",
                                           .effect = TAINT_NO_SCHEDULE };

static bool is_cordon(const struct taint *t)
{
        return text_equal(t->key, cordon_taint.key) && text_equal(t->value, cordon_taint.value) &&
               text_equal(t->effect, cordon_taint.effect);
}

/* The taints without any cordon, and one behind them if there shall be one. */
static int set_cordon(struct taint_list *l, bool cordoned, struct arena *arena)
{
        struct taint *kept = ARENA_NEW_ARRAY(arena, struct taint, l->n + 1);
        uint32_t n = 0;
        bool there = false;

        if (!kept)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < l->n; i++) {
                there = there || is_cordon(&l->at[i]);
                if (cordoned || !is_cordon(&l->at[i]))
                        kept[n++] = l->at[i];
        }
        if (cordoned && !there)
                kept[n++] = cordon_taint;
        *l = (struct taint_list){ kept, n, n > 0 };
        return 0;
}

struct change {
        const char *cluster;
        bool cordoned;
};

static int change_once(struct session *s, void *ctx, struct error *err)
{
        const struct change *c = ctx;
        struct member_cluster *wanted;
        struct object *now;

        TRY(kube_get(&s->hub, &member_cluster_kind, NULL, c->cluster, s->arena, &now, err));
        wanted = (struct member_cluster *)object_copy(now, s->arena);
        if (!wanted || (!wanted->spec && !(wanted->spec = ARENA_NEW(s->arena, struct member_cluster_spec))) ||
            set_cordon(&wanted->spec->taints, c->cordoned, s->arena) < 0)
                return error_no_memory(err);
        return kube_patch_diff(&s->hub, now, &wanted->object, OBJECT_META_SPEC, s->arena, NULL, err);
}

int cordon(struct session *s, const char *cluster, struct error *err)
{
        struct change c = { cluster, true };

        if (session_retry_conflicts(s, change_once, &c, err) < 0)
                return error_wrap(err, "failed to cordon member cluster %s", cluster);
        session_say(s, "Successfully cordoned member cluster %s by adding cordon taint", cluster);
        return 0;
}

int uncordon(struct session *s, const char *cluster, struct error *err)
{
        struct change c = { cluster, false };

        if (session_retry_conflicts(s, change_once, &c, err) < 0)
                return error_wrap(err, "failed to uncordon cluster %s", cluster);
        session_say(s, "uncordoned member cluster %s", cluster);
        return 0;
}

/* ---- the command ---- */

static int run_uncordon(struct session *s, struct error *err)
{
        return uncordon(s, s->options.cluster_name, err);
}

static const struct flag flags[] = {
        { "cluster-name", FLAG_STRING, "", OPTION(cluster_name), "Name of the MemberCluster.",
          .required = true, .completes = COMPLETES_CLUSTER },
        { "timeout", FLAG_DURATION, "5m", OPTION(timeout_ms), "How long all of it may take." },
};

const struct command uncordoncluster_command = {
        .name = "uncordoncluster",
        .summary = "Let placements come to a member cluster again",
        .about = "Take away the taint that draincluster put on a member cluster, so that placements may come "
                 "to it\n"
                 "again. Other taints stay.",
        .examples = "kubectl fleet uncordoncluster --cluster-name edge-1 --hub-cluster-context hub",
        .most = WORDS_ANY,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .hub_required = true,
        .published = true,
        .run = run_uncordon,
};
