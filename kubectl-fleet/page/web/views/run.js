/* One staged update run as a board: its stages, the gates between them, clusters that move from stage to stage, and
 * what each approval lets happen. */

import { h, setAttr, setChildren, setHidden, setText } from '../dom.js';
import { ago, bar, chip, duration, long, plural, setAgo, setBar, setChip, setFacts } from '../words.js';
import { Board } from './run-board.js';
import { confirmed } from './run-confirm.js';
import { PlanDrawer } from './run-plan.js';

/* ---- the head ---- */

const ACTIONS = {
        stop: {
                title: () => 'Stop', shown: (head) => !head.over && head.can.stop.can,
                asks: (head) => ({ title: `Stop ${head.name}?`, action: 'Stop it', lines: [
                        'Clusters that are being updated are finished, no other is begun, and its gates stay closed.',
                        'It goes on from there when it is resumed.'] }),
        },
        resume: {
                title: (head) => head.asked === 'Initialize' ? 'Start' : 'Resume',
                shown: (head) => !head.over && head.can.resume.can,
                asks: (head) => ({ title: `Let ${head.name} go on?`, action: 'Let it go on', lines: [
                        'Clusters that are not updated yet are, stage by stage.'] }),
        },
        retry: {
                title: () => 'Retry', shown: (head) => head.over,
                asks: (head) => ({ title: `Retry ${head.name}?`, action: 'Retry it', lines: [
                        'A new run brings the same revision by the same stages to the clusters that failed, were skipped or were ' +
                        'not reached.', 'Clusters that were updated are left alone.'] }),
        },
};

class Head {
        constructor(page, args) {
                Object.assign(this, { page, args, busy: false });
                this.name = h('h1');
                this.kind = h('span', { class: 'faint' });
                this.chip = chip('plain', '');
                this.since = ago(0, 'for');
                this.buttons = Object.fromEntries(Object.keys(ACTIONS).map((name) =>
                        [name, h('button', { type: 'button', class: 'button', onclick: () => this.act(name) })]));
                this.why = h('span', { class: 'faint', id: 'run-why' });
                this.message = h('p', { class: 'run-message' });
                this.bar = bar({});
                this.began = ago(0, 'ago');
                this.facts = setFacts(h('dl', { class: 'facts' }), []);
                this.said = h('p', { class: 'said', role: 'status' });
                this.root = h('header', { class: 'stack run-head' },
                        h('div', { class: 'title' }, this.name, this.chip, this.since, h('span', { class: 'grow' }),
                                ...Object.values(this.buttons)),
                        this.message, this.said, this.why, this.facts);
        }

        /* What came of an action, in place. */
        say(tone, ...what) {
                setAttr(this.said, 'role', tone === 'failed' ? 'alert' : 'status');
                setChildren(this.said, what.length ? [chip(tone, tone === 'failed' ? 'not done' : 'done'), ' ', ...what] : null);
        }

        async act(name) {
                const { head } = this;

                if (this.busy || !await confirmed(ACTIONS[name].asks(head)))
                        return;
                this.busy = true;
                this.draw(head);
                try {
                        const done = await this.page.call(name, this.args);

                        this.say('done', done.text, name === 'retry'
                                ? [' ', h('a', { href: this.page.link('run', head.kind, ...(head.ns ? [head.ns] : []), done.name) }, 'To the new run')]
                                : null);
                } catch (e) {
                        this.say('failed', long(e.message, 900));
                }
                this.busy = false;
                this.draw(this.head);
        }

        draw(head) {
                if (head.over && this.head && !this.head.over)
                        this.say('done'); // what was done before has had its effect
                this.head = head;
                setText(this.name, head.ns ? `${head.ns}/${head.name}` : head.name);
                setChip(this.chip, head.tone, head.deleting ? `${head.word}, being deleted` : head.word);
                setAgo(this.since, head.since, head.over ? 'ago' : 'for');
                if (this.told !== head.message)
                        setChildren(this.message, head.message ? long(this.told = head.message) : (this.told = '', null));
                setHidden(this.message, !head.message);
                this.drawButtons(head);
                this.drawFacts(head);
        }

        drawButtons(head) {
                let why = '';

                for (const [name, button] of Object.entries(this.buttons)) {
                        const a = ACTIONS[name], can = head.can[name];

                        setText(button, a.title(head));
                        setHidden(button, !a.shown(head));
                        setAttr(button, 'disabled', this.busy || !can.can);
                        setAttr(button, 'aria-describedby', a.shown(head) && !can.can ? this.why.id : null);
                        if (a.shown(head) && !can.can)
                                why = can.why;
                }
                setText(this.why, why);
                setHidden(this.why, !why);
        }

