// The API of a daemon for a person or an agent.
export type ToolEndpoint = { readonly port: number; readonly token: string }

export async function post<A>(
  { port, token }: ToolEndpoint,
  path: string,
  body: object,
): Promise<A> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as A
}

export async function callTool<O>(endpoint: ToolEndpoint, name: string, input: object): Promise<O> {
  const path = `/api/tools/${name}/call`
  return (await post<{ output: O }>(endpoint, path, { arguments: input })).output
}
