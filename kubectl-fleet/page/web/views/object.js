/* One object across the fleet: which placements hold it, and how it does on each cluster. */

import { h, keyed, setAttr, setChildren, setHidden, setText } from '../dom.js';
import { ago, bar, chip, compareNames, hasWords, keyOf, long, ofKey, plural, resource, revisionText, setAgo, setBar, setChip, toneOf, toneRank, wordsOf } from '../words.js';
import { cutNote, OpeningRows } from './steps.js';
import { fieldsOf } from './troubles.js';

/* ---- one cluster ---- */

function placementKey({ scope, namespace, name }) {
        return keyOf(scope, namespace, name);
}

function detailOf(row, page) {
        const key = placementKey(row.placement);

        return h('div', { class: 'stack tight' },
                row.message ? h('p', long(row.message), ' ', cutNote(row, 'message')) : null,
                row.change ? h('p', { class: 'row' }, chip('busy', row.change === 'drifted' ? 'drifted' : 'different'),
                        row.changedSince ? ago(row.changedSince, 'for') : null) : null,
                row.fields ? fieldsOf(row) : null,
                row.fieldsLeftOut ? h('p', { class: 'faint' }, 'So much differs across the fleet that not all of it is shown; see the placement.') : null,
                h('p', { class: 'row' }, h('span', 'from ', h('a', { href: page.link('placement', key) }, ofKey(key).path)),
                        row.work ? h('span', { class: 'faint' }, `in Work ${row.work}`) : null,
                        h('a', { href: page.link('cluster', row.cluster) }, 'the cluster')));
}

function fillRow() {
        const state = chip('plain', ''), more = h('span', { class: 'way-badges' });
        const message = h('span', { class: 'faint way-message' }), revision = h('span', { class: 'faint way-revision' }), since = ago(0, 'age');

        return {
                nodes: [h('span', { class: 'way-state' }, state, more), message, revision, since],
                write(r, root) {
                        setAttr(root, 'data-tone', toneOf(r.standing));
                        setChip(state, r.standing, r.word);
                        setChildren(more, r.change && r.word !== 'drifted' && r.word !== 'differs' ? chip('busy', r.change) : null);
                        setText(message, r.message || (r.fields?.length ? r.fields.map((f) => f.path).join(', ') : ''));
                        setText(revision, revisionText(r.revision));
                        setAgo(since, r.changedSince || r.since);
                },
        };
}

/* ---- the view ---- */

const SHOWS = [
        ['', 'all'],
        ['failed', 'in trouble', (r) => toneOf(r.standing) === 'failed'],
        ['apart', 'drifted or different', (r) => r.change],
        ['busy', 'under way', (r) => toneOf(r.standing) === 'busy'],
        ['waits', 'waiting', (r) => toneOf(r.standing) === 'waits' && !r.absent],
        ['absent', 'not in their revision', (r) => r.absent],
        ['done', 'well', (r) => toneOf(r.standing) === 'done'],
];

function order([a, x], [b, y]) {
        return toneRank(x.standing) - toneRank(y.standing) || compareNames(a, b);
}

class Clusters {
        constructor(page) {
                this.page = page;
                this.filter = h('input', {
                        type: 'search', class: 'filter', placeholder: 'Filter', 'aria-label': 'Filter of clusters', 'data-filter': true,
                        oninput: () => page.state({ q: this.filter.value }),
                        onkeydown: (e) => e.key === 'Escape' && this.filter.value && (this.filter.value = '', page.state({ q: '' })),
                });
                this.shows = h('select', { onchange: () => page.state({ show: this.shows.value }) },
                        SHOWS.map(([value, title]) => h('option', { value }, title)));
                this.count = h('span', { class: 'faint', role: 'status' });
                this.none = h('p', { class: 'nothing panel-body' });
                this.list = h('ul', { class: 'ways' });
                this.root = h('section', { class: 'panel', 'aria-label': 'Clusters' }, h('div', { class: 'panel-head toolbar' }, h('h2', 'Clusters'),
                        this.filter, h('label', { class: 'field' }, 'show', this.shows), this.count), this.list, this.none);
                this.rows = new OpeningRows(this.list, {
                        name: (row) => h('span', { class: 'name' }, row.cluster), fill: fillRow, detail: (row) => detailOf(row, page), kind: 'way-object',
                });
        }

