import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** By all of axe's rules, or by these: rule and element, one a line. */
export async function axeFindings(page: Page, ...rules: string[]): Promise<string[]> {
  // Through the browser's own tools, which no content security policy stops.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules.length === 0 ? {} : { runOnly: rules }) });
  return page.evaluate<string[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`,
  );
}
