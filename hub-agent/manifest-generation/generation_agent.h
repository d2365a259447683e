/* What hangs on one running manifest-generator. Private to this folder. */
#pragma once

#include "common/ctrl/health.h"
#include "common/kube/mapping.h"
#include "hub-agent/manifest-generation/hub_view.h"
#include "hub-agent/manifest-generation/load.h"
#include "hub-agent/manifest-generation/manifest_generator.h"
#include "hub-agent/manifest-generation/repository_state.h"
#include "hub-agent/manifest-generation/sync_status.h"
#include "hub-agent/manifest-generation/timetable.h"

/* What the last sync found in the repository: kept for what has to be applied again meanwhile. */
struct desired {
        struct arena arena;
        struct loaded loaded;
        struct sync_item *items; /* in order of applying */
        size_t n;
        struct map by_identity; /* of items */
};
struct desired *desired_free(struct desired *d); /* NULL is fine */

enum item_outcome { ITEM_UNCHANGED, ITEM_CHANGED, ITEM_FAILED, ITEM_IGNORED, ITEM_OUTSIDE };

struct sync_item {
        struct sync_object object;
        char mark[SYNC_MARK_SIZE], checksum[SYNC_CHECKSUM_SIZE];
        /* Of the last run: */
        enum item_outcome outcome;
        const char *problem; /* failed: why */
        bool told;           /* and an event said so */
};

struct generator_agent {
        const struct generation_options *options;
        struct world *world;
        struct log log;
        struct kube_client kube;
        struct kube_connection *connection;
        struct intern_table *interns;
        struct metrics *metrics;
        struct manager *manager;
        struct kube_mapper *mapper;
        struct fiber_group *group;

        struct sync_rules rules;
        char set_name[SYNC_SET_SIZE];
        struct commands commands;
        struct generator_cache *cache;

        struct repository_status repository;
        struct timetable timetable;
        struct hub_view *view;
        struct informer *requests; /* ConfigMaps */
        struct map owed;           /* what they are to be told, and those that are done: uid -> owed_answer */
        struct desired *desired;   /* NULL = there was no sync yet */
        unsigned sync_failures;    /* in a row */
        bool command_failed;       /* in the last sync */

        /* Of the last sync: */
        struct git_hash head, synced;
        bool recorded; /* `state` is what the repository's record should be */
        struct git_hash state;
        bool told_moved;   /* the record was moved by somebody else, and that was told */
        int64_t synced_ms; /* wall time; 0 = never */
        size_t objects, changed, ignored, failed, deleted;
        struct sync_problems problems;
        struct path_record *records; /* of each path */
        bool records_grew;           /* one has more objects than the status says */
        const char *const *paths;    /* at least one */
        size_t n_paths;
        char *images;     /* why registries could not be read; NULL */
        json_t *status;   /* as it was written last */
        bool read_status; /* the ConfigMap of an earlier process was read */
        struct map told;  /* identities that were warned of once: unknown scopes, ... */
};

static inline struct generator_agent *generator_of(struct reconcile *rc)
{
        return rc->agent;
}

/* ---- requests ---- */

int requests_open(struct generator_agent *a); /* ERR_NO_MEMORY */
void owed_answer_free(void *owed);            /* of `owed` */
size_t requests_waiting(const struct generator_agent *a);
/* Works on the oldest one. 0, also when it failed; ERR_CANCELLED, ERR_NO_MEMORY. */
int request_run(struct reconcile *rc);
int images_poll(struct reconcile *rc); /* the same, of all that is automated */

extern const struct controller work_controller, request_controller;
#define WORK_KEY "work"
void work_ask(struct generator_agent *a); /* something may be due */

/* ---- the steps ---- */

/* All that is due of the repository. A new HEAD asks for a sync. What fails is in the agent's state: 0 or
 * ERR_CANCELLED. */
int repository_steps(struct generator_agent *a, struct error *err);
/* Fetches at once: 0, or why it is not ready. */
int repository_refresh(struct generator_agent *a, struct error *err);

/* All of the repository. `confirmed_ms`: when somebody asked that collection that was held then goes on;
 * TIME_NONE = nobody did. 0 also when single objects failed;
 * else why nothing was synced, or a target path was left out. */
int sync_all(struct reconcile *rc, int64_t confirmed_ms, struct error *err);
int work_sync(struct reconcile *rc, int64_t confirmed_ms); /* the same, with what is told of it */
/* What failed or drifted and is due. ERR_CANCELLED, ERR_NO_MEMORY. */
int sync_mend(struct reconcile *rc, struct error *err);

/* How the files of a checkout become objects. `changed`: they are not the commit's any more, so nothing is
 * kept of what is generated, and nothing taken. Borrows all. */
struct load_setup {
        struct generation generation;
        struct resource_rules rules;
        struct load load;
};
void load_setup(struct generator_agent *a, const struct git_hash *commit, const struct checkout *c,
                bool changed, struct load_setup *ret);
int sync_load_checkout(struct generator_agent *a, const struct git_hash *commit, const struct checkout *c,
                       bool changed, struct arena *arena, struct loaded *ret, struct error *err);
/* The same in a checkout of its own, which is gone afterwards. */
int sync_load(struct generator_agent *a, const struct git_hash *commit, struct arena *arena,
              struct loaded *ret, struct error *err);
/* Objects in order of applying. */
int sync_items(struct generator_agent *a, struct desired *d, struct error *err);
int sync_apply(struct reconcile *rc, struct desired *d, bool due_only, struct error *err);
/* Deletes what is not wanted any more; *ret_n: how many. Single failures are problems. */
int sync_collect(struct reconcile *rc, const struct desired *d, size_t *ret_n, struct error *err);

/* The commit synced last; none: there was none. */
int sync_state_read(struct generator_agent *a, struct git_hash *ret, struct error *err);
int sync_state_write(struct generator_agent *a, const struct git_hash *to, struct error *err);

bool is_told(struct generator_agent *a, const char *text);   /* and from now on it is */
void warn_once(struct generator_agent *a, const char *text); /* in the log */
/* Events about the agent itself; the text is cut where events are. */
void generation_event(struct generator_agent *a, const char *type, const char *reason, const char *text);
void generation_event_about(struct generator_agent *a, const struct sync_object *o, const char *type,
                            const char *reason, const char *text);
void generation_tell_failure(struct generator_agent *a, struct sync_item *item);
int generation_write_status(struct generator_agent *a, struct error *err);
/* Once: what an earlier process left there. */
int generation_read_status(struct generator_agent *a, struct error *err);
