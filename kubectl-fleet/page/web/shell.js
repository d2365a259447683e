/* What stands around every view: sections, breadcrumbs, the connection, what may not be seen, keys, light and dark,
 * signing in. */

import { h, setAttr, setChildren, setHidden, setText } from './dom.js';
import { ago, chip, duration, now, setChip } from './words.js';

const NAME = 'Argosy';
const SECTIONS = { fleet: 'Fleet', placements: 'Placements', runs: 'Runs', timeline: 'Timeline' };
const KEYS = [
        ['/', 'to the filter'], ['Esc', 'empties the filter'], ['g f', 'the fleet'], ['g p', 'placements'],
        ['g r', 'update runs'], ['g t', 'the timeline'], ['← ↑ → ↓', 'on the map: from cluster to cluster'],
        ['Enter', 'opens what is marked'], ['?', 'these keys'],
];
const ANNOUNCE_EVERY = 5000; // ms: a screen reader is not to be flooded

const byId = (id) => document.getElementById(id);

/* Whether a key is being typed into something. */
function isTyping(e) {
        return e.target.closest?.('input, textarea, select, [contenteditable]') || e.ctrlKey || e.altKey || e.metaKey;
}

export class Shell {
        constructor() {
                this.parts = Object.fromEntries(['progress', 'crumbs', 'notices', 'foot', 'announcer', 'connection', 'theme']
                        .map((id) => [id, byId(id)]));
                this.state = null;
                this.said = { at: 0, timer: 0, list: [] };
                this.tones = chip('waits', 'connecting');
                setChildren(this.parts.connection, this.tones);
                byId('skip').addEventListener('click', (e) => {
                        e.preventDefault(); // the address is the view's
                        byId('view').focus();
                });
                byId('keys-button').addEventListener('click', () => this.keys());
                this.makeTheme();
                this.makeKeys();
                setInterval(() => this.drawConnection(), 1000);
        }

        /* ---- where one is ---- */

        section(name) {
                for (const a of document.querySelectorAll('[data-section]'))
                        setAttr(a, 'aria-current', a.dataset.section === name ? 'page' : null);
        }

        /* After 300 ms a line shows that something is on its way. */
        busy(on) {
                clearTimeout(this.busyTimer);
                if (on)
                        this.busyTimer = setTimeout(() => setHidden(this.parts.progress, false), 300);
                else
                        setHidden(this.parts.progress, true);
        }

        title(text) {
                document.title = text ? `${text} · ${NAME}` : NAME;
        }

        /* A view is on the screen. `more`: what stands between its section and it, [['web', link]]. */
        arrived(title, where, more = []) {
                this.busy(false);
                this.title(title);
                const section = SECTIONS[where.section];
                const trail = [[section, `#/${where.section}`], ...more];

                setHidden(this.parts.crumbs, !section || title === section);
                setChildren(this.parts.crumbs, h('ol', trail.map(([text, href]) => h('li', h('a', { href }, text))),
                        h('li', { 'aria-current': 'page' }, title)));
                this.announce(title);
        }

        /* Said to screen readers: what came meanwhile at most every few seconds. */
        announce(text) {
                const { said } = this;

                if (!text || said.list[said.list.length - 1] === text)
                        return;
                said.list.push(text);
                said.list.splice(0, said.list.length - 3);
                said.timer ||= setTimeout(() => {
                        setText(this.parts.announcer, said.list.join('. '));
                        said.list = [];
                        said.timer = 0;
                        said.at = Date.now();
                }, Math.max(100, said.at + ANNOUNCE_EVERY - Date.now()));
        }

        /* ---- what this user may not see ---- */

        hidden(list = []) {
                const kinds = [...new Set(list.map((x) => x.kind))], one = new Set(list.map((x) => x.why)).size === 1;
                const line = (x) => h('li', h('strong', x.kind), x.namespace ? ` in namespace ${x.namespace}` : '', `: ${x.why}`);

                this.hiddenSince = list.length ? this.hiddenSince || now() : 0;
                setChildren(this.parts.notices, list.length ? h('details', { class: 'notice' },
                        h('summary', chip('busy', `Not shown, or as it was: ${kinds.join(', ')}`), one ? ` ${list[0].why} ` : ' ',
                                ago(this.hiddenSince, 'for')), h('ul', list.map(line))) : null);
        }

        /* ---- the connection ---- */

