/* Shared by shards.c (a replica's steps), shards_leases.c (what it writes), shards_look.c (what the leases
 * say) and shards_turns.c (what becomes of a shard). */
#pragma once

#include "common/base/vec.h"
#include "common/ctrl/shards.h"

#define SHARD_LEASE_NAME_SIZE 256
#define SHARD_LABEL_SIZE 8

enum shard_state {
        SHARD_FREE,   /* not worked on; its lease may be ours still, and is not renewed */
        SHARD_TAKEN,  /* its lease is ours; work has not begun */
        SHARD_OWNED,  /* worked on */
        SHARD_GIVING, /* what runs is waited for; then its lease is given back */
};

struct shard {
        struct shards *of;
        struct leader lease;
        char name[SHARD_LEASE_NAME_SIZE];
        enum shard_state state;
        uint32_t term;
        bool stale;     /* another may have had it since we last worked on it */
        bool worked_on; /* and not given up in order since: a write may be on its way */
        bool ours;      /* nobody else had it since we last held it */
        bool founded;   /* we made its lease, and nobody worked before: not taken since */
        bool writing;   /* a request about its lease is under way */
        bool listed;    /* by the list that is looked at */
        int64_t free_since_ms, gone_since_ms; /* loop; -1 = it is not */
};

/* Another replica. */
struct peer {
        struct leader lease;
        char name[SHARD_LEASE_NAME_SIZE];
        char *identity;
        bool living, listed;
};

struct shards {
        struct shards_options o;
        struct loop *loop;
        struct fiber_group *group;
        struct leader layout, presence;
        char layout_holder[16], label[SHARD_LABEL_SIZE], presence_name[SHARD_LEASE_NAME_SIZE];
        struct shard at[SHARDS_MAX];
        VEC(struct peer *) peers;
        bool joined, leaving;
        bool taking_over, giving_up; /* such a fiber runs */
        bool told_wait;
        int64_t looked_ms; /* when the leases were last seen; -1 = never */
        struct timer lapse;
};

int64_t shards_now_ms(const struct shards *s); /* of this very moment */
/* What a lease of this layout is: of a replica or a shard. */
struct leader_options shards_lease_options(const struct shards *s, const char *name, const char *identity);
/* Lists the leases and judges them. 0, or why they could not be read. */
int shards_look(struct shards *s, int64_t call_deadline_ms, json_t **ret_items, struct error *err);
/* What the list said, as the plan wants it; good as long as the items are. */
int shards_view(struct shards *s, struct arena *arena, json_t *items, struct shards_view *ret);
struct peer *peer_free(struct peer *p);
/* Others that live, by a list of this moment. */
int shards_count_others(struct shards *s, int64_t call_deadline_ms, size_t *ret, struct error *err);
extern const struct kube_resource lease_resource;

/* ---- shards.c ---- */
bool shards_holds(const struct shards *s, const struct leader *le); /* by the clock of this very moment */

/* ---- shards_turns.c ---- */
shard_set shards_in_state(const struct shards *s, enum shard_state state);
shard_set shards_held_set(const struct shards *s); /* in any state but FREE */
void shards_show_held(const struct shards *s);     /* on /metrics */
extern const char shards_too_late[], shards_too_late_layout[];
void shards_lose(struct shards *s, shard_set set, const char *why); /* no write of them goes out any more */
void shards_expire(
        struct shards *s); /* what was not renewed in time is lost, whether anybody took it or not */
void shards_arm_lapse(struct shards *s);                          /* so that this happens in time */
int64_t shards_arriving_ms(const struct shards *s, shard_set of); /* as shards_work.arriving_ms */
void shards_begin_giving(struct shards *s, shard_set set);
void shards_release_one(struct shard *sh);
void shards_take_over(void *shards); /* fiber: all that are TAKEN */
void shards_give_up(void *shards);   /* fiber: all that are GIVING */

/* ---- shards_leases.c ---- */
int64_t shards_patience_ms(const struct shards *s); /* how long one request may take */
void shards_tell_problem(struct shards *s, const char *what, const struct error *err);
int shards_write(struct shards *s, shard_set set); /* takes or renews their leases */
/* 0 also where it is not ours yet; ERR_TIMEOUT when it was ours and is another's. */
int shards_hold_layout(struct shards *s, struct error *err);
void shards_show_presence(struct shards *s);
void shards_release_held(struct shards *s);
int shards_release_layout(struct shards *s, struct error *err);
