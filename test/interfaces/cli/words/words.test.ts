import { expect, test } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeEvent, describedEvents } from '../../../../src/presentation/words/events.ts';
import type { PostVerdict } from '../../../../src/rules/ledger.ts';
import type { EventData, EventType, NewEvent } from '../../../../src/rules/events.ts';
import { stateText, statusAsJson } from '../../../../src/presentation/words/campaign.ts';
import type { CampaignStatus } from '../../../../src/ledger/campaign/campaign-status.ts';
import type { Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import { buildRules } from '../../../support/campaign-rules.ts';
import { commands } from '../../../../src/interfaces/cli/commands.ts';
import { codeOfName } from '../../../../src/shared/input/errors.ts';
import { withInstants } from '../../../../src/shared/input/times.ts';
import { hooksAsJson } from '../../../../src/presentation/words/hooks.ts';
import { idleReasonAsJson } from '../../../../src/presentation/words/why.ts';
import { writeCampaign, minimalCampaign } from '../../../list/campaign-folder.ts';
import { createLedger } from '../campaign-ledger.ts';
import { createTerminal } from '../terminal.ts';

function event<Type extends EventType>(type: Type, data: Partial<EventData[Type]>, ids: Partial<NewEvent> = {}): NewEvent {
  return { at: 0, campaignId: 'autumn', type, batchId: 'autumn/1/4', data, ...ids } as NewEvent;
}

test.each(
  // prettier-ignore
  [
    [event('campaign.imported', { rows: 1200, rejected: 3 }), '1,200 rows imported, 3 rejected'],
    [event('campaign.state', { to: 'paused', reason: 'paused by a person' }), 'paused: paused by a person'],
    [event('campaign.edited', { added: 1, corrected: 0, withdrawn: 2 }), '1 row added, 2 rows withdrawn'],
    [event('campaign.adjusted', { from: { startsPerMinute: null }, to: { startsPerMinute: 30 }, by: 'person' }),
      'an operator changed starts per minute from no limit to 30'],
    [event('account.adjusted', { from: { keepFree: 0 }, to: { keepFree: 125 }, by: 'person' }),
      'an operator changed limits of the account: part kept free from 0 % to 12.5 %'],
    [event('account.adjusted', { from: { service: 'https://old.example' }, to: { service: 'https://new.example' } }),
      "an operator moved the campaign to its service's new address, https://new.example"],
    [event('house.changed', { version: 2, rules: { version: 2, calendar: { hours: null, closedOn: [] }, caps: [], callerLimits: null, requires: { consent: true, optOut: false } } }), 'version 2 of the house rules holds for all campaigns'],
    [event('pilot.voided', { sample: 2 }), 'the agent was changed since the pilot: nobody else is called before it is resumed'],
    [event('house.changed', { version: 3, rules: null }), 'the house rules are lifted'],
    [event('account.pace', { from: 1000, to: 500 }), 'the service limits requests: all limits are at 50 %, and rise as it accepts batches'],
    [event('account.pace', { from: 500, to: 550 }), null],
    [event('recipient.decided', { decision: 'theirs', conversation: 'conv_7', by: 'person' }, { recipientId: 'autumn/12' }),
      'row 12: an operator decided that conv_7 is the record of its call'],
    [event('recipient.decided', { decision: 'redial', by: 'person' }, { recipientId: 'autumn/12' }),
      'row 12: an operator decided that it is to be dialled again'],
    [event('batch.state', { state: 'redial', by: 'campaign' }),
      'batch 4: no record shows it; dialled again, as the campaign file says (on_unknown)'],
    [event('suppression.added', { e164: '+12125550101', scope: 'account', source: 'possible:conv_7' }),
      'a person opted out in a record that matches no call: no number it may belong to is called any more'],
    [event('clock.stepped', { clock: 'service', byMs: -1_660_000 }),
      "the service's clock was set back by 28 min: calls that were open then get no negative outcome"],
    [event('clock.stepped', { clock: 'machine', byMs: 240_000 }),
      "a worker's clock was set forward by 4 min: calls that were open then get no negative outcome"],
    [event('account.pace', { from: 960, to: 1000 }), 'the service has accepted enough batches: all limits are at 100 % again'],
    [event('batch.screened', { asked: 9, refused: 0, later: 0, eligible: [] }), null],
    [event('batch.screened', { asked: 9, refused: 2, later: 1, eligible: [] }),
      'batch 4: the pre-dial hook says that 2 recipients may not be called, and 1 recipient may be called later'],
    [event('hook.failed', { hook: 'pre_dial', fault: 'timeout' }),
      'batch 4: the pre-dial hook (pre_dial.url) does not answer (no answer in time); its recipients are not called until it does'],
    [event('hook.failed', { hook: 'on_completion', round: 1, fault: 'status', status: 410 }),
      'the completion hook (on_completion.url) could not be notified of the end (it refuses or fails, status 410)'],
    [event('hook.delivered', { hook: 'on_completion', round: 1 }), 'the completion hook was notified of the end'],
    [event('hook.delivered', { hook: 'on_pause', round: 1 }), 'the pause hook was notified of the pause'],
    [event('hook.failed', { hook: 'on_pause', round: 1, fault: 'status', status: 410 }),
      'the pause hook (on_pause.url) could not be notified of the pause (it refuses or fails, status 410)'],
    [event('batch.state', { state: 'held', by: 'person' }),
      'batch 4: an operator gave up its records; what became of its calls stays unknown'],
    [event('batch.posting', { k: 2, size: 1 }), 'batch 4: sending 1 call again, POST 2'],
    [event('batch.posting', { k: 1, size: 1 }), null],
    [event('batch.state', { state: 'confirmed', by: 'reply', calls_initiated: 20 }), 'batch 4: 20 calls accepted'],
    [event('caller.out', { phoneNumberId: 'pn_main', reason: 'not_verified' }), 'caller number pn_main is taken out: it is not verified'],
    [event('caller.in', { phoneNumberId: 'pn_main' }), 'caller number pn_main may call again'],
    [event('operator.acted', { name: 'front desk', action: 'numbers_shown' }), 'front desk: numbers shown'],
    [event('operator.acted', { name: 'front desk', action: 'transcript_shown' }, { recipientId: 'autumn/7' }),
      'front desk: transcript shown, row 7'],
    [event('webhook.changed', { webhook: '00c0ffee0001', change: 'failing', by: 'carillon' }),
      'webhook 00c0ffee0001: nothing was delivered for days, and is tried every hour'],
    [event('post.verdict', { k: 1, verdict: 'confirmed', status: 200 }), null],
    [event('suppression.added', {}, { attemptId: 'autumn/17/2' }), 'row 17 asked not to be called again, and will not be'],
  ],
)('an event is told in words: %j', (told, text) => {
  expect(describeEvent(told)).toBe(text);
});

test.each<[number | null, PostVerdict, RegExp]>([
  [429, 'not_sent', /asked to wait \(429\), nothing was queued/],
  [null, 'not_sent', /no connection, nothing was sent/],
  [500, 'unknown', /no usable answer \(status 500\); it counts as sent/],
  [null, 'unknown', /no usable answer; it counts as sent/],
  [422, 'refused', /refused by the service \(status 422\); once .* smaller batches/],
  [402, 'refused', /refused by the service \(status 402\)$/],
])('status %s with verdict %s says what is known', (status, verdict, says) => {
  expect(describeEvent(event('post.verdict', { k: 1, verdict, status }))).toMatch(says);
});

test('what an event holds of a recipient is never told', () => {
  const numbers = { k: 2, size: 1, rows: 1, rejected: 0, round: 1, byMs: 1, calls: 1, failed: 1, goals: 1 };
  const words = {
    from: 'running',
    to: 'paused',
    reason: null,
    state: 'held',
    phoneNumberId: 'pn_main',
    decision: 'give_up',
    name: 'front desk',
    action: 'pause',
    webhook: '00c0ffee0001',
    change: 'added',
  };
  const data = { ...numbers, ...words, e164: '+12125550101' } as EventData[EventType];
  for (const type of describedEvents) {
    const told = describeEvent(event(type, data, { recipientId: 'autumn/3' }));
    expect(told ?? '').not.toContain('2125550101');
  }
});

test('a reason cannot move the cursor', () => {
  expect(describeEvent(event('campaign.state', { to: 'paused', reason: 'a\u001b[2Jb\nc' }))).toBe('paused: a [2Jb c');
});

const startsAt = Date.parse('2030-03-01T09:00:00Z');

test('a campaign that waits for its start time says when that is', () => {
  const campaign = { state: 'scheduled', rules: buildRules({ startsAt }) } as Campaign;
  expect(stateText(campaign)).toBe('scheduled, begins 2030-03-01 09:00 UTC');
});

test('rows that may be called at once are due since the import, not since 1970', () => {
  const campaign = { rules: {}, createdAt: startsAt } as Campaign;
  const dueAt = (nextDueAt: number | null) => statusAsJson(campaign, { nextDueAt } as CampaignStatus)['nextDueAt'];
  expect(dueAt(0)).toBe(startsAt);
  expect(dueAt(startsAt + 60_000)).toBe(startsAt + 60_000);
  expect(dueAt(null)).toBeNull();
});

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const instantName = /^at$|[a-z]At$/;
/** Epoch milliseconds, or seconds, of our time. */
const isEpoch = (value: number): boolean => value > 1_500_000_000 && value < 5_000_000_000_000;

/** Paths without the shape of docs/json.md. */
function misshapen(value: unknown, path = '', name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => misshapen(inner, `${path}[${index}]`, name));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => misshapen(inner, `${path}.${key}`, key));
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  if (instantName.test(name)) return value === null || (typeof value === 'string' && utc.test(value)) ? [] : [path];
  return isInstant || (typeof value === 'number' && isEpoch(value)) ? [path] : [];
}

