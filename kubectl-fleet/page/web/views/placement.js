/* One placement: how far it is, what is not well, each cluster's way, and what it consists of. */

import { h, keyed, setAttr, setChildren, setClass, setHidden, setText } from '../dom.js';
import { ago, bar, chip, compareNames, condition, facts, hasWords, keyOf, long, nothing, placementArgs, plural, resource, revisionText, setAgo, setBar,
        setChip, setFacts, toneOf, wordsOf } from '../words.js';
import { cutNote, moreButton, objectLink, OpeningRows, setMore, setTrack, stepList, stepOf, track } from './steps.js';
import { Troubles } from './troubles.js';

/* ---- one cluster ---- */

/* Where no object stands for it, the row itself says why. */
function saysWhy(row) {
        return row.unplaced || (toneOf(row.standing) === 'failed' && !row.failed && !row.drifted && !row.different);
}

function badges(row) {
        const counts = [['failed', row.failed, 'failed'], ['busy', row.drifted, 'drifted'], ['busy', row.different, 'different']];

        return [row.trouble ? chip('failed', row.trouble) : null,
                ...counts.map(([tone, n, word]) => n ? chip(tone, `${n} ${word}`) : null)].filter(Boolean);
}

function labelsOf(row) {
        const all = Object.entries(row.labels || {}).sort(([a], [b]) => compareNames(a, b));

        return all.length ? all.map(([k, v]) => h('span', { class: 'label' }, v ? `${k}=${v}` : k)) : null;
}

function worksOf(row) {
        const more = row.worksTotal - row.works.length;

        return row.works.length ? [row.works.join(', '), more > 0 ? ` and ${more} more` : ''] : null;
}

function overridesOf(row, page, key) {
        return row.overrides.length ? h('a', { href: page.link('overrides', key) }, row.overrides.map((o) =>
                `${o.namespace ? `${o.namespace}/` : ''}${o.name}`).join(', ')) : null;
}

function detailOf(row, page, key) {
        return h('div', { class: 'stack tight' },
                row.trouble ? h('p', chip('failed', row.trouble)) : null,
                row.message && !row.steps.some((s) => s.message === row.message) ? h('p', long(row.message), ' ', cutNote(row, 'message')) : null,
                row.steps.length ? stepList(row.steps) : null,
                facts([
                        ['Revision', row.revision ? `${row.revision}${row.latest ? ', the latest' : ', not the latest'}` : null],
                        ['Works', worksOf(row)],
                        ['Overrides', overridesOf(row, page, key)],
                        ['Labels', labelsOf(row)],
                ]),
                h('p', { class: 'row' }, row.cluster ? h('a', { href: page.link('cluster', row.cluster) }, 'the cluster') : null,
                        h('a', { href: page.link('scheduling', key, row.cluster ? { cluster: row.cluster } : {}) },
                                !row.cluster ? 'why no other cluster' : row.unplaced ? 'why not there' : 'why there')));
}

/* What a cluster that is not well said last is no good news. */
function writeState(el, r) {
        setChip(el, r.trouble && r.standing === 'done' ? 'waits' : r.standing, r.word);
}

function fillRow() {
        const way = track(), state = chip('plain', ''), revision = h('span', { class: 'faint way-revision' });
        const more = h('span', { class: 'way-badges' }), since = ago(0, 'age'), why = h('span', { class: 'faint way-why' });

        return {
                nodes: [way, h('span', { class: 'way-state' }, state, more, why), revision, since],
                write(r, root) {
                        setAttr(root, 'data-tone', r.trouble ? 'failed' : toneOf(r.standing));
                        setTrack(way, r.steps);
                        writeState(state, r);
                        setChildren(more, badges(r));
                        setText(why, saysWhy(r) ? r.message : '');
                        setText(revision, revisionText(r.revision));
                        setClass(revision, 'older', Boolean(r.revision) && !r.latest && !r.removing);
                        setAgo(since, r.since);
                },
        };
}

/* ---- all clusters ---- */

const SHOWS = [
        ['', 'all'],
        ['failed', 'in trouble', (r) => r.standing === 'failed' || r.failed || r.trouble],
        ['busy', 'under way', (r) => r.standing === 'busy' && !r.removing],
        ['waits', 'waiting', (r) => r.standing === 'waits'],
        ['done', 'done', (r) => r.standing === 'done'],
        ['apart', 'drifted or different', (r) => r.drifted || r.different],
        ['older', 'not on the latest revision', (r) => !r.latest && !r.unplaced],
        ['removing', 'being removed', (r) => r.removing],
];

function textOf(row) {
        return [row.cluster, row.word, row.message, row.trouble, ...Object.entries(row.labels || {}).map(([k, v]) => `${k}=${v}`)].join(' ');
}

