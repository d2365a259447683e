/* The Common Expression Language: values and errors of expressions, as cel-go and kube-apiserver have them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/cel.h"
#include "common/json/schema.h"

/* What `doc` is in every expression here. */
static const char document[] =
        "{\"name\":\"web\",\"replicas\":3,\"ratio\":0.5,\"on\":true,\"none\":null,\"tags\":[\"a\",\"b\"],"
        "\"labels\":{\"app\":\"web\",\"x/"
        "y\":\"z\"},\"a-b\":1,\"nested\":{\"list\":[{\"k\":1},{\"k\":2}]},\"time\":\"2024-02-29T12:30:15."
        "25Z\"}";

static const char *evaluated(struct arena *arena, const char *expression)
{
        struct error err = { 0 };
        struct cel_program *program = NULL;
        json_t *doc = NULL, *result = NULL;
        if (cel_compile(arena, expression, &program, &err) < 0) /* without the excerpt of the source */
                return arena_strndup(arena, err.text, strcspn(err.text, "\n"));
        assert_int_equal(doc_parse(slice_of(document), &doc, &err), 0);
        struct cel_variable variable = { "doc", doc, NULL };
        int code = cel_eval(program, &variable, 1, &result, &err);
        AUTO_BUF struct buf b;
        buf_init(&b, 1u << 20);
        if (code == 0)
                doc_write_canonical(result, &b);
        else
                buf_printf(&b, "error: %s", err.text);
        json_decref(result);
        json_decref(doc);
        return arena_strdup(arena, b.data);
}

struct example {
        const char *expression, *result;
};

static void check_examples(const struct example *examples, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *got = evaluated(&arena, examples[i].expression);
                if (strcmp(got, examples[i].result) != 0)
                        fail_msg("%s\n got %s\nwant %s", examples[i].expression, got, examples[i].result);
        }
}

