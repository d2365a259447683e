/* All staged update runs, a line each, with the words of `kubectl fleet runs`. */

import { h, setAttr, setHidden, setText } from '../dom.js';
import { Table } from '../table.js';
import { ago, bar, chip, ofKey, setAgo, setBar, setChip, toneRank } from '../words.js';

function writeLink(page, view, keyOf_) {
        return (a, row, key) => {
                const to = keyOf_(row, key);

                setText(a, to ? ofKey(to).path : '');
                setAttr(a, 'href', to ? page.link(view, to) : null);
        };
}

/* "canary: waits for approval": where it is, and what for. */
function whereText(row) {
        if (row.approvals?.length && !row.over)
                return `${row.approvals.map((a) => a.stage).join(', ')}: waits for approval`;
        return [row.stage, row.message].filter(Boolean).join(': ');
}

function columnsFor(page) {
        return [{
                name: 'name', title: 'Name', sort: (row, key) => ofKey(key).path, make: () => h('a'),
                write: writeLink(page, 'run', (row, key) => key),
        }, {
                name: 'state', title: 'State', sort: (row) => (row.approvals?.length ? -1 : toneRank(row.standing)),
                make: () => chip('plain', ''), write: (el, row) => setChip(el, row.standing, row.word),
        }, {
                name: 'clusters', title: 'Clusters', sort: ({ progress: p }) => (p?.total ? p.done / p.total : 0),
                make: () => bar({}), write: (el, row) => setBar(el, row.progress),
        }, {
                name: 'placement', title: 'Placement', sort: (row) => row.placement || '', label: 'placement', make: () => h('a'),
                write: writeLink(page, 'placement', (row) => row.placement),
        }, {
                name: 'revision', title: 'Revision', sort: (row) => Number(row.revision) || 0, first: 'down', class: 'number',
                label: 'revision', write: (el, row) => setText(el, row.revision),
        }, {
                name: 'where', title: 'Where it is', class: 'faint', write(el, row) {
                        setText(el, whereText(row));
                        setAttr(el, 'title', row.message || null);
                },
        }, {
                name: 'age', title: 'Age', sort: (row) => -(row.since || 0), make: () => ago(0, 'age'),
                write: (el, row) => setAgo(el, row.since),
        }];
}

const CHOICES = [
        ['', 'all'],
        ['approval', 'waiting for approval', (row) => Boolean(row.approvals?.length)],
        ['now', 'under way', (row) => !row.over],
        ['failed', 'failed or stuck', (row) => row.standing === 'failed'],
        ['over', 'over', (row) => Boolean(row.over)],
];

function show(root, args, page) {
        const table = new Table(page, {
                caption: 'Staged update runs', one: 'run', sort: 'state', columns: columnsFor(page),
                choice: 'state', choices: CHOICES,
                text: (key, row) => `${key} ${row.word} ${row.placement || ''} ${row.stage || ''}`,
        });
        const lacks = h('p', { class: 'faint' });
        let rows = new Map();

        root.append(h('div', { class: 'stack' }, h('h1', 'Staged update runs'), lacks, table.root));
        return {
                update(doc, change) {
                        const kinds = (doc.head.lacks || []).filter((kind) => kind.endsWith('UpdateRun'));

                        setHidden(lacks, kinds.length === 0);
                        setText(lacks, `This hub has no ${kinds.join(' and no ')}.`);
                        rows = doc.parts.runs || new Map();
                        if (change.first || change.rows.runs || change.gone.runs)
                                table.draw(rows, change.first ? null : change.rows.runs || new Set());
                },
                moved: () => table.draw(rows, new Set()),
                close: () => table.close(),
        };
}

export const view = { name: 'runs', server: 'fleet', title: () => 'Runs', show };
