import { expect, test } from 'vitest';
import type { LegalHours } from '../../../src/rules/campaign-rules.ts';
import { calendarsFor, type RecipientPlace } from '../../../src/rules/hours/legal-hours.ts';
import { lawAt } from '../../../src/verify/rules/hours.ts';
import { readAuditedRules } from '../../../src/verify/judged-rules.ts';
import { buildRules } from '../../support/campaign-rules.ts';

const calendar = { hours: null, closedOn: [] };

function law(id: string, country: string, region: string | null): LegalHours {
  return { id, country, region, hours: {}, closedOn: [], from: null, until: null, caps: [], source: 'test' };
}

const rules = {
  calendar,
  law: [
    law('us', 'US', null),
    law('us-fl', 'US', 'FL'),
    law('us-ny', 'US', 'NY'),
    law('us-pr', 'US', 'PR'),
    law('pr', 'PR', null),
    law('in', 'IN', null),
  ],
};

test.each<[RecipientPlace, string[]]>([
  [{ country: 'US', regions: ['FL'] }, ['us', 'us-fl']],
  [{ country: 'US', regions: ['FL', 'NY'] }, ['us', 'us-fl', 'us-ny']],
  [{ country: 'US', regions: null }, ['us', 'us-fl', 'us-ny', 'us-pr']],
  // A territory has a country code of its own and the law of the US.
  [{ country: 'PR', regions: null }, ['us', 'us-pr', 'pr']],
  [{ country: 'PR', regions: ['FL'] }, ['us', 'us-fl', 'pr']],
  [{ country: 'GU', regions: null }, ['us']],
  [{ country: 'US', regions: ['PR'] }, ['us', 'us-pr']],
  [{ country: null, regions: null }, []],
])('for somebody in %o the campaign and the laws %o hold', (place, expected) => {
  const [own, ...others] = calendarsFor(rules, place);
  expect(own).toBe(calendar);
  expect(others.map((other) => (other as LegalHours).id)).toEqual(expected);
});

test.each(['AS', 'GU', 'MP', 'PR', 'VI'])('in %s, a territory, the law of the US holds', (country) => {
  const [, ...others] = calendarsFor({ calendar, law: [law('us', 'US', null)] }, { country, regions: null });
  expect(others).toHaveLength(1);
});

test('the same place gets the very same calendars, so that what is worked out for them is kept', () => {
  const place = () => ({ country: 'US', regions: ['FL'] });
  expect(calendarsFor(rules, place())).toBe(calendarsFor(rules, place()));
  expect(calendarsFor(rules, { country: 'US', regions: ['NY'] })).not.toBe(calendarsFor(rules, place()));
});

test.each<[string, RecipientPlace, string[]]>([
  ['France, of which nothing is known', { country: 'FR', regions: null }, ['elsewhere']],
  ['numbers of no country', { country: null, regions: null }, ['elsewhere']],
  ['a country with hours of its own', { country: 'US', regions: ['GA'] }, ['us']],
  ['a territory of such a country', { country: 'GU', regions: null }, ['us']],
  ['a country of which only a state is known', { country: 'CA', regions: ['AB'] }, ['elsewhere']],
  ['that state itself', { country: 'CA', regions: ['ON'] }, ['ca-on', 'elsewhere']],
  ['a country of which only a cap is known', { country: 'BR', regions: null }, ['br-calls', 'elsewhere']],
])('the rule for countries without one holds as it should for %s', (_, place, expected) => {
  const elsewhere = [
    law('us', 'US', null),
    law('elsewhere', '*', null),
    law('ca-on', 'CA', 'ON'),
    { ...law('br-calls', 'BR', null), hours: null },
  ];
  const [, ...others] = calendarsFor({ calendar, law: elsewhere }, place);
  expect(others.map((other) => (other as LegalHours).id)).toEqual(expected);
  // The judge's own reading.
  const judged = lawAt(readAuditedRules(buildRules({ law: elsewhere })), place);
  expect(judged.map(({ country, region }) => `${country} ${region ?? ''}`).sort()).toEqual(
    elsewhere
      .filter(({ id }) => expected.includes(id))
      .map(({ country, region }) => `${country} ${region ?? ''}`)
      .sort(),
  );
});
