import { beforeAll, expect, test } from 'vitest';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import { Drive } from '../world/drive.ts';
import type { Mix } from '../world/mix.ts';
import { judge, rules, type Rule, type Trial } from './judge.ts';

const area = (index: number) => 212 + index;
/** Answered, busy and then answered, silent, opted out, voicemail, answered; `0120` is refused. */
const numbers = ['0100', '0110', '0106', '0108', '0103', '0120', '0100'].map((end, index) => `+1${area(index)}555${end}`);

function world(dialect: 'spec' | 'extended'): Mix {
  const campaign = { campaignId: 'first', rules: buildRules(), rows: buildRows(numbers, (index) => `Guest ${index}`) };
  return { seed: 'judged', sandbox: { dialect }, campaigns: [campaign] };
}

let honest: Trial;
let spec: Trial;

beforeAll(async () => {
  honest = (await new Drive(world('extended')).run()).trial;
  spec = (await new Drive(world('spec')).run()).trial;
});

/** A copy that a test may spoil. */
function copy(trial: Trial): Trial {
  return structuredClone({ ...trial, lostReplies: new Set<string>() });
}

function rulesBroken(trial: Trial): Rule[] {
  return [...new Set(judge(trial).map(({ rule }) => rule))].sort();
}

test('a run without faults is acquitted, in both dialects', () => {
  expect(judge(copy(honest))).toEqual([]);
  expect(judge(copy(spec))).toEqual([]);
  expect(honest.calls.length).toBeGreaterThan(6);
  expect(honest.ledger.attempts.some((row) => row.disposition === 'opted_out')).toBe(true);
});

const first = <Value>(values: readonly Value[]): Value => {
  const [value] = values;
  if (value === undefined) throw new Error('nothing to spoil');
  return value;
};