static void literals_have_their_values(void **state)
{
        static const struct example examples[] = {
                { "1", "1" },
                { "-9223372036854775808", "-9223372036854775808" },
                { "0xff", "255" },
                { "12u", "12" },
                { "1.5e3", "1500" },
                { ".5", "0.5" },
                { "'a\\n\\x41\\u00e9\\101'", "\"a\\nAéA\"" },
                { "r'a\\n'", "\"a\\\\n\"" },
                { "'''a'b\nc'''", "\"a'b\\nc\"" },
                { "b'abc'", "\"YWJj\"" },
                { "b'\\xff'", "\"/w==\"" },
                { "null", "null" },
                { "[1, 'a', true,]", "[1,\"a\",true]" },
                { "{'a': 1, 'b': [2]}", "{\"a\":1,\"b\":[2]}" },
                { "// words\n 1 // more", "1" },
                { "9223372036854775808", "ERROR: <input>:1:1: invalid int literal" },
                { "1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'" },
                { "1 2", "ERROR: <input>:1:3: Syntax error: unexpected '2'" },
                { "'a", "ERROR: <input>:1:1: Syntax error: unterminated string" },
                { "a #", "ERROR: <input>:1:3: Syntax error: token recognition error at: '#'" },
                { "nope(1)", "ERROR: <input>:1:8: undeclared reference to 'nope' (in container '')" },
                { "for", "ERROR: <input>:1:4: reserved identifier: for" },
                { "{'a': 1, 'a': 2}", "error: Failed with repeated key" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void operators_compute_and_fail_as_in_cel(void **state)
{
        static const struct example examples[] = {
                { "1 + 2 * 3 - 4 / 2 % 3", "5" },
                { "(1 + 2) * 3", "9" },
                { "7 % -3", "1" },
                { "-(-2)", "2" },
                { "1 / 0", "error: division by zero" },
                { "1 % 0", "error: modulus by zero" },
                { "9223372036854775807 + 1", "error: integer overflow" },
                { "2u - 3u", "error: unsigned integer overflow" },
                { "1.0 / 4.0", "0.25" },
                { "1 + 1.0", "error: no such overload" },
                { "'a' + 'b'", "\"ab\"" },
                { "[1] + [2]", "[1,2]" },
                { "1 == 1.0 && 1u == 1 && 1 < 1.5 && 2u > 1", "true" },
                { "1 == 'a'", "false" },
                { "[1, 2] == [1, 2.0] && {'a': 1} == {'a': 1} && [1] != [2]", "true" },
                { "'a' < 'b' && b'a' < b'b' && false < true", "true" },
                { "'a' < 1", "error: no such overload" },
                { "!true", "false" },
                { "!1", "error: no such overload" },
                { "true ? 1 : 1 / 0", "1" },
                { "1 ? 2 : 3", "error: no such overload" },
                { "2 in [1, 2] && 'a' in {'a': 1} && !('b' in {'a': 1})", "true" },
                { "1 in 1", "error: no such overload" },
                { "true || 1 / 0 > 0", "true" },
                { "1 / 0 > 0 || true", "true" },
                { "1 / 0 > 0 && false", "false" },
                { "1 / 0 > 0 || false", "error: division by zero" },
                { "1 / 0 > 0 && true", "error: division by zero" },
                { "'a' || true", "true" },
                { "'a' || false", "error: no such overload" },
                { "0.0 / 0.0 == 0.0 / 0.0", "false" },
                { "9007199254740993 == 9007199254740992.0", "false" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void documents_are_reached_by_fields_and_keys(void **state)
{
        static const struct example examples[] = {
                { "doc.name", "\"web\"" },
                { "doc.labels['x/y']", "\"z\"" },
                { "doc.labels.x__slash__y", "\"z\"" },
                { "doc.a__dash__b", "1" },
                { "doc.`a-b`", "1" },
                { "doc.tags[1]", "\"b\"" },
                { "doc.tags[2]", "error: index out of bounds: 2" },
                { "doc.absent", "error: no such key: absent" },
                { "doc.labels['q']", "error: no such key: q" },
                { "has(doc.absent)", "false" },
                { "has(doc.none)", "true" },
                { "has(doc.nested.list)", "true" },
                { "doc.none == null", "true" },
                { "doc.name.first", "error: no such overload" },
                { "other", "error: undeclared reference to 'other' (in container '')" },
                { "doc.?absent.orValue('d')", "\"d\"" },
                { "doc.?nested.list[0].k.orValue(0)", "1" },
                { "doc[?'absent'].hasValue()", "false" },
                { "doc.tags[?5].orValue('none')", "\"none\"" },
                { "[?doc.?absent, ?doc.?name]", "[\"web\"]" },
                { "{?'a': doc.?absent, ?'n': doc.?name}", "{\"n\":\"web\"}" },
                { "optional.none().value()", "error: optional.none() dereference" },
                { "optional.of(1).or(optional.of(2)).value()", "1" },
                { "optional.ofNonZeroValue('').hasValue()", "false" },
                { "doc.?replicas.optMap(r, r + 1).value()", "4" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void macros_run_over_lists_and_maps(void **state)
{
        static const struct example examples[] = {
                { "[1, 2].all(x, x > 0)", "true" },
                { "[1, 2].exists(x, x == 2)", "true" },
                { "[1, 2, 2].exists_one(x, x == 2)", "false" },
                { "[1, 2].map(x, x * 2)", "[2,4]" },
                { "[1, 2, 3].map(x, x > 1, x * 2)", "[4,6]" },
                { "[1, 2, 3].filter(x, x > 1)", "[2,3]" },
                { "doc.labels.all(k, doc.labels[k] != '')", "true" },
                { "doc.labels.map(k, k)", "[\"app\",\"x/y\"]" },
                { "[[1], [2, 3]].map(x, x.map(y, y + size(x)))", "[[2],[4,5]]" },
                { "[1, 0].all(x, 1 / x > 0)", "error: division by zero" },
                { "[0, 1].all(x, 1 / x > 1)", "false" },
                { "[0, 1].exists(x, 1 / x == 1)", "true" },
                { "[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero" },
                { "[1].all(x, x)", "error: no such overload" },
                { "1.all(x, true)", "error: no such overload" },
                { "[5, 6].all(i, v, v == i + 5)", "true" },
                { "doc.labels.exists(k, v, k == 'app' && v == 'web')", "true" },
                { "[5, 6].transformList(i, v, i * v)", "[0,6]" },
                { "doc.labels.transformMap(k, v, k == 'app', v + '!')", "{\"app\":\"web!\"}" },
                { "cel.bind(x, doc.replicas, x * x)", "9" },
                { "[1].map(x, [2].map(x, x)[0] + x)",
                  "[3]" }, /* the inner x hides the outer one only inside */
                { "has(doc)", "ERROR: <input>:1:8: invalid argument to has() macro" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void conversions_follow_cel(void **state)
{
        static const struct example examples[] = {
                { "int('12') + int(3.9) + int(4u)", "19" },
                { "int('1x')", "error: type conversion error from 'string' to 'int'" },
                { "uint(-1)", "error: unsigned integer overflow" },
                { "double('1.5') + double(1)", "2.5" },
                { "string(1) + string(1.5) + string(true) + string(b'x') + string(1e20)",
                  "\"11.5truex1e+20\"" },
                { "bool('true') && !bool('f')", "true" },
                { "bytes('é')", "\"w6k=\"" },
                { "type(1) == int && type('') == string && type([]) == list && type(null) == null_type",
                  "true" },
                { "type(type(1)) == type", "true" },
                { "dyn(1) == 1", "true" },
                { "int(1e30)", "error: integer overflow" },
                { "size('é') + size(b'é') + size([1]) + size({}) + 'abc'.size()", "7" },
                { "size(1)", "error: no such overload" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void strings_have_the_library_of_kubernetes(void **state)
{
        static const struct example examples[] = {
                { "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')", "true" },
                { "'hello'.matches('^h.*o$') && matches('a1', '[0-9]')", "true" },
                { "'a'.matches('(')", "error parsing regexp: missing closing ): `(`" },
                { "'a'.matches('(' + '')", "error: error parsing regexp: missing closing ): `(`" },
                { "'tea'.charAt(1) + 'tea'.charAt(3)", "\"e\"" },
                { "'tea'.charAt(4)", "error: index out of range: 4" },
                { "['héllo'.indexOf('l'), 'hello'.indexOf('l', 3), 'hello'.indexOf('x'), "
                  "'hello'.lastIndexOf('l')]",
                  "[2,3,-1,3]" },
                { "'TacoCat'.lowerAscii() + 'TacoCat'.upperAscii()", "\"tacocatTACOCAT\"" },
                { "'hello hello'.replace('he', 'we') + 'hello hello'.replace('he', 'we', 1)",
                  "\"wello wellowello hello\"" },
                { "'ab'.replace('', '-')", "\"-a-b-\"" },
                { "'a,b,c'.split(',') + 'a,b,c'.split(',', 2) + 'ab'.split('') + ''.split(',')",
                  "[\"a\",\"b\",\"c\",\"a\",\"b,c\",\"a\",\"b\",\"\"]" },
                { "['a', 'b'].join() + ['a', 'b'].join('-')", "\"aba-b\"" },
                { "'tacocat'.substring(4) + 'tacocat'.substring(0, 4)", "\"cattaco\"" },
                { "'tacocat'.substring(4, 2)", "error: invalid substring range. start: 4, end: 2" },
                { "'  x \\n'.trim()", "\"x\"" },
                { "'héy'.reverse()", "\"yéh\"" },
                { "'%s is %d, %.2f, %x, %b, %s %%'.format(['a', 5, 1.5, 255, 5, [1, 'b']])",
                  "\"a is 5, 1.50, ff, 101, [1, \\\"b\\\"] %\"" },
                { "'%s'.format([])", "error: index 0 out of range" },
                { "'abc 123'.find('[0-9]+') + 'x'.find('[0-9]')", "\"123\"" },
                { "'1 22 333'.findAll('[0-9]+') + '1 22 333'.findAll('[0-9]+', 1)",
                  "[\"1\",\"22\",\"333\",\"1\"]" },
                { "base64.encode(b'hi') + string(base64.decode('aGk='))", "\"aGk=hi\"" },
                { "strings.quote('a\"b')", "\"\\\"a\\\\\\\"b\\\"\"" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void lists_sets_and_math_have_their_libraries(void **state)
{
        static const struct example examples[] = {
                { "[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].isSorted()", "true" },
                { "[1, 2, 3].sum() + [].sum()", "6" },
                { "[0.5, 1.5].sum()", "2" },
                { "[3, 1, 2].min() + [3, 1, 2].max()", "4" },
                { "[].min()", "error: min called on empty list" },
                { "[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1) + [1].indexOf(9)", "1" },
                { "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], "
                  "[2])",
                  "true" },
                { "math.greatest(1, 2.5, 2) == 2.5 && math.least([3, 1]) == 1", "true" },
                { "math.abs(-3) + math.sign(-7)", "2" },
                { "math.ceil(1.2) + math.floor(1.8) + math.round(1.5) + math.trunc(-1.5)", "4" },
                { "math.greatest('a', 'b')", "error: no such overload" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void times_compute_on_the_calendar(void **state)
{
        static const struct example examples[] = {
                { "timestamp('2024-02-29T12:30:15.25Z')", "\"2024-02-29T12:30:15.25Z\"" },
                { "timestamp('2024-02-29T23:00:00-02:00')", "\"2024-03-01T01:00:00Z\"" },
                { "timestamp('2024-02-28T12:00:00Z') + duration('36h')", "\"2024-03-01T00:00:00Z\"" },
                { "timestamp('2024-03-01T00:00:00Z') - timestamp('2024-02-29T00:00:00Z')", "\"86400s\"" },
                { "duration('1h30m') + duration('1.5s')", "\"5401.5s\"" },
                { "duration('1h') < duration('61m') && duration('-1s') < duration('0s')", "true" },
                { "duration('1x')", "error: time: invalid duration \"1x\"" },
                { "timestamp('soon')", "error: invalid timestamp \"soon\"" },
                { "cel.bind(t, timestamp(doc.time), [t.getFullYear(), t.getMonth(), t.getDate(), "
                  "t.getDayOfMonth(), "
                  "t.getDayOfWeek(), t.getDayOfYear(), t.getHours(), t.getMinutes(), t.getSeconds(), "
                  "t.getMilliseconds()])",
                  "[2024,1,29,28,4,59,12,30,15,250]" },
                { "timestamp(doc.time).getHours('+05:45') + timestamp(doc.time).getHours('UTC')", "30" },
                { "duration('3730s').getHours() + duration('3730s').getMinutes() + "
                  "duration('3730s').getSeconds()",
                  "3793" },
                { "int(timestamp('1970-01-01T00:01:00Z')) + int(duration('1s'))", "1000000060" },
                { "timestamp('1969-12-31T23:59:59Z').getDayOfYear()", "364" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void kubernetes_types_have_their_functions(void **state)
{
        static const struct example examples[] = {
                { "quantity('1.5Gi').isGreaterThan(quantity('1G')) && "
                  "quantity('500m').compareTo(quantity('0.5')) == 0",
                  "true" },
                { "[quantity('50k').add(quantity('20k')).asInteger(), quantity('2').sub(1).sign()]",
                  "[70000,1]" },
                { "isQuantity('20x') || quantity('100m').isInteger()", "false" },
                { "quantity('x')", "error: quantities must match the regular expression "
                                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
                { "isURL('https://a.b:80/p?q=1') && !isURL('a b')", "true" },
                { "cel.bind(u, url('https://a.b:80/p/q?x=1&y=a+b&x=2'), [u.getScheme(), u.getHost(), "
                  "u.getHostname(), "
                  "u.getPort(), u.getEscapedPath(), u.getQuery()['x'][1], u.getQuery().y[0]])",
                  "[\"https\",\"a.b:80\",\"a.b\",\"80\",\"/p/q\",\"2\",\"a b\"]" },
                { "url('https://[::1]:443/').getHostname() + url('/only/path').getHost()", "\"::1\"" },
                { "ip('192.168.0.1').family() + ip('::1').family()", "10" },
                { "isIP('1.2.3.4') && !isIP('1.2.3') && ip.isCanonical('::1') && !ip.isCanonical('0::1')",
                  "true" },
                { "ip('127.0.0.1').isLoopback() && ip('fe80::1').isLinkLocalUnicast() && "
                  "ip('8.8.8.8').isGlobalUnicast()",
                  "true" },
                { "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP('11.1.2.3')",
                  "true" },
                { "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == "
                  "cidr('10.0.0.0/8')",
                  "true" },
                { "string(cidr('10.0.0.0/8').ip()) + string(cidr('10.0.0.0/8').prefixLength())",
                  "\"10.0.0.08\"" },
        };
        check_examples(examples, ARRAY_LEN(examples));
}

static void schemas_type_the_values(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        json_t *openapi = NULL, *doc = NULL;
        const struct schema *s = NULL;
        struct cel_program *program = NULL;
        const char schema_text[] =
                "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\",\"format\":\"date-time\"},"
                "\"b\":{\"type\":\"string\",\"format\":\"byte\"},\"n\":{\"type\":\"number\"},"
                "\"x\":{\"x-kubernetes-int-or-string\":true},"
                "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":"
                "\"string\"}}}}";
        const char doc_text[] =
                "{\"at\":\"2024-01-01T00:00:00Z\",\"b\":\"aGk=\",\"n\":1,\"x\":5,\"set\":[\"a\",\"b\"]}";
        assert_int_equal(doc_parse(slice_of(schema_text), &openapi, &err), 0);
        assert_int_equal(doc_parse(slice_of(doc_text), &doc, &err), 0);
        assert_int_equal(schema_from_crd(&arena, openapi, &s, &err), 0);
        const char *rule = "self.at.getFullYear() == 2024 && self.b == b'hi' && type(self.n) == double && "
                           "type(self.x) == int "
                           "&& size(self.set + self.set) == 2";
        assert_int_equal(cel_compile(&arena, rule, &program, &err), 0);
        struct cel_variable self = { "self", doc, s };
        bool holds = false;
        if (cel_eval_bool(program, &self, 1, &holds, &err) < 0)
                fail_msg("%s", err.text);
        assert_true(holds);
        json_decref(openapi);
        json_decref(doc);
}

static void variables_used_are_known(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct cel_program *program = NULL;
        assert_int_equal(cel_compile(&arena, "self.a == oldSelf.a && [1].all(x, x > 0)", &program, NULL), 0);
        assert_true(cel_uses_variable(program, "oldSelf"));
        assert_false(cel_uses_variable(program, "x"));
}

static void members_that_a_rule_may_depend_on_are_known(void **state)
{
        static const struct {
                const char *rule, *member;
                bool reads;
        } rules[] = {
                { "size(self.metadata.name) < 64", "status", false },
                { "size(self.metadata.name) < 64", "metadata", true },
                { "size(self.metadata.name) < 64", "name", false },
                { "!has(self.status)", "status", true },
                { "self.?status.hasValue()", "status", true },
                { "self['status'] == 1", "spec", true },
                { "size(self) > 1", "status", true },
                { "[self].all(x, x.spec == 1)", "status", true },
                { "self.all(k, k != 'a')", "status", true },
                { "self.spec.all(self, self.status == 1)", "status", false },
                { "cel.bind(x, self.spec, x.status == self.other)", "status", false },
                { "self.a ? self.b == 1 : self.c", "c", true },
                { "self.a__dash__b == 1", "a-b", true },
                { "other.status == 1", "status", false },
        };
        for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct cel_program *program = NULL;
                assert_int_equal(cel_compile(&arena, rules[i].rule, &program, NULL), 0);
                if (cel_reads_member(program, "self", rules[i].member) != rules[i].reads)
                        fail_msg("%s: %s", rules[i].rule, rules[i].member);
        }
}

static int compile_repeated(const char *open, const char *middle, const char *close, size_t n)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct cel_program *program = NULL;
        AUTO_BUF struct buf b;
        buf_init(&b, 1u << 20);
        for (size_t i = 0; i < n; i++)
                buf_append_str(&b, open);
        buf_append_str(&b, middle);
        for (size_t i = 0; i < n; i++)
                buf_append_str(&b, close);
        return cel_compile(&arena, b.data, &program, NULL);
}

static void deep_and_huge_expressions_are_limits(void **state)
{
        assert_int_equal(compile_repeated("(", "1", ")", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("[", "", "]", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("!", "true", "", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("1+", "1", "", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("", "a", ".b", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("true?1:", "2", "", 1000), ERR_LIMIT);
        assert_int_equal(compile_repeated("[1].map(x,", "x", ")", 40), ERR_LIMIT);
        assert_int_equal(compile_repeated("1", "", "", 70000), ERR_LIMIT);
        assert_int_equal(compile_repeated("true && ", "true", "", 2000), 0);
        assert_int_equal(compile_repeated("(", "1", ")", 50), 0);
}

static void evaluation_has_a_budget(void **state)
{
        static const char *const expressions[] = {
                "[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, "
                "[1,2,3,4,5,6,7,8,9,10].map(d, [1,2,3,4,5,6,7,8,9,10].map(e, [1,2,3,4,5,6,7,8,9,10].map(f, "
                "f))))))",
                "cel.bind(a, 'x'.replace('', 'xxxxxxxxxxxxxxxxxxxx'), cel.bind(b, a.replace('x', a), "
                "cel.bind(c, b.replace('x', b), "
                "c.replace('x', c).replace('x', c))))",
        };
        for (size_t i = 0; i < ARRAY_LEN(expressions); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct cel_program *program = NULL;
                struct error err = { 0 };
                json_t *result = NULL;
                assert_int_equal(cel_compile(&arena, expressions[i], &program, &err), 0);
                int code = cel_eval(program, NULL, 0, &result, &err);
                assert_true(code == ERR_LIMIT ||
                            (code == ERR_INVALID && !strcmp(err.text, "string too long")));
                json_decref(result);
        }
}

/* Mangled source must give a value or an error, nothing else; run this under ASan too. */
static void mangled_source_does_no_harm(void **state)
{
        static const char seed[] =
                "doc.tags.filter(t, t.matches('[a-z]{1,3}')).map(x, {'k': [x, 1u, 2.5e3, b'\\x41']})[0].k "
                "== [?doc.?a] || -size(\"q\") in {1: r'z'} ? has(doc.a) : !true && 0xfu < 3u";
        uint32_t random = 12345;
        for (size_t round = 0; round < 3000; round++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                char source[sizeof(seed)];
                memcpy(source, seed, sizeof(seed));
                for (size_t k = 0; k < 1 + round % 4; k++) {
                        random = random * 1664525u + 1013904223u;
                        size_t at = (random >> 8) % (sizeof(seed) - 1);
                        source[at] = (random >> 3) % 3 ? seed[(random >> 12) % (sizeof(seed) - 1)]
                                                       : (char)(random >> 24);
                        if (!source[at])
                                source[at] = '(';
                }
                source[sizeof(seed) - 1 - (random >> 5) % 20] = '\0';
                assert_non_null(evaluated(&arena, source));
        }
}

static void every_failing_allocation_is_reported(void **state)
{
        static const char *const expressions[] = {
                "[1, 2].map(x, string(x) + 'é').join(',').matches('^[12é,]+$')",
                "{'a': doc.?b, 'c': 'a-b'.split('-')}", "1 / 0 > 0 || '%s'.format([[1]]) == '[1]'"
        };
        for (size_t i = 0; i < ARRAY_LEN(expressions); i++)
                for (uint64_t n = 1;; n++) {
                        AUTO_ARENA struct arena arena = ARENA_INIT;
                        struct cel_program *program = NULL;
                        json_t *result = NULL;
                        struct error err = { 0 };
                        AUTO_JSON json_t *doc = json_object();
                        struct cel_variable variable = { "doc", doc, NULL };
                        mem_fail_at(n, false);
                        int code = cel_compile(&arena, expressions[i], &program, &err);
                        if (code == 0)
                                code = cel_eval(program, &variable, 1, &result, &err);
                        bool fired = mem_fault_fired();
                        mem_fail_at(0, false);
                        json_decref(result);
                        assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                        if (!fired)
                                break;
                }
}

static void a_complaint_shows_the_place(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct cel_program *program = NULL;
        const struct cel_declaration declared[] = { { .name = "doc", .schema = &cel_anything } };
        assert_int_equal(cel_compile(&arena, "true ||\n doc.x == other.y", &program, &err), 0);
        assert_int_equal(cel_check(program, declared, 1, NULL, &err), ERR_INVALID);
        assert_string_equal(err.text, "ERROR: <input>:2:11: undeclared reference to 'other' (in container "
                                      "'')\n |  doc.x == other.y\n | ..........^");
}

/* ---- scopes ---- */

static bool allow_get(void *ctx, const struct cel_access_question *q, const char **ret_reason)
{
        *ret_reason = "because";
        return strcmp(q->verb, "get") == 0 && (q->path || (strcmp(q->group, "g") == 0 && !*q->name)) &&
               !q->account_name;
}

struct rig {
        struct arena arena;
        struct cel_scope *scope;
        struct error err;
        const char *text; /* of the last result, or of the error */
};

static struct cel_program *compiled(struct rig *r, const char *expression)
{
        struct cel_program *program = NULL;
        assert_int_equal(cel_compile(&r->arena, expression, &program, &r->err), 0);
        return program;
}

static const char *scoped(struct rig *r, const char *expression)
{
        struct cel_result result;
        if (cel_scope_eval(r->scope, compiled(r, expression), &result, &r->err) < 0)
                return r->err.text;
        return result.kind == CEL_RESULT_STRING ? arena_strndup(&r->arena, result.text.data, result.text.len)
               : result.kind == CEL_RESULT_BOOL ? (result.boolean ? "true" : "false")
               : result.kind == CEL_RESULT_NULL ? "null"
                                                : "other";
}

static void programs_share_variables_that_are_computed_once(void **state)
{
        struct rig r = { .scope = cel_scope_new(10000) };
        AUTO_JSON json_t *doc = json_pack("{s:s}", "name", "web");
        assert_int_equal(cel_scope_set(r.scope, "doc", doc, NULL), 0);
        assert_int_equal(cel_scope_define(r.scope, "name", compiled(&r, "doc.name"), &r.err), 0);
        assert_int_equal(
                cel_scope_define(r.scope, "twice", compiled(&r, "variables.name + variables.name"), &r.err),
                0);
        assert_int_equal(cel_scope_define(r.scope, "bad", compiled(&r, "doc.none"), &r.err), 0);
        assert_string_equal(scoped(&r, "variables.twice + '!'"), "webweb!");
        assert_string_equal(scoped(&r, "variables.bad"),
                            "composited variable \"bad\" fails to evaluate: no such key: none");
        assert_string_equal(scoped(&r, "true || variables.bad"), "true");
        assert_int_equal(cel_scope_set(r.scope, "doc", NULL, NULL), 0);
        assert_string_equal(scoped(&r, "doc"), "null");
        cel_scope_free(r.scope);
        arena_free(&r.arena);
}

static void rights_are_asked_step_by_step(void **state)
{
        static const struct example examples[] = {
                { "authorizer.group('g').resource('r').check('get').allowed()", "true" },
                { "authorizer.group('g').resource('r').subresource('s').namespace('n').check('get').reason()",
                  "because" },
                { "authorizer.group('g').resource('r').name('x').check('get').allowed()", "false" },
                { "authorizer.group('g').resource('r').check('put').allowed()", "false" },
                { "authorizer.serviceAccount('n', 'a').group('g').resource('r').check('get').allowed()",
                  "false" },
                { "authorizer.path('/x').check('get').allowed()", "true" },
                { "authorizer.path('').check('get').allowed()", "path must not be empty" },
                { "authorizer.requestResource.check('get').errored()", "false" },
                { "authorizer.requestResource.check('get').error()", "" },
                { "authorizer.group('g').check('get').allowed()", "no such overload" },
                { "authorizer.resource('g').check('get').allowed()", "no such overload" },
                { "authorizer.group(1).resource('r').check('get').allowed()", "no such overload" },
                { "authorizer.nothing", "no such key: nothing" },
                { "authorizer.group('g').resource('r').fieldSelector('a=b').check('get').allowed()", "true" },
        };
        const struct cel_authorizer by = { .allowed = allow_get, .request = { "", "g", "r", "", "", "" } };
        struct rig r = { .scope = cel_scope_new(100000000) };
        assert_int_equal(cel_scope_set_authorizer(r.scope, &by), 0);
        for (size_t i = 0; i < ARRAY_LEN(examples); i++)
                assert_string_equal(scoped(&r, examples[i].expression), examples[i].result);
        assert_int_equal(cel_scope_set_authorizer(r.scope, NULL), 0);
        assert_string_equal(scoped(&r, "authorizer.path('/x').check('get').allowed()"),
                            "undeclared reference to 'authorizer' (in container '')");
        cel_scope_free(r.scope);
        arena_free(&r.arena);
}

static void a_budget_is_shared(void **state)
{
        struct rig r = { .scope = cel_scope_new(20) };
        assert_string_equal(scoped(&r, "1 + 1 == 2"), "true");
        while (strcmp(scoped(&r, "1 + 1 == 2"), "true") == 0)
                ;
        assert_non_null(strstr(r.err.text, "cost limit exceeded"));
        cel_scope_free(r.scope);
        arena_free(&r.arena);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(literals_have_their_values),
                cmocka_unit_test(operators_compute_and_fail_as_in_cel),
                cmocka_unit_test(documents_are_reached_by_fields_and_keys),
                cmocka_unit_test(macros_run_over_lists_and_maps),
                cmocka_unit_test(conversions_follow_cel),
                cmocka_unit_test(strings_have_the_library_of_kubernetes),
                cmocka_unit_test(lists_sets_and_math_have_their_libraries),
                cmocka_unit_test(times_compute_on_the_calendar),
                cmocka_unit_test(kubernetes_types_have_their_functions),
                cmocka_unit_test(schemas_type_the_values),
                cmocka_unit_test(variables_used_are_known),
                cmocka_unit_test(members_that_a_rule_may_depend_on_are_known),
                cmocka_unit_test(deep_and_huge_expressions_are_limits),
                cmocka_unit_test(evaluation_has_a_budget),
                cmocka_unit_test(mangled_source_does_no_harm),
                cmocka_unit_test(a_complaint_shows_the_place),
                cmocka_unit_test(programs_share_variables_that_are_computed_once),
                cmocka_unit_test(rights_are_asked_step_by_step),
                cmocka_unit_test(a_budget_is_shared),
                cmocka_unit_test(every_failing_allocation_is_reported),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
