/* The board itself: a column for each stage with its clusters, and between the columns the gates. */

import { h, keyed, setAttr, setChildren, setHidden, setText, virtual } from '../dom.js';
import { ago, bar, chip, duration, long, setAgo, setBar, setChip, setShape, shape } from '../words.js';

/* In the order in which one wants to see them. */
const GROUPS = [
        ['failed', 'Failed', 20], ['updating', 'Updating', 30], ['ahead', 'To come', 6], ['skipped', 'Skipped', 6], ['done', 'Done', 6],
];
const DENSE = 120;  // so many lines in a column, and all are of one height
const FLYING = 30;  // cards that are seen to move; of more nobody follows one
const FLIGHT = 380; // ms

const still = matchMedia('(prefers-reduced-motion: reduce)');

/* ---- clusters ---- */

class Column {
        constructor(page, drawer) {
                Object.assign(this, { page, drawer, opened: new Set(), cards: new Map(), rows: [] });
                this.name = h('h2');
                this.chip = chip('plain', '');
                this.bar = bar({});
                this.time = h('span', { class: 'faint' });
                this.message = h('p', { class: 'faint' });
                this.plan = h('button', { type: 'button', class: 'more', onclick: () => this.drawer.open('', this.row.plan) },
                        'What it brings');
                this.list = h('ul', { class: 'cards-list' });
                this.virtual = virtual(this.list, {
                        key: (item) => item.key, make: (item) => item.group ? this.makeGroup(item) : this.makeCard(item),
                        update: (el, item) => item.group ? this.drawGroup(el, item) : this.drawCard(el, item),
                });
                this.root = h('section', { class: 'stage panel' },
                        h('div', { class: 'stage-head' }, h('div', { class: 'row' }, this.name, this.chip),
                                h('div', { class: 'row' }, this.bar, this.time, this.plan), this.message), this.list);
        }

        /* ---- a group's heading ---- */

        makeGroup({ group }) {
                const button = h('button', {
                        type: 'button', class: 'more',
                        onclick: () => {
                                if (!this.opened.delete(group))
                                        this.opened.add(group);
                                this.show(null);
                        },
                });

                return h('li', { class: 'group' }, h('h3'), button);
        }

        drawGroup(el, { group, title, n, shown, most }) {
                const [name, button] = el.children;

                setText(name, `${title} ${n}`);
                setHidden(button, n <= most);
                setText(button, shown < n ? `all ${n}` : 'fewer');
                setAttr(button, 'aria-label', shown < n ? `Show all ${n}: ${title}` : `Show fewer: ${title}`);
                setAttr(button, 'aria-expanded', this.opened.has(group));
        }

        /* ---- a card ---- */

        makeCard({ row, key }) {
                const el = h('li', { class: 'card' }, shape(row.tone), h('a', { href: this.page.link('cluster', row.cluster) }),
                        ago(0, 'ago'), h('span', { class: 'card-message faint' }), h('span', { class: 'sr-only' }));

                this.cards.set(key, el);
                return el;
        }

        drawCard(el, { row }) {
                const [sign, name, since, message, word] = el.children;

                setShape(sign, row.tone);
                setAttr(el, 'data-tone', sign.dataset.tone);
                setAttr(el, 'data-state', row.state);
                setText(name, row.cluster);
                setAttr(name, 'title', row.message ? `${row.cluster}: ${row.message}` : row.cluster);
                setAgo(since, row.since, row.state === 'updating' ? 'for' : 'ago');
                setText(word, row.word);
                setText(message, row.message);
                setAttr(message, 'title', row.message || null);
                setHidden(message, !row.message);
        }

        /* ---- all of it ---- */

