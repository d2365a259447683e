/* The landing page: how the fleet is, in a sentence; the map of its clusters; what needs someone. */

import { h, keyed, setAttr, setChildren, setHidden, setText, soon } from '../dom.js';
import { filterField, writeFilter } from '../table.js';
import { ago, apartText, bar, chip, nothing, ofKey, plural, setAgo, setBar, setChip, shape, toneOf, toneRank } from '../words.js';
import { COLOURS, legendOf } from './fleet-colours.js';
import { clusterFacts, standingLine } from './cluster.js';
import { FleetMap, hasRegions, usualGroups } from './fleet-map.js';

const SHOWN = 8; // entries of a list of what needs someone

/* ---- the sentence ---- */

function count(c, tone) {
        return c?.[tone] || 0;
}

function part(tone, text, href) {
        return h('a', { href }, tone === 'plain' ? null : shape(tone), text);
}

/* "412 of 415 clusters healthy; 7 of 210 placements in trouble; 1 run waits for your approval." */
function sentence(head, link) {
        const { clusters: c, placements: p, runs: r } = head;
        const ill = count(c, 'failed');
        const parts = [];

        parts.push(!c?.total ? [part('plain', 'No cluster has joined yet', link('fleet'))]
                : [part(ill ? 'failed' : 'done', `${c.done} of ${plural(c.total, 'cluster')} healthy`,
                        link('fleet', { by: 'health' }))]);
        if (!p?.total)
                parts.push([part('plain', 'nothing is placed', link('placements'))]);
        else if (count(p, 'failed'))
                parts.push([part('failed', `${p.failed} of ${plural(p.total, 'placement')} in trouble`,
                        link('placements', { standing: 'failed' }))]);
        else
                parts.push([part('done', p.total === 1 ? 'the placement is well' : `none of ${p.total} placements in trouble`,
                        link('placements'))]);
        if (count(p, 'busy'))
                parts.push([part('busy', `${p.busy} under way`, link('placements', { standing: 'busy' }))]);
        if (head.approvals)
                parts.push([part('busy', `${plural(head.approvals, 'run waits', 'runs wait')} for approval`,
                        link('runs', { state: 'approval' }))]);
        else if (count(r, 'busy'))
                parts.push([part('plain', `${plural(r.busy, 'run')} under way`, link('runs'))]);
        return parts.flatMap((x, i) => i ? ['; ', ...x] : x).concat('.');
}

/* ---- what needs someone ---- */

function newest([a, x], [b, y]) {
        return (y.since || 0) - (x.since || 0) || (a < b ? -1 : 1);
}

function troubleOf(rows) {
        return [...rows].filter(([, p]) => toneOf(p.standing) === 'failed')
                .sort(newest);
}

function apart(rows) {
        return [...rows].filter(([, p]) => toneOf(p.standing) !== 'failed' && (p.drifted || p.differing)).sort(newest);
}

function underWay(rows) {
        return [...rows].filter(([, p]) => toneOf(p.standing) === 'busy')
                .sort(newest);
}

function runsNow(rows) {
        return [...rows].filter(([, r]) => !r.over)
                .sort(([a, x], [b, y]) => Number(Boolean(y.approvals?.length)) - Number(Boolean(x.approvals?.length)) ||
                        toneRank(x.standing) - toneRank(y.standing) || (a < b ? -1 : 1));
}

function entry(view, link) {
        return ([key]) => h('li', h('a', { href: link(view, key) }, ofKey(key).path), chip('plain', ''),
                h('span', { class: 'row' }, bar({}), h('span', { class: 'faint' })), ago(0, 'age'));
}

function writeEntry(el, [, row], more) {
        const [name, state, line, since] = el.children;

        setAttr(name, 'title', row.message || null);
        setChip(state, row.standing, row.word);
        setBar(line.children[0], row.progress);
        setText(line.children[1], more);
        setAgo(since, row.since);
}

