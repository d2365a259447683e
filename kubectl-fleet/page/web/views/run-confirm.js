/* Asks before something is done: a dialog that repeats what will happen. */

import { h } from '../dom.js';

/* { title, lines: [text or nodes], action: what the button says }: a promise of whether it was confirmed. */
export function confirmed({ title, lines, action }) {
        return new Promise((resolve) => {
                const dialog = h('dialog', {
                        class: 'dialog confirm', 'aria-labelledby': 'confirm-title',
                        onclose() {
                                dialog.remove();
                                resolve(dialog.returnValue === 'yes');
                        },
                }, h('h2', { id: 'confirm-title' }, title),
                h('ul', { class: 'stack confirm-lines' }, lines.filter(Boolean).map((line) => h('li', line))),
                h('div', { class: 'row confirm-end' },
                        h('button', { type: 'button', class: 'button', onclick: () => dialog.close('') }, 'Cancel'),
                        h('button', { type: 'button', class: 'button accent', onclick: () => dialog.close('yes') }, action)));

                document.body.append(dialog);
                dialog.showModal();
        });
}
