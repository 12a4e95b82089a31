import { QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { cleanup, render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, vi } from 'vitest'
import type { ToolName, ToolResults } from '#wire'
import { meQuery, queryClient } from '../api/queries.ts'
import type { Role } from '../api/session.ts'
import type { Item } from '../inbox/approval.ts'
import { queueQuery } from '../inbox/queue.ts'

afterEach(() => {
  cleanup()
  queryClient.clear()
  vi.unstubAllGlobals()
})

type FakeAnswer = { readonly status?: number; readonly body: unknown }
type SentRequest = { readonly path: string; readonly body: unknown }

/** Stubs the daemon: answers by path and records requests. A path without an answer never resolves. */
export function startFakeDaemon(
  answers: Readonly<Record<string, FakeAnswer>>,
): readonly SentRequest[] {
  const sent: SentRequest[] = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => {
    const path = url.split('?', 1)[0] ?? url
    sent.push({ path, body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined })
    const answer = answers[path]
    return answer
      ? Promise.resolve(Response.json(answer.body, { status: answer.status ?? 200 }))
      : new Promise(() => {})
  })
  return sent
}

/** Returns the answer to a call of this tool. */
export const toolAnswer = <Name extends ToolName>(tool: Name, output: ToolResults[Name]) => ({
  [`/api/tools/${tool}/call`]: { body: { call: 'call-1', output } },
})

type PartOptions = { readonly role?: Role; readonly pending?: readonly Item[] }

/** Renders a part of a screen for a signed-in person with this queue. */
export async function renderPart(
  part: ReactNode,
  { role = 'owner', pending = [] }: PartOptions = {},
) {
  queryClient.setQueryData(meQuery.queryKey, {
    person: { id: 'anna', name: 'Anna', role },
    has_passkey: false,
  })
  queryClient.setQueryData(queueQuery.queryKey, {
    items: new Map(pending.map((item) => [item.id, item])),
    counts: { all: pending.length },
    next: null,
  })
  const router = createRouter({
    routeTree: createRootRoute({ component: () => part }),
    history: createMemoryHistory(),
  })
  await router.load()
  return render(
    <QueryClientProvider client={queryClient}>
      {/* The link types come from the real router, which would render the whole console. */}
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  )
}