        draw(row, rows, changed) {
                this.row = row;
                setText(this.name, row.name);
                this.name.id = `stage-${row.key}`;
                setAttr(this.root, 'aria-labelledby', this.name.id);
                setAttr(this.root, 'data-current', row.current ? 'true' : null);
                setChip(this.chip, row.tone, row.word);
                setBar(this.bar, row.progress);
                this.drawTime(row);
                setHidden(this.message, !row.message);
                if (this.told !== row.message)
                        setChildren(this.message, (this.told = row.message) ? long(row.message) : null);
                setHidden(this.plan, !row.plan);
                this.rows = rows;
                this.show(changed);
        }

        drawTime({ began, ended }) {
                if (began && ended) {
                        setText(this.time, `in ${duration(ended - began)}`);
                        this.ticks = null;
                } else if (!began) {
                        setText(this.time, '');
                        this.ticks = null;
                } else if (this.ticks !== began) {
                        setChildren(this.time, ago(began, 'for'));
                        this.ticks = began;
                }
        }

        items() {
                const list = [];

                for (const [group, title, most] of GROUPS) {
                        const rows = this.rows.filter(([, row]) => row.state === group);
                        const shown = this.opened.has(group) ? rows.length : Math.min(rows.length, most);

                        if (!rows.length)
                                continue;
                        rows.sort(group === 'done' ? ([, a], [, b]) => b.since - a.since || a.place - b.place : ([, a], [, b]) => a.place - b.place);
                        list.push({ key: `#${group}`, group, title, n: rows.length, shown, most });
                        for (const [key, row] of rows.slice(0, shown))
                                list.push({ key, row });
                }
                return list;
        }

        show(changed) {
                const items = this.items(), from = changed ? this.places(changed) : new Map();

                setAttr(this.list, 'data-dense', items.length > DENSE ? 'true' : null);
                this.virtual.show(items, changed && new Set([...changed, ...items.filter((i) => i.group).map((i) => i.key)]));
                for (const key of this.cards.keys())
                        if (!this.cards.get(key).isConnected)
                                this.cards.delete(key);
                this.fly(from);
        }

        /* Where the cards are that are about to move. */
        places(changed) {
                const from = new Map();

                if (still.matches || document.hidden || changed.size > FLYING)
                        return from;
                for (const key of changed) {
                        const el = this.cards.get(key);

                        if (el?.isConnected)
                                from.set(key, el.getBoundingClientRect());
                }
                return from;
        }

        fly(from) {
                for (const [key, was] of from) {
                        const el = this.cards.get(key), is = el?.isConnected && el.getBoundingClientRect();

                        if (is && (is.top !== was.top || is.left !== was.left))
                                el.animate([{ transform: `translate(${was.left - is.left}px, ${was.top - is.top}px)`, zIndex: 2 }, { transform: 'none', zIndex: 2 }],
                                        { duration: FLIGHT, easing: 'cubic-bezier(.2, .8, .3, 1)' });
                }
        }

        close() {
                this.virtual.close();
        }
}

/* ---- gates ---- */

/* "1h" of "1h0m0s". */
function waitText(text) {
        return String(text || '').replace(/([hm])0s$/, '$1').replace(/h0m$/, 'h');
}

class Gate {
        constructor(drawer) {
                this.title = h('h3');
                this.chip = chip('plain', '');
                this.left = ago(0, 'left');
                this.asked = h('p', { class: 'faint' });
                this.refusal = h('p', { class: 'refusal' });
                this.why = h('p', { class: 'faint' });
                this.button = h('button', { type: 'button', class: 'button', onclick: () => drawer.open(this.gate.request, this.gate.plan) });
                this.root = h('li', { class: 'gate' }, this.title, h('p', { class: 'row' }, this.chip, this.left), this.asked, this.refusal,
                        this.why, this.button);
        }

