/* Elements, and lists of them that change in place. Text only ever goes in as text: nothing here reads markup,
 * and no view has another way to the document. */

const SVG = 'http://www.w3.org/2000/svg';

/* ---- elements ---- */

function isProps(x) {
        return x !== null && typeof x === 'object' && !Array.isArray(x) && !(x instanceof Node);
}

function setProp(el, name, value) {
        if (name.startsWith('on'))
                el.addEventListener(name.slice(2), value);
        else if (name === 'vars') // custom properties, as { '--share': 0.4 }
                for (const [key, x] of Object.entries(value))
                        setVar(el, key, x);
        else if (name === 'data')
                Object.assign(el.dataset, value);
        else if (name === 'value' || name === 'checked' || name === 'selected' || name === 'indeterminate')
                el[name] = value;
        else
                setAttr(el, name, value);
}

function nodesOf(children, ret = []) {
        for (const child of children)
                if (Array.isArray(child))
                        nodesOf(child, ret);
                else if (child instanceof Node)
                        ret.push(child);
                else if (child !== null && child !== undefined && child !== false && child !== true && child !== '')
                        ret.push(document.createTextNode(String(child)));
        return ret;
}

function build(el, rest) {
        const late = [];
        let children = rest;

        if (rest.length && isProps(rest[0])) {
                children = rest.slice(1);
                for (const [name, value] of Object.entries(rest[0]))
                        if (name === 'value') // a select takes it only when it has its options
                                late.push([name, value]);
                        else
                                setProp(el, name, value);
        }
        el.append(...nodesOf(children));
        for (const [name, value] of late)
                setProp(el, name, value);
        return el;
}

/* h('a', { class: 'x', href: '#/fleet', onclick: f, vars: { '--n': 3 }, hidden: true }, 'text', node, [more]).
 * Properties may be left out; of children null, undefined, booleans and '' are. Attributes: true = present,
 * false, null, undefined = absent; aria-x: true and false are words. */
export function h(tag, ...rest) {
        return build(document.createElement(tag), rest);
}

export function svg(tag, ...rest) {
        return build(document.createElementNS(SVG, tag), rest);
}

/* ---- writing only what differs: each of these is cheap to call again with the same value ---- */

export function setText(el, text) {
        const wanted = text === null || text === undefined ? '' : String(text);
        const first = el.firstChild;

        if (first && first === el.lastChild && first.nodeType === Node.TEXT_NODE) {
                if (first.data !== wanted)
                        first.data = wanted;
        } else if (first || wanted !== '') {
                el.textContent = wanted;
        }
}

/* true = present, false = absent; of aria-x a boolean is a word, since an absent one is another thing than "false". */
export function setAttr(el, name, to) {
        const value = typeof to === 'boolean' && name.startsWith('aria-') ? String(to) : to;

        if (value === false || value === null || value === undefined) {
                if (el.hasAttribute(name))
                        el.removeAttribute(name);
                return;
        }
        const wanted = value === true ? '' : String(value);

        if (el.getAttribute(name) !== wanted)
                el.setAttribute(name, wanted);
}

export function setVar(el, name, value) {
        const wanted = String(value);

        if (el.style.getPropertyValue(name) !== wanted)
                el.style.setProperty(name, wanted);
}

export function setClass(el, name, on) {
        if (el.classList.contains(name) !== Boolean(on))
                el.classList.toggle(name, Boolean(on));
}

export function setHidden(el, hidden) {
        if (el.hidden !== Boolean(hidden))
                el.hidden = Boolean(hidden);
}

/* Takes the place of all children; elements that are there already stay, with their focus. */
export function setChildren(el, ...children) {
        place(el, nodesOf(children));
}

/* Moves without loss of focus, selection, or what an animation is at, where the browser can. */
function moveTo(parent, node, before) {
        if (parent.moveBefore && node.isConnected && parent.isConnected) {
                parent.moveBefore(node, before);
                return;
        }
        const focused = node.contains(document.activeElement) ? document.activeElement : null;

        parent.insertBefore(node, before);
        if (focused && document.activeElement !== focused)
                focused.focus({ preventScroll: true });
}

