/* The one connection: says the token, opens views, puts what comes into documents, and comes back by itself when it
 * was lost (docs/page.md, "The socket"). Knows nothing of the screen. */

const FIRST_WAIT = 500, LONGEST_WAIT = 15000; // ms between tries
const LINGER = 10000;                         // ms that a view stays open for those who come back
const LINGERING = 3;                          // of them at once: the server allows few
const SETTLED = 10000;                        // a connection that held so long begins anew with the shortest wait

const PACKED = 'deflate-raw';

function unpacks() {
        try {
                return Boolean(new DecompressionStream(PACKED));
        } catch {
                return false;
        }
}

function textOf(data) {
        return typeof data === 'string' ? data
                : new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream(PACKED))).text();
}

function emptyDoc() {
        return { head: null, parts: {}, hidden: [], error: null };
}

function emptyChange() {
        return { first: false, head: false, hidden: false, error: false, rows: {}, gone: {} };
}

function setOf(change, what, part) {
        return change[what][part] ||= new Set();
}

/* One message into the document; what it touched into the change. */
function take(doc, change, m) {
        if (m.head !== undefined) {
                doc.head = m.head;
                change.head = true;
                change.error ||= doc.error !== null;
                doc.error = null;
        }
        if (m.error !== undefined) {
                doc.error = m.error;
                change.error = true;
        }
        if (m.hidden !== undefined) {
                doc.hidden = m.hidden;
                change.hidden = true;
        }
        for (const [part, keys] of Object.entries(m.gone || {}))
                for (const key of keys) {
                        doc.parts[part]?.delete(key);
                        setOf(change, 'rows', part).delete(key);
                        setOf(change, 'gone', part).add(key);
                }
        for (const [part, rows] of Object.entries(m.rows || {})) {
                doc.parts[part] ||= new Map();
                for (const [key, row] of Object.entries(rows)) {
                        doc.parts[part].set(key, row);
                        setOf(change, 'rows', part).add(key);
                        setOf(change, 'gone', part).delete(key);
                }
        }
}

/* After a new connection a view comes whole: what the old document had beyond it is gone. What is on the screen
 * stays there until then. */
function replace(old, fresh, change) {
        for (const [part, rows] of Object.entries(old.parts))
                for (const key of rows.keys())
                        if (!fresh.parts[part]?.has(key))
                                setOf(change, 'gone', part).add(key);
        if (fresh.error && old.head && !fresh.head) // what it was stays below the error
                fresh.head = old.head;
        change.head = change.hidden = change.error = true;
        Object.assign(old, fresh);
}

/* One document, for all who look at the same. */
class Opened {
        constructor(view, args) {
                this.view = view;
                this.args = args;
                this.lookers = new Set(); // functions of (doc, change)
                this.doc = emptyDoc();
                this.number = 0;
                this.told = false; // there is something to show
                this.timer = 0;    // until it is let go
                this.restart();
        }

        /* A new connection: all of it is to come again. */
        restart() {
                this.fresh = emptyDoc();
                this.whole = false;
                this.change = emptyChange();
        }

        /* What belongs together is shown together. */
        receive(m) {
                take(this.whole ? this.doc : this.fresh, this.change, m);
                if (m.more)
                        return;
                if (!this.whole && !this.fresh.head && !this.fresh.error) // only what is hidden came so far
                        return;
                const change = this.change;

                if (!this.whole)
                        replace(this.doc, this.fresh, change);
                this.whole = true;
                this.change = emptyChange();
                change.first = !this.told;
                this.told = true;
                for (const look of [...this.lookers])
                        look(this.doc, change);
        }

        /* Who comes later gets what is there, soon. */
        look(onChange) {
                this.lookers.add(onChange);
                const change = { ...emptyChange(), first: true, head: true, hidden: true, error: true };

                if (this.told)
                        queueMicrotask(() => this.lookers.has(onChange) && onChange(this.doc, change));
        }
}

/* A fault that a call met: `code` and `status` are the server's. */
export class CallError extends Error {
        constructor(e) {
                super(e.text || 'no reason was told');
                this.code = e.code;
                this.status = e.status;
        }
}

/* States, told to onState(state): { name: 'connecting' | 'connected' | 'waiting' | 'refused', ... }
 *   waiting: `until` ms when the next try begins, `since` ms when the connection was lost, `reason` as a sentence or ''
 *   refused: `expired`, `reason`: no more tries before token() is called
 * onHello(hello). */
export class Live {
        constructor({ url, onState, onHello }) {
                Object.assign(this, { url, onState, onHello });
                this.fault = '';
                this.socket = null;
                this.opened = new Map(); // by number
                this.calls = new Map();
                this.last = 0;
                this.wait = 0;
                this.timer = 0;
                this.since = Date.now();
                this.ready = false;
                this.secret = null;
                addEventListener('online', () => this.hurry());
                document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
        }

        token(secret) {
                this.secret = secret;
                this.wait = 0;
                this.connect();
        }