        drawFacts(head) {
                const { placement: p, retryOf } = head, { link } = this.page;
                const key = JSON.stringify([p, head.revision, head.strategy, retryOf, head.began, head.ended, head.kindName]);

                setBar(this.bar, head.progress);
                setAgo(this.began, head.began);
                if (key === this.factsOf)
                        return;
                this.factsOf = key;
                setFacts(this.facts, [
                        ['Clusters', this.bar],
                        ['Placement', p ? h('a', { href: link('placement', p.kind, ...(p.ns ? [p.ns] : []), p.name) }, p.name) : null],
                        ['Revision', head.revision || 'the latest'],
                        ['Strategy', head.strategy],
                        ['Retry of', retryOf ? h('a', { href: link('run', head.kind, ...(head.ns ? [head.ns] : []), retryOf) }, retryOf) : null],
                        ['Began', head.began ? this.began : null],
                        ['Took', head.began && head.ended ? duration(head.ended - head.began) : null],
                ]);
        }
}

/* ---- what waits for a person ---- */

/* Every gate that can be approved now, in order: { stage, gate, side }. */
function openGates(stages) {
        return stages.flatMap((stage) => ['before', 'after'].flatMap((side) =>
                stage[side].filter((gate) => gate.can).map((gate) => ({ stage, gate, side }))));
}

function waiting(root, open, drawer) {
        const key = JSON.stringify(open.map(({ stage, gate, side }) => [stage.name, gate.request, gate.asked, side]));

        setHidden(root, !open.length);
        if (root.dataset.key === key)
                return;
        root.dataset.key = key;
        setChildren(root, open.map(({ stage, gate, side }) => h('div', { class: 'row waits-for-you' },
                h('span', { class: 'shape', 'data-tone': 'busy', 'aria-hidden': 'true' }, '◐'),
                h('span', { class: 'grow' }, side === 'before' ? 'Before stage ' : 'After stage ', h('strong', stage.name),
                        ' the run waits for your approval ', ago(gate.asked, 'for')),
                h('button', { type: 'button', class: 'button accent', onclick: () => drawer.open(gate.request, gate.plan) },
                        'Look and approve'))));
}

/* ---- the view ---- */

function stagesOf(doc) {
        return [...(doc.parts.stages || new Map())].map(([key, row]) => ({ key, ...row })).sort((a, b) => a.index - b.index);
}

/* What changed, in words for those who hear the page. */
function teller(page) {
        const before = new Map();

        return (key, word, what) => {
                const old = before.get(key);

                before.set(key, word);
                if (old !== undefined && old !== word)
                        page.announce(`${what}: ${word}`);
        };
}

function leftOut(root, head) {
        const list = head.leftOut || [];

        setHidden(root, !list.length);
        setChildren(root, list.length ? h('details', { class: 'notice' },
                h('summary', chip('busy', `${plural(head.leftOutTotal, 'cluster')} left out`)),
                h('ul', list.map((c) => h('li', h('strong', c.cluster), `: ${c.why}`)),
                        head.leftOutTotal > list.length ? h('li', `and ${head.leftOutTotal - list.length} more`) : null)) : null);
}

function show(root, args, page) {
        const head = new Head(page, args);
        const drawer = new PlanDrawer(page, args);
        const board = new Board(page, drawer);
        const open = h('section', { class: 'panel panel-body open-gates', 'aria-label': 'What waits for you' });
        const left = h('div'), note = h('p', { class: 'faint' });
        const tell = teller(page);

        root.append(h('div', { class: 'stack' }, head.root, open, board.root, left, note));
        return {
                update(doc, change) {
                        const stages = stagesOf(doc);

                        head.draw(doc.head);
                        waiting(open, openGates(stages), drawer);
                        board.draw(stages, doc.parts.clusters || new Map(), change);
                        drawer.draw(doc.head, stages, doc.parts.plans || new Map());
                        leftOut(left, doc.head);
                        setText(note, stages.length ? '' : doc.head.planNote);
                        setHidden(note, Boolean(stages.length) || !doc.head.planNote);
                        tell('', doc.head.word, doc.head.name);
                        for (const s of stages)
                                tell(s.key, s.word, `stage ${s.name}`);
                        page.title(`${doc.head.name}: ${doc.head.word}`);
                },
                close() {
                        board.close();
                        drawer.close();
                },
        };
}

function argsOf(parts) {
        const [kind, ...rest] = parts;

        if (kind === 'csur' && rest.length === 1)
                return { kind, name: rest[0] };
        if (kind === 'sur' && rest.length === 2)
                return { kind, ns: rest[0], name: rest[1] };
        throw new Error('a run is named as csur/NAME, or sur/NAMESPACE/NAME');
}

export const view = { name: 'run', args: argsOf, title: (args) => args.name, show };
