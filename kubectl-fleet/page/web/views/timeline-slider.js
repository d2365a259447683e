/* The time that is looked at: a slider with a strip of how much happened, steps from entry to entry, play. */

import { h, setAttr, setChildren, setClass, setHidden, setText, svg } from '../dom.js';
import { clock, duration, now, plural } from '../words.js';
import { countUntil, density } from './timeline-past.js';

const SLICES = 160, HIGH = 36;
const SPEEDS = [[1, '1×'], [10, '10×'], [60, '60×'], [600, '600×'], [3600, '3600×']];
const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
export const SPANS = [
        ['10m', 'last 10 minutes', 10 * MINUTE], ['1h', 'last hour', HOUR], ['6h', 'last 6 hours', 6 * HOUR], ['1d', 'last day', DAY],
        ['7d', 'last 7 days', 7 * DAY], ['all', 'all that is known', Infinity],
];
const ENOUGH = 8; // entries, for a span to be worth looking at

/* "14:32:05"; with the day where it is another than today. */
export function timeText(ms) {
        const text = clock(ms);

        return text.slice(0, 10) === clock(now()).slice(0, 10) ? text.slice(11) : text;
}

/* The smallest span that has something to show. */
export function spanFor(entries) {
        const found = SPANS.find(([, , ms]) => entries.length - countUntil(entries, now() - ms) >= ENOUGH);

        return (found || SPANS[SPANS.length - 1])[0];
}

/* ---- the strip ---- */

class Strip {
        constructor(onPick) {
                this.bars = svg('g', { class: 'strip-all' });
                this.bad = svg('g', { class: 'strip-failed' });
                this.cursor = svg('rect', { class: 'strip-later', y: 0, height: HIGH });
                this.root = svg('svg', {
                        class: 'strip', viewBox: `0 0 ${SLICES} ${HIGH}`, preserveAspectRatio: 'none', role: 'img',
                        onclick: (e) => {
                                const box = this.root.getBoundingClientRect();

                                onPick((e.clientX - box.left) / box.width);
                        },
                }, this.bars, this.bad, this.cursor);
                this.all = [...Array(SLICES).keys()].map((x) => [this.rect(this.bars, x), this.rect(this.bad, x)]);
        }

        rect(into, x) {
                const el = svg('rect', { x: x + 0.1, width: 0.8, y: HIGH, height: 0 });

                into.append(el);
                return el;
        }

        /* Few and many can be told apart: heights are of the logarithm. What failed stands out at the foot. */
        draw(entries, from, to) {
                const slices = density(entries, from, to, SLICES);
                const most = Math.max(4, ...slices.map((s) => s.n)), tall = (n) => (n ? HIGH * Math.log1p(n) / Math.log1p(most) : 0);
                let n = 0, failed = 0;

                slices.forEach((s, i) => {
                        const [bar, bad] = this.all[i], high = tall(s.n), red = s.failed ? Math.max(5, high * s.failed / s.n) : 0;

                        this.put(bar, high);
                        this.put(bad, red);
                        n += s.n;
                        failed += s.failed;
                });
                setAttr(this.root, 'aria-label', `${plural(n, 'entry', 'entries')} in this time, ${failed} of something that failed`);
        }

        put(el, high) {
                setAttr(el, 'y', (HIGH - high).toFixed(1));
                setAttr(el, 'height', high.toFixed(1));
        }

        point(share) {
                setAttr(this.cursor, 'x', (share * SLICES).toFixed(2));
                setAttr(this.cursor, 'width', ((1 - share) * SLICES).toFixed(2));
        }
}

/* ---- the slider ---- */

/* onTime(ms or null): another time is looked at; null = now, and goes on with it. onSpan(name). */
export class TimeSlider {
        constructor({ onTime, onSpan }) {
                const button = (name, text, label, onclick) => h('button', { type: 'button', class: `button ${name}`, onclick, 'aria-label': label, title: label }, text);

                Object.assign(this, { onTime, onSpan, entries: [], time: null, from: 0, to: 0, span: 'all', playing: 0 });
                this.strip = new Strip((share) => this.pick(this.from + share * (this.to - this.from)));
                this.range = h('input', {
                        type: 'range', class: 'time-range', 'aria-label': 'Time that is looked at', step: 'any',
                        oninput: () => this.pick(Number(this.range.value)),
                });
                this.begin = h('span'), this.end = h('span');
                this.clock = h('strong', { class: 'time-now' });
                this.age = h('span', { class: 'faint' });
                this.play = button('time-play', '▶', 'Play (space)', () => this.toggle());
                this.back = button('time-back', '‹', 'Previous entry (←)', () => this.step(-1));
                this.on = button('time-on', '›', 'Next entry (→)', () => this.step(1));
                this.speed = h('select', { class: 'time-speed', 'aria-label': 'Speed' }, SPEEDS.map(([value, text]) => h('option', { value }, text)));
                this.speed.value = '60';
                this.live = h('button', { type: 'button', class: 'button time-live', 'aria-pressed': 'true', onclick: () => this.set(null) }, 'Live');
                this.newer = h('span', { class: 'faint', role: 'status' });
                this.spans = h('select', { class: 'time-span', onchange: () => onSpan(this.spans.value) },
                        SPANS.map(([value, text]) => h('option', { value }, text)));
                this.root = h('section', { class: 'panel time', 'aria-label': 'Time' },
                        h('div', { class: 'panel-head toolbar' }, h('span', { class: 'time-buttons' }, this.back, this.play, this.on),
                                this.speed, this.clock, this.age, h('span', { class: 'grow' }), this.newer, this.live,
                                h('label', { class: 'field' }, 'show', this.spans)),
                        h('div', { class: 'time-body' }, this.strip.root, this.range,
                                h('div', { class: 'time-ends faint', 'aria-hidden': 'true' }, this.begin, this.end)));
                this.timer = setInterval(() => this.tick(), 1000);
        }

