// The scenes of SV19. A scene plays the model: it yields a call, receives what the client showed of the result, and
// throws if the model could not continue from it. It returns a summary.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileCount = 300
const names = Array.from({ length: fileCount }, (_, n) => `report-${n + 1}.txt`)

/** Over 200 kB. Characters of one to four bytes reveal a chunk that ends within a character; all lines differ. */
const large = Buffer.from(
  Array.from({ length: 8000 }, (_, n) => `${n} naïve — 𝄞 ${(n * 7919) % 10_007}`).join('\n'),
)

/** One pixel. */
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Fills the workspace, and a folder beside it that agents cannot read. */
export function writeFixtures({ workspace, home }) {
  mkdirSync(join(workspace, 'reports'), { recursive: true })
  for (const name of names) writeFileSync(join(workspace, 'reports', name), name)
  writeFileSync(join(workspace, 'large.txt'), large)
  writeFileSync(join(workspace, 'picture.png'), Buffer.from(picture, 'base64'))
  writeFileSync(join(home, 'private.txt'), 'private')
}

export const scenes = [
  {
    name: 'the instructions',
    async *play({ offered }) {
      const status = yield call('cowork_status', {})
      check(isStatus(status), 'cowork_status failed', status)
      const { tools, text } = offered()
      check(/pending is not failure/i.test(text), 'the instructions were not shown', { text })
      const names = tools.map(({ name, space }) => (space ? `${space}__${name}` : name))
      const count = new Set(names.filter((name) => /cowork_+\w/.test(name))).size
      return `the instructions and ${count} tools`
    },
  },
  {
    name: 'a 200 kB file',
    async *play() {
      let at = 0
      let parts = 0
      while (at < large.length) {
        const seen = yield call('read_file', {
          path: 'large.txt',
          ...(at > 0 && { byte_from: at }),
        })
        const next = Number(/byte_from\W{1,4}(\d+)/.exec(seen.text)?.[1] ?? large.length)
        const part = large.subarray(at, next).toString()
        const isShown = next > at && seen.text.includes(part)
        check(isShown, `bytes ${at} to ${next} were not shown as they are`, seen)
        at = next
        parts++
      }
      return `${at} bytes in ${parts} parts`
    },
  },
  {
    name: `a listing of ${fileCount} files`,
    async *play() {
      let text = ''
      let calls = 0
      for (let more = {}; more;) {
        const seen = yield call('list_files', { path: 'reports', ...more })
        text += seen.text
        calls++
        const cursor = /cursor"?[:\s]*"([^"]+)"/.exec(seen.text)?.[1]
        more = cursor && calls < fileCount && { cursor }
      }
      const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
      check(missing.length === 0, `${missing.length} names were not shown`, { text })
      return `${fileCount} names in ${calls} ${calls === 1 ? 'call' : 'calls'}, ${text.length} characters`
    },
  },
  {
    name: 'an edited approval',
    async *play({ decide }) {
      const proposed = yield call('cowork_propose', {
        domain: 'billing',
        action: 'refund',
        target: 'order-7',
        proposed_change: { amount: 500 },
        confidence: 0.9,
        reasoning: 'The parcel was lost.',
      })
      const id = /(?:proposal|approval)_id\W{1,5}([\w-]{8,})/.exec(proposed.text)?.[1]
      check(id, 'the answer names no proposal_id', proposed)
      await decide({ approval_ids: [id], decision: 'approve', change: { amount: 50 } })
      const decided = yield call('cowork_check_approval', { proposal_id: id })
      check(/approved/i.test(decided.text), 'the approval was not shown', decided)
      check(/\bamount\W+50\b/.test(decided.text), 'the edit to 50 was not shown', decided)
      return 'amount 50 in place of 500'
    },
  },
  {
    name: 'a refusal',
    async *play({ home }) {
      const seen = yield call('read_file', { path: join(home, 'private.txt') })
      check(!isProtocolError(seen.text), 'the refusal came as a protocol error', seen)
      check(/request_grant/.test(seen.text), 'the refusal names no next call', seen)
      check(/private\.txt/.test(seen.text), 'the refusal does not name the file', seen)
      return 'names request_grant'
    },
  },
  {
    name: 'an image',
    async *play() {
      const seen = yield call('read_file', { path: 'picture.png' })
      check(seen.images.includes(picture), 'the image was not shown', seen)
      return 'the image itself'
    },
  },
  {
    // Last, so that a client which cannot do it still plays the others.
    name: 'a restart',
    async *play({ restart }) {
      const before = yield call('cowork_status', {})
      check(isStatus(before), 'cowork_status failed before the restart', before)
      await restart()
      const after = yield call('cowork_status', {})
      check(isStatus(after), 'cowork_status failed after the restart', after)
      return 'goes on after cowork down; cowork up -d'
    },
  },
]

const call = (tool, input) => ({ tool, input })

const isStatus = ({ text }) => /caller/.test(text) && !isProtocolError(text)

/** Wording of the clients' SDKs, and of Codex and Gemini CLI for a lost connection. */
const isProtocolError = (text) => /MCP error -\d+|Transport closed|Not connected/.test(text)

function check(isTrue, message, { text }) {
  if (isTrue) return
  const line = text.replaceAll(/\s+/g, ' ')
  const shown = line.length > 400 ? `${line.slice(0, 200)} … ${line.slice(-200)}` : line
  throw new Error(`${message}: ${shown}`)
}
