import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with a page by all its rules, or by these: rule and element, one a line. */
export async function axeFindings(page: Page, ...rules: string[]): Promise<string[]> {
  // Evaluated by the browser's own tools, so that no content security policy keeps it out.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules.length === 0 ? {} : { runOnly: rules }) });
  return page.evaluate<string[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`,
  );
}
