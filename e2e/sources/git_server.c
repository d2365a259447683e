#include "e2e/sources/git_server.h"

#include <stdio.h>
#include <stdlib.h>

#include "hub-agent/git/packet.h"
#include "hub-agent/git/repo_internal.h"

static void fail(const struct error *err)
{
        (void)fprintf(stderr, "the Git server of the test: %s\n", err->text);
        ASSERT(!"the Git server of the test");
}

/* ---- the repository ---- */

void git_server_begin(struct git_server *s, struct world *w)
{
        git_server_begin_below(s, w, "/tmp");
}

void git_server_begin_below(struct git_server *s, struct world *w, const char *folder)
{
        struct error err = { 0 };

        *s = (struct git_server){ .world = w,
                                  .kept = { { .data = NULL } },
                                  .prefix = "/team/app.git",
                                  .head = "refs/heads/main",
                                  .now_s = 1700000000,
                                  .capabilities = "side-band-64k ofs-delta shallow no-progress "
                                                  "allow-tip-sha1-in-want report-status delete-refs atomic" };
        snprintf(s->folder, sizeof(s->folder), "%s/argosy-git-XXXXXX", folder);
        ASSERT(mkdtemp(s->folder));
        snprintf(s->path, sizeof(s->path), "%s/server", s->folder);
        ASSERT(repo_create(w, s->path, &s->repo, &err) == 0);
}

void git_server_end(struct git_server *s)
{
        char command[128];

        s->repo = repo_close(s->repo);
        for (size_t i = 0; i < ARRAY_LEN(s->kept); i++)
                buf_free(&s->kept[i]);
        snprintf(command, sizeof(command), "rm -rf %s", s->folder);
        ASSERT(system(command) == 0);
}

struct git_hash git_server_put(struct git_server *s, const char *branch, const struct git_change *changes,
                               size_t n, const char *message)
{
        const struct git_person who = { "Ada", "ada@example.com", s->now_s++, 60 };
        struct git_new_commit c = {
                .changes = changes, .n_changes = n, .author = who, .committer = who, .message = message
        };
        struct error err = { 0 };
        struct git_hash made = { "" };
        char name[256];
        bool same;

        snprintf(name, sizeof(name), "refs/heads/%s", branch);
        (void)repo_ref(s->repo, name, &c.parent, NULL);
        if (repo_make_commit(s->repo, &c, &made, &same, &err) < 0 ||
            repo_set_ref(s->repo, name, &made, &err) < 0)
                fail(&err);
        return made;
}

struct git_hash git_server_commit(struct git_server *s, const char *branch, const char *path,
                                  const char *text)
{
        const struct git_change c = { path, !text, GIT_FILE, slice_of(text) };
        char message[128];

        snprintf(message, sizeof(message), "change %s\n\nmore of it\n", path);
        return git_server_put(s, branch, &c, 1, message);
}

void git_server_tag(struct git_server *s, const char *name, const struct git_hash *of, const char *message)
{
        const struct git_new_tag t = { name, *of, { "Ada", "ada@example.com", s->now_s, 0 }, message };
        struct git_hash made = *of;
        char ref[256];

        snprintf(ref, sizeof(ref), "refs/tags/%s", name);
        if (message)
                ASSERT(repo_make_tag(s->repo, &t, &made, NULL) == 0);
        ASSERT(repo_set_ref(s->repo, ref, &made, NULL) == 0);
}

/* A tree of n entries, all of them the same. */
static git_oid equal_entries(struct git_server *s, unsigned n, const git_oid *entry, git_filemode_t mode)
{
        git_treebuilder *builder = NULL;
        git_oid made;

        ASSERT(git_treebuilder_new(&builder, s->repo->git, NULL) == 0);
        for (unsigned i = 0; i < n; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%u", i);
                ASSERT(git_treebuilder_insert(NULL, builder, name, entry, mode) == 0);
        }
        ASSERT(git_treebuilder_write(&made, builder) == 0);
        git_treebuilder_free(builder);
        return made;
}

