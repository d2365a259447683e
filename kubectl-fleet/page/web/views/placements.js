/* All placements, a line each, with the words of `kubectl fleet status`. */

import { h, setAttr, setText } from '../dom.js';
import { Table } from '../table.js';
import { ago, apartText, bar, chip, ofKey, setAgo, setBar, setChip, toneOf, toneRank } from '../words.js';

function writeName(page) {
        return (a, row, key) => {
                const { path, kind } = ofKey(key);

                setText(a, path);
                setAttr(a, 'href', page.link('placement', key));
                setAttr(a, 'title', `${kind} ${path}`);
        };
}

function share({ progress: p }) {
        return p?.total ? p.done / p.total : 0;
}

function columnsFor(page) {
        const plain = (name) => (el, row) => setText(el, row[name]);

        return [{
                name: 'name', title: 'Name', sort: (row, key) => ofKey(key).path, make: () => h('a'), write: writeName(page),
        }, {
                name: 'state', title: 'State', sort: (row) => toneRank(row.standing), make: () => chip('plain', ''),
                write: (el, row) => setChip(el, row.standing, row.word),
        }, {
                name: 'clusters', title: 'Clusters', sort: share, make: () => bar({}),
                write: (el, row) => setBar(el, row.progress),
        }, {
                name: 'policy', title: 'Policy', sort: (row) => row.policy || '', label: 'policy', write: plain('policy'),
        }, {
                name: 'revision', title: 'Revision', sort: (row) => Number(row.revision) || 0, first: 'down', class: 'number',
                label: 'revision', write: plain('revision'),
        }, {
                name: 'apart', title: 'Not as on the hub', first: 'down', class: 'faint',
                sort: (row) => (row.drifted || 0) + (row.differing || 0), write: (el, row) => setText(el, apartText(row)),
        }, {
                name: 'age', title: 'Age', sort: (row) => -(row.created || 0), make: () => ago(0, 'age'),
                write: (el, row) => setAgo(el, row.created),
        }];
}

const CHOICES = [
        ['', 'all'],
        ['failed', 'in trouble', (row) => toneOf(row.standing) === 'failed'],
        ['busy', 'under way', (row) => toneOf(row.standing) === 'busy'],
        ['waits', 'waiting', (row) => toneOf(row.standing) === 'waits'],
        ['apart', 'drifted or different', (row) => Boolean(row.drifted || row.differing)],
        ['done', 'well', (row) => toneOf(row.standing) === 'done'],
];

function show(root, args, page) {
        const table = new Table(page, {
                caption: 'Placements', one: 'placement', sort: 'state', columns: columnsFor(page),
                choice: 'standing', choices: CHOICES,
                text: (key, row) => `${key} ${row.word} ${row.policy || ''}`,
        });
        let rows = new Map();

        root.append(h('div', { class: 'stack' }, h('h1', 'Placements'), table.root));
        return {
                update(doc, change) {
                        rows = doc.parts.placements || new Map();
                        if (change.first || change.rows.placements || change.gone.placements)
                                table.draw(rows, change.first ? null : change.rows.placements || new Set());
                },
                moved: () => table.draw(rows, new Set()),
                close: () => table.close(),
        };
}

export const view = { name: 'placements', server: 'fleet', title: () => 'Placements', show };
