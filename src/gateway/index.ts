export type { ServerSettings } from './settings.ts'
export { parseSettings } from './settings.ts'