struct git_hash git_server_put_folders(struct git_server *s, const char *branch, unsigned folders,
                                       unsigned files)
{
        AUTO_FREE char *ref = mem_printf("refs/heads/%s", branch);
        git_signature *who = NULL;
        git_tree *tree = NULL;
        git_oid oid;

        ASSERT(git_blob_create_from_buffer(&oid, s->repo->git, "1", 1) == 0);
        oid = equal_entries(s, files, &oid, GIT_FILEMODE_BLOB);
        oid = equal_entries(s, folders, &oid, GIT_FILEMODE_TREE);
        ASSERT(git_tree_lookup(&tree, s->repo->git, &oid) == 0);
        ASSERT(git_signature_new(&who, "Ada", "ada@example.com", 1700000000, 0) == 0);
        ASSERT(git_commit_create(&oid, s->repo->git, ref, who, who, NULL, "many\n", tree, 0, NULL) == 0);
        git_signature_free(who);
        git_tree_free(tree);
        return repo_hash(&oid);
}

void git_server_add_submodule(struct git_server *s, const char *path, const struct git_hash *at,
                              const char *url)
{
        AUTO_FREE char *text = mem_printf("[submodule \"x\"]\n\tpath = %s\n\turl = %s\n", path, url);
        git_index *index = NULL;
        git_commit *parent = NULL;
        git_tree *tree = NULL;
        git_signature *who = NULL;
        git_index_entry e = { .path = path, .mode = GIT_FILEMODE_COMMIT, .id = repo_oid(at) };
        struct git_hash tip = git_server_commit(s, "main", ".gitmodules", text);
        git_oid oid = repo_oid(&tip);

        ASSERT(git_commit_lookup(&parent, s->repo->git, &oid) == 0);
        ASSERT(git_commit_tree(&tree, parent) == 0);
        ASSERT(git_index_new(&index) == 0);
        ASSERT(git_index_read_tree(index, tree) == 0);
        ASSERT(git_index_add(index, &e) == 0);
        ASSERT(git_index_write_tree_to(&oid, index, s->repo->git) == 0);
        git_tree_free(tree);
        ASSERT(git_tree_lookup(&tree, s->repo->git, &oid) == 0);
        ASSERT(git_signature_new(&who, "Ada", "ada@example.com", 1700000000, 0) == 0);
        const git_commit *parents[] = { parent };

        ASSERT(git_commit_create(&oid, s->repo->git, "refs/heads/main", who, who, NULL, "module\n", tree, 1,
                                 parents) == 0);
        git_signature_free(who);
        git_tree_free(tree);
        git_commit_free(parent);
        git_index_free(index);
}

/* ---- the list of refs ---- */

static void ref_line(struct buf *b, const char *hex, const char *name, const char *capabilities)
{
        AUTO_BUF struct buf line;

        buf_init(&line, 4096);
        buf_printf(&line, "%s %s", hex, name);
        if (capabilities) {
                buf_append_char(&line, '\0');
                buf_append_str(&line, capabilities);
        }
        buf_append_char(&line, '\n');
        packet_append(b, line.data, line.len);
}

