#include "member-agent/properties/properties.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "member-agent/properties/usage_watch.h"
#include "proto/names.h"

/* What is told of first wins where two tell of the same: the operator's own come last. */
static const struct property_provider *const providers[] = { &cluster_properties, &namespace_properties,
                                                             &azure_properties, &own_properties };

struct running {
        const struct property_provider *provider;
        void *self;
        struct provider_course course;
};

struct property_set {
        struct loop *loop;
        struct usage_watch *usage;
        struct property_options options; /* of the providers */
        struct running at[ARRAY_LEN(providers)];
        size_t n;
        struct metrics *metrics;
};

/* ---- what providers add ---- */

static bool is_told(const struct property_collection *c, const char *name)
{
        for (uint32_t i = 0; i < c->properties.n; i++)
                if (text_equal(c->properties.at[i].key, name))
                        return true;
        return false;
}

int property_add(struct property_collection *c, const char *name, const char *value, int64_t observed_ms)
{
        struct property_value_map *m = &c->properties;
        struct property_value_entry *at;

        if (!name || !value)
                return ERR_NO_MEMORY;
        if (is_told(c, name))
                return 1;
        if ((m->n & (m->n - 1)) == 0) { /* room doubles */
                at = ARENA_NEW_ARRAY(c->arena, struct property_value_entry, m->n ? m->n * 2 : 1);
                if (!at)
                        return ERR_NO_MEMORY;
                if (m->n)
                        memcpy(at, m->at, m->n * sizeof(*at));
                m->at = at;
        }
        m->at[m->n++] =
                (struct property_value_entry){ .key = name,
                                               .value = { .value = value, .observation_time = observed_ms } };
        m->set = true;
        return 0;
}

int property_add_condition(struct property_collection *c, const char *type, bool status, const char *reason,
                           const char *message)
{
        struct condition one = { .type = type,
                                 .status = status ? CONDITION_TRUE : CONDITION_FALSE,
                                 .reason = reason,
                                 .message = message };

        return message && condition_set(&c->conditions, &one, c->now_ms, c->arena) >= 0 ? 0 : ERR_NO_MEMORY;
}

/* ---- start and collection of those with conditions of their own ---- */

static bool start_is_over(struct provider_course *c, enum property_state state, int64_t now_ms)
{
        if (c->start == COURSE_STARTED)
                return true;
        if (state == PROPERTIES_KNOWN || state == PROPERTIES_STALE)
                c->start = COURSE_STARTED;
        else if (state == PROPERTIES_FAILED)
                c->start = COURSE_FAILED;
        else if (now_ms - c->begun_ms >= PROPERTY_PATIENCE_MS)
                c->start = COURSE_TIMED_OUT;
        return c->start == COURSE_STARTED;
}

bool provider_course_step(struct provider_course *c, enum property_state state, int64_t now_ms,
                          bool *ret_hold)
{
        *ret_hold = false;
        if (!start_is_over(c, state, now_ms)) {
                *ret_hold = c->start == COURSE_STARTING;
                return false;
        }
        if (state == PROPERTIES_KNOWN || state == PROPERTIES_FAILED) {
                c->silent_since_ms = 0;
                c->collected = true;
                return true;
        }
        if (!c->silent_since_ms)
                c->silent_since_ms = MAX(now_ms, 1);
        if (now_ms - c->silent_since_ms >= PROPERTY_PATIENCE_MS)
                c->collected = false;
        *ret_hold = true;
        return false;
}

static int tell_start(struct property_collection *c, const struct provider_course *course,
                      const char *problem)
{
        switch (course->start) {
        case COURSE_STARTING:
                return 0;
        case COURSE_STARTED:
                return property_add_condition(c, CONDITION_PROPERTY_PROVIDER_STARTED, true,
                                              REASON_PROVIDER_STARTED,
                                              "The property provider has started successfully");
        case COURSE_FAILED:
                return property_add_condition(
                        c, CONDITION_PROPERTY_PROVIDER_STARTED, false, REASON_PROVIDER_FAILED_TO_START,
                        arena_printf(c->arena, "Failed to start the property provider: %s", problem));
        case COURSE_TIMED_OUT:
                return property_add_condition(c, CONDITION_PROPERTY_PROVIDER_STARTED, false,
                                              REASON_PROVIDER_TIMED_OUT,
                                              "The property provider does not start up in time");
        }
        return 0;
}

