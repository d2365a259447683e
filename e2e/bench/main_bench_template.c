/* How fast templates are rendered: the ten of e2e/template/bench.yaml for 1,000 inputs, parsed for each input
 * as ResourceSets of other programs do, and parsed once. `template-oracle -bench` does the first with Go's
 * text/template. Prints `bench NAME VALUE UNIT` lines. Usage: bench_template [FILE] */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/yaml.h"
#include "common/loop/loop.h"
#include "common/template/template.h"

enum { INPUTS = 1000, MOST_TEMPLATES = 100, FILE_MAX = 1 << 20 };

static const char *const roots[] = { "inputs" };
static const struct template_options options = { .name = "resourceset",
                                                 .left = "<<",
                                                 .right = ">>",
                                                 .roots = roots,
                                                 .n_roots = 1,
                                                 .missing_key_fails = true };

struct set {
        json_t *cases, *inputs;
        const struct template *parsed[MOST_TEMPLATES];
        size_t n, bytes;
};

static int parse_all(struct set *s, struct arena *arena, struct error *err)
{
        for (size_t i = 0; i < s->n; i++)
                TRY(template_parse(arena, &options, slice_of(json_string_value(json_array_get(s->cases, i))),
                                   &s->parsed[i], err));
        return 0;
}

static int render_all(struct set *s, struct error *err)
{
        const json_t *data[] = { s->inputs };
        for (size_t i = 0; i < s->n; i++) {
                AUTO_BUF struct buf out;
                buf_init(&out, LIMIT_TEMPLATE_OUTPUT_BYTES);
                TRY(template_render(s->parsed[i], &(struct template_data){ .roots = data }, &out, err));
                s->bytes += out.len;
        }
        return 0;
}

static int run(struct set *s, bool parse_each, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        s->bytes = 0;
        TRY(parse_all(s, &arena, err));
        for (size_t i = 0; i < INPUTS; i++) {
                AUTO_ARENA struct arena own = ARENA_INIT;
                if (parse_each)
                        TRY(parse_all(s, &own, err));
                TRY(render_all(s, err));
        }
        return 0;
}

static int load(const char *path, struct set *s, struct error *err)
{
        AUTO_BUF struct buf text;
        AUTO_JSON json_t *doc = NULL;
        char piece[4096];
        buf_init(&text, FILE_MAX);
        FILE *f = fopen(path, "r");
        if (!f)
                return error_set(err, ERR_NOT_FOUND, "%s cannot be read", path);
        for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
                buf_append(&text, piece, n);
        fclose(f);
        TRY(buf_status(&text, err, path));
        TRY(yaml_parse((struct slice){ text.data, text.len }, &doc, err));
        s->cases = json_incref(doc_get_array(doc, "cases"));
        s->n = MIN(json_array_size(s->cases), (size_t)MOST_TEMPLATES);
        return doc_parse(slice_of(or_empty(doc_get_string(doc, "inputs"))), &s->inputs, err);
}

static int measure(struct loop *loop, const char *path, struct error *err)
{
        static const char *const names[] = { "template_render_ms", "template_parse_render_ms" };
        struct set s = { 0 };
        int code = load(path, &s, err);
        for (int parse_each = 0; parse_each < 2 && code == 0; parse_each++) {
                int64_t start = loop_now_us(loop);
                code = run(&s, parse_each, err);
                printf("bench %s %.1f ms\n", names[parse_each], (double)(loop_now_us(loop) - start) / 1000);
        }
        printf("bench template_bytes %zu bytes\n", s.bytes);
        json_decref(s.cases);
        json_decref(s.inputs);
        return code;
}

int main(int argc, char **argv)
{
        struct error e = { 0 };
        mem_hook_libraries();
        struct loop *loop = loop_new_real(&e);
        int code = loop ? measure(loop, argc > 1 ? argv[1] : "e2e/template/bench.yaml", &e) : ERR_SYSTEM;
        if (code < 0)
                fprintf(stderr, "%s\n", e.text);
        loop_free(loop);
        return code < 0;
}
