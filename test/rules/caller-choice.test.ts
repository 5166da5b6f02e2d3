import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Caller,
  type CallerFault,
  CallerSorting,
  type CallerStatus,
  type CallerRecipient,
  chooseCaller,
  explainFaults,
  faultWords,
  keptFor,
} from '../../src/rules/caller-choice.ts';

const number = (phoneNumberId: string, given = 0, country: string | null = 'US', ...regions: string[]): Caller => ({
  phoneNumberId,
  country,
  regions: regions.length === 0 ? null : regions,
  given,
});
const person = (country: string | null, regions: string[] | null = null, caller: string | null = null): CallerRecipient => ({
  caller,
  country,
  regions,
});

const newYork = number('pn_ny', 9, 'US', 'NY');
const florida = number('pn_fl', 5, 'US', 'FL');
const london = number('pn_uk', 7, 'GB');
const all = [newYork, florida, london];

test.each<[string, CallerRecipient, string]>([
  ['of their own state', person('US', ['NY']), 'pn_ny'],
  ['of one of the states in which they may be', person('US', ['CT', 'NY']), 'pn_ny'],
  ['of their country when their state is not known', person('GB'), 'pn_uk'],
  ['chosen least often when none is of their country', person('FR'), 'pn_fl'],
  ['of the US for its territories', person('PR', ['PR']), 'pn_fl'],
  ['that called them before', person('US', ['NY'], 'pn_uk'), 'pn_uk'],
])('by region somebody gets the number %s', (_, recipient, expected) => {
  expect(chooseCaller(all, recipient, 'region')?.phoneNumberId).toBe(expected);
});

test('a code of a region means nothing in another country', () => {
  const washington = number('pn_wa', 5, 'US', 'WA');
  const sydney = number('pn_au', 9, 'AU');
  expect(chooseCaller([washington, sydney], person('AU', ['WA']), 'region')).toBe(sydney);
});

test('by rotation neither state nor country counts', () => {
  expect(chooseCaller(all, person('US', ['NY']), 'rotation')).toBe(florida);
  expect(chooseCaller(all, person('US', ['NY'], 'pn_uk'), 'rotation')).toBe(london);
});

const places = fc.record({
  country: fc.constantFrom('US', 'CA', 'PR', 'GB', null),
  regions: fc.option(fc.subarray(['NY', 'FL', 'ON', 'PR']), { nil: null }),
});
const pool = fc
  .array(fc.record({ place: places, given: fc.nat(20) }), { minLength: 1, maxLength: 6 })
  .map((callers) => callers.map(({ place, given }, index) => ({ ...place, given, phoneNumberId: `pn_${index}` })));
const choices = fc.constantFrom('region' as const, 'rotation' as const);

/** Plans requests of at most `size` people until nobody is left, as the planner does; answers who got which number. */
function planAll(callers: Caller[], people: CallerRecipient[], choice: 'region' | 'rotation', size: number) {
  const given = new Map<CallerRecipient, string>();
  const requests: CallerRecipient[][] = [];
  for (let waiting = people; waiting.length > 0;) {
    const sorting = new CallerSorting(callers, choice);
    const request: CallerRecipient[] = [];
    for (const one of waiting) {
      if (request.length >= size) break;
      if (sorting.takes(one)) request.push(one);
    }
    expect(request[0]).toBe(waiting[0]);
    const own = callers.find(({ phoneNumberId }) => phoneNumberId === sorting.caller);
    for (const one of request) {
      given.set(one, sorting.caller ?? '');
      if (own !== undefined && one.caller !== own.phoneNumberId) own.given += 1;
    }
    requests.push(request);
    waiting = waiting.filter((one) => !request.includes(one));
  }
  return { given, requests };
}

const crowd = fc.array(places, { minLength: 1, maxLength: 60 }).map((all) => all.map((place) => ({ ...place, caller: null })));

test('in turn, no number is chosen more than once oftener than another, however the requests are cut', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), crowd, fc.integer({ min: 1, max: 25 }), (many, people, size) => {
      const callers = Array.from({ length: many }, (_, index) => number(`pn_${index}`));
      planAll(callers, people, 'rotation', size);
      const counts = callers.map(({ given }) => given);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }),
    { seed: 1 },
  );
});

test('numbers that start unequal become equal, and only the fuller ones wait for it', () => {
  fc.assert(
    fc.property(pool, crowd, fc.integer({ min: 1, max: 25 }), (callers, people, size) => {
      const before = callers.map(({ given }) => given);
      planAll(callers, people, 'rotation', size);
      const fullestGrown = Math.max(...callers.map(({ given }, index) => (given > (before[index] ?? 0) ? given : 0)));
      expect(fullestGrown - Math.min(...callers.map(({ given }) => given))).toBeLessThanOrEqual(1);
    }),
    { seed: 1 },
  );
});

