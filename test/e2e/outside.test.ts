import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { deleteWebhook, steerWebhook } from '../../src/ledger/webhooks/registry.ts';
import { campaignQueues, campaignWorkflowId } from '../../src/rules/ids.ts';
import { addTestWebhook, webhookId } from '../shared/hooks/webhook-world.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { freePort } from '../support/free-port.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave } from '../support/kill-gaps.ts';
import { findTokens, textOf } from '../support/leak-scan.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';
import { runCommand } from '../support/worker-process.ts';

const temporal = useSharedTemporal();

interface Facts {
  name: string;
  attributes?: { key: string; value: Record<string, unknown> }[];
}

interface Span extends Facts {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  events?: Facts[];
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

async function startCollector() {
  const texts: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (text += part));
    request.on('end', () => {
      texts.push(text);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    texts,
    spans: () =>
      texts.flatMap((text) =>
        (JSON.parse(text) as Sent).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    close: () => server.close(),
  };
}

const valueOf = ({ attributes = [] }: Facts, key: string): unknown =>
  Object.values(attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];

async function headersOf({ client, id }: CampaignRun): Promise<string[]> {
  const { events } = await client.workflow.getHandle(campaignWorkflowId(id, 1)).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    Object.values(scheduled?.header?.fields ?? {}).map(({ data }) => Buffer.from(data ?? []).toString()),
  );
}

test.concurrent(
  'a round is one trace from the campaign to the id of each conversation, told by two workers; it tells no secret',
  async () => {
    const collector = await startCollector();
    try {
      const settings = { ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
      await withRun({ id: 'traced', seed: 1041, temporal, settings }, async (run) => {
        const gate = run.sandbox.gates.set('batch_work_done', 2);
        const first = run.startWorker();
        await run.start();
        await run.met(gate);
        await expect.poll(() => collector.spans().length).toBeGreaterThan(0);
        await leave(run, first, gate);
        const last = run.startWorker();
        await run.untilEnd();
        const ledger = await judgeRun(run);
        // The stopped worker let its request end.
        expect(ledger.batches.find(({ n }) => n === 2)).toMatchObject({ state: 'confirmed', accepted_by: 'reply' });
        expect(ledger.posts.map(({ verdict }) => verdict)).not.toContain('unknown');
        expect(await last.terminate()).toEqual({ code: 0, signal: null });

        const spans = collector.spans();
        expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
        const byId = new Map(spans.map((span) => [span.spanId, span]));
        expect(byId.size).toBe(spans.length);
        const roots = spans.filter(({ parentSpanId = '' }) => parentSpanId === '');
        expect(roots.map(({ name }) => name)).toEqual(['RunWorkflow:campaign']);
        expect(spans.filter(({ parentSpanId = '' }) => parentSpanId !== '' && !byId.has(parentSpanId))).toEqual([]);
        const shown = (type: string, key: string) =>
          spans
            .flatMap(({ events = [] }) => events.filter(({ name }) => name === type))
            .map((event) => ({
              batch: valueOf(event, 'carillon.batch.id'),
              call: valueOf(event, 'carillon.call.id'),
              [key]: valueOf(event, key),
            }));
        // Each ledger event is an event of exactly one span, and there are no others.
        const expectAll = async (type: 'batch.state' | 'attempt.settled' | 'attempt.matched', key: string, field: string) => {
          const rows = await readEvents(run.store.db, run.id, { types: [type] });
          const events = shown(type, key);
          expect(events).toHaveLength(rows.length);
          expect(events).toEqual(
            expect.arrayContaining(
              rows.map(({ batchId, attemptId, data }) => ({
                batch: batchId,
                call: attemptId,
                [key]: (data as Record<string, unknown>)[field],
              })),
            ),
          );
        };
        await expectAll('batch.state', 'carillon.batch.state', 'state');
        await expectAll('attempt.settled', 'carillon.call.disposition', 'disposition');
        await expectAll('attempt.matched', 'carillon.conversation.id', 'conversation');
        expect(shown('batch.state', 'carillon.batch.state')).toEqual(
          expect.arrayContaining(
            ledger.batches.map(({ batch_id: batch, state }) => ({ batch, call: undefined, 'carillon.batch.state': state })),
          ),
        );
        const called = ledger.attempts.filter(({ settled_at: at, posted_at: posted }) => at !== null && posted !== null);
        expect(shown('attempt.settled', 'carillon.call.disposition')).toEqual(
          expect.arrayContaining(
            called.map((row) => ({ batch: row.batch_id, call: row.attempt_id, 'carillon.call.disposition': row.disposition })),
          ),
        );
        const talked = called.filter(({ conversation_id: conversation }) => conversation !== null);
        expect(talked.length).toBeGreaterThan(8);
        expect(shown('attempt.matched', 'carillon.conversation.id')).toEqual(
          expect.arrayContaining(
            talked.map((row) => ({ batch: row.batch_id, call: row.attempt_id, 'carillon.conversation.id': row.conversation_id })),
          ),
        );
        expect(spans.every((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))).toBe(true);
        const headers = await headersOf(run);
        expect(headers.length).toBeGreaterThan(4);
        expect(headers.filter((text) => !/^\{"traceparent":"00-[0-9a-f]{32}-[0-9a-f]{16}-01"\}$/.test(text))).toEqual([]);
        expect(findTokens(collector.texts.join('\n'), [run.apiKey, ...run.list.tokens])).toEqual([]);
      });
    } finally {
      collector.close();
    }
  },
);

const observability = fileURLToPath(new URL('../../deploy/observability/', import.meta.url));

function metricsNamed(): string[] {
  const texts = ['alerts.yml', 'grafana-dashboard.json'].map((name) => readFileSync(join(observability, name), 'utf8'));
  return [...new Set(texts.join('\n').match(/\b(?:carillon|temporal)_[a-z_]+\b/g))];
}

function metricsIn(text: string): Set<string> {
  return new Set(text.split('\n').flatMap((line) => /^[a-z_]+(?=[{ ])/.exec(line)?.[0] ?? []));
}

function seriesOf(text: string, series: string): number | null {
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

const campaignFile = (id: string): string => `id: ${id}
agent_id: agent_reminders
from_phone_number_id: pn_main
list:
  file: recipients.csv
  phone: phone
first_message: Hello {{ name }}, I am calling about your appointment {{ appointment }}.
variables:
  values:
    note: '{{ note }}'
hours: { ${['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: '00:00-24:00'`).join(', ')} }
law: off
retry: { max_attempts: 2, busy: 5m, no_answer: 5m, unreached: 5m, voicemail: never, failed: 5m }
pacing: { max_concurrent_calls: 24, batch_size: 8 }
opt_out:
  - { collected: opt_out, equals: [true] }
`;

async function refusalOf({ sandbox, apiKey, list }: CampaignRun): Promise<string> {
  const calls = list.rows.filter((row) => row.e164?.endsWith('0120')).map((row) => ({ to_phone_number: row.e164 }));
  const answer = await fetch(`${sandbox.url}/v1/convai/phone-numbers/batch-calls`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls }),
  });
  return answer.text();
}

test.concurrent(
  'a worker shows every metric that rules and dashboard name, its probes follow what it needs, and nothing that it or a command says tells a secret, though its campaign is in trouble',
  async () => {
    const [metrics, probes] = [await freePort(), await freePort()];
    const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const probe = async (path: string): Promise<number> =>
      fetch(`http://127.0.0.1:${probes}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    const settings = {
      ...patient,
      CARILLON_METRICS_LISTEN: String(metrics),
      CARILLON_HEALTH_LISTEN: `127.0.0.1:${probes}`,
      // A missing collector prevents no call.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    };
    // 0120: the service refuses the number and repeats it in its refusal.
    await withRun({ id: 'seen', seed: 1104, temporal, recipients: 30, fates: ['0120', '0108', '0104'], settings }, async (run) => {
      expect(await refusalOf(run)).toContain(run.list.rows.find((row) => row.e164?.endsWith('0120'))?.e164);
      run.sandbox.addFaults([
        { operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 60 } },
        { operation: 'batch_calls', nth: 3, effect: { type: 'truncate' } },
        { operation: 'get_conversation', every: 7, effect: { type: 'error', status: 500 } },
        { operation: 'get_conversation', nth: 5, effect: { type: 'truncate' } },
        { operation: 'list_conversations', every: 5, effect: { type: 'html', status: 502 } },
      ]);
      const path = join(run.folder, 'campaign.yaml');
      await writeFile(path, campaignFile(run.id));
      await writeFile(join(run.folder, 'recipients.csv'), run.list.toCsv());
      const said: { code: number; stdout: string; stderr: string }[] = [];
      const say = async (...args: string[]) => void said.push(await run.command(...args));
      const worker = run.startWorker();
      await until('the worker is ready', async () => (await probe('/readyz')) === 200);

      // Its port is exclusive: refused before anything is done.
      const second = await runCommand(['worker'], { ...run.settings, CARILLON_DB: join(run.folder, 'other.db') });
      expect(second.code).toBe(2);
      expect(second.stderr).toMatch(/CARILLON_METRICS_LISTEN is 127\.0\.0\.1:\d+, and .* listens there already\. Stop it, or give/);

      const byHand = { webhookId, by: 'person', now: 0, nowReal: 0 };
      await addTestWebhook(run.store, 'https://crm.example.com/', { types: ['campaign.started', 'campaign.completed'] });
      await steerWebhook(run.store, 'pause', byHand);
      const waiting = `carillon_webhook_events_waiting{webhook="${webhookId}"}`;
      const endTask = await failOneTask(run);
      // Holds the campaign until it is seen running.
      const gate = run.sandbox.gates.set('batch_work_done');
      await say('start', path);
      await until('it is shown to run', async () => seriesOf(await scrape(), stateIs('running')) === 1);
      await say('start', path, '--json');
      run.sandbox.gates.release(gate);
      await run.untilEnd();
      await say('status', run.id);
      await say('status', run.id, '--json');
      expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(findTokens(textOf(said), [run.apiKey, ...run.list.tokens])).toEqual([]);
      const lostReplies = await run.unanswered();
      expect(lostReplies.length).toBeGreaterThan(0);
      const ledger = await judgeRun(run, { lostReplies });
      const refused = ledger.recipients.find((row) => row.e164?.endsWith('0120'));
      expect(refused).toMatchObject({ outcome: 'undialable', reason: 'invalid_number' });
      const calls = await countCalls(run);
      expect(calls.length).toBeGreaterThan(1);
      const shown = calls.map(([disposition, count]) => [
        `carillon_calls{campaign="seen",disposition="${disposition}"}`,
        disposition === 'invalid_number' ? null : count,
      ] as const); // prettier-ignore
      // Figures are refreshed at intervals, each by itself.
      const last = await until('the end is shown', async () => {
        const text = await scrape();
        const all = seriesOf(text, stateIs('completed')) === 1 && seriesOf(text, waiting) === 2;
        return all && shown.every(([series, count]) => seriesOf(text, series) === count) && text;
      });
      expect(run.sandbox.calls()).toHaveLength(
        calls.reduce((sum, [disposition, count]) => sum + (disposition === 'invalid_number' ? 0 : count), 0),
      );
      expect(seriesOf(last, stateIs('running'))).toBe(0);
      expect(seriesOf(last, waiting.replace('events_waiting', 'oldest_event_seconds'))).toBeGreaterThan(0);
      await deleteWebhook(run.store, byHand);
      expect(seriesOf(last, 'carillon_calls_open{campaign="seen"}')).toBe(0);
      expect(seriesOf(last, 'carillon_rate_limited_total{request="dial"}')).toBe(1);

      await run.toTemporal.refuse();
      await until('it is not ready without Temporal', async () => (await probe('/readyz')) === 503);
      expect(await probe('/healthz')).toBe(200);
      await run.toTemporal.heal();
      await until('it is ready again', async () => (await probe('/readyz')) === 200);
      await endTask();
      await until('nothing waits for a webhook that is removed', async () => seriesOf(await scrape(), waiting) === 0);

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