static void list(struct git_server *s, const char *service, struct buf *b)
{
        git_strarray names = { 0 };
        AUTO_FREE char *capabilities = mem_printf("%s symref=HEAD:%s agent=test", s->capabilities, s->head);
        const char *first = capabilities;
        git_oid oid, peeled;

        packet_printf(b, "# service=%s\n", service);
        packet_flush(b);
        if (text_equal(service, "git-upload-pack") &&
            git_reference_name_to_id(&oid, s->repo->git, s->head) == 0) {
                ref_line(b, repo_hash(&oid).hex, "HEAD", first);
                first = NULL;
        }
        ASSERT(git_reference_list(&names, s->repo->git) == 0);
        for (size_t i = 0; i < names.count; i++) {
                git_object *object = NULL, *commit = NULL;

                ASSERT(git_reference_name_to_id(&oid, s->repo->git, names.strings[i]) == 0);
                ref_line(b, repo_hash(&oid).hex, names.strings[i], first);
                first = NULL;
                ASSERT(git_object_lookup(&object, s->repo->git, &oid, GIT_OBJECT_ANY) == 0);
                if (git_object_type(object) == GIT_OBJECT_TAG &&
                    git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0) {
                        AUTO_FREE char *name = mem_printf("%s^{}", names.strings[i]);

                        peeled = *git_object_id(commit);
                        ref_line(b, repo_hash(&peeled).hex, name, NULL);
                }
                git_object_free(object);
                git_object_free(commit);
        }
        if (first)
                ref_line(b, "0000000000000000000000000000000000000000", "capabilities^{}", first);
        git_strarray_dispose(&names);
        if (s->fault != FAULT_LIST_CUT)
                packet_flush(b);
}

/* ---- what is asked ---- */

struct question {
        struct git_server *server;
        struct git_hash wants[64], haves[1024];
        size_t n_wants, n_haves;
        unsigned depth;
        bool done;
        struct {
                struct git_hash from, to;
                char name[256];
        } commands[16];
        size_t n_commands;
        bool commands_end;
        bool atomic;
};

static void take_hash(const char *at, struct git_hash *ret)
{
        memcpy(ret->hex, at, 40);
        ret->hex[40] = '\0';
}

static int take(void *ctx, struct slice p, struct error *err)
{
        struct question *q = ctx;

        if (!p.data)
                return 0;
        if (slice_starts_with(p, "want "))
                take_hash(p.data + 5, &q->wants[q->n_wants++]);
        else if (slice_starts_with(p, "have "))
                take_hash(p.data + 5, &q->haves[q->n_haves++]);
        else if (slice_starts_with(p, "deepen "))
                q->depth = (unsigned)strtoul(p.data + 7, NULL, 10);
        else if (slice_starts_with(p, "done"))
                q->done = true;
        else
                return error_set(err, ERR_INVALID, "not a question: %.*s", (int)p.len, p.data);
        return 0;
}

/* With depth only the commits themselves. */
static int shallow_pack(struct git_server *s, const struct question *q, struct buf *pack)
{
        git_packbuilder *builder = NULL;
        git_buf out = { 0 };
        int code = git_packbuilder_new(&builder, s->repo->git);

        for (size_t i = 0; code == 0 && i < q->n_wants; i++) {
                git_oid oid = repo_oid(&q->wants[i]);
                git_object *object = NULL, *commit = NULL;

                code = git_object_lookup(&object, s->repo->git, &oid, GIT_OBJECT_ANY);
                if (code == 0)
                        code = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
                if (code == 0 && git_object_type(object) == GIT_OBJECT_TAG)
                        code = git_packbuilder_insert(builder, &oid, NULL);
                if (code == 0)
                        code = git_packbuilder_insert_commit(builder, git_object_id(commit));
                git_object_free(object);
                git_object_free(commit);
        }
        if (code == 0)
                code = git_packbuilder_write_buf(&out, builder);
        if (code == 0)
                buf_append(pack, out.ptr, out.size);
        git_buf_dispose(&out);
        git_packbuilder_free(builder);
        return code;
}

static void band(struct buf *b, int band, const char *data, size_t n)
{
        for (size_t at = 0; at < n; at += 60000) {
                AUTO_BUF struct buf piece;

                buf_init(&piece, 65536);
                buf_append_char(&piece, (char)band);
                buf_append(&piece, data + at, MIN(n - at, (size_t)60000));
                packet_append(b, piece.data, piece.len);
        }
}

