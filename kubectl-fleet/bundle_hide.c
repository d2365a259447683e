#include "kubectl-fleet/bundle_hide.h"

#include <ctype.h>

#include "kubectl-fleet/page/row_parts.h"
#include "proto/names.h"

#define DEPTH_MAX 128

/* ---- objects ---- */

static bool ends_in_secret(const char *name)
{
        static const char *const ends[] = { "token", "password",    "passwd",    "secret",
                                            "key",   "credentials", "passphrase" };
        size_t n = strlen(or_empty(name));

        for (size_t i = 0; i < ARRAY_LEN(ends); i++)
                if (n >= strlen(ends[i]) && strcasecmp(name + n - strlen(ends[i]), ends[i]) == 0)
                        return true;
        return false;
}

static int set_hidden(json_t *object, const char *key)
{
        return json_object_set_new(object, key, json_string(BUNDLE_HIDDEN)) < 0 ? ERR_NO_MEMORY : 0;
}

/* Names stay, values do not. */
static int hide_values(json_t *map)
{
        const char *key;
        json_t *value;

        json_object_foreach(map, key, value)
                TRY(set_hidden(map, key));
        return 0;
}

/* What identifies a manifest. */
static json_t *identity_of(const json_t *manifest)
{
        static const char *const kept[] = { "name", "namespace" };
        AUTO_JSON json_t *meta = json_object();

        if (!meta)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
                json_t *value = json_object_get(json_object_get(manifest, "metadata"), kept[i]);

                if (value && json_object_set(meta, kept[i], value) < 0)
                        return NULL;
        }
        return json_pack("{s:O?, s:O?, s:O, s:s}", "apiVersion", json_object_get(manifest, "apiVersion"),
                         "kind", json_object_get(manifest, "kind"), "metadata", meta, "manifest",
                         BUNDLE_HIDDEN);
}

