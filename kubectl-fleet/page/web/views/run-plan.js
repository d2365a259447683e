/* What an approval lets happen, in a drawer at the side, and the button that approves exactly that. */

import { h, setAttr, setChildren, setHidden, setText } from '../dom.js';
import { chip, long, plural, resource, sides } from '../words.js';
import { confirmed } from './run-confirm.js';

const NAMED = 3;     // clusters of a group that are named before "and 9 more"
const OBJECTS = 100; // of a group, until they are asked for
const COMPARED = 'No plan was made for it: snapshots were compared here. Overrides and what envelopes hold are left out of account.';

const CHANGES = { Added: ['+', 'added', 'done'], Changed: ['~', 'changed', 'busy'], Removed: ['−', 'removed', 'failed'] };

/* ---- what changes ---- */

function fieldRow(f) {
        const side = (v) => f.hidden ? { hidden: true } : v;

        return h('li', h('code', { class: 'path' }, f.path), sides(side(f.from), side(f.to), 'now', 'then'));
}

function objectRow(o) {
        const [sign, word, tone] = CHANGES[o.change] || ['?', o.change, 'plain'];

        return h('li', { class: 'planned' }, h('div', { class: 'row' },
                h('span', { class: 'chip', 'data-tone': tone }, h('span', { class: 'sign', 'aria-hidden': 'true' }, sign), word),
                resource({ kind: o.kind, namespace: o.ns, name: o.name, group: o.group, version: o.version })),
        o.fields.length ? h('ul', { class: 'planned-fields' }, o.fields.map(fieldRow)) : null,
        o.more > 0 ? h('p', { class: 'faint' }, `and ${plural(o.more, 'more field')}`) : null);
}

/* A list that is cut until somebody asks for the rest. */
function cutList(tag, items, most, row, rest) {
        const list = h(tag, items.slice(0, most).map(row));

        if (items.length <= most)
                return list;
        const button = h('button', {
                type: 'button', class: 'more',
                onclick() {
                        list.append(...items.slice(most).map(row));
                        button.remove();
                },
        }, rest(items.length - most));

        return [list, button];
}

function clustersText(names) {
        const shown = names.length > NAMED + 1 ? NAMED : names.length;
        const text = h('span', names.slice(0, shown).join(', '));

        if (shown === names.length)
                return text;
        const button = h('button', {
                type: 'button', class: 'more',
                onclick() {
                        setText(text, names.join(', '));
                        button.remove();
                },
        }, `and ${names.length - shown} more`);

        return [text, ' ', button];
}

/* "1 to add, 2 to change, 0 to remove" */
function counts({ added, changed, removed }) {
        return `${added} to add, ${changed} to change, ${removed} to remove`;
}

function groupRow(g) {
        const nothing = !g.added && !g.changed && !g.removed;

        return h('section', { class: 'plan-group' }, h('h3', clustersText(g.clusters)),
                g.problem ? h('p', chip('failed', 'cannot be told'), ' ', long(g.problem))
                        : h('p', { class: 'faint' }, nothing ? 'no change' : counts(g), g.clusters.length > 1 && !nothing ? ', on each of them' : ''),
                cutList('ul', g.objects, OBJECTS, objectRow, (n) => `${plural(n, 'more object')}`));
}

/* Of all clusters together. */
function totals(plan) {
        const sum = { added: 0, changed: 0, removed: 0, untold: 0 };

        for (const g of plan.groups) {
                for (const what of ['added', 'changed', 'removed'])
                        sum[what] += g[what] * g.clusters.length;
                if (g.problem)
                        sum.untold += g.clusters.length;
        }
        return sum;
}

function short(hash) {
        return hash ? hash.slice(0, 12) : '';
}

function hashLine(hash) {
        return hash ? ['plan ', h('code', { title: hash }, short(hash))] : 'no plan is shown; whatever the run brings is approved';
}

/* ---- the drawer ---- */

/* The gate with that request, as { stage, side, gate }. */
function gateOf(stages, request) {
        for (const stage of stages)
                for (const side of ['before', 'after'])
                        for (const gate of stage[side])
                                if (request && gate.request === request)
                                        return { stage, side, gate };
        return null;
}

