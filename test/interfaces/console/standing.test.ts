import { expect, test } from 'vitest';
import { statusOf } from '../../../src/interfaces/console/people/standing.ts';
import { noon } from '../../ledger/scenario.ts';

test('who was talked to, and whose record is not complete yet, is not shown as being called', () => {
  const row = { state: 'open', outcome: null, reason: null, result: null, attempts: 1, lastDialedAt: noon, dueAt: null } as const;
  const terms = {} as Parameters<typeof statusOf>[0]['terms'];
  const text = (more: object): string =>
    statusOf({ ...row, disposition: null, terms, ...more }, noon + 60_000).text.replaceAll(/<[^>]*>/g, '');
  expect(text({})).toMatch(/Calling for/);
  expect(text({ disposition: 'answered' })).toMatch(/Answered their record is awaited/);
  // A call back is planned: the talk before it came to something.
  expect(text({ disposition: 'answered', result: 'later' })).toMatch(/Calling next/);
});
