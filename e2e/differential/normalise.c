#include "e2e/differential/differential.h"

#include "common/base/memory.h"
#include "common/json/regex.h"

#define TEXT_MAX_BYTES (64u << 20)
#define TEXT_KEY_MAX 4096 /* what entries of lists are sorted by */

/* What differs between two runs against one and the same server, and what stands in its place. Everything a
 * comparison does not look at is in these two tables. */

/* Any part of any text, in this order. */
static const struct {
        const char *pattern, *word;
} text_rules[] = {
        { "eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+", "<token>" },
        { "-----BEGIN [A-Z ]+-----[A-Za-z0-9+/=\\s]+-----END [A-Z ]+-----", "<pem>" },
        { "LS0tLS1CRUdJTi[A-Za-z0-9+/=]+", "<base64 pem>" },
        { "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>" },
        { "20(2[6-9]|3[0-9])-[01][0-9]-[0-3][0-9]T[0-9:]{8}\\.[0-9]{6}Z", "<microtime>" },
        { "20(2[6-9]|3[0-9])-[01][0-9]-[0-3][0-9]T[0-9:]{8}(\\.[0-9]+)?(Z|[+]00:00)", "<time>" },
        { "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]+ [A-Z][a-z]+ 20[0-9]+ [0-9:]+ [+]0000", "<time>" },
        { "10\\.(96|0)\\.[0-9]+\\.[0-9]+", "<cluster ip>" },
        { "precondition \\([0-9]+\\) does not match the ResourceVersion in record \\([0-9]+\\)",
          "precondition (<rv>) does not match the ResourceVersion in record (<rv>)" },
        { "172\\.18\\.[0-9]+\\.[0-9]+", "<ingress ip>" },
        { "\\bBad_[a-z0-9]{5}\\b", "Bad_<generated>" },
        { "kube-api-access-[a-z0-9]{5}\\b", "kube-api-access-<generated>" },
        { "Key: /[a-z0-9-]+/", "Key: /registry/" },
        { "resource version: [0-9]+ \\([0-9]+\\)", "resource version: <rv> (<rv>)" },
        { "resource version: [0-9]+, current: [0-9]+", "resource version: <rv>, current: <rv>" },
        { "\\\\?\"?resourceVersion\\\\?\"?: ?\\\\?\"[0-9]+\\\\?\"", "resourceVersion: <rv>" },
        { "ResourceVersion in the precondition \\([0-9]+\\)", "ResourceVersion in the precondition (<rv>)" },
        { "ResourceVersion in record \\([0-9]+\\)", "ResourceVersion in record (<rv>)" },
        { "Bad_[a-z0-9]{5}", "Bad_<generated>" },
        { "resourceVersion=[0-9]+", "resourceVersion=<rv>" },
        { "ResourceVersion in precondition: [0-9]+, ResourceVersion in object meta: [0-9]+",
          "ResourceVersion in precondition: <rv>, ResourceVersion in object meta: <rv>" },
        { "^[0-9]{1,3}(s|m([0-9]+s)?)$", "<age>" },
        { " {2,}[0-9]{1,3}(s|m([0-9]+s)?)\\b", "  <age>" },
        { "X509SHA256=[0-9a-f]{64}", "<credential>" },
        { "continueToken\"?:\"[^\"]*\"", "<continue>" },
};

/* The value of these members, wherever they are, unless it is empty. */
static const struct {
        const char *key, *word;
} member_rules[] = {
        { "resourceVersion", "<rv>" },      { "continue", "<continue>" },
        { "nodePort", "<node port>" },      { "healthCheckNodePort", "<node port>" },
        { "storageVersionHash", "<hash>" }, { "serverAddress", "<server>" },
        { "gitVersion", "<version>" },      { "serialNumber", "<serial>" },
};

/* Lines that a program writes about itself: kubectl's client library logs when a watch ended before it began,
 * with the time and its process id; whether it did is a matter of milliseconds. Such lines of a list are left
 * out.
 */
static const char log_line[] =
        "^[IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} +[0-9]+ [a-z_]+\\.go:[0-9]+\\] ";

struct replacement {
        const char *text, *word;
        size_t len;
};

struct normaliser {
        struct arena *arena;
        const struct regex *rules[ARRAY_LEN(text_rules)], *log_line;
        VEC(struct replacement) replacements;
};

static void free_replacements(void *p)
{
        struct normaliser *n = p;

        vec_free(&n->replacements);
}

struct normaliser *normaliser_new(struct arena *arena, struct error *err)
{
        struct normaliser *n = ARENA_NEW(arena, struct normaliser);

        if (!n || arena_defer(arena, free_replacements, n) < 0) {
                error_no_memory(err);
                return NULL;
        }
        n->arena = arena;
        for (size_t i = 0; i < ARRAY_LEN(text_rules); i++)
                if (regex_compile(arena, slice_of(text_rules[i].pattern), &n->rules[i], err) < 0)
                        return NULL;
        return regex_compile(arena, slice_of(log_line), &n->log_line, err) < 0 ? NULL : n;
}

