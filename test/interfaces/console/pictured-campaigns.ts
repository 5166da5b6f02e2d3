import { defaultRetryDelays } from '../../../src/rules/attempts/retry-schedule.ts';
import { pausedByOperator } from '../../../src/rules/lifecycle.ts';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { pauseCampaign, startDialling } from '../../../src/ledger/rows/campaigns.ts';
import { answered, beginCampaign, beginProven, type Scenario } from '../../ledger/scenario.ts';
import { buildRow, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import type { ImportRow } from '../../../src/ledger/campaign/row-hash.ts';

/** 11:30 in New York, where the day began at nine. */
export const picturedAt = Date.UTC(2030, 0, 15, 16, 30);

/** Nine o'clock in New York; an hour earlier, in Halifax. */
const opening = Date.UTC(2030, 0, 15, 14);
const halifaxOpening = opening - hourMs;
const perBatch = 20;
const names = ['Ana', 'Ben', 'Carla', 'Dev', 'Elin', 'Farid', 'Grace', 'Hugo', 'Ines', 'Jonas', 'Kaya', 'Leo', 'Mira'];

const places = {
  halifax: { area: 902, zones: ['America/Halifax'], regions: ['NS'] },
  newYork: { area: 212, zones: ['America/New_York'], regions: ['NY'] },
  chicago: { area: 312, zones: ['America/Chicago'], regions: ['IL'] },
  denver: { area: 303, zones: ['America/Denver'], regions: ['CO'] },
  losAngeles: { area: 213, zones: ['America/Los_Angeles'], regions: ['CA'] },
  anchorage: { area: 907, zones: ['America/Anchorage'], regions: ['AK'] },
  honolulu: { area: 808, zones: ['Pacific/Honolulu'], regions: ['HI'] },
};

const day = [{ from: 9 * 60, to: 20 * 60 }];
const rules: RulesChanges = {
  calendar: { hours: { mon: day, tue: day, wed: day, thu: day, fri: day }, closedOn: [] },
  sharedWords: 'unresolved',
  endsAt: opening + 77 * hourMs,
  pacing: { maxConcurrentCalls: 40, batchSize: perBatch },
  retry: { maxAttempts: 3, delays: { ...defaultRetryDelays, voicemail: 'never', busy: [45 * minuteMs], no_answer: [3 * hourMs] } },
};

/** Rows per place in turn; those of Halifax share a name. */
function rowsOf(counts: Partial<Record<keyof typeof places, number>>): ImportRow[] {
  const people = Object.entries(counts).flatMap(([place, count]) => {
    const { area, zones, regions } = places[place as keyof typeof places];
    return Array.from({ length: count }, (_, index) => ({ e164: `+1${area}5550${100 + index}`, zones, regions }));
  });
  return people.map(({ e164, zones, regions }, index) => {
    const row = index + 1;
    const name = zones[0] === 'America/Halifax' ? 'Sam' : (names[index % names.length] ?? '');
    return { ...buildRow(row, e164, [e164, name]), externalId: `P-${2000 + row}`, zones, regions };
  });
}

/** From this row on: a letter in the number, another row's number, none. */
function rejectedRows(from: number): ImportRow[] {
  const wrong = [['+1212555O161', 'invalid_phone'], ['+12125550100', 'duplicate_phone'], ['', 'missing_phone']]; // prettier-ignore
  return wrong.map(([cell = '', reason = ''], index) => ({
    ...buildRow(from + index, '', [cell, names[index] ?? '']),
    e164: null,
    zones: [],
    country: null,
    regions: null,
    verdict: 'rejected',
    reason,
    externalId: `P-${2000 + from + index}`,
  }));
}

type Result = NonNullable<ConversationFacts['callResult']>;
const results: readonly Result[] = ['answered', 'answered', 'no_answer', 'answered', 'voicemail', 'busy', 'answered'];

async function recordsOf(scenario: Scenario, n: number, at: number): Promise<Partial<ConversationFacts>[]> {
  const attempts = (await scenario.attempts()).filter(({ batch_id: batch }) => batch === scenario.batchId(n));
  return attempts.map(({ attempt_id: attempt, e164 }, index) => {
    const record = answered(`conv_${attempt.replaceAll('/', '_')}`, e164, at + (5 + index) * 1_000);
    const callResult = results[(index + n) % results.length] ?? 'answered';
    const unanswered = { callResult, hasTranscript: callResult === 'voicemail', userTurns: 0, collected: null };
    return callResult === 'answered' ? record : { ...record, ...unanswered };
  });
}

async function dialBatches(scenario: Scenario, instants: readonly number[], first = 1): Promise<void> {
  for (const [index, at] of instants.entries()) {
    const n = first + index;
    await scenario.dial(n, at);
    await scenario.sweep(at + 5 * minuteMs, await recordsOf(scenario, n, at));
  }
}

/** Three recipients get the same words; the two numberless records fit any of them. */
async function dialInDoubt(scenario: Scenario, at: number): Promise<void> {
  await scenario.dial(1, at);
  const silent = { calleeNumber: null, callResult: null, openingLine: 'Hello Sam' };
  const records = [5_000, 9_000].map((afterMs, index) => ({
    ...answered(`conv_${'kq'[index]}7f2`, '', at + afterMs),
    ...silent,
    durationMs: 30_000 + afterMs,
    userTurns: 3 - index,
  }));
  await scenario.sweep(at + minuteMs, records);
  for (let minute = 2; minute <= 30; minute += 2) await scenario.sweep(at + minute * minuteMs);
}

/** Four campaigns: `reminders`, under way with 300 rows in six zones and three to decide; one ended, one paused, one for tomorrow. */
export async function makePicturedCampaigns(store: Store): Promise<void> {
  const yesterday = opening - 24 * hourMs;
  const survey = await beginProven(store, {
    campaignId: 'survey',
    rows: [...rowsOf({ newYork: 60 }), ...rejectedRows(61)],
    rules: { ...rules, retry: { ...rules.retry, maxAttempts: 1 } },
    now: yesterday - minuteMs,
  });
  await dialBatches(survey, [yesterday, yesterday + 11 * minuteMs, yesterday + 22 * minuteMs]);
  for (let at = yesterday; at <= yesterday + hourMs; at += 10 * minuteMs) await survey.sweep(at + 30 * minuteMs);
  if (!(await closeRound(store, { campaignId: 'survey', now: yesterday + 2 * hourMs }, 1))) throw new Error('The survey has not ended.');
  const renewals = await beginProven(store, {
    campaignId: 'renewals',
    rows: rowsOf({ denver: 30, chicago: 60 }),
    rules,
    now: opening - 2 * hourMs,
  });
  await pauseCampaign(store, { campaignId: renewals.campaignId, now: opening + hourMs }, { reason: pausedByOperator });
  const tomorrow = opening + 24 * hourMs;
  await beginCampaign(store, {
    campaignId: 'spring-offers',
    rows: rowsOf({ newYork: 80, chicago: 60, denver: 40 }),
    rules: { ...rules, startsAt: tomorrow, endsAt: tomorrow + 58 * hourMs },
    now: opening - hourMs,
  });
  await store.transaction((tx) => startDialling(tx, { campaignId: 'spring-offers', now: opening - hourMs }, { startsAt: tomorrow }));
  const reminders = await beginProven(store, {
    campaignId: 'reminders',
    rows: rowsOf({ halifax: 3, newYork: 97, chicago: 80, denver: 30, losAngeles: 60, anchorage: 20, honolulu: 10 }),
    rules,
    now: halifaxOpening - minuteMs,
  });
  await dialInDoubt(reminders, halifaxOpening);
  const minutes = [0, 11, 22, 33, 44, 61, 72, 83, 94, 121, 132];
  const instants = minutes.map((minute) => opening + minute * minuteMs);
  await dialBatches(reminders, instants, 2);
  for (let at = opening + 138 * minuteMs; at < picturedAt; at += 3 * minuteMs) await reminders.sweep(at);
  await reminders.dial(instants.length + 2, picturedAt - minuteMs);
}
