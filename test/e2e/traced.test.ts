import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { patient, withRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave } from '../support/kill-gaps.ts';
import { findTokens } from '../support/leak-scan.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs } from '../support/until.ts';

const temporal = useSharedTemporal();

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

/** A collector of OTLP over HTTP: keeps what it is sent. */
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

const valueOf = ({ attributes }: Span, key: string): unknown =>
  Object.values(attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];

test('a round is one trace from the campaign to the id of each conversation, told by two workers; it tells no secret', async () => {
  const collector = await startCollector();
  try {
    const settings = { ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
    await withRun({ id: 'traced', seed: 1041, temporal, settings }, async (run) => {
      const gate = run.sandbox.gates.set('batch_work_done', 2);
      const first = run.startWorker();
      await run.start();
      expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
      await expect.poll(() => collector.spans().length).toBeGreaterThan(0);
      await leave(run, first, gate);
      const last = run.startWorker();
      await run.untilEnd();
      const ledger = await judgeRun(run);
      expect(await last.terminate()).toEqual({ code: 0, signal: null });

      const spans = collector.spans();
      const named = (name: string) => spans.filter((span) => span.name === name);
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      const ids = spans.map(({ spanId }) => spanId);
      expect(spans.filter(({ spanId }, index) => ids.indexOf(spanId) !== index)).toEqual([]);
      const [root] = named('round');
      expect(named('batch').map((span) => span.parentSpanId)).toEqual(ledger.batches.map(() => root?.spanId));
      const batches = new Map(named('batch').map((span) => [span.spanId, valueOf(span, 'carillon.batch.id')]));
      const called = ledger.attempts.filter(({ settled_at: at, posted_at: posted }) => at !== null && posted !== null);
      const shown = named('call').map((span) => ({
        call: valueOf(span, 'carillon.call.id'),
        batch: batches.get(span.parentSpanId ?? ''),
        disposition: valueOf(span, 'carillon.call.disposition'),
        conversation: valueOf(span, 'carillon.conversation.id') ?? null,
      }));
      expect(shown).toHaveLength(called.length);
      expect(shown).toEqual(
        expect.arrayContaining(
          called.map((row) => ({
            call: row.attempt_id,
            batch: row.batch_id,
            disposition: row.disposition,
            conversation: row.conversation_id,
          })),
        ),
      );
      expect(shown.filter(({ conversation }) => conversation !== null).length).toBeGreaterThan(8);
      expect(spans.every((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))).toBe(true);
      expect(findTokens(collector.texts.join('\n'), [run.apiKey, ...run.list.tokens])).toEqual([]);
    });
  } finally {
    collector.close();
  }
});

test('a collector that is away keeps no call from being placed', async () => {
  const settings = { ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  await withRun({ id: 'untraced', seed: 1042, temporal, settings }, async (run) => {
    const worker = run.startWorker();
    await run.start();
    await run.untilEnd();
    await judgeRun(run);
    expect(await worker.terminate()).toEqual({ code: 0, signal: null });
  });
});
