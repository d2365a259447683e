/* Images as workloads name them. */
#include "hub-agent/manifest-generation/update/workload.h"

#include "hub-agent/manifest-generation/update/words.h"

#define DOCKER_HUB "index.docker.io"
#define TAG_MAX 128

static bool is_letter_or_digit(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool image_is_tag(const char *s)
{
        size_t n = strlen(s);

        if (n == 0 || n > TAG_MAX || (!is_letter_or_digit(*s) && *s != '_'))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!is_letter_or_digit(s[i]) && !strchr("_.-", s[i]))
                        return false;
        return true;
}

/* The first part is a registry if it cannot be a folder: it has a dot or a port, or is localhost. */
static bool is_registry(struct slice part)
{
        return slice_is(part, "localhost") || memchr(part.data, '.', part.len) ||
               memchr(part.data, ':', part.len);
}

static bool is_path(const char *s)
{
        struct slice rest = slice_of(s), part;
        bool more = true;

        while (more) {
                more = slice_cut(&rest, '/', &part);
                if (part.len == 0 || !is_letter_or_digit(part.data[0]) ||
                    !is_letter_or_digit(part.data[part.len - 1]))
                        return false;
                for (size_t i = 0; i < part.len; i++)
                        if (!is_letter_or_digit(part.data[i]) && !strchr("_.-", part.data[i]))
                                return false;
        }
        return true;
}

static bool is_host(const char *s)
{
        for (; *s; s++)
                if (!is_letter_or_digit(*s) && !strchr(".:-[]", *s))
                        return false;
        return true;
}

static bool is_digest(const char *s)
{
        const char *hex = strchr(s, ':');

        return hex && hex > s && strlen(hex + 1) >= 32 &&
               strspn(hex + 1, "0123456789abcdef") == strlen(hex + 1);
}

static const char *problem_of(const struct image_ref *r, bool has_tag, bool has_digest)
{
        if (!*r->path)
                return "it has no name";
        if (!is_host(r->registry) || !is_path(r->path))
                return "its name is none that registries have";
        if (has_tag && !image_is_tag(r->tag))
                return "its tag is none that registries have";
        return has_digest && !is_digest(r->digest) ? "its digest is none" : NULL;
}

static int refuse(struct arena *arena, const char *text, const char *why, struct error *err)
{
        const char *quoted = words_quote(arena, text);

        return quoted ? error_set(err, ERR_INVALID, "invalid image %s: %s", quoted, why)
                      : error_no_memory(err);
}

/* The part behind the last colon, unless that belongs to a port. */
static bool cut_tag(struct slice *name, struct slice *ret_tag)
{
        const char *colon = memrchr(name->data, ':', name->len);

        *ret_tag = SLICE("");
        if (!colon || memchr(colon, '/', (size_t)(name->data + name->len - colon)))
                return false;
        *ret_tag = (struct slice){ colon + 1, (size_t)(name->data + name->len - colon - 1) };
        name->len = (size_t)(colon - name->data);
        return true;
}

int image_ref_parse(struct arena *arena, const char *text, struct image_ref *ret, struct error *err)
{
        struct slice rest = slice_of(text), name, tag, path, registry;
        bool has_digest, has_tag;
        const char *problem;
        struct image_ref r;

        if (rest.len > IMAGE_TEXT_MAX)
                return error_set(err, ERR_LIMIT, "an image has more than %d bytes", IMAGE_TEXT_MAX);
        has_digest = slice_cut(&rest, '@', &name);
        has_tag = cut_tag(&name, &tag);
        path = name;
        if (!slice_cut(&path, '/', &registry) || !is_registry(registry)) {
                path = name;
                registry = SLICE("");
        }
        r = (struct image_ref){ arena_strdup(arena, text),    words_slice(arena, name),
                                words_slice(arena, registry), words_slice(arena, path),
                                words_slice(arena, tag),      words_slice(arena, rest) };
        if (!r.text || !r.name || !r.registry || !r.path || !r.tag || !r.digest)
                return error_no_memory(err);
        problem = problem_of(&r, has_tag, has_digest);
        if (problem)
                return refuse(arena, text, problem, err);
        *ret = r;
        return 0;
}

const char *image_canonical(struct arena *arena, const struct image_ref *ref)
{
        static const char *const hubs[] = { "", "docker.io", DOCKER_HUB, "registry-1.docker.io" };
        bool hub = text_in(ref->registry, hubs, ARRAY_LEN(hubs));

        return arena_printf(arena, "%s/%s%s", hub ? DOCKER_HUB : ref->registry,
                            hub && !strchr(ref->path, '/') ? "library/" : "", ref->path);
}

const char *image_with_tag(struct arena *arena, const struct image_ref *ref, const char *tag)
{
        return *tag ? arena_printf(arena, "%s:%s", ref->name, tag) : ref->name;
}
