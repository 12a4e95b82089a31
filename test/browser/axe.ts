import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

const serious = new Set(['serious', 'critical'])

/** Runs axe in light and dark at these widths, without animations. */
export async function findAxeIssues(
  page: Page,
  name: string,
  widths: readonly number[],
): Promise<string[]> {
  const faults: string[] = []
  // Axe is half a megabyte, so it is injected once.
  let axeSource: string | undefined
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      // Legacy mode skips cross-origin frames, which do not exist here, and takes a third of the time.
      const axe = new AxeBuilder({ page, ...(axeSource && { axeSource }) }).setLegacyMode()
      const { violations } = await axe.options({ resultTypes: ['violations'] }).analyze()
      axeSource = ';'
      for (const { id, impact, nodes } of violations.filter((found) =>
        serious.has(found.impact ?? ''),
      ))
        faults.push(
          `${name} ${width} ${colorScheme}: ${impact} ${id} at ${nodes.map(({ html }) => html).join()}`,
        )
    }
  }
  return faults
}
