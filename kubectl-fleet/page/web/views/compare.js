/* Why this cluster and not that: the first criterion in which two of them differ, in the scheduler's order. Knows rows, not
 * the screen. */

function termsOf(row, required) {
        return row.terms.filter((t) => t.title.startsWith('required') === required);
}

/* "region=east: it is west" of each requirement that does not hold; terms are alternatives. */
export function missing(row) {
        return termsOf(row, true).flatMap((t) => t.requirements).filter((r) => !r.holds)
                .map((r) => `${r.text}: ${r.has === undefined ? 'it has none' : `it is ${r.has}`}`);
}

function whyNot(row) {
        const lacks = missing(row);

        return row.against + (row.against?.includes('affinity') && lacks.length ? ` (${lacks.join('; ')})` : '');
}

/* Preferences that hold on the one and not on the other; of those that sort, what both have. */
function preferences(a, b) {
        const others = termsOf(b, false);

        return termsOf(a, false).map((t, i) => {
                const other = others[i];

                if (!other)
                        return '';
                if (t.sortedBy)
                        return t.has === other.has ? '' : `${t.sortedBy} is ${t.has ?? 'unknown'} against ${other.has ?? 'unknown'}`;
                const words = t.requirements.map((r) => r.text).join(', ');

                return t.holds && !other.holds ? `it has ${words}` : !t.holds && other.holds ? `the other has ${words}` : '';
        }).filter(Boolean);
}

/* Both are { name, row }. { criterion, better: the one that is preferred or null, text }. */
function differ(a, b) {
        const [x, y] = [a, b].map((o) => o.row);

        for (const [criterion, holds, words] of [['eligible', (r) => r.eligible, 'cannot be used now'], ['filter', (r) => r.fits, 'does not fit']])
                if (holds(x) !== holds(y)) {
                        const [good, bad] = holds(x) ? [a, b] : [b, a];

                        return { criterion, better: good, text: `${bad.name} ${words}: ${whyNot(bad.row)}` };
                }
        if (!x.fits)
                return { criterion: 'neither', better: null, text: x.against === y.against
                        ? `Neither fits: ${x.against}` : `Neither fits. ${a.name}: ${whyNot(x)}. ${b.name}: ${whyNot(y)}` };
        for (const [criterion, key, words] of [['spread', 'spread', 'spread score'], ['affinity', 'affinity', 'affinity score']])
                if (x[key] !== y[key]) {
                        const [good, bad] = x[key] > y[key] ? [a, b] : [b, a];
                        const more = key === 'affinity' ? preferences(good.row, bad.row) : [];

                        return { criterion, better: good, text: `${good.name} ranks higher: ${words} ${good.row[key]} against ${bad.row[key]}` +
                                (more.length ? ` (${more.join('; ')})` : '') };
                }
        if (x.affinity === undefined)
                return { criterion: 'both', better: null, text: 'Both fit, and the policy takes all that fit' };
        const first = a.name > b.name ? a : b;

        return { criterion: 'name', better: first, text: `${first.name} ranks higher: both fit equally well, and the greater name decides` };
}

/* The same in a sentence, with what is placed already: that is not moved. */
export function compare(a, b) {
        const d = differ(a, b), kept = Boolean(a.row.placed) !== Boolean(b.row.placed) ? (a.row.placed ? a : b) : null;
        const leaves = kept?.row.change === 'leaves';

        if (kept && !leaves && d.better && d.better !== kept)
                return { ...d, text: `${kept.name} has the placement already, and what is placed is not moved. Anew: ${d.text}.` };
        if (kept && !leaves && d.criterion === 'name')
                return { ...d, text: `${kept.name} has the placement already. Anew: ${d.text}.` };
        return { ...d, text: `${d.text}.` };
}
