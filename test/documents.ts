// Builds documents, as small as their formats allow.
import { crc32, deflateRawSync } from 'node:zlib'

/** Builds a PDF of one page with one line per text. */
export function buildPdf(...texts: readonly string[]): Buffer {
  const lines = texts.map((text) => `(${text}) Tj 0 -20 Td`).join(' ')
  const content = `BT /F1 12 Tf 72 700 Td ${lines} ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const start = text.length
  text += `xref\n0 6\n0000000000 65535 f \n${offsets.join('')}`
  return Buffer.from(`${text}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`)
}

/** Builds a deflated archive, like Word files. */
function zipOf(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(8, 4)
    head.writeUInt32LE(crc32(content), 10)
    head.writeUInt32LE(packed.length, 14)
    head.writeUInt32LE(content.length, 18)
    head.writeUInt16LE(name.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, Buffer.from(name), packed])
    central.push(Buffer.from('PK\x01\x02\x14\0'), head, tail, Buffer.from(name))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(locals.length, 4)
  end.writeUInt16LE(locals.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end])
}

export const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
export const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`

/** Builds a Word file with these paragraphs. */
export const buildDocx = (body: string | Buffer): Buffer =>
  zipOf({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="${word}.main+xml"/></Types>`,
    '_rels/.rels':
      '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/document.xml': Buffer.concat([
      Buffer.from(
        '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>',
      ),
      Buffer.from(body),
      Buffer.from('</w:body></w:document>'),
    ]),
  })
