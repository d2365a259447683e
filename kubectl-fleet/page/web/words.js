/* What the page says, in the words and with the parts that the commands use: ages, bars, chips, conditions, values
 * side by side. Each maker has a `set...` that writes only what changed. */

import { h, setAttr, setClass, setText, setVar, setChildren } from './dom.js';

/* ---- tones: colour never tells anything alone, so each has a shape ---- */

const SHAPES = { waits: '○', busy: '◐', done: '✔', failed: '✘', plain: '·' };
const TONES = {
        waits: 'waits', faint: 'waits', ahead: 'waits', skipped: 'waits', unknown: 'waits',
        busy: 'busy', runs: 'busy',
        done: 'done', good: 'done', healthy: 'done',
        failed: 'failed', bad: 'failed',
};

/* Of whatever the server calls it: "waits", "busy", "done", "failed", or "plain". */
export function toneOf(word) {
        return TONES[word] || 'plain';
}

export function shapeOf(tone) {
        return SHAPES[toneOf(tone)];
}

/* Those in trouble first. */
export function toneRank(tone) {
        return { failed: 0, busy: 1, waits: 2, done: 3, plain: 4 }[toneOf(tone)];
}

export function shape(tone) {
        return setShape(h('span', { class: 'shape', 'aria-hidden': 'true' }), tone);
}

export function setShape(el, tone) {
        setAttr(el, 'data-tone', toneOf(tone));
        setText(el, shapeOf(tone));
        return el;
}

/* A shape and a word: "✘ apply failed". */
export function chip(tone, word) {
        return setChip(h('span', { class: 'chip' }, h('span', { class: 'shape', 'aria-hidden': 'true' }), h('span')), tone, word);
}

export function setChip(el, tone, word) {
        setAttr(el, 'data-tone', toneOf(tone));
        setText(el.firstChild, shapeOf(tone));
        setText(el.lastChild, word || '');
        return el;
}

/* ---- numbers ---- */

/* "revision 3"; '' where none is known. */
export function revisionText(revision) {
        return revision === 'several' ? 'several revisions' : revision ? `revision ${revision}` : '';
}

/* plural(2, 'cluster') is "2 clusters"; plural(1, 'replica', 'replicas'); irregular ones are named. */
export function plural(n, one, many) {
        return `${n} ${n === 1 ? one : many || `${one}s`}`;
}

const UNITS = {
        '': 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
        Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

/* The number that a quantity of Kubernetes is ("1500m" is 1.5); NaN for what is none. */
export function quantity(text) {
        const m = /^([+-]?[0-9.]+)([eE][+-]?[0-9]+)?([numkMGTPE]|[KMGTPE]i)?$/.exec(String(text ?? ''));

        return m ? Number(m[1] + (m[2] || '')) * UNITS[m[3] || ''] : NaN;
}

function short(n) {
        return n >= 100 || Number.isInteger(n) ? String(Math.round(n)) : n >= 10 ? n.toFixed(1) : n.toFixed(2).replace(/0$/, '');
}

/* "3.5" of "3500m": cores. */
export function cpu(text) {
        const n = quantity(text);

        return Number.isNaN(n) ? String(text ?? '') : short(n);
}

/* "12.4 GiB" of "13002000Ki". */
export function bytes(text) {
        let n = quantity(text), unit = 0;

        if (Number.isNaN(n))
                return String(text ?? '');
        for (; n >= 1024 && unit < 6; unit++)
                n /= 1024;
        return `${short(n)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'][unit]}`;
}

/* ---- names, filters ---- */

const collator = new Intl.Collator('en', { numeric: true });

/* Names with numbers in them as people count: web-2 before web-10. */
export function compareNames(a, b) {
        return collator.compare(a, b);
}

/* Words of a filter: all of them are to be in a text, in any order, capitals aside. */
export function wordsOf(query) {
        return (query || '').toLowerCase().split(/\s+/).filter(Boolean);
}

export function hasWords(text, words) {
        const lower = words.length ? text.toLowerCase() : '';

        return words.every((w) => lower.includes(w));
}

/* ---- time ---- */

/* As kubectl's AGE and the commands: "5d3h", "2m10s". */
export function duration(ms) {
        const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), hour = Math.floor(m / 60);
        const d = Math.floor(hour / 24), y = Math.floor(d / 365);
        const two = (a, unit, b, rest) => a + unit + (b ? b + rest : '');

        if (s < 120)
                return `${s}s`;
        if (m < 10)
                return two(m, 'm', s % 60, 's');
        if (m < 180)
                return `${m}m`;
        if (hour < 8)
                return two(hour, 'h', m % 60, 'm');
        if (hour < 48)
                return `${hour}h`;
        if (d < 8)
                return two(d, 'd', hour % 24, 'h');
        if (y < 2)
                return `${d}d`;
        return y < 8 ? two(y, 'y', d % 365, 'd') : `${y}y`;
}

let skew = 0; // the server's clock minus ours

export function setServerTime(ms) {
        skew = ms - Date.now();
}

/* The server's clock. */
export function now() {
        return Date.now() + skew;
}

