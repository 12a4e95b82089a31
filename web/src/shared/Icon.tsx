/** SVG paths on a 16 px grid. */
const paths = {
  inbox: 'M2 9l2-6h8l2 6v4H2zM2 9h4l1 2h2l1-2h4',
  audit: 'M4 2h6l2.5 2.5V14H4zM6 7h4M6 10h4',
  settings:
    'M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5l3.5 3.5',
  halt: 'M5 1.5h6l3.5 3.5v6l-3.5 3.5h-6l-3.5-3.5v-6z',
  resume: 'M5 3l8 5-8 5z',
  agent: 'M3.5 5.5h9v7h-9zM8 5.5v-3M6.3 8.5v1M9.7 8.5v1M1.5 8v2.5M14.5 8v2.5',
  person: 'M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6M2.5 14c.6-3 2.8-4.5 5.5-4.5s4.9 1.5 5.5 4.5',
  people:
    'M6 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M1.5 13.5c.4-2.7 2.2-4 4.5-4s4.1 1.3 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.9c1.4.5 2.3 1.7 2.5 3.6',
  system: 'M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.01M5.5 11h.01',
  call: 'M3 8h10M9 4l4 4-4 4',
  action: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
  decision: 'M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4z',
  key: 'M5.5 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6M7.7 7.8l5.8-5.8M10.8 4.7l2 2',
  device: 'M2.5 3h11v8h-11zM6 14h4M8 11v3',
  other: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  warn: 'M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5h.01',
  stop: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M4 12l8-8',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 5v4M8 11h.01',
  cross: 'M4 4l8 8M12 4l-8 8',
  back: 'M13 8H3M7 4L3 8l4 4',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  more: 'M3 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2M8 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2M13 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2',
  plus: 'M8 3v10M3 8h10',
  link: 'M6.5 9.5l3-3M7 4.5l1.3-1.3a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.3 1.3a3 3 0 0 1-4.5-4.5L4.5 7',
  look: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  keyboard: 'M1.5 4h13v8.5h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 10h6',
  act: 'M3 8.5l3.5 3.5L13 4.5',
  suggest: 'M8 3v6M8 12h.01',
  escalate: 'M8 2l6.5 11.5h-13z',
  eye: 'M1.5 8c1.5-3 3.8-4.5 6.5-4.5s5 1.5 6.5 4.5c-1.5 3-3.8 4.5-6.5 4.5s-5-1.5-6.5-4.5M8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6',
  box: 'M3.5 3.5h9v9h-9z',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.8V8l2.2 1.5',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.3 1.5H2.700zM6.700 14h2.6',
  undo: 'M3 6.5h6.5a3.3 3.3 0 0 1 0 6.6H6M5.8 3.5l-3 3 3 3',
  right: 'M6 4l4 4-4 4',
  folder: 'M1.5 4h4.5l1.5 2h7v7h-13z',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4',
  edit: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3',
  work: 'M2.5 3h3v10h-3zM6.5 3h3v6.5h-3zM10.5 3h3v8.5h-3z',
  handoff: 'M2.5 13c0-5 3.5-7.500 10-7.500M9 2l3.500 3.500L9 9',
} as const

export type IconName = keyof typeof paths

type Props = {
  name: IconName
  size?: number
  /** Classes of a span around the icon. */
  className?: string
}

export function Icon({ name, size = 16, className }: Props) {
  const icon = (
    <svg
      aria-hidden
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={size < 16 ? 1.9 : 1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      className="shrink-0"
    >
      <path d={paths[name]} />
    </svg>
  )
  return className === undefined ? icon : <span className={className}>{icon}</span>
}