test('whoever has a number keeps it while it is in, and gets another when it is out', () => {
  fc.assert(
    fc.property(pool, crowd, choices, fc.integer({ min: 1, max: 25 }), fc.nat(5), (callers, people, choice, size, nth) => {
      const first = planAll(callers, people, choice, size).given;
      const known = people.map((one) => ({ ...one, caller: first.get(one) ?? null }));
      const again = planAll(callers, known, choice, size).given;
      for (const one of known) expect(again.get(one)).toBe(one.caller);

      const gone = callers[nth % callers.length]?.phoneNumberId;
      const left = callers.filter(({ phoneNumberId }) => phoneNumberId !== gone);
      if (left.length === 0) return;
      const moved = planAll(left, known, choice, size).given;
      for (const one of known) {
        if (one.caller === gone) expect(moved.get(one)).not.toBe(gone);
        else expect(moved.get(one)).toBe(one.caller);
      }
    }),
    { seed: 1 },
  );
});

test('by region nobody is called from farther away than they need to be, and each request has one number', () => {
  const land = (country: string | null) => (country === 'PR' ? 'US' : country);
  const nearness = (caller: Caller | undefined, one: CallerRecipient): number => {
    if (caller === undefined || one.country === null || land(caller.country) !== land(one.country)) return 0;
    return (caller.regions ?? []).filter((region) => one.regions?.includes(region)).length > 0 ? 2 : 1;
  };
  fc.assert(
    fc.property(pool, crowd, fc.integer({ min: 1, max: 25 }), (callers, people, size) => {
      const { given, requests } = planAll(callers, people, 'region', size);
      for (const one of people) {
        const caller = callers.find(({ phoneNumberId }) => phoneNumberId === given.get(one));
        expect(nearness(caller, one)).toBe(Math.max(...callers.map((other) => nearness(other, one))));
      }
      for (const request of requests) expect(new Set(request.map((one) => given.get(one))).size).toBe(1);
    }),
    { seed: 1 },
  );
});

function standing(phoneNumberId: string, fault: CallerFault | null): CallerStatus {
  return { phoneNumberId, fault, e164: '+12125550101', country: 'US', regions: null, verified: null };
}

test('why the only number may not call is told with what to do', () => {
  expect(explainFaults([standing('pn_a', 'not_verified')])).toBe(
    'Phone number pn_a is not verified, so its calls would fail: verify it with the service',
  );
  expect(explainFaults([standing('pn_a', 'unknown')])).toMatch(
    /^The service has no phone number pn_a: .*import the number.*from_phone_number_id/,
  );
});

test('of several numbers each is told with its own fault, and no telephone number is', () => {
  const text = explainFaults([standing('pn_a', 'not_verified'), standing('pn_b', 'unknown')]);
  expect(text).toBe(
    'None of the 2 caller numbers may call (pn_a is not verified, pn_b is not known to the service): fix one of them with the service',
  );
  expect(text).not.toContain('555');
  expect(explainFaults([standing('pn_a', null), standing('pn_b', 'unknown')])).toBe(
    '1 of the 2 caller numbers may not call (pn_b is not known to the service): fix them with the service, or take them out of from_phone_number_id',
  );
});

test('every fault has words', () => {
  expect(faultWords).toEqual({ unknown: 'is not known to the service', not_verified: 'is not verified' });
});

function faulty(phoneNumberId: string, country: string | null = 'US', regions: string[] | null = null): Caller {
  return { phoneNumberId, country, regions, given: 0 };
}

test('a region says nothing where neither the country of the number nor that of the person is known', () => {
  const callers = [faulty('pn_a'), faulty('pn_b', null, ['NY'])];
  const somewhere = { caller: null, country: null, regions: ['NY'] };
  expect(chooseCaller(callers, somewhere, 'region')?.phoneNumberId).toBe('pn_a');
});

test('without a number nobody belongs into a request', () => {
  const sorting = new CallerSorting([], 'rotation');
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(false);
  expect(sorting.caller).toBeNull();
});

test('who keeps a number is not counted once more', () => {
  const sorting = new CallerSorting([faulty('pn_a'), faulty('pn_b')], 'rotation');
  expect(sorting.takes({ caller: 'pn_a', country: 'US', regions: null })).toBe(true);
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(true);
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(false);
  expect(sorting.caller).toBe('pn_a');
});

test('room is kept for callbacks in the order in which they are due, in whichever they are given', () => {
  const minute = 60_000;
  const limits = { perHour: 3, perDay: null };
  // The call of fifty minutes ago counts when the first is due, and no more when the second is.
  const dues = [5 * minute, 20 * minute];
  for (const given of [dues, dues.toReversed()]) expect(keptFor(limits, [-50 * minute], 0, given)).toBe(1);
});
