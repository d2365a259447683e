/* Answers of the services that inputs come from: whatever they say, asking ends, what is taken can be
 * exported, and no message tells the credentials. The first byte picks the service, the rest of the first
 * line is where it says the next page is, then comes the body of every answer. */
#include "common/net/http_server.h"
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/input-provider/exports.h"
#include "hub-agent/input-provider/source.h"

#define SECRET "s3cr3t-that-stays"
#define WALL INT64_C(1767225600000)

static const struct {
        const char *type, *url;
} services[] = { { "GitHubBranch", "https://git.example/o/r" },
                 { "GitHubTag", "https://git.example/o/r" },
                 { "GitHubPullRequest", "https://git.example/o/r" },
                 { "GitLabBranch", "https://git.example/g/p" },
                 { "GitLabTag", "https://git.example/g/p" },
                 { "GitLabMergeRequest", "https://git.example/g/p" },
                 { "GitLabEnvironment", "https://git.example/g/p" },
                 { "GiteaBranch", "https://git.example/o/r" },
                 { "GiteaPullRequest", "https://git.example/o/r" },
                 { "AzureDevOpsBranch", "https://git.example/o/p/_git/r" },
                 { "AzureDevOpsPullRequest", "https://git.example/o/p/_git/r" },
                 { "OCIArtifactTag", "oci://git.example/a/b" },
                 { "ExternalService", "https://git.example/inputs" } };

struct trial {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct source_memory memory;
        struct source source;
        struct arena arena;
        const char *next;
        struct slice body;
        struct error err;
        int code;
};

static void answer(void *ctx, struct http_exchange *x)
{
        struct trial *t = ctx;
        struct http_header headers[] = { { "Link", t->next }, { "X-Next-Page", t->next } };
        struct http_headers extra = { headers, *t->next ? ARRAY_LEN(headers) : 0 };
        http_reply(x, 200, "application/json", t->body, &extra);
}

static void check_exports(struct trial *t)
{
        static const struct export_rules rules;
        AUTO_JSON json_t *exports = NULL;
        json_t *set;
        size_t i;
        int code = t->source.sets
                           ? exports_of_sets(&rules, t->source.sets, &exports, NULL)
                           : exports_of_refs(&rules, t->source.refs.at, t->source.refs.n, &exports, NULL);
        ASSERT(code == 0 || code == ERR_LIMIT);
        json_array_foreach(exports, i, set)
                ASSERT(json_is_string(json_object_get(set, "id")));
}

static void ask(void *ctx)
{
        struct trial *t = ctx;
        t->code = source_collect(&t->source, &t->err);
        if (t->code == 0)
                check_exports(t);
        source_free(&t->source);
        source_memory_free(&t->memory);
        http_transport_free(t->world.transport);
        t->net = loopback_free(t->net);
}

static void try_source(struct trial *t)
{
        struct fiber_group *group;
        t->loop = mem_must(loop_new_simulated(1, WALL, NULL));
        t->world.loop = t->loop;
        t->net = mem_must(loopback_new(t->loop));
        t->world.transport = mem_must(loopback_transport(t->net, &t->world, NULL));
        ASSERT(loopback_listen(t->net, "git.example", answer, t) == 0);
        source_memory_init(&t->memory);
        t->source.world = &t->world;
        t->source.arena = &t->arena;
        t->source.memory = &t->memory;
        t->source.credentials.password = t->source.credentials.token = SECRET;
        t->source.credentials.username = "me";
        t->source.filter.limit = FILTER_LIMIT_DEFAULT;
        t->source.deadline_ms = loop_now_ms(t->loop) + 120000;
        group = mem_must(fiber_group_new(t->loop, NULL, "fuzz"));
        mem_must(fiber_spawn(group, "ask", ask, t));
        ASSERT(loop_run(t->loop, &(struct error){ 0 }) == 0);
        fiber_group_end(group);
        loop_free(t->loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct trial t = { .body = input_of(data, size) };
        struct slice line = first_line(&t.body);
        if (!line.len || memmem(data, size, SECRET, strlen(SECRET)))
                return 0;
        t.source.type = services[(uint8_t)line.data[0] % ARRAY_LEN(services)].type;
        t.source.url = services[(uint8_t)line.data[0] % ARRAY_LEN(services)].url;
        t.next = arena_strndup(&t.arena, line.data + 1, line.len - 1);
        for (const char *c = t.next; *c; c++)
                if ((unsigned char)*c < 0x20 || *c == 0x7f)
                        t.next = "";
        try_source(&t);
        ASSERT((t.code == 0) == !*t.err.text);
        ASSERT(!strstr(t.err.text, SECRET));
        arena_free(&t.arena);
        return 0;
}
