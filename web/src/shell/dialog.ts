import { createStore } from '../api/store.ts'

export type DialogName = 'palette' | 'halt' | 'shortcuts'
export const dialogs = createStore<DialogName | undefined>(undefined)
export const openDialog = (name: DialogName): void => dialogs.set(name)
export const closeDialog = (): void => dialogs.set(undefined)