        close() {
                clearInterval(this.timer);
                this.stop();
        }

        isLive() {
                return this.time === null;
        }

        shown() {
                return this.time ?? now();
        }

        /* ---- what is drawn ---- */

        /* entries: those the filter lets through, in order. */
        draw(entries, span) {
                this.entries = entries;
                if (span !== this.span)
                        this.to = 0;
                this.span = span;
                this.spans.value = span;
                this.lay();
        }

        /* The right end goes with the clock while one looks at now, else it stays. */
        lay() {
                const length = SPANS.find(([name]) => name === this.span)[2];

                if (this.isLive() || !this.to)
                        this.to = Math.max(now(), this.time || 0);
                const first = this.entries.length ? this.entries[0].at : this.to - HOUR;

                this.from = length === Infinity ? Math.min(first, this.to - MINUTE) - (this.to - first) * 0.01 : this.to - length;
                if (this.time !== null && this.time < this.from)
                        this.from = this.time - (this.to - this.time) * 0.02;
                setAttr(this.range, 'min', this.from);
                setAttr(this.range, 'max', this.to);
                setText(this.begin, timeText(this.from));
                setText(this.end, this.isLive() ? 'now' : timeText(this.to));
                this.strip.draw(this.entries, this.from, this.to);
                this.point();
        }

        point() {
                const time = Math.min(this.shown(), this.to);

                this.range.value = String(time);
                this.strip.point((time - this.from) / (this.to - this.from || 1));
                setText(this.clock, this.isLive() ? 'now' : timeText(time));
                setText(this.age, this.isLive() ? '' : `${duration(now() - time)} ago`);
                setAttr(this.live, 'aria-pressed', this.isLive());
                setClass(this.live, 'accent', this.isLive());
                setAttr(this.back, 'aria-disabled', countUntil(this.entries, time - 1) === 0);
                setAttr(this.on, 'aria-disabled', this.isLive());
                const later = this.isLive() ? 0 : this.entries.length - countUntil(this.entries, this.to);

                setText(this.newer, later ? `${later} newer` : '');
        }

        /* For those who hear it: "14:32:05, 12 of 415 clusters not healthy". */
        say(text) {
                setAttr(this.range, 'aria-valuetext', `${this.isLive() ? 'now' : timeText(this.shown())}, ${text}`);
        }

        tick() {
                if (this.isLive())
                        this.lay();
                else if (!this.playing)
                        this.point();
        }

        /* ---- going ---- */

        /* Near the right end is now. */
        pick(time) {
                this.stop();
                this.set(time >= this.to - (this.to - this.from) / 400 && now() - this.to < 5000 ? null : time);
        }

        set(time) {
                const wasLive = this.isLive();

                this.time = time === null || time >= now() ? null : time;
                if (this.isLive())
                        this.stop();
                if (wasLive)
                        this.to = now();
                if (this.isLive() || wasLive || time < this.from || time > this.to)
                        this.lay();
                else
                        this.point();
                this.onTime(this.time);
        }

        /* To the entry before or after; behind the last one is now. */
        step(by) {
                const list = this.entries, time = this.shown();

                this.stop();
                if (by < 0) {
                        const i = countUntil(list, this.isLive() ? time : time - 1);

                        if (i > 0)
                                this.set(list[i - 1].at);
                        return;
                }
                const next = list[countUntil(list, time)];

                if (next && next.at > this.to)
                        this.to = Math.min(now(), next.at + (this.to - this.from) / 10);
                this.set(next ? next.at : null);
        }

        toggle() {
                if (this.playing)
                        this.stop();
                else
                        this.start();
        }

        start() {
                if (this.isLive())
                        this.set(this.from);
                const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
                let last = performance.now(), drawn = 0;
                const frame = (t) => {
                        if (!this.playing)
                                return;
                        this.playing = requestAnimationFrame(frame);
                        if (t - drawn < (still ? 500 : 50))
                                return;
                        const time = this.time + (t - last) * Number(this.speed.value);

                        last = drawn = t;
                        if (time > this.to)
                                this.to = Math.min(now(), time + (this.to - this.from) / 10);
                        this.set(time);
                };

                this.playing = requestAnimationFrame(frame);
                this.drawPlay();
        }

        stop() {
                cancelAnimationFrame(this.playing);
                this.playing = 0;
                this.drawPlay();
        }

        drawPlay() {
                const label = this.playing ? 'Pause (space)' : 'Play (space)';

                setText(this.play, this.playing ? '❚❚' : '▶');
                setAttr(this.play, 'aria-label', label);
                setAttr(this.play, 'title', label);
        }

        /* True where the key was for the slider. */
        key(e) {
                const own = e.target === this.range;
                const typing = !own && e.target.closest?.('input, textarea, select, [contenteditable], dialog');
                const pressed = e.target.closest?.('button, a, summary');

                if (e.defaultPrevented || typing || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey)
                        return;
                const go = {
                        ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
                        ArrowDown: own && (() => this.step(-1)), ArrowUp: own && (() => this.step(1)),
                        Home: () => this.pick(this.from), End: () => this.set(null), ' ': pressed ? null : () => this.toggle(),
                }[e.key];

                if (!go)
                        return;
                e.preventDefault();
                go();
        }
}
