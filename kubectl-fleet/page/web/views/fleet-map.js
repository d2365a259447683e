/* The map: each cluster a tile, in groups; a grid of which one tile is in the tab order, the arrow keys go from
 * tile to tile as they lie on the screen. Tiles are as large as the room allows. */

import { h, keyed, setAttr, setClass, setText, setVar, soon } from '../dom.js';
import { compareNames, hasWords, plural, shapeOf, toneRank, wordsOf } from '../words.js';
import { colourOf, costRange, tileText } from './fleet-colours.js';

/* ---- groups ---- */

const REGIONS = ['topology.kubernetes.io/region', 'region', 'failure-domain.beta.kubernetes.io/region'];

function regionOf(labels) {
        for (const key of REGIONS)
                if (labels?.[key])
                        return labels[key];
        return '';
}

export function hasRegions(rows) {
        for (const { labels } of rows.values())
                if (regionOf(labels))
                        return true;
        return false;
}

/* By what clusters are grouped where nobody chose: by what there is. */
export function usualGroups(rows) {
        return hasRegions(rows) ? 'region' : 'health';
}

/* The name of the group that a cluster stands in; '' = none is told. */
function groupOf(row, by) {
        if (by === 'none')
                return 'all';
        if (by === 'health')
                return row.word;
        if (by.startsWith('label:'))
                return row.labels?.[by.slice(6)] ?? '';
        return regionOf(row.labels);
}

function count(g, rows) {
        g.well = g.keys.reduce((n, key) => n + (rows.get(key).standing === 'done' ? 1 : 0), 0);
}

/* [{ name, keys, well }], those by health with the worst first, others by name, those without one last. */
function groupsOf(rows, by) {
        const all = new Map(), worst = new Map();

        for (const [key, row] of rows) {
                const name = groupOf(row, by);

                if (!all.has(name))
                        all.set(name, { name, keys: [], well: 0 });
                all.get(name).keys.push(key);
                worst.set(name, Math.min(worst.get(name) ?? 9, toneRank(row.standing)));
        }
        for (const g of all.values()) {
                g.keys.sort(compareNames);
                count(g, rows);
        }
        return [...all.values()].sort((a, b) => (by === 'health' ? worst.get(a.name) - worst.get(b.name) : 0) ||
                (a.name === '') - (b.name === '') || compareNames(a.name, b.name));
}

/* ---- sizes ---- */

const SIZES = [
        { name: 'large', wide: 168, high: 46, gap: 8 },
        { name: 'medium', wide: 116, high: 30, gap: 6 },
        { name: 'small', wide: 30, high: 30, gap: 4 },
        { name: 'small', wide: 24, high: 24, gap: 4 },
        { name: 'small', wide: 19, high: 19, gap: 3 },
        { name: 'tiny', wide: 14, high: 14, gap: 2 },
        { name: 'tiny', wide: 9, high: 9, gap: 2 },
];

const GROUP_WIDE = 150, GROUP_GAP = 16, GROUP_HEAD = 40;

/* How high the map becomes: groups flow beside one another where there is room, as the style has it. */
function heightWith(s, groups, width) {
        const inRow = Math.max(1, Math.floor((width + s.gap) / (s.wide + s.gap)));
        let x = 0, line = 0, sum = 0;

        for (const { keys } of groups) {
                const wide = Math.min(width, Math.max(GROUP_WIDE, keys.length * (s.wide + s.gap)));
                const high = GROUP_HEAD + Math.ceil(keys.length / inRow) * (s.high + s.gap);

                if (x && x + GROUP_GAP + wide > width) {
                        sum += line;
                        x = line = 0;
                }
                x += wide + (x ? GROUP_GAP : 0);
                line = Math.max(line, high);
        }
        return sum + line;
}

/* The largest with which all groups fit about a window's height. */
function sizeFor(groups, width, height) {
        return SIZES.find((s) => heightWith(s, groups, width) <= height) || SIZES[SIZES.length - 1];
}

