import { Button } from '../shared/Button.tsx'
import { Hint } from '../shared/States.tsx'
import { DesktopNotices } from '../settings/Preferences.tsx'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

export const NotificationsStep = ({ onNext }: StepProps) => (
  <Step
    title="How shall cowork tell you?"
    lead="Whatever waits is in the Inbox. This is for what cannot wait until you look."
    actions={
      <Button tone="primary" onClick={onNext}>
        Continue
      </Button>
    }
  >
    <DesktopNotices />
    <p className="text-pretty text-soft">
      <Hint text="On a phone, by mail, Slack, Telegram or a webhook: list the channels in `cowork.yaml` under `notify`, and try one with `cowork notify test <channel>`. `cowork doctor` says where that file is." />
    </p>
  </Step>
)
