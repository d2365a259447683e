/* Parsed documents of objects that are written again and again: statuses that say that something lives. */
#include "e2e/devcluster/store_internal.h"

#define KEPT_MOST 4096
#define KEPT_TEXT_MOST ((size_t)24 << 20) /* of all; a document takes several times its text */
#define KEPT_TEXT_ONE ((size_t)3 << 20)   /* the status of a placement on a thousand clusters has 1.2 MB */

void blob_forget_doc(struct blob *b)
{
        struct kept_document *k = TAKE_PTR(b->kept);
        if (!k)
                return;
        list_remove(&k->node);
        k->of->n--;
        k->of->bytes -= k->bytes;
        json_decref(k->doc);
        doc_spans_free(&k->spans);
        mem_free(k->repeat);
        mem_free(k);
}

/* Behind a repeat the text is all that is kept of a document. It is as sound as the one before: only times
 * have moved, which nothing but their form is asked of. */
static void read_again(struct kept_document *k)
{
        struct kept_documents *all = k->of;
        if (blob_parse(k->blob, &k->doc, NULL) < 0)
                return;
        list_remove(&k->node);
        list_append(&all->list, &k->node);
        k->bytes += k->blob->len;
        all->bytes += k->blob->len;
        all->read_again++;
        while (all->bytes > KEPT_TEXT_MOST && list_first(&all->list, struct kept_document, node) != k)
                blob_forget_doc(list_first(&all->list, struct kept_document, node)->blob);
}

const json_t *blob_kept_doc(const struct blob *b)
{
        if (b->kept && !b->kept->doc)
                read_again(b->kept);
        return b->kept ? b->kept->doc : NULL;
}

const struct repeat *blob_repeat(const struct blob *b)
{
        return b->kept ? b->kept->repeat : NULL;
}

/* Whether the text reads as the document, in order, too. */
static bool is_in_order(const json_t *doc)
{
        static const char *const first[] = { "kind", "apiVersion", "metadata" };
        json_t *mutable = (json_t *)doc;
        void *at = json_object_iter(mutable);
        for (size_t i = 0; i < ARRAY_LEN(first); i++, at = json_object_iter_next(mutable, at))
                if (!at || strcmp(json_object_iter_key(at), first[i]) != 0)
                        return false;
        return true;
}

static void make_room(struct kept_documents *all)
{
        while (all->n >= KEPT_MOST || all->bytes > KEPT_TEXT_MOST)
                blob_forget_doc(list_first(&all->list, struct kept_document, node)->blob);
}

void kept_add(struct store *s, struct blob *b, json_t *doc, struct doc_spans *spans)
{
        struct kept_documents *all = &s->kept;
        /* Written and read again a real may have become an integer. */
        bool fit = b->len <= KEPT_TEXT_ONE && !spans->reals && is_in_order(doc);
        struct kept_document *k = fit ? NEW(struct kept_document) : NULL;
        if (!k) {
                doc_spans_free(spans);
                return;
        }
        make_room(all);
        *k = (struct kept_document){
                .of = all, .blob = b, .doc = json_incref(doc), .spans = *spans, .bytes = b->len
        };
        *spans = (struct doc_spans){ 0 };
        list_append(&all->list, &k->node);
        all->n++;
        all->bytes += b->len;
        b->kept = k;
}

void api_store_keep_repeat(struct table *t, struct blob *b, struct repeat *r)
{
        struct kept_documents *all = &t->cluster->store->kept;
        if (b->kept)
                make_room(all);
        if (!b->kept || all->never_repeat) {
                mem_free(r);
                return;
        }
        mem_free(b->kept->repeat);
        b->kept->repeat = r;
        b->kept->bytes = b->len + r->size;
        all->bytes += r->size;
}

struct kept_document *kept_take(struct blob *b)
{
        struct kept_document *k = TAKE_PTR(b->kept);
        list_remove(&k->node);
        json_decref(TAKE_PTR(k->doc));
        doc_spans_free(&k->spans);
        k->spans = (struct doc_spans){ 0 };
        k->of->bytes -= k->bytes - k->repeat->size;
        k->bytes = k->repeat->size;
        return k;
}

void kept_give(struct blob *b, struct kept_document *k)
{
        k->blob = b;
        b->kept = k;
        list_append(&k->of->list, &k->node);
}

void api_store_forget_docs(struct store *s)
{
        while (!list_empty(&s->kept.list))
                blob_forget_doc(list_first(&s->kept.list, struct kept_document, node)->blob);
}