/* ---- filter ---- */

/* In the name or in a label: "edge region=eu". */
function matches(key, row, words) {
        return hasWords([key, row.word, ...Object.entries(row.labels || {}).map(([k, v]) => `${k}=${v}`)].join(' '), words);
}

/* ---- the map ---- */

function heatWord(heat) {
        return heat === undefined ? null : Number.isNaN(heat) ? 'none' : 'some';
}

export class FleetMap {
        constructor({ link, onLook }) {
                this.link = link;
                this.onLook = onLook;
                this.marked = null; // the key of the tile in the tab order
                this.matching = new Set(); // keys that the filter lets through
                this.tiles = new Map();    // the links, by key
                this.groupOf = new Map();
                this.width = 0;
                this.root = h('div', {
                        class: 'map', role: 'grid', 'aria-label': 'Clusters',
                        onkeydown: (e) => this.onKey(e),
                        onfocusin: (e) => this.look(e.target),
                        onmouseover: (e) => this.point(e.target.closest('.tile')),
                });
                this.watch = new ResizeObserver(([entry]) => {
                        this.width = entry.contentRect.width;
                        soon(() => this.resize());
                });
                this.watch.observe(this.root);
        }

        close() {
                this.watch.disconnect();
        }

        /* `changed`: keys whose rows are new; null = all may be. True where that was the whole map. */
        draw(rows, query, changed) {
                this.rows = rows;
                if (changed && this.touch(rows, changed))
                        return false;
                this.drawAll(rows, query);
                return true;
        }

        /* Where only rows changed, and stay in their groups, only their tiles are written. */
        touch(rows, changed) {
                if (rows.size !== this.tiles.size || (this.usual && usualGroups(rows) !== this.by))
                        return false;
                for (const key of changed)
                        if (this.groupOf.get(key)?.name !== groupOf(rows.get(key), this.by))
                                return false;
                if (this.colour === 'cost' && JSON.stringify(costRange(rows)) !== JSON.stringify(this.range))
                        return false;
                const groups = new Set();

                for (const key of changed) {
                        this.writeTile(this.tiles.get(key).parentNode, key, rows.get(key));
                        groups.add(this.groupOf.get(key));
                }
                for (const g of groups) {
                        count(g, rows);
                        this.writeGroup(this.sections.get(g.name), g);
                }
                return true;
        }

        /* A tile that goes to another group is made anew there; the keyboard follows it. */
        drawAll(rows, query) {
                const held = this.root.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;

                this.width ||= this.root.clientWidth - 28; // without its padding, and before there is much to lay out
                this.usual = !query.by;
                this.by = query.by || usualGroups(rows);
                this.words = wordsOf(query.q);
                this.colour = query.colour || 'health';
                this.range = costRange(rows);
                this.groups = groupsOf(rows, this.by);
                this.tiles = new Map();
                this.groupOf = new Map();
                this.matching.clear();
                this.sections = keyed(this.root, this.groups, (g) => g.name, () => this.makeGroup(), (el, g) => {
                        this.writeGroup(el, g);
                        const cells = keyed(el.lastChild, g.keys, (key) => key, (key) => this.makeTile(key),
                                (cell, key) => this.writeTile(cell, key, rows.get(key)));

                        for (const [key, cell] of cells) {
                                this.tiles.set(key, cell.firstChild);
                                this.groupOf.set(key, g);
                        }
                });
                this.resize();
                this.mark(this.tiles.has(this.marked) ? this.marked : this.tiles.keys().next().value);
                if (held !== undefined && document.activeElement.dataset.key !== held)
                        this.tiles.get(held)?.focus({ preventScroll: true });
        }

        makeGroup() {
                return h('div', { class: 'map-group', role: 'rowgroup' },
                        h('div', { class: 'map-title', 'aria-hidden': 'true' }, h('span'), h('span', { class: 'faint' })),
                        h('div', { class: 'tiles', role: 'row' }));
        }

