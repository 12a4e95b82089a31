import { isHandoff } from '../approval.ts'
import type { Item } from '../approval.ts'
import { decidedText, since } from '../text.ts'
import { Plain } from '../../shared/Plain.tsx'
import { Note } from '../../shared/States.tsx'
import { useSecond } from '../../shared/use-now.ts'
import { useWho } from '../use-who.ts'

const channels: Readonly<Record<string, string>> = {
  console: 'in the console',
  cli: 'at the command line',
  api: 'over the API',
  mcp: 'over MCP',
}

/** Nothing is left to decide: who did, when, how, and what they said. */
export function Ending({ item }: { item: Item }) {
  const now = useSecond()
  const who = useWho(item.decided_by)
  const isGood = item.status === 'approved' || item.status === 'consumed'
  const tone = isGood ? 'act' : item.status === 'rejected' ? 'escalate' : 'plain'
  const at = Date.parse(item.decided_at ?? item.created_at)
  return (
    <div role="status">
      <Note tone={tone} icon={isGood ? 'check' : item.status === 'rejected' ? 'stop' : 'clock'}>
        <b>
          <Plain text={decidedText(item, who(item.decided_by), since(at, now))} />
        </b>
        {item.channel && item.decided_by !== undefined && !item.auto && (
          <span className="text-soft">, {channels[item.channel] ?? `by ${item.channel}`}</span>
        )}
        {item.status === 'consumed' && (
          <span className="text-soft">
            {isHandoff(item) ? ', and the agent has read it' : ', and carried out'}
          </span>
        )}
        {item.reason && (
          <p className="text-soft">
            <Plain text={item.reason} lines />
          </p>
        )}
      </Note>
    </div>
  )
}
