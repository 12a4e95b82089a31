import { ApiError } from '../api/client.ts'
import { createStore } from '../api/store.ts'

export type Toast = {
  readonly id: number
  readonly text: string
  readonly isProblem: boolean
  readonly act?: { readonly label: string; readonly run: () => void } | undefined
}

const durationMs = 5000
let count = 0
export const toasts = createStore<readonly Toast[]>([])

export function toast(text: string, isProblem = false, act?: Toast['act']): void {
  const id = ++count
  toasts.set([...toasts.get().slice(-2), { id, text, isProblem, act }])
  setTimeout(() => dismissToast(id), isProblem || act ? durationMs * 2 : durationMs)
}

export const dismissToast = (id: number): void =>
  toasts.set(toasts.get().filter((each) => each.id !== id))

export const toastProblem = (error: unknown): void => toast(formatError(error), true)

export function formatError(error: unknown): string {
  if (error instanceof ApiError)
    return error.hint ? `${error.message} ${error.hint}` : error.message
  return error instanceof Error ? error.message : String(error)
}
