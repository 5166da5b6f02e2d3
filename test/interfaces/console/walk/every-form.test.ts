import { expect, onTestFinished } from 'vitest';
import { actions } from '../../../../src/interfaces/console/actions/all.ts';
import { operations } from '../../../../src/operations/list.ts';
import { views } from '../../../../src/interfaces/console/views/all.ts';
import { mayAct } from '../../../../src/ledger/console/tokens.ts';
import { browserTest } from '../../../sandbox/page/window.ts';
import { openWindow } from '../../../support/browser.ts';
import { until } from '../../../support/until.ts';
import type { ConsoleWorld } from '../console-world.ts';
import { formFindings, screenFindings } from './page-quality.ts';
import { openAddress, openPlainTab } from './page-addresses.ts';
import { startWalkedConsole } from './walked-console.ts';

browserTest('every form is for its role alone, is named and fits a phone, has a key of its own, and is sent without a script', async () => {
  const { console, examples } = await startWalkedConsole();
  expect(await wrongOffers(console, examples)).toEqual([]);
  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin, width: 320 });
  onTestFinished(() => window.close());
  const page = await openPlainTab(window.page, origin, console.api.tokenText('admin'));
  const found: string[] = [];
  for (const path of actions.flatMap((action) => examples[action.path]?.slice(0, 1) ?? [])) {
    const status = await until(`${path} is ready`, () => openAddress(page, origin + path));
    if (status !== 200) found.push(`${path}: ${status}`);
    for (const finding of [...(await screenFindings(page)), ...(await formFindings(page))]) found.push(`${path}: ${finding}`);
  }
  expect({ found, strayed: window.strayed }).toEqual({ found: [], strayed: [] });
  await page.goto(`${origin}/campaigns/reminders`);
  await page.getByRole('link', { name: 'Pause', exact: true }).click();
  await page.locator('form.act button.primary').click();
  await page.getByRole('link', { name: 'Resume' }).first().waitFor();
});

/** Forms offered to a role that may not send them, or that accept it. `examples`: as of the walk. */
async function wrongOffers(console: ConsoleWorld, examples: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const found: string[] = [];
  for (const role of ['read', 'operate'] as const) {
    const denied = actions.filter(({ op }) => !mayAct(role, operations[op].role));
    const addresses = denied.map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`));
    for (const [nth, { path, op }] of denied.entries()) {
      const [at = ''] = examples[path] ?? [];
      const { status, text } = nth % 8 === 0 ? await console.post(at, {}, role) : await console.get(at, role);
      if (status !== 403 || !text.includes(`takes the role ${operations[op].role}`)) found.push(`${at} answers ${role} with ${status}`);
    }
    for (const at of Object.keys(views).flatMap((view) => examples[view] ?? []))
      for (const [, to = ''] of (await console.text(at, role)).matchAll(/(?:href|action)="([^"?#]*)/g))
        if (addresses.some((address) => address.test(to))) found.push(`${at} offers ${to} to ${role}`);
  }
  return found;
}
