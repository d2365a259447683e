/* What the colour of a tile may say, how it is measured, and the words for it. */

import { h } from '../dom.js';
import { plural, quantity, shape, toneOf } from '../words.js';

export const COLOURS = [
        ['health', 'health'], ['trouble', 'trouble'], ['cpu', 'CPU free'], ['memory', 'memory free'], ['cost', 'cost'],
];

/* ---- free and costly ---- */

/* How much of what may be used is left, 0 to 1; NaN = not told. */
export function freeShare(row, what) {
        const r = row[what] || {};
        const share = quantity(r.available) / quantity(r.allocatable || r.capacity);

        return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : NaN;
}

/* Of a core per hour, or what else the cluster's provider tells; NaN = not told. */
export function costOf(row) {
        return quantity(row.cost?.cpu ?? row.cost?.memory);
}

/* ---- what a tile shows: { tone } or { heat }, and words ---- */

function ofHealth(row) {
        return { tone: toneOf(row.standing), word: row.word };
}

function ofTrouble(row) {
        const tone = row.trouble ? 'failed' : toneOf(row.standing) === 'failed' ? 'busy' : row.placements ? 'done' : 'waits';

        return { tone, word: row.trouble ? `${row.trouble} in trouble` : tone === 'busy' ? row.word : 'no trouble' };
}

function ofFree(what, name) {
        return (row) => {
                const heat = freeShare(row, what);

                return { heat, word: Number.isNaN(heat) ? `${name} not told` : `${Math.round(heat * 100)} % of ${name} free` };
        };
}

function ofCost(row, range) {
        const cost = costOf(row);
        const span = range.most - range.least;

        if (Number.isNaN(cost))
                return { heat: NaN, word: 'cost not told' };
        return { heat: span > 0 ? (cost - range.least) / span : 0.5, word: `costs ${cost}` };
}

const OF = { health: ofHealth, trouble: ofTrouble, cpu: ofFree('cpu', 'CPU'), memory: ofFree('memory', 'memory'), cost: ofCost };

/* Least and most cost of all; a colour tells where between them one stands. */
export function costRange(rows) {
        let least = Infinity, most = -Infinity;

        for (const row of rows.values()) {
                const cost = costOf(row);

                if (!Number.isNaN(cost)) {
                        least = Math.min(least, cost);
                        most = Math.max(most, cost);
                }
        }
        return { least, most };
}

export function colourOf(row, by, range) {
        return (OF[by] || ofHealth)(row, range);
}

/* "edge-17, healthy, 12 placements, 1 in trouble". */
export function tileText(key, row, colour) {
        const words = [key, row.word];

        if (row.cordoned)
                words.push('cordoned');
        if (row.placements !== undefined)
                words.push(plural(row.placements, 'placement'));
        if (row.trouble)
                words.push(`${row.trouble} in trouble`);
        if (colour.heat !== undefined)
                words.push(colour.word);
        return words.join(', ');
}

/* ---- the legend ---- */

const TONES = {
        health: [['done', 'healthy'], ['busy', 'leaving'], ['waits', 'not joined'], ['failed', 'not healthy']],
        trouble: [
                ['done', 'no trouble'], ['busy', 'not healthy'], ['waits', 'nothing placed'], ['failed', 'placements in trouble'],
        ],
};

export function legendOf(by) {
        const tones = TONES[by] || (by in OF ? null : TONES.health);

        if (tones)
                return tones.map(([tone, word]) => h('span', shape(tone), ` ${word}`));
        const [from, to] = by === 'cost' ? ['least', 'most'] : ['none free', 'all free'];

        return [h('span', from), h('span', { class: 'legend-scale' }), h('span', to), h('span', 'striped: not told')];
}
