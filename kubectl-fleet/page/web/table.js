/* A list of many rows as a table: filter by words, sort by column, long ones drawn in part. Filter and sort stand in
 * the link. */

import { h, setAttr, setHidden, setText, virtual } from './dom.js';
import { compareNames, hasWords, plural, wordsOf } from './words.js';

/* Words go into the link; Escape empties it, `/` leads to it. */
export function filterField(page, label, placeholder = 'Filter') {
        const field = h('input', {
                type: 'search', class: 'filter', placeholder, 'aria-label': label, 'data-filter': true,
                oninput: () => page.state({ q: field.value }),
                onkeydown(e) {
                        if (e.key !== 'Escape' || !field.value)
                                return;
                        field.value = '';
                        page.state({ q: '' });
                },
        });

        return field;
}

/* Not while it is being typed into. */
export function writeFilter(field, query) {
        if (document.activeElement !== field && field.value !== (query.q || ''))
                field.value = query.q || '';
}

function firstWay(column) {
        return column.first === 'down' ? 'down' : 'up';
}

/* columns: [{ name, title, sort(row, key): number or string, first: 'down' (what is largest comes first), class,
 *   make(): the cell, without what may change; write(cell, row, key) }]; the first is the row's heading
 * text(key, row): what the filter looks into; choices: [['', 'all'], ['failed', 'in trouble', (row, key) => boolean]] for a
 *   select `choice`, the name of its part in the link; one: 'placement'; sort: the column by which it is sorted at first. */
export class Table {
        constructor(page, { caption, columns, text, one, sort, choice, choices = [] }) {
                Object.assign(this, { page, columns, text, one, sort, choice, choices });
                this.rows = new Map();
                this.keys = []; // of the rows that are shown, in order
                this.heads = columns.map((c) => this.makeHead(c));
                this.body = h('tbody');
                this.filter = filterField(page, `Filter of ${one}s`);
                this.select = h('select', { onchange: () => page.state({ [choice]: this.select.value }) },
                        choices.map(([value, title]) => h('option', { value }, title)));
                this.count = h('span', { class: 'faint', role: 'status' });
                this.none = h('p', { class: 'nothing panel-body' });
                this.table = h('table', { class: 'even cards' }, h('caption', { class: 'sr-only' }, caption),
                        h('thead', h('tr', { 'aria-rowindex': 1 }, this.heads)), this.body);
                this.root = h('section', { class: 'panel' }, h('div', { class: 'panel-head toolbar' }, this.filter,
                        choices.length ? h('label', { class: 'field' }, 'show', this.select) : null, this.count),
                h('div', { class: 'scroller' }, this.table), this.none);
                this.list = virtual(this.body, {
                        key: ([key]) => key, make: () => this.makeRow(), update: (el, r) => this.writeRow(el, r),
                        columns: columns.length,
                });
        }

        close() {
                this.list.close();
        }

        makeHead(c) {
                return h('th', { scope: 'col', class: c.class },
                        c.sort ? h('button', { type: 'button', onclick: () => this.toggle(c) }, c.title) : c.title);
        }

        /* By another column in its own first direction; by the same, the other way. */
        toggle(c) {
                const [name, way] = this.order();
                const first = firstWay(c), other = way === 'up' ? 'down' : 'up';
                const next = name === c.name ? other : first;
                const text = next === first ? c.name : `${c.name}-${next}`;

                this.page.state({ sort: text === this.sort ? '' : text });
        }

        order() {
                const [, name, way] = /^(.*?)(?:-(up|down))?$/.exec(this.page.query.sort || '') || [];
                const asked = this.columns.find((c) => c.name === name && c.sort);
                const column = asked || this.columns.find((c) => c.name === this.sort);

                return [column.name, (asked && way) || firstWay(column)];
        }

        makeRow() {
                return h('tr', this.columns.map((c, i) => h(i ? 'td' : 'th',
                        { scope: i ? null : 'row', class: c.class, 'data-label': c.label }, c.make?.())));
        }

        writeRow(el, [key, row]) {
                this.columns.forEach((c, i) => c.write(el.children[i].firstElementChild || el.children[i], row, key));
        }

        /* rows: a Map. changed: keys of rows that are new; null = all may be. */
        draw(rows, changed) {
                this.rows = rows;
                const { query } = this.page, words = wordsOf(query.q);
                const chosen = this.choices.find(([value]) => value === (query[this.choice] || ''));
                const list = this.before(rows).filter(([key, row]) =>
                        hasWords(this.text(key, row), words) && (!chosen?.[2] || chosen[2](row, key)));

                this.arrange(list);
                this.keys = list.map(([key]) => key);
                this.list.show(list, changed);
                this.controls(query, list.length);
        }

        /* In the order of the last drawing, and what is new behind: there is little left to sort. */
        before(rows) {
                const old = this.keys.filter((key) => rows.has(key)), known = new Set(old);
                const fresh = old.length === rows.size ? [] : [...rows.keys()].filter((key) => !known.has(key));

                return [...old, ...fresh].map((key) => [key, rows.get(key)]);
        }

        arrange(list) {
                const [name, way] = this.order();
                const column = this.columns.find((c) => c.name === name), sign = way === 'down' ? -1 : 1;
                const values = new Map(list.map(([key, row]) => [key, column.sort(row, key)]));
                const compare = (a, b) => typeof a === 'string' ? compareNames(a, b) : a - b;

                list.sort(([a], [b]) => sign * compare(values.get(a), values.get(b)) || compareNames(a, b));
                this.columns.forEach((c, i) => setAttr(this.heads[i], 'aria-sort',
                        c.name !== name ? null : way === 'down' ? 'descending' : 'ascending'));
        }

        controls(query, shown) {
                const all = this.rows.size;

                writeFilter(this.filter, query);
                if (this.choices.length)
                        this.select.value = query[this.choice] || '';
                setText(this.count, shown === all ? plural(all, this.one) : `${shown} of ${plural(all, this.one)}`);
                setHidden(this.none, shown > 0);
                setHidden(this.table, shown === 0);
                setText(this.none, all ? `No ${this.one} is like that.` : `There is no ${this.one} yet.`);
        }
}