test('a value without the shape is found', () => {
  expect(misshapen({ a: [{ dueAt: 1_900_000_000_000 }], since: '2030-01-15T12:00:00Z', endAt: '2030-01-15T12:00:00-05:00' })).toEqual([
    '.a[0].dueAt',
    '.since',
    '.endAt',
  ]);
  expect(misshapen({ at: '2030-01-15T12:00:00.000Z', dueAt: null, rows: 12 })).toEqual([]);
});

test('what commands print with --json is an object with instants in UTC under names that end in At', async () => {
  const ledger = await createLedger();
  expect(await ledger.run('suppress', 'add', '+12125550107', '--expires', '90d')).toMatchObject({ code: 0 });
  const { campaignPath } = await writeCampaign(minimalCampaign, 'name,phone\nAna,+12125550101\n');
  const lines = ['events', 'suppress list'];
  for (const line of [
    'status', 'status spring', 'events spring', 'report spring', 'verify spring --offline', 'doctor',
    'suppress list', 'suppress check +12125550107', `check ${campaignPath} --offline`,
    `results spring --output ${ledger.path('out.csv')}`, 'resolve spring --give-up', 'pause spring',
  ]) {
    const { stdout, stderr } = await ledger.run(...line.split(' '), '--json');
    const parts = lines.some((name) => line.startsWith(name)) ? stdout.trim().split('\n') : [stdout];
    for (const part of parts) {
      const value = JSON.parse(part === '' ? `"${line} printed nothing: ${stderr}"` : part) as unknown;
      expect({ line, type: Array.isArray(value) ? 'list' : typeof value }).toEqual({ line, type: 'object' });
      expect({ line, misshapen: misshapen(value) }).toEqual({ line, misshapen: [] });
    }
  }
}); // prettier-ignore