static int identify_all(json_t *list)
{
        size_t i;
        json_t *one;

        json_array_foreach(list, i, one)
                if (json_array_set_new(list, i, identity_of(one)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static int identify_values(json_t *map)
{
        const char *key;
        json_t *value;

        json_object_foreach(map, key, value)
                if (json_object_set_new(map, key, identity_of(value)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static json_t *at(json_t *doc, const char *path)
{
        return (json_t *)(uintptr_t)doc_get(doc, path);
}

/* Phases hold objects under `object`. */
static int identify_phases(json_t *phases)
{
        size_t i, k;
        json_t *phase, *one;

        json_array_foreach(phases, i, phase) {
                json_array_foreach(json_object_get(phase, "objects"), k, one) {
                        json_t *object = json_object_get(one, "object");

                        if (object && json_object_set_new(one, "object", identity_of(object)) < 0)
                                return ERR_NO_MEMORY;
                }
        }
        return 0;
}

static int hide_member(json_t *parent, const char *key)
{
        return json_object_get(parent, key) ? set_hidden(parent, key) : 0;
}

/* Of a ResourceSet, and of each of its steps. */
static int hide_templates(json_t *holder)
{
        TRY(hide_member(holder, "resources"));
        return hide_member(holder, "resourcesTemplate");
}

static int hide_steps(json_t *steps)
{
        size_t i;
        json_t *step;

        json_array_foreach(steps, i, step)
                TRY(hide_templates(step));
        return 0;
}

/* What kinds of ours carry for others. */
static int hide_carried(json_t *doc)
{
        static const char *const whole[] = { "inputs", "defaultValues", "values" };

        TRY(identify_all(at(doc, "spec.workload.manifests")));
        TRY(identify_all(at(doc, "spec.selectedResources")));
        TRY(identify_phases(at(doc, "spec.phases")));
        if (page_is_secret(doc_get_string(doc, "kind")) && !text_equal(doc_get_string(doc, "kind"), "Secret"))
                TRY(identify_values(json_object_get(doc, "data")));
        for (size_t i = 0; i < ARRAY_LEN(whole); i++)
                TRY(hide_member(json_object_get(doc, "spec"), whole[i]));
        TRY(hide_templates(json_object_get(doc, "spec")));
        TRY(hide_steps(at(doc, "spec.steps")));
        return hide_member(json_object_get(doc, "status"), "exportedInputs");
}

static int hide_patches(json_t *patches)
{
        size_t i;
        json_t *one;

        json_array_foreach(patches, i, one)
                TRY(hide_member(one, "value"));
        return 0;
}

/* Annotations may quote what was applied; those of a Secret may be anything. */
static int hide_annotations(json_t *object, bool secret)
{
        json_t *annotations = at(object, "metadata.annotations");

        json_object_del(json_object_get(object, "metadata"), "managedFields");
        json_object_del(annotations, ANNOTATION_LAST_APPLIED);
        json_object_del(annotations, "kubectl.kubernetes.io/last-applied-configuration");
        return secret ? hide_values(annotations) : 0;
}

/* What could not be overridden is told with what would have been written. */
static bool quotes_override(const json_t *condition)
{
        return text_equal(doc_get_string(condition, "type"), CONDITION_OVERRIDDEN) &&
               !text_equal(doc_get_string(condition, "status"), CONDITION_TRUE) &&
               strstr(or_empty(doc_get_string(condition, "message")), "Secret");
}

static int hide_here(json_t *object, bool secret)
{
        /* Of manifests: what drifted or differs, and statuses brought back. Of a profile: what a plugin gets.
         */
        static const char *const quoting[] = { "valueInHub", "valueInMember", "observedStatus", "extension" };
        json_t *value = json_object_get(object, "value");

        TRY(hide_patches(json_object_get(object, "jsonPatchOverrides")));
        for (size_t i = 0; i < ARRAY_LEN(quoting); i++)
                TRY(hide_member(object, quoting[i]));
        if (secret || quotes_override(object))
                TRY(hide_member(object, "message"));
        if (json_is_string(value) && ends_in_secret(doc_get_string(object, "name")))
                TRY(set_hidden(object, "value"));
        if (!text_equal(doc_get_string(object, "kind"), "Secret"))
                return 0;
        TRY(hide_values(json_object_get(object, "data")));
        return hide_values(json_object_get(object, "stringData"));
}

/* Whether an object is one of a Secret, or speaks of one. */
static bool is_of_secret(const json_t *object)
{
        static const char *const paths[] = { "kind", "identifier.kind", "envelope.type",
                                             "involvedObject.kind", "regarding.kind" };

        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
                if (page_is_secret(doc_get_string(object, paths[i])))
                        return true;
        return false;
}

static int hide_below(json_t *value, bool secret, unsigned depth)
{
        const char *key;
        json_t *one;
        size_t i;

        if (depth == DEPTH_MAX)
                return ERR_LIMIT;
        if (json_is_object(value)) {
                secret = secret || is_of_secret(value);
                TRY(hide_annotations(value, secret));
                TRY(hide_here(value, secret));
        }
        json_object_foreach(value, key, one)
                TRY(hide_below(one, secret, depth + 1));
        json_array_foreach(value, i, one)
                TRY(hide_below(one, secret, depth + 1));
        return 0;
}

int bundle_hide_object(json_t *doc, struct error *err)
{
        int code = hide_carried(doc);

        code = code < 0 ? code : hide_below(doc, false, 0);
        if (code == ERR_LIMIT)
                return error_set(err, code, "it is nested more than %d levels deep", DEPTH_MAX);
        return code < 0 ? error_no_memory(err) : 0;
}

/* ---- text ---- */

#define TOKEN_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define TOKEN_PART_LEAST 8

static size_t span(struct slice s, size_t from, const char *chars)
{
        size_t n = 0;

        while (from + n < s.len && s.data[from + n] && strchr(chars, s.data[from + n]))
                n++;
        return n;
}

static bool begins(struct slice s, size_t from, const char *word)
{
        size_t n = strlen(word);

        return s.len - from >= n && strncasecmp(s.data + from, word, n) == 0;
}

/* A JWT that begins here: its length; 0 = none does. */
static size_t token_at(struct slice s, size_t from)
{
        size_t head, body;

        if (!begins(s, from, "eyJ") || (head = span(s, from, TOKEN_CHARS)) < TOKEN_PART_LEAST ||
            from + head >= s.len || s.data[from + head] != '.')
                return 0;
        body = span(s, from + head + 1, TOKEN_CHARS);
        if (body < TOKEN_PART_LEAST)
                return 0;
        head += 1 + body;
        return from + head < s.len && s.data[from + head] == '.'
                       ? head + 1 + span(s, from + head + 1, TOKEN_CHARS)
                       : head;
}

/* A private key in PEM: to the end of the block, or of the text. */
static size_t private_key_at(struct slice s, size_t from)
{
        static const char end[] = "-----END";
        size_t line;

        if (!begins(s, from, "-----BEGIN "))
                return 0;
        line = from + strlen("-----BEGIN ");
        line += span(s, line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
        if (line - from < strlen("-----BEGIN PRIVATE KEY") ||
            memcmp(s.data + line - 11, "PRIVATE KEY", 11) != 0)
                return 0;
        for (size_t i = line; i < s.len; i++) {
                if (begins(s, i, end)) {
                        i += strlen(end);
                        i += span(s, i, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
                        return i + span(s, i, "-") - from;
                }
                if (s.data[i] == '"') {
                        while (s.data[i - 1] == '\\')
                                i--;
                        return i - from;
                }
        }
        return s.len - from;
}

/* What stands between "://" and "@", if anything. */
static size_t login_at(struct slice s, size_t from)
{
        size_t n = 0;

        while (from + n < s.len && !strchr("/?#@ \t\r\n\"'\\<>", s.data[from + n]) && n < 1024)
                n++;
        return n && from + n < s.len && s.data[from + n] == '@' ? n : 0;
}

/* How many backslashes stand here: before a quote they tell how often the text was quoted. */
static size_t slashes(struct slice s, size_t from)
{
        return span(s, from, "\\");
}

/* How deep a quote behind `n` backslashes is: 0, 1, 3, 7 ... of them, and an even number more for each
 * backslash that belongs to the text. */
static unsigned depth_of(size_t n)
{
        unsigned depth = 0;

        for (; n & 1; n >>= 1)
                depth++;
        return depth;
}

/* Whether the quote before `next` ends a text, by what follows it: a stray one in a log hides no beginning.
 */
static bool closes(struct slice s, size_t next)
{
        return next >= s.len || (s.data[next] && strchr(",:]} \t\r\n", s.data[next]));
}

/* Where a value is, and how it is quoted. */
struct value {
        size_t begin;
        char quote;     /* 0: it is not */
        unsigned depth; /* of its quotes */
};

/* To its quote, or to one of what is around it. */
static size_t quoted_length(struct slice s, const struct value *v)
{
        size_t i = v->begin;

        while (i < s.len && s.data[i] != '\n') {
                size_t n = slashes(s, i);
                char c = i + n < s.len ? s.data[i + n] : '\0';

                if ((c == v->quote || c == '"') && depth_of(n) <= v->depth) {
                        i += n - ((1u << depth_of(n)) - 1);
                        break;
                }
                i += n + (i + n < s.len && c != '\n');
        }
        return i - v->begin;
}

/* Backslashes here, with what they stand before, as part of a value without quotes: their length; 0 = a quote
 * or an end of line, of the JSON around. */
static size_t escape_at(struct slice s, size_t from, bool in_quotes)
{
        size_t n = slashes(s, from);
        char c = from + n < s.len ? s.data[from + n] : '\n';

        if (c == '"' || c == '\'')
                return 0;
        if (in_quotes && n % 2 == 1)
                return c == 'n' || c == 'r' ? 0 : n + (from + n < s.len);
        return n;
}

static size_t plain_length(struct slice s, size_t begin, const char *ends, bool in_quotes)
{
        size_t i = begin, n;

        while (i < s.len && s.data[i] && !strchr(ends, s.data[i])) {
                n = s.data[i] == '\\' ? escape_at(s, i, in_quotes) : 1;
                if (n == 0)
                        break;
                i += n;
        }
        return i - begin;
}

/* A quote, with its backslashes, if one stands here: their length. */
static size_t quote_at(struct slice s, size_t from, struct value *v)
{
        size_t n = slashes(s, from);

        if (from + n >= s.len || (s.data[from + n] != '"' && s.data[from + n] != '\''))
                return 0;
        v->quote = s.data[from + n];
        v->depth = depth_of(n);
        return n + 1;
}

enum extent {
        BEHIND_SIGN,  /* "token=x", "token: x" */
        BEHIND_BLANK, /* "Bearer x", too */
        REST_OF_LINE, /* "Authorization: scheme x" */
};

/* To the end of the line, or of the text in quotes that it stands in. */
static size_t header_length(struct slice s, size_t from, bool in_quotes)
{
        size_t i = from;

        while (i < s.len && s.data[i] != '\n') {
                size_t n = slashes(s, i);
                char c = i + n < s.len ? s.data[i + n] : '\0';

                if (in_quotes && ((c == '"' && n % 2 == 0 && closes(s, i + n + 1)) ||
                                  ((c == 'n' || c == 'r') && n % 2 == 1)))
                        break;
                i += n + (i + n < s.len && s.data[i + n] != '\n');
        }
        return i - from;
}

/* The value behind a name and its `=`, `:` or blank: where it begins and how long it is. in_quotes: the name
 * stands within a quoted text. */
static size_t value_behind(struct slice s, size_t from, enum extent extent, bool in_quotes, size_t *ret_begin)
{
        struct value name = { 0 }, v = { 0 };
        size_t i = from + quote_at(s, from, &name);

        if (i < s.len && (s.data[i] == '=' || s.data[i] == ':'))
                i++;
        else if (extent != BEHIND_BLANK || i >= s.len || s.data[i] != ' ')
                return 0;
        i += span(s, i, name.quote && extent == REST_OF_LINE ? " [" : " ");
        i += quote_at(s, i, &v);
        *ret_begin = v.begin = i;
        if (name.quote == '"' && name.depth == 0)
                in_quotes = !in_quotes;
        if (in_quotes && v.quote == '"' && v.depth == 0 && closes(s, i))
                return 0; /* the end of the text that the name stands in */
        if (v.quote)
                return quoted_length(s, &v);
        if (name.quote)
                return 0; /* null, a number, what holds values of its own: no text */
        return extent == REST_OF_LINE ? header_length(s, i, in_quotes)
                                      : plain_length(s, i, "\" ,;&'{}[])\n", in_quotes);
}

struct named_value {
        const char *name;
        enum extent extent;
};

static const struct named_value names[] = {
        { "authorization", REST_OF_LINE },  { "bearer", BEHIND_BLANK },
        { "basic", BEHIND_BLANK },          { "password", BEHIND_SIGN },
        { "passwd", BEHIND_SIGN },          { "passphrase", BEHIND_SIGN },
        { "token", BEHIND_SIGN },           { "secret", BEHIND_SIGN },
        { "client-key-data", BEHIND_SIGN }, { "access_key", BEHIND_SIGN },
        { "access-key", BEHIND_SIGN },      { "accesskey", BEHIND_SIGN },
        { "secret_key", BEHIND_SIGN },      { "secret-key", BEHIND_SIGN },
        { "secretkey", BEHIND_SIGN },       { "api_key", BEHIND_SIGN },
        { "api-key", BEHIND_SIGN },         { "apikey", BEHIND_SIGN },
        { "private_key", BEHIND_SIGN },     { "private-key", BEHIND_SIGN },
        { "privatekey", BEHIND_SIGN },      { "client_secret", BEHIND_SIGN },
        { "secretaccesskey", BEHIND_SIGN },
};

const char *bundle_hidden_name(size_t i)
{
        return i < ARRAY_LEN(names) ? names[i].name : NULL;
}

/* The longest: "secretkey" begins with "secret". */
static const struct named_value *name_at(struct slice s, size_t from)
{
        const struct named_value *best = NULL;
        int first = tolower((unsigned char)s.data[from]);

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (names[i].name[0] == first && begins(s, from, names[i].name) &&
                    (!best || strlen(names[i].name) > strlen(best->name)))
                        best = &names[i];
        return best;
}

/* Whether a name begins here, not within a word: "accessToken", "ACCESS_TOKEN" and "id-token" count. */
static bool may_begin(struct slice s, size_t from)
{
        return from == 0 || !islower((unsigned char)s.data[from - 1]) || isupper((unsigned char)s.data[from]);
}

/* What is to be hidden here: how long, and where it begins; 0 = nothing. */
static size_t hidden_at(struct slice s, size_t from, bool in_quotes, size_t *ret_begin)
{
        const struct named_value *name;
        size_t n;

        *ret_begin = from;
        switch (s.data[from]) {
        case '-':
                return private_key_at(s, from);
        case ':':
                *ret_begin = from + 3;
                return begins(s, from, "://") ? login_at(s, from + 3) : 0;
        default:
                break;
        }
        if ((n = token_at(s, from)) > 0)
                return n;
        if (!isalpha((unsigned char)s.data[from]) || !may_begin(s, from) || !(name = name_at(s, from)))
                return 0;
        n = value_behind(s, from + strlen(name->name), name->extent, in_quotes, ret_begin);
        /* "token: the file is missing" is a sentence; "Basic auth" is, too. */
        return n >= (name->extent == BEHIND_BLANK ? 12 : 1) ? n : 0;
}

/* Whether a text in quotes is open. None goes on into the next line. */
struct quotes {
        bool open, escaped;
};

static void pass_over(struct quotes *q, struct slice s, size_t from, size_t to)
{
        for (size_t i = from; i < to; i++) {
                char c = s.data[i];

                if (c == '\n')
                        *q = (struct quotes){ 0 };
                else if (q->escaped)
                        q->escaped = false;
                else if (c == '\\')
                        q->escaped = true;
                else if (c == '"')
                        q->open = !q->open;
        }
}

int bundle_hide_text(struct slice s, struct buf *ret)
{
        struct quotes quotes = { 0 };
        size_t from = 0, begin, n;

        for (size_t i = 0; i < s.len;) {
                n = hidden_at(s, i, quotes.open, &begin);
                if (n == 0) {
                        pass_over(&quotes, s, i, i + 1);
                        i++;
                        continue;
                }
                pass_over(&quotes, s, i, begin);
                TRY(buf_append(ret, s.data + from, begin - from));
                TRY(buf_append_str(ret, BUNDLE_HIDDEN));
                from = i = begin + n;
        }
        return buf_append(ret, s.data + from, s.len - from);
}
