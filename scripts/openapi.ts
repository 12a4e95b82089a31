import { version } from '../src/cli/launcher.ts'
import { routesOf } from '../src/server/http.ts'
import { openApi } from '../src/server/openapi.ts'
import { tools } from './tool-docs.ts'

/** The API as it is without upstream tools. Describing it touches nothing that routes and tools close over. */
export const openApiPage = (): Record<string, unknown> =>
  openApi(routesOf({} as Parameters<typeof routesOf>[0]), tools(), version())