/** What is done to an honest run, and the rules that must speak up. */
const corruptions: { name: string; spoil: (trial: Trial) => Trial | void; broken: Rule[] }[] = [
  {
    name: 'a call made twice for one request',
    spoil: (trial) => {
      const call = first(trial.calls);
      const again = {
        ...call,
        callId: 'again',
        acceptedAt: (call.endedAt ?? 0) + 1_000,
        endedAt: (call.endedAt ?? 0) + 2_000,
      };
      return { ...trial, calls: [...trial.calls, again] };
    },
    broken: ['attempt_dialled_twice'],
  },
  {
    name: 'a second POST for an attempt that has its call',
    spoil: (trial) => {
      const call = first(trial.calls);
      const dial = trial.ledger.dials.find((entry) => `${entry.batchId}/${entry.k}` === call.requestId && entry.e164 === call.to);
      const at = (call.endedAt ?? 0) + 1_000;
      if (dial === undefined) return;
      trial.ledger.dials.push({ ...dial, k: 2, at });
      trial.ledger.posts.push({ ...first(trial.ledger.posts), batch_id: dial.batchId, k: 2, posted_at: at });
      const again = { ...call, callId: 'again', requestId: `${dial.batchId}/2`, acceptedAt: at, endedAt: at + 1_000 };
      return { ...trial, calls: [...trial.calls, again] };
    },
    broken: ['attempt_dialled_twice'],
  },
  {
    name: 'a call of a request that the ledger does not know',
    spoil: (trial) => {
      const [call, ...others] = trial.calls;
      if (call === undefined) return;
      return { ...trial, calls: [{ ...call, requestId: 'first/1/99/1' }, ...others] };
    },
    broken: ['call_without_post', 'joins_disagree', 'wrong_conversation', 'wrong_disposition'],
  },
  {
    name: 'a call without any request id',
    spoil: (trial) => ({
      ...trial,
      calls: trial.calls.map((call, index) => (index === 0 ? { ...call, requestId: null } : call)),
    }),
    broken: ['call_without_post', 'joins_disagree', 'wrong_conversation', 'wrong_disposition'],
  },
  {
    name: 'a call that was accepted before its POST',
    spoil: (trial) => ({
      ...trial,
      calls: trial.calls.map((call, index) => (index === 0 ? { ...call, acceptedAt: call.acceptedAt - 60_000 } : call)),
    }),
    broken: ['joins_disagree'],
  },
  {
    name: 'a number dialled while its last call is still open',
    spoil: (trial) => {
      const twice = trial.calls.find((call) => call.nth === 2);
      const before = trial.calls.find((call) => call.to === twice?.to && call.nth === 1);
      if (before === undefined) return;
      return { ...trial, calls: trial.calls.map((call) => (call === before ? { ...call, endedAt: null } : call)) };
    },
    broken: ['calls_overlap'],
  },
  {
    name: 'an attempt that was taken back although it has a call',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.attempts.filter((row) => row.state === 'settled')), {
        state: 'released',
        reason: 'not_sent',
      });
    },
    broken: ['released_but_called', 'wrong_aggregate'],
  },
  {
    name: 'a row without an outcome',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.recipients), { outcome: null, state: 'waiting' });
    },
    broken: ['row_without_outcome', 'wrong_aggregate'],
  },
  {
    name: 'a row that is not finished although it has an outcome',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.recipients), { state: 'open' });
    },
    broken: ['row_without_outcome'],
  },
  {
    name: 'a row that is lost',
    spoil: (trial) => {
      trial.ledger.recipients.shift();
    },
    broken: ['row_missing', 'wrong_aggregate'],
  },
  {
    name: 'a row that the list does not have',
    spoil: (trial) => {
      trial.ledger.recipients.push({ ...first(trial.ledger.recipients), recipient_id: 'first/99', row_number: 99 });
    },
    broken: ['row_unknown', 'wrong_aggregate'],
  },
  {
    name: 'a row that stands there twice',
    spoil: (trial) => {
      trial.ledger.recipients.push({ ...first(trial.ledger.recipients) });
    },
    broken: ['row_unknown', 'wrong_aggregate'],
  },
  {
    name: 'a batch whose fate was never settled',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.batches.filter((row) => row.state === 'confirmed')), { state: 'unknown' });
    },
    broken: ['unfinished'],
  },
  {
    name: 'an attempt that is still open',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.attempts.filter((row) => row.state === 'settled')), { state: 'open' });
    },
    broken: ['unfinished', 'wrong_aggregate'],
  },
  {
    name: 'a recipient left to a person although every reply came back',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.recipients), { outcome: 'unresolved' });
    },
    broken: ['unresolved_without_cause', 'wrong_aggregate'],
  },
  {
    name: 'a busy line told as no answer',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.attempts.filter((row) => row.disposition === 'busy')), {
        disposition: 'no_answer',
      });
    },
    broken: ['wrong_aggregate', 'wrong_disposition'],
  },
  {
    name: 'a silent call told as a conversation',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.attempts.filter((row) => row.detail === 'silent')), { detail: null });
    },
    broken: ['wrong_disposition'],
  },
  {
    name: 'a disposition out of nothing',
    spoil: (trial) => ({ ...trial, calls: trial.calls.slice(1) }),
    broken: ['wrong_conversation', 'wrong_disposition'],
  },
  {
    name: 'two recipients with each other’s conversations',
    spoil: (trial) => {
      const owners = trial.ledger.attempts.filter(
        (row) => row.conversation_id !== null && row.disposition === 'answered' && row.detail === null,
      );
      const [one, other] = owners;
      if (one === undefined || other === undefined) return;
      [one.conversation_id, other.conversation_id] = [other.conversation_id, one.conversation_id];
    },
    broken: ['wrong_conversation'],
  },
  {
    name: 'a conversation that nobody was called in',
    spoil: (trial) => {
      Object.assign(first(trial.ledger.attempts.filter((row) => row.conversation_id !== null)), {
        conversation_id: 'conv_inbound',
      });
    },
    broken: ['wrong_conversation'],
  },
  {
    name: 'a number dialled after its owner said no',
    spoil: (trial) => {
      const dial = first(trial.ledger.dials);
      const entry = { scope: 'account', source: 'test', reason: null, expires_at: null };
      trial.ledger.suppressions.push({ ...entry, e164: dial.e164, created_at: dial.at - 1 });
    },
    broken: ['dialled_though_suppressed'],
  },
  {
    name: 'a count that drifted',
    spoil: (trial) => {
      first(trial.ledger.aggregates.filter((row) => row.kind === 'outcome')).count += 1;
    },
    broken: ['wrong_aggregate'],
  },
];

test.for(corruptions)('the judge notices $name', ({ spoil, broken }) => {
  const trial = copy(honest);
  expect(rulesBroken(spoil(trial) ?? trial)).toEqual(broken);
});

