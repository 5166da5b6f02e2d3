import { expect, test } from 'vitest';
import { Random } from '../../../src/sandbox/core/random.ts';
import type { ResultRule } from '../../../src/rules/talk-results.ts';
import { buildRow, buildRules, callbackRules, collectedRule, minuteMs, saidIn } from '../../support/campaign-rules.ts';
import { Drive } from '../../world/drive.ts';
import { judge } from '../../world/judge/judge.ts';

const people = 300;
const goal = 40;

const agent = {
  agent_id: 'agent_visits',
  name: 'Visits',
  conversation_config: { tts: { voice_id: 'voice_calm' }, agent: { first_message: 'Hello.', prompt: { prompt: 'You ask who comes.' } } },
  platform_settings: {
    data_collection: {
      plan: { type: 'string' as const, description: 'Will you come?', enum: ['yes', 'no', 'later'] },
      callback_in: { type: 'string' as const, description: 'In how many minutes may we call you back?' },
    },
    overrides: { conversation_config_override: { agent: { first_message: true } } },
  },
};

const rule = (result: string, value: string, more: Partial<ResultRule>) => collectedRule(result, 'plan', [value, `${value}.`], more);
const results = [rule('later', 'later', { next: { kind: 'callback' } }), rule('comes', 'yes', { goal: true })];

test.for([
  ['allowed', 1],
  ['allowed', 2],
  ['none', 3],
  ['none', 4],
] as const)(
  `a campaign that wants ${goal} of ${people} stops there, and keeps what it promised: overshoot %s, seed %i`,
  async ([overshoot, seed]) => {
    const random = new Random('goal', seed);
    const list = Array.from({ length: people }, (_, index) => ({
      number: `+1${201 + Math.floor(index / 70)}555${String(130 + (index % 70)).padStart(4, '0')}`,
      answers: { plan: random.pick(['yes', 'yes', 'no', 'later']), callback_in: random.pick(['20', '45', '600']) },
    }));
    const rules = buildRules({
      agentId: agent.agent_id,
      results,
      stopAt: { goal, overshoot },
      callback: { ...callbackRules, at: { kind: 'in', key: 'callback_in' }, lateMs: 30 * minuteMs, most: 1 },
      retry: { maxAttempts: 2 },
      pacing: { batchSize: 8, refillThreshold: 4, maxConcurrentCalls: 16 },
    });
    const rows = list.map(({ number }, index) => buildRow(index + 1, number, [number, index % 3 === 0 ? 'Guest' : `Guest ${index}`]));
    const drive = new Drive({
      seed: `goal ${seed}`,
      sandbox: { concurrency: 16, meanTalkSeconds: 40, fixture: { agents: [agent] }, seedData: true, world: { people: list } },
      campaigns: [{ campaignId: 'visits', rules, rows }],
      workers: [() => 0, () => 0],
    });
    const { evidence, ledger, calls, proven, faults } = await drive.run();
    // Recipients with a callback repeat their answer.
    const again = { from: 0, until: Infinity, told: true };
    const told = calls.map((call) => {
      const plan = call.result === 'answered' ? saidIn(call, 'plan') : '';
      return { ...call, goal: plan === 'yes', ...(plan === 'later' ? { again } : {}) };
    });
    // Analysis and the next read of the records take time.
    const goals = [{ campaignId: 'visits', wanted: goal, isExact: overshoot === 'none', graceMs: 10 * minuteMs }];
    expect([...judge({ ...evidence, calls: told, faults, goals }), ...proven]).toEqual([]);
    const reached = told.filter((call) => call.goal).toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
    expect(reached.length).toBeGreaterThanOrEqual(goal);
    const after = calls.filter(({ acceptedAt }) => acceptedAt > (reached[goal - 1]?.endedAt ?? Infinity) + 10 * minuteMs);
    expect(after.length).toBeGreaterThan(0);
    const called = new Set(calls.map(({ to }) => to));
    const spared = ledger.recipients.filter(({ e164 }) => !called.has(e164 ?? ''));
    expect(spared.length).toBeGreaterThan(people / 10);
    expect(spared.filter(({ outcome, reason }) => outcome !== 'cancelled' || reason !== 'goal_reached')).toEqual([]);
  },
);
