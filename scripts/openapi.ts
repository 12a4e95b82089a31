import { version } from '../src/cli/launcher.ts'
import { buildRoutes } from '../src/server/http.ts'
import { buildOpenApi } from '../src/server/openapi.ts'
import { tools } from './tool-docs.ts'

/** The API as it is without upstream tools. Describing it touches nothing that routes and tools close over. */
export const openApiPage = (): Record<string, unknown> =>
  buildOpenApi(buildRoutes({} as Parameters<typeof buildRoutes>[0]), tools(), version())