        draw({ gate, stage, side }) {
                const approval = gate.type === 'Approval', waits = gate.state === 'waiting';

                this.gate = gate;
                setAttr(this.root, 'data-state', gate.state);
                setText(this.title, approval ? 'Approval' : `Wait ${waitText(gate.wait)}`);
                setAttr(this.title, 'title', `${side} stage ${stage.name}`);
                setChip(this.chip, gate.tone, gate.word);
                setAgo(this.left, waits && !approval ? gate.until : 0);
                setHidden(this.left, !waits || approval || !gate.until);
                this.drawAsked(gate, approval && waits);
                setHidden(this.refusal, !gate.refusal);
                if (this.told !== gate.refusal)
                        setChildren(this.refusal, (this.told = gate.refusal) ? ['The last approval was not accepted: ', long(gate.refusal)] : null);
                setHidden(this.why, !approval || !waits || gate.can);
                setText(this.why, gate.why);
                setHidden(this.button, !approval || (!gate.can && !gate.plan));
                setText(this.button, gate.can ? 'Approve…' : 'Plan');
                setAttr(this.button, 'class', gate.can ? 'button accent' : 'button');
                setAttr(this.button, 'aria-label', `${gate.can ? 'Look at the plan and approve' : 'The plan'}: ${side} stage ${stage.name}`);
        }

        drawAsked(gate, shown) {
                setHidden(this.asked, !shown || !gate.asked);
                if (shown && this.askedAt !== gate.asked)
                        setChildren(this.asked, 'asked ', ago(this.askedAt = gate.asked, 'ago'));
        }
}

class Gates {
        constructor(drawer) {
                this.drawer = drawer;
                this.parts = new WeakMap();
                this.root = h('ul', { class: 'gates', 'aria-label': 'Gates' });
        }

        draw(gates) {
                keyed(this.root, gates, (g) => g.key, () => {
                        const gate = new Gate(this.drawer);

                        this.parts.set(gate.root, gate);
                        return gate.root;
                }, (el, g) => this.parts.get(el).draw(g));
        }

        close() {}
}

/* ---- the board ---- */

function gatesOf(stage, side) {
        return stage ? stage[side].map((gate, i) => ({ key: `${stage.key}/${side}/${i}`, gate, stage, side })) : [];
}

/* Stages, and between them the gates behind one and before the next. */
function columnsOf(stages) {
        const list = [];

        for (let i = 0; i <= stages.length; i++) {
                const gates = [...gatesOf(stages[i - 1], 'after'), ...gatesOf(stages[i], 'before')];

                if (gates.length)
                        list.push({ key: `gates/${i}`, gates });
                if (stages[i])
                        list.push({ key: `stage/${stages[i].key}`, stage: stages[i] });
        }
        return list;
}

export class Board {
        constructor(page, drawer) {
                Object.assign(this, { page, drawer });
                this.parts = new Map();
                this.root = h('div', { class: 'board', role: 'group', 'aria-label': 'Stages', tabindex: 0 });
                this.none = h('p', { class: 'nothing' }, 'Its stages are not known yet.');
        }

        draw(stages, clusters, change) {
                const rows = new Map(stages.map((s) => [s.index, []]));

                for (const [key, row] of clusters)
                        rows.get(row.stage)?.push([key, row]);
                keyed(this.root, columnsOf(stages), (c) => c.key, (c) => this.make(c), (el, c) => {
                        const part = this.parts.get(c.key);

                        if (c.gates)
                                part.draw(c.gates);
                        else
                                part.draw(c.stage, rows.get(c.stage.index), change.first ? null : change.rows.clusters || new Set());
                });
                this.drop(columnsOf(stages));
                if (!stages.length)
                        setChildren(this.root, this.none);
        }

        make(c) {
                const part = c.gates ? new Gates(this.drawer) : new Column(this.page, this.drawer);

                this.parts.set(c.key, part);
                return part.root;
        }

        drop(columns) {
                const there = new Set(columns.map((c) => c.key));

                for (const [key, part] of this.parts)
                        if (!there.has(key)) {
                                part.close();
                                this.parts.delete(key);
                        }
        }

        close() {
                for (const part of this.parts.values())
                        part.close();
        }
}
