/* Overrides of a placement: what their rules say and whom they touch, which rule touched which cluster, and what became of
 * the objects on the one that is looked at. */

import { h, keyed, setAttr, setChildren, setHidden, setText } from '../dom.js';
import { ago, chip, compareNames, keyOf, long, placementArgs, plural, resource, setChip, shape } from '../words.js';
import { Table } from '../table.js';
import { OverrideObjects } from './override-objects.js';
import { cutNote } from './steps.js';

const MATRIX = { overrides: 6, clusters: 60 }; // of more there is a list in each row

/* ---- one override ---- */

function operation(o) {
        const value = o.hidden ? h('span', { class: 'faint' }, 'a value that is not shown') : o.value === undefined ? null
                : h('code', { class: 'value' }, long(o.value, 160));

        return h('li', o.op, ' ', h('code', o.path), value ? [o.op === 'add' ? ' as ' : ' with ', value, ' ', cutNote(o, 'value')] : null);
}

function rule(r) {
        return h('li', h('span', { class: 'name' }, `On ${r.where}`), cutNote(r, 'where'),
                r.broken ? [' ', chip('failed', 'its selector cannot be read')] : null,
                h('span', { class: 'faint' }, r.clusters ? ` (${plural(r.clusters, 'cluster')})` : ' (none)'),
                r.deletes ? h('div', 'leaves the object out') : null,
                r.operations.length ? h('ul', { class: 'operations' }, r.operations.map(operation)) : null,
                !r.deletes && !r.operations.length ? h('div', { class: 'faint' }, 'changes nothing') : null);
}

/* What it does here, and why not where it does nothing. */
function touches(row) {
        if (row.clusters)
                return ['done', `touches ${plural(row.clusters, 'cluster')}`, ''];
        if (!row.would)
                return ['busy', 'touches none', 'Its rules are for no cluster of this placement.'];
        return ['waits', 'touches none', `Its rules are for ${plural(row.would, 'cluster')}, where it is not rolled out.`];
}

function overrideItem() {
        return h('li', { class: 'override' }, h('div', { class: 'row tight' }, h('h3'), chip('plain', ''), h('span'), h('span', { class: 'faint' })),
                h('p', { class: 'faint' }), h('p', { class: 'faint targets' }), h('ol', { class: 'rules' }));
}

function nameOf(o) {
        return [h('span', { class: 'kind' }, o.kind), ` ${o.namespace ? `${o.namespace}/` : ''}`, h('span', { class: 'name' }, o.name)];
}

function writeOverride(el, [, row]) {
        const [head, why, targets, rules] = el.children, [name, state, age, snapshot] = head.children;
        const [tone, word, because] = row.gone ? ['failed', `its snapshot is gone; ${plural(row.clusters, 'cluster')} named it`, ''] : touches(row);

        setChildren(name, nameOf(row.override));
        setChip(state, tone, word);
        setChildren(age, row.latest || row.gone ? null : chip('busy', 'an older version'));
        setChildren(snapshot, row.override.snapshot, row.since ? [', ', ago(row.since, 'age'), ' old'] : null);
        setText(why, because);
        setHidden(why, !because);
        setChildren(targets, row.targets.length ? ['Changes ', row.targets.map((t, i) => [i ? ', ' : '', resource(t), t.kind === 'Namespace' ? ' and all in it' : ''])] : null);
        setHidden(targets, !row.targets.length);
        setChildren(rules, row.rules.map(rule));
}

/* Those that only a binding still names, too. */
function withGone(overrides, clusters) {
        const all = new Map(overrides);

        for (const row of clusters.values())
                for (const o of row.overrides)
                        if (o.gone) {
                                const known = all.get(o.key);

                                all.set(o.key, { override: o.gone, gone: true, clusters: (known?.clusters || 0) + 1, rules: [], targets: [] });
                        }
        return [...all].sort(([a, x], [b, y]) => Boolean(y.clusters) - Boolean(x.clusters) || compareNames(a, b));
}

/* ---- which touched which cluster ---- */

