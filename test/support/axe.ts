import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with a page: rule and element, one a line. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the browser's own tools, so that no content security policy keeps it out.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`,
  );
}
