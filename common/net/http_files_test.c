/* Certificates that are rotated in their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/http_files.h"

#define WALL INT64_C(1767225600000)

struct disk {
        const char *text[HTTP_FILES]; /* NULL = no such file */
        uint64_t stamp[HTTP_FILES];
};

static const char *const paths[HTTP_FILES] = { "/ca", "/cert", "/key" };

static size_t index_of(const char *path)
{
        size_t i = 0;

        while (strcmp(paths[i], path) != 0)
                i++;
        return i;
}

static int disk_read(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        const char *text = ((struct disk *)ctx)->text[index_of(path)];

        if (!text)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret_len = strlen(text);
        *ret = mem_strdup(text);
        return *ret ? 0 : error_no_memory(err);
}

static uint64_t disk_stamp(void *ctx, const char *path)
{
        const struct disk *d = ctx;
        size_t i = index_of(path);

        return d->text[i] ? d->stamp[i] : 0;
}

struct bench {
        struct loop *loop;
        struct disk disk;
        struct world_files files;
        struct world world;
        struct http_endpoint endpoint;
        char *cert[2], *key[2], *ca[2], *ca_key[2];
};

static void put(struct bench *b, enum http_file which, const char *text)
{
        b->disk.text[which] = text;
        b->disk.stamp[which]++;
}

static int setup(void **state)
{
        static const struct cert_subject subject = { .common_name = "agent" };
        struct bench *b = mem_must(NEW(struct bench));

        b->loop = loop_new_simulated(1, WALL, NULL);
        b->files = (struct world_files){ .read = disk_read, .stamp = disk_stamp };
        b->world = (struct world){ .loop = b->loop, .files = &b->files, .ctx = &b->disk };
        for (size_t i = 0; i < 2; i++) {
                assert_int_equal(cert_self_signed_ca("ca", WALL, 1, &b->ca[i], &b->ca_key[i], NULL), 0);
                assert_int_equal(cert_issue(b->ca[i], b->ca_key[i], &subject, false, WALL, 1, &b->cert[i],
                                            &b->key[i], NULL),
                                 0);
        }
        put(b, HTTP_FILE_CA, b->ca[0]);
        put(b, HTTP_FILE_CERT, b->cert[0]);
        put(b, HTTP_FILE_KEY, b->key[0]);
        for (enum http_file i = 0; i < HTTP_FILES; i++)
                assert_int_equal(http_files_read(&b->world, &b->endpoint, i, paths[i], NULL), 0);
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        struct bench *b = *state;

        http_endpoint_free(&b->endpoint);
        for (size_t i = 0; i < 2; i++) {
                mem_free(b->ca[i]);
                mem_free(b->ca_key[i]);
                mem_free(b->cert[i]);
                mem_free(b->key[i]);
        }
        loop_free(b->loop);
        mem_free(b);
        return 0;
}

static void what_did_not_change_is_left_alone(void **state)
{
        struct bench *b = *state;
        const char *ca = b->endpoint.ca_pem;

        assert_string_equal(ca, b->ca[0]);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, NULL), 0);
        assert_ptr_equal(b->endpoint.ca_pem, ca);
        assert_int_equal(b->endpoint.generation, 0);
}

static void a_new_authority_is_taken_over(void **state)
{
        struct bench *b = *state;
        const char *old = b->endpoint.ca_pem;

        put(b, HTTP_FILE_CA, b->ca[1]);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, NULL), 1);
        assert_string_equal(b->endpoint.ca_pem, b->ca[1]);
        assert_string_equal(old, b->ca[0]); /* a request under way may still look at it */
        assert_int_equal(b->endpoint.generation, 1);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, NULL), 0);
}

static void a_certificate_waits_for_its_key(void **state)
{
        struct bench *b = *state;
        struct error err = { 0 };

        put(b, HTTP_FILE_CERT, b->cert[1]);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "do not belong to each other"));
        assert_string_equal(b->endpoint.client_cert_pem, b->cert[0]);
        put(b, HTTP_FILE_KEY, b->key[1]);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, &err), 1);
        assert_string_equal(b->endpoint.client_cert_pem, b->cert[1]);
        assert_string_equal(b->endpoint.client_key_pem, b->key[1]);
}

static void what_is_no_certificate_or_gone_changes_nothing(void **state)
{
        static const char *const bad[] = { "", "garbage",
                                           "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                                           NULL };
        struct bench *b = *state;

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                put(b, HTTP_FILE_CA, bad[i]);
                assert_true(http_files_refresh(&b->world, &b->endpoint, NULL) < 0);
                assert_string_equal(b->endpoint.ca_pem, b->ca[0]);
        }
        put(b, HTTP_FILE_CA, b->ca[1]);
        assert_int_equal(http_files_refresh(&b->world, &b->endpoint, NULL), 1);
}

static void old_texts_go_after_half_an_hour(void **state)
{
        struct bench *b = *state;

        for (int i = 1; i < 100; i++) {
                put(b, HTTP_FILE_CA, b->ca[i % 2]);
                assert_int_equal(http_files_refresh(&b->world, &b->endpoint, NULL), 1);
                loop_run_until(b->loop, i * INT64_C(3600000));
        }
        assert_int_equal(b->endpoint.generation,
                         99); /* the sanitizer tells of what is kept or used too long */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(what_did_not_change_is_left_alone, setup, teardown),
                cmocka_unit_test_setup_teardown(a_new_authority_is_taken_over, setup, teardown),
                cmocka_unit_test_setup_teardown(a_certificate_waits_for_its_key, setup, teardown),
                cmocka_unit_test_setup_teardown(what_is_no_certificate_or_gone_changes_nothing, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(old_texts_go_after_half_an_hour, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
