import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { Drive } from '../world/drive.ts';
import type { Mix } from '../world/mix.ts';
import type { Outcome } from '../world/outcome.ts';
import { buildRows, buildRules, minuteMs } from '../support/campaign-rules.ts';
import type { Write } from './write-masters.ts';

/** Of the connection, not of the request. */
const ownToConnection = new Set(['host', 'connection']);
const keyHeaders = new Set(['x-api-key', 'xi-api-key']);

/** Runs a campaign. `asked`: a line per request, with all that the service could act on. */
export async function recordRequests(mix: Mix): Promise<{ outcome: Outcome; asked: string }> {
  const lines: string[] = [];
  const record = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (request.url?.startsWith('/v1/') !== true) return;
    const headers = Object.entries(request.headers).filter(([name]) => !ownToConnection.has(name));
    const shown = headers.map(([name, value]) => `${name}: ${keyHeaders.has(name) ? '[redacted]' : String(value)}`);
    const head = [`${String(request.method)} ${request.url}`, ...shown, ''].join(' | ');
    const nth = lines.push(head) - 1;
    // Listening for data would take it from the sandbox.
    request.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk !== null) lines[nth] += String(chunk);
      return IncomingMessage.prototype.push.call(request, chunk, encoding);
    };
  };
  subscribe('http.server.request.start', record);
  const outcome = await new Drive(mix).run().finally(() => unsubscribe('http.server.request.start', record));
  // The ledger's own name is random.
  return {
    outcome,
    asked: inOrder(lines)
      .join('\n')
      .replaceAll(/[0-9a-f]{12}:first/g, '<ledger>:first'),
  };
}

/** Records are read in parallel: their order is left to the machine. */
function inOrder(lines: readonly string[]): string[] {
  const isRead = (line: string | undefined) => line?.startsWith('GET /v1/convai/conversations/') === true;
  const runs: string[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (isRead(line) && isRead(run?.[0])) run?.push(line);
    else runs.push([line]);
  }
  return runs.flatMap((run) => run.sort());
}

/** A published service's requests: batches, one refused, one looked up, reports, records, withdrawals. */
export async function writeRequests(write: Write): Promise<void> {
  for (const api of ['batch-calling', 'campaigns'] as const) {
    const numbers = Array.from({ length: 8 }, (_, index) => `+121255501${index + 30}`);
    const rules = buildRules({
      pacing: { batchSize: 2, maxConcurrentCalls: 4, refillThreshold: 1 },
      retry: { maxAttempts: 2 },
      timing: { pollMs: minuteMs, settleMs: 5 * minuteMs },
    });
    const mix: Mix = {
      seed: 'requests',
      api,
      provenLagMs: 0,
      sandbox: { dialect: 'extended', concurrency: 1, meanTalkSeconds: 4 * 60 },
      campaigns: [{ campaignId: 'first', rules, rows: buildRows(numbers, (index) => `Guest ${String(index)}`) }],
      faults: [
        { id: 'limited', operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 60 } },
        { id: 'lost', operation: 'batch_calls', nth: 4, effect: { type: 'reset', when: 'after' } },
      ],
      // Its call waits for the only line.
      events: [{ afterMs: minuteMs / 2, happen: async (_, { suppress }) => suppress(numbers[1] ?? '') }],
    };
    write(`${api}.txt`, (await recordRequests(mix)).asked);
  }
}