function runMore(r) {
        if (r.approvals?.length)
                return `stage ${r.approvals.map((a) => a.stage).join(', ')}: waits for approval`;
        return r.stage ? `stage ${r.stage}` : '';
}

class Attention {
        constructor(link) {
                this.link = link;
                this.lists = ['In trouble', 'Runs', 'Drifted or different', 'Under way'].map((title) => {
                        const head = h('h2', title), list = h('ul', { class: 'attention' });
                        const rest = h('a');

                        const box = h('section', { class: 'panel' }, head, list, h('p', { class: 'panel-body' }, rest));

                        return { title, head, list, rest, box };
                });
                this.calm = h('section', { class: 'panel' }, h('h2', 'What needs you'),
                        h('div', { class: 'panel-body' }, nothing('Nothing. All is well.')));
                this.root = h('div', { class: 'stack', hidden: true }, this.lists.map((l) => l.box), this.calm);
        }

        draw(parts) {
                const { link } = this;
                const [trouble, runs, differ, busy] = this.lists;

                const all = (standing) => link('placements', { standing }), placements = parts.placements || [];

                this.fill(trouble, troubleOf(placements), 'placement', apartText, all('failed'));
                this.fill(runs, runsNow(parts.runs || []), 'run', runMore, link('runs'));
                this.fill(differ, apart(placements), 'placement', apartText, all('apart'));
                this.fill(busy, underWay(placements), 'placement', apartText, all('busy'));
                setHidden(this.root, false);
                setHidden(this.calm, this.lists.some((l) => !l.box.hidden));
        }

        fill(l, rows, view, more, all) {
                setHidden(l.box, !rows.length);
                setText(l.head, `${l.title} ${rows.length}`);
                keyed(l.list, rows.slice(0, SHOWN), ([key]) => key, entry(view, this.link),
                        (el, row) => writeEntry(el, row, more(row[1])));
                setHidden(l.rest.parentNode, rows.length <= SHOWN);
                setText(l.rest, `all ${rows.length}`);
                setAttr(l.rest, 'href', all);
        }
}

/* ---- the cluster that is pointed at ---- */

class LookedAt {
        constructor(link) {
                this.link = link;
                this.key = null;
                this.title = h('h2');
                this.body = h('div', { class: 'panel-body stack' });
                this.root = h('section', { class: 'panel looked-at', 'aria-label': 'The cluster that is marked' },
                        h('div', { class: 'panel-head' }, this.title), this.body);
        }

        draw(key, row) {
                this.key = key;
                if (!row) {
                        setChildren(this.title, 'Cluster');
                        setChildren(this.body, h('p', { class: 'faint' },
                                'Point at a cluster, or go to the map and use the arrow keys.'));
                        return;
                }
                setChildren(this.title, h('a', { href: this.link('cluster', key) }, key));
                setChildren(this.body, standingLine(row), clusterFacts(row));
        }
}

/* ---- controls ---- */

/* Every label key of the clusters. */
function labelKeys(rows) {
        const seen = new Set();

        for (const { labels } of rows.values())
                for (const key of Object.keys(labels || {}))
                        seen.add(key);
        return [...seen].sort();
}

function writeOptions(select, list, chosen) {
        keyed(select, list, ([value]) => value, ([value]) => h('option', { value }), (el, [, text]) => setText(el, text));
        if (select.value !== chosen)
                select.value = chosen;
}

const GROUPS = [['region', 'region'], ['health', 'health'], ['none', 'nothing']];

class Controls {
        constructor(page) {
                const choose = (name, normal) => h('select', {
                        onchange: (e) => page.state({ [name]: e.target.value === normal() ? '' : e.target.value }),
                });

                this.page = page;
                this.usual = 'region';
                this.by = choose('by', () => this.usual);
                this.colour = choose('colour', () => 'health');
                this.filter = filterField(page, 'Filter of clusters, by name or label', 'Filter: name or label');
                this.shown = h('span', { class: 'faint', role: 'status' });
                this.root = h('div', { class: 'panel-head toolbar' }, h('h2', 'Clusters '), this.shown, this.filter,
                        h('label', { class: 'field' }, 'grouped by', this.by),
                        h('label', { class: 'field' }, 'coloured by', this.colour));
        }

