import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, request } from '../api/client.ts'
import type { Problem } from '../api/client.ts'
import { readChunks } from '../api/stream.ts'

export type EntryProblem = { readonly seq: number; readonly why: string }
type Accepted = {
  readonly seq: number
  readonly from: number
  readonly to: number
  readonly reason: string
}
export type Verification = {
  readonly entries: number
  readonly checkpoints: number
  readonly signed: number
  /** The entries after `signed`: covered by the MAC of the daemon, or a problem. */
  readonly unsigned?: { readonly from: number; readonly to: number; readonly intact: boolean }
  /** The only problem is a missing proof of the newest entries. */
  readonly acceptable: boolean
  /** Ranges without a proof that the owner accepted. */
  readonly accepted: readonly Accepted[]
  readonly first_bad?: EntryProblem
  readonly problems: readonly EntryProblem[]
  readonly findings: readonly EntryProblem[]
  readonly seconds: number
}

type Line =
  | { readonly entries: number; readonly total: number }
  | { readonly result: Verification }
  | { readonly error: Problem }

type VerifyState =
  | { readonly status: 'idle' }
  | { readonly status: 'running'; readonly entries: number; readonly total: number }
  | { readonly status: 'done'; readonly result: Verification }
  | { readonly status: 'failed'; readonly error: unknown }

export type Verify = { state: VerifyState; start: () => void; stop: () => void }

/** Verifies the whole ledger in the daemon and reports the progress. */
export function useVerify(): Verify {
  const [state, setState] = useState<VerifyState>({ status: 'idle' })
  const running = useRef<AbortController>(undefined)
  const stop = useCallback(() => {
    running.current?.abort()
    running.current = undefined
    setState({ status: 'idle' })
  }, [])
  const start = useCallback(() => {
    if (running.current) return
    const controller = new AbortController()
    running.current = controller
    setState({ status: 'running', entries: 0, total: 0 })
    runVerification(controller.signal, setState)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) setState({ status: 'failed', error })
      })
      .finally(() => {
        if (running.current === controller) running.current = undefined
      })
  }, [])
  useEffect(
    () => () => {
      running.current?.abort()
      running.current = undefined
    },
    [],
  )
  return { state, start, stop }
}

async function runVerification(signal: AbortSignal, onState: (state: VerifyState) => void) {
  const response = await request('/api/ledger/verify', { body: {}, signal })
  if (!response.body) throw new Error('The daemon returned no verification result. Try again.')
  for await (const line of readLines<Line>(response.body)) {
    if ('error' in line) throw new ApiError(line.error)
    if ('result' in line) return onState({ status: 'done', result: line.result })
    onState({ status: 'running', ...line })
  }
  throw new Error('Verification was interrupted. Try again.')
}

async function* readLines<T>(stream: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of readChunks(stream)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as T
}
