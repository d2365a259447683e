/* A policy that is tried out: an editor, and a second document of the same view with its text. What is typed stays in the
 * window's storage, never in a link, and nothing is written to the hub. */

import { h, setAttr, setClass, setHidden, setText } from '../dom.js';
import { command, plural } from '../words.js';

const PAUSE = 450;          // ms after the last key
const BYTES_MAX = 64 << 10; // that the server takes

function stored(key) {
        try {
                return sessionStorage.getItem(key);
        } catch {
                return null; // a browser that keeps nothing
        }
}

function store(key, text) {
        try {
                if (text === null)
                        sessionStorage.removeItem(key);
                else
                        sessionStorage.setItem(key, text);
        } catch { /* it is lost with the page, then */ }
}

/* "3 clusters would join, 1 would leave, 7 would stay". */
export function changesText(c) {
        return c.joins || c.leaves ? `${plural(c.joins, 'cluster')} would join, ${c.leaves} would leave, ${c.stays} would stay`
                : `nothing would change: ${plural(c.stays, 'cluster')} would stay`;
}

/* onResult(doc): that of the policy which is tried out; null: the one of now again. */
export class PolicyTry {
        constructor(page, args, key, onResult) {
                Object.assign(this, { page, args, onResult, key: `argosy.policy.${key}`, base: null, opened: null, sent: null, timer: 0, doc: null });
                this.text = h('textarea', {
                        class: 'editor', id: 'policy', rows: 14, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off',
                        'aria-describedby': 'policy-says', oninput: () => this.typed(), onkeydown: (e) => this.onKey(e),
                });
                this.says = h('p', { class: 'try-says', id: 'policy-says' });
                this.refused = h('p', { class: 'try-refused' });
                this.goTo = h('button', { type: 'button', class: 'more', onclick: () => this.toMistake() });
                this.reset = h('button', { type: 'button', class: 'button', onclick: () => this.back() }, 'Reset');
                this.root = h('details', { class: 'panel policy-try' }, h('summary', { class: 'panel-head' }, h('h2', 'Try another policy')),
                        h('form', { class: 'panel-body stack tight', onsubmit: (e) => { e.preventDefault(); this.send(); } },
                                h('label', { for: 'policy' }, 'spec.policy, as YAML or JSON. Nothing is written to the hub.'), this.text,
                                h('div', { class: 'row' }, h('button', { class: 'button accent', title: 'Ctrl+Enter' }, 'Try'), this.reset, this.goTo),
                                this.says, this.refused,
                                h('p', { class: 'faint' }, 'On a command line, with the whole placement in a file:'), command('kubectl fleet why -f placement.yaml')));
                this.root.open = matchMedia('(min-width: 961px)').matches;
                this.show();
        }

        close() {
                clearTimeout(this.timer);
        }

        /* The policy of the placement is this one now. */
        begin(lines) {
                const base = lines.join('\n') + '\n', first = this.base === null, draft = first ? stored(this.key) : null;

                if (first || this.text.value === this.base)
                        this.text.value = draft ?? base;
                this.base = base;
                if (first && this.changed()) {
                        this.root.open = true;
                        this.send();
                }
                this.show();
        }

        changed() {
                return this.text.value.trim() !== '' && this.text.value !== this.base;
        }

        typed() {
                store(this.key, this.changed() ? this.text.value : null);
                clearTimeout(this.timer);
                this.timer = setTimeout(() => this.send(), PAUSE);
                this.show();
        }

        onKey(e) {
                if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
                        e.preventDefault();
                        this.send();
                }
        }

        send() {
                const text = this.text.value;

                clearTimeout(this.timer);
                if (!this.changed())
                        this.leave();
                else if (new Blob([text]).size > BYTES_MAX)
                        this.fail({ error: `it is longer than the ${BYTES_MAX} bytes that are taken` });
                else if (text !== this.sent)
                        this.open(text);
        }

        open(text) {
                const before = this.opened;

                this.sent = text;
                this.error = null;
                this.opened = this.page.open('scheduling', { ...this.args, policy: text }, (doc, change) => {
                        if (this.sent !== text)
                                return;
                        if (change.first || change.head || change.error)
                                this.take(doc, change.first);
                        this.onResult(this.tried && !this.tried.error ? doc : null, change);
                });
                before?.close();
        }

        take(doc, first) {
                this.tried = doc.error ? { error: doc.error.text } : doc.head?.tried || null;
                this.show();
                if (first)
                        this.page.announce(this.says.textContent + this.refused.textContent);
        }

        fail(tried) {
                this.leave();
                this.tried = tried;
                this.show();
        }

        /* The policy of now is looked at again; the text stays. */
        leave() {
                const was = this.opened;

                this.opened?.close();
                this.opened = this.sent = this.tried = null;
                this.show();
                if (was)
                        this.onResult(null, { first: true });
        }

        back() {
                this.text.value = this.base;
                store(this.key, null);
                this.leave();
                this.page.announce('The policy of the placement again.');
                this.text.focus();
        }

        toMistake() {
                const { line, column } = this.tried, lines = this.text.value.split('\n');
                const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + (column || 1) - 1;

                this.text.focus();
                this.text.setSelectionRange(at, at + (lines[line - 1]?.slice((column || 1) - 1).length || 0));
        }

        show() {
                const t = this.tried, wrong = Boolean(t?.error);

                setClass(this.says, 'wrong', wrong);
                setAttr(this.text, 'aria-invalid', wrong);
                setText(this.says, wrong ? t.error : t?.changes ? `${changesText(t.changes)}.` : t ? 'Where the placement is may not be read, so changes are not known.' : '');
                setHidden(this.says, !this.says.textContent);
                setText(this.refused, t?.refused ? `The hub would refuse this change of the placement, a new placement could have it: ${t.refused}` : '');
                setHidden(this.refused, !t?.refused);
                setHidden(this.goTo, !t?.line);
                setText(this.goTo, t?.line ? `to line ${t.line}${t.column ? `, column ${t.column}` : ''}` : '');
                this.reset.disabled = this.base === null || this.text.value === this.base;
        }
}
