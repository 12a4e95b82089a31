/** A mail of plain text as it goes over the wire, lines ended by CRLF. */
export type Mail = {
  readonly id: string
  readonly at: number
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

export function mailText({ id, at, from, to, subject, text }: Mail): string {
  const [, domain = 'localhost'] = /@([\w.-]+)$/.exec(from) ?? []
  const body = Buffer.from(text.replaceAll(/\r?\n/g, '\r\n')).toString('base64')
  return [
    `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
    `From: ${from}`,
    `To: ${to.join(',\r\n ')}`,
    `Subject: ${encodedWords(subject)}`,
    // The same each time it is tried, so that programs know what they have had.
    `Message-ID: <${id}@${domain}>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(/.{1,76}/g) ?? []),
    '',
  ].join('\r\n')
}

/** RFC 2047 takes 75 characters for a word, so 45 bytes in base64. */
const mostBytes = 45

/** Always encoded, or a text that looks like an encoded one would be shown as something else (A13). */
export function encodedWords(text: string): string {
  const words = ['']
  for (const char of text) {
    const last = words.at(-1) ?? ''
    if (Buffer.byteLength(last + char) > mostBytes) words.push(char)
    else words[words.length - 1] = last + char
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ')
}
