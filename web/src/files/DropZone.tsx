import { useState } from 'react'
import type { DragEvent, ReactNode, RefObject } from 'react'
import { queryClient } from '../api/queries.ts'
import { pluralize } from './byte-size.ts'
import { sanitizeText } from '../shared/sanitize.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { addFile } from './transfer.ts'
import { diskKey } from './file-queries.ts'

type Props = {
  folder: string
  isOn: boolean
  /** The file input, as an alternative to drag and drop. */
  input: RefObject<HTMLInputElement | null>
  children: ReactNode
}

/** Copies dropped files into the workspace, because browsers hide their paths (GR10). */
export function DropZone({ folder, isOn, input, children }: Props) {
  const [isOver, setOver] = useState(false)

  async function add(files: readonly File[]) {
    let added = 0
    for (const file of files)
      try {
        const path = await addFile(folder, file)
        added++
        if (files.length === 1) toast(`Copied to ${sanitizeText(path)}.`)
      } catch (error) {
        toastProblem(error)
      }
    if (files.length > 1 && added > 0)
      toast(`Copied ${pluralize(added, 'file', 'files')} into the workspace.`)
    await queryClient.invalidateQueries({ queryKey: diskKey })
  }

  const carriesFiles = (event: DragEvent) => isOn && event.dataTransfer.types.includes('Files')
  return (
    // For pointers only; the button is the accessible alternative.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className="relative flex min-h-0 flex-1"
      onDragOver={(event) => {
        if (!carriesFiles(event)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (
          !(
            event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)
          )
        )
          setOver(false)
      }}
      onDrop={(event) => {
        setOver(false)
        if (!carriesFiles(event)) return
        event.preventDefault()
        void add([...event.dataTransfer.files])
      }}
    >
      {children}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to add"
        onChange={(event) => {
          void add([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
      {isOver && (
        <p className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-lg border-2 border-dashed border-accent bg-accent-bg/90 text-accent">
          Drop to copy into {folder === '' ? 'the workspace' : sanitizeText(folder)}
        </p>
      )}
    </div>
  )
}
