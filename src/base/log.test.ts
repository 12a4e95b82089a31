import { expect, test } from 'vitest'
import { createLog } from './log.ts'

function setup(json: boolean) {
  const lines: string[] = []
  const log = createLog({ level: 'info', json, write: (line) => lines.push(line), now: () => 0 })
  return { log, lines }
}

test('SV3 a text log line has scope and fields', () => {
  const { log, lines } = setup(false)
  log.scope('store').scope('pg').warn('lost', { error: 'gone', tries: 2, cause: undefined })
  expect(lines).toEqual(['1970-01-01T00:00:00.000Z warn  store.pg: lost error=gone tries=2\n'])
})

test('SV3 a JSON log line is one object for any content', () => {
  const { log, lines } = setup(true)
  log.error('a\nb', { deep: { x: ['\u2028'] } })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.trimEnd()).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    message: 'a\nb',
    deep: { x: ['\u2028'] },
  })
})

test('SV6 lines below the log level are omitted', () => {
  const { log, lines } = setup(true)
  log.debug('hidden')
  log.info('shown')
  expect(lines).toHaveLength(1)
})
