import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { runCarillon } from './campaign-bench.ts';
import { say } from './child.ts';
import { startConsole, type ConsoleServer } from './console-server.ts';
import type { Figure } from './report.ts';
import { targets, type CampaignSettings } from './settings.ts';

const openPages = 20;
/** As the script of the page has it. */
const leastMs = 1_000;

/** The same campaign without and with 20 open pages of it: what the dialling loses. */
export async function benchOpenPages(settings: CampaignSettings): Promise<Figure[]> {
  say(`Carillon without a page: ${settings.recipients} recipients`);
  const alone = await runCarillon(settings, async () => async () => {});
  let shown = 0;
  say(`Carillon with ${openPages} open pages`);
  const watched = await runCarillon(settings, async ({ sqlitePath, campaignId, sandboxUrl }) => {
    const console = await startConsole({ sqlitePath }, { SVC_BASE_URL: sandboxUrl });
    const leaving = new AbortController();
    const pages = Array.from({ length: openPages }, () =>
      watchPage(console, { path: `/campaigns/${campaignId}`, signal: leaving.signal, onShown: () => shown++ }),
    );
    return async () => {
      leaving.abort();
      await Promise.all(pages);
      await console.stop();
    };
  });
  return [
    { name: 'wall time without a page', value: alone.wallMs / 1000, unit: 's' },
    {
      name: `wall time with ${openPages} open pages`,
      value: watched.wallMs / 1000,
      unit: 's',
      note: `shown ${shown} times`,
    },
    {
      name: 'wall time, with / without',
      value: watched.wallMs / alone.wallMs,
      unit: '',
      target: { atMost: targets.openPagesRatio },
    },
  ];
}

/** What the script of an open page does: it hears of a change, and asks for the view again, at most once a second. */
async function watchPage(
  { url, headers }: ConsoleServer,
  { path, signal, onShown }: { path: string; signal: AbortSignal; onShown: () => void },
): Promise<void> {
  const campaign = path.split('/').at(-1) ?? '';
  while (!signal.aborted) {
    try {
      const { body } = await request(`${url}/changes?campaign=${campaign}`, { headers, signal, bodyTimeout: 0 });
      for await (const chunk of body) {
        if (!String(chunk).includes('event: changed')) continue;
        await (await request(url + path, { headers: { ...headers, 'x-page-part': 'app' }, signal })).body.dump();
        onShown();
        await pause(leastMs, undefined, { signal });
      }
    } catch {
      await pause(leastMs, undefined, { signal }).catch(() => {});
    }
  }
}
