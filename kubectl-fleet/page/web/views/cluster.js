/* One member cluster: what it is, what is free on it, what is placed there; with the words of `kubectl fleet where`. */

import { h, keyed, setChildren, setHidden, setText } from '../dom.js';
import { ago, bar, bytes, chip, cpu, facts, long, meter, nothing, ofKey, plural, quantity, resource, revisionText, setBar, setChip, setFacts,
        toneRank } from '../words.js';

/* ---- parts that the fleet view shows, too ---- */

function capacity(name, r, words) {
        const most = r?.allocatable || r?.capacity;
        const all = quantity(most), free = quantity(r?.available);

        if (Number.isNaN(all))
                return [name, null];
        return [name, Number.isNaN(free) ? words(most) : meter(1 - free / all, `${words(r.available)} of ${words(most)} free`)];
}

export function clusterFacts(row) {
        return facts([
                ['Placements', row.trouble ? `${row.placements}, ${row.trouble} in trouble` : row.placements],
                ['Nodes', row.nodes],
                capacity('CPU', row.cpu, cpu),
                capacity('Memory', row.memory, bytes),
                ['Taints', row.taints?.length ? row.taints.map(taint) : null],
        ]);
}

/* "✔ healthy  cordoned  heard of 20s ago". */
export function standingLine(row) {
        return h('div', { class: 'row' }, chip(row.standing, row.word), row.cordoned ? chip('busy', 'cordoned') : null,
                h('span', { class: 'faint' }, row.heard ? ['heard of ', ago(row.heard)] : 'never heard of'));
}

function taint(t) {
        return h('span', { class: 'label' }, `${t.key}${t.value ? `=${t.value}` : ''}:${t.effect}`);
}

function labels(map) {
        const all = Object.entries(map || {}).sort();

        return all.length ? all.map(([k, v]) => h('span', { class: 'label' }, v ? `${k}=${v}` : k)) : null;
}

/* ---- what is placed there ---- */

const WELL = 10; // objects of one placement that are well and shown at once

function objectKey(o) {
        return [o.group, o.kind, o.namespace, o.name].join('/');
}

function writeObject(el, o, page, key) {
        const group = o.group || '-', ns = o.namespace || '-';

        setChildren(el, h('a', { href: page.link('object', key, group, o.kind, ns, o.name) }, resource(o)),
                chip(o.standing, o.word), o.message ? long(o.message) : null);
}

class Share {
        constructor(page, key) {
                this.page = page;
                this.key = key;
                const { kind, path } = ofKey(key);

                this.bar = bar({}, 'objects');
                this.revision = h('span', { class: 'faint' });
                this.state = chip('plain', '');
                this.list = h('ul', { class: 'objects' });
                this.more = h('button', { type: 'button', class: 'more', onclick: () => this.openAll() });
                this.rest = h('p', { class: 'panel-body faint' }); // of very many
                this.all = false;
                this.root = h('section', { class: 'panel' },
                        h('div', { class: 'panel-head' },
                                h('h3', h('span', { class: 'kind' }, `${kind} `),
                                        h('a', { href: page.link('placement', key) }, path)),
                                this.revision, this.bar, this.state),
                        this.list, h('p', { class: 'panel-body' }, this.more), this.rest);
        }

        openAll() {
                this.all = !this.all;
                this.write(this.row);
        }

        write(row) {
                const objects = row.objects || [], shown = this.all ? objects.length : firstOf(objects);

                this.row = row;
                setText(this.revision, revisionText(row.revision));
                setBar(this.bar, row.progress);
                setHidden(this.state, !row.word);
                setChip(this.state, row.standing, row.word);
                keyed(this.list, objects.slice(0, shown), objectKey, () => h('li', { class: 'row' }),
                        (el, o) => writeObject(el, o, this.page, this.key));
                setHidden(this.more.parentNode, shown === objects.length && !this.all);
                setHidden(this.rest, !row.objectsTotal);
                setText(this.rest, row.objectsTotal ? `There are ${row.objectsTotal} objects; these are the first.` : '');
                setText(this.more, this.all ? 'only the first' : `and ${objects.length - shown} more that are well`);
        }
}

/* All in trouble and a few that are well; they stand in that order. */
function firstOf(objects) {
        const ill = objects.filter((o) => o.standing !== 'done').length;
        const shown = Math.min(objects.length, ill + WELL);

        return objects.length - shown <= 1 ? objects.length : shown;
}

/* ---- the view ---- */

function writeHead(el, head) {
        const named = Object.entries(head.properties || {}).map(([name, p]) => [name, typeof p === 'object' ? p.value : p]);

        setFacts(el, [
                ['Nodes', head.nodes],
                capacity('CPU', head.cpu, cpu),
                capacity('Memory', head.memory, bytes),
                ['Kubernetes', head.version],
                ['Agent', head.agent],
                ['Joined', head.joined ? ago(head.joined) : null],
                ['Labels', labels(head.labels)],
                ['Taints', head.taints?.length ? head.taints.map(taint) : null],
                ...named,
        ]);
}

function show(root, args, page) {
        const state = h('div'), message = h('div');
        const about = h('dl', { class: 'facts panel-body' }), shares = h('div', { class: 'stack' });
        const count = h('h2'), none = nothing('No placement puts anything there.');
        const made = new Map();

        root.append(h('div', { class: 'stack' },
                h('div', { class: 'title' }, h('h1', args.name), state), message,
                h('section', { class: 'panel', 'aria-label': 'Facts' }, about), count, none, shares));

        const make = ([key]) => {
                const share = new Share(page, key);

                made.set(share.root, share);
                return share.root;
        };

        return {
                update({ head, parts }, change) {
                        if (change.head || change.first) {
                                setChildren(state, standingLine(head));
                                setChildren(message, head.message ? long(head.message) : null);
                                setHidden(message, !head.message);
                                writeHead(about, head);
                        }
                        if (!change.first && !change.rows.shares && !change.gone.shares)
                                return;
                        const list = [...parts.shares || []].sort(([a, x], [b, y]) =>
                                toneRank(x.standing) - toneRank(y.standing) || (a < b ? -1 : 1));

                        setText(count, plural(list.length, 'placement'));
                        setHidden(count, list.length === 0);
                        setHidden(none, list.length > 0);
                        keyed(shares, list, ([key]) => key, make, (el, [, row]) => made.get(el).write(row),
                                change.first ? null : change.rows.shares || new Set());
                },
                close() {},
        };
}

export const view = {
        name: 'cluster',
        args([name]) {
                if (!name)
                        throw new Error('it names no cluster');
                return { name };
        },
        title: ({ name }) => name,
        show,
};