        draw(all, changed) {
                const { query } = this.page, words = wordsOf(query.q), shows = SHOWS.find(([value]) => value === (query.show || ''))?.[2];
                const list = [...all].filter(([, r]) => hasWords(words.length ? `${r.cluster} ${r.word} ${r.message} ${r.placement.name}` : '', words) &&
                        (!shows || shows(r))).sort(order);

                this.rows.draw(list, changed);
                if (document.activeElement !== this.filter && this.filter.value !== (query.q || ''))
                        this.filter.value = query.q || '';
                this.shows.value = query.show || '';
                setText(this.count, list.length === all.size ? plural(all.size, 'cluster') : `${list.length} of ${plural(all.size, 'cluster')}`);
                setHidden(this.none, list.length > 0);
                setText(this.none, all.size ? 'No cluster is like that.' : 'It is on no cluster yet.');
        }
}

function placementItem(page) {
        return (p) => h('li', { class: 'row' }, h('a', { href: page.link('placement', placementKey(p)) }, `${p.namespace ? `${p.namespace}/` : ''}${p.name}`),
                chip('plain', ''), h('span', { class: 'faint' }));
}

function writePlacement(el, p) {
        setChip(el.children[1], p.standing, p.word);
        setText(el.children[2], [p.shown ? `on ${plural(p.clusters, 'cluster')}` : 'its clusters are not shown here',
                revisionText(p.revision), p.envelope ? `in envelope ${p.envelope}` : p.selects ? '' : 'in an envelope'].filter(Boolean).join(', '));
}

function show(root, args, page) {
        const progress = bar({}), apart = h('span', { class: 'row' }), list = h('ul', { class: 'plain-list' });
        const notes = h('p', { class: 'faint' }), clusters = new Clusters(page);
        let doc = null;

        root.append(h('div', { class: 'stack' },
                h('div', { class: 'title' }, h('h1', resource({ group: args.group, kind: args.kind, namespace: args.ns, name: args.name })), progress, apart),
                notes, h('section', { class: 'panel' }, h('h2', 'Held by'), list), clusters.root));
        return {
                update(d, change) {
                        const { head } = d;

                        doc = d;
                        if (change.first || change.head) {
                                setBar(progress, head.progress);
                                setChildren(apart, head.drifted ? chip('busy', `drifted on ${head.drifted}`) : null,
                                        head.different ? chip('busy', `differs on ${head.different}`) : null);
                                setText(notes, [head.hidden ? 'Values of Secrets are not shown.' : '', head.notShown
                                        ? `${plural(head.notShown, 'placement')} more hold it; their clusters are not shown here.` : '', head.notAsked
                                        ? `${plural(head.notAsked, 'placement')} more may hold it and were not looked into.` : '',
                                head.withoutFields ? `Of ${plural(head.withoutFields, 'cluster')} the fields are not shown: there are too many.` : '']
                                        .filter(Boolean).join(' '));
                                setHidden(notes, !notes.textContent);
                                keyed(list, head.placements, placementKey, placementItem(page), writePlacement);
                        }
                        if (change.first || change.rows.clusters || change.gone.clusters)
                                clusters.draw(d.parts.clusters || new Map(), change.first ? null : change.rows.clusters || new Set());
                },
                moved: () => clusters.draw(doc.parts.clusters || new Map(), new Set()),
                close: () => clusters.rows.close(),
        };
}

function orNothing(part) {
        return part === '-' ? '' : part;
}

export const view = {
        name: 'object',
        /* [placement it was reached from/]group/kind/namespace/name; "-" = none. */
        args(parts) {
                const [group, kind, ns, name] = parts.slice(-4);

                if (parts.length < 4 || !kind || !name)
                        throw new Error('it is group, kind, namespace and name, "-" for what it has not');
                const from = parts.length > 4 ? parts.slice(0, -4).join('/') : '';

                return { group: orNothing(group), kind, ns: orNothing(ns), name, ...from ? { from } : {} };
        },
        title: ({ kind, ns, name }) => `${kind} ${ns ? `${ns}/` : ''}${name}`,
        crumbs: ({ from }, page) => from ? [[ofKey(from).path, page.link('placement', from)]] : [],
        show,
};
