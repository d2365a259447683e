/* Objects that failed, drifted or differ: the clusters of which the same is said of the same object stand together, with
 * both values side by side. */

import { h, keyed, setAttr, setChildren, setHidden, setText } from '../dom.js';
import { ago, chip, compareNames, long, plural, resource, setAgo, value } from '../words.js';
import { cutNote, moreButton, objectLink, setMore } from './steps.js';

const GROUPS = 5;   // objects that are shown at once
const CASES = 3;    // of each object: what is said of some of its clusters
const CLUSTERS = 6; // of each case

const WORDS = {
        failed: { title: 'Failed', tone: 'failed', what: 'could not be applied, or did not become available' },
        drifted: { title: 'Drifted', tone: 'busy', what: 'changed on the cluster after it was applied' },
        different: { title: 'Different', tone: 'busy', what: 'not as the hub has it, and left as it is' },
};

/* ---- one cluster's word ---- */

function cutOf(field) {
        return [field.hubBytes ? `the hub's value has ${field.hubBytes} bytes` : '',
                field.memberBytes ? `the member's has ${field.memberBytes} bytes` : ''].filter(Boolean).join(', ');
}

function side(word, v) {
        return h('td', { 'data-label': word }, value(v));
}

function fieldTable(fields) {
        return h('table', { class: 'fields' }, h('thead', h('tr', ['field', 'hub', 'member'].map((t) => h('th', { scope: 'col' }, t)))),
                h('tbody', fields.map((f) => h('tr', h('th', { scope: 'row' }, h('code', f.path || '(the whole object)')), side('hub', f.hub),
                        side('member', f.member)))));
}

/* Both sides of each field of a row with `fields`; of a Secret only where they differ. */
export function fieldsOf(row) {
        const cut = row.fields.map(cutOf).filter(Boolean);

        return [
                row.hidden ? h('p', { class: 'faint' }, 'Values of Secrets are not shown.') : null,
                row.fields.length ? fieldTable(row.fields)
                        : h('p', { class: 'faint' }, 'The agent does not say in which fields.'),
                cut.length ? h('p', { class: 'faint' }, `Shortened: ${cut.join('; ')}.`) : null,
                row.fieldsTotal ? h('p', { class: 'faint' }, `${row.fieldsTotal - row.fields.length} more fields are not shown.`) : null,
        ];
}

function said(row) {
        const c = row.condition;

        return !c ? null : h('p', { class: 'condition' }, h('span', { class: 'reason' }, c.reason), c.message ? long(c.message) : null,
                cutNote(c, 'message'));
}

/* Clusters of which the same is said are one case; it is as old as the oldest. */
function casesOf(rows) {
        const cases = new Map();

        for (const [, row] of rows) {
                const key = JSON.stringify([row.condition?.reason, row.condition?.message, row.fields, row.fieldsTotal]);

                if (!cases.has(key))
                        cases.set(key, { key, row, since: row.since, clusters: [] });
                const c = cases.get(key);

                c.clusters.push(row.cluster);
                c.since = Math.min(c.since || Infinity, row.since || Infinity);
        }
        return [...cases.values()].sort((a, b) => b.clusters.length - a.clusters.length || compareNames(a.clusters[0], b.clusters[0]));
}

class Case {
        constructor(onCluster) {
                Object.assign(this, { onCluster, all: false });
                this.clusters = h('span', { class: 'row tight' });
                this.more = h('button', { type: 'button', class: 'more', onclick: () => {
                        this.all = !this.all;
                        this.write(this.it);
                } });
                this.since = ago(0, 'for');
                this.said = h('div', { class: 'stack tight' });
                this.root = h('li', { class: 'occurrence' }, h('div', { class: 'row tight' }, this.clusters, this.more, this.since), this.said);
        }

        write(it) {
                const list = this.all ? it.clusters : it.clusters.slice(0, CLUSTERS);

                if (!this.it) // what is said is the case's key
                        setChildren(this.said, said(it.row), it.row.fields ? fieldsOf(it.row) : null);
                this.it = it;
                keyed(this.clusters, list, (c) => c, (c) => h('button', { type: 'button', class: 'more', onclick: () => this.onCluster(c) }, c));
                setHidden(this.more, list.length === it.clusters.length && !this.all);
                setText(this.more, this.all ? 'only the first' : `and ${it.clusters.length - list.length} more`);
                setHidden(this.since, !Number.isFinite(it.since));
                setAgo(this.since, Number.isFinite(it.since) ? it.since : 0);
        }
}

/* ---- one object ---- */

class Group {
        constructor(page, placement, onCluster) {
                Object.assign(this, { page, placement, onCluster, all: false, cases: new Map() });
                this.name = h('h3');
                this.on = h('span', { class: 'faint' });
                this.list = h('ul', { class: 'occurrences' });
                this.more = moreButton(() => {
                        this.all = !this.all;
                        this.write(this.group);
                });
                this.root = h('li', { class: 'trouble' }, h('div', { class: 'row' }, this.name, this.on), this.list, this.more);
        }

