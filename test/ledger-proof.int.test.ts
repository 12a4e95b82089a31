import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#base/hash.ts'
import { leafHash } from '../src/ledger/tree.ts'
import { newPlace, testPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

type Place = ReturnType<typeof newPlace>
type Line = Record<string, unknown> & { seq: number }

const readLines = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

/** Recomputes each `prev`, as someone without the key can do. */
function chained(entries: readonly Line[]): string {
  let prev = '0'.repeat(64)
  return entries
    .map((entry, i) => {
      const body = canonicalJson({ ...entry, seq: i + 1, prev })
      prev = leafHash(body).toString('hex')
      return `${body}\n`
    })
    .join('')
}

/** The state of a daemon that ran and stopped. */
async function used(place: Place) {
  await place.cowork(['up', '-d'])
  for (const id of ['a', 'b', 'c']) await place.cowork(['agents', 'add', id])
}

/** Each clean shutdown signs, so the store has at least two checkpoints. */
async function usedTwice(place: Place) {
  await used(place)
  for (const act of [['down'], ['up', '-d'], ['down']]) await place.cowork(act)
}

describe('RS1 an export', () => {
  const place = newPlace()
  let exported: string
  beforeAll(async () => {
    await used(place)
    exported = join(place.state, 'export')
    await place.cowork(['audit', 'export', exported])
  })
  afterAll(place.end)
  const elsewhere = ['--state', join(place.state, 'elsewhere')]
  const verify = (...more: string[]) =>
    place.cowork(['audit', 'verify', exported, ...more, ...elsewhere])

  test('RS1 ends at a signed checkpoint, and verify reports the source of its key', async () => {
    const good = await verify()
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('\nSigned by ') })
    expect(good.stderr).toContain('The public key comes from this folder')
    const known = await verify('--key', place.paths.ledgerPublicKey)
    expect(known).toMatchObject({ code: 0, stderr: '' })
    const entries = readLines(join(exported, 'entries.jsonl'))
    expect(readLines(join(exported, 'checkpoints.jsonl')).at(-1)?.['size']).toBe(entries.length)
  })

  test('RS1 with rewritten entries and without checkpoints does not verify', async () => {
    const file = join(exported, 'entries.jsonl')
    const before = [file, join(exported, 'checkpoints.jsonl')].map((path) => ({
      path,
      text: readFileSync(path, 'utf8'),
    }))
    const entries = readLines(file)
    writeFileSync(file, chained(entries.map((entry) => ({ ...entry, at: 1 }))))
    writeFileSync(join(exported, 'checkpoints.jsonl'), '')
    const bad = await verify()
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('BROKEN at entry 1: ') })
    expect(bad.stdout).toContain('No entry is signed')
    expect(bad.stdout).not.toMatch(/signed by/i)

    for (const { path, text } of before) writeFileSync(path, text)
    const invented = Array.from({ length: 50 }, () => ({ ...entries.at(-1), seq: 0 }))
    writeFileSync(file, chained([...entries, ...invented]))
    const longer = await verify('--key', place.paths.ledgerPublicKey)
    expect(longer.code).toBe(1)
    expect(longer.stdout).toContain(`BROKEN at entry ${entries.length + 1}: `)
    expect(longer.stdout).toContain(`Entries 1–${entries.length} are signed by `)
    for (const { path, text } of before) writeFileSync(path, text)
  })

  test('L16 a receipt of one call verifies with the public key and shows its entries', async () => {
    const entries = readLines(join(exported, 'entries.jsonl'))
    const added = entries.find(({ type }) => type === 'agent.added')
    const { call = '' } = (added?.['ids'] ?? {}) as { call?: string }
    const file = join(place.state, 'receipt.json')
    expect(await place.cowork(['audit', 'receipt', call, '--out', file])).toMatchObject({ code: 0 })
    const check = ['audit', 'verify', file, '--key', place.paths.ledgerPublicKey, ...elsewhere]
    const good = await place.cowork(check)
    expect(good).toMatchObject({ code: 0, stderr: '' })
    expect(good.stdout).toContain('human owner completed cowork_add_agent')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"owner', '"0wner').replace('owner', '0wner'),
    )
    expect(await place.cowork(check)).toMatchObject({ code: 1 })
  })

  test('L15 a separately stored checkpoint is checked against the ledger', async () => {
    const [first] = readLines(join(exported, 'checkpoints.jsonl'))
    const note = String(first?.['note'])
    expect(await verify('--checkpoint', note.trim())).toMatchObject({ code: 0 })
    const file = join(place.state, 'kept.txt')
    writeFileSync(file, note)
    expect(await place.cowork(['audit', 'verify', '--checkpoint', file])).toMatchObject({ code: 0 })
    const other = testPlace()
    await used(other)
    // A clean shutdown signs; before, the first checkpoint may be pending.
    await other.cowork(['down'])
    const foreign = readFileSync(join(other.state, 'checkpoints', 'checkpoints.jsonl'), 'utf8')
    const kept = String((JSON.parse(foreign.split('\n')[0] ?? '{}') as Line)['note'])
    expect(await verify('--checkpoint', note, '--checkpoint', kept)).toMatchObject({ code: 1 })
  })
})

