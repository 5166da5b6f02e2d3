import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { campaignQueues } from '../../src/rules/ids.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { freePort } from '../support/free-port.ts';
import { findTokens } from '../support/leak-scan.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';
import { runCommand } from '../support/worker-process.ts';

const temporal = useSharedTemporal();

const observability = fileURLToPath(new URL('../../deploy/observability/', import.meta.url));

/** Names of metrics in the rules and on the dashboard. */
function metricsNamed(): string[] {
  const texts = ['alerts.yml', 'grafana-dashboard.json'].map((name) => readFileSync(join(observability, name), 'utf8'));
  return [...new Set(texts.join('\n').match(/\b(?:carillon|temporal)_[a-z_]+\b/g))];
}

/** Names of series in what was scraped. */
function metricsIn(text: string): Set<string> {
  return new Set(text.split('\n').flatMap((line) => /^[a-z_]+(?=[{ ])/.exec(line)?.[0] ?? []));
}

function valueOf(text: string, series: string): number | null {
  const line = text.split('\n').find((line) => line.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

const stateIs = (state: string): string => `carillon_campaign_state{campaign="seen",state="${state}"}`;

/** A workflow that no worker knows: its task fails, and is shown as failed. */
async function failOneTask({ client, config, store }: CampaignRun): Promise<() => Promise<unknown>> {
  const taskQueue = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign;
  const handle = await client.workflow.start('unheardOf', { taskQueue, workflowId: `unheard-of-${store.ledgerId}` });
  return () => handle.terminate();
}

test(
  'a worker shows every metric that rules and dashboard name, its probes follow what it needs, and nothing of it tells a secret',
  { timeout: 180_000 },
  async () => {
    const [metrics, probes] = [await freePort(), await freePort()];
    const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const probe = async (path: string): Promise<number> =>
      fetch(`http://127.0.0.1:${probes}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    const settings = { CARILLON_METRICS_LISTEN: String(metrics), CARILLON_HEALTH_LISTEN: `127.0.0.1:${probes}` };
    await withRun({ id: 'seen', seed: 1104, temporal, recipients: 30, fates: ['0120', '0108'], settings }, async (run) => {
      run.sandbox.addFaults([
        { operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 60 } },
        { operation: 'batch_calls', nth: 3, effect: { type: 'truncate' } },
      ]);
      const worker = run.startWorker();
      await until('the worker is ready', async () => (await probe('/readyz')) === 200);

      // Where it listens nobody else can: said before anything is done.
      const second = await runCommand(['worker'], { ...run.settings, CARILLON_DB: join(run.folder, 'other.db') });
      expect(second.code).toBe(2);
      expect(second.stderr).toMatch(/CARILLON_METRICS_LISTEN is 127\.0\.0\.1:\d+, and .* listens there already\. Stop it, or give/);

      const endTask = await failOneTask(run);
      // Nothing moves until it has been seen to run.
      await run.toService.refuse();
      await run.start();
      await until('it is shown to run', async () => valueOf(await scrape(), stateIs('running')) === 1);
      await run.toService.accept();
      await run.untilEnd();
      const last = await until('the end is shown', async () => {
        const text = await scrape();
        return valueOf(text, stateIs('completed')) === 1 && text;
      });
      const calls = await countCalls(run);
      expect(calls.length).toBeGreaterThan(1);
      // Where the service refused a number, it placed no call.
      for (const [disposition, count] of calls)
        expect(valueOf(last, `carillon_calls{campaign="seen",disposition="${disposition}"}`)).toBe(
          disposition === 'invalid_number' ? null : count,
        );
      expect(run.sandbox.calls()).toHaveLength(
        calls.reduce((sum, [disposition, count]) => sum + (disposition === 'invalid_number' ? 0 : count), 0),
      );
      expect(valueOf(last, stateIs('running'))).toBe(0);
      expect(valueOf(last, 'carillon_calls_open{campaign="seen"}')).toBe(0);
      expect(valueOf(last, 'carillon_rate_limited_total{request="dial"}')).toBe(1);

      await run.toTemporal.refuse();
      run.toTemporal.drop();
      await until('it is not ready without Temporal', async () => (await probe('/readyz')) === 503);
      expect(await probe('/healthz')).toBe(200);
      await run.toTemporal.accept();
      await until('it is ready again', async () => (await probe('/readyz')) === 200);
      await endTask();

      const text = await scrape();
      expect(metricsNamed().filter((name) => !metricsIn(text).has(name))).toEqual([]);
      const { tokens } = run.list;
      expect(findTokens(text, [run.apiKey, ...tokens])).toEqual([]);
      expect(findTokens(`${text}carillon_calls{campaign="${tokens[0]}"} 1`, tokens)).toEqual([tokens[0]]);

      expect(await worker.terminate()).toMatchObject({ code: 0 });
      expect([await probe('/readyz'), await probe('/healthz')]).toEqual([0, 0]);
    });
  },
);

async function countCalls({ id, store }: CampaignRun): Promise<[string, number][]> {
  const rows = await store.db
    .selectFrom('attempts')
    .select((eb) => ['disposition', eb.fn.countAll<number>().as('count')])
    .where('campaign_id', '=', id)
    .where('disposition', 'is not', null)
    .groupBy('disposition')
    .execute();
  return rows.map(({ disposition, count }) => [disposition ?? '', count]);
}
