import { version } from '../src/cli/launcher.ts'
import { buildRoutes } from '../src/server/http.ts'
import { buildOpenApi } from '../src/server/openapi.ts'
import { tools } from './tool-docs.ts'

/** The API without upstream tools. Building its description does not call routes or tools. */
export const openApiPage = (): Record<string, unknown> =>
  buildOpenApi(buildRoutes({} as Parameters<typeof buildRoutes>[0]), tools(), version())
