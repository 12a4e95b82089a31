// The API of a daemon as a person or an agent uses it.
export type Door = { readonly port: number; readonly token: string }

export async function post<A>({ port, token }: Door, path: string, body: object): Promise<A> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as A
}

export async function callTool<O>(door: Door, name: string, input: object): Promise<O> {
  const path = `/api/tools/${name}/call`
  return (await post<{ output: O }>(door, path, { arguments: input })).output
}
