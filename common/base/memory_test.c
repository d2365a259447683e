/* memory, arena, buf, vec, heap, map and intern: what they hold, and what they do when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/heap.h"
#include "common/base/intern.h"
#include "common/base/vec.h"

#ifdef ARGOSY_ASAN
#include <sanitizer/asan_interface.h>
#endif

static void live_counts_return_to_where_they_were(void **state)
{
        size_t bytes = mem_live_bytes(), count = mem_live_count();
        void *p = mem_alloc(100);
        assert_true(mem_live_bytes() >= bytes + 100);
        assert_int_equal(mem_live_count(), count + 1);
        p = mem_realloc(p, 5000);
        assert_int_equal(mem_live_count(), count + 1);
        mem_free(p);
        assert_int_equal(mem_live_bytes(), bytes);
        assert_int_equal(mem_live_count(), count);
}

static void exactly_the_chosen_allocation_fails(void **state)
{
        mem_fail_at(2, false);
        char *a = mem_strdup("a"), *b = mem_strdup("b"), *c = mem_strdup("c");
        assert_true(mem_fault_fired());
        assert_int_equal(mem_alloc_count(), 3);
        mem_fail_at(0, false);
        assert_non_null(a);
        assert_null(b);
        assert_non_null(c);
        mem_free(a);
        mem_free(c);
        assert_null(mem_calloc(SIZE_MAX / 2, 3));
}

#define OF_A_THREAD 2000

static void *allocate_many(void *failed)
{
        for (int i = 0; i < OF_A_THREAD; i++) {
                void *p = mem_alloc(10 + (size_t)i % 90);
                void *moved = mem_realloc(p, 200);

                *(int *)failed += !p + !moved;
                mem_free(moved ? moved : p);
        }
        return NULL;
}

/* Of all threads one allocation fails, and nothing that any of them does is lost to the counters. */
static void threads_are_counted_together(void **state)
{
        size_t bytes = mem_live_bytes(), count = mem_live_count();
        pthread_t threads[3];
        int failed[4] = { 0 };

        mem_fail_at(2 * OF_A_THREAD, false);
        for (int i = 0; i < 3; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, allocate_many, &failed[i]), 0);
        allocate_many(&failed[3]);
        for (int i = 0; i < 3; i++)
                assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(mem_fault_fired());
        assert_int_equal(mem_alloc_count(), 4 * 2 * OF_A_THREAD);
        mem_fail_at(0, false);
        assert_int_equal(failed[0] + failed[1] + failed[2] + failed[3], 1);
        assert_int_equal(mem_live_bytes(), bytes);
        assert_int_equal(mem_live_count(), count);
}

/* What one thread allocates another may free. */
static void *free_there(void *p)
{
        mem_free(p);
        return NULL;
}