class Clusters {
        constructor(page, key) {
                this.page = page;
                this.filter = h('input', {
                        type: 'search', class: 'filter', placeholder: 'Filter: name, label or word', 'data-filter': true,
                        'aria-label': 'Filter of clusters, by name, label or word',
                        oninput: () => page.state({ q: this.filter.value }),
                        onkeydown: (e) => e.key === 'Escape' && this.filter.value && (this.filter.value = '', page.state({ q: '' })),
                });
                this.shows = h('select', { onchange: () => page.state({ show: this.shows.value }) },
                        SHOWS.map(([value, title]) => h('option', { value }, title)));
                this.order = h('select', { onchange: () => page.state({ order: this.order.value }) },
                        h('option', { value: '' }, 'trouble first'), h('option', { value: 'name' }, 'name'));
                this.count = h('span', { class: 'faint', role: 'status' });
                this.step = h('button', { type: 'button', class: 'more', onclick: () => page.state({ step: '' }) });
                this.none = h('p', { class: 'nothing panel-body' });
                this.list = h('ul', { class: 'ways' });
                this.root = h('section', { class: 'panel', 'aria-label': 'Clusters' },
                        h('div', { class: 'panel-head toolbar' }, h('h2', 'Clusters'), this.filter, h('label', { class: 'field' }, 'show', this.shows),
                                h('label', { class: 'field' }, 'order', this.order), this.step, this.count),
                        this.list, this.none);
                this.rows = new OpeningRows(this.list, {
                        name: (row) => h('span', { class: 'name' }, row.cluster || 'no cluster'), fill: fillRow, detail: (row) => detailOf(row, page, key),
                });
        }

        draw(all, changed) {
                const { query } = this.page, words = wordsOf(query.q), shows = SHOWS.find(([value]) => value === (query.show || ''))?.[2];
                const list = [...all].filter(([, row]) => hasWords(words.length ? textOf(row) : '', words) && (!shows || shows(row)) &&
                        (!query.step || (!row.removing && stepOf(row) === query.step)));

                list.sort(query.order === 'name' ? ([a], [b]) => compareNames(a, b)
                        : ([a, x], [b, y]) => x.rank - y.rank || compareNames(a, b));
                this.all = all;
                this.rows.draw(list, changed);
                this.controls(query, list.length, all.size);
        }

        controls(query, shown, all) {
                if (document.activeElement !== this.filter && this.filter.value !== (query.q || ''))
                        this.filter.value = query.q || '';
                this.shows.value = query.show || '';
                this.order.value = query.order || '';
                setHidden(this.step, !query.step);
                setText(this.step, `at step "${query.step}" ✕`);
                setAttr(this.step, 'aria-label', `Only those at step ${query.step}. Show all steps`);
                setText(this.count, shown === all ? plural(all, 'cluster') : `${shown} of ${plural(all, 'cluster')}`);
                setHidden(this.none, shown > 0);
                setText(this.none, all ? 'No cluster is like that.' : 'The scheduler has picked no cluster yet.');
        }

        /* Whatever filters are set. */
        reveal(cluster) {
                if (this.rows.reveal(cluster))
                        return;
                this.page.state({ q: '', show: '', step: '' });
                this.rows.reveal(cluster);
        }

        close() {
                this.rows.close();
        }
}

/* ---- how many are at which step ---- */

function stepButton(page) {
        return () => {
                const button = h('button', { type: 'button', class: 'funnel-step', onclick: () => {
                        page.state({ step: page.query.step === button.dataset.step ? '' : button.dataset.step });
                } }, h('span', { class: 'funnel-name' }), bar({}));

                return h('li', button);
        };
}

function writeStep(page) {
        return (el, s) => {
                const [name, counts] = el.firstChild.children;

                el.firstChild.dataset.step = s.step;
                setAttr(el.firstChild, 'aria-pressed', page.query.step === s.step);
                setAttr(el, 'data-tone', s.failed ? 'failed' : s.busy ? 'busy' : s.waits ? 'waits' : 'done');
                setText(name, s.step);
                setBar(counts, { ...s, total: s.waits + s.busy + s.done + s.failed });
        };
}

/* ---- what it is ---- */

function rolloutWords(s) {
        if (s.type === 'External')
                return 'by update runs only';
        return `at most ${s.maxUnavailable} unavailable at a time, at most ${s.maxSurge} more than picked` +
                (s.unavailablePeriodSeconds === 60 ? '' : `, ready after ${s.unavailablePeriodSeconds} s where that cannot be seen`);
}

