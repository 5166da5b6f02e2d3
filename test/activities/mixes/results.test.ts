import { expect, test } from 'vitest';
import type { CallTruth } from '../../../src/sandbox/core/telephony/call-truth.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import type { ResultRule } from '../../../src/rules/talk-results.ts';
import { requireCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { readStatus } from '../../../src/ledger/campaign/campaign-status.ts';
import { buildRow, buildRules, callbackRules, collectedRule, hourMs, minuteMs, saidIn } from '../../support/campaign-rules.ts';
import { isFull } from '../../support/depth.ts';
import { Drive } from '../../world/drive.ts';
import { groupBy } from '../../world/judge/calls.ts';
import { judge } from '../../world/judge/judge.ts';

const people = isFull ? 5_000 : 500;
const maxAttempts = 3;
const mostPromises = 3;
const lateMs = 30 * minuteMs;

const agent = {
  agent_id: 'agent_visits',
  name: 'Visits',
  conversation_config: { tts: { voice_id: 'voice_calm' }, agent: { first_message: 'Hello.', prompt: { prompt: 'You ask who comes.' } } },
  platform_settings: {
    data_collection: {
      who: { type: 'string' as const, description: 'Am I speaking to the patient?', enum: ['patient', 'somebody else'] },
      plan: { type: 'string' as const, description: 'Will you come?', enum: ['yes', 'no', 'undecided', 'later'] },
      callback_in: { type: 'string' as const, description: 'In how many minutes may we call you back?' },
      opt_out: { type: 'boolean' as const, description: 'Whether the person asked not to be called again.' },
    },
    overrides: { conversation_config_override: { agent: { first_message: true } } },
  },
};

const rule = (result: string, key: string, value: string, more: Partial<ResultRule> = {}) =>
  collectedRule(result, key, [value, `${value}.`], more);

const results: ResultRule[] = [
  rule('wrong_person', 'who', 'somebody else'),
  rule('later', 'plan', 'later', { next: { kind: 'callback' } }),
  rule('undecided', 'plan', 'undecided', { next: { kind: 'retry', afterMs: 2 * hourMs } }),
  rule('comes', 'plan', 'yes', { goal: true }),
];

/** By hand from the rules above: the result, and the span in which another call is due. */
function expected(call: CallTruth): { result: string; from: number | null; to: number | null } {
  const said = (key: string): string => saidIn(call, key);
  const nothing = { from: null, to: null };
  if (said('who') === 'somebody else') return { result: 'wrong_person', ...nothing };
  const ended = call.endedAt ?? 0;
  if (said('plan') === 'later') {
    const minutes = Number(said('callback_in'));
    return { result: 'later', from: ended + minutes * minuteMs, to: ended + minutes * minuteMs + lateMs };
  }
  if (said('plan') === 'undecided') return { result: 'undecided', from: ended + 2 * hourMs, to: Infinity };
  return { result: said('plan') === 'yes' ? 'comes' : 'other', ...nothing };
}

test(
  `what the talks of ${people} people, many of the same name, came to, and who is called again, is what the rules say of what the service was told`,
  { timeout: 900_000 },
  async () => {
    const random = new Random('results');
    const list = Array.from({ length: people }, (_, index) => ({
      number: `+1${201 + Math.floor(index / 70)}555${String(130 + (index % 70)).padStart(4, '0')}`,
      answers: {
        who: random.chance(0.1) ? 'somebody else' : 'patient',
        plan: random.pick(['yes', 'yes', 'no', 'undecided', 'later']),
        callback_in: random.pick(['20', '45', '200']),
      },
    }));
    const rules = buildRules({
      agentId: agent.agent_id,
      results,
      callback: { ...callbackRules, at: { kind: 'in', key: 'callback_in' }, lateMs, most: mostPromises },
      retry: { maxAttempts },
      pacing: { batchSize: 50, refillThreshold: 20, maxConcurrentCalls: 200 },
    });
    const rows = list.map(({ number }, index) =>
      buildRow(index + 1, number, [number, index % 3 === 0 ? 'Guest' : `Guest ${number.slice(2)}`]),
    );
    let counted: Record<string, number> = {};
    const drive: Drive = new Drive({
      seed: 'results',
      sandbox: { concurrency: 200, meanTalkSeconds: 40, fixture: { agents: [agent] }, seedData: true, world: { people: list } },
      campaigns: [{ campaignId: 'visits', rules, rows }],
      workers: [() => 400],
      atEnd: async () => {
        counted = (await readStatus(drive.store.db, await requireCampaign(drive.store.db, 'visits'))).results;
      },
    });
    const { evidence, calls, proven, faults } = await drive.run();
    const meant = calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt).map((call) => {
      const talk = call.result === 'answered' ? expected(call) : null;
      const again = talk?.from == null ? {} : { again: { from: talk.from, until: talk.to ?? Infinity, told: true } };
      return { ...call, ...again, said: talk?.result ?? null };
    }); // prettier-ignore
    expect([...judge({ ...evidence, calls: meant, faults }), ...proven]).toEqual([]);
    const counts = new Map<string, number>();
    for (const { said } of meant) if (said !== null) counts.set(said, (counts.get(said) ?? 0) + 1);
    const wrong = [...groupBy(meant, ({ to }) => to).values()].flatMap((own) => {
      const most = { undecided: maxAttempts, later: 1 + mostPromises }[own.at(-1)?.said ?? ''] ?? 1;
      return own.length === most || own.some(({ said }) => said === null) ? [] : [`${own[0]?.to}: ${own.length} calls instead of ${most}`];
    });
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(counted).toEqual(Object.fromEntries(counts));
    // The seeds prove nothing unless each result occurs.
    for (const result of ['wrong_person', 'later', 'undecided', 'comes', 'other']) expect(counts.get(result)).toBeGreaterThan(people / 20);
  },
);