static void what_another_thread_frees_is_gone(void **state)
{
        size_t bytes = mem_live_bytes();
        pthread_t thread;
        void *p = mem_alloc(1000);

        assert_true(mem_live_bytes() >= bytes + 1000);
        assert_int_equal(pthread_create(&thread, NULL, free_there, p), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(mem_live_bytes(), bytes);
}

static void note(void *p)
{
        **(int **)p = ++*((int **)p)[1];
}

static void an_arena_is_aligned_limited_and_runs_its_defers_backwards(void **state)
{
        AUTO_ARENA struct arena a = { .limit = 100000 };
        for (size_t n = 1; n < 300; n += 7) {
                assert_non_null(arena_strdup(&a, "x"));
                uint8_t *p = arena_zalloc(&a, n);
                assert_int_equal((uintptr_t)p % 16, 0);
                assert_int_equal(p[n - 1], 0);
        }
        int order = 0, first = 0, second = 0;
        int *one[] = { &first, &order }, *two[] = { &second, &order };
        assert_int_equal(arena_defer(&a, note, one), 0);
        assert_int_equal(arena_defer(&a, note, two), 0);
        assert_null(arena_alloc(&a, 100000));
        arena_reset(&a);
        assert_int_equal(second, 1);
        assert_int_equal(first, 2);
        assert_non_null(arena_alloc(&a, 90000));
        assert_string_equal(arena_printf(&a, "%s-%d", "x", 5), "x-5");
}

static void texts_of_every_length_are_formatted_whole(void **state)
{
        AUTO_ARENA struct arena a = ARENA_INIT;

        for (int n = 1; n < 3000; n++) {
                AUTO_FREE char *own = mem_printf("%0*d", n, 7);
                const char *text = arena_printf(&a, "%0*d", n, 7);

                assert_non_null(own);
                assert_int_equal(strlen(own), n);
                assert_int_equal(own[n - 1], '7');
                assert_string_equal(text, own);
        }
}

static void of_an_arena_whose_allocations_stand_apart_each_fails_alone(void **state)
{
        for (uint64_t n = 1; n <= 4; n++) {
                AUTO_ARENA struct arena a = { .apart = true };
                mem_fail_at(n, false);
                assert_int_equal(arena_alloc(&a, 16) == NULL, n == 1);
                assert_int_equal(arena_strdup(&a, "x") == NULL, n == 2);
                assert_int_equal(arena_printf(&a, "%0100d", 1) == NULL, n == 3);
                assert_int_equal(arena_calloc(&a, 3, 700) == NULL, n == 4);
                assert_true(mem_fault_fired());
                mem_fail_at(0, false);
                arena_reset(&a);
                assert_non_null(arena_alloc(&a, 16));
        }
}

static void sanitizers_see_who_touches_what_is_behind_the_end_of_a_list(void **state)
{
#ifdef ARGOSY_ASAN
        AUTO_ARENA struct arena a = ARENA_INIT;
        struct wide {
                char at[100];
        } *list = ARENA_NEW_ARRAY(&a, struct wide, 3);
        char *text = arena_strdup(&a, "text"), *long_text = arena_printf(&a, "%05000d", 1),
             *last = arena_strdup(&a, "x");
        assert_true(list && text && long_text && last);
        assert_null(__asan_region_is_poisoned(list, 3 * sizeof(*list)));
        for (size_t i = 0; i < sizeof(*list); i++)
                assert_true(__asan_address_is_poisoned(&list[3].at[i]));
        assert_null(__asan_region_is_poisoned(text, 5));
        assert_true(__asan_address_is_poisoned(text + 5));
        assert_true(__asan_address_is_poisoned(long_text + 5001));
        VEC(int) vec = VEC_INIT;
        for (int i = 0; i < 5; i++)
                assert_int_equal(vec_push(&vec, i), 0);
        assert_null(__asan_region_is_poisoned(vec.at, 5 * sizeof(int)));
        assert_true(__asan_address_is_poisoned(&vec.at[5]));
        vec_free(&vec);
#else
        skip();
#endif
}

static void a_buffer_keeps_its_first_failure(void **state)
{
        AUTO_BUF struct buf b;
        struct error err;
        buf_init(&b, 8);
        assert_int_equal(buf_append_str(&b, "12345678"), 0);
        assert_int_equal(buf_append_char(&b, '9'), ERR_LIMIT);
        buf_consume(&b, 4);
        assert_int_equal(buf_append_char(&b, '9'), ERR_LIMIT);
        assert_int_equal(buf_status(&b, &err, "the name"), ERR_LIMIT);
        assert_string_equal(err.text, "the name is longer than 8 bytes");
        assert_null(buf_take(&b, NULL));
        buf_clear(&b);
        assert_int_equal(buf_printf(&b, "%d", 12345678), 0);
        assert_int_equal(buf_printf(&b, "%s", ""), 0);
        assert_string_equal(b.data, "12345678");
        assert_int_equal(buf_printf(&b, "%d", 1), ERR_LIMIT);
        assert_string_equal(b.data, "12345678");
}

static void a_buffer_is_cut_to_what_it_began_with(void **state)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 8);
        buf_truncate(&b, 0);
        assert_string_equal(b.data, "");
        assert_int_equal(buf_append_str(&b, "/a/b"), 0);
        buf_truncate(&b, 2);
        assert_string_equal(b.data, "/a");
        assert_int_equal(buf_append_str(&b, "/c"), 0);
        assert_string_equal(b.data, "/a/c");
        assert_int_equal(buf_append_str(&b, "/long"), ERR_LIMIT);
        buf_truncate(&b, 2);
        assert_string_equal(b.data, "/a");
        assert_int_equal(b.failed, ERR_LIMIT);
}