function applyWords({ apply: a }) {
        const words = { ClientSideApply: 'client-side apply', ServerSideApply: 'server-side apply', ReportDiff: 'only compared, never written' };

        return [words[a.type] || a.type, a.force ? 'takes over fields of others' : '',
                a.type === 'ReportDiff' ? '' : a.whenToApply === 'IfNotDrifted' ? 'not where it drifted' : 'puts back what drifted',
                a.comparison === 'PartialComparison' ? '' : 'compared in full',
                { Never: 'never takes over', IfNoDiff: 'takes over what is equal' }[a.whenToTakeOver] || '',
                a.coOwnership ? 'beside other owners' : ''].filter(Boolean).join(', ');
}

function factsOf(head) {
        const s = head.strategy;

        return [
                ['Policy', [head.policy, head.policyWords.length ? h('ul', { class: 'policy' }, head.policyWords.map((w) => h('li', w))) : null]],
                ['Revision', head.revision ? [head.revision, head.revisionSince ? [', ', ago(head.revisionSince, 'age'), ' old'] : null] : 'none yet'],
                ['Rollout', rolloutWords(s)],
                ['Apply', applyWords(s)],
                ['When deleted', s.onDelete === 'Abandon' ? 'objects stay on the clusters' : 'objects are removed from the clusters'],
                ['Status of objects', s.reportBack === 'Mirror' ? 'comes back to the hub' : null],
                ['Age', head.created ? ago(head.created, 'age') : null],
        ];
}

const RESOURCES = 10;

class About {
        constructor(page, key) {
                Object.assign(this, { page, key, all: false });
                this.facts = h('dl', { class: 'facts lines panel-body' });
                this.runs = h('ul', { class: 'plain-list' });
                this.overrides = h('ul', { class: 'plain-list' });
                this.resources = h('ul', { class: 'plain-list' });
                this.resourceTitle = h('h2');
                this.untold = h('p', { class: 'panel-body faint' },
                        'The placement names none. While its clusters have several revisions, it never does.');
                this.more = moreButton(() => {
                        this.all = !this.all;
                        this.drawResources(this.head);
                });
                this.conditions = h('div', { class: 'panel-body stack tight' });
                this.runBox = h('section', { class: 'panel' }, h('h2', 'Update runs'), this.runs);
                this.overrideBox = h('section', { class: 'panel' }, h('h2', h('a', { href: page.link('overrides', key) }, 'Overrides')), this.overrides);
                this.root = h('div', { class: 'stack' }, h('section', { class: 'panel', 'aria-label': 'What it is' }, this.facts), this.runBox, this.overrideBox,
                        h('section', { class: 'panel' }, this.resourceTitle, this.resources, this.untold, this.more),
                        h('section', { class: 'panel' }, h('h2', 'Conditions'), this.conditions));
        }

        draw(head) {
                this.head = head;
                setFacts(this.facts, factsOf(head));
                this.drawRuns(head);
                this.drawOverrides(head);
                this.drawResources(head);
                setChildren(this.conditions, head.conditions.length ? head.conditions.map((c) => h('div', condition({ ...c,
                        type: c.type.replace(/^(Cluster)?ResourcePlacement/, '') }), cutNote(c, 'message'),
                c.current ? null : h('span', { class: 'faint' }, 'of an older generation'))) : nothing('None yet.'));
        }

        drawRuns(head) {
                setHidden(this.runBox, !head.runs.length);
                keyed(this.runs, head.runs, (r) => r.name, (r) => h('li', { class: 'row' },
                        h('a', { href: this.page.link('run', keyOf(r.scope === 'rp' ? 'sur' : 'csur', r.namespace, r.name)) }, r.name), chip('plain', ''),
                        h('span', { class: 'faint' })), (el, r) => {
                        setChip(el.children[1], r.standing, r.word);
                        setText(el.children[2], revisionText(r.revision));
                });
        }

        drawOverrides(head) {
                setHidden(this.overrideBox, !head.overrides.length);
                keyed(this.overrides, head.overrides, (o) => `${o.namespace}/${o.snapshot}`, (o) => h('li', { class: 'row' },
                        h('span', h('span', { class: 'kind' }, o.kind), ` ${o.namespace ? `${o.namespace}/` : ''}`, h('span', { class: 'name' }, o.name)),
                        h('span', { class: 'faint' })), (el, o) => setText(el.lastChild, `on ${plural(o.clusters, 'cluster')}`));
        }

