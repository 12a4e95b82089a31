import type { GrantRequest } from '../approvals.ts'
import { plain } from '../plain.ts'
import { bytesText, countText } from '../sizes.ts'
import { dim, looking } from './lines.ts'
import type { Line } from './lines.ts'

/** What is asked for, and where it really lies: a link may lead elsewhere than its name says. */
export function accessLines({
  path,
  real,
  permission,
  is_folder: isFolder,
  missing,
  folder,
  warning,
}: GrantRequest): Line[] {
  return [
    ...(warning === undefined ? [] : [[looking('red', plain(warning))]]),
    [`${permission} of the ${isFolder ? 'folder' : 'file'} ${plain(real)}`],
    ...(path === real ? [] : [[dim(`asked for as ${plain(path)}`)]]),
    ...(missing ? [[looking('yellow', 'nothing is there now')]] : []),
    ...(isFolder || folder === null ? [] : [[dim(`“folder” means ${plain(folder)}`)]]),
  ]
}

export function insideLines({ inside }: GrantRequest): Line[] {
  if (!inside) return []
  const { files, folders, bytes, sample, capped } = inside
  const most = capped ? 'at least ' : ''
  return [
    [`${most}${countText(files, 'file')} in ${countText(folders, 'folder')}, ${bytesText(bytes)}`],
    ...sample.map((name): Line => ['• ', plain(name)]),
    ...moreLines(files + folders - sample.length, capped),
  ]
}

const moreLines = (count: number, capped: boolean): Line[] =>
  count > 0 ? [[dim(`and ${capped ? 'at least ' : ''}${count} more`)]] : []

export const sensitiveLines = ({ sensitive }: GrantRequest): Line[] =>
  sensitive.map((name) => [looking('red', '! '), plain(name)])
