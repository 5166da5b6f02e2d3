import { expect, test } from 'vitest';
import type { LegalHours } from '../../src/domain/campaign-rules.ts';
import { calendarsFor, type RecipientPlace } from '../../src/domain/legal-hours.ts';

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
  [{ country: 'US', regions: ['CA'] }, ['us']],
  [{ country: 'US', regions: null }, ['us', 'us-fl', 'us-ny', 'us-pr']],
  [{ country: 'US', regions: [] }, ['us']],
  // A territory has a country code of its own and the law of the US.
  [{ country: 'PR', regions: null }, ['us', 'us-pr', 'pr']],
  [{ country: 'PR', regions: ['FL'] }, ['us', 'us-fl', 'pr']],
  [{ country: 'GU', regions: null }, ['us']],
  [{ country: 'US', regions: ['PR'] }, ['us', 'us-pr']],
  [{ country: 'IN', regions: null }, ['in']],
  [{ country: 'GB', regions: null }, []],
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