        draw(rows, query) {
                const labels = labelKeys(rows).map((key) => [`label:${key}`, `label ${key}`]);

                const groups = GROUPS.filter(([by]) => by !== 'region' || query.by === 'region' || hasRegions(rows));

                this.usual = usualGroups(rows);
                writeOptions(this.by, [...groups, ...labels], query.by || this.usual);
                writeOptions(this.colour, COLOURS, query.colour || 'health');
                writeFilter(this.filter, query);
        }

        count(text) {
                setText(this.shown, text);
        }
}

/* ---- the view ---- */

function show(root, args, page) {
        const lead = h('p', { class: 'sentence' });
        const controls = new Controls(page), looked = new LookedAt(page.link), attention = new Attention(page.link);
        const legend = h('div', { class: 'panel-head legend' });
        const map = new FleetMap({
                link: page.link,
                onLook: (key) => looked.draw(key, doc?.parts.clusters?.get(key)),
        });
        const empty = h('div', { class: 'panel-body' });
        let doc = null, before = null;

        const drawMap = (changed) => {
                const rows = doc.parts.clusters || new Map();

                if (map.draw(rows, page.query, changed)) {
                        controls.draw(rows, page.query);
                        setChildren(legend, legendOf(page.query.colour || 'health'));
                        setHidden(empty, rows.size > 0);
                        setHidden(map.root, rows.size === 0);
                }
                controls.count(page.query.q ? `${map.matching.size} of ${rows.size}` : '');
        };

        setChildren(empty, nothing('No cluster has joined this fleet yet. ' +
                'A cluster joins with the member agent\'s chart and a MemberCluster on the hub.'));
        root.append(h('h1', { class: 'sr-only', tabindex: -1 }, 'Fleet'), h('div', { class: 'stack' }, lead,
                h('div', { class: 'columns' },
                        h('section', { class: 'panel', 'aria-label': 'Map of the clusters' },
                                controls.root, map.root, empty, legend),
                        h('div', { class: 'stack' }, looked.root, attention.root))));
        looked.draw(null, null);

        return {
                update(d, change) {
                        doc = d;
                        if (change.head || change.first) {
                                setChildren(lead, sentence(d.head, page.link));
                                before = sayDifference(page, before, d.head);
                        }
                        if (change.first || change.rows.clusters || change.gone.clusters)
                                drawMap(change.first ? null : change.rows.clusters || new Set());
                        if (change.first) // a frame of its own: with a thousand clusters each takes its time
                                soon(() => attention.draw(doc.parts));
                        else if (change.rows.placements || change.gone.placements || change.rows.runs || change.gone.runs)
                                attention.draw(d.parts);
                        if (looked.key && (change.rows.clusters?.has(looked.key) || change.gone.clusters?.has(looked.key)))
                                looked.draw(looked.key, d.parts.clusters.get(looked.key));
                },
                moved() {
                        soon(() => doc && drawMap(null));
                },
                close: () => map.close(),
        };
}

/* What changed of the counts is said to those who do not see it. */
function sayDifference(page, before, head) {
        const say = (a, b, what) => a !== b && page.announce(`${b} ${what}`);

        if (before) {
                say(before.failed, head.placements?.failed, 'placements in trouble');
                say(before.healthy, head.clusters?.done, 'clusters healthy');
                say(before.approvals, head.approvals, 'approvals waiting');
        }
        return { failed: head.placements?.failed, healthy: head.clusters?.done, approvals: head.approvals };
}

export const view = { name: 'fleet', args: () => ({}), title: () => 'Fleet', show };
