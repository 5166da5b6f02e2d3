import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { FictionalNumbers } from '../src/list/fictional-numbers.ts';
import { Random } from '../src/sandbox/core/random.ts';
import { runWithTemporal } from './campaign-bench.ts';
import { say } from './child.ts';
import { startConsole } from './console-server.ts';
import { writeCallableCampaign } from './fictional-list.ts';
import type { Figure } from './report.ts';
import { targets, type CampaignSettings } from './settings.ts';

/** Real milliseconds between two leads: from so many to so many. */
const apartMs = { from: 200, to: 3_000 };

/**
 * How long after it was sent to the API a lead is at the service, with lines free: `settings.recipients` of them, one by one, by the calls
 * that the service knows of.
 */
export async function benchLeads(settings: CampaignSettings): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const random = new Random('leads');
  const numbers = new FictionalNumbers('leads');
  const sentAt = new Map<string, number>();
  try {
    const campaignPath = await writeCallableCampaign(folder, { ...settings, recipients: 1 });
    await appendFile(campaignPath, 'stays_open: { expires_after: 1h, newest_first: true }\n');
    say(`Leads: ${settings.recipients}, one by one`);
    const { truth } = await runWithTemporal(settings, {
      folder,
      campaignPaths: [campaignPath],
      look: async ({ sqlitePath, campaignId, sandboxUrl, temporalAddress }) => {
        const env = { SVC_BASE_URL: sandboxUrl, SVC_API_KEY: 'sk_sandbox_ok', TEMPORAL_ADDRESS: temporalAddress };
        const server = await startConsole({ sqlitePath }, env);
        const { url, token } = server;
        const send = async (to: string, key: string, body: object) => {
          const headers = { authorization: `Bearer ${token}`, 'idempotency-key': key, 'content-type': 'application/json' };
          const path = `${url}/api/v1/campaigns/${campaignId}/${to}`;
          const { statusCode, body: answer } = await request(path, { method: 'POST', headers, body: JSON.stringify(body) });
          const text = await answer.text();
          if (statusCode !== 200) throw new Error(`${to} was answered ${statusCode}: ${text}`);
        };
        for (let lead = 1; lead <= settings.recipients; lead += 1) {
          await pause(random.between(apartMs.from, apartMs.to));
          const phone = numbers.take('+12125550121') ?? '';
          const cells = { phone, patient_id: `lead-${lead}`, first_name: `Lead ${lead}`, visit: 'check-up', time: '9:00' };
          sentAt.set(phone, Date.now());
          await send('rows', `lead ${lead}`, { rows: [{ cells }] });
        }
        await send('drain', 'drain', {});
        return () => server.stop();
      },
    });
    const waits = truth.all.flatMap(({ to, realAcceptedAt }) => {
      const at = sentAt.get(to);
      return at === undefined ? [] : [realAcceptedAt - at];
    });
    if (waits.length !== settings.recipients) throw new Error(`The service had ${waits.length} of ${settings.recipients} leads.`);
    const sorted = waits.toSorted((a, b) => a - b);
    return [
      {
        name: 'lead sent to lead at the service, median',
        value: (sorted[Math.floor(sorted.length / 2)] ?? 0) / 1000,
        unit: 's',
        target: { atMost: targets.leadSeconds },
        note: `slowest of ${sorted.length}: ${((sorted.at(-1) ?? 0) / 1000).toFixed(1)} s`,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
