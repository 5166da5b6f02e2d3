import { expect, test } from 'vitest';
import {
  CallerSorting,
  chooseCaller,
  explainFaults,
  faultWords,
  type Caller,
  type CallerFault,
  type CallerStanding,
} from '../../src/rules/caller-choice.ts';

function standing(phoneNumberId: string, fault: CallerFault | null): CallerStanding {
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
});

test('every fault has words', () => {
  expect(faultWords).toEqual({ unknown: 'is not known to the service', not_verified: 'is not verified' });
});

function number(phoneNumberId: string, country: string | null = 'US', regions: string[] | null = null): Caller {
  return { phoneNumberId, country, regions, given: 0 };
}

test('a region says nothing where neither the country of the number nor that of the person is known', () => {
  const callers = [number('pn_a'), number('pn_b', null, ['NY'])];
  const somewhere = { caller: null, country: null, regions: ['NY'] };
  expect(chooseCaller(callers, somewhere, 'region')?.phoneNumberId).toBe('pn_a');
});

test('without a number nobody belongs into a request', () => {
  const sorting = new CallerSorting([], 'rotation');
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(false);
  expect(sorting.caller).toBeNull();
});

test('who keeps a number is not counted once more', () => {
  const sorting = new CallerSorting([number('pn_a'), number('pn_b')], 'rotation');
  expect(sorting.takes({ caller: 'pn_a', country: 'US', regions: null })).toBe(true);
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(true);
  expect(sorting.takes({ caller: null, country: 'US', regions: null })).toBe(false);
  expect(sorting.caller).toBe('pn_a');
});
