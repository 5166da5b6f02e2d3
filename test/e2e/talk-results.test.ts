import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { createWorld, proven, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';

const rows = 120;
const yaml = [
  'opt_out: [{ collected: opt_out, equals: true }]',
  'results:',
  '  - { result: confirmed, collected: appointment, equals: confirmed, goal: true }',
  '  - { result: moved, collected: appointment, equals: [reschedule, later] }',
  '  - { result: quick, talk_under: 30s }',
  'retry: { max_attempts: 2, busy: 5m, no_answer: 5m, unreached: 5m, voicemail: never, failed: 5m }',
];

interface ServiceRecord {
  transcript: { role?: string; speaker?: string }[];
  metadata: { call_duration_secs: number; phone_call: { external_number: string; call_result: string } };
  collected_data: Record<string, unknown>;
}

/** Every record that the service has. */
async function* recordsOf({ sandbox }: CampaignWorld): AsyncGenerator<ServiceRecord> {
  const headers = { 'x-api-key': 'sk_sandbox_ok' };
  const ask = async (path: string) => (await fetch(`${sandbox.url}/v1/convai/conversations${path}`, { headers })).json();
  let cursor = '';
  do {
    const page = (await ask(`?page_size=100${cursor}`)) as { conversations: { conversation_id: string }[]; next_cursor: string | null };
    for (const { conversation_id: id } of page.conversations) yield (await ask(`/${id}`)) as ServiceRecord;
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
}

/** What a talk came to by the service's own record alone; null: it was none, or the person wants no calls. */
function cameTo({ transcript, metadata, collected_data: collected }: ServiceRecord): string | null {
  const value = (key: string): unknown => {
    const said = collected[key];
    return typeof said === 'object' && said !== null && 'value' in said ? said.value : said;
  };
  const spoke = transcript.some(({ role, speaker }) => (role ?? speaker) === 'user');
  if (!spoke || metadata.phone_call.call_result !== 'answered' || value('opt_out') === true) return null;
  if (value('appointment') === 'confirmed') return 'confirmed';
  if (value('appointment') === 'reschedule' || value('appointment') === 'later') return 'moved';
  if (metadata.call_duration_secs < 30) return 'quick';
  return 'other';
}

test('what talks came to is in the results as the service tells it itself, and in every other face in the same numbers', async () => {
  const world = await createWorld({ dialect: 'extended' });
  world.writeCampaign({ rows, yaml });
  await world.work();
  expect((await world.run('run', world.campaignPath, '--json')).code).toBe(0);
  const expected = new Map<string, string>();
  for await (const record of recordsOf(world)) {
    const result = cameTo(record);
    if (result !== null) expected.set(record.metadata.phone_call.external_number, result);
  }
  expect(expected.size).toBeGreaterThan(rows / 4);
  const written = await world.run('results', world.id, '--output', '-');
  const lines = parse<Record<string, string>>(written.stdout, { columns: true });
  const told = new Map(lines.flatMap(({ phone = '', result = '' }) => (result === '' ? [] : [[phone, result] as const])));
  expect(told).toEqual(expected);

  const counts: Record<string, number> = {};
  for (const result of expected.values()) counts[result] = (counts[result] ?? 0) + 1;
  expect(counts['confirmed']).toBeGreaterThan(0);
  const status = JSON.parse((await world.run('status', world.id, '--json')).stdout) as { results: object };
  expect(status.results).toEqual(counts);
  const report = JSON.parse((await world.run('report', world.id, '--json')).stdout) as { goal: { talks: object; people: object } };
  expect(report.goal.talks).toMatchObject({ count: counts['confirmed'], of: expected.size });
  expect(report.goal.people).toMatchObject({ count: counts['confirmed'], of: rows });
  const some = await world.run('results', world.id, '--result', 'confirmed', '--format', 'jsonl', '--output', '-');
  expect(some.stdout.trim().split('\n')).toHaveLength(counts['confirmed'] ?? 0);
  expect((await world.run('report', world.id)).stdout).toContain(`goal reached in ${counts['confirmed']} of ${expected.size} talks`);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});
