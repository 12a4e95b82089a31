// The floor of a large write in N4: one process that only parses a JSON line and writes the file.
import fs from 'node:fs'

type Asked = {
  readonly id?: number
  readonly params?: { readonly arguments?: { readonly path: string; readonly content: string } }
}

let chunks: Buffer[] = []
process.stdin.on('data', (chunk: Buffer) => {
  chunks.push(chunk)
  if (chunk.at(-1) !== 10) return
  const { id, params } = JSON.parse(Buffer.concat(chunks).toString()) as Asked
  chunks = []
  if (params?.arguments) fs.writeFileSync(params.arguments.path, params.arguments.content)
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ id, result: {} })}\n`)
})