const SAYS = {
        age: (ms) => duration(now() - ms),
        ago: (ms) => `${duration(now() - ms)} ago`,
        for: (ms) => `for ${duration(now() - ms)}`,
        in: (ms) => ms > now() ? `in ${duration(ms - now())}` : 'now',
        left: (ms) => ms > now() ? `another ${duration(ms - now())}` : 'no longer',
};
const times = new WeakMap(); // of elements: { ms, as }
const seen = new Set();      // those that stand in the window now
let ticking = 0;
let watcher = null;

function tell(el) {
        const t = times.get(el);

        setText(el, t.ms ? SAYS[t.as](t.ms) : '');
}

function tick() {
        for (const el of seen)
                if (el.isConnected)
                        tell(el);
                else
                        seen.delete(el);
        if (!seen.size) {
                clearInterval(ticking);
                ticking = 0;
        }
}

function onSeen(entries) {
        for (const { target, isIntersecting } of entries)
                if (isIntersecting) {
                        seen.add(target);
                        tell(target);
                } else {
                        seen.delete(target);
                }
        if (seen.size && !ticking)
                ticking = setInterval(tick, 1000);
}

/* A time that goes on by itself while it can be seen. as: 'ago' ("5m ago"), 'age' ("5m"), 'for' ("for 5m"), 'in'
 * ("in 5m"), 'left' ("another 5m"). 0 or nothing shows nothing. */
export function ago(ms, as = 'ago') {
        const el = h('time', { class: 'age' });

        watcher ||= new IntersectionObserver(onSeen, { rootMargin: '100px' });
        setAgo(el, ms, as);
        watcher.observe(el);
        return el;
}

export function setAgo(el, ms, as) {
        const t = times.get(el);

        if (t && t.ms === ms && (!as || t.as === as))
                return el;
        times.set(el, { ms: ms || 0, as: as || t.as });
        setAttr(el, 'datetime', ms ? new Date(ms).toISOString() : null);
        setAttr(el, 'title', ms ? clock(ms) : null);
        tell(el);
        return el;
}