static void answer_fetch(struct git_server *s, struct slice body, struct buf *b)
{
        AUTO_FREE struct question *q = mem_zalloc(sizeof(*q));
        struct packet_reader reader;
        struct error err = { 0 };
        AUTO_BUF struct buf pack;

        packet_reader_init(&reader, take, q);
        if (packet_reader_feed(&reader, body.data, body.len, &err) < 0 || !q->done)
                fail(&err);
        packet_reader_free(&reader);
        buf_init(&pack, 64 << 20);
        for (size_t i = 0; i < q->n_wants; i++)
                if (!repo_has(s->repo, &q->wants[i]) || s->fault == FAULT_NO_PACK) {
                        packet_printf(b, "ERR upload-pack: not our ref %s\n", q->wants[i].hex);
                        return;
                }
        if (q->depth) {
                for (size_t i = 0; i < q->n_wants; i++)
                        packet_printf(b, "shallow %s\n", q->wants[i].hex);
                packet_flush(b);
                ASSERT(shallow_pack(s, q, &pack) == 0);
        } else {
                const struct pack_order o = { q->wants, q->n_wants, q->haves, q->n_haves, &pack };

                if (repo_pack(s->repo, &o, INT64_MAX, &err) < 0)
                        fail(&err);
        }
        packet_printf(b, "NAK\n");
        band(b, 2, "counting", 8);
        if (s->fault == FAULT_BROKEN_PACK)
                pack.data[pack.len - 30] ^= 1;
        s->sent = pack.len;
        band(b, 1, pack.data, s->fault == FAULT_CUT_PACK ? pack.len / 2 : pack.len);
        packet_flush(b);
}

/* ---- what is pushed ---- */

static int take_command(void *ctx, struct slice p, struct error *err)
{
        struct question *q = ctx;

        if (!p.data) {
                q->commands_end = true;
                return ERR_CLOSED; /* the pack is behind it */
        }
        take_hash(p.data, &q->commands[q->n_commands].from);
        take_hash(p.data + 41, &q->commands[q->n_commands].to);
        size_t n = strnlen(p.data + 82, p.len - 82);

        snprintf(q->commands[q->n_commands++].name, 256, "%.*s", (int)n, p.data + 82);
        if (memmem(p.data, p.len, " atomic", 7))
                q->atomic = true;
        return 0;
}

static size_t length(struct slice rest)
{
        size_t n = 0;
        char head[5] = "";

        for (;;) {
                memcpy(head, rest.data + n, 4);
                size_t one = strtoul(head, NULL, 16);

                n += one ? one : 4;
                if (!one)
                        return n;
        }
}

static const char *apply(struct git_server *s, const struct question *q, size_t i)
{
        struct git_hash now = { "0000000000000000000000000000000000000000" };
        const char *name = q->commands[i].name;

        (void)repo_ref(s->repo, name, &now, NULL);
        if (s->fault == FAULT_REFUSES_PUSH)
                return "pre-receive hook declined";
        if (s->fault == FAULT_MOVES)
                return q->atomic ? "atomic transaction failed" : "failed to update ref";
        if (!git_hash_equal(&now, &q->commands[i].from))
                return "failed to update ref";
        if (text_starts_with(q->commands[i].to.hex, "00000000"))
                (void)repo_drop_ref(s->repo, name, NULL);
        else if (repo_set_ref(s->repo, name, &q->commands[i].to, NULL) < 0)
                return "missing necessary objects";
        return NULL;
}

