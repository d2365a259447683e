/* What happened, to be run back and forth: a slider of time, how everything was then, and what had happened until then. */

import { h, keyed, setAttr, setChildren, setClass, setHidden, setText, soon, virtual } from '../dom.js';
import { filterField, writeFilter } from '../table.js';
import { chip, compareNames, hasWords, long, nothing, now, plural, revisionText, setChip, shape, toneRank, wordsOf } from '../words.js';
import { FleetMap } from './fleet-map.js';
import { Past, countStates, countUntil, subjectOf, viewOf, wordOf, wordsOfEntry } from './timeline-past.js';
import { TimeSlider, spanFor, timeText } from './timeline-slider.js';

const STANDINGS = 14, FEW = 4; // placements and runs that are shown by name; in narrow windows what happened comes below them

/* ---- what an entry says ---- */

function textOf(e) {
        const words = wordsOfEntry(e);

        return [subjectOf(e.of).noun, e.of, words.what, words.before, words.after, e.text || ''].join(' ');
}

function sayEntry(e) {
        const { noun, name } = subjectOf(e.of), words = wordsOfEntry(e);

        return `${noun} ${name} ${words.what} ${words.before ? `${words.before}, then ` : ''}${words.after}`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

/* ---- the filter ---- */

const KINDS = [['', 'all'], ['cluster', 'clusters'], ['placement', 'placements'], ['run', 'update runs'], ['approval', 'approvals']];
const TONES = [['', 'everything'], ['failed', 'failures'], ['busy', 'under way'], ['done', 'what went well']];

class Filter {
        constructor(page) {
                const choose = (name, list) => h('select', { onchange: (e) => page.state({ [name]: e.target.value }) },
                        list.map(([value, text]) => h('option', { value }, text)));

                this.page = page;
                this.text = filterField(page, 'Filter of entries');
                this.kind = choose('kind', KINDS);
                this.tone = choose('tone', TONES);
                this.count = h('span', { class: 'faint', role: 'status' });
                this.root = h('div', { class: 'panel-head toolbar' }, h('h2', 'What happened'), this.count, this.text,
                        h('label', { class: 'field' }, 'of', this.kind), h('label', { class: 'field' }, 'only', this.tone));
        }

        draw() {
                const { query } = this.page;

                writeFilter(this.text, query);
                this.kind.value = query.kind || '';
                this.tone.value = query.tone || '';
        }

        apply(entries) {
                const { q, kind, tone } = this.page.query, words = wordsOf(q);

                if (!words.length && !kind && !tone)
                        return entries;
                return entries.filter((e) => (!kind || subjectOf(e.of).kind === kind) && (!tone || e.tone === tone) &&
                        hasWords(textOf(e), words));
        }
}

/* ---- the entries ---- */

class Entries {
        constructor(page, past) {
                this.page = page;
                this.past = past;
                this.list = h('ol', { class: 'entries', 'aria-label': 'Entries until then, the newest first' });
                this.none = h('p', { class: 'nothing panel-body' });
                this.virtual = virtual(this.list, {
                        key: (item) => item.key, make: (item) => item.day ? this.makeDay() : this.makeEntry(),
                        update: (el, item) => item.day ? setText(el.firstChild, item.day) : this.write(el, item),
                });
                this.root = h('div', this.list, this.none);
        }

        close() {
                this.virtual.close();
        }

        makeDay() {
                return h('li', { class: 'entry entry-day' }, h('h3'));
        }

        makeEntry() {
                return h('li', { class: 'entry' }, h('time'), h('span', { class: 'entry-of' }), h('span', { class: 'entry-words' },
                        h('span', { class: 'faint' }), chip('plain', ''), h('span', { class: 'faint', 'aria-hidden': 'true' }, '→'),
                        h('span', { class: 'sr-only' }, ' then '), chip('plain', '')), h('span', { class: 'entry-text faint' }));
        }

        write(el, { entry: e, minute }) {
                const [time, of, line, text] = el.children, [what, before, arrow, then, after] = line.children;
                const { noun, name } = subjectOf(e.of), words = wordsOfEntry(e);
                const to = viewOf(e.of, this.past.subjects.get(e.of)?.of);

                setText(time, CLOCK.format(e.at));
                setAttr(time, 'datetime', new Date(e.at).toISOString());
                setAttr(time, 'title', e.told ? 'told by the object, not seen by this page' : null);
                setClass(time, 'same-minute', !minute);
                if (el.dataset.of !== e.of) {
                        el.dataset.of = e.of;
                        setChildren(of, h('span', { class: 'kind' }, `${noun} `), to ? h('a', { href: this.page.link(...to) }, name) : name);
                        setAttr(of, 'title', `${noun} ${name}`);
                }
                setText(what, words.what);
                for (const part of [before, arrow, then])
                        setHidden(part, !words.before);
                setChip(before, words.beforeTone, words.before);
                setChip(after, words.tone, words.after);
                setText(text, [e.text, e.told ? '(told)' : ''].filter(Boolean).join(' '));
                setAttr(text, 'title', e.text || null);
        }

        /* entries: in order; those until `time` are shown. changed: keys; null = all may be. */
        draw(entries, time, changed) {
                const items = [], n = countUntil(entries, time);
                let day = '', minute = 0;

                for (let i = n - 1; i >= 0; i--) {
                        const e = entries[i], d = DAY.format(e.at), m = Math.floor(e.at / 60000);

                        if (d !== day)
                                items.push({ key: `day ${d}`, day: d });
                        items.push({ key: e.key, entry: e, minute: d !== day || m !== minute });
                        day = d;
                        minute = m;
                }
                this.virtual.show(items, changed);
                setHidden(this.list, !items.length);
                setHidden(this.none, items.length > 0);
                setText(this.none, entries.length ? 'Nothing until then.' : 'Nothing like that is known.');
        }
}

/* ---- how it was ---- */

function part(tone, text) {
        return h('span', shape(tone), text);
}

/* "2 of 12 clusters not healthy; 1 of 7 placements in trouble; 1 run under way." */
function sentenceOf(counts) {
        const { cluster: c, placement: p, run: r, approval: a } = counts;
        const ill = c.failed, list = [];

        if (c.total)
                list.push(ill ? ['failed', `${ill} of ${plural(c.total, 'cluster')} not healthy`]
                        : ['done', `${c.done} of ${plural(c.total, 'cluster')} healthy`]);
        if (p.total)
                list.push(p.failed ? ['failed', `${p.failed} of ${plural(p.total, 'placement')} in trouble`]
                        : p.busy ? ['busy', `${p.busy} of ${plural(p.total, 'placement')} under way`]
                                : ['done', `${p.done} of ${plural(p.total, 'placement')} well`]);
        if (r.failed)
                list.push(['failed', `${plural(r.failed, 'run')} failed`]);
        if (r.busy)
                list.push(['busy', `${plural(r.busy, 'run')} under way`]);
        if (a.busy)
                list.push(['busy', `${plural(a.busy, 'approval')} asked for`]);
        return list;
}

class Standings {
        constructor(page, past, kind, title) {
                this.page = page;
                this.past = past;
                this.kind = kind;
                this.head = h('h2');
                this.title = title;
                this.list = h('ul', { class: 'standings' });
                this.rest = h('p', { class: 'panel-body faint' });
                this.root = h('section', { class: 'panel' }, this.head, this.list, this.rest);
        }

        draw(states) {
                const all = [...states].filter(([key]) => subjectOf(key).kind === this.kind);
                const most = innerWidth <= 960 ? FEW : STANDINGS;

                all.sort(([a, x], [b, y]) => toneRank(wordOf(x)[0]) - toneRank(wordOf(y)[0]) || compareNames(a, b));
                setHidden(this.root, !all.length);
                setText(this.head, `${this.title} ${all.length}`);
                keyed(this.list, all.slice(0, most), ([key]) => key, ([key]) => this.make(key), (el, [, s]) => this.write(el, s));
                setHidden(this.rest, all.length <= most);
                setText(this.rest, `and ${all.length - most} more`);
        }

        make(key) {
                const to = viewOf(key, this.past.subjects.get(key)?.of), { name } = subjectOf(key);

                return h('li', to ? h('a', { href: this.page.link(...to) }, name) : h('span', name), chip('plain', ''), h('span', { class: 'faint' }));
        }

        write(el, s) {
                setChip(el.children[1], ...wordOf(s));
                setText(el.children[2], [s.stage, s.progress, revisionText(s.revision)].filter(Boolean).join(', '));
        }
}

/* Rows as the map of the fleet has them; those that are as they were are the same objects. */
function clustersOf(states, before) {
        const rows = new Map(), changed = new Set();

        for (const [key, state] of states) {
                const { kind, name } = subjectOf(key);

                if (kind !== 'cluster')
                        continue;
                const [standing, word] = wordOf(state), cordoned = state.cordon === 'cordoned', old = before.get(name);
                const same = old && old.standing === standing && old.word === word && old.cordoned === cordoned;

                rows.set(name, same ? old : { standing, word, cordoned });
                if (!same)
                        changed.add(name);
        }
        return [rows, changed];
}

class AsItWas {
        constructor(page, past) {
                this.rows = new Map();
                this.when = h('h2');
                this.line = h('p', { class: 'then-line' });
                this.looked = h('p', { class: 'faint then-looked' });
                this.map = new FleetMap({ link: page.link, onLook: (key) => this.look(key) });
                this.mapPart = h('section', { class: 'panel then-map', 'aria-label': 'Clusters as they were' },
                        h('h2', 'Clusters'), this.map.root, this.looked);
                this.lists = [new Standings(page, past, 'placement', 'Placements'), new Standings(page, past, 'run', 'Update runs'),
                        new Standings(page, past, 'approval', 'Approvals')];
                this.last = h('div', { class: 'then-last' });
                this.root = h('div', { class: 'stack then' }, h('section', { class: 'panel', 'aria-label': 'As it was' }, this.when,
                        h('div', { class: 'panel-body stack tight' }, this.line, this.last)), this.mapPart, this.lists.map((l) => l.root));
                this.look(null);
        }

        close() {
                this.map.close();
        }

        look(key) {
                const row = this.rows.get(key);

                this.looked_ = key;
                setText(this.looked, row ? `${key}: ${row.word}${row.cordoned ? ', cordoned' : ''}` : 'Point at a cluster.');
        }

        /* Returns the words of it. */
        draw(states, time, live, latest) {
                const list = sentenceOf(countStates(states));
                const [rows, changed] = clustersOf(states, this.rows);

                this.rows = rows;
                setText(this.when, live ? 'As it is now' : `As it was at ${timeText(time)}`);
                setChildren(this.line, list.length ? list.flatMap(([tone, text], i) => [i ? '; ' : '', part(tone, text)]).concat('.')
                        : nothing('Nothing is known of then.'));
                setHidden(this.mapPart, !rows.size);
                if (rows.size)
                        this.map.draw(rows, { by: 'none' }, changed);
                this.look(this.looked_);
                for (const l of this.lists)
                        l.draw(states);
                this.drawLatest(latest);
                return list.map(([, text]) => text).join(', ') || 'nothing is known';
        }

        drawLatest(e) {
                if (this.lastKey === e?.key && this.lastIs === e?.is)
                        return;
                this.lastKey = e?.key;
                this.lastIs = e?.is;
                setChildren(this.last, e ? [h('span', { class: 'faint' }, `${timeText(e.at)} `), sayEntry(e), e.text ? ': ' : '',
                        e.text ? long(e.text) : null] : null);
        }
}

/* ---- what is not there ---- */

function notesOf(head) {
        return [
                head.from ? `From ${timeText(head.from)} on: ${plural(head.dropped, 'older entry', 'older entries')} had to go.` : '',
                head.lost ? `${plural(head.lost, 'entry', 'entries')} could not be kept.` : '',
                `This page looks on since ${timeText(head.began)}; what was before is told from the objects themselves.`,
        ].filter(Boolean).join(' ');
}

/* ---- the view ---- */

const SAVE_MS = 400; // until the link has the time that is looked at

function show(root, args, page) {
        const past = new Past(), filter = new Filter(page), entries = new Entries(page, past), was = new AsItWas(page, past);
        const note = h('p', { class: 'faint timeline-note' });
        let shown = [], doc = null, saving = 0, span = null;
        const slider = new TimeSlider({ onTime: () => went(), onSpan: (name) => page.state({ span: name }) });
        const keys = (e) => !document.querySelector('dialog[open]') && slider.key(e);

        const went = () => {
                soon(drawTime);
                clearTimeout(saving);
                saving = setTimeout(() => {
                        saving = 0;
                        if (location.hash.startsWith(page.link('timeline'))) // one may be about to leave
                                page.state({ t: slider.isLive() ? '' : Math.round(slider.shown()) });
                }, SAVE_MS);
        };
        const drawTime = () => draw(new Set());
        const draw = (changed) => {
                const time = slider.isLive() ? Infinity : slider.shown();
                const n = countUntil(shown, time);

                slider.say(was.draw(past.at(time), slider.shown(), slider.isLive(), shown[n - 1]));
                entries.draw(shown, time, changed);
                setText(filter.count, n === past.entries.length ? plural(n, 'entry', 'entries') : `${n} of ${plural(past.entries.length, 'entry', 'entries')}`);
        };
        const refilter = () => {
                shown = filter.apply(past.entries);
                slider.draw(shown, page.query.span || (span ||= spanFor(shown)));
        };

        root.append(h('h1', { tabindex: -1, class: args.of ? '' : 'sr-only' }, args.of ? `Timeline of ${subjectOf(args.of).noun} ${subjectOf(args.of).name}` : 'Timeline'),
                h('div', { class: 'stack' }, slider.root, h('div', { class: 'columns' }, was.root,
                        h('section', { class: 'panel', 'aria-label': 'Entries' }, filter.root, entries.root)), note));
        document.addEventListener('keydown', keys);

        return {
                update(d, change) {
                        const touched = new Set([...(change.rows.entries || []), ...(change.gone.entries || [])]);
                        const before = past.entries.length;

                        doc = d;
                        past.take(d, change.first ? null : touched);
                        filter.draw();
                        if (change.first && page.query.t && slider.isLive())
                                slider.time = Math.min(Number(page.query.t), now()) || null;
                        refilter();
                        draw(change.first ? null : touched);
                        setText(note, notesOf(d.head));
                        if (!change.first && before && touched.size && slider.isLive() && touched.size < 4)
                                for (const e of shown.slice(-touched.size))
                                        page.announce(sayEntry(e));
                },
                moved(query) {
                        const t = Number(query.t) || null;

                        if (!doc)
                                return;
                        if (t !== (slider.isLive() ? null : Math.round(slider.shown())) && !slider.playing && !saving)
                                slider.set(t);
                        filter.draw();
                        refilter();
                        soon(() => draw(null));
                },
                close() {
                        document.removeEventListener('keydown', keys);
                        clearTimeout(saving);
                        slider.close();
                        entries.close();
                        was.close();
                },
        };
}

function argsOf(parts, query) {
        return query.of ? { of: query.of } : {};
}

export const view = {
        name: 'timeline', args: argsOf, show,
        title: (args) => args.of ? `Timeline of ${subjectOf(args.of).name}` : 'Timeline',
};
