import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startNotices } from './inbox/notification-switch.ts'
import { startQueue } from './inbox/queue.ts'
import { startLoadingAhead } from './shell/late-screen.ts'
import { startLive } from './api/live.ts'
import './shared/appearance.ts'
import { queries, startQueries } from './api/queries.ts'
import { router } from './shell/router.ts'
import { session, startSession } from './api/session.ts'
import { screens } from './screens.ts'
import './tokens.css'
import { startPractice } from './welcome/practice.ts'

startSession()
startLive()
startQueries(screens)
startQueue()
startPractice()
startNotices((id) => {
  void (id === undefined
    ? router.navigate({ to: '/inbox' })
    : router.navigate({ to: '/inbox/$id', params: { id } }))
})
startLoadingAhead(
  () =>
    session.get().status !== 'open' ||
    router.state.isLoading ||
    router.state.resolvedLocation === undefined ||
    queries.isFetching() > 0,
)
const place = document.getElementById('root')
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
