/* What an object store answers with: whatever it holds, reading ends with objects or a reason, and no object
 * that is taken leads out of the folder. */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/source/s3/listing.h"
#include "hub-agent/source/s3/s3_url.h"

static void check(struct s3_objects *o, struct arena *arena)
{
        char revision[S3_REVISION_SIZE];

        vec_for_each(&o->all, one) {
                ASSERT(!s3_key_problem(slice_of(one->key)) && *one->tag && one->size <= S3_TOTAL_BYTES);
                ASSERT(s3_object_url("https://h/b", one->key, arena));
        }
        if (s3_objects_sort(o, NULL) < 0)
                return;
        for (size_t i = 1; i < o->all.n; i++)
                ASSERT(strcmp(o->all.at[i - 1].key, o->all.at[i].key) < 0);
        s3_objects_revision(o, revision);
        ASSERT(strlen(revision) == S3_REVISION_SIZE - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_S3_OBJECTS struct s3_objects objects = { .arena = ARENA_INIT };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct s3_page page;
        struct error err = { 0 };
        char said[320];

        if (s3_read_page(input_of(data, size), &arena, &objects, &page, &err) < 0)
                ASSERT(*err.text);
        else
                check(&objects, &arena);
        s3_read_error(input_of(data, size), said, sizeof(said));
        ASSERT(strlen(said) < sizeof(said));
        return 0;
}
