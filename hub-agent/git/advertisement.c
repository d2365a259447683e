#include "hub-agent/git/advertisement.h"

#include <stdlib.h>

#include "hub-agent/git/packet.h"

#define REF_NAME_MAX 1024

void advertisement_begin(struct advertisement *a, struct arena *arena, const char *service)
{
        *a = (struct advertisement){ .arena = arena, .service = service, .capabilities = "" };
}

/* ---- capabilities ---- */

struct slice capability_value(const char *capabilities, const char *name, size_t n)
{
        struct slice rest = slice_of(capabilities), word;
        size_t length = strlen(name);
        bool more = true;

        while (more) {
                more = slice_cut(&rest, ' ', &word);
                if (!slice_starts_with(word, name) || (word.len > length && word.data[length] != '='))
                        continue;
                if (n-- == 0)
                        return word.len > length
                                       ? (struct slice){ word.data + length + 1, word.len - length - 1 }
                                       : SLICE("");
        }
        return (struct slice){ 0 };
}

bool capability_is(const char *capabilities, const char *name)
{
        return capability_value(capabilities, name, 0).data != NULL;
}

/* ---- lines ---- */

static int no_git(struct error *err)
{
        return error_set(err, ERR_INVALID, "the answer is not what Git's protocol has");
}

/* Names that nobody could write in a spec are passed over. */
static bool is_name(struct slice name)
{
        if (!slice_starts_with(name, "refs/") || name.len > REF_NAME_MAX ||
            !text_is_utf8(name.data, name.len))
                return false;
        for (size_t i = 0; i < name.len; i++)
                if ((unsigned char)name.data[i] <= ' ' || name.data[i] == 0x7f)
                        return false;
        return true;
}

static int add(struct advertisement *a, struct slice name, const struct git_hash *at, struct error *err)
{
        if (a->refs.n >= GIT_REFS_MAX)
                return error_set(err, ERR_LIMIT, "the repository has more than %d refs", GIT_REFS_MAX);
        if (a->refs.n == a->room) {
                size_t room = a->room ? a->room * 2 : 64;
                struct git_ref *wider = ARENA_NEW_ARRAY(a->arena, struct git_ref, room);

                if (!wider)
                        return error_no_memory(err);
                if (a->refs.n)
                        memcpy(wider, a->at, a->refs.n * sizeof(*wider));
                a->at = wider;
                a->room = room;
        }
        const char *kept = arena_strndup(a->arena, name.data, name.len);

        if (!kept)
                return error_no_memory(err);
        a->at[a->refs.n++] = (struct git_ref){ .name = kept, .at = *at };
        return 0;
}

static int take_ref(struct advertisement *a, struct slice name, const struct git_hash *at, struct error *err)
{
        struct git_ref *last = a->refs.n ? &a->at[a->refs.n - 1] : NULL;

        if (slice_is(name, "HEAD")) {
                a->refs.tip = *at;
                return 0;
        }
        if (name.len > 3 && memcmp(name.data + name.len - 3, "^{}", 3) == 0) {
                name.len -= 3;
                if (last && slice_is(name, last->name))
                        last->peeled = *at;
                return 0;
        }
        return is_name(name) ? add(a, name, at, err) : 0;
}

static int take_capabilities(struct advertisement *a, struct slice *line, struct error *err)
{
        const char *zero = memchr(line->data, '\0', line->len);

        if (!zero)
                return 0;
        struct slice rest = { zero + 1, line->len - (size_t)(zero + 1 - line->data) };

        a->capabilities = arena_strndup(a->arena, rest.data, rest.len);
        line->len = (size_t)(zero - line->data);
        return a->capabilities ? 0 : error_no_memory(err);
}

static int take_line(struct advertisement *a, struct slice line, struct error *err)
{
        char hex[41] = "";
        struct git_hash at;

        if (line.len && line.data[line.len - 1] == '\n')
                line.len--;
        if (!a->began && slice_is(line, "version 1"))
                return 0;
        if (!a->began)
                TRY(take_capabilities(a, &line, err));
        a->began = true;
        if (slice_starts_with(line, "shallow "))
                return 0;
        if (line.len < 42 || line.data[40] != ' ')
                return no_git(err);
        memcpy(hex, line.data, 40);
        if (git_hash_parse(hex, &at, err) < 0)
                return no_git(err);
        return take_ref(a, (struct slice){ line.data + 41, line.len - 41 }, &at, err);
}

static int take_announcement(struct advertisement *a, struct slice packet, struct error *err)
{
        struct slice line = slice_trim(packet);

        if (!packet.data) { /* the flush behind it */
                if (!a->announced)
                        return no_git(err);
                a->service = NULL;
                return 0;
        }
        if (!slice_starts_with(line, "# service=") ||
            !slice_is((struct slice){ line.data + 10, line.len - 10 }, a->service))
                return no_git(err);
        a->announced = true;
        return 0;
}

static int take_error(struct slice packet, struct error *err)
{
        char words[PACKET_WORDS_SIZE];

        packet_words((struct slice){ packet.data + 4, packet.len - 4 }, words);
        return error_set(err, ERR_NOT_FOUND, "remote error: %s", words);
}

int advertisement_take(struct advertisement *a, struct slice packet, struct error *err)
{
        a->bytes += packet.len;
        if (a->bytes > GIT_ADVERTISEMENT_MAX)
                return error_set(err, ERR_LIMIT, "the repository's list of refs exceeds %u bytes",
                                 GIT_ADVERTISEMENT_MAX);
        if (a->done)
                return no_git(err);
        if (packet.data && slice_starts_with(packet, "ERR "))
                return take_error(packet, err);
        if (a->service)
                return take_announcement(a, packet, err);
        if (packet.data)
                return take_line(a, packet, err);
        a->done = true;
        return 0;
}

/* ---- the end ---- */

static int by_name(const void *a, const void *b)
{
        return strcmp(((const struct git_ref *)a)->name, ((const struct git_ref *)b)->name);
}

static int find_head(struct advertisement *a, struct error *err)
{
        struct slice value;

        for (size_t i = 0; (value = capability_value(a->capabilities, "symref", i)).data; i++) {
                if (!slice_starts_with(value, "HEAD:"))
                        continue;
                const struct slice name = { value.data + 5, value.len - 5 };

                a->refs.head = is_name(name) ? arena_strndup(a->arena, name.data, name.len) : NULL;
                return a->refs.head || !is_name(name) ? 0 : error_no_memory(err);
        }
        return 0;
}

int advertisement_end(struct advertisement *a, struct error *err)
{
        struct slice format = capability_value(a->capabilities, "object-format", 0);

        if (!a->done)
                return error_set(err, a->began || a->announced ? ERR_RETRY : ERR_INVALID,
                                 "the answer ended before the list of refs did");
        if (format.data && !slice_is(format, "sha1"))
                return error_set(err, ERR_UNSUPPORTED,
                                 "repositories with hashes other than SHA-1 are not supported");
        if (a->refs.n)
                qsort(a->at, a->refs.n, sizeof(*a->at), by_name);
        a->refs.at = a->at;
        return find_head(a, err);
}
