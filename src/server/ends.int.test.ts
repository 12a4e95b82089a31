import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openFifo } from '../../test/fifo.ts'
import { openEnds } from './ends.ts'

/** What the client says, and what of it comes in. */
function openInput() {
  const [stdin, stdout] = [openFifo(), openFifo()]
  const ends = openEnds([openSync(stdin.path, 'r+'), openSync(stdout.path, 'r+')])
  onTestFinished(ends.close)
  let got = ''
  return {
    input: ends.input,
    say: (text: string) => writeSync(stdin.descriptor, text),
    listen: () => ends.input.on('data', (chunk: Buffer) => (got += chunk.toString())),
    got: () => got,
  }
}

test('SV4 what a client says before anyone listens is heard, and in order', async () => {
  const { say, listen, got } = openInput()
  say('first ')
  await sleep(50)
  say('second ')
  await sleep(50)
  listen()
  say('third')
  await expect.poll(got).toBe('first second third')
})

test('SV4 a client that is told to wait is heard later, whole', async () => {
  const { input, say, listen, got } = openInput()
  listen()
  say('one ')
  await expect.poll(got).toBe('one ')
  input.pause()
  say('two ')
  await sleep(50)
  expect(got()).toBe('one ')
  input.resume()
  await expect.poll(got).toBe('one two ')
})