/* The longest run of numbers that ascend: those nodes stay where they are. */
function ascending(numbers) {
        const tails = [], before = new Array(numbers.length);
        const keeps = new Set();

        numbers.forEach((n, i) => {
                if (n < 0)
                        return;
                let low = 0, high = tails.length;

                while (low < high) {
                        const middle = (low + high) >> 1;

                        if (numbers[tails[middle]] < n)
                                low = middle + 1;
                        else
                                high = middle;
                }
                before[i] = low ? tails[low - 1] : -1;
                tails[low] = i;
        });
        for (let i = tails.length ? tails[tails.length - 1] : -1; i >= 0; i = before[i])
                keeps.add(i);
        return keeps;
}

/* Those that stay where they are: as many as can be, and in any case the one of number `f` (-1 = none), for what
 * has the focus is scrolled to when it moves. */
function staying(numbers, f) {
        if (f < 0)
                return ascending(numbers);
        return ascending(numbers.map((n, i) => ((i < f && n < numbers[f]) || (i > f && n > numbers[f]) || i === f ? n : -1)));
}

function focusedIn(parent, nodes) {
        const active = document.activeElement;

        return active !== parent && parent.contains(active)
                ? nodes.findIndex((node) => node.parentNode === parent && node.contains(active)) : -1;
}

/* Makes `nodes` the children of `parent` with as few moves as can be. */
function place(parent, nodes) {
        const wanted = new Set(nodes);
        const at = new Map();

        for (let node = parent.firstChild; node;) {
                const next = node.nextSibling;

                if (!wanted.has(node))
                        node.remove();
                else
                        at.set(node, at.size);
                node = next;
        }
        const keeps = staying(nodes.map((node) => at.get(node) ?? -1), focusedIn(parent, nodes));
        let before = null;

        for (let i = nodes.length - 1; i >= 0; i--) {
                if (!keeps.has(i) || nodes[i].parentNode !== parent)
                        moveTo(parent, nodes[i], before);
                before = nodes[i];
        }
}

/* ---- lists ---- */

const kept = new WeakMap();

/* The children of `container` become one element for each item, in order. key(item) is unique; make(item)
 * gives the element, without what may change; update(el, item) writes that, also right after make(). Elements stay
 * with their key, so focus, selection and opened details do. Returns the elements by key. `changed`: a Set of keys;
 * of others, update() is not called where the element is there already. */
export function keyed(container, items, key, make, update, changed) {
        const old = kept.get(container) || new Map();
        const now = new Map();

        for (const item of items) {
                const k = key(item);

                if (now.has(k))
                        continue;
                let el = old.get(k);
                const fresh = !el;

                if (fresh)
                        el = make(item);
                if (update && (fresh || !changed || changed.has(k)))
                        update(el, item);
                now.set(k, el);
        }
        kept.set(container, now);
        place(container, [...now.values()]);
        return now;
}

/* ---- long lists ---- */

const OVERSCAN = 12; // rows beyond what is seen, on either side
const SMALL = 60;    // so many are simply all there
const FIRST = 40;    // of more, before it is known how high a row is

function height(el) {
        return el.getBoundingClientRect().height;
}

/* Rows of a table (`body` is its tbody, `columns` how many it has) or items of a list of which only those near
 * the window's view are in the document. All rows are of one height. The row that has the focus stays.
 *   const list = virtual(body, { key, make, update, columns });
 *   list.show(items, changed);  list.close();  list.reveal(key) scrolls there and returns the element.
 * The table gets aria-rowcount and each row aria-rowindex, so that a screen reader tells the place in the whole. */
