/* Equality, order and arithmetic of CEL values. */
#include <math.h>

#include "common/base/limits.h"
#include "common/json/cel_internal.h"
#include "common/json/quantity.h"

static bool is_number(const struct cel_value *v)
{
        return v->kind == CEL_INT || v->kind == CEL_UINT || v->kind == CEL_DOUBLE;
}

/* -1, 0, 1, or 2 when a NaN makes them incomparable. Exact across the three number types. */
static int compare_double_to_integer(double d, bool negative, uint64_t magnitude)
{
        if (isnan(d))
                return 2;
        if (negative != (d < 0) && (negative || d < 0))
                return negative ? 1 : -1;
        double size = fabs(d);
        int order;
        if (size >= 0x1p64)
                order = 1;
        else {
                uint64_t whole = (uint64_t)size;
                order = whole < magnitude ? -1 : whole > magnitude ? 1 : size > (double)whole;
        }
        return negative ? -order : order;
}

static int compare_integers(const struct cel_value *a, const struct cel_value *b)
{
        bool a_negative = a->kind == CEL_INT && a->integer < 0,
             b_negative = b->kind == CEL_INT && b->integer < 0;
        if (a_negative || b_negative) {
                if (a_negative != b_negative)
                        return a_negative ? -1 : 1;
                return a->integer < b->integer ? -1 : a->integer > b->integer;
        }
        return a->uinteger < b->uinteger ? -1 : a->uinteger > b->uinteger;
}

static int compare_numbers(const struct cel_value *a, const struct cel_value *b)
{
        if (a->kind == CEL_DOUBLE && b->kind == CEL_DOUBLE)
                return isnan(a->real) || isnan(b->real) ? 2 : a->real < b->real ? -1 : a->real > b->real;
        if (a->kind != CEL_DOUBLE && b->kind != CEL_DOUBLE)
                return compare_integers(a, b);
        const struct cel_value *real = a->kind == CEL_DOUBLE ? a : b, *whole = real == a ? b : a;
        bool negative = whole->kind == CEL_INT && whole->integer < 0;
        uint64_t magnitude = negative ? -(uint64_t)whole->integer : whole->uinteger;
        int order = compare_double_to_integer(real->real, negative, magnitude);
        return order == 2 || real == a ? order : -order;
}

/* --- Equality
 * ------------------------------------------------------------------------------------------------ */

static bool is_unordered(const struct cel_value *list)
{
        return list->is_doc && list->doc.schema && list->doc.schema->list_type != SCHEMA_LIST_ATOMIC;
}

static int list_has(struct cel_run *run, const struct cel_value *list, const struct cel_value *item,
                    bool *ret)
{
        *ret = false;
        for (size_t i = 0; i < cel_list_size(list) && !*ret; i++) {
                struct cel_value other;
                TRY(cel_spend(run, 1));
                TRY(cel_list_at(run, list, i, &other));
                TRY(cel_equal(run, &other, item, ret));
        }
        return 0;
}

/* Lists of type set and map compare without regard to order. */
static int equal_lists(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, bool *ret)
{
        size_t n = cel_list_size(a);
        bool unordered = is_unordered(a) && is_unordered(b);
        *ret = n == cel_list_size(b);
        for (size_t i = 0; i < n && *ret; i++) {
                struct cel_value x, y;
                TRY(cel_spend(run, 1));
                TRY(cel_list_at(run, a, i, &x));
                if (unordered) {
                        TRY(list_has(run, b, &x, ret));
                        continue;
                }
                TRY(cel_list_at(run, b, i, &y));
                TRY(cel_equal(run, &x, &y, ret));
        }
        return 0;
}

static int equal_maps(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, bool *ret)
{
        struct cel_iterator it;
        struct cel_value key, x, y;
        int more = 0;
        *ret = cel_map_size(a) == cel_map_size(b);
        TRY(cel_iterator_init(run, &it, a));
        while (*ret && (more = cel_iterator_next(run, &it, &key, &x)) > 0) {
                bool found = false;
                TRY(cel_spend(run, 1));
                TRY(cel_map_get(run, b, &key, &found, &y));
                if (!found)
                        *ret = false;
                else
                        TRY(cel_equal(run, &x, &y, ret));
        }
        return more < 0 ? more : 0;
}

