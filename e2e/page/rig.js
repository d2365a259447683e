// What the test rig has in each document, in a world of its own. It tells of the performance timeline by tellRig(), and
// answers questions about what is seen. It changes nothing on the page but where it is scrolled to.
'use strict'
const rig = globalThis.rig = {}

// ---- the performance timeline ----

const tell = entries => {
  for (const e of entries.filter(e => !e.hadRecentInput)) {
    globalThis.tellRig(JSON.stringify({ document: performance.timeOrigin, type: e.entryType, name: e.name, start: e.startTime, duration: e.duration, value: e.value ?? 0 }))
  }
}
const observers = ['longtask', 'paint', 'largest-contentful-paint', 'layout-shift'].map(type => {
  const observer = new PerformanceObserver(list => tell(list.getEntries()))
  observer.observe({ type, buffered: true })
  return observer
})

// Tells at once what the browser has measured: on its own it tells when it has nothing else to do.
rig.tellAll = () => { for (const o of observers) tell(o.takeRecords()); return true }

// ---- names for people ----

// An element as it would be told of: its tag, id, classes, and a word of its text.
const tag = e => `<${e.localName}${e.id ? '#' + e.id : ''}${[...e.classList].slice(0, 2).map(c => '.' + c).join('')}>`
const named = e => {
  const said = (e.getAttribute('aria-label') ?? e.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 30)
  return tag(e) + (said ? ` "${said}"` : '')
}

const frame = () => new Promise(requestAnimationFrame)

// ---- where to click ----

const rect = e => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height] }

const atRest = async e => {
  let before = rect(e)
  for (let i = 0; i < 300; i++) {
    await frame()
    const now = rect(e)
    if (now.every((v, k) => v === before[k])) return now
    before = now
  }
  return null
}

rig.placeOf = async selector => {
  const e = document.querySelector(selector)
  if (!e) return { fault: 'it is not there' }
  e.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  const at = await atRest(e)
  if (!at) return { fault: 'it does not come to rest' }
  const x = at[0] + at[2] / 2, y = at[1] + at[3] / 2
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return { fault: `it is outside of what is seen, at ${x}, ${y}` }
  const top = document.elementFromPoint(x, y)
  if (!top || !(e.contains(top) || top.contains(e) || top.closest('label')?.control === e)) return { fault: `${top ? named(top) : 'nothing'} lies above it` }
  return { x, y }
}

// ---- at rest ----

// Until what moves for a while has ended, two seconds at most. What moves for ever is not waited for.
rig.still = async () => {
  const ends = document.getAnimations().filter(a => a.effect?.getComputedTiming().endTime < Infinity).map(a => a.finished.catch(() => 0))
  await Promise.race([Promise.all(ends), new Promise(r => setTimeout(r, 2000))])
  await frame()
  return true
}

// ---- the frame of the document ----

const all = (root, test = () => true) => [...root.querySelectorAll('*')].flatMap(e =>
  [...(test(e) ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot, test) : [])])

const shown = e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })

rig.structure = () => {
  const faults = [], seen = new Set()
  if (!document.documentElement.lang) faults.push('the document names no language')
  if (!document.title.trim()) faults.push('the document has no title')
  for (const e of all(document, e => e.id)) {
    if (seen.has(e.id)) faults.push(`two elements have the id ${e.id}`)
    seen.add(e.id)
  }
  for (const e of all(document, e => e.tabIndex > 0)) faults.push(`${named(e)} has a tabindex above 0`)
  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}, by ${widest()}`)
  return faults
}

// The innermost element that reaches furthest to the right.
const widest = () => named(all(document.body).reduce((w, e) => rect(e)[0] + rect(e)[2] >= rect(w)[0] + rect(w)[2] ? e : w, document.body))

// Interactive elements that are smaller than so many pixels either way, but for links in running text.
rig.small = least => all(document, e => e.matches('button, a[href], input, select, textarea, summary, [role=button], [role=tab], [role=checkbox]'))
  .filter(e => shown(e) && !(e.matches('a') && getComputedStyle(e).display === 'inline'))
  .map(e => [e, rect(e.matches('[type=checkbox], [type=radio]') && e.labels[0] || e)]).filter(([, r]) => r[2] && (r[2] < least || r[3] < least))
  .map(([e, r]) => `${named(e)} is ${Math.round(r[2])} by ${Math.round(r[3])} pixels`)

// ---- the focus ----

const LOOK = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'borderColor', 'borderWidth', 'backgroundColor', 'textDecoration', 'fill', 'stroke', 'strokeWidth']
const look = e => { const s = getComputedStyle(e); return LOOK.map(k => s[k]).join('|') }
let before = new Map()

// Remembers how all looks while nothing has the focus.
rig.unfocused = () => {
  document.activeElement?.blur?.()
  getSelection().removeAllRanges()
  before = new Map(all(document.body).map(e => [e, look(e)]))
  return true
}

const active = () => {
  let e = document.activeElement
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
  return e
}

// What has the focus: its number among all elements, a name for people, whether one sees that it has it. Null for nothing.
rig.focused = async () => {
  const e = active()
  if (!e || e === document.body || e === document.documentElement) return null
  const differs = x => x && before.has(x) && before.get(x) !== look(x)
  if (!differs(e)) await rig.still()
  const own = getComputedStyle(e), [x, y, w, h] = rect(e)
  return {
    number: all(document).indexOf(e), name: named(e), selector: e.id ? '#' + e.id : e.localName,
    seen: differs(e) || differs(e.parentElement) || differs(e.labels?.[0]) || (own.outlineStyle !== 'none' && own.outlineWidth !== '0px' && !before.has(e)),
    inside: w > 0 && h > 0 && x + w > 0 && y + h > 0 && x < innerWidth && y < innerHeight,
  }
}

// ---- contrast ----

const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
const known = new Map()

// Any colour of CSS as red, green, blue (0..255) and alpha (0..1).
const colour = text => {
  if (!known.has(text)) {
    pixel.clearRect(0, 0, 1, 1)
    pixel.fillStyle = '#000'
    pixel.fillStyle = text
    pixel.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data
    known.set(text, [r, g, b, a / 255])
  }
  return known.get(text)
}

const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a)).concat(1)
const faded = ([r, g, b, a], opacity) => [r, g, b, a * opacity]

const luminance = c => {
  const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05) }

const parent = e => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host ?? null
const ancestors = e => { const list = []; for (let a = e; a; a = parent(a)) list.push(a); return list }

const canvas = () => {
  const dark = getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches
  return dark ? [18, 18, 18, 1] : [255, 255, 255, 1]
}

// What is painted below a text: of HTML its ancestors, of SVG the shapes at its middle.
const layersBelow = e => {
  if (!(e instanceof SVGElement)) return ancestors(e)
  const [x, y, w, h] = rect(e)
  const at = document.elementsFromPoint(x + w / 2, y + h / 2)
  return at.includes(e) ? at.slice(at.indexOf(e) + 1) : ancestors(e)
}

const GRADIENT_COLOUR = /(?:rgba?|hsla?|color|oklch|oklab|lab|lch)\([^()]*\)|#[0-9a-f]{3,8}/gi

// The colours that one layer paints; several for a gradient, null for a picture.
const paints = e => {
  const s = getComputedStyle(e)
  if (e instanceof SVGElement && !(e instanceof SVGSVGElement)) return s.fill === 'none' ? [] : s.fill.startsWith('url') ? null : [faded(colour(s.fill), s.fillOpacity)]
  const image = s.backgroundImage
  if (image.includes('url(')) return null
  return [image === 'none' ? [] : (image.match(GRADIENT_COLOUR) ?? []).map(colour), [colour(s.backgroundColor)]].filter(l => l.length)
    .reduce((above, below) => above ? above.map(c => c[3] === 1 ? c : over(c, below[0])) : below, null) ?? []
}

// All colours that may be behind a text, or null where there is a picture.
const backgrounds = e => {
  const layers = []
  for (const one of layersBelow(e)) {
    const colours = paints(one)
    if (colours === null) return null
    const seen = colours.filter(c => c[3] > 0)
    if (seen.length) layers.push(seen)
    if (seen.length && seen.every(c => c[3] === 1)) break
  }
  return layers.reverse().reduce((below, above) => above.flatMap(c => below.map(b => over(c, b))), [canvas()])
}

const opacity = e => ancestors(e).reduce((o, a) => o * getComputedStyle(a).opacity, 1)

// A text's contrast: the lowest ratio, what it needs, and its colours.
const judge = (e, text, style, ink) => {
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
  const behind = backgrounds(e)
  if (!behind) return { what: tag(e), text, unknown: true }
  const found = behind.map(b => ({ b, r: ratio(over(faded(colour(ink), opacity(e)), b), b) })).sort((m, n) => m.r - n.r)[0]
  return { what: tag(e), text, ratio: Math.round(found.r * 100) / 100, needed: large ? 3 : 4.5, ink, paper: `rgb(${found.b.slice(0, 3).map(Math.round).join(', ')})` }
}

const excused = e => !!e.closest(':disabled, [aria-disabled=true], [inert]') || rect(e)[2] <= 1 || rect(e)[3] <= 1

// What an element itself writes: its text nodes, what a field holds or asks for, what its style puts before and after.
const writings = e => {
  const list = [], own = getComputedStyle(e)
  const text = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join(' ').trim()
  const svg = e instanceof SVGElement
  if (text && (!svg || own.fill !== 'none')) list.push([text, own, svg ? own.fill : own.color])
  if (e.matches('input:not([type=checkbox], [type=radio], [type=range], [type=color], [type=hidden]), textarea')) {
    const style = e.value ? own : getComputedStyle(e, '::placeholder')
    if (e.value || e.placeholder) list.push([e.value || e.placeholder, style, style.color])
  }
  for (const which of ['::before', '::after']) {
    const style = getComputedStyle(e, which), said = style.content.match(/^"(.*\S.*)"$/)
    if (said) list.push([said[1], style, style.color])
  }
  return list
}

rig.contrast = () => all(document.body, e => !e.matches('script, style, noscript, template, title, desc, option') && shown(e) && !excused(e))
  .flatMap(e => writings(e).map(([text, style, ink]) => judge(e, text.replace(/\s+/g, ' ').slice(0, 40), style, ink)))