test('instants of a standstill and of a silent hook have the same shape', () => {
  const since = Date.UTC(2030, 0, 15);
  const standstill = { reason: 'due', since, until: since, calls: null, lines: null, rule: null } as const;
  const told = [idleReasonAsJson(standstill), hooksAsJson({ silentSince: since, completion: null, pause: null })];
  expect(told.flatMap((part) => misshapen(withInstants(part)))).toEqual([]);
});

const without = new Set(['demo', 'schema', 'completion']);

test('every command has --json, but those that docs/json.md names', async () => {
  const page = readFileSync(new URL('../../../../docs/json.md', import.meta.url), 'utf8');
  for (const { name, load } of commands) {
    const command = (await load())(createTerminal());
    const all = [command, ...command.commands];
    const has = all.some(({ options }) => options.some(({ long }) => long === '--json'));
    expect({ name, has }).toEqual({ name, has: !without.has(name) });
    if (!has) expect(page).toContain(`\`${name}\``);
    const leaves = command.commands.filter(({ options }) => !options.some(({ long }) => long === '--json'));
    expect({ name, leaves: without.has(name) ? [] : leaves.map((leaf) => leaf.name()) }).toEqual({ name, leaves: [] });
  }
});

test('every failure that is foreseen has its code in docs/json.md', () => {
  const page = readFileSync(new URL('../../../../docs/json.md', import.meta.url), 'utf8');
  const folder = fileURLToPath(new URL('../../../../src', import.meta.url));
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'));
  const foreseen = /readonly name = '(\w+)' as const;\n\s+readonly (?:exitCode|isBadInput)|extends foreseen\('(\w+)'/g;
  const names = files.flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(foreseen)].map(([, own = '', made = own]) => made),
  );
  expect(names.length).toBeGreaterThan(20);
  expect(names).toEqual(expect.arrayContaining(['UnknownCampaignError', 'WrongStateError']));
  expect(names.map(codeOfName).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
