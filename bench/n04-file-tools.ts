// N4 FN1 FN2 file tools over stdio with grant, policy and a durable ledger, beside server-filesystem
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inMs, interleaved, medianMs, report, times } from './harness.ts'
import type { Finding } from './harness.ts'
import { fillTree, startFileServers } from './parts/file-servers.ts'
import { tempFolder } from './parts/folder.ts'
import { openSyncs } from './parts/syncs.ts'

const rounds = 7
const findings: Finding[] = []

using folder = tempFolder()
const at = (...names: string[]) => join(folder.path, ...names)

const kilobyte = 'All work and no play makes a dull day. '.repeat(27).slice(0, 1024)
const megabyte = `${kilobyte.slice(0, 63)}\n`.repeat(16_384)

type Goal = { readonly text: string; readonly met: boolean }
const noGoal: Goal = { text: '–', met: true }
const atMost = (ratio: number, ours: number, theirs: number): Goal => ({
  text: `≤ ${times(ratio)}`,
  met: ours <= theirs * ratio,
})
const within = (ms: number, ours: number, theirs: number): Goal => ({
  text: `within ${inMs(ms)} of it`,
  met: ours <= theirs + ms,
})

/** Compares the latency of one call with the peer or a floor of the same run. */
function compare(what: string, ours: number, beside: number, goal: Goal, peer = official): void {
  findings.push({
    id: 'N4',
    what: `${what}, p50`,
    ours: inMs(ours),
    beside: `${inMs(beside)}, ${peer}`,
    ratio: times(ours / beside),
    goal: goal.text,
    met: goal.met,
  })
}
const official = 'server-filesystem'

/** The official server does not fsync: it is timed again with the fsyncs that cowork makes. */
function compareSynced(what: string, ours: number, theirs: number, synced: number): void {
  const peer = `${official} and the same fsyncs (${inMs(theirs)} without)`
  compare(what, ours, synced, within(2, ours, synced), peer)
}

function limit(what: string, ours: number, max: number): void {
  findings.push({
    id: 'FN1',
    what: `${what}, p50`,
    ours: inMs(ours),
    beside: '–',
    ratio: '–',
    goal: `< ${inMs(max)}`,
    met: ours < max,
  })
}

