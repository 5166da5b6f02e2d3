import { expect, test } from 'vitest';
import { calendarsFor } from '../../src/rules/hours/legal-hours.ts';
import {
  missingRequirementsText,
  isEmptyAccountRules,
  missingRequirements,
  underAccountRules,
  withAccountRules,
} from '../../src/rules/house-rules.ts';
import { accountRuleLines, accountRuleSentences } from '../../src/presentation/words/house.ts';
import { buildRules, dayMs } from '../support/campaign-rules.ts';
import type { AccountRules } from '../../src/rules/campaign-rules.ts';

const nothing: AccountRules = {
  version: 3,
  calendar: { hours: null, closedOn: [] },
  caps: [],
  callerLimits: null,
  requires: { consent: false, optOut: false },
};
const perWeek = { by: 'number' as const, calls: 3, withinMs: 7 * dayMs };

test('caps of both hold, the lower limit of a number, and the hours of both', () => {
  const own = buildRules({
    caps: [{ by: 'person', afterTalkMs: dayMs }],
    callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: 5, perDay: null } },
  });
  const calendar = { hours: null, closedOn: ['2030-12-24'] };
  const held = withAccountRules(own, { ...nothing, calendar, caps: [perWeek], callerLimits: { perHour: 20, perDay: 80 } });
  expect(held.caps).toEqual([{ by: 'person', afterTalkMs: dayMs }, perWeek]);
  expect(held.callers.limits).toEqual({ perHour: 5, perDay: 80 });
  expect(calendarsFor(held, { country: 'US', regions: null })).toEqual([own.calendar, calendar]);
  // What the file says stays what may be adjusted and is frozen.
  expect(held.calendar).toBe(own.calendar);
  expect(withAccountRules(own, null)).toBe(own);
});

test('the same stored rules make the same object, and others another one', () => {
  const own = buildRules();
  const [first, second] = [JSON.stringify(nothing), JSON.stringify({ ...nothing, version: 4 })];
  expect(underAccountRules(own, null)).toBe(own);
  expect(underAccountRules(own, first)).toBe(underAccountRules(own, first));
  expect(underAccountRules(own, second).house?.version).toBe(4);
  expect(underAccountRules(own, first).house?.version).toBe(3);
});

test('what is required and lacks is told, and a rule of dispositions hears opt-outs too', () => {
  const house = { ...nothing, requires: { consent: true, optOut: true } };
  const lacks = missingRequirements(withAccountRules(buildRules({ optOut: [] }), house));
  expect(lacks).toEqual(['consent', 'opt_out']);
  expect(missingRequirementsText(lacks, 3)).toBe(
    'version 3 of the house rules requires consent and opt_out, and the campaign file has no such setting',
  );
  const dispositions = [{ pointer: '/a', equals: ['x'], disposition: 'opted_out' as const }];
  expect(
    missingRequirements(
      withAccountRules(buildRules({ optOut: [], dispositions }), { ...nothing, requires: { consent: false, optOut: true } }),
    ),
  ).toEqual([]);
  expect([isEmptyAccountRules(nothing), isEmptyAccountRules(house)]).toEqual([true, false]);
});

test('what binds is told, and what the campaign file is as strict about', () => {
  const house = { ...nothing, caps: [perWeek], callerLimits: { perHour: null, perDay: 80 } };
  expect(accountRuleLines(house)).toEqual([
    'At most 3 calls to a number within 7 days',
    'No caller number makes more than 80 calls in a day',
  ]);
  expect(accountRuleLines(null)).toEqual([]);
  const strict = buildRules({ caps: [{ by: 'number', calls: 2, withinMs: 8 * dayMs }] });
  expect(accountRuleSentences(withAccountRules(strict, house))[1]).toBe(
    'At most 3 calls to a number within 7 days (the campaign file is as strict).',
  );
  const loose = buildRules({ caps: [{ by: 'number', calls: 2, withinMs: dayMs }] });
  expect(accountRuleSentences(withAccountRules(loose, house))[1]).toBe('At most 3 calls to a number within 7 days.');
  expect(accountRuleSentences(buildRules())).toEqual([]);
});
