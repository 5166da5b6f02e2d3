import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { findTokens, textOf, textOfWorkflow } from '../support/leak-scan.ts';
import { plantList } from '../support/planted-list.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { runCommand } from '../support/worker-process.ts';

const temporal = useSharedTemporal();

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

/** What the service answers to a call to the number that it refuses. */
async function refusalOf({ sandbox, apiKey, list }: CampaignRun): Promise<string> {
  const calls = list.rows.filter((row) => row.e164?.endsWith('0120')).map((row) => ({ to_phone_number: row.e164 }));
  const answer = await fetch(`${sandbox.url}/v1/convai/phone-numbers/batch-calls`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls }),
  });
  return answer.text();
}

test('a campaign in trouble keeps key, numbers and fields out of histories, logs, errors and status', async () => {
  // 0120: the service refuses the number and repeats it in its refusal.
  await withRun(
    { id: 'secrets', seed: 1101, temporal, recipients: 30, fates: ['0120', '0108', '0104'], settings: patient },
    async (run) => {
      expect(await refusalOf(run)).toContain(run.list.rows.find((row) => row.e164?.endsWith('0120'))?.e164);
      run.sandbox.addFaults([
        { operation: 'batch_calls', nth: 3, effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 60 } },
        { operation: 'batch_calls', nth: 2, effect: { type: 'truncate' } },
        { operation: 'get_conversation', every: 7, effect: { type: 'error', status: 500 } },
        { operation: 'get_conversation', nth: 5, effect: { type: 'truncate' } },
        { operation: 'list_conversations', every: 5, effect: { type: 'html', status: 502 } },
      ]);
      const path = join(run.folder, 'campaign.yaml');
      await writeFile(path, campaignFile(run.id));
      await writeFile(join(run.folder, 'recipients.csv'), run.list.toCsv());
      run.startWorker();
      const said = [await runCommand(['start', path], run.settings), await runCommand(['start', path, '--json'], run.settings)];
      await run.untilEnd();
      said.push(await runCommand(['status', run.id], run.settings), await runCommand(['status', run.id, '--json'], run.settings));
      expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(findTokens(textOf(said), [run.apiKey, ...run.list.tokens])).toEqual([]);

      const lost = await run.store.db.selectFrom('posts').selectAll().where('verdict', '=', 'unknown').execute();
      expect(lost.length).toBeGreaterThan(0);
      const ledger = await judgeRun(run, { lostReplies: lost.map((post) => `${post.batch_id}/${post.k}`) });
      expect(ledger.recipients.find((row) => row.e164?.endsWith('0120'))).toMatchObject({
        outcome: 'undialable',
        reason: 'invalid_number',
      });
    },
  );
});

test('the scan finds what is planted in a payload, a failure or a reason that Temporal keeps', async () => {
  const { tokens } = plantList(1102, 20);
  const [inPayload, inReason, inMemo, nowhere] = tokens as [string, string, string, string];
  const handle = await temporal.client.workflow.start('planted', {
    taskQueue: 'nobody',
    workflowId: 'planted',
    args: [{ deep: { inside: [`before ${inPayload} after`] } }],
    memo: { note: Buffer.from(inMemo).toString('base64') },
  });
  await handle.terminate(`because of ${inReason}`);
  const text = await textOfWorkflow(temporal.client, 'planted');
  expect(findTokens(text, [inPayload, inReason, inMemo, nowhere])).toEqual([inPayload, inReason, inMemo]);
});

test('the scan finds what is planted in an error, an address or a log line, and the log censors what it knows', () => {
  const [inError, inCause, inLine, censored] = plantList(1103, 20).tokens as [string, string, string, string];
  expect(findTokens(textOf(new Error(inError, { cause: { url: `/x?y=${inCause}` } })), [inError, inCause])).toEqual([inError, inCause]);
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => void lines.push(line) });
  logger.trace({ note: inLine, call: { e164: censored } }, 'a line');
  expect(findTokens(lines.join(''), [inLine, censored])).toEqual([inLine]);
});