async function small(): Promise<void> {
  const root = at('small')
  mkdirSync(join(root, 'thousand'), { recursive: true })
  for (let n = 0; n < 1000; n++) writeFileSync(join(root, 'thousand', `file-${n}.txt`), kilobyte)
  fillTree(join(root, 'tree'), 10_000)
  writeFileSync(join(root, 'kilobyte.txt'), kilobyte)
  writeFileSync(join(root, 'megabyte.txt'), megabyte)
  for (const side of ['ours', 'theirs']) mkdirSync(join(root, side))
  await using sides = await startFileServers(root)
  const { ours, theirs, relayed, bare } = sides
  using syncs = openSyncs(at())

  const read = async (name: string, count: number) => {
    const path = join(root, name)
    return interleaved(rounds, {
      ours: () => medianMs(count, () => ours.call('read_file', { path, max_bytes: 2 ** 21 })),
      theirs: () => medianMs(count, () => theirs.call('read_text_file', { path })),
      relayed: () => medianMs(count, () => relayed.call('read_text_file', { path })),
    })
  }
  const readSmall = await read('kilobyte.txt', 200)
  compare(
    'read 1 KB',
    readSmall.ours,
    readSmall.theirs,
    within(1, readSmall.ours, readSmall.theirs),
  )
  // cowork uses two processes by design (PV6).
  const behindProcess = `${official} behind a second process`
  compare('read 1 KB', readSmall.ours, readSmall.relayed, noGoal, behindProcess)
  const readLarge = await read('megabyte.txt', 10)
  compare(
    'read 1 MB',
    readLarge.ours,
    readLarge.theirs,
    atMost(0.7, readLarge.ours, readLarge.theirs),
  )

  let files = 0
  const newTheirs = () => join(root, 'theirs', `${files++}.txt`)
  const write = (content: string, count: number) =>
    interleaved(rounds, {
      ours: () =>
        medianMs(count, () =>
          ours.call('create_file', { path: join(root, 'ours', `${files++}.txt`), content }),
        ),
      theirs: () =>
        medianMs(count, () => theirs.call('write_file', { path: newTheirs(), content })),
      synced: () =>
        medianMs(count, async () => {
          const path = newTheirs()
          await theirs.call('write_file', { path, content })
          syncs.create(path)
        }),
      bare: () => medianMs(count, () => bare.call('write_file', { path: newTheirs(), content })),
    })
  const wroteSmall = await write(kilobyte, 40)
  compareSynced('write 1 KB', wroteSmall.ours, wroteSmall.theirs, wroteSmall.synced)
  const wroteLarge = await write(megabyte, 8)
  compare(
    'write 1 MB',
    wroteLarge.ours,
    wroteLarge.theirs,
    atMost(1.5, wroteLarge.ours, wroteLarge.theirs),
  )
  const bareWriter = 'one process that parses the line and writes the file, unsynced'
  compare('write 1 MB', wroteLarge.ours, wroteLarge.bare, noGoal, bareWriter)

  for (const side of ['ours', 'theirs'])
    writeFileSync(join(root, side, 'edited.txt'), `${kilobyte}\nround 0\n`)
  const turns = { ours: 0, theirs: 0 }
  const theirFile = join(root, 'theirs', 'edited.txt')
  const editTheirs = () => {
    const edits = [{ oldText: `round ${turns.theirs}\n`, newText: `round ${++turns.theirs}\n` }]
    return theirs.call('edit_file', { path: theirFile, edits })
  }
  const edited = await interleaved(rounds, {
    ours: () =>
      medianMs(40, () => {
        const edits = [{ old: `round ${turns.ours}\n`, new: `round ${++turns.ours}\n` }]
        const path = join(root, 'ours', 'edited.txt')
        return ours.call('update_file', { path, edits, create_backup: false })
      }),
    theirs: () => medianMs(40, editTheirs),
    synced: () => {
      syncs.keepAhead(40, kilobyte)
      return medianMs(40, async () => {
        await editTheirs()
        syncs.change(theirFile)
      })
    },
  })
  compareSynced('edit 1 KB', edited.ours, edited.theirs, edited.synced)

  const path = join(root, 'thousand')
  const listed = await interleaved(rounds, {
    ours: () => medianMs(20, () => ours.call('list_files', { path, limit: 1000 })),
    theirs: () => medianMs(20, () => theirs.call('list_directory_with_sizes', { path })),
  })
  compare('list 1,000 with sizes', listed.ours, listed.theirs, noGoal)
  const named = await interleaved(rounds, {
    ours: () => medianMs(20, () => ours.call('list_files', { path, limit: 1000, details: false })),
    theirs: () => medianMs(20, () => theirs.call('list_directory', { path })),
  })
  compare('list 1,000, names only', named.ours, named.theirs, within(1, named.ours, named.theirs))

  /** Reads all pages. */
  async function wholeTree(): Promise<void> {
    const query = { path: join(root, 'tree'), depth: 20 }
    for (let more = {}; ;) {
      const { content } = await ours.call('file_tree', { ...query, ...more })
      const [, quoted] = /"cursor": (".*")\]$/.exec(content?.[0]?.text ?? '') ?? []
      const cursor = quoted === undefined ? undefined : (JSON.parse(quoted) as string)
      if (cursor === undefined) return
      more = { cursor }
    }
  }
  const tree = await interleaved(rounds, {
    ours: () => medianMs(3, wholeTree),
    theirs: () => medianMs(3, () => theirs.call('directory_tree', { path: join(root, 'tree') })),
  })
  compare(
    'tree of 10,000 files, whole',
    tree.ours,
    tree.theirs,
    atMost(0.7, tree.ours, tree.theirs),
  )

  const checked = await interleaved(rounds, {
    ours: () => medianMs(100, () => ours.call('check_grant', { path: join(path, 'file-1.txt') })),
  })
  limit('create 1 MB', wroteLarge.ours, 100)
  limit('read 1 MB', readLarge.ours, 100)
  limit('list 1,000 with sizes and times', listed.ours, 200)
  limit('check_grant', checked.ours, 20)
}

/** Searches by name in a tree of this many files, all granted. */
async function search(count: number): Promise<void> {
  const root = at(`tree-${count}`)
  fillTree(root, count)
  await using sides = await startFileServers(root)
  const { ours, theirs } = sides
  const query = { query: 'needle', search_in: 'granted' }
  const calls = count > 10_000 ? 1 : 3
  const found = await interleaved(calls > 1 ? rounds : 3, {
    ours: () => medianMs(5, () => ours.call('search_files', query)),
    theirs: () =>
      medianMs(calls, () =>
        theirs.call('search_files', { path: root, pattern: '**/*needle*', excludePatterns: [] }),
      ),
  })
  const what = `name search in ${count.toLocaleString('en')} files`
  compare(what, found.ours, found.theirs, atMost(0.7, found.ours, found.theirs))
  limit(what, found.ours, 500)
}

await small()
await search(10_000)
await search(100_000)
report(findings)
