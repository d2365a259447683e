// What the test rig has in each document, in a world of its own. It tells of the performance timeline by tellRig(), and
// answers questions about what is seen. It changes nothing on the page but where it is scrolled to.
'use strict'
const rig = globalThis.rig = {}

// ---- the performance timeline ----

for (const type of ['longtask', 'paint', 'largest-contentful-paint', 'layout-shift']) {
  new PerformanceObserver(list => {
    for (const e of list.getEntries()) {
      if (e.hadRecentInput) continue
      globalThis.tellRig(JSON.stringify({ type, name: e.name, start: e.startTime, duration: e.duration, value: e.value ?? 0 }))
    }
  }).observe({ type, buffered: true })
}

// ---- names for people ----

// An element as it would be told of: its tag, id, classes, and a word of its text.
const named = e => {
  const classes = [...e.classList].slice(0, 2).map(c => '.' + c).join('')
  const said = (e.getAttribute('aria-label') ?? e.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 30)
  return `<${e.localName}${e.id ? '#' + e.id : ''}${classes}>${said ? ` "${said}"` : ''}`
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
