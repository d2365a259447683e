/* Why a placement is on a cluster or not: each cluster's rank with reasons, two of them side by side, and what another
 * policy would change. */

import { h, keyed, setAttr, setChildren, setClass, setHidden, setText, soon } from '../dom.js';
import { chip, compareNames, condition, facts, hasWords, keyOf, long, nothing, placementArgs, plural, setChip, setFacts, shape, toneOf, wordsOf } from '../words.js';
import { filterField, writeFilter } from '../table.js';
import { compare } from './compare.js';
import { changesText, PolicyTry } from './policy-try.js';
import { cutNote, OpeningRows } from './steps.js';

/* ---- requirements ---- */

function has(r) {
        return r.has === undefined ? 'the cluster has none' : `it is ${r.has}`;
}

function requirement(r) {
        return h('li', { class: 'requirement' }, shape(r.holds ? 'done' : 'failed'), h('span', { class: 'sr-only' }, r.holds ? 'holds: ' : 'fails: '),
                h('code', r.text), h('span', { class: 'faint' }, has(r)));
}

function sorter(t) {
        return h('li', { class: 'requirement' }, shape('plain'), h('code', t.sortedBy), h('span', { class: 'faint' },
                `${t.order === 'Ascending' ? 'least' : 'most'} first: ${has(t)}`));
}

function term(t) {
        return h('div', h('h3', t.title), h('ul', t.requirements.map(requirement), t.sortedBy ? sorter(t) : null,
                !t.requirements.length && !t.sortedBy ? h('li', { class: 'faint' }, 'any cluster') : null,
                t.left ? h('li', { class: 'faint' }, `and ${t.left} more`) : null));
}

function scores(row) {
        return row.affinity === undefined ? '' : `affinity ${row.affinity}, spread ${row.spread}`;
}

function labelsOf(row) {
        const all = Object.entries(row.labels).sort(([a], [b]) => compareNames(a, b));

        return all.length ? all.map(([k, v]) => h('span', { class: 'label' }, v ? `${k}=${v}` : k)) : null;
}

function detailOf(name, row, view) {
        return h('div', { class: 'stack tight' },
                h('p', long(row.because), ' ', cutNote(row, 'because')), row.terms.map(term),
                row.termsLeft ? h('p', { class: 'faint' }, `and ${plural(row.termsLeft, 'more term')}`) : null,
                facts([
                        ['Scores', scores(row)],
                        ['Taints', row.taints.length ? row.taints.map((t) => h('span', { class: 'label' }, t)) : null],
                        ['Binding', row.binding],
                        ['The scheduler said', row.said ? long(row.said) : null],
                        ['Labels', labelsOf(row)],
                ]),
                h('p', { class: 'row' }, h('a', { href: view.page.link('cluster', name) }, 'the cluster')));
}

/* ---- all clusters ---- */

const SHOWS = [
        ['', 'all'],
        ['picked', 'picked', (r) => r.placed],
        ['anew', 'picked anew', (r) => r.anew],
        ['fit', 'that fit', (r) => r.fits],
        ['unfit', 'that do not fit', (r) => !r.fits && r.eligible],
        ['ineligible', 'that cannot be used now', (r) => !r.eligible],
        ['joins', 'that would join', (r) => r.change === 'joins'],
        ['leaves', 'that would leave', (r) => r.change === 'leaves'],
];

function textOf(name, row) {
        return [name, row.word, row.because, ...Object.entries(row.labels).map(([k, v]) => `${k}=${v}`)].join(' ');
}

class Clusters {
        constructor(view) {
                const { page } = view;

                Object.assign(this, { view, page });
                this.filter = filterField(page, 'Filter of clusters, by name, label or reason', 'Filter: name, label or reason');
                this.shows = h('select', { onchange: () => page.state({ show: this.shows.value }) }, SHOWS.map(([value, title]) => h('option', { value }, title)));
                this.order = h('select', { onchange: () => page.state({ order: this.order.value }) },
                        h('option', { value: '' }, 'rank'), h('option', { value: 'name' }, 'name'));
                this.count = h('span', { class: 'faint', role: 'status' });
                this.none = h('p', { class: 'nothing panel-body' });
                this.list = h('ol', { class: 'ways ranked' });
                this.root = h('section', { class: 'panel', 'aria-label': 'Clusters' },
                        h('div', { class: 'panel-head toolbar' }, h('h2', 'Clusters'), this.filter, h('label', { class: 'field' }, 'show', this.shows),
                                h('label', { class: 'field' }, 'order', this.order), this.count), this.list, this.none);
                this.rows = new OpeningRows(this.list, {
                        name: ({ name }) => h('span', { class: 'name' }, name), fill: ({ name }) => this.fill(name),
                        detail: ({ name, row }) => detailOf(name, row, view),
                });
        }