export class PlanDrawer {
        constructor(page, args) {
                Object.assign(this, { page, args, request: '', key: '', busy: false, head: null, stages: [], plans: new Map() });
                this.heading = h('h2', { id: 'plan-title', tabindex: -1 });
                this.about = h('div', { class: 'stack plan-about' });
                this.changed = h('p', { class: 'plan-changed', role: 'alert' });
                this.body = h('div', { class: 'plan-body stack', tabindex: 0, role: 'region', 'aria-labelledby': 'plan-title' });
                this.approve = h('button', { type: 'button', class: 'button accent', onclick: () => this.ask() }, 'Approve…');
                this.why = h('span', { class: 'faint grow', id: 'plan-why' });
                this.said = h('p', { class: 'said', role: 'status' });
                this.root = h('dialog', {
                        class: 'drawer', 'aria-labelledby': 'plan-title',
                        onclick: (e) => e.target === this.root && this.root.close(),
                }, h('div', { class: 'drawer-in' },
                        h('div', { class: 'row drawer-head' }, h('div', { class: 'grow' }, this.heading),
                                h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => this.root.close() }, '✕')),
                        this.about, this.changed, this.body,
                        h('div', { class: 'drawer-end' }, this.said, h('div', { class: 'row' }, this.why, this.approve))));
                setAttr(this.approve, 'aria-describedby', 'plan-why');
        }

        /* request: of the gate, '' = only to be looked at. key: of the plan, '' = there is none. */
        open(request, key) {
                Object.assign(this, { request, key, seen: null, drawn: null });
                setChildren(this.said);
                setText(this.changed, '');
                if (!this.root.isConnected)
                        document.body.append(this.root);
                this.redraw();
                this.root.showModal();
                this.heading.focus();
                this.body.scrollTop = 0;
        }

        draw(head, stages, plans) {
                Object.assign(this, { head, stages, plans });
                if (this.root.open)
                        this.redraw();
        }

        redraw() {
                const now = gateOf(this.stages, this.request);

                if (now)
                        this.key = now.gate.plan || this.key;
                this.plan = this.plans.get(this.key);
                this.drawHeading(now);
                this.drawPlan(now);
                this.drawEnd(now);
        }

        stageName(now) {
                return now?.stage.name || this.plan?.stage || '';
        }

        drawHeading(now) {
                setText(this.heading, now ? `${now.side === 'before' ? 'Before' : 'After'} stage ${now.stage.name}` : `Stage ${this.stageName(now)}`);
        }

        /* Somebody looks at it: when it becomes another one, that is said, not slipped in. */
        drawPlan(now) {
                const { plan } = this, drawn = JSON.stringify([plan, this.head?.planNote]);

                if (drawn === this.drawn)
                        return;
                if (this.drawn !== null && this.seen && now?.gate.can)
                        setText(this.changed, 'What it lets happen has changed while you looked. Below is what it is now.');
                this.drawn = drawn;
                this.seen = plan;
                setHidden(this.about, !plan);
                if (!plan) {
                        setChildren(this.body, h('p', { class: 'nothing' }, this.head?.planNote ? `It cannot be told what it lets happen: ${this.head.planNote}`
                                : now?.gate.why === 'its plan is not made yet' ? 'The hub has not made its plan yet.' : 'It changes nothing on any cluster.'));
                        return;
                }
                setChildren(this.about, this.aboutLines(plan));
                setChildren(this.body, plan.groups.length ? plan.groups.map(groupRow) : h('p', { class: 'nothing' }, 'It changes nothing on any cluster.'),
                        plan.omitted > 0 ? h('p', { class: 'faint' }, `${plural(plan.omitted, 'more object')} not listed for want of room; the hash covers them.`) : null);
        }

        aboutLines(plan) {
                const sum = totals(plan);

                return [
                        h('p', h('strong', plural(plan.clusters, 'cluster')), plan.revision ? ` to revision ${plan.revision}` : '', ': in all ', counts(sum),
                                sum.untold ? `; of ${plural(sum.untold, 'cluster')} it cannot be told` : ''),
                        plan.compared ? h('p', { class: 'faint' }, COMPARED)
                                : h('p', { class: 'faint' }, hashLine(plan.hash), plan.approved ? ', approved' : ''),
                ];
        }

        drawEnd(now) {
                const can = Boolean(now?.gate.can);

                setHidden(this.approve, !this.request);
                setAttr(this.approve, 'disabled', this.busy || !can);
                setText(this.approve, this.busy ? 'Approving…' : 'Approve…');
                setText(this.why, can || !this.request ? '' : now ? sentence(now.gate.why) : 'The request is gone.');
        }

        /* ---- approving ---- */

        async ask() {
                const now = gateOf(this.stages, this.request), { plan } = this;
                const hash = plan && !plan.compared ? plan.hash : ''; // of what is shown

                if (!now?.gate.can || this.busy || !await confirmed(this.question(now, plan, hash)))
                        return;
                this.busy = true;
                this.redraw();
                await this.write(hash);
                this.busy = false;
                this.redraw();
        }

        question({ stage, side }, plan, hash) {
                const sum = plan && totals(plan);

                return {
                        title: `Approve ${this.request}?`, action: 'Approve',
                        lines: [
                                side === 'before' ? ['Stage ', h('strong', stage.name), ' begins.'] : ['The run goes on after stage ', h('strong', stage.name), '.'],
                                plan ? [h('strong', plural(plan.clusters, 'cluster')), plan.revision ? ` get revision ${plan.revision}` : ' lose it', ': in all ', counts(sum), '.'] : null,
                                sum?.untold ? `Of ${plural(sum.untold, 'cluster')} it cannot be told what changes.` : null,
                                plan?.compared ? COMPARED : [hash ? 'Approved is exactly this: ' : 'There is ', hashLine(hash), '.'],
                                'What the run has accepted cannot be taken back.',
                        ],
                };
        }

        async write(hash) {
                const kind = this.args.kind === 'sur' ? 'areq' : 'careq';

                try {
                        const done = await this.page.call('approve', { ...this.args, kind, name: this.request, planHash: hash });

                        this.say('done', 'approved', done.text);
                        this.page.announce(done.text);
                } catch (e) {
                        this.say('failed', e.status === 403 ? 'not allowed' : 'not approved', long(e.message, 900));
                }
        }

        say(tone, word, ...what) {
                setAttr(this.said, 'role', tone === 'failed' ? 'alert' : 'status');
                setChildren(this.said, chip(tone, word), ' ', ...what);
        }

        close() {
                this.root.close();
                this.root.remove();
        }
}

function sentence(text) {
        return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : '';
}
