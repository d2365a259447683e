/* JSON and YAML. */
#include "common/base/limits.h"
#include "common/json/yaml.h"
#include "common/template/function_tools.h"

enum document { JSON_HTML, JSON_PRETTY, JSON_RAW, YAML };

/* Go escapes these in any JSON, and the first three unless it is told not to. */
static int escape(struct run *run, enum document form)
{
        static const char *const pairs[][2] = { { "<", "\\u003c" },
                                                { ">", "\\u003e" },
                                                { "&", "\\u0026" },
                                                { "\xe2\x80\xa8", "\\u2028" },
                                                { "\xe2\x80\xa9", "\\u2029" } };
        struct buf *b = &run->scratch;
        for (size_t i = form == JSON_RAW ? 3 : 0; i < ARRAY_LEN(pairs); i++) {
                if (!memmem(b->data, b->len, pairs[i][0], strlen(pairs[i][0])))
                        continue;
                AUTO_BUF struct buf escaped;
                buf_init(&escaped, b->max);
                replace_all(&escaped, (struct slice){ b->data, b->len }, slice_of(pairs[i][0]),
                            slice_of(pairs[i][1]));
                TRY(run_check_buf(run, &escaped));
                struct buf swap = *b;
                *b = escaped;
                escaped = swap;
        }
        return 0;
}

/* From four blanks a level to two. No text in JSON has a line break, so what a line begins with is its level.
 */
static void halve_indentation(struct buf *b)
{
        size_t to = 0, blanks = 0;
        bool at_begin = true;
        for (size_t i = 0; i < b->len; i++) {
                char c = b->data[i];
                at_begin = at_begin && c == ' ';
                blanks = at_begin ? blanks + 1 : 0;
                if (!at_begin || blanks % 2)
                        b->data[to++] = c;
                at_begin |= c == '\n';
        }
        buf_truncate(b, to);
}

static int write_document(struct run *run, const json_t *doc, enum document form)
{
        struct buf *b = run_scratch(run);
        if (form == YAML)
                yaml_write(doc, b);
        else if (form == JSON_HTML)
                doc_write_canonical(doc, b);
        else
                form == JSON_PRETTY ? doc_write_pretty(doc, b) : doc_write(doc, b);
        TRY(run_check_buf(run, b));
        if (form == JSON_PRETTY)
                halve_indentation(b);
        TRY(run_spend_bytes(run, 4 * b->len));
        return form == JSON_PRETTY || form == JSON_RAW ? escape(run, form) : 0;
}

static int to_document(struct run *run, const struct value *v, enum document form, struct value *ret)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(value_to_doc(run, v, &doc));
        TRY(write_document(run, doc, form));
        return run_take_scratch(run, ret);
}

/* What cannot be written is an error... */
static int call_must_to(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return to_document(run, &args[0], (enum document)run->variant, ret);
}

/* ... or nothing. */
static int call_to(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int code = to_document(run, &args[0], (enum document)run->variant, ret);
        if (code == ERR_INVALID)
                *ret = value_string(SLICE(""));
        return code == ERR_INVALID ? 0 : code;
}

static int call_must_from_json(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        json_t *doc = NULL;
        struct error why = { 0 };
        TRY(run_spend_bytes(run, 8 * args[0].string.len));
        int code = doc_parse_loose(args[0].string, &doc, NULL, &why); /* of duplicates the last one counts */
        if (code == ERR_NO_MEMORY)
                return run_no_memory(run);
        if (code < 0)
                return call_fail(run, "%s", why.text);
        if (doc_keep(&run->arena, doc, &why) < 0)
                return run_no_memory(run);
        return value_of_doc(run, doc, ret);
}

static int call_from_json(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int code = call_must_from_json(run, args, n, ret);
        return code == ERR_INVALID ? 0 : code;
}

static const struct function functions[] = {
        { "toJson", call_to, { TAKES_ANY }, .variant = JSON_HTML },
        { "toPrettyJson", call_to, { TAKES_ANY }, .variant = JSON_PRETTY },
        { "toRawJson", call_to, { TAKES_ANY }, .variant = JSON_RAW },
        { "toYaml", call_to, { TAKES_ANY }, .variant = YAML },
        { "mustToJson", call_must_to, { TAKES_ANY }, .variant = JSON_HTML },
        { "mustToPrettyJson", call_must_to, { TAKES_ANY }, .variant = JSON_PRETTY },
        { "mustToRawJson", call_must_to, { TAKES_ANY }, .variant = JSON_RAW },
        { "mustToYaml", call_must_to, { TAKES_ANY }, .variant = YAML },
        { "fromJson", call_from_json, { TAKES_STRING }, .gives_any = true },
        { "mustFromJson", call_must_from_json, { TAKES_STRING }, .gives_any = true },
};

const struct function_table document_functions = { functions, ARRAY_LEN(functions) };