        fill(name) {
                const rank = h('span', { class: 'rank faint' }), state = chip('plain', '');
                const because = h('span', { class: 'way-message' });
                const both = h('button', { type: 'button', class: 'more compare-button', onclick: () => this.view.choose(name) }, 'compare');

                return {
                        nodes: [rank, h('span', { class: 'way-state' }, state), because, both],
                        write: ({ row }, root) => {
                                const chosen = this.view.chosen().includes(name);

                                setAttr(root, 'data-tone', toneOf(row.tone));
                                setText(rank, row.order);
                                setChip(state, row.tone, row.word);
                                setText(because, row.because);
                                setAttr(because, 'title', row.because);
                                setAttr(both, 'aria-pressed', chosen);
                                setAttr(both, 'aria-label', `compare ${name}`);
                        },
                };
        }

        draw(all, changed) {
                const { query } = this.page, words = wordsOf(query.q), shows = SHOWS.find(([value]) => value === (query.show || ''))?.[2];
                const list = [...all].filter(([name, row]) => hasWords(words.length ? textOf(name, row) : '', words) && (!shows || shows(row)));

                list.sort(query.order === 'name' ? ([a], [b]) => compareNames(a, b) : ([, x], [, y]) => x.order - y.order);
                this.rows.draw(list.map(([name, row]) => [name, { name, row }]), changed);
                writeFilter(this.filter, query);
                this.shows.value = query.show || '';
                this.order.value = query.order || '';
                setText(this.count, list.length === all.size ? plural(all.size, 'cluster') : `${list.length} of ${plural(all.size, 'cluster')}`);
                setHidden(this.none, list.length > 0);
                setText(this.none, all.size ? 'No cluster is like that.' : this.view.head.clustersKnown ? 'The fleet has no cluster yet.' : 'The clusters may not be read.');
        }

        reveal(name) {
                if (this.rows.reveal(name))
                        return;
                this.page.state({ q: '', show: '' });
                this.rows.reveal(name);
        }
}

/* ---- how many are how ---- */

function countsOf({ numbers: n, tried }) {
        const changes = tried?.changes;

        return [
                n.placed || !n.anew ? ['picked', changes ? 'picked now' : 'picked', n.placed, 'done'] : ['anew', 'would be picked', n.anew, 'done'],
                changes ? ['joins', 'would join', changes.joins, 'done'] : null,
                changes ? ['leaves', 'would leave', changes.leaves, 'failed'] : null,
                ['fit', 'fit', n.fit, 'waits'], ['unfit', 'do not fit', n.unfit, 'waits'],
                ['ineligible', 'cannot be used now', n.ineligible, n.ineligible ? 'busy' : 'waits'],
        ].filter(Boolean);
}

function countButton(page) {
        return ([show]) => h('li', h('button', { type: 'button', class: 'funnel-step', onclick: () => page.state({ show: page.query.show === show ? '' : show }) },
                h('span', { class: 'funnel-name' }), h('span', { class: 'count-number' })));
}

function writeCount(page) {
        return (el, [show, title, n, tone]) => {
                setAttr(el, 'data-tone', tone);
                setAttr(el.firstChild, 'aria-pressed', page.query.show === show);
                setText(el.firstChild.firstChild, title);
                setText(el.firstChild.lastChild, n);
        };
}

/* ---- two of them ---- */

function cell(r) {
        return r ? [shape(r.holds ? 'done' : 'failed'), ' ', h('span', { class: 'sr-only' }, r.holds ? 'holds, ' : 'fails, '), r.has ?? 'none'] : '';
}

