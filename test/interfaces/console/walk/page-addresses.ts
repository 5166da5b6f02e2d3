import type { Page } from 'playwright-core';
import type { Api } from '../../../../src/interfaces/api/core/app.ts';
import { operations } from '../../../../src/operations/list.ts';
import { files } from '../../../../src/interfaces/console/views/all.ts';

/** No documents: the stream of changes, files, and "not there". */
const noDocuments: ReadonlySet<string> = new Set([
  '/changes',
  '/*',
  '/new/:draft/campaign.yaml',
  '/new/:draft/list-file',
  ...files.map((id) => operations[id].route.replace('GET /api/v1', '')),
]);

/** Addresses as the router has them: `/campaigns/:campaign/rows`. */
export function documentsOf(app: Api): string[] {
  return routesOf(app.printRoutes({ commonPrefix: false, method: 'GET' })).filter(
    (path) => !/^\/(api|_page)\//.test(path) && !noDocuments.has(path),
  );
}

/** In the router's tree each line adds to the address of the last shallower one. */
function routesOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent, part = ''] = /^(.*)[├└]── (\S+)( \(GET\))/.exec(line) ?? [];
    if (indent === undefined) return [];
    const depth = indent.length / 4;
    above.splice(depth, Infinity, part);
    return [above.join('')];
  });
}

/** Runs no scripts; the token was written into the form. */
export async function openPlainTab(beside: Page, origin: string, token: string): Promise<Page> {
  const page = await beside.context().newPage();
  const tools = await beside.context().newCDPSession(page);
  await tools.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  return page;
}

/** Its status; undefined while a busy Temporal does not answer in time. */
export async function openAddress(page: Page, url: string): Promise<number | undefined> {
  const status = (await page.goto(url))?.status();
  return status === 503 ? undefined : status;
}
