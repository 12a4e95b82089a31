import { queryOptions } from '@tanstack/react-query'
import type { RouteAnswers } from '#wire'
import { get } from '../api/client.ts'
import type { ChainId } from './chain.ts'
import type { Entry } from '../api/entry.ts'
import { checkProof } from './proof.ts'

export type EntryAnswer = RouteAnswers['GET /api/ledger/{seq}']

export const entryQuery = (seq: string) =>
  queryOptions({
    queryKey: ['entry', seq],
    queryFn: ({ signal }) => get('/api/ledger/{seq}', { seq }, signal),
  })

export const proofQuery = (entry: Entry) =>
  queryOptions({
    queryKey: ['proof', entry.seq],
    queryFn: async ({ signal }) => {
      // `crypto.subtle` exists only in secure contexts.
      if (!isSecureContext) throw new Error('Proof verification requires localhost or HTTPS.')
      const proof = await get('/api/ledger/{seq}/proof', { seq: entry.seq }, signal)
      return { proof, checked: await checkProof(proof, entry) }
    },
  })

/** Never cached, because a chain can grow. */
export const chainQuery = (chain: ChainId) =>
  queryOptions({
    queryKey: ['chain', chain],
    queryFn: async ({ signal }) =>
      (await get('/api/ledger', { [chain.name]: chain.id, limit: 200 }, signal)).entries,
    staleTime: 0,
  })
