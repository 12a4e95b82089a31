/** A stream piece by piece; not every browser can loop over one itself. Leaving the loop ends the stream. */
export async function* readChunks<T>(stream: ReadableStream<T>): AsyncGenerator<T, void> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