static void answer_push(struct git_server *s, struct slice body, struct buf *b)
{
        AUTO_FREE struct question *q = mem_zalloc(sizeof(*q));
        struct packet_reader reader;
        struct pack_intake pack;
        AUTO_BUF struct buf report;
        size_t n = length(body);
        struct error err = { 0 };

        buf_init(&report, 1 << 20);
        packet_reader_init(&reader, take_command, q);
        (void)packet_reader_feed(&reader, body.data, n, &err);
        packet_reader_free(&reader);
        ASSERT(q->commands_end);
        if (body.len > n) {
                ASSERT(pack_intake_begin(&pack, s->repo, 64 << 20, INT64_MAX, &err) == 0);
                if (pack_intake_feed(&pack, body.data + n, body.len - n, &err) < 0 ||
                    pack_intake_end(&pack, &err) < 0)
                        fail(&err);
                pack_intake_free(&pack);
        }
        packet_printf(&report, "unpack ok\n");
        for (size_t i = 0; i < q->n_commands; i++) {
                const char *why = apply(s, q, i);

                if (why)
                        packet_printf(&report, "ng %s %s\n", q->commands[i].name, why);
                else
                        packet_printf(&report, "ok %s\n", q->commands[i].name);
        }
        packet_flush(&report);
        band(b, 1, report.data, report.len);
        packet_flush(b);
}

/* ---- requests ---- */

static bool refuses(struct git_server *s, struct http_exchange *x)
{
        const char *secret = http_header_get(&x->headers, "Authorization");

        snprintf(s->said, sizeof(s->said), "%s", or_empty(secret));
        if (s->fault == FAULT_HANGS) {
                (void)fiber_sleep(x->loop, 3600000);
                return true;
        }
        if (s->authorized && !text_equal(s->authorized, secret)) {
                s->refused++;
                http_reply(x, 401, "text/plain", SLICE("no"), NULL);
                return true;
        }
        return false;
}

static void reply(struct http_exchange *x, const char *service, const char *what, struct buf *b)
{
        AUTO_FREE char *type = mem_printf("application/x-%s-%s", service, what);

        http_reply(x, 200, type, (struct slice){ b->data, b->len }, NULL);
}

/* Answers as before, if it did. */
static bool replay(struct git_server *s, struct http_exchange *x, const char *rest)
{
        struct buf *kept = &s->kept[text_equal(x->method, "POST")];

        if (!s->replays || kept->len == 0)
                return false;
        s->lists += text_equal(rest, "/info/refs");
        s->fetches += text_equal(rest, "/git-upload-pack");
        http_reply(x, 200, "application/octet-stream", (struct slice){ kept->data, kept->len }, NULL);
        return true;
}

static void keep(struct git_server *s, const struct http_exchange *x, const struct buf *b)
{
        struct buf *kept = &s->kept[text_equal(x->method, "POST")];

        buf_init(kept, 64 << 20);
        ASSERT(buf_append(kept, b->data, b->len) == 0);
}

void git_server_handle(void *ctx, struct http_exchange *x)
{
        struct git_server *s = ctx;
        AUTO_BUF struct buf b;
        size_t n = strlen(s->prefix);
        const char *rest = text_starts_with(x->path, s->prefix) ? x->path + n : "";

        buf_init(&b, 64 << 20);
        if (refuses(s, x) || replay(s, x, rest))
                return;
        if (s->moved_to) {
                AUTO_FREE char *to = mem_printf("%s?%s", s->moved_to, x->query);
                const struct http_header h = { "Location", to };
                const struct http_headers headers = { (struct http_header *)(uintptr_t)&h, 1 };

                http_reply(x, 301, NULL, SLICE(""), &headers);
        } else if (s->fault == FAULT_GARBAGE) {
                http_reply(x, 200, "text/html", SLICE("<html>sign in</html>"), NULL);
        } else if (text_equal(rest, "/info/refs")) {
                const char *service = http_query_get(x, "service");

                s->lists++;
                list(s, service, &b);
                reply(x, service, "advertisement", &b);
        } else if (text_equal(rest, "/git-upload-pack")) {
                s->fetches++;
                answer_fetch(s, x->body, &b);
                reply(x, "git-upload-pack", "result", &b);
        } else if (text_equal(rest, "/git-receive-pack")) {
                s->pushes++;
                answer_push(s, x->body, &b);
                reply(x, "git-receive-pack", "result", &b);
        } else {
                http_reply(x, 404, "text/plain", SLICE("no such repository"), NULL);
        }
        if (s->replays)
                keep(s, x, &b);
}