int cel_equal(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, bool *ret)
{
        if (is_number(a) && is_number(b)) {
                *ret = compare_numbers(a, b) == 0;
                return 0;
        }
        *ret = false;
        if (a->kind != b->kind)
                return 0;
        switch (a->kind) {
        case CEL_NULL:
                *ret = true;
                return 0;
        case CEL_BOOL:
                *ret = a->boolean == b->boolean;
                return 0;
        case CEL_STRING:
        case CEL_BYTES:
        case CEL_TYPE:
        case CEL_URL:
        case CEL_FORMAT:
                *ret = slice_equal(a->text, b->text);
                return cel_spend(run, MIN(a->text.len, b->text.len) / 10);
        case CEL_LIST:
                return equal_lists(run, a, b, ret);
        case CEL_MAP:
                return equal_maps(run, a, b, ret);
        case CEL_TIMESTAMP:
                *ret = a->time.seconds == b->time.seconds && a->time.nanos == b->time.nanos;
                return 0;
        case CEL_DURATION:
                *ret = a->nanos == b->nanos;
                return 0;
        case CEL_OPTIONAL:
                *ret = !a->inner && !b->inner;
                return a->inner && b->inner ? cel_equal(run, a->inner, b->inner, ret) : 0;
        case CEL_QUANTITY:
                *ret = quantity_compare(*a->quantity, *b->quantity) == 0;
                return 0;
        case CEL_IP:
        case CEL_CIDR:
                *ret = a->address->size == b->address->size && a->address->bits == b->address->bits &&
                       !memcmp(a->address->bytes, b->address->bytes, a->address->size);
                return 0;
        default:
                return 0;
        }
}

/* --- Order
 * --------------------------------------------------------------------------------------------------- */

/* *ret is -1, 0, 1, or 2 where a NaN is involved. */
int cel_compare(struct cel_run *run, const struct cel_value *a, const struct cel_value *b, int *ret)
{
        if (is_number(a) && is_number(b)) {
                *ret = compare_numbers(a, b);
                return 0;
        }
        if (a->kind != b->kind)
                return cel_no_overload(run);
        switch (a->kind) {
        case CEL_BOOL:
                *ret = a->boolean - b->boolean;
                return 0;
        case CEL_STRING:
        case CEL_BYTES:
                *ret = slice_compare(a->text, b->text);
                *ret = *ret < 0 ? -1 : *ret > 0;
                return cel_spend(run, MIN(a->text.len, b->text.len) / 10);
        case CEL_TIMESTAMP:
                *ret = a->time.seconds != b->time.seconds ? (a->time.seconds < b->time.seconds ? -1 : 1)
                       : a->time.nanos < b->time.nanos    ? -1
                                                          : a->time.nanos > b->time.nanos;
                return 0;
        case CEL_DURATION:
                *ret = a->nanos < b->nanos ? -1 : a->nanos > b->nanos;
                return 0;
        default:
                return cel_no_overload(run);
        }
}

static bool holds(enum cel_operator operator, int order)
{
        switch (operator) {
        case CEL_LESS:
                return order == -1;
        case CEL_LESS_EQUAL:
                return order == -1 || order == 0;
        case CEL_GREATER:
                return order == 1;
        default:
                return order == 0 || order == 1;
        }
}

/* --- Arithmetic
 * ---------------------------------------------------------------------------------------------- */

static int int_arithmetic(struct cel_run *run, enum cel_operator operator, int64_t a, int64_t b,
                          struct cel_value *ret)
{
        int64_t result = 0;
        bool overflow = false;
        if ((operator== CEL_DIVIDE || operator== CEL_MODULO) && b == 0)
                return cel_fail(run, operator== CEL_DIVIDE ? "division by zero" : "modulus by zero");
        if (operator== CEL_ADD)
                overflow = __builtin_add_overflow(a, b, &result);
        else if (operator== CEL_SUBTRACT)
                overflow = __builtin_sub_overflow(a, b, &result);
        else if (operator== CEL_MULTIPLY)
                overflow = __builtin_mul_overflow(a, b, &result);
        else if (a == INT64_MIN && b == -1)
                overflow = true;
        else
                result = operator== CEL_DIVIDE ? a / b : a % b;
        *ret = cel_int(result);
        return overflow ? cel_fail(run, "integer overflow") : 0;
}

