import { expect, test } from 'vitest';
import { completeRules, readRules } from '../../src/domain/campaign-rules.ts';
import { buildRules } from '../support/campaign-rules.ts';

/** Rules as the first version stored them. */
function firstVersion() {
  const { callers: _callers, list, retry, pacing, ...rest } = buildRules();
  const { zipColumn: _zip, notBeforeColumn: _notBefore, expiresAtColumn: _expiresAt, ...oldList } = list;
  const { maxAttemptsPerNumber: _perNumber, resetAfterMs: _reset, jitterMs: _jitter, ...oldRetry } = retry;
  const { warmUpMs: _warmUp, priority: _priority, ...oldPacing } = pacing;
  const {
    startsAt: _starts,
    breaker: _breaker,
    preDial: _preDial,
    onCompletion: _onCompletion,
    onPause: _onPause,
    ...older
  } = rest;
  const { dispositions: _dispositions, correlation: _correlation, ...oldest } = older;
  return { ...oldest, fromPhoneNumberId: 'pn_old', list: oldList, retry: oldRetry, pacing: oldPacing };
}

test('a campaign of the first version goes on as it was: what came since is off', () => {
  const rules = completeRules(firstVersion());
  expect(rules.callers).toEqual({ numbers: ['pn_old'], choice: 'region' });
  expect(rules).not.toHaveProperty('fromPhoneNumberId');
  expect(rules).toMatchObject({
    startsAt: null,
    breaker: null,
    preDial: null,
    onCompletion: null,
    onPause: null,
    dispositions: [],
    correlation: { calleeNumber: [], batchId: [], reference: [] },
    list: { zipColumn: null, notBeforeColumn: null, expiresAtColumn: null },
    retry: { maxAttemptsPerNumber: null, resetAfterMs: null, jitterMs: 0 },
    pacing: { warmUpMs: 0, priority: 10 },
  });
});

test('what the first version had decided stays', () => {
  const old = firstVersion();
  const { fromPhoneNumberId: _number, ...kept } = old;
  const rules = completeRules(old);
  expect(rules).toMatchObject(kept);
  expect(readRules(JSON.stringify(old))).toEqual(rules);
});

test('rules of this version are read as they were written', () => {
  const rules = buildRules({
    callers: { numbers: ['pn_a', 'pn_b'], choice: 'rotation' },
    startsAt: 1_000,
    retry: { maxAttemptsPerNumber: 4, resetAfterMs: 5, jitterMs: 6 },
    pacing: { warmUpMs: 7, priority: 8 },
    breaker: { windowMs: 60_000, minCalls: 20, failureShare: 0.5, coolDownMs: 60_000 },
    dispositions: [{ pointer: '/a', equals: ['b'], disposition: 'busy' }],
    correlation: { calleeNumber: ['/x'], batchId: ['/y'], reference: ['/z'] },
  });
  rules.list = { ...rules.list, zipColumn: 'zip', notBeforeColumn: 'from', expiresAtColumn: 'until' };
  expect(readRules(JSON.stringify(rules))).toEqual(rules);
});