        hello(hello) {
                setChildren(this.parts.foot, h('span', 'hub ', h('strong', hello.hub || 'unknown')),
                        hello.user ? h('span', 'as ', h('strong', hello.user)) : null,
                        hello.version ? h('span', `${NAME} ${hello.version}`) : null);
                this.hub = hello.hub;
        }

        connection(state) {
                this.state = state;
                this.drawConnection();
        }

        drawConnection() {
                const s = this.state;

                if (!s)
                        return;
                if (s.name === 'connected')
                        setChip(this.tones, 'done', this.hub ? `connected to ${this.hub}` : 'connected');
                else if (s.name === 'waiting')
                        setChip(this.tones, 'failed', `no answer for ${duration(Date.now() - s.since)}, again in ` +
                                `${Math.max(0, Math.ceil((s.until - Date.now()) / 1000))} s`);
                else if (s.name === 'refused')
                        setChip(this.tones, 'failed', 'not signed in');
                else
                        setChip(this.tones, 'busy', 'connecting');
                setAttr(this.parts.connection, 'title', s.name !== 'waiting' ? null :
                        s.reason || 'The page\'s server does not answer. Is "kubectl fleet page" still running?');
                document.documentElement.classList.toggle('stale', s.name !== 'connected');
        }

        /* ---- light and dark ---- */

        makeTheme() {
                const root = document.documentElement, button = this.parts.theme;
                const order = ['auto', 'light', 'dark'], signs = { auto: '◑', light: '☀', dark: '☾' };
                const draw = () => {
                        setText(button, signs[root.dataset.theme]);
                        setAttr(button, 'aria-label', `Colours: ${root.dataset.theme}`);
                        setAttr(button, 'title', `Colours: ${root.dataset.theme}`);
                };

                button.addEventListener('click', () => {
                        root.dataset.theme = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
                        try {
                                localStorage.setItem('theme', root.dataset.theme);
                        } catch {
                                // no storage: for this page only
                        }
                        draw();
                });
                draw();
        }

        /* ---- keys ---- */

        makeKeys() {
                const places = { f: '#/fleet', p: '#/placements', r: '#/runs', t: '#/timeline' };
                let g = 0;

                document.addEventListener('keydown', (e) => {
                        if (isTyping(e) || document.querySelector('dialog[open]'))
                                return;
                        const place = Date.now() - g < 1500 ? places[e.key] : null;

                        g = e.key === 'g' ? Date.now() : 0;
                        if (place)
                                location.hash = place;
                        else if (e.key === '?')
                                this.keys();
                        else if (e.key === '/')
                                document.querySelector('[data-filter]')?.focus();
                        else
                                return;
                        e.preventDefault();
                });
        }

        keys() {
                const close = h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, 'Close');
                const dialog = h('dialog', { class: 'dialog', 'aria-labelledby': 'keys-title', onclose: () => dialog.remove() },
                        h('h2', { id: 'keys-title' }, 'Keys'),
                        h('dl', { class: 'keys' }, KEYS.map(([key, what]) => h('div', h('dt', h('kbd', key)), h('dd', what)))),
                        close);

                document.body.append(dialog);
                dialog.showModal();
        }

        /* ---- signing in ---- */

        /* `why`: in a sentence, or nothing. onToken(text). */
        signIn(main, why, onToken) {
                const input = h('input', {
                        type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false', required: true,
                        'aria-describedby': 'token-help',
                });
                const form = h('form', {
                        class: 'sign-in',
                        onsubmit(e) {
                                e.preventDefault();
                                onToken(input.value.trim());
                        },
                }, h('h1', { tabindex: -1 }, 'Who looks?'), why ? h('p', { role: 'alert' }, chip('failed', why)) : null,
                h('p', 'If you started the page with ', h('code', 'kubectl fleet page'),
                        ', open the link that it printed: the token is in it. A new link comes with each start.'),
                h('p', 'If the page runs on the hub, it asks for a token of the hub and shows what that may see:'),
                h('label', { for: 'token' }, 'Token of the hub'),
                h('div', { class: 'row' }, input, h('button', { class: 'button accent' }, 'Sign in')),
                h('p', { class: 'faint', id: 'token-help' }, 'For an account of yours: ',
                        h('code', 'kubectl create token NAME -n NAMESPACE'),
                        '. It is kept in this tab alone, until you close it.'));

                this.busy(false);
                this.hidden([]);
                setChildren(this.parts.foot);
                setHidden(this.parts.crumbs, true);
                this.title('Sign in');
                setChildren(main, form);
                input.focus();
        }
}