/* "2026-11-27 19:40:02", where the reader is. */
export function clock(ms) {
        const d = new Date(ms), two = (n) => String(n).padStart(2, '0');

        return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
                `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/* ---- bars ---- */

/* How many of `total` are how far, as the commands draw it: { done, busy, failed, total }; the rest waits. `what`:
 * plural of what is counted, for those who hear it. */
export function bar(progress, what = 'clusters') {
        const part = (name) => h('i', { 'data-part': name });

        return setBar(h('span', { class: 'bar', role: 'img', data: { what } },
                h('span', { class: 'bar-parts', 'aria-hidden': 'true' }, part('done'), part('busy'), part('failed')),
                h('span', { class: 'bar-count', 'aria-hidden': 'true' })), progress);
}

export function setBar(el, progress) {
        const p = { done: 0, busy: 0, failed: 0, total: 0, ...progress };
        const waits = Math.max(0, p.total - p.done - p.busy - p.failed);
        const parts = el.firstChild;

        for (const part of parts.children)
                setVar(part, '--n', p[part.dataset.part]);
        setVar(parts, '--waits', waits);
        setClass(parts, 'empty', p.total === 0);
        setText(el.lastChild, `${p.done}/${p.total}`);
        setAttr(el, 'aria-label', `${p.done} of ${p.total} ${el.dataset.what} done` + (p.busy ? `, ${p.busy} under way` : '') +
                (p.failed ? `, ${p.failed} failed` : '') + (waits ? `, ${waits} waiting` : ''));
        return el;
}

/* How much of something is used: 0 to 1, NaN = not known. */
export function meter(share, text) {
        return setMeter(h('span', { class: 'meter' }, h('span', { class: 'meter-track', 'aria-hidden': 'true' }, h('i')),
                h('span', { class: 'meter-text' })), share, text);
}

export function setMeter(el, share, text) {
        setVar(el.firstChild.firstChild, '--share', Number.isNaN(share) ? 0 : Math.min(1, Math.max(0, share)));
        setAttr(el, 'data-tone', share > 0.95 ? 'failed' : share > 0.8 ? 'busy' : 'plain');
        setText(el.lastChild, text);
        return el;
}

/* ---- objects ---- */

/* "Deployment web/nginx". */
export function resourceText(id) {
        return `${id.kind || ''} ${id.namespace ? `${id.namespace}/` : ''}${id.name || ''}`.trim();
}

export function resource(id) {
        return h('span', { class: 'resource', title: [id.group, id.version].filter(Boolean).join('/') || null },
                h('span', { class: 'kind' }, id.kind || ''), ' ', id.namespace ? `${id.namespace}/` : '',
                h('span', { class: 'name' }, id.name || ''));
}

/* "crp/web", "rp/team/api": keys and links of placements; of runs "csur/r", "sur/team/r". */
export function keyOf(kind, namespace, name) {
        return namespace ? `${kind}/${namespace}/${name}` : `${kind}/${name}`;
}

const KINDS = {
        crp: 'ClusterResourcePlacement', rp: 'ResourcePlacement', csur: 'ClusterStagedUpdateRun', sur: 'StagedUpdateRun',
};

/* { short, kind, namespace, name, path } of such a key; `path` is "team/api". */
export function ofKey(key) {
        const [short_, ...rest] = key.split('/');

        return {
                short: short_, kind: KINDS[short_] || short_, name: rest[rest.length - 1] || '',
                namespace: rest.length > 1 ? rest[0] : '', path: rest.join('/'),
        };
}

/* The arguments of a view of one placement, from the parts of its link. */
export function placementArgs([kind, ...path]) {
        if (kind !== 'crp' && kind !== 'rp')
                throw new Error('it begins with crp or rp');
        if (path.length !== (kind === 'rp' ? 2 : 1))
                throw new Error(kind === 'rp' ? 'it names a namespace and a placement' : 'it names one placement');
        return kind === 'rp' ? { kind, ns: path[0], name: path[1] } : { kind, name: path[0] };
}

/* Of a placement's row: "drifted on 2, differs on 1". */
export function apartText(row) {
        return [row.drifted ? `drifted on ${row.drifted}` : '', row.differing ? `differs on ${row.differing}` : '']
                .filter(Boolean).join(', ');
}

/* ---- text that may be long ---- */

const LONG = 240;

/* As it is; what is long is cut and opens. Line breaks stay. */
export function long(text, limit = LONG) {
        const t = String(text ?? '');

        if (t.length <= limit && t.split('\n').length <= 6)
                return h('span', { class: 'text' }, t);
        const cut = t.slice(0, limit).split('\n').slice(0, 6).join('\n');
        const size = t.length > 10000 ? `${Math.round(t.length / 1000)} KB` : `${t.length} characters`;
        const body = h('span', { class: 'text' }, `${cut}…`);
        const button = h('button', {
                type: 'button', class: 'more', 'aria-expanded': 'false',
                onclick() {
                        const open = button.getAttribute('aria-expanded') === 'true';

                        setAttr(button, 'aria-expanded', !open);
                        setText(body, open ? `${cut}…` : t);
                        setText(button, open ? `all ${size}` : 'less');
                },
        }, `all ${size}`);

        return h('span', { class: 'long' }, body, ' ', button);
}

/* A value of an object: text as it is, all else as JSON; a faint word for what is not there or not shown. */
export function value(v) {
        if (v === undefined || v === null)
                return h('span', { class: 'faint' }, 'not there');
        if (v && typeof v === 'object' && v.hidden)
                return h('span', { class: 'faint' }, 'not shown');
        return h('code', { class: 'value' }, long(typeof v === 'string' ? v : JSON.stringify(v, null, 1)));
}

/* Both values of a field that differs, side by side, one above the other where it is narrow. left, right: the words
 * for the two, "hub" and "member". */
export function sides(a, b, left = 'hub', right = 'member') {
        return h('div', { class: 'sides' },
                h('div', { class: 'side side-a' }, h('span', { class: 'side-word' }, left), value(a)),
                h('div', { class: 'side side-b' }, h('span', { class: 'side-word' }, right), value(b)));
}

/* { path, hub, member } lines of an object. */
export function differences(list, left, right) {
        return h('div', { class: 'differences' }, list.map((d) =>
                h('div', { class: 'difference' }, h('code', { class: 'path' }, d.path), sides(d.hub, d.member, left, right))));
}

const STATUS = { True: 'done', False: 'failed', Unknown: 'waits' };

/* One line: "✘ Applied  ManifestApplyFailed: no such namespace  for 5m". */
export function condition(c) {
        return h('div', { class: 'condition' }, chip(STATUS[c.status] || 'plain', c.type),
                h('span', { class: 'faint sr-only' }, ` is ${c.status}`),
                c.reason ? h('span', { class: 'reason' }, c.message ? `${c.reason}:` : c.reason) : null,
                c.message ? long(c.message) : null,
                c.since || c.lastTransition ? ago(c.since || c.lastTransition, 'for') : null);
}

/* What is to be typed, with a button that copies it. */
export function command(text) {
        const button = h('button', {
                type: 'button', class: 'copy',
                onclick() {
                        navigator.clipboard?.writeText(text).then(() => setText(button, 'copied'),
                                () => setText(button, 'select and copy it'));
                        setTimeout(() => setText(button, 'copy'), 2000);
                },
        }, 'copy');

        return h('div', { class: 'command' }, h('code', text), button);
}

/* A list of facts: [['Agent', 'v1'], ['Heard of', ago(ms)]]; entries whose value is null, undefined or '' are left out. */
export function facts(list) {
        return setFacts(h('dl', { class: 'facts' }), list);
}

export function setFacts(el, list) {
        setChildren(el, list.filter(([, v]) => v !== null && v !== undefined && v !== '').map(([name, v]) =>
                h('div', h('dt', name), h('dd', v))));
        return el;
}

/* A place where nothing is, and why. */
export function nothing(text, ...more) {
        return h('p', { class: 'nothing' }, text, ...more);
}
