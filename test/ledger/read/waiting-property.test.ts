import { expect } from 'vitest';
import type { NewEvent } from '../../../src/rules/events.ts';
import { appendEvents } from '../../../src/ledger/events.ts';
import { readCampaignRows } from '../../../src/ledger/read/campaign-rows.ts';
import { readNextRule, readWaiting } from '../../../src/ledger/read/waiting.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { noon, type Scenario, guests } from '../scenario.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

const rows = 40;
const rules = ['due', 'retry', 'not_before', 'later', 'outside_hours', 'cap', 'evidence', 'no_such_rule'];

/** Rows that wait until one of a few instants, and a log that tells of some. */
async function scatter({ store, campaignId }: Scenario, random: Random): Promise<void> {
  const instant = () => noon + minuteMs * Math.floor(random.between(-3, 8));
  const deferrals = Array.from({ length: Math.floor(random.between(0, 8)) }, (): NewEvent => {
    const data = { until: instant(), reason: random.pick(['outside_hours', 'cap', 'evidence', 'due']), count: 1 };
    return { at: noon, campaignId, type: 'recipient.deferred', data };
  });
  await store.transaction(async (tx) => {
    for (let row = 1; row <= rows; row += 1) {
      const dueAt = instant();
      const notBefore = random.chance(0.3) ? dueAt : random.chance(0.3) ? instant() : null;
      await tx
        .updateTable('recipients')
        .set({ due_at: dueAt, not_before: notBefore, called: random.chance(0.5) ? 1 : 0 })
        .set({ state: random.chance(0.9) ? 'waiting' : 'done' })
        .where('campaign_id', '=', campaignId)
        .where('row_number', '=', row)
        .execute();
    }
    await appendEvents(tx, deferrals);
  });
}

test.both('every waiting row is found by the rule that it is counted under, and by no other', async (dialect) => {
  unjudged();
  const list = guests(rows);
  const scenario = await beginOn(dialect, { rows: list });
  const { db } = scenario.store;
  const counted = new Set<string>();
  const told = new Set<string>();
  for (let seed = 1; seed <= 15; seed += 1) {
    const random = new Random('waiting', seed);
    await scatter(scenario, random);
    const now = noon + minuteMs * Math.floor(random.between(-1, 3));
    const waiting = await readCampaignRows(db, 'spring', { states: ['waiting'], limit: rows }, now);
    const groups = new Map((await readWaiting(db, { campaignId: 'spring' }, now)).map((group) => [group.rule, group]));
    // Before anybody is due, the group of the next rows names what keeps them.
    const before = noon - 10 * minuteMs;
    const ahead = await readWaiting(db, { campaignId: 'spring' }, before);
    const next = Math.min(...ahead.map(({ from }) => from));
    const rule = (await readNextRule(db, await scenario.campaign(), { now: before, next })) ?? 'later';
    expect(ahead.find((group) => group.rule === rule)?.from, `seed ${seed}, next`).toBe(next);
    told.add(rule);
    const found: number[] = [];
    for (const rule of new Set([...rules, ...groups.keys()])) {
      const ofRule = await readCampaignRows(db, 'spring', { waitingFor: rule, limit: rows }, now);
      const instants = ofRule.map(({ dueAt }) => dueAt ?? 0);
      const expected = { rule, rows: ofRule.length, from: Math.min(...instants), to: Math.max(...instants) };
      expect(groups.get(rule), `seed ${seed}, ${rule}`).toEqual(ofRule.length === 0 ? undefined : expected);
      found.push(...ofRule.map(({ row }) => row));
      if (ofRule.length > 0) counted.add(rule);
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(waiting.map(({ row }) => row));
  }
  expect([...counted].toSorted()).toEqual(rules.filter((rule) => rule !== 'no_such_rule').toSorted());
  expect(told.size).toBeGreaterThan(1);
});
