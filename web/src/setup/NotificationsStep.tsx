import { Button } from '../shared/Button.tsx'
import { Hint } from '../shared/States.tsx'
import { DesktopNotificationSetting } from '../settings/Preferences.tsx'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

export const NotificationsStep = ({ onNext }: StepProps) => (
  <Step
    title="Notifications"
    lead="All requests are in the Inbox. Notifications announce urgent ones."
    actions={
      <Button tone="primary" onClick={onNext}>
        Continue
      </Button>
    }
  >
    <DesktopNotificationSetting />
    <p className="text-pretty text-soft">
      <Hint text="For email, Slack, Telegram and webhooks, add channels under `notify` in `cowork.yaml`. Test one with `cowork notify test <channel>`. `cowork doctor` shows the location of the file." />
    </p>
  </Step>
)