        /* onChange(doc, change) of each change, and soon where the document is there already. What nobody looks at any
         * more stays open for a moment, since people go back. */
        open(view, args, onChange) {
                const same = JSON.stringify([view, args]);
                let o = [...this.opened.values()].find((x) => JSON.stringify([x.view, x.args]) === same);

                if (!o)
                        this.sendOpen(o = new Opened(view, args));
                clearTimeout(o.timer);
                const look = (doc, change) => onChange(doc, change); // one's own, should the function be another's, too

                o.look(look);
                return {
                        doc: o.doc,
                        close: () => {
                                if (o.lookers.delete(look) && !o.lookers.size)
                                        this.linger(o);
                        },
                };
        }

        linger(o) {
                o.timer = setTimeout(() => this.letGo(o), LINGER);
                const idle = [...this.opened.values()].filter((x) => !x.lookers.size);

                if (idle.length > LINGERING) // the one that was opened first
                        this.letGo(idle.find((x) => x !== o));
        }

        letGo(o) {
                clearTimeout(o.timer);
                if (this.opened.delete(o.number))
                        this.send({ close: o.number });
        }

        call(action, args = {}) {
                return new Promise((resolve, reject) => {
                        if (!this.ready) {
                                reject(new CallError({ code: 'away', text: 'there is no connection to the page\'s server now' }));
                                return;
                        }
                        const number = ++this.last;

                        this.calls.set(number, { resolve, reject });
                        this.send({ call: number, do: action, args });
                });
        }

        /* ---- the connection ---- */

        connect() {
                clearTimeout(this.timer);
                this.timer = 0;
                this.ready = false;
                this.drop();
                this.onState({ name: 'connecting', since: this.since });
                const socket = this.socket = new WebSocket(this.url);

                socket.binaryType = 'arraybuffer';
                this.unpacking = null;
                socket.onopen = () => socket === this.socket && socket.send(JSON.stringify({
                        token: this.secret, ...unpacks() ? { packed: PACKED } : {},
                }));
                socket.onmessage = (e) => socket === this.socket && this.arrived(socket, e.data);
                socket.onclose = (e) => socket === this.socket && this.lost(e.code, e.reason);
        }

        drop() {
                const old = this.socket;

                this.socket = null;
                if (old)
                        old.close();
        }

        /* No waiting where there is hope. */
        hurry() {
                if (this.timer && !this.socket)
                        this.connect();
        }

        lost(code, reason) {
                const held = this.ready && Date.now() - this.began > SETTLED;

                if (this.ready)
                        this.since = Date.now();
                this.ready = false;
                this.socket = null;
                for (const { reject } of this.calls.values())
                        reject(new CallError({
                                code: 'away', text: 'the connection was lost; whether it was done is not known',
                        }));
                this.calls.clear();
                if (code === 4001 || code === 4002) {
                        this.onState({ name: 'refused', expired: code === 4002, reason });
                        return;
                }
                this.wait = held || !this.wait ? FIRST_WAIT : Math.min(LONGEST_WAIT, this.wait * 2);
                const ms = this.wait * (0.5 + Math.random() / 2);

                this.timer = setTimeout(() => this.connect(), ms);
                this.onState({ name: 'waiting', until: Date.now() + ms, since: this.since, reason: reason || this.fault });
                this.fault = '';
        }

        send(message) {
                if (this.ready)
                        this.socket.send(JSON.stringify(message));
        }

        sendOpen(o) {
                this.opened.delete(o.number);
                o.number = ++this.last;
                this.opened.set(o.number, o);
                this.send({ open: o.number, view: o.view, args: o.args });
        }

        /* ---- what comes ---- */

        /* In the order in which they came, though what is packed takes a moment. */
        arrived(socket, data) {
                if (typeof data === 'string' && !this.unpacking) {
                        this.receive(data);
                        return;
                }
                const mine = this.unpacking = Promise.all([textOf(data), this.unpacking]).then(([text]) => {
                        if (socket !== this.socket)
                                return;
                        if (this.unpacking === mine)
                                this.unpacking = null;
                        try {
                                this.receive(text);
                        } catch (e) {
                                reportError(e); // of a view: what comes next is another's
                        }
                }, (why) => {
                        console.error(`a message could not be unpacked: ${why}`);
                        socket.close(); // all comes again
                });
        }

        receive(text) {
                const m = JSON.parse(text);

                if (m.hello)
                        this.greeted(m.hello);
                else if (m.view !== undefined)
                        this.opened.get(m.view)?.receive(m);
                else if (m.call !== undefined)
                        this.answered(m);
                else if (m.fault) {
                        this.fault = m.fault.text; // told with the end of the connection, where it brings that about
                        console.info(`the server: ${this.fault}`);
                }
        }

        greeted(hello) {
                this.ready = true;
                this.onHello(hello);
                this.began = Date.now();
                this.onState({ name: 'connected' });
                for (const o of [...this.opened.values()]) {
                        if (o.lookers.size) {
                                o.restart();
                                this.sendOpen(o);
                        } else {
                                this.opened.delete(o.number);
                        }
                }
        }

        answered(m) {
                const call = this.calls.get(m.call);

                this.calls.delete(m.call);
                if (m.error)
                        call?.reject(new CallError(m.error));
                else
                        call?.resolve(m.done);
        }
}