        write(group) {
                const { id, rows } = group, cases = casesOf(rows), shown = this.all ? cases : cases.slice(0, CASES);

                if (!this.group)
                        setChildren(this.name, h('a', { href: objectLink(this.page, this.placement, id) }, resource(id)),
                                id.envelope ? h('span', { class: 'faint' }, ` in ${id.envelope.kind} ${id.envelope.name}`) : null);
                this.group = group;
                setText(this.on, `on ${plural(rows.length, 'cluster')}`);
                keyed(this.list, shown, (c) => c.key, () => this.make(), (el, c) => this.cases.get(el).write(c));
                setMore(this.more, shown.length, cases.length, 'case', this.all && cases.length > CASES);
        }

        make() {
                const one = new Case(this.onCluster);

                this.cases.set(one.root, one);
                return one.root;
        }
}

function groupKey(r) {
        return [r.group, r.kind, r.namespace, r.name, r.envelope?.name || ''].join('/');
}

function groupsOf(rows) {
        const groups = new Map();

        for (const [key, row] of rows) {
                const k = groupKey(row);

                if (!groups.has(k))
                        groups.set(k, { key: k, id: row, rows: [] });
                groups.get(k).rows.push([key, row]);
        }
        for (const g of groups.values())
                g.rows.sort(([, a], [, b]) => compareNames(a.cluster, b.cluster));
        return [...groups.values()].sort((a, b) => b.rows.length - a.rows.length || compareNames(a.key, b.key));
}

/* Of how many objects one cluster tells. */
function mostOf(rows) {
        const counts = new Map();

        for (const { cluster } of rows.values())
                counts.set(cluster, (counts.get(cluster) || 0) + 1);
        return Math.max(0, ...counts.values());
}

/* ---- one part ---- */

class Part {
        constructor(page, part, placement, onCluster) {
                Object.assign(this, { page, placement, onCluster, all: false, groups: new Map() });
                const words = WORDS[part], word = chip(words.tone, words.title.toLowerCase());

                setAttr(word, 'id', `trouble-${part}`);
                this.title = h('h2');
                this.list = h('ul');
                this.note = h('p', { class: 'faint panel-body' });
                this.more = moreButton(() => {
                        this.all = !this.all;
                        this.draw(this.rows, this.left, this.cutAt);
                });
                this.root = h('section', { class: 'panel troubles', 'aria-labelledby': `trouble-${part}`, data: { part }, hidden: true },
                        h('div', { class: 'panel-head' }, word, this.title, h('span', { class: 'faint' }, words.what)), this.list, this.more, this.note);
        }

        /* left: so many more there are; cutAt: a cluster may have more than so many, 0 = none has. */
        draw(rows, left, cutAt) {
                const groups = groupsOf(rows), shown = this.all ? groups : groups.slice(0, GROUPS);
                const clusters = new Set([...rows.values()].map((r) => r.cluster)).size;

                Object.assign(this, { rows, left, cutAt });
                setHidden(this.root, !rows.size && !left);
                setText(this.title, `${plural(groups.length, 'object')} on ${plural(clusters, 'cluster')}`);
                keyed(this.list, shown, (g) => g.key, () => this.make(), (el, g) => this.groups.get(el).write(g));
                setMore(this.more, shown.length, groups.length, 'object', this.all && groups.length > GROUPS);
                const notes = [left > 0 ? `${left} more are not shown here.` : '',
                        cutAt ? `There may be more: a cluster tells of at most ${cutAt} objects.` : ''].filter(Boolean);

                setText(this.note, notes.join(' '));
                setHidden(this.note, !notes.length);
        }

        make() {
                const group = new Group(this.page, this.placement, this.onCluster);

                this.groups.set(group.root, group);
                return group.root;
        }
}

/* ---- all three ---- */

const PARTS = ['failed', 'drifted', 'different'];
const NO_ROWS = new Map();

/* What failed because it drifted, or differs, stands there, and not a second time. */
function withReasons(rows, failed) {
        return new Map([...rows].map(([key, row]) => [key, failed.has(key) ? { ...row, condition: failed.get(key).condition } : row]));
}

export class Troubles {
        constructor(page, placement, onCluster) {
                this.parts = PARTS.map((part) => new Part(page, part, placement, onCluster));
                this.roots = this.parts.map((p) => p.root);
        }

        /* The head's counts, and the rows of each part. A head comes with every change, these seldom. */
        update({ head, parts }, change) {
                const counts = JSON.stringify([...PARTS.map((p) => head[p]), head.cutAt]);

                if (change.first || counts !== this.counts || PARTS.some((p) => change.rows[p] || change.gone[p]))
                        this.draw(head, parts);
                this.counts = counts;
        }

        draw(head, parts) {
                const [failed, drifted, different] = PARTS.map((p) => parts[p] || NO_ROWS);
                const others = new Map([...failed].filter(([key]) => !drifted.has(key) && !different.has(key)));
                const cut = (rows, count) => head.cutAt && (count.shown < count.total || mostOf(rows) >= head.cutAt) ? head.cutAt : 0;
                const all = [others, withReasons(drifted, failed), withReasons(different, failed)];

                PARTS.forEach((name, i) => {
                        const count = head[name];

                        this.parts[i].draw(all[i], count.total - count.shown, cut(parts[name] || NO_ROWS, count));
                });
        }
}