static void json_strings_are_escaped_and_always_utf8(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 1000);
        assert_int_equal(buf_append_json_string(&b, "a\"\\\n\x01\xc3\xa9\xff\0z", 10), 0);
        assert_string_equal(b.data, "\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\\u0000z\"");
}

/* Of whatever length, wherever what is special stands. */
static void each_byte_of_a_json_string_is_looked_at(void **state)
{
        static const char special[] = { '"', '\\', '\x1f', '\x7f', '\x80' };
        static const char *const as[] = { "\\\"", "\\\\", "\\u001f", "\x7f", "\xef\xbf\xbd" };
        for (size_t n = 0; n < 40; n++)
                for (size_t at = 0; at <= n; at++)
                        for (size_t k = 0; k < ARRAY_LEN(special); k++) {
                                char plain[41] = "", expected[64];
                                AUTO_BUF struct buf b;
                                buf_init(&b, 100);
                                memset(plain, '~', n);
                                snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"", (int)at, plain,
                                         at < n ? as[k] : "", (int)(at < n ? n - at - 1 : 0), plain);
                                if (at < n)
                                        plain[at] = special[k];
                                assert_int_equal(buf_append_json_string(&b, plain, n), 0);
                                assert_string_equal(b.data, expected);
                        }
}

static void numbers_are_written_whole(void **state)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 100);
        assert_int_equal(buf_append_int(&b, INT64_MIN), 0);
        assert_int_equal(buf_append_char(&b, ' '), 0);
        assert_int_equal(buf_append_uint(&b, UINT64_MAX), 0);
        assert_int_equal(buf_append_uint(&b, 0), 0);
        assert_string_equal(b.data, "-9223372036854775808 184467440737095516150");
}

struct number {
        struct heap_node node;
        int value;
};

static bool smaller(const struct heap_node *a, const struct heap_node *b)
{
        return container_of(a, struct number, node)->value < container_of(b, struct number, node)->value;
}

static void a_heap_yields_in_order_after_removals_and_changes(void **state)
{
        struct number numbers[200] = { 0 };
        struct heap h;
        heap_init(&h, smaller);
        for (int i = 0; i < 200; i++) {
                numbers[i].value = i * 7919 % 200;
                assert_int_equal(heap_push(&h, &numbers[i].node), 0);
        }
        for (int i = 0; i < 200; i += 3)
                heap_remove(&h, &numbers[i].node);
        heap_remove(&h, &numbers[0].node);
        for (int i = 1; i < 200; i += 3) {
                numbers[i].value = 1000 - numbers[i].value;
                heap_update(&h, &numbers[i].node);
        }
        int last = -1;
        size_t n = 0;
        for (struct heap_node *node; (node = heap_pop(&h)); n++) {
                assert_true(container_of(node, struct number, node)->value >= last);
                last = container_of(node, struct number, node)->value;
        }
        assert_int_equal(n, 133);
        heap_free(&h);
}

/* Against a plain array of flags, over growth, removals and shrinking. */
static void a_map_holds_what_was_put_and_not_removed(void **state)
{
        bool in[500] = { 0 };
        struct map m = MAP_INIT;
        uint32_t seed = 1, n = 0;
        for (int step = 0; step < 40000; step++) {
                char key[16];
                seed = seed * 1664525 + 1013904223;
                uint32_t i = (seed >> 8) % ARRAY_LEN(in);
                snprintf(key, sizeof(key), "key-%u", i);
                assert_true(map_has(&m, key) == in[i]);
                if (seed >> 31) {
                        assert_int_equal(map_put(&m, key, &in[i]), 0);
                        n += !in[i];
                        in[i] = true;
                } else {
                        assert_true(map_remove(&m, key) == in[i]);
                        n -= in[i];
                        in[i] = false;
                }
                assert_int_equal(map_count(&m), n);
        }
        uint32_t seen = 0;
        map_for_each(&m, e) {
                assert_true(*(bool *)e->value);
                seen++;
        }
        assert_int_equal(seen, n);
        map_free(&m);
}