const TOLD = { True: 'done', False: 'failed', Unknown: 'waits' };

function stateOf(row) {
        const t = row.told;

        if (row.removing)
                return ['busy', 'being removed'];
        if (!row.overrides.length)
                return ['plain', 'none named'];
        if (!t || !t.current)
                return ['waits', 'not told yet'];
        return [TOLD[t.status] || 'plain', t.status === 'True' ? 'applied' : t.reason];
}

function rulesText(o) {
        if (o.gone)
                return 'gone';
        return o.rules.length ? `${o.rules.length > 1 ? 'rules' : 'rule'} ${o.rules.map((r) => r + 1).join(', ')}` : 'no rule';
}

const SHOWS = [
        ['', 'all'],
        ['touched', 'touched', (r) => r.overrides.length],
        ['untouched', 'not touched', (r) => !r.overrides.length],
        ['failed', 'in trouble', (r) => stateOf(r)[0] === 'failed' || r.overrides.some((o) => o.gone)],
];

class Clusters {
        constructor(page, view) {
                Object.assign(this, { page, view, columns: null });
                this.root = h('div');
        }

        nameColumn() {
                return {
                        name: 'cluster', title: 'Cluster', sort: (row, key) => key, make: () => h('a', { class: 'name' }),
                        write: (a, row, key) => {
                                setText(a, key);
                                setAttr(a, 'href', this.view.link(key));
                                setAttr(a, 'aria-current', this.view.asked() === key ? 'true' : null);
                        },
                };
        }

        overrideColumn([key, { override }]) {
                return {
                        name: key, title: override.name, label: override.name, sort: (row) => (row.overrides.some((o) => o.key === key) ? 0 : 1),
                        make: () => h('span'),
                        write: (el, row) => {
                                const o = row.overrides.find((x) => x.key === key);

                                setChildren(el, o ? [shape(o.gone || !o.rules.length ? 'failed' : 'done'), ' ', rulesText(o)]
                                        : [h('span', { class: 'faint', 'aria-hidden': 'true' }, '–'), h('span', { class: 'sr-only' }, 'not touched')]);
                        },
                };
        }

        listColumn(names) {
                return {
                        name: 'by', title: 'Touched by', label: '', sort: (row) => -row.overrides.length, make: () => h('span'),
                        write: (el, row) => {
                                const text = row.overrides.map((o) => `${names.get(o.key) || o.gone?.name || o.key}: ${rulesText(o)}`).join('; ');

                                setText(el, text || '–');
                                setAttr(el, 'title', text || null);
                        },
                };
        }

        stateColumn() {
                return {
                        name: 'state', title: 'Overridden', label: '', sort: (row) => ['failed', 'busy', 'waits', 'done', 'plain'].indexOf(stateOf(row)[0]),
                        make: () => chip('plain', ''), write: (el, row) => setChip(el, ...stateOf(row)),
                };
        }

        /* Another table where other overrides are there. */
        prepare(overrides, clusters) {
                const used = overrides.filter(([, o]) => o.clusters), names = new Map(overrides.map(([key, o]) => [key, o.override.name]));
                const matrix = used.length <= MATRIX.overrides && clusters.size <= MATRIX.clusters;
                const columns = JSON.stringify([matrix, matrix ? used.map(([key]) => key) : [...names]]);

                if (columns === this.columns)
                        return false;
                this.columns = columns;
                this.table?.close();
                this.table = new Table(this.page, {
                        caption: 'Which rules of which override touched which cluster',
                        columns: [this.nameColumn(), ...matrix ? used.map((o) => this.overrideColumn(o)) : [this.listColumn(names)], this.stateColumn()],
                        text: (key, row) => [key, ...row.overrides.map((o) => names.get(o.key) || o.key)].join(' '),
                        one: 'cluster', sort: 'cluster', choice: 'show', choices: SHOWS,
                });
                setAttr(this.table.root, 'aria-label', 'Clusters');
                this.table.filter.closest('.toolbar').prepend(h('h2', 'Clusters'));
                setChildren(this.root, this.table.root);
                return true;
        }

