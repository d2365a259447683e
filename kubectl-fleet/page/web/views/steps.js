/* The way of a placement on one cluster, drawn as a small track; and rows that can be opened, of which any number may be
 * there: only those near the window are filled. */

import { h, keyed, setAttr, setChildren, setHidden, setText, setVar, soon } from '../dom.js';
import { ago, chip, long, plural, setChip, shapeOf, toneOf } from '../words.js';

const STATES = { done: 'done', busy: 'under way', failed: 'failed', waits: 'waits' };

/* ---- the track ---- */

export function track() {
        return h('span', { class: 'track', role: 'img' });
}

function dot(step) {
        return h('i', { class: 'track-step', 'aria-hidden': 'true' });
}

function writeDot(el, step) {
        setAttr(el, 'data-tone', toneOf(step.state));
        setAttr(el, 'title', `${step.step}: ${step.word || STATES[step.state]}`);
        setText(el, toneOf(step.state) === 'waits' ? '' : shapeOf(step.state)); // an empty ring
}

/* steps: [{ step, state, word }]; none: nothing is drawn. */
export function setTrack(el, steps) {
        keyed(el, steps, (s) => s.step, dot, writeDot);
        setAttr(el, 'role', steps.length ? 'img' : null);
        setAttr(el, 'aria-label', !steps.length ? null : steps.map((s) => `${s.step} ${s.word || STATES[s.state]}`).join(', '));
        return el;
}

/* The step at which a cluster is: the first that is not done; "" where all are. */
export function stepOf(row) {
        if (row.unplaced)
                return 'scheduled';
        return row.steps.find((s) => s.state !== 'done')?.step || '';
}

/* Each step with what was said of it and since when. */
export function stepList(steps) {
        return h('ol', { class: 'step-list' }, steps.map((s) => h('li',
                chip(s.state, s.step), s.word ? h('span', { class: 'faint' }, s.word) : null,
                s.reason ? h('span', { class: 'reason' }, s.reason) : null,
                s.message ? long(s.message) : null, cutNote(s, 'message'),
                s.since ? ago(s.since, s.state === 'done' ? 'ago' : 'for') : null)));
}

/* "shortened: 102400 bytes" where the server sent less than there is. */
export function cutNote(row, key) {
        const bytes = row?.[`${key}Bytes`];

        return bytes ? h('span', { class: 'faint' }, `(shortened; it has ${bytes} bytes)`) : null;
}

/* ---- rows that open ---- */

const FULL = 100;  // so many are filled at once
const STEP = 200;  // so many come with each frame, until all are there
const TALL = 37;   // px: what a row that is not there yet will take

/* What is drawn anew has the focus where it had it. */
function keepFocus(box, draw) {
        const list = () => [...box.querySelectorAll('a, button')];
        const at = box.contains(document.activeElement) ? list().indexOf(document.activeElement) : -1;

        draw();
        if (at >= 0)
                list()[at]?.focus({ preventScroll: true });
}

/* A list whose rows have a line, and a part below that opens. name(row) is in the button of the line; fill(row) makes
 * what else is in it, { nodes, write(row, root) }, when the row comes near the window; detail(row) gives what is below,
 * while the row is open. Opened ones stay open. */
export class OpeningRows {
        constructor(list, { name, fill, detail, kind = '' }) {
                Object.assign(this, { list, name, fill, detail, kind, opened: new Set(), parts: new Map(), rows: new Map(), items: [], limit: STEP });
                this.rest = h('div', { class: 'spacer', 'aria-hidden': 'true' });
                list.after(this.rest);
                this.watcher = new IntersectionObserver((entries) => this.near(entries), { rootMargin: '900px 0px' });
                list.addEventListener('keydown', (e) => this.onKey(e));
        }

        close() {
                this.watcher.disconnect();
        }

        near(entries) {
                for (const { target, isIntersecting } of entries)
                        if (isIntersecting && this.parts.has(target)) {
                                this.parts.get(target).near = true;
                                this.write(this.parts.get(target));
                        }
        }

        /* items: [key, row], in order; changed: a Set of keys, null = all. */
        draw(items, changed) {
                const few = items.length <= FULL;

                this.items = items;
                this.rows = new Map(items);
                this.els = keyed(this.list, items.slice(0, this.limit), ([key]) => key, ([key, row]) => this.build(key, row), (el) => {
                        const part = this.parts.get(el);

                        part.near ||= few;
                        this.write(part);
                }, changed);
                for (const [el, { key }] of this.parts)
                        if (this.els.get(key) !== el) {
                                this.watcher.unobserve(el);
                                this.parts.delete(el);
                        }
                setVar(this.rest, '--tall', `${Math.max(0, items.length - this.limit) * TALL}px`);
                if (items.length > this.limit)
                        soon(() => this.goOn());
        }

        goOn() {
                if (this.items.length <= this.limit)
                        return;
                this.limit += STEP;
                this.draw(this.items, new Set());
        }

        build(key, row) {
                const button = h('button', { type: 'button', class: 'opening-name', 'aria-expanded': 'false', onclick: () => this.toggle(part) },
                        this.name(row));
                const line = h('div', { class: 'way-line' }, button);
                const part = { key, button, line, root: h('li', { class: `way ${this.kind}` }, line), near: false, filled: null, below: null };

                this.parts.set(part.root, part);
                this.watcher.observe(part.root);
                return part.root;
        }

        write(part) {
                const row = this.rows.get(part.key), open = this.opened.has(part.key);

                if (!row || !(part.near || open))
                        return;
                if (!part.filled) {
                        part.filled = this.fill(row);
                        part.line.append(...part.filled.nodes);
                        this.watcher.unobserve(part.root);
                }
                part.filled.write(row, part.root);
                setAttr(part.button, 'aria-expanded', open);
                if (open && !part.below)
                        part.root.append(part.below = h('div', { class: 'opening-detail' }));
                if (part.below)
                        setHidden(part.below, !open);
                if (open)
                        keepFocus(part.below, () => setChildren(part.below, this.detail(row)));
        }

        toggle(part) {
                if (!this.opened.delete(part.key))
                        this.opened.add(part.key);
                this.write(part);
        }

        /* Opens that row and goes there. */
        reveal(key) {
                if (!this.rows.has(key))
                        return false;
                this.limit = Infinity;
                this.draw(this.items, new Set());
                const el = this.els.get(key), part = this.parts.get(el);

                this.opened.add(key);
                this.write(part);
                el.scrollIntoView({ block: 'center' });
                part.button.focus({ preventScroll: true });
                return true;
        }

        onKey(e) {
                const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
                const at = e.target.closest?.('[aria-expanded]')?.closest('li');

                if (!step || !at || at.parentNode !== this.list)
                        return;
                const next = step > 0 ? at.nextElementSibling : at.previousElementSibling;

                if (next) {
                        e.preventDefault();
                        this.parts.get(next)?.button.focus();
                }
        }
}

/* A line that says how many more there are, and shows them. */
export function moreButton(onToggle) {
        const button = h('button', { type: 'button', class: 'more', onclick: onToggle });

        return h('p', { class: 'panel-body' }, button);
}

export function setMore(el, shown, all, one, open) {
        setHidden(el, shown === all && !open);
        setText(el.firstChild, open ? 'only the first' : `and ${plural(all - shown, `more ${one}`)}`);
}

/* ---- identities ---- */

/* Of an object, as parts of a link: what is empty stands as "-". */
export function objectLink(page, placement, id) {
        return page.link('object', placement, id.group || '-', id.kind, id.namespace || '-', id.name);
}

export function standing(row) {
        return setChip(chip('plain', ''), row.standing, row.word);
}