static int tell_collection(struct property_collection *c, const struct provider_course *course)
{
        if (course->start != COURSE_STARTED || (!course->collected && !course->silent_since_ms))
                return 0;
        if (course->collected)
                return property_add_condition(
                        c, CONDITION_PROPERTY_COLLECTION_SUCCEEDED, true, REASON_PROPERTIES_COLLECTED,
                        "The property provider has returned the latest cluster properties");
        return property_add_condition(c, CONDITION_PROPERTY_COLLECTION_SUCCEEDED, false,
                                      REASON_PROPERTIES_TIMED_OUT,
                                      "The property provider does not respond in time");
}

/* ---- a collection ---- */

/* Whether the provider is asked; *ret_hold: nothing is told that would leave out what it told before. */
static bool is_asked(struct property_set *s, struct running *r, enum property_state state, bool *ret_hold)
{
        bool goes;

        *ret_hold = false;
        if (!r->provider->patient)
                return state >= PROPERTIES_STALE;
        goes = provider_course_step(&r->course, state, loop_now_ms(s->loop), ret_hold);
        return goes || (!r->provider->plugged && !*ret_hold);
}

static int ask(struct property_set *s, struct running *r, const struct log *log,
               struct property_collection *c, bool *hold, struct error *err)
{
        uint32_t before = c->properties.n;
        const char *problem = "";
        enum property_state state = r->provider->state(r->self, &problem);
        bool holds, asked = is_asked(s, r, state, &holds);

        if (asked && r->provider->collect(r->self, c, err) < 0)
                return error_no_memory(err);
        if (r->provider->plugged &&
            (tell_start(c, &r->course, problem) < 0 || tell_collection(c, &r->course) < 0))
                return error_no_memory(err);
        if (!asked)
                log_info(log, "what the cluster has is not known yet", "provider", r->provider->name,
                         "problem", problem);
        c->complete = c->complete && (asked || (r->provider->patient && r->course.start != COURSE_STARTING));
        *hold = *hold || holds;
        metric_add(s->metrics, METRIC_PROPERTY_COLLECTIONS, 1,
                   (const char *[]){ r->provider->name, asked ? "collected" : "missing" });
        metric_set(s->metrics, METRIC_PROPERTIES, (double)(c->properties.n - before),
                   (const char *[]){ r->provider->name });
        return 0;
}

static int by_key(const void *a, const void *b)
{
        const struct property_value_entry *x = a, *y = b;

        return strcmp(x->key, y->key);
}

int property_set_collect(struct property_set *s, const struct log *log, struct property_collection *c,
                         struct error *err)
{
        bool hold = false;

        c->complete = true;
        for (size_t i = 0; i < s->n; i++)
                TRY(ask(s, &s->at[i], log, c, &hold, err));
        if (hold)
                c->usage = NULL;
        if (c->properties.n)
                qsort(c->properties.at, c->properties.n, sizeof(c->properties.at[0]), by_key);
        return 0;
}

const char **property_conditions_taken_back(const struct property_settings *settings, struct arena *arena)
{
        const char **at =
                ARENA_NEW_ARRAY(arena, const char *, ARRAY_LEN(providers) * PROPERTY_CONDITIONS_MAX + 1);
        size_t n = 0;

        for (size_t i = 0; at && i < ARRAY_LEN(providers); i++)
                if (providers[i]->taken_back)
                        n += providers[i]->taken_back(settings, at + n);
        return at;
}

/* ---- life ---- */

static int start(struct property_set *s, const struct property_provider *p, struct error *err)
{
        struct running *r = &s->at[s->n];

        if (!p->wanted(s->options.settings))
                return 0;
        *r = (struct running){ .provider = p, .course.begun_ms = loop_now_ms(s->loop) };
        r->self = p->start(&s->options, err);
        if (!r->self)
                return err->code;
        s->n++;
        return 0;
}

struct property_set *property_set_free(struct property_set *s)
{
        if (!s)
                return NULL;
        while (s->n > 0) {
                struct running *r = &s->at[--s->n];

                r->provider->stop(r->self);
        }
        usage_watch_free(s->usage);
        mem_free(s);
        return NULL;
}

struct property_set *property_set_new(struct kube_client *kube, struct fiber_group *group,
                                      const struct property_settings *settings, struct metrics *metrics,
                                      struct error *err)
{
        struct property_set *s = NEW(struct property_set);

        if (!s) {
                error_no_memory(err);
                return NULL;
        }
        s->loop = fiber_group_loop(group);
        s->usage = usage_watch_new(kube, group, !(settings->azure && settings->without_available), err);
        if (!s->usage)
                return property_set_free(s);
        s->options = (struct property_options){ kube, group, settings, s->usage, loop_wall_ms(s->loop) };
        s->metrics = metrics;
        for (size_t i = 0; i < ARRAY_LEN(providers); i++)
                if (start(s, providers[i], err) < 0)
                        return property_set_free(s);
        return s;
}
