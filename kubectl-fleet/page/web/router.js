/* From the address to a view on the screen. A view is shown when its first document is there, so nothing empty
 * flashes by; what changes is put on the screen once a frame. */

import { h, setChildren, soon } from './dom.js';
import { now } from './words.js';

/* name: [where it is, the section it belongs to] */
const VIEWS = {
        fleet: [() => import('./views/fleet.js'), 'fleet'],
        cluster: [() => import('./views/cluster.js'), 'fleet'],
        placements: [() => import('./views/placements.js'), 'placements'],
        placement: [() => import('./views/placement.js'), 'placements'],
        scheduling: [() => import('./views/scheduling.js'), 'placements'],
        overrides: [() => import('./views/overrides.js'), 'placements'],
        object: [() => import('./views/object.js'), 'placements'],
        runs: [() => import('./views/runs.js'), 'runs'],
        run: [() => import('./views/run.js'), 'runs'],
        timeline: [() => import('./views/timeline.js'), 'timeline'],
};

/* ---- links ---- */

/* link('placement', 'crp/web', { all: 1 }) is '#/placement/crp/web?all=1'. Empty values of the last are left out. */
export function link(view, ...parts) {
        const query = typeof parts[parts.length - 1] === 'object' ? parts.pop() : {};
        const path = [view, ...parts].flatMap((p) => String(p).split('/')).map(encodeURIComponent).join('/');
        const search = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== ''));

        return `#/${path}${String(search) ? `?${search}` : ''}`;
}

