/* What was when: entries in order, and from them every subject's states at any time. No document, no clock. */

/* The states that entries tell of; others tell only that something happened. */
const STATES = ['life', 'word', 'cordon', 'revision', 'progress', 'stage'];

function inOrder(a, b) {
        return a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/* How many of `list` are at or before that time. */
export function countUntil(list, time) {
        let low = 0, high = list.length;

        while (low < high) {
                const middle = (low + high) >> 1;

                if (list[middle].at <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* ---- words ---- */

const KINDS = {
        cluster: ['cluster', 'cluster'], crp: ['placement', 'placement'], rp: ['placement', 'placement'],
        csur: ['run', 'update run'], sur: ['run', 'update run'], careq: ['approval', 'approval'], areq: ['approval', 'approval'],
};

/* { kind: 'placement', noun, name: 'team/api', short: 'rp' } of a subject's key. */
export function subjectOf(key) {
        const at = key.indexOf('/'), short = key.slice(0, at);
        const [kind, noun] = KINDS[short] || [short, short];

        return { short, kind, noun, name: key.slice(at + 1) };
}

/* Where a subject can be looked at; an approval with its run. null = nowhere. */
export function viewOf(key, of) {
        const { kind, name } = subjectOf(key);

        if (kind === 'cluster')
                return ['cluster', name];
        if (kind === 'placement' || kind === 'run')
                return [kind, key];
        return of ? ['run', of] : null;
}

/* "canary: done" after "canary: in progress" is "done": the stage was named just before. */
function stageAfter(was, is) {
        const [stage] = was.split(': ');

        return is?.startsWith(`${stage}: `) ? is.slice(stage.length + 2) : is;
}

const UNKNOWN = 'not known yet';

/* { what, before, after, tone, beforeTone }: words of an entry; before is '' where there is nothing to say of it. */
export function wordsOfEntry(e) {
        const words = (what, before, after, tone = e.tone) => ({ what, before, after, tone, beforeTone: e.wasTone || 'plain' });

        switch (e.what) {
        case 'life':
                return words('', '', e.is === 'gone' ? 'is gone' : 'was made', 'plain');
        case 'cordon':
                return words('', '', e.is ? 'cordoned' : 'cordoned no longer', 'plain');
        case 'revision':
                return words('revision', e.was || '', e.is || 'several', 'plain');
        case 'snapshot':
                return words('', '', `revision ${e.is} was made`, 'plain');
        case 'progress':
                return words('done', e.was || '', e.is || 'none');
        case 'stage':
                return words('stage', e.was || '', stageAfter(e.was || '', e.is) || 'none');
        case 'condition':
                return words('', '', e.is);
        default:
                return words('', e.was || '', e.is);
        }
}

/* ---- the past ---- */

export class Past {
        constructor() {
                this.entries = []; // in order of time: rows, each with its key
                this.subjects = new Map();
                this.began = 0;
        }

        /* Takes a document; `keys`: those of entries that came, changed or went; null = all may have. */
        take(doc, keys) {
                const rows = doc.parts.entries || new Map();

                this.subjects = doc.parts.subjects || new Map();
                this.began = doc.head.began;
                if (!keys || keys.size > 100) {
                        this.entries = [...rows].map(([key, row]) => ({ key, ...row })).sort(inOrder);
                        return;
                }
                if (!keys.size)
                        return;
                const fresh = [...keys].filter((key) => rows.has(key)).map((key) => ({ key, ...rows.get(key) }));
                const kept = this.entries.filter((e) => !keys.has(e.key));

                this.entries = kept.concat(fresh.sort(inOrder));
                if (kept.length && fresh.length && inOrder(kept[kept.length - 1], fresh[0]) > 0)
                        this.entries.sort(inOrder);
        }

        /* The states of all subjects at that time, by key: { life, word, tone, revision, progress, stage, cordon }. A state that
         * cannot be known is null; a subject that was not there is not in it. */
        at(time) {
                const all = new Map(), n = countUntil(this.entries, time);

                for (let i = 0; i < n; i++)
                        tellState(all, this.entries[i]);
                const later = new Set();

                for (let i = n; i < this.entries.length; i++)
                        tellBefore(all, later, this.entries[i]);
                for (const [key, now] of this.subjects)
                        this.complete(all, later, key, now, time);
                for (const [key, state] of all)
                        if (state.life === '' || state.life === 'gone' || !this.subjects.has(key))
                                all.delete(key);
                return all;
        }

        /* What no later entry tells of is as it is now: from when the page began, it would have been seen. */
        complete(all, later, key, now, time) {
                const state = stateOf(all, key);

                for (const what of STATES) {
                        if (time >= this.began && !later.has(`${key} ${what}`) && now[what] !== undefined) {
                                state[what] = now[what];
                                if (what === 'word')
                                        state.tone = now.tone;
                        }
                        state[what] ??= null;
                }
                state.tone ||= 'waits';
        }
}

function stateOf(all, key) {
        let state = all.get(key);

        if (!state)
                all.set(key, state = {});
        return state;
}

function tellState(all, e) {
        if (!STATES.includes(e.what))
                return;
        const state = stateOf(all, e.of);

        if (e.what === 'life') // another life: what was known of the one before is over
                for (const what of STATES)
                        delete state[what];
        state[e.what] = e.is;
        if (e.what === 'word')
                state.tone = e.tone;
}

function tellBefore(all, later, e) {
        const id = `${e.of} ${e.what}`;

        if (!STATES.includes(e.what) || later.has(id))
                return;
        const state = stateOf(all, e.of);

        later.add(id);
        if (state[e.what] !== undefined || e.was === undefined)
                return;
        state[e.what] = e.was;
        if (e.what === 'word')
                state.tone = e.wasTone || 'waits';
}

/* The word of a state, and its tone. */
export function wordOf(state) {
        return state.word ? [state.tone, state.word] : ['waits', UNKNOWN];
}

/* ---- how many are how ---- */

/* { cluster: { total, failed, busy, done, waits }, placement: ..., run: ..., approval: ... } */
export function countStates(states) {
        const all = {};

        for (const kind of ['cluster', 'placement', 'run', 'approval'])
                all[kind] = { total: 0, failed: 0, busy: 0, done: 0, waits: 0, plain: 0 };
        for (const [key, state] of states) {
                const count = all[subjectOf(key).kind];

                if (!count)
                        continue;
                count.total++;
                count[wordOf(state)[0]]++;
        }
        return all;
}

/* [{ n, failed }] of `slices` equal parts of the time from..to. */
export function density(entries, from, to, slices) {
        const all = Array.from({ length: slices }, () => ({ n: 0, failed: 0 })), wide = (to - from) / slices || 1;

        for (let i = countUntil(entries, from - 1); i < entries.length && entries[i].at <= to; i++) {
                const slice = all[Math.min(slices - 1, Math.floor((entries[i].at - from) / wide))];

                slice.n++;
                if (entries[i].tone === 'failed')
                        slice.failed++;
        }
        return all;
}
