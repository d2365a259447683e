/* What becomes of the objects of a placement on one cluster: each step of each object, before and after. */

import { h, keyed, setChildren, setHidden, setText } from '../dom.js';
import { chip, condition, long, nothing, plural, resource, value } from '../words.js';
import { cutNote, moreButton, objectLink, setMore } from './steps.js';

const OBJECTS = 20; // that are shown at once

function side(word, field, v) {
        return h('td', { 'data-label': word }, value(field.hidden ? { hidden: true } : v));
}

function fieldTable(fields) {
        return h('table', { class: 'fields' }, h('thead', h('tr', ['field', 'before', 'after'].map((t) => h('th', { scope: 'col' }, t)))),
                h('tbody', fields.map((f) => h('tr', h('th', { scope: 'row' }, h('code', f.path)), side('before', f, f.from), side('after', f, f.to)))));
}

function outcome(step) {
        if (step.error !== undefined)
                return h('div', { class: 'condition' }, chip('failed', 'failed'), long(step.error), cutNote(step, 'error'));
        if (step.dropped)
                return h('p', 'The object is left out on this cluster.');
        return [
                step.fields.length ? fieldTable(step.fields) : step.fieldsLeft ? null : h('p', { class: 'faint' }, 'It changes nothing: the object is like that already.'),
                step.fieldsLeft ? h('p', { class: 'faint' }, `${plural(step.fieldsLeft, 'more field')} changed and ${step.fieldsLeft === 1 ? 'is' : 'are'} not shown.`) : null,
        ];
}

function stepItem(step, override) {
        return h('li', { class: 'override-step' }, h('p', h('span', { class: 'name' }, override ? override.override.name : step.key), ` rule ${step.rule + 1}`,
                override?.rules[step.rule] ? h('span', { class: 'faint' }, ` on ${override.rules[step.rule].where}`) : null), outcome(step));
}

export class OverrideObjects {
        constructor(page, view) {
                Object.assign(this, { page, view, cluster: null, opened: null, doc: null, asked: '', all: false, goThere: false });
                this.title = h('h2');
                this.told = h('div', { class: 'panel-body stack tight' });
                this.list = h('ul', { class: 'override-objects' });
                this.more = moreButton(() => {
                        this.all = !this.all;
                        this.draw();
                });
                this.rest = h('p', { class: 'panel-body faint' });
                this.root = h('section', { class: 'panel', 'aria-label': 'Objects' }, this.title, this.told, this.list, this.more, this.rest);
                setHidden(this.root, true);
        }

        /* Objects of that cluster, '' = whichever the server takes first. */
        look(cluster, go = false) {
                if (cluster === this.cluster)
                        return;
                const { kind, ns, name } = this.view.args;

                this.opened?.close();
                Object.assign(this, { cluster, all: false, goThere: go });
                this.opened = this.page.open('overrides', { kind, ...ns ? { ns } : {}, name, part: 'objects', ...cluster ? { cluster } : {} }, (doc) => {
                        this.doc = doc;
                        this.asked = doc.head?.asked || '';
                        this.draw();
                        this.view.clusters.mark();
                        this.arrive();
                });
        }

        /* What was picked is seen, where the window is narrow, too, and heard. */
        arrive() {
                if (!this.goThere)
                        return;
                this.goThere = false;
                const { top } = this.root.getBoundingClientRect();

                if (top < 48 || top > innerHeight * 0.7)
                        this.root.scrollIntoView({ block: 'start' });
                this.page.announce(`${this.title.textContent}: ${plural(this.objects().length, 'object')} changed`);
        }

        objects() {
                return [...this.doc.parts.objects || []].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
        }

        draw() {
                const { doc } = this, row = this.view.part('clusters').get(this.asked);

                setHidden(this.root, !doc || !this.asked);
                if (!doc?.head || !this.asked)
                        return;
                const objects = this.objects(), shown = this.all ? objects : objects.slice(0, OBJECTS);

                setText(this.title, `Objects on ${this.asked}${doc.head.revision === undefined ? '' : `, revision ${doc.head.revision}`}`);
                const rendered = doc.parts.rendered?.get(this.asked);

                setChildren(this.told, this.notes(doc.head, row, objects, rendered));
                keyed(this.list, shown, ([key]) => key, () => h('li', { class: 'override-object' }), (el, [, o]) => this.write(el, o));
                setMore(this.more, shown.length, objects.length, 'object', this.all && objects.length > OBJECTS);
                this.drawRest(rendered);
        }

        notes(head, row, objects, rendered) {
                return [
                        head.askedNot ? chip('failed', 'the placement is not on this cluster') : null,
                        head.askedGone ? chip('failed', 'it is no member of the fleet any more') : null,
                        row?.told ? h('div', condition(row.told), cutNote(row.told, 'message')) : null,
                        objects.length || !rendered ? null : rendered.objects ? nothing('Nothing is changed here: all objects are as the hub has them.')
                                : nothing(head.revision === undefined ? 'Nothing is rolled out here yet.' : 'The hub has no objects of this revision any more.'),
                ];
        }

        /* Opened values stay open where nothing is new. */
        write(el, o) {
                const overrides = o.steps.map((s) => this.view.override(s.key)), text = JSON.stringify([o, overrides.map((x, i) => x?.rules[o.steps[i].rule]?.where)]);

                if (el.drawn === text)
                        return;
                el.drawn = text;
                setChildren(el, h('h3', h('a', { href: objectLink(this.page, this.view.key, o) }, resource(o)),
                        o.envelope ? h('span', { class: 'faint' }, ` in ${o.envelope.kind} ${o.envelope.name}`) : null),
                h('ol', o.steps.map((s, i) => stepItem(s, overrides[i]))),
                o.stepsLeft ? h('p', { class: 'faint' }, `${plural(o.stepsLeft, 'more step')} not shown.`) : null,
                o.error === undefined ? null : h('div', { class: 'condition' }, chip('failed', 'all of them together fail'), long(o.error), cutNote(o, 'error')));
        }

        drawRest(r) {
                const parts = !r ? [] : [
                        r.untouched && r.touched ? `${plural(r.untouched, 'object')} ${r.untouched === 1 ? 'is' : 'are'} as the hub has ${r.untouched === 1 ? 'it' : 'them'}.` : '',
                        r.leftOut ? `${plural(r.leftOut, 'object')} not looked at: there is too much to render.` : '',
                        r.unread ? `${plural(r.unread, 'object')} could not be read.` : '',
                ].filter(Boolean);

                setText(this.rest, parts.join(' '));
                setHidden(this.rest, !parts.length);
        }

        close() {
                this.opened?.close();
        }
}
