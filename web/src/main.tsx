import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startNotifications } from './inbox/notification-switch.ts'
import { startQueue } from './inbox/queue.ts'
import { startPreloading } from './shell/lazy-screen.ts'
import { startLive } from './api/live.ts'
import './shared/appearance.ts'
import { queryClient, startQueries } from './api/queries.ts'
import { router } from './shell/router.ts'
import { session, startSession } from './api/session.ts'
import { screens } from './screens.ts'
import './tokens.css'
import { startPractice } from './setup/practice.ts'

startSession()
startLive()
startQueries(screens)
startQueue()
startPractice()
startNotifications((id) => {
  void (id === undefined
    ? router.navigate({ to: '/inbox' })
    : router.navigate({ to: '/inbox/$id', params: { id } }))
})
startPreloading(
  () =>
    session.get().status !== 'open' ||
    router.state.isLoading ||
    router.state.resolvedLocation === undefined ||
    queryClient.isFetching() > 0,
)
const place = document.getElementById('root')
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