static int uint_arithmetic(struct cel_run *run, enum cel_operator operator, uint64_t a, uint64_t b,
                           struct cel_value *ret)
{
        uint64_t result = 0;
        bool overflow = false;
        if ((operator== CEL_DIVIDE || operator== CEL_MODULO) && b == 0)
                return cel_fail(run, operator== CEL_DIVIDE ? "division by zero" : "modulus by zero");
        if (operator== CEL_ADD)
                overflow = __builtin_add_overflow(a, b, &result);
        else if (operator== CEL_SUBTRACT)
                overflow = __builtin_sub_overflow(a, b, &result);
        else if (operator== CEL_MULTIPLY)
                overflow = __builtin_mul_overflow(a, b, &result);
        else
                result = operator== CEL_DIVIDE ? a / b : a % b;
        *ret = (struct cel_value){ .kind = CEL_UINT, .uinteger = result };
        return overflow ? cel_fail(run, "unsigned integer overflow") : 0;
}

static int double_arithmetic(struct cel_run *run, enum cel_operator operator, double a, double b,
                             struct cel_value *ret)
{
        if (operator== CEL_MODULO)
                return cel_no_overload(run);
        *ret = cel_double(operator== CEL_ADD      ? a + b :
                          operator== CEL_SUBTRACT ? a - b
                          :
                          operator== CEL_MULTIPLY ? a * b
                                                  : a / b);
        return 0;
}

static int join_texts(struct cel_run *run, const struct cel_value *a, const struct cel_value *b,
                      struct cel_value *ret)
{
        size_t n = a->text.len + b->text.len;
        TRY(cel_spend(run, n / 10));
        char *joined = arena_alloc(&run->arena, n + 1);
        if (!joined)
                return cel_no_memory(run);
        memcpy(joined, a->text.data, a->text.len);
        memcpy(joined + a->text.len, b->text.data, b->text.len);
        joined[n] = '\0';
        *ret = cel_text(a->kind, joined, n);
        return 0;
}

/* Where `item`'s keys stand already in a list of type map, or n. */
static int find_keyed(struct cel_run *run, const struct schema *list, const struct cel_value *items, size_t n,
                      const struct cel_value *item, size_t *ret)
{
        for (*ret = 0; *ret < n; ++*ret) {
                bool same = item->kind == CEL_MAP && items[*ret].kind == CEL_MAP;
                TRY(cel_spend(run, 1));
                for (size_t k = 0; k < list->n_list_map_keys && same; k++) {
                        struct cel_value a, b;
                        bool has_a = false, has_b = false;
                        TRY(cel_map_field(run, item, list->list_map_keys[k], NULL, &has_a, &a));
                        TRY(cel_map_field(run, &items[*ret], list->list_map_keys[k], NULL, &has_b, &b));
                        same = has_a == has_b;
                        if (has_a && has_b)
                                TRY(cel_equal(run, &a, &b, &same));
                }
                if (same)
                        break;
        }
        return 0;
}

/* Adding to a set leaves out what it has already; adding to a list of type map replaces what has the same
 * keys. */
static int join_lists(struct cel_run *run, const struct cel_value *a, const struct cel_value *b,
                      struct cel_value *ret)
{
        size_t n = cel_list_size(a) + cel_list_size(b), kept = 0;
        bool set = is_unordered(a) && a->doc.schema->list_type == SCHEMA_LIST_SET,
             keyed = is_unordered(a) && !set;
        TRY(cel_spend(run, n));
        struct cel_value *items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, n + 1);
        if (!items)
                return cel_no_memory(run);
        for (size_t i = 0; i < cel_list_size(a); i++)
                TRY(cel_list_at(run, a, i, &items[kept++]));
        for (size_t i = 0; i < cel_list_size(b); i++) {
                struct cel_value item;
                size_t place = kept;
                bool known = false;
                TRY(cel_list_at(run, b, i, &item));
                if (set)
                        TRY(list_has(run, a, &item, &known));
                if (keyed)
                        TRY(find_keyed(run, a->doc.schema, items, kept, &item, &place));
                if (!known)
                        items[place] = item;
                kept += !known && place == kept;
        }
        *ret = (struct cel_value){ .kind = CEL_LIST };
        ret->list.items = items;
        ret->list.n = kept;
        return 0;
}

