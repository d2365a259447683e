#include "hub-agent/source/s3/xml.h"

#include <expat.h>
#include <limits.h>

#include "common/base/buf.h"
#include "common/base/memory.h"

struct reading {
        XML_Parser parser;
        const struct xml_sink *sink;
        struct error *err;
        struct buf path, text;
        size_t depth;
        int code;
};

static void stop(struct reading *r, int code)
{
        if (r->code == 0)
                r->code = code;
        XML_StopParser(r->parser, XML_FALSE);
}

static void on_type(void *ctx, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                    int internal)
{
        struct reading *r = ctx;

        stop(r, error_set(r->err, ERR_INVALID, "the answer has a document type, which is not read"));
}

static void on_begin(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
        struct reading *r = ctx;

        if (r->depth++ >= XML_DEPTH) {
                stop(r, error_set(r->err, ERR_LIMIT, "the answer has more than %d elements in each other",
                                  XML_DEPTH));
                return;
        }
        if (r->path.len > 0)
                buf_append_char(&r->path, '/');
        if (buf_append_str(&r->path, name) < 0)
                stop(r, buf_status(&r->path, r->err, "the name of an element"));
        buf_clear(&r->text);
}

static void on_text(void *ctx, const XML_Char *text, int n)
{
        struct reading *r = ctx;

        if (buf_append(&r->text, text, (size_t)n) < 0)
                stop(r, buf_status(&r->text, r->err, r->path.data));
}

static void on_end(void *ctx, const XML_Char *name)
{
        struct reading *r = ctx;
        size_t n = strlen(name);
        int code;

        if (r->code < 0)
                return;
        code = r->sink->end(r->sink->ctx, r->path.data, (struct slice){ r->text.data, r->text.len }, r->err);
        if (code < 0)
                stop(r, code);
        r->depth--;
        buf_truncate(&r->path, r->path.len > n ? r->path.len - n - 1 : 0);
        buf_clear(&r->text);
}

static int parse(struct reading *r, struct slice xml)
{
        XML_SetUserData(r->parser, r);
        XML_SetElementHandler(r->parser, on_begin, on_end);
        XML_SetCharacterDataHandler(r->parser, on_text);
        XML_SetStartDoctypeDeclHandler(r->parser, on_type);
        if (XML_Parse(r->parser, xml.data, (int)xml.len, 1) == XML_STATUS_OK || r->code < 0)
                return r->code;
        if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
                return error_no_memory(r->err);
        return error_set(r->err, ERR_INVALID, "the answer is no XML: %s in line %lu",
                         XML_ErrorString(XML_GetErrorCode(r->parser)),
                         (unsigned long)XML_GetCurrentLineNumber(r->parser));
}

int xml_read(struct slice xml, const struct xml_sink *sink, struct error *err)
{
        static const XML_Memory_Handling_Suite heap = { mem_alloc, mem_realloc, mem_free };
        struct reading r = { .sink = sink, .err = err };
        int code;

        if (xml.len > INT_MAX)
                return error_set(err, ERR_LIMIT, "%zu bytes of XML are too many", xml.len);
        r.parser = XML_ParserCreate_MM(NULL, &heap, NULL);
        if (!r.parser)
                return error_no_memory(err);
        buf_init(&r.path, XML_PATH_BYTES);
        buf_init(&r.text, XML_TEXT_BYTES);
        code = parse(&r, xml);
        XML_ParserFree(r.parser);
        buf_free(&r.path);
        buf_free(&r.text);
        return code;
}