        drawResources(head) {
                const list = this.all ? head.resources : head.resources.slice(0, RESOURCES), left = head.resourcesTotal - head.resources.length;

                setText(this.resourceTitle, head.resourcesTotal ? `${plural(head.resourcesTotal, 'object')} placed` : 'Objects');
                setHidden(this.untold, head.resourcesTotal > 0);
                keyed(this.resources, list, (r) => [r.group, r.kind, r.namespace, r.name].join('/'), (r) =>
                        h('li', h('a', { href: objectLink(this.page, this.key, r) }, resource(r)),
                                r.envelope ? h('span', { class: 'faint' }, ` in ${r.envelope.kind} ${r.envelope.name}`) : null));
                setMore(this.more, list.length, head.resources.length, 'object', this.all && head.resources.length > RESOURCES);
                if (left > 0 && (this.all || head.resources.length <= RESOURCES))
                        setText(this.more.firstChild, `${left} more are not named here`);
        }
}

/* ---- the view ---- */

/* What is new comes by an update run alone, and none is under way. */
function waitsForRun(head, rows) {
        if (head.strategy.type !== 'External' || !head.revision || head.runs.some((r) => ['busy', 'waits'].includes(r.standing)))
                return false;
        for (const r of rows.values())
                if (!r.latest && !r.unplaced && !r.removing)
                        return true;
        return false;
}

/* The newest run brought an older revision, after the latest one was there. */
function rolledBackTo(head) {
        const [last] = head.runs;

        return last?.standing === 'done' && Number(last.revision) < Number(head.revision) && last.since >= head.revisionSince ? last : null;
}

function revisionNote(head, rows) {
        const back = rolledBackTo(head);

        if (!waitsForRun(head, rows))
                return null;
        return ['waits', back ? `rolled back to revision ${back.revision}; the latest is ${head.revision}` : `revision ${head.revision} waits for an update run`];
}

function notes(head, rows) {
        return [
                revisionNote(head, rows),
                head.deleting ? ['failed', ['being deleted ', ago(head.deleting, 'for')]] : null,
                head.unplaced ? ['failed', `${plural(head.unplaced, 'place')} without a cluster`] : null,
                head.ill ? ['failed', `${plural(head.ill, 'cluster')} not well`] : null,
                head.leftover ? ['busy', `left over on ${plural(head.leftover, 'cluster')}`] : null,
        ].filter(Boolean).map(([tone, text]) => {
                const c = chip(tone, '');

                setChildren(c.lastChild, text);
                return c;
        });
}

function show(root, args, page) {
        const key = keyOf(args.kind, args.ns, args.name);
        const state = chip('plain', ''), progress = bar({}), more = h('span', { class: 'row' });
        const funnel = h('ol', { class: 'funnel', 'aria-label': 'How many clusters are done with each step' });
        const clusters = new Clusters(page, key), about = new About(page, key);
        const troubles = new Troubles(page, key, (cluster) => clusters.reveal(cluster));
        const kind = h('span', { class: 'kind' });
        let doc = null, said = '';

        root.append(h('div', { class: 'stack' },
                h('div', { class: 'title' }, h('h1', kind, ' ', args.ns ? `${args.ns}/` : '', args.name), state, progress, more,
                        h('nav', { class: 'row', 'aria-label': 'More of this placement' }, h('a', { href: page.link('scheduling', key) }, 'Scheduling'),
                                h('a', { href: page.link('overrides', key) }, 'Overrides'))),
                h('section', { class: 'panel panel-body', 'aria-label': 'Steps' }, funnel),
                h('div', { class: 'columns' }, h('div', { class: 'stack' }, troubles.roots, clusters.root), about.root)));

        const drawSteps = () => keyed(funnel, doc.head.steps, (s) => s.step, stepButton(page), writeStep(page));
        const drawHead = (head) => {
                setText(kind, head.kind);
                setChip(state, head.standing, head.word);
                setBar(progress, head.progress);
                drawSteps();
                setHidden(funnel.parentNode, !head.steps.length);
                about.draw(head);
                const says = `${head.name}: ${head.word}, ${head.progress.done} of ${plural(head.progress.total, 'cluster')} done`;

                if (said && said !== says)
                        page.announce(says);
                said = says;
        };

        return {
                update(d, change) {
                        doc = d;
                        if (change.head || change.first)
                                drawHead(d.head);
                        setChildren(more, notes(d.head, d.parts.clusters || new Map()));
                        troubles.update(d, change);
                        if (change.first || change.rows.clusters || change.gone.clusters)
                                clusters.draw(d.parts.clusters || new Map(), change.first ? null : change.rows.clusters || new Set());
                },
                moved() {
                        drawSteps();
                        clusters.draw(doc.parts.clusters || new Map(), new Set());
                },
                close: () => clusters.close(),
        };
}

export const view = {
        name: 'placement',
        args: placementArgs,
        title: ({ ns, name }) => ns ? `${ns}/${name}` : name,
        show,
};