describe('RS1 a store', () => {
  /** Removes the newest checkpoints, like a crash before they were written. */
  function unsign({ paths, state }: Place, ...more: string[]): number {
    rmSync(join(state, 'checkpoints'), { recursive: true })
    const db = new DatabaseSync(paths.store)
    db.exec('DELETE FROM ledger_checkpoint WHERE size > (SELECT min(size) FROM ledger_checkpoint)')
    for (const sql of more) db.exec(sql)
    const { size } = db.prepare('SELECT size FROM ledger_checkpoint').get() as { size: number }
    db.close()
    return size
  }

  test('RS1 L14 with an unsigned tail and a valid MAC is intact, and the daemon starts', async () => {
    const place = testPlace()
    await usedTwice(place)
    const signed = unsign(place)
    const tail = await place.cowork(['audit', 'verify'])
    expect(tail).toMatchObject({ code: 0, stderr: '' })
    expect(tail.stdout).toMatch(
      new RegExp(`Signed up to entry ${signed}; unsigned but intact: entr(y|ies) ${signed + 1}`),
    )
    expect(tail.stdout).toContain(`Entries 1–${signed} are signed by `)
    // The public key alone cannot prove it.
    renameSync(place.paths.ledgerKey, `${place.paths.ledgerKey}.aside`)
    expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 1 })
    renameSync(`${place.paths.ledgerKey}.aside`, place.paths.ledgerKey)
    expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
    expect(await place.cowork(['down'])).toMatchObject({ code: 0 })
    expect((await place.cowork(['audit', 'verify'])).stdout).toMatch(/^OK: .*\nSigned by /)
  })

  test('RS1 L14 without a MAC is refused until the owner accepts it, which verify shows', async () => {
    const place = testPlace()
    await usedTwice(place)
    const from = unsign(place, 'UPDATE ledger_head SET mac = NULL') + 1
    expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 1 })
    const refused = await place.cowork(['up'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('cowork restore')
    expect(refused.stderr).toContain('cowork ledger accept --reason')

    const accept = ['ledger', 'accept', '--reason', 'crash of the old version']
    const withoutPerson = await place.cowork(accept)
    expect(withoutPerson.stderr).toContain('needs a person at a terminal')
    const accepted = await inTerminal(place, accept).ended()
    expect(accepted.code).toBe(0)
    expect(accepted.output).toMatch(new RegExp(`entr(y|ies) ${from}`))
    expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
    const { code, stdout } = await place.cowork(['audit', 'verify'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      new RegExp(`without proof: entr(y|ies) ${from}.*Reason: crash of the old version`),
    )
  })

  test('RS1 L14 without checkpoints and MAC can be accepted, as the startup error says', async () => {
    const place = testPlace()
    await used(place)
    await place.cowork(['down'])
    const db = new DatabaseSync(place.paths.store)
    db.exec('DELETE FROM ledger_checkpoint; UPDATE ledger_head SET mac = NULL')
    db.close()
    // The copies cover every entry.
    expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 0 })
    expect((await place.cowork(['up'])).stderr).toContain('cowork ledger accept --reason')
    const accept = ['ledger', 'accept', '--reason', 'the copies prove them']
    expect(await inTerminal(place, accept).ended()).toMatchObject({ code: 0 })
    expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
    expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 0 })
  })

  test('RS1 RS6 with an empty ledger and a forged mapping is refused, also without copies', async () => {
    const place = testPlace()
    await used(place)
    await place.cowork(['down'])
    rmSync(join(place.state, 'checkpoints'), { recursive: true })
    const db = new DatabaseSync(place.paths.store)
    db.exec('DROP TRIGGER ledger_entry_no_delete')
    for (const table of ['entry', 'payload', 'node', 'checkpoint', 'key'])
      db.exec(`DELETE FROM ledger_${table}`)
    db.exec(
      `UPDATE ledger_head SET size = 0, at = 0, hash = '${'0'.repeat(64)}', frontier = '', mac = NULL`,
    )
    db.exec(`INSERT INTO mapping VALUES ('a', 'bank', 'lenient', 'x', 'owner', 1)`)
    db.close()
    const { code, stdout } = await place.cowork(['audit', 'verify'])
    expect(code).toBe(1)
    expect(stdout).toContain('mapping of agent "a" in domain "bank": no entry records this row')
    const refused = await place.cowork(['up'])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('cowork restore') })
  })

  test('RS1 signed by a key that is not ledger.key does not verify', async () => {
    const [place, other] = [testPlace(), testPlace()]
    for (const each of [place, other]) {
      await used(each)
      await each.cowork(['down'])
    }
    // A foreign ledger with its public key, and the original private key.
    for (const name of ['store', 'ledgerPublicKey'] as const)
      copyFileSync(other.paths[name], place.paths[name])
    rmSync(join(place.state, 'checkpoints'), { recursive: true })
    const { code, stderr } = await place.cowork(['audit', 'verify'])
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ledger.key'),
    })
    // The key in the store is not sufficient without a public key file.
    rmSync(place.paths.ledgerPublicKey)
    expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 1 })
  })

  test('RS1 without its private key gets no new one while the public key is known', async () => {
    const place = testPlace()
    await used(place)
    await place.cowork(['down'])
    rmSync(place.paths.ledgerKey)
    const db = new DatabaseSync(place.paths.store)
    db.exec('DELETE FROM ledger_key')
    db.close()
    expect((await place.cowork(['up'])).stderr).toContain('Not found')
    expect(existsSync(place.paths.ledgerKey)).toBe(false)
  })
})

test('L15 every folder gets checkpoints, detects a truncated store and is restored from a backup', async () => {
  const place = testPlace('ledger: { checkpoint_copies: [one, two] }\n')
  const copies = ['one', 'two'].map((folder) => join(place.state, folder, 'checkpoints.jsonl'))
  await used(place)
  const backup = join(place.state, 'a.backup')
  expect(await place.cowork(['backup', backup])).toMatchObject({ code: 0 })
  await place.cowork(['agents', 'add', 'later'])
  await place.cowork(['down'])
  const [one, two] = copies.map((path) => readFileSync(path, 'utf8'))
  expect(two).toBe(one)

  // The second folder alone is sufficient.
  rmSync(join(place.state, 'one'), { recursive: true })
  rmSync(place.paths.store)
  const cut = await place.cowork(['up'])
  expect(cut.stderr).toContain(`a checkpoint in ${copies[1]} was signed over`)

  const restored = await place.cowork(['restore', backup, '--force'])
  expect(restored, restored.stderr).toMatchObject({ code: 0 })
  expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
  expect(await place.cowork(['audit', 'verify'])).toMatchObject({ code: 0 })
})