int normaliser_replace(struct normaliser *n, const char *text, const char *word, struct error *err)
{
        struct replacement r = { arena_strdup(n->arena, text), arena_strdup(n->arena, word), strlen(text) };
        size_t at = 0;

        if (!r.len)
                return 0;
        if (!r.text || !r.word || vec_push(&n->replacements, r) < 0)
                return error_no_memory(err);
        while (at + 1 < n->replacements.n && n->replacements.at[at].len >= r.len)
                at++;
        for (size_t i = n->replacements.n - 1; i > at; i--)
                n->replacements.at[i] = n->replacements.at[i - 1];
        n->replacements.at[at] = r;
        return 0;
}

/* Replaces all occurrences of one literal text. */
static int replace_literal(struct buf *b, const struct replacement *r, struct error *err)
{
        AUTO_BUF struct buf out;
        const char *from = b->data, *hit;

        buf_init(&out, TEXT_MAX_BYTES);
        if (!strstr(from, r->text))
                return 0;
        for (; (hit = strstr(from, r->text)); from = hit + r->len) {
                (void)buf_append(&out, from, (size_t)(hit - from));
                (void)buf_append_str(&out, r->word);
        }
        (void)buf_append_str(&out, from);
        buf_clear(b);
        (void)buf_append(b, out.data, out.len);
        return buf_status(b, err, "normalising");
}

static int replace_pattern(struct buf *b, const struct regex *re, const char *word, struct error *err)
{
        AUTO_BUF struct buf out;
        struct regex_span span;
        size_t from = 0;
        int found = regex_find(re, (struct slice){ b->data, b->len }, 0, &span);

        buf_init(&out, TEXT_MAX_BYTES);
        if (found == 0)
                return 0;
        while (found == 1) {
                (void)buf_append(&out, b->data + from, span.begin - from);
                (void)buf_append_str(&out, word);
                from = span.end;
                found = regex_find(re, (struct slice){ b->data, b->len }, from, &span);
        }
        if (found < 0)
                return error_no_memory(err);
        (void)buf_append(&out, b->data + from, b->len - from);
        buf_clear(b);
        (void)buf_append(b, out.data, out.len);
        return buf_status(b, err, "normalising");
}

static int normalise_into(struct normaliser *n, const char *text, struct buf *b, struct error *err)
{
        (void)buf_append_str(b, text);
        vec_for_each(&n->replacements, r)
                TRY(replace_literal(b, r, err));
        for (size_t i = 0; i < ARRAY_LEN(text_rules); i++)
                TRY(replace_pattern(b, n->rules[i], text_rules[i].word, err));
        return buf_status(b, err, "normalising");
}

int normalise_text(struct normaliser *n, const char *text, char **ret, struct error *err)
{
        AUTO_BUF struct buf b;
        char *taken;

        buf_init(&b, TEXT_MAX_BYTES);
        TRY(normalise_into(n, text, &b, err));
        taken = buf_take(&b, NULL);
        if (!taken)
                return error_no_memory(err);
        *ret = taken;
        return 0;
}

static const char *member_word(const char *key, const json_t *value)
{
        bool empty = json_is_string(value) &&
                     (!*json_string_value(value) || text_equal(json_string_value(value), "0"));

        for (size_t i = 0; i < ARRAY_LEN(member_rules); i++)
                if (!empty && text_equal(key, member_rules[i].key) &&
                    (json_is_string(value) || json_is_integer(value)))
                        return member_rules[i].word;
        return NULL;
}

/* Entries of managedFields stand in the order of their times, which two servers need not share. */
static const char *entry_key(const json_t *entry, char *room, size_t size)
{
        static const char *const parts[] = { "operation", "manager", "subresource", "apiVersion" };
        size_t at = 0;

        for (size_t i = 0; i < ARRAY_LEN(parts) && at < size; i++) {
                const char *s = json_string_value(json_object_get(entry, parts[i]));

                at += (size_t)snprintf(room + at, size - at, "%s ", s ? s : "");
        }
        return room;
}

typedef const char *sort_key(const json_t *entry, char *room, size_t size);

static void sort_list(json_t *list, sort_key *key)
{
        char a[TEXT_KEY_MAX], b[TEXT_KEY_MAX];

        for (size_t i = 1; i < json_array_size(list); i++)
                for (size_t k = i; k > 0; k--) {
                        json_t *one = json_array_get(list, k - 1), *two = json_array_get(list, k);

                        if (strcmp(key(one, a, sizeof(a)), key(two, b, sizeof(b))) <= 0)
                                break;
                        json_incref(one);
                        json_array_set(list, k - 1, two);
                        json_array_set_new(list, k, one);
                }
}