export function virtual(body, { key, make, update, columns = 0, rowHeight = 0 }) {
        const table = columns ? body.closest('table') : body;
        const above = spacer(columns), below = spacer(columns);
        const cache = new Map();
        let items = [], tall = rowHeight, from = 0, to = 0, queued = false, stale = false;

        function draw(changed) {
                const shown = window_();
                const seen = new Set();
                const nodes = [];

                for (const i of shown) {
                        const item = items[i], k = key(item);
                        let el = cache.get(k);
                        const fresh = !el;

                        if (fresh)
                                cache.set(k, el = make(item));
                        if (fresh || !changed || changed.has(k))
                                update(el, item);
                        setAttr(el, columns ? 'aria-rowindex' : 'aria-posinset', columns ? i + 2 : i + 1);
                        if (!columns)
                                setAttr(el, 'aria-setsize', items.length);
                        seen.add(k);
                        nodes.push([i, el]);
                }
                for (const k of cache.keys())
                        if (!seen.has(k))
                                cache.delete(k);
                if (columns)
                        setAttr(table, 'aria-rowcount', items.length + 1);
                lay(nodes);
        }

        /* The numbers of the rows that are to be there, in order. */
        function window_() {
                if (items.length <= SMALL || !tall) {
                        from = 0;
                        to = items.length <= SMALL ? items.length : FIRST;
                } else {
                        const top = Math.max(0, -body.getBoundingClientRect().top);

                        const rows = Math.ceil(innerHeight / tall) + 2 * OVERSCAN;

                        from = Math.max(0, Math.min(Math.floor(top / tall) - OVERSCAN, items.length - rows));
                        to = Math.min(items.length, from + rows);
                }
                const list = [];

                for (let i = from; i < to; i++)
                        list.push(i);
                const focused = focusedIndex();

                if (focused >= 0 && (focused < from || focused >= to))
                        list[focused < from ? 'unshift' : 'push'](focused);
                return list;
        }

        function focusedIndex() {
                if (!body.contains(document.activeElement))
                        return -1;
                for (const [k, el] of cache)
                        if (el.contains(document.activeElement))
                                return items.findIndex((item) => key(item) === k);
                return -1;
        }

        /* The focused row may stand apart, above or below the rest. */
        function lay(nodes) {
                const apart = (i) => i < from || i >= to;
                const before = nodes.filter(([i]) => i < from).length, after = nodes.filter(([i]) => i >= to).length;
                const list = nodes.map(([i, el]) => {
                        setClass(el, 'apart', apart(i));
                        return el;
                });

                setVar(above, '--tall', `${Math.max(0, from - before) * tall}px`);
                setVar(below, '--tall', `${Math.max(0, items.length - to - after) * tall}px`);
                list.splice(before, 0, above);
                list.splice(list.length - after, 0, below);
                place(body, list);
        }

        function measure() {
                const row = [...cache.values()].find((el) => !el.classList.contains('apart'));
                const now = row ? height(row) : 0;

                stale = false;
                if (!now || Math.abs(now - tall) < 0.25)
                        return;
                tall = now;
                draw(new Set());
        }

        function onResize() {
                stale = true;
                soon(() => {
                        measure();
                        draw(new Set());
                });
        }

        function onScroll() {
                if (queued || items.length <= SMALL)
                        return;
                queued = true;
                requestAnimationFrame(() => {
                        queued = false;
                        draw(new Set());
                });
        }

        addEventListener('scroll', onScroll, { passive: true });
        addEventListener('resize', onResize, { passive: true });
        return {
                show(list, changed) {
                        items = list;
                        draw(changed);
                        if (!tall || stale)
                                measure();
                },
                reveal(k) {
                        const i = items.findIndex((item) => key(item) === k);

                        if (i < 0)
                                return null;
                        if (!cache.has(k)) {
                                scrollTo({ top: scrollY + body.getBoundingClientRect().top + i * tall - innerHeight / 2 });
                                draw(new Set());
                        }
                        return cache.get(k) || null;
                },
                close() {
                        removeEventListener('scroll', onScroll);
                        removeEventListener('resize', onResize);
                },
        };
}

function spacer(columns) {
        return columns ? h('tr', { class: 'spacer', 'aria-hidden': 'true' }, h('td', { colspan: columns }))
                : h('div', { class: 'spacer', 'aria-hidden': 'true' });
}

/* ---- once a frame ---- */

const waiting = new Set();
let frame = 0;

function runAll() {
        const all = [...waiting];

        frame = 0;
        waiting.clear();
        for (const f of all)
                f();
}

/* Runs `f` before the next drawing, once however often it was asked for. A hidden window has no frames, so
 * there it runs a little later; a frame that was asked for before it was hidden comes when it is seen again. */
export function soon(f) {
        waiting.add(f);
        if (!frame)
                frame = document.hidden ? setTimeout(runAll, 200) : requestAnimationFrame(runAll);
}