function requirementRows(a, b) {
        return a.terms.flatMap((t, i) => [
                ...t.requirements.map((r, k) => [`${t.title}: ${r.text}`, cell(r), cell(b.terms[i]?.requirements[k])]),
                ...t.sortedBy ? [[`${t.title}: ${t.sortedBy}`, t.has ?? 'none', b.terms[i]?.has ?? 'none']] : [],
        ]);
}

function scoreText(row, key) {
        return row[key] === undefined ? 'none' : String(row[key]);
}

function comparison([a, b]) {
        const { row: x } = a, { row: y } = b;
        const line = (title, left, right) => h('tr', h('th', { scope: 'row' }, title), h('td', { 'data-label': a.name }, left), h('td', { 'data-label': b.name }, right));

        return h('table', { class: 'fields' }, h('caption', { class: 'sr-only' }, `${a.name} and ${b.name}`),
                h('thead', h('tr', h('td'), h('th', { scope: 'col' }, a.name), h('th', { scope: 'col' }, b.name))),
                h('tbody', line('State', chip(x.tone, x.word), chip(y.tone, y.word)), line('Rank', x.order, y.order),
                        line('Filters', x.fits ? 'all passed' : x.against, y.fits ? 'all passed' : y.against),
                        ['spread', 'affinity'].map((k) => x[k] === undefined && y[k] === undefined ? null
                                : line(k === 'spread' ? 'Spread score' : 'Affinity score', scoreText(x, k), scoreText(y, k))),
                        requirementRows(x, y).map((r) => line(...r))));
}

class Comparison {
        constructor(view) {
                this.view = view;
                this.text = h('p', { class: 'compare-text', role: 'status' });
                this.box = h('div');
                this.root = h('section', { class: 'panel' }, h('div', { class: 'panel-head' }, h('h2', 'Why this and not that'),
                        h('button', { type: 'button', class: 'more', onclick: () => view.page.state({ a: '', b: '' }) }, 'close')),
                h('div', { class: 'panel-body stack tight' }, this.text, this.box));
        }

        draw(rows) {
                const both = this.view.chosen().map((name) => ({ name, row: rows.get(name) })), gone = both.find((o) => !o.row);
                const two = both.length === 2 && !gone;

                setHidden(this.root, !both.length);
                setText(this.text, gone ? `There is no cluster ${gone.name}.` : two ? compare(...both).text
                        : both.length ? `${both[0].name} and? Choose another one by its "compare".` : '');
                setChildren(this.box, two ? comparison(both) : null);
        }
}

/* ---- the policy ---- */

class About {
        constructor() {
                this.facts = h('dl', { class: 'facts lines panel-body' });
                this.root = h('section', { class: 'panel', 'aria-label': 'The policy' }, this.facts);
        }

        draw(head) {
                setFacts(this.facts, [
                        ['Policy', [head.policy, head.policyWords.length ? h('ul', { class: 'policy' }, head.policyWords.map((w) => h('li', w))) : null]],
                        ['Scheduler', head.scheduled ? [condition(head.scheduled), cutNote(head.scheduled, 'message'),
                                head.scheduled.current ? null : h('span', { class: 'faint' }, ' of an older policy')] : nothing('has not spoken yet')],
                        ['Ranks', h('span', { class: 'faint' }, 'as if nothing were placed yet, by the rules of this program; a hub with the original ' +
                                'agents decides by its own scheduler, whose last words stand with each cluster')],
                ]);
        }
}

/* ---- the view ---- */