/* A cause as the message of its Status has it. */
static const char *cause_text(const json_t *cause, char *room, size_t size)
{
        const char *field = doc_get_string(cause, "field"), *message = doc_get_string(cause, "message");

        snprintf(room, size, "%s: %s", field ? field : "", message ? message : "");
        return room;
}

static int join_causes(const json_t *causes, struct buf *b, struct error *err)
{
        char text[TEXT_KEY_MAX];
        json_t *cause;
        size_t i;

        json_array_foreach((json_t *)causes, i, cause)
                (void)buf_printf(b, "%s%s", i ? ", " : "[", cause_text(cause, text, sizeof(text)));
        (void)buf_append_str(b, "]");
        return buf_status(b, err, "normalising");
}

/* kube-apiserver goes through the members of maps in an order that changes from request to request, and so
 * tells several problems of one object in any order: here they stand sorted, in the causes and in the
 * message. */
static int sort_causes(json_t *status, struct error *err)
{
        json_t *causes = json_object_get(json_object_get(status, "details"), "causes");
        const char *message = doc_get_string(status, "message"), *at;
        AUTO_BUF struct buf before, after, text;

        buf_init(&before, TEXT_MAX_BYTES);
        buf_init(&after, TEXT_MAX_BYTES);
        buf_init(&text, TEXT_MAX_BYTES);
        if (json_array_size(causes) < 2 || !message ||
            !text_equal(doc_get_string(status, "reason"), "Invalid"))
                return 0;
        TRY(join_causes(causes, &before, err));
        sort_list(causes, cause_text);
        TRY(join_causes(causes, &after, err));
        at = strstr(message, before.data);
        if (!at)
                return 0;
        (void)buf_append(&text, message, (size_t)(at - message));
        (void)buf_append_str(&text, after.data);
        (void)buf_append_str(&text, at + before.len);
        TRY(buf_status(&text, err, "normalising"));
        return doc_set(status, "message", json_string(text.data)) < 0 ? error_no_memory(err) : 0;
}

static int normalise_object(struct normaliser *n, const json_t *doc, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *out = json_object();
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)doc, key, value) {
                const char *word = member_word(key, value);
                AUTO_FREE char *name = NULL;
                json_t *part = NULL;

                if (word)
                        part = json_string(word);
                else
                        TRY(normalise_doc(n, value, &part, err));
                if (text_equal(key, "managedFields") && json_is_array(part))
                        sort_list(part, entry_key);
                if (normalise_text(n, key, &name, err) < 0 || json_object_set_new(out, name, part) < 0)
                        return error_no_memory(err);
        }
        if (text_equal(doc_get_string(out, "kind"), "Status"))
                TRY(sort_causes(out, err));
        *ret = TAKE_PTR(out);
        return 0;
}

/* 1 yes, 0 no. */
static int is_log_line(const struct normaliser *n, const json_t *line, struct error *err)
{
        const char *text = json_string_value(line);
        struct regex_span span;
        int found = text ? regex_find(n->log_line, slice_of(text), 0, &span) : 0;

        return found < 0 ? error_no_memory(err) : found;
}

static int normalise_array(struct normaliser *n, const json_t *doc, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *out = json_array();
        json_t *value;
        size_t i;

        json_array_foreach((json_t *)doc, i, value) {
                json_t *part = NULL;
                int logged = is_log_line(n, value, err);

                if (logged < 0)
                        return logged;
                if (logged)
                        continue;
                TRY(normalise_doc(n, value, &part, err));
                if (json_array_append_new(out, part) < 0)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(out);
        return 0;
}

/* A name the server made: the last five characters of what has a generateName. */
static int learn_generated_name(struct normaliser *n, const json_t *object, struct error *err)
{
        const char *prefix = doc_get_string(object, "generateName"), *name = doc_get_string(object, "name");
        AUTO_FREE char *word = NULL;

        if (!prefix || !name || !*prefix || !text_starts_with(name, prefix) ||
            strlen(name) != strlen(prefix) + 5)
                return 0;
        vec_for_each(&n->replacements, r)
                if (text_equal(r->text, name))
                        return 0;
        word = mem_printf("%s<generated>", prefix);
        return word ? normaliser_replace(n, name, word, err) : error_no_memory(err);
}

int normalise_doc(struct normaliser *n, const json_t *doc, json_t **ret, struct error *err)
{
        AUTO_FREE char *text = NULL;

        if (json_is_object(doc)) {
                TRY(learn_generated_name(n, doc, err));
                return normalise_object(n, doc, ret, err);
        }
        if (json_is_array(doc))
                return normalise_array(n, doc, ret, err);
        if (!json_is_string(doc)) {
                *ret = json_incref((json_t *)doc);
                return 0;
        }
        TRY(normalise_text(n, json_string_value(doc), &text, err));
        *ret = json_string(text);
        return *ret ? 0 : error_no_memory(err);
}
