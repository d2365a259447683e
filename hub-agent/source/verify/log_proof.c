#include "hub-agent/source/verify/log_proof.h"

#include "common/base/digest.h"
#include "hub-agent/source/verify/decode.h"
#include "hub-agent/source/verify/public_key.h"

#define DASH "\xe2\x80\x94 " /* begins a line with a signature */
#define HINT_SIZE 4

/* ---- the path ---- */

struct proof {
        int64_t index, size;
        const json_t *hashes;
        struct slice root;
        const char *checkpoint;
};

static void hash_leaf(struct slice body, uint8_t ret[SHA256_SIZE])
{
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, "\0", 1);
        sha256_update(&s, body.data, body.len);
        sha256_final(&s, ret);
}

static void hash_pair(const void *left, const void *right, uint8_t ret[SHA256_SIZE])
{
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, "\1", 1);
        sha256_update(&s, left, SHA256_SIZE);
        sha256_update(&s, right, SHA256_SIZE);
        sha256_final(&s, ret);
}

/* RFC 9162 2.1.3.2: `at` is the node's place in its row, `last` that of the row's last one. */
static bool climb(int64_t *at, int64_t *last, const char *sibling, uint8_t node[SHA256_SIZE])
{
        if (*last == 0)
                return false;
        if ((*at & 1) || *at == *last) {
                hash_pair(sibling, node, node);
                while (!(*at & 1) && *at != 0) {
                        *at >>= 1;
                        *last >>= 1;
                }
        } else {
                hash_pair(node, sibling, node);
        }
        *at >>= 1;
        *last >>= 1;
        return true;
}

static int check_path(const struct proof *p, struct slice body, struct arena *arena, struct error *err)
{
        uint8_t node[SHA256_SIZE];
        int64_t at = p->index, last = p->size - 1;
        const json_t *one;
        size_t i;

        hash_leaf(body, node);
        json_array_foreach(p->hashes, i, one) {
                struct slice sibling;

                TRY(decode_base64(or_empty(json_string_value(one)), arena, "inclusionProof.hashes", &sibling,
                                  err));
                if (sibling.len != SHA256_SIZE || !climb(&at, &last, sibling.data, node))
                        return error_set(err, ERR_INVALID, "inclusionProof.hashes: they lead nowhere");
        }
        if (last != 0 || p->root.len != SHA256_SIZE || memcmp(node, p->root.data, SHA256_SIZE) != 0)
                return error_set(err, ERR_INVALID, "inclusionProof.hashes: they do not lead to the root");
        return 0;
}

/* ---- the head of the tree ---- */

static struct slice next_line(struct slice *rest)
{
        struct slice line;

        slice_cut(rest, '\n', &line);
        return line;
}

/* "name base64", of which the first bytes tell which key it is by. */
static bool is_signed(struct slice line, struct slice text, const struct trusted_log *log,
                      struct arena *arena)
{
        char data[256];
        struct slice name;
        size_t n = 0;

        line.data += strlen(DASH);
        line.len -= strlen(DASH);
        slice_cut(&line, ' ', &name);
        if (text_base64_decode(line, data, sizeof(data), &n, false) < 0 || n <= HINT_SIZE ||
            log->id.len < HINT_SIZE || memcmp(data, log->id.data, HINT_SIZE) != 0)
                return false;
        return public_key_signed(log->key, text, (struct slice){ data + HINT_SIZE, n - HINT_SIZE });
}

static int check_head(const struct proof *p, struct slice text, struct arena *arena, struct error *err)
{
        struct slice rest = text, root;
        const char *hash;
        int64_t size;

        (void)next_line(&rest); /* its name */
        if (!slice_parse_i64(next_line(&rest), &size) || size != p->size)
                return error_set(err, ERR_INVALID,
                                 "inclusionProof.checkpoint: it is of a tree of another size");
        root = next_line(&rest);
        hash = arena_strndup(arena, root.data, root.len);
        if (!hash)
                return error_no_memory(err);
        TRY(decode_base64(hash, arena, "inclusionProof.checkpoint", &root, err));
        return slice_equal(root, p->root)
                       ? 0
                       : error_set(err, ERR_INVALID, "inclusionProof.checkpoint: it is of another tree");
}

static int check_checkpoint(const struct proof *p, const struct trusted_log *log, struct arena *arena,
                            struct error *err)
{
        const char *gap = strstr(p->checkpoint, "\n\n");
        struct slice text, rest;

        if (!gap)
                return error_set(err, ERR_INVALID, "inclusionProof.checkpoint: it is no signed note");
        text = (struct slice){ p->checkpoint, (size_t)(gap - p->checkpoint) + 1 };
        rest = slice_of(gap + 2);
        while (rest.len > 0) {
                struct slice line = next_line(&rest);

                if (slice_starts_with(line, DASH) && is_signed(line, text, log, arena))
                        return check_head(p, text, arena, err);
        }
        return error_set(err, ERR_INVALID, "inclusionProof.checkpoint: the log did not sign it");
}

/* ---- an entry ---- */

static int need_number(const json_t *of, const char *path, int64_t *ret, struct error *err)
{
        const char *text = NULL;

        TRY(doc_need_string(of, path, &text, err));
        return text_parse_i64(text, ret) ? 0 : error_set(err, ERR_INVALID, "%s: it is no number", path);
}

static int read_proof(const json_t *entry, struct arena *arena, struct proof *ret, struct error *err)
{
        const char *root = NULL;

        TRY(need_number(entry, "inclusionProof.logIndex", &ret->index, err));
        TRY(need_number(entry, "inclusionProof.treeSize", &ret->size, err));
        TRY(doc_need_string(entry, "inclusionProof.rootHash", &root, err));
        TRY(doc_need_string(entry, "inclusionProof.checkpoint.envelope", &ret->checkpoint, err));
        TRY(decode_base64(root, arena, "inclusionProof.rootHash", &ret->root, err));
        ret->hashes = doc_get_array(entry, "inclusionProof.hashes");
        if (ret->index < 0 || ret->index >= ret->size || json_array_size(ret->hashes) > LOG_PROOF_HASHES)
                return error_set(err, ERR_INVALID, "inclusionProof: it is of no entry of the tree");
        return 0;
}

int log_proof_check(const json_t *entry, const struct trusted_root *root, int64_t wall_ms,
                    struct arena *arena, struct slice *ret_body, struct error *err)
{
        const char *id = NULL, *body = NULL;
        const struct trusted_log *log;
        struct slice bytes;
        struct proof p = { 0 };

        TRY(doc_need_string(entry, "logId.keyId", &id, err));
        TRY(doc_need_string(entry, "canonicalizedBody", &body, err));
        TRY(decode_base64(id, arena, "logId.keyId", &bytes, err));
        TRY(decode_base64(body, arena, "canonicalizedBody", ret_body, err));
        log = trusted_log_find(root->signature_logs, root->n_signature_logs, bytes, wall_ms);
        if (!log)
                return error_set(err, ERR_INVALID, "it is of no log of signatures of the trusted root");
        TRY(read_proof(entry, arena, &p, err));
        TRY(check_path(&p, *ret_body, arena, err));
        return check_checkpoint(&p, log, arena, err);
}