static int shift_time(struct cel_run *run, const struct cel_value *time, int64_t nanos, struct cel_value *ret)
{
        int64_t total = time->time.nanos + nanos % 1000000000;
        int64_t seconds = time->time.seconds + nanos / 1000000000;
        if (total < 0 || total >= 1000000000) {
                seconds += total < 0 ? -1 : 1;
                total += total < 0 ? 1000000000 : -1000000000;
        }
        if (seconds < -62135596800 || seconds > 253402300799)
                return cel_fail(run, "timestamp overflow");
        *ret = (struct cel_value){ .kind = CEL_TIMESTAMP };
        ret->time.seconds = seconds;
        ret->time.nanos = (int32_t)total;
        return 0;
}

static int time_arithmetic(struct cel_run *run, enum cel_operator operator, const struct cel_value * a,
                           const struct cel_value *b, struct cel_value *ret)
{
        bool add = operator== CEL_ADD, overflow;
        int64_t nanos = 0;
        if (!add && operator!= CEL_SUBTRACT)
                return cel_no_overload(run);
        if (a->kind == CEL_TIMESTAMP && b->kind == CEL_DURATION)
                return shift_time(run, a, add ? b->nanos : -b->nanos, ret);
        if (a->kind == CEL_DURATION && b->kind == CEL_TIMESTAMP && add)
                return shift_time(run, b, a->nanos, ret);
        if (a->kind == CEL_TIMESTAMP && b->kind == CEL_TIMESTAMP && !add)
                overflow = __builtin_mul_overflow(a->time.seconds - b->time.seconds, (int64_t)1000000000,
                                                  &nanos) ||
                           __builtin_add_overflow(nanos, (int64_t)(a->time.nanos - b->time.nanos), &nanos);
        else if (a->kind == CEL_DURATION && b->kind == CEL_DURATION)
                overflow = add ? __builtin_add_overflow(a->nanos, b->nanos, &nanos)
                               : __builtin_sub_overflow(a->nanos, b->nanos, &nanos);
        else
                return cel_no_overload(run);
        *ret = (struct cel_value){ .kind = CEL_DURATION, .nanos = nanos };
        return overflow ? cel_fail(run, "duration overflow") : 0;
}

static int arithmetic(struct cel_run *run, enum cel_operator operator, const struct cel_value * a,
                      const struct cel_value *b, struct cel_value *ret)
{
        bool time = a->kind == CEL_TIMESTAMP || a->kind == CEL_DURATION;
        if (time)
                return time_arithmetic(run, operator, a, b, ret);
        if (a->kind != b->kind)
                return cel_no_overload(run);
        if (a->kind == CEL_INT)
                return int_arithmetic(run, operator, a->integer, b->integer, ret);
        if (a->kind == CEL_UINT)
                return uint_arithmetic(run, operator, a->uinteger, b->uinteger, ret);
        if (a->kind == CEL_DOUBLE)
                return double_arithmetic(run, operator, a->real, b->real, ret);
        if (operator== CEL_ADD &&(a->kind == CEL_STRING || a->kind == CEL_BYTES))
                return join_texts(run, a, b, ret);
        if (operator== CEL_ADD && a->kind == CEL_LIST)
                return join_lists(run, a, b, ret);
        return cel_no_overload(run);
}

int cel_binary(struct cel_run *run, enum cel_operator operator, const struct cel_value * a,
               const struct cel_value *b, struct cel_value *ret)
{
        bool truth = false;
        int order = 0;
        struct cel_value unused;
        switch (operator) {
        case CEL_EQUAL:
        case CEL_NOT_EQUAL:
                TRY(cel_equal(run, a, b, &truth));
                *ret = cel_bool(truth == (operator== CEL_EQUAL));
                return 0;
        case CEL_LESS:
        case CEL_LESS_EQUAL:
        case CEL_GREATER:
        case CEL_GREATER_EQUAL:
                TRY(cel_compare(run, a, b, &order));
                *ret = cel_bool(holds(operator, order));
                return 0;
        case CEL_IN:
                if (b->kind == CEL_LIST)
                        TRY(list_has(run, b, a, &truth));
                else if (b->kind == CEL_MAP)
                        TRY(cel_map_get(run, b, a, &truth, &unused));
                else
                        return cel_no_overload(run);
                *ret = cel_bool(truth);
                return 0;
        default:
                return arithmetic(run, operator, a, b, ret);
        }
}