        /* Another one is looked at. */
        mark() {
                for (const a of this.root.querySelectorAll('tbody a.name'))
                        setAttr(a, 'aria-current', this.view.asked() === a.textContent ? 'true' : null);
        }

        close() {
                this.table?.close();
        }
}

/* ---- the view ---- */

class Overrides {
        constructor(root, args, page) {
                Object.assign(this, { page, args, key: keyOf(args.kind, args.ns, args.name), doc: null, said: '' });
                this.kind = h('span', { class: 'kind' });
                this.state = chip('plain', '');
                this.list = h('ul', { class: 'overrides' });
                this.none = h('p', { class: 'nothing panel-body' });
                this.clusters = new Clusters(page, this);
                this.objects = new OverrideObjects(page, this);
                root.append(h('div', { class: 'stack' },
                        h('div', { class: 'title' }, h('h1', 'Overrides of ', this.kind, ' ', args.ns ? `${args.ns}/` : '', args.name), this.state,
                                h('nav', { class: 'row', 'aria-label': 'More of this placement' }, h('a', { href: page.link('placement', this.key) }, 'Placement'),
                                        h('a', { href: page.link('scheduling', this.key) }, 'Scheduling'))),
                        h('section', { class: 'panel', 'aria-label': 'Overrides' }, h('h2', 'What they say'), this.list, this.none),
                        h('div', { class: 'columns halves' }, this.clusters.root, this.objects.root)));
        }

        /* The cluster whose objects are shown. */
        asked() {
                return this.page.query.cluster || this.objects.asked;
        }

        link(cluster) {
                return this.page.link('overrides', this.key, { ...this.page.query, cluster });
        }

        part(name) {
                return this.doc.parts[name] || new Map();
        }

        override(key) {
                return this.part('overrides').get(key);
        }

        update(doc, change) {
                this.doc = doc;
                if (change.first || change.head)
                        this.drawHead(doc.head);
                this.draw(change);
                this.objects.look(this.page.query.cluster || '');
        }

        draw(change) {
                const has = (part) => change.first || change.rows[part] || change.gone[part];
                const overrides = withGone(this.part('overrides'), this.part('clusters'));
                const fresh = this.clusters.prepare(overrides, this.part('clusters'));

                if (has('overrides') || has('clusters'))
                        this.drawOverrides(overrides);
                if (fresh || has('clusters'))
                        this.clusters.table.draw(this.part('clusters'), fresh || change.first ? null : change.rows.clusters || new Set());
                if (has('overrides') || has('clusters'))
                        this.objects.draw();
        }

        drawHead(head) {
                const says = head.touched ? `${head.touched} of ${plural(head.clusters, 'cluster')} touched` : 'no cluster touched';

                setText(this.kind, head.kind);
                setChip(this.state, head.touched ? 'done' : 'plain', head.clustersUnknown ? 'its clusters may not be read' : says);
                if (this.said && this.said !== says)
                        this.page.announce(says);
                this.said = says;
        }

        drawOverrides(overrides) {
                keyed(this.list, overrides, ([key]) => key, overrideItem, (el, item) => {
                        const text = JSON.stringify(item[1]);

                        if (el.drawn !== text) // opened values stay open
                                writeOverride(el, item);
                        el.drawn = text;
                });
                setHidden(this.none, overrides.length > 0);
                setText(this.none, 'No override is meant for this placement.');
        }

        /* Another filter, or another cluster. */
        moved() {
                if (!this.doc)
                        return;
                this.clusters.table.draw(this.part('clusters'), null);
                this.objects.look(this.page.query.cluster || '', true);
        }

        close() {
                this.clusters.close();
                this.objects.close();
        }
}

export const view = {
        name: 'overrides',
        args: (parts) => ({ ...placementArgs(parts), part: 'clusters' }),
        title: () => 'Overrides',
        crumbs: ({ kind, ns, name }, page) => [[ns ? `${ns}/${name}` : name, page.link('placement', keyOf(kind, ns, name))]],
        show: (root, args, page) => new Overrides(root, args, page),
};