test('every rule of the judge can fire', () => {
  expect([...new Set(corruptions.flatMap(({ broken }) => broken))].sort()).toEqual([...rules].sort());
});

test('in the documented dialect an answered call with an opening line of its own must be told as answered', () => {
  const trial = copy(spec);
  const attempt = first(trial.ledger.attempts.filter((row) => row.disposition === 'answered' && row.detail === null));
  Object.assign(attempt, { disposition: 'unreached', conversation_id: null });
  expect(rulesBroken(trial)).toEqual(['wrong_aggregate', 'wrong_disposition']);
  // With words that another number heard too, nobody can tell whose call it was.
  const line = attempt.opening_line;
  for (const row of trial.ledger.attempts) row.opening_line = line;
  expect(rulesBroken(trial)).toEqual(['wrong_aggregate']);
});

test('a lost reply excuses what it destroyed, and nothing else', () => {
  const trial = copy(honest);
  const attempt = first(trial.ledger.attempts.filter((row) => row.disposition === 'answered' && row.detail === null));
  const recipient = trial.ledger.recipients.find((row) => row.recipient_id === attempt.recipient_id);
  Object.assign(attempt, { disposition: 'unknown', detail: 'held', conversation_id: null });
  Object.assign(recipient ?? {}, { outcome: 'unresolved' });
  const calls = trial.calls.filter((call) => call.to !== attempt.e164);
  const lost = new Set(trial.ledger.posts.filter((post) => post.batch_id === attempt.batch_id).map((post) => `${post.batch_id}/${post.k}`));
  const spoiled = { ...trial, calls, lostReplies: lost };
  expect(rulesBroken(spoiled)).toEqual(['wrong_aggregate']);
  const elsewhere = new Set(['first/1/99/1']);
  expect(rulesBroken({ ...spoiled, lostReplies: elsewhere })).toEqual(['unresolved_without_cause', 'wrong_aggregate', 'wrong_disposition']);
});

/** A busy call left in doubt, as the ledger tells it. */
function leaveInDoubt(trial: Trial, detail: string): Trial['ledger']['attempts'][number] {
  const attempt = first(trial.ledger.attempts.filter((row) => row.disposition === 'busy'));
  const recipient = trial.ledger.recipients.find((row) => row.recipient_id === attempt.recipient_id);
  const call = trial.calls.find(({ conversationId }) => conversationId === attempt.conversation_id);
  Object.assign(call ?? {}, { conversationId: null, visible: false });
  Object.assign(attempt, { disposition: 'unknown', detail, conversation_id: null });
  Object.assign(recipient ?? {}, { outcome: 'unresolved', reason: detail });
  trial.ledger.aggregates = [];
  return attempt;
}

const doubtRules = ['unresolved_without_cause', 'wrong_aggregate', 'wrong_disposition'];

test.for(['records_not_told_apart', 'no_record_shown', 'clock_stepped'])(
  'that calls are said to be in doubt (%s) is no excuse when the run shows no reason',
  (detail) => {
    const trial = copy(honest);
    leaveInDoubt(trial, detail);
    expect(rulesBroken(trial)).toEqual(doubtRules);
  },
);

test('a record of nobody, of that time and agent, excuses a doubt', () => {
  const nobody = (change: object) => {
    const trial = copy(honest);
    const attempt = leaveInDoubt(trial, 'records_not_told_apart');
    const conversation = first(trial.ledger.conversations);
    const facts = JSON.stringify({ calleeNumber: null });
    const own = { conversation_id: 'of_nobody', agent_id: attempt.agent_id, attempt_id: null, facts };
    trial.ledger.conversations.push({
      ...conversation,
      ...own,
      started_at: (attempt.posted_at ?? 0) + 1_000,
      ...change,
    });
    return rulesBroken(trial);
  };
  expect(nobody({})).toEqual(['wrong_aggregate']);
  expect(nobody({ attempt_id: 'first/1/1' })).toEqual(doubtRules);
  expect(nobody({ agent_id: 'another' })).toEqual(doubtRules);
  expect(nobody({ started_at: 0 })).toEqual(doubtRules);
  expect(nobody({ facts: JSON.stringify({ calleeNumber: '+12125550199' }) })).toEqual(doubtRules);
});
