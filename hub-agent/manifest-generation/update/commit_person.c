/* Who made a commit. */
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/words.h"

static const char *problem_of(struct slice name, struct slice mail)
{
        if (name.len == 0)
                return "must be \"Name <mail>\"";
        for (size_t i = 0; i < name.len; i++)
                if ((unsigned char)name.data[i] < 0x20 || name.data[i] == 0x7f || strchr("<>", name.data[i]))
                        return "the name has a line end, a control character or a bracket in it";
        for (size_t i = 0; i < mail.len; i++)
                if ((unsigned char)mail.data[i] <= 0x20 || mail.data[i] == 0x7f || strchr("<>", mail.data[i]))
                        return "the mail address has a blank, a control character or a bracket in it";
        return NULL;
}

/* "Name <mail>"; false: it has no brackets. */
static bool cut_brackets(struct slice text, struct slice *ret_name, struct slice *ret_mail)
{
        const char *open = text.len ? memchr(text.data, '<', text.len) : NULL;

        if (!open || text.data[text.len - 1] != '>')
                return false;
        *ret_name = slice_trim((struct slice){ text.data, (size_t)(open - text.data) });
        *ret_mail = slice_trim((struct slice){ open + 1, (size_t)(text.data + text.len - 1 - (open + 1)) });
        return true;
}

int commit_person_parse(struct arena *arena, const char *text, const struct commit_person *fallback,
                        struct commit_person *ret, struct error *err)
{
        struct slice all = slice_trim(slice_of(text)), name = all, mail = slice_of(fallback->mail);
        const char *problem;

        if (!cut_brackets(all, &name, &mail) && all.len && memchr(all.data, '@', all.len) &&
            !memchr(all.data, ' ', all.len))
                mail = all;
        problem = problem_of(name, mail);
        if (problem)
                return error_set(err, ERR_INVALID, "%s", problem);
        *ret = (struct commit_person){ words_slice(arena, name), words_slice(arena, mail) };
        return ret->name && ret->mail ? 0 : error_no_memory(err);
}

int commit_author(struct arena *arena, const struct job_request *r, const struct commit_person *committer,
                  bool set_author, struct commit_person *ret, struct error *err)
{
        *ret = *committer;
        if (!set_author || text_empty(r->user))
                return 0;
        return commit_person_parse(arena, r->user, committer, ret, err);
}