function parse(hash) {
        const [path, search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
        const [name, ...parts] = path.split('/').filter((p) => p !== '').map(decode);

        return { name: name || 'fleet', parts, query: Object.fromEntries(new URLSearchParams(search)) };
}

function decode(text) {
        try {
                return decodeURIComponent(text);
        } catch {
                return text;
        }
}

/* ---- changes: several messages within a frame are one ---- */

function mergeSets(into, from, other) {
        for (const [part, keys] of Object.entries(from)) {
                into[part] ||= new Set();
                for (const key of keys) {
                        into[part].add(key);
                        other[part]?.delete(key);
                }
        }
}

function merge(a, b) {
        for (const flag of ['first', 'head', 'hidden', 'error'])
                a[flag] ||= b[flag];
        mergeSets(a.gone, b.gone, a.rows);
        mergeSets(a.rows, b.rows, a.gone);
        return a;
}

/* onChange as often as there are frames, with all that came meanwhile. */
function perFrame(onChange) {
        let change = null, doc = null, closed = false;
        const flush = () => {
                const c = change;

                change = null;
                if (c && !closed)
                        onChange(doc, c);
        };

        return {
                take(d, c) {
                        doc = d;
                        change = change ? merge(change, c) : c;
                        soon(flush);
                },
                close() {
                        closed = true;
                },
        };
}

/* ---- one view that is shown or about to be ---- */

class Shown {
        constructor(router, where, view, args) {
                Object.assign(this, { router, where, view, args, instance: null, more: [] });
                this.root = h('div', { class: `view view-${where.name}` });
                this.frames = perFrame((doc, change) => this.changed(doc, change));
                this.page = this.makePage();
                this.opened = router.live.open(view.server || where.name, args, this.frames.take);
        }

        /* What a view may ask of the page. */
        makePage() {
                const shown = this, { router } = this;

                return {
                        link, now,
                        get query() { return shown.where.query; },
                        get hello() { return router.hello; },
                        /* Sort, filter and the like: into the address, without a new entry in the history. */
                        state(patch) { router.setQuery(shown, patch); },
                        go(to) { location.hash = to; },
                        call: (action, args) => router.live.call(action, args),
                        announce: (text) => router.shell.announce(text),
                        title: (text) => router.shell.title(text),
                        open(view, args, onChange) {
                                const frames = perFrame(onChange);
                                const opened = router.live.open(view, args, frames.take);
                                const both = { doc: opened.doc, close() { frames.close(); opened.close(); } };

                                shown.more.push(both);
                                return both;
                        },
                };
        }

        changed(doc, change) {
                if (change.hidden || change.first)
                        this.router.shell.hidden(doc.hidden);
                if (!doc.head) {
                        this.fail(doc.error?.text || 'nothing was told of it');
                        return;
                }
                try {
                        this.draw(doc, change);
                } catch (e) {
                        console.error(e);
                        this.fail(`The view could not be drawn: ${e.message}`);
                        return;
                }
                if (doc.error)
                        this.fail(doc.error.text);
        }

        /* On the screen first, so that a view knows its room when it draws; both are seen at once. */
        draw(doc, change) {
                change.first ||= !this.instance;
                this.instance ||= this.view.show(this.root, this.args, this.page);
                const arrived = this.router.present(this, this.root);

                this.instance.update(doc, change);
                if (arrived)
                        this.router.arrived(this);
        }

        fail(text) {
                if (this.router.present(this, problem(text)))
                        this.router.arrived(this);
        }

        close() {
                this.frames.close();
                this.opened.close();
                for (const o of this.more)
                        o.close();
                this.instance?.close?.();
        }
}

export function problem(text, ...more) {
        return h('div', { class: 'problem', role: 'alert' },
                h('h1', { tabindex: -1 }, 'This cannot be shown'), h('p', text), ...more);
}

/* ---- the router ---- */

export class Router {
        constructor({ main, live, shell }) {
                Object.assign(this, { main, live, shell, hello: null, shown: null, coming: null, turn: 0 });
                this.scrolls = new Map();
                this.entries = 0;
                history.scrollRestoration = 'manual';
                addEventListener('hashchange', () => this.navigate());
                addEventListener('scroll', () => this.onScroll(), { passive: true });
        }

        /* Told a frame late, so it may be of a view that was left for another entry meanwhile. */
        onScroll() {
                if (this.shown && this.entry === history.state?.at)
                        this.scrolls.set(this.entry, scrollY);
        }

        start() {
                if (!this.shown && !this.coming)
                        this.navigate();
        }

        /* Nothing is looked at. */
        leave() {
                this.turn++;
                this.coming?.close();
                this.shown?.close();
                this.coming = this.shown = null;
        }

        async navigate() {
                const where = parse(location.hash), turn = ++this.turn;
                const [load, section] = VIEWS[where.name] || [];

                this.back = history.state?.at; // undefined: it was not there before
                if (this.back === undefined)
                        history.replaceState({ at: Date.now() + ++this.entries / 1000 }, '');
                if (!load) {
                        this.refuse(where, `There is no view called "${where.name}".`);
                        return;
                }
                this.shell.section(section);
                this.shell.busy(true);
                try {
                        const { view } = await load();

                        if (turn === this.turn)
                                this.enter(where, section, view);
                } catch (e) {
                        console.error(e);
                        if (turn === this.turn)
                                this.refuse(where, `The view "${where.name}" could not be loaded: ${e.message}`);
                }
        }

        enter(where, section, view) {
                let args;

                try {
                        args = view.args ? view.args(where.parts, where.query) : {};
                } catch (e) {
                        this.refuse(where, `This link is not understood: ${e.message}`);
                        return;
                }
                if (this.stays(where, args))
                        return;
                this.coming?.close();
                where.section = section;
                this.coming = new Shown(this, where, view, args);
        }

        /* Only what stands behind the `?` is another: the view sees to it. */
        stays(where, args) {
                const s = this.coming || this.shown;

                if (!s || s.where.name !== where.name || JSON.stringify(s.args) !== JSON.stringify(args))
                        return false;
                s.where.query = where.query;
                this.entry = history.state?.at;
                s.instance?.moved?.(where.query);
                this.shell.busy(Boolean(this.coming));
                return true;
        }

        setQuery(s, patch) {
                const query = { ...s.where.query, ...patch };

                for (const [k, v] of Object.entries(query))
                        if (v === null || v === undefined || v === '')
                                delete query[k];
                s.where.query = query;
                if (s === this.shown && !this.coming)
                        history.replaceState(history.state, '', link(s.where.name, ...s.where.parts, query));
                s.instance?.moved?.(query);
        }

        /* `what` of that view comes on the screen. True where the view is new there. */
        present(s, what) {
                const comes = s === this.coming;

                if (comes) {
                        this.shown?.close();
                        this.shown = s;
                        this.coming = null;
                }
                if (s === this.shown && this.main.firstChild !== what)
                        this.swap(what);
                return comes;
        }

        arrived(s) {
                this.shell.arrived(s.view.title(s.args), s.where, s.view.crumbs?.(s.args, s.page));
                this.look();
        }

        swap(what) {
                this.fresh ??= !this.main.firstChild; // the page was just loaded: the focus is left where it is
                setChildren(this.main, what);
        }

        /* Where one had scrolled to before, or the top; the keyboard is at the heading. */
        look() {
                this.entry = history.state?.at;
                scrollTo(0, (this.back !== undefined && this.scrolls.get(this.back)) || 0);
                if (!this.fresh) {
                        const heading = this.main.querySelector('h1') || this.main;

                        if (!heading.hasAttribute('tabindex'))
                                heading.tabIndex = -1;
                        heading.focus({ preventScroll: true });
                }
                this.fresh = false;
        }

        refuse(where, text) {
                this.leave();
                this.shell.hidden([]);
                this.shell.arrived('Not found', where);
                this.swap(problem(text, h('p', h('a', { href: '#/fleet' }, 'To the fleet'))));
                this.look();
        }
}