class Scheduling {
        constructor(root, args, page) {
                const key = keyOf(args.kind, args.ns, args.name);

                Object.assign(this, { page, key, args, doc: null, tried: null, head: null, asked: null });
                this.policy = chip('plain', '');
                this.notes = h('span', { class: 'row' });
                this.problem = h('p', { class: 'notice wrong', role: 'alert' });
                this.banner = h('div', { class: 'notice try-banner row' });
                this.counts = h('ol', { class: 'funnel', 'aria-label': 'How many clusters are how' });
                this.clusters = new Clusters(this);
                this.comparison = new Comparison(this);
                this.about = new About();
                this.trial = new PolicyTry(page, args, key, (doc, change) => this.result(doc, change));
                root.append(h('div', { class: 'stack' },
                        h('div', { class: 'title' }, h('h1', h('span', { class: 'kind' }, 'Scheduling of '), args.ns ? `${args.ns}/` : '', args.name), this.policy, this.notes,
                                h('nav', { class: 'row', 'aria-label': 'More of this placement' }, h('a', { href: page.link('placement', key) }, 'Placement'),
                                        h('a', { href: page.link('overrides', key) }, 'Overrides'))),
                        this.problem, this.banner, h('section', { class: 'panel panel-body', 'aria-label': 'Counts' }, this.counts),
                        h('div', { class: 'columns beside-first' }, h('div', { class: 'stack' }, this.comparison.root, this.trial.root, this.about.root),
                                h('div', { class: 'stack' }, this.clusters.root))));
        }

        chosen() {
                const { a, b } = this.page.query;

                return [a, b].filter(Boolean);
        }

        choose(name) {
                const { a, b } = this.page.query;

                if (a === name || b === name)
                        this.page.state(a === name ? { a: b || '', b: '' } : { b: '' });
                else
                        this.page.state(a ? { b: name } : { a: name });
                if (this.chosen().length === 2)
                        this.comparison.root.scrollIntoView({ block: 'nearest' });
        }

        rows() {
                return (this.tried || this.doc)?.parts.clusters || new Map();
        }

        update(doc, change) {
                this.doc = doc;
                if (change.head || change.first)
                        this.trial.begin(doc.head.policyText);
                if (!this.tried)
                        this.draw(change);
                if (change.first)
                        this.reveal(this.page.query.cluster);
        }

        /* What another policy would come to; null: that of now again. */
        result(doc, change) {
                const other = Boolean(doc) !== Boolean(this.tried) || doc !== this.tried;

                this.tried = doc;
                if (this.doc && (doc || other))
                        this.draw(other ? { first: true, head: true } : change);
        }

        draw(change) {
                const whole = change.first || !change.rows;

                if (whole || change.head)
                        this.drawHead((this.tried || this.doc).head);
                if (whole || change.rows.clusters || change.gone.clusters) {
                        this.clusters.draw(this.rows(), whole ? null : change.rows.clusters || new Set());
                        this.comparison.draw(this.rows());
                }
        }

        drawHead(head) {
                this.head = head;
                setChip(this.policy, head.problem ? 'failed' : 'plain', head.policy);
                setChildren(this.notes, head.deleting ? chip('failed', 'being deleted') : null);
                setText(this.problem, head.problem ? `The policy cannot be followed: ${head.problem}` : '');
                setHidden(this.problem, !head.problem);
                setHidden(this.banner, !this.tried);
                setClass(this.clusters.root, 'tried', this.tried);
                if (this.tried)
                        setChildren(this.banner, chip('busy', 'tried out, not applied'),
                                head.tried.changes ? h('span', `${changesText(head.tried.changes)}.`) : null,
                                h('button', { type: 'button', class: 'more', onclick: () => this.trial.back() }, 'back to the policy of now'));
                this.drawCounts();
                this.about.draw(head);
        }

        drawCounts() {
                keyed(this.counts, countsOf(this.head), ([show]) => show, countButton(this.page), writeCount(this.page));
        }

        reveal(name) {
                this.asked = name;
                if (name) // once the view stands where it will be looked at
                        soon(() => soon(() => this.clusters.reveal(name)));
        }

        moved(query) {
                if (!this.head)
                        return;
                this.drawCounts();
                this.clusters.draw(this.rows(), null);
                this.comparison.draw(this.rows());
                if (query.cluster !== this.asked)
                        this.reveal(query.cluster);
        }

        close() {
                this.trial.close();
                this.clusters.rows.close();
        }
}

export const view = {
        name: 'scheduling',
        args: placementArgs,
        title: ({ ns, name }) => `Scheduling of ${ns ? `${ns}/` : ''}${name}`,
        crumbs: ({ kind, ns, name }, page) => [[ns ? `${ns}/${name}` : name, page.link('placement', keyOf(kind, ns, name))]],
        show: (root, args, page) => new Scheduling(root, args, page),
};