static void a_map_iterates_in_order_of_insertion_and_sorts_on_demand(void **state)
{
        static const char *const keys[] = { "zebra", "ant", "mole", "bee", "yak",
                                            "cow",   "dog", "eel",  "fox", "gnu" };
        struct map m = MAP_INIT;
        size_t i = 0, n;
        for (; i < ARRAY_LEN(keys); i++)
                assert_int_equal(map_put(&m, keys[i], NULL), 0);
        i = 0;
        map_for_each(&m, e)
                assert_string_equal(e->key, keys[i++]);
        AUTO_FREE const char **sorted = map_sorted_keys(&m, &n);
        assert_int_equal(n, ARRAY_LEN(keys));
        for (i = 1; i < n; i++)
                assert_true(strcmp(sorted[i - 1], sorted[i]) < 0);
        map_free(&m);
}

static void replaced_and_removed_values_are_destroyed_once(void **state)
{
        struct map m;
        size_t live = mem_live_count();
        map_init(&m, MAP_OWN_KEYS, mem_free);
        assert_int_equal(map_put(&m, "a", mem_must(mem_strdup("1"))), 0);
        assert_int_equal(map_put(&m, "a", mem_must(mem_strdup("2"))), 0);
        assert_string_equal(map_get(&m, "a"), "2");
        char *taken = map_take(&m, "a");
        assert_string_equal(taken, "2");
        mem_free(taken);
        assert_int_equal(map_put(&m, "b", mem_must(mem_strdup("3"))), 0);
        map_free(&m);
        assert_int_equal(mem_live_count(), live);
}

static void equal_texts_are_interned_once(void **state)
{
        struct intern_table *t = intern_table_new();
        const char *a = intern(t, "cluster-1x", 9), *b = intern(t, "cluster-1", 9);
        assert_ptr_equal(a, b);
        assert_string_equal(a, "cluster-1");
        assert_ptr_not_equal(a, intern(t, "cluster-2", 9));
        intern_table_free(t);
}

/* Uses everything that allocates; 0 or the failure. */
static int use_everything(void)
{
        AUTO_ARENA struct arena a = ARENA_INIT;
        AUTO_BUF struct buf b;
        buf_init(&b, 10000);
        VEC(int) v = VEC_INIT;
        struct map m = MAP_INIT;
        struct intern_table *t = intern_table_new();
        int code = t ? 0 : ERR_NO_MEMORY;
        for (int i = 0; i < 40 && code == 0; i++) {
                char key[16];
                snprintf(key, sizeof(key), "k%d", i);
                if (!arena_printf(&a, "%0100d", i) || !intern(t, key, strlen(key)))
                        code = ERR_NO_MEMORY;
                if (code == 0)
                        code = map_put(&m, key, key);
                if (code == 0)
                        code = buf_printf(&b, "%0100d", i);
                if (code == 0)
                        code = vec_push(&v, i);
        }
        intern_table_free(t);
        map_free(&m);
        vec_free(&v);
        return code;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
        size_t live = mem_live_count();
        for (uint64_t n = 1;; n++) {
                mem_fail_at(n, false);
                int code = use_everything();
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(mem_live_count(), live);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                if (!fired)
                        break;
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(live_counts_return_to_where_they_were),
                cmocka_unit_test(exactly_the_chosen_allocation_fails),
                cmocka_unit_test(threads_are_counted_together),
                cmocka_unit_test(what_another_thread_frees_is_gone),
                cmocka_unit_test(an_arena_is_aligned_limited_and_runs_its_defers_backwards),
                cmocka_unit_test(texts_of_every_length_are_formatted_whole),
                cmocka_unit_test(of_an_arena_whose_allocations_stand_apart_each_fails_alone),
                cmocka_unit_test(sanitizers_see_who_touches_what_is_behind_the_end_of_a_list),
                cmocka_unit_test(a_buffer_keeps_its_first_failure),
                cmocka_unit_test(a_buffer_is_cut_to_what_it_began_with),
                cmocka_unit_test(json_strings_are_escaped_and_always_utf8),
                cmocka_unit_test(each_byte_of_a_json_string_is_looked_at),
                cmocka_unit_test(numbers_are_written_whole),
                cmocka_unit_test(a_heap_yields_in_order_after_removals_and_changes),
                cmocka_unit_test(a_map_holds_what_was_put_and_not_removed),
                cmocka_unit_test(a_map_iterates_in_order_of_insertion_and_sorts_on_demand),
                cmocka_unit_test(replaced_and_removed_values_are_destroyed_once),
                cmocka_unit_test(equal_texts_are_interned_once),
                cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