        writeGroup(el, g) {
                const { by } = this, of = by.startsWith('label:') ? `label ${by.slice(6)}` : 'region';
                const name = by === 'none' ? 'All clusters' : g.name || `without ${of}`;
                const n = plural(g.keys.length, 'cluster'), ill = g.keys.length - g.well;

                setText(el.firstChild.firstChild, name);
                setText(el.firstChild.lastChild, ill && by !== 'health' ? `${n}, ${ill} not healthy` : n);
                setAttr(el, 'aria-label', `${name}, ${n}`);
                setVar(el, '--n', g.keys.length);
        }

        /* Shape, name and number are drawn from the attributes: a thousand tiles are two thousand elements. */
        makeTile(key) {
                return h('div', { role: 'gridcell' },
                        h('a', { class: 'tile', href: this.link('cluster', key), tabindex: -1, 'data-key': key }));
        }

        writeTile(cell, key, row) {
                const el = cell.firstChild, colour = colourOf(row, this.colour, this.range);

                setAttr(el, 'data-shape', colour.heat === undefined ? shapeOf(colour.tone) : null);
                setAttr(el, 'data-tone', colour.tone || 'plain');
                setAttr(el, 'data-heat', heatWord(colour.heat));
                if (colour.heat >= 0)
                        setVar(el, '--heat', colour.heat.toFixed(2));
                setAttr(el, 'aria-label', tileText(key, row, colour));
                setAttr(cell, 'data-more', row.trouble ? `${row.trouble} ✘` : row.placements || '');
                const fits = matches(key, row, this.words);

                setClass(el, 'match-not', !fits);
                this.matching[fits ? 'add' : 'delete'](key);
        }

        resize() {
                if (!this.groups || this.width <= 0)
                        return;
                const size = sizeFor(this.groups, this.width, Math.max(360, innerHeight - 260));

                setAttr(this.root, 'data-size', size.name);
                setVar(this.root, '--tile', `${size.wide}px`);
                setVar(this.root, '--tile-high', `${size.high}px`);
                setVar(this.root, '--tile-gap', `${size.gap}px`);
        }

        /* ---- pointing and keys ---- */

        mark(key) {
                if (key === undefined)
                        return;
                const old = this.tiles.get(this.marked);

                if (old)
                        setAttr(old, 'tabindex', -1);
                this.marked = key;
                setAttr(this.tiles.get(key), 'tabindex', 0);
        }

        look(target) {
                const key = target.dataset?.key;

                if (key === undefined)
                        return;
                this.mark(key);
                this.onLook(key);
        }

        point(tile) {
                if (tile)
                        this.onLook(tile.dataset.key);
        }

        onKey(e) {
                const to = { ArrowLeft: -1, ArrowRight: 1, Home: 'first', End: 'last', ArrowUp: 'up', ArrowDown: 'down' }[e.key];
                const now = this.tiles.get(this.marked);

                if (!to || !now || e.ctrlKey || e.altKey || e.metaKey)
                        return;
                e.preventDefault();
                const list = [...this.tiles.values()], at = list.indexOf(now);
                const next = to === 'first' ? list[0] : to === 'last' ? list[list.length - 1]
                        : to === 'up' || to === 'down' ? nearest(list, now, to === 'down') : list[at + to];

                next?.focus();
        }
}

/* Of those in the next line below or above, the one that lies closest. */
function nearest(list, from, down) {
        const a = from.getBoundingClientRect();
        let best = null, least = Infinity;

        for (const el of list) {
                const b = el.getBoundingClientRect();
                const away = down ? b.top - a.top : a.top - b.top;

                if (away < a.height / 2)
                        continue;
                const score = away * 1000 + Math.abs(b.left - a.left);

                if (score < least) {
                        least = score;
                        best = el;
                }
        }
        return best;
}
