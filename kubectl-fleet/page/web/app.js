/* The page: where its token comes from, one connection, one router, and what stands around them. */

import { Live } from './socket.js';
import { Router, problem } from './router.js';
import { Shell } from './shell.js';
import { setServerTime } from './words.js';

/* ---- the token ---- */

const KEY = 'token';

function stored(kind) {
        try {
                return window[kind].getItem(KEY);
        } catch {
                return null;
        }
}

function store(kind, token) {
        try {
                if (token)
                        window[kind].setItem(KEY, token);
                else
                        window[kind].removeItem(KEY);
        } catch {
                // no storage: it is good until the page is loaded anew
        }
}

/* Of a link "#token=...": out of the address at once. It is kept for this address, so that links open in new
 * tabs. One that was typed is not. */
function takeFromLink() {
        const m = /^#token=([^&]*)(?:&to=(.*))?$/.exec(location.hash);

        if (!m)
                return null;
        const token = decodeURIComponent(m[1]);

        history.replaceState(null, '', m[2] ? `#${decodeURIComponent(m[2])}` : '#/fleet');
        store('sessionStorage', token);
        store('localStorage', token);
        return token;
}

/* ---- all of it ---- */

const main = document.getElementById('view');
const shell = new Shell();
let tried = null; // the token that was said last

const live = new Live({
        url: new URL('live', location.href.split('#')[0]).href.replace(/^http/, 'ws'),
        onState(state) {
                shell.connection(state);
                if (state.name === 'refused')
                        refused(state);
                else if (state.name === 'waiting' && !router.shown)
                        router.swap(problem(state.reason || 'There is no answer from the page\'s server. ' +
                                'Is "kubectl fleet page" still running? It is asked again and again.'));
        },
        onHello(hello) {
                setServerTime(hello.now);
                shell.hello(hello);
                router.hello = hello;
        },
});
const router = new Router({ main, live, shell });

function use(token) {
        tried = token;
        live.token(token);
        router.start();
}

/* Another tab may have been given a newer one. */
function refused({ expired, reason }) {
        const other = stored('localStorage');

        store('sessionStorage', null);
        if (other && other !== tried) {
                use(other);
                return;
        }
        if (other)
                store('localStorage', null);
        const what = other ? 'This link is no longer good' : 'This token is not good';

        ask(expired ? 'The token has expired.' : `${what}${reason ? `: ${reason}` : ''}.`);
}

function ask(why) {
        router.leave();
        shell.connection({ name: 'refused' });
        shell.signIn(main, why, (token) => {
                store('sessionStorage', token);
                use(token);
        });
}

addEventListener('hashchange', () => {
        const token = takeFromLink();

        if (token)
                use(token);
});

const token = takeFromLink() || stored('sessionStorage') || stored('localStorage');

if (token)
        use(token);
else
        ask(null);
