// What a page that is not ours can try: runs in the browser, on another port or another site.
const { target, token } = Object.fromEntries(new URLSearchParams(location.search))

const json = { 'content-type': 'application/json' }
const halt = JSON.stringify({ arguments: { scope: 'all', reason: 'foreign' } })
const log = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'cowork_log', arguments: { domain: 'd', action: 'foreign', target: 't' } },
})
const haltPath = '/api/tools/cowork_halt/call'

const answered = (response) => (response.type === 'opaque' ? 'opaque' : `READ ${response.status}`)
const ask = (path, init) => () => fetch(target + path, init).then(answered)
const post = (path, body, init) => ask(path, { method: 'POST', body, ...init })

/** An element that loads something: whether it could use it. */
const load = (name, attributes) => () =>
  new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), attributes)
    element.onload = () => resolve('USED')
    element.onerror = reject
    document.body.append(element)
  })

/** A form sends without asking; what comes back fills a frame that we may not read. */
const submit = (path, enctype, name, value) => () =>
  new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.name = `frame-${Math.random()}`
    document.body.append(frame)
    const form = Object.assign(document.createElement('form'), { enctype, target: frame.name })
    form.method = 'POST'
    form.action = target + path
    form.append(Object.assign(document.createElement('input'), { name, value }))
    document.body.append(form)
    frame.onload = () => resolve('sent')
    form.submit()
  })

const frame = (path) => () =>
  new Promise((resolve) => {
    const element = Object.assign(document.createElement('iframe'), { src: target + path })
    element.onload = () => {
      try {
        resolve(`READ ${element.contentDocument.body.textContent}`)
      } catch {
        resolve('opaque')
      }
    }
    document.body.append(element)
  })

/** A sandboxed frame has the origin `null`. */
const fromNowhere = (path, body) => () =>
  new Promise((resolve) => {
    addEventListener('message', ({ data }) => resolve(data), { once: true })
    const script = `fetch(${JSON.stringify(target + path)}, { method: 'POST', body: ${JSON.stringify(body)}, headers: ${JSON.stringify(json)} })
      .then((r) => parent.postMessage('READ ' + r.status, '*'), () => parent.postMessage('refused', '*'))`
    const element = document.createElement('iframe')
    element.sandbox = 'allow-scripts'
    element.srcdoc = `<script>${script}</script>`
    document.body.append(element)
  })

const bearer = { authorization: `Bearer ${token}` }
const attempts = {
  'read the ledger': ask('/api/ledger'),
  'read the ledger, answer unseen': ask('/api/ledger', { mode: 'no-cors' }),
  'read with a stolen token': ask('/api/ledger', { headers: bearer }),
  'listen with a stolen token': ask('/api/events', { headers: bearer }),
  'list the tools over MCP': post('/mcp', log.replace('tools/call', 'tools/list'), {
    headers: { ...json, accept: 'application/json, text/event-stream' },
  }),
  'log over MCP': post('/mcp', log, {
    headers: { ...json, accept: 'application/json, text/event-stream' },
  }),
  'log over MCP, answer unseen': post('/mcp', log, { mode: 'no-cors' }),
  halt: post(haltPath, halt, { headers: json }),
  'halt, answer unseen': post(haltPath, halt, { mode: 'no-cors' }),
  'halt with a stolen token': post(haltPath, halt, { headers: { ...json, ...bearer } }),
  'halt from nowhere': fromNowhere(haltPath, halt),
  'log from nowhere': fromNowhere('/mcp', log),
  'sign out': ask('/api/session', { method: 'DELETE' }),
  'open a session': post('/api/sessions', '{"code":"x"}', { headers: json }),
  'a form as text': submit('/mcp', 'text/plain', `${log.slice(0, -1)},"x":"`, '"}'),
  'a form to the API': submit(haltPath, 'text/plain', `${halt.slice(0, -1)},"x":"`, '"}'),
  'a form as usual': submit(haltPath, 'application/x-www-form-urlencoded', 'scope', 'all'),
  'a beacon': async () => (navigator.sendBeacon(`${target}/mcp`, log) ? 'sent' : 'refused'),
  'the ledger as an image': load('img', { src: `${target}/api/ledger` }),
  'the console as a script': load('script', { src: `${target}/audit` }),
  'the icon of the console': load('img', { src: `${target}/favicon.ico` }),
  'the console in a frame': frame('/audit'),
  'the API in a frame': frame('/api/ledger'),
  'the metrics': ask('/metrics', { headers: bearer }),
}

const results = {}
for (const [name, attempt] of Object.entries(attempts))
  results[name] = await attempt().catch(() => 'refused')
globalThis.results = results
